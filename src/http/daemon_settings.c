#include "daemon_private.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"

void evd_daemon_apply(struct evd_daemon *daemon, const struct evd_config *config) {
    struct evd_edge_settings settings = {
        .subject = {.in_flight = (uint32_t)evd_config_number(config, EVD_CONFIG_SUBJECT_IN_FLIGHT),
                    .rate = (uint32_t)evd_config_number(config, EVD_CONFIG_SUBJECT_RATE),
                    .burst = (uint32_t)evd_config_number(config, EVD_CONFIG_SUBJECT_BURST)}};
    settings.origins = evd_config_list(config, EVD_CONFIG_ALLOWED_ORIGINS, &settings.origin_count);
    settings.proxies = evd_config_list(config, EVD_CONFIG_TRUSTED_PROXIES, &settings.proxy_count);
    evd_edge_set(daemon->edge, &settings);
    evd_log_set_level(daemon->log, (enum evd_log_level)evd_config_choice(config, EVD_CONFIG_LOG_LEVEL));
}

static void log_sentence(struct evd_daemon *daemon, enum evd_log_level level, const char *event,
                         struct evd_text sentence) {
    struct evd_log_field field = EVD_LOG_FIELD_TEXT("message", sentence);
    evd_log_event(daemon->log, level, event, &field, 1);
}

static void load_keys(struct evd_daemon *daemon) {
    char error[EVD_KEYRING_ERROR_BYTES] = "";
    if (!evd_keyring_load(daemon->keyring, daemon->jwks_path, error)) {
        log_sentence(daemon, EVD_LOG_ERROR, "keys-refused", evd_text_from(error));
        return;
    }
    struct evd_log_field field = EVD_LOG_FIELD_U64("keys", evd_keyring_count(daemon->keyring));
    evd_log_event(daemon->log, EVD_LOG_INFO, "keys-loaded", &field, 1);
}

void evd_daemon_watch_keys(struct evd_daemon *daemon) {
    if (daemon->jwks_path[0] == '\0') return;
    if (evd_keyring_has_changed(daemon->keyring, daemon->jwks_path)) load_keys(daemon);
}

/* Once there are keys, taking them away needs a restart: a line that got lost must not lock everybody out. */
static void reload_keys(struct evd_daemon *daemon, struct evd_text path) {
    if (path.size_bytes > 0) {
        char *copy = strndup(path.bytes, path.size_bytes);
        if (copy == NULL) return;
        free(daemon->jwks_path);
        daemon->jwks_path = copy;
    }
    if (daemon->jwks_path[0] != '\0') load_keys(daemon);
}

static void tell_fixed(struct evd_daemon *daemon, const struct evd_config *config) {
    for (int i = 0; i < EVD_CONFIG_COUNT; i++) {
        enum evd_config_option option = (enum evd_config_option)i;
        if (evd_config_is_reloaded(option) || evd_config_is_same(daemon->config, config, option)) continue;
        struct evd_log_field field = EVD_LOG_FIELD_TEXT("option", evd_text_from(evd_config_name(option)));
        evd_log_event(daemon->log, EVD_LOG_WARN, "option-needs-restart", &field, 1);
    }
}

static void reload_within(struct evd_daemon *daemon, struct evd_arena *arena) {
    struct evd_config_errors errors = {.count = 0};
    const struct evd_config *config = evd_config_read(daemon->input, arena, &errors);
    for (size_t i = 0; i < errors.count && config == NULL; i++)
        log_sentence(daemon, EVD_LOG_ERROR, "configuration-refused", errors.lines[i]);
    if (config == NULL) return;
    evd_daemon_apply(daemon, config);
    tell_fixed(daemon, config);
    reload_keys(daemon, evd_config_text(config, EVD_CONFIG_TOKEN_JWKS));
    evd_log_event(daemon->log, EVD_LOG_INFO, "configuration-reloaded", NULL, 0);
}

void evd_daemon_reload(struct evd_daemon *daemon) {
    struct evd_arena arena;
    jmp_buf escape;
    evd_arena_init(&arena, 4 * EVD_MIB);
    arena.escape = &escape;
    if (setjmp(escape) == 0)
        reload_within(daemon, &arena);
    else
        log_sentence(daemon, EVD_LOG_ERROR, "configuration-refused", EVD_TEXT("There is no memory to read it."));
    evd_arena_done(&arena);
}
