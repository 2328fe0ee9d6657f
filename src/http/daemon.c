/*
 * Putting the daemon together, in an order that lets probes answer while the store recovers, and taking it apart.
 */
#include "daemon_private.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/random.h"
#include "evidenced/commands/table.h"
#include "evidenced/records/dictionary.h"
#include "evidenced/store/embedded.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__
#define PROFILE "asan"
#elif defined __SANITIZE_THREAD__
#define PROFILE "tsan"
#elif defined EVD_TEST
#define PROFILE "test"
#else
#define PROFILE "release"
#endif

#ifdef EVD_TEST
static const bool conformance = true;
#else
static const bool conformance = false;
#endif

enum { DOOR_THREADS = 2, SIDE_DOOR_THREADS = 1, SIDE_DOOR_CONNECTIONS = 64, LARGE_BLOCK_BYTES = 1024 * 1024 };

static bool fail(char ret_error[EVD_DAEMON_ERROR_BYTES], const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(char ret_error[EVD_DAEMON_ERROR_BYTES], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(ret_error, EVD_DAEMON_ERROR_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

static const char *text_of(const struct evd_daemon *daemon, enum evd_config_option option) {
    return evd_config_text(daemon->config, option).bytes; /* NUL behind it */
}

static uint64_t number_of(const struct evd_daemon *daemon, enum evd_config_option option) {
    return evd_config_number(daemon->config, option);
}

/* Each connection is a descriptor, and the store has its files. */
static void raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Large blocks go back to the system when they are freed. Left to itself the library, once one was freed, takes such
 * blocks from each thread's own heap, which keeps them: some 100 MiB a thread that ever ran a large import. */
static void give_large_blocks_back(void) {
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
}

static bool make_data(const struct evd_daemon *daemon, char *ret_error) {
    const char *path = text_of(daemon, EVD_CONFIG_DATA);
    struct stat status;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return fail(ret_error, "The data directory %.300s cannot be made: %s.", path, strerrordesc_np(errno));
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return fail(ret_error, "The data directory %.300s is not a directory.", path);
    return true;
}

static bool open_keyring(struct evd_daemon *daemon, char *ret_error) {
    char error[EVD_KEYRING_ERROR_BYTES] = "";
    struct evd_token_rules rules = {.issuer = evd_config_text(daemon->config, EVD_CONFIG_TOKEN_ISSUER),
                                    .audience = evd_config_text(daemon->config, EVD_CONFIG_TOKEN_AUDIENCE),
                                    .investigator_claim =
                                        evd_config_text(daemon->config, EVD_CONFIG_TOKEN_INVESTIGATOR_CLAIM),
                                    .leeway_ms = (int64_t)number_of(daemon, EVD_CONFIG_TOKEN_LEEWAY_SECONDS) * 1000};
    daemon->jwks_path = strdup(text_of(daemon, EVD_CONFIG_TOKEN_JWKS));
    daemon->keyring = evd_keyring_new(&rules);
    if (daemon->jwks_path == NULL || daemon->keyring == NULL) return fail(ret_error, "There is no memory to start.");
    if (daemon->jwks_path[0] == '\0' || evd_keyring_load(daemon->keyring, daemon->jwks_path, error)) return true;
    return fail(ret_error, "%s", error);
}

static bool open_edge(struct evd_daemon *daemon, char *ret_error) {
    daemon->operations = evd_operations_new(daemon->clock);
    struct evd_edge_options options = {.clock = daemon->clock,
                                       .keyring = daemon->keyring,
                                       .log = daemon->log,
                                       .operations = daemon->operations,
                                       .deadline_ms = (int64_t)number_of(daemon, EVD_CONFIG_DEADLINE_MS),
                                       .version = EVD_VERSION,
                                       .profile = PROFILE,
                                       .store_format = EVD_EMBEDDED_FORMAT};
    if (daemon->operations == NULL) return fail(ret_error, "There is no memory to start.");
    options.commands = evd_command_table(&options.command_count);
    options.figures = daemon->figures = evd_figures_new(options.commands, options.command_count);
    daemon->edge = daemon->figures == NULL ? NULL : evd_edge_new(&options);
    if (daemon->edge == NULL) return fail(ret_error, "There is no memory to start.");
    evd_daemon_apply(daemon, daemon->config);
    return true;
}

static bool open_spool(struct evd_daemon *daemon, char *ret_error) {
    char *directory = NULL, error[EVD_SPOOL_ERROR_BYTES] = "";
    if (asprintf(&directory, "%s/spool", text_of(daemon, EVD_CONFIG_DATA)) < 0)
        return fail(ret_error, "There is no memory to start.");
    struct evd_spool_options options = {.directory = directory,
                                        .most_bytes = EVD_LIMIT_SPOOL_BYTES,
                                        .free_bytes_floor = number_of(daemon, EVD_CONFIG_FREE_MIB) * EVD_MIB};
    daemon->spool = evd_spool_open(&options, error);
    free(directory);
    return daemon->spool != NULL || fail(ret_error, "%s", error);
}

static bool open_door(struct evd_daemon *daemon, enum evd_edge_door door, const char *listen, char *ret_error) {
    bool is_api = door == EVD_DOOR_API;
    char error[256] = "";
    struct evd_http_server_options options = {
        .listen = listen,
        .threads = is_api ? DOOR_THREADS : SIDE_DOOR_THREADS,
        .connections = is_api ? (unsigned)number_of(daemon, EVD_CONFIG_CONNECTIONS) : SIDE_DOOR_CONNECTIONS,
        .idle_seconds = (unsigned)number_of(daemon, EVD_CONFIG_IDLE_SECONDS),
        .request_ms = (unsigned)number_of(daemon, EVD_CONFIG_REQUEST_SECONDS) * 1000,
        .clock = daemon->clock,
        .spool = daemon->spool};
    evd_edge_application(daemon->edge, door, &options.application);
    daemon->servers[door] = evd_http_server_open(&options, error);
    return daemon->servers[door] != NULL || fail(ret_error, "%s", error);
}

static bool open_doors(struct evd_daemon *daemon, char *ret_error) {
    char control[128];
    (void)snprintf(control, sizeof control, "unix:%s", text_of(daemon, EVD_CONFIG_CONTROL));
    return open_door(daemon, EVD_DOOR_CONTROL, control, ret_error) &&
           open_door(daemon, EVD_DOOR_ADMIN, text_of(daemon, EVD_CONFIG_ADMIN_LISTEN), ret_error) &&
           open_door(daemon, EVD_DOOR_API, text_of(daemon, EVD_CONFIG_LISTEN), ret_error);
}

static bool open_store(struct evd_daemon *daemon, char *ret_error) {
    char error[EVD_EMBEDDED_ERROR_BYTES] = "", *directory = NULL;
    if (asprintf(&directory, "%s/store", text_of(daemon, EVD_CONFIG_DATA)) < 0)
        return fail(ret_error, "There is no memory to start.");
    struct evd_embedded_options options = {.directory = directory,
                                           .catalogue = evd_catalogue_stored(),
                                           .clock = daemon->clock,
                                           .free_bytes_floor = number_of(daemon, EVD_CONFIG_FREE_MIB) * EVD_MIB};
    daemon->store = evd_embedded_open(&options, error);
    free(directory);
    return daemon->store != NULL || fail(ret_error, "%s", error);
}

static void on_drift(void *self) {
    evd_figures_drift(((const struct evd_daemon *)self)->figures);
}

static void open_runtime(struct evd_daemon *daemon) {
    struct evd_runtime_options options = {.store = daemon->store,
                                          .clock = daemon->clock,
                                          .random = evd_random_system(),
                                          .workers = (unsigned)number_of(daemon, EVD_CONFIG_WORKERS),
                                          .queue = number_of(daemon, EVD_CONFIG_QUEUE),
                                          .conformance = conformance,
                                          .observer = {.self = daemon, .drifted = on_drift, .began = evd_daemon_began}};
    daemon->runtime = evd_runtime_open(&options);
    evd_daemon_drive(daemon);
    struct evd_figures_sources sources = {.runtime = daemon->runtime,
                                          .store = daemon->store,
                                          .driver = daemon->driver,
                                          .server = daemon->servers[EVD_DOOR_API],
                                          .log = daemon->log};
    evd_figures_watch(daemon->figures, &sources);
    evd_edge_offer_backups(daemon->edge, daemon->store);
    evd_edge_start(daemon->edge, daemon->runtime);
    evd_daemon_probe(daemon);
}

static void log_start(struct evd_daemon *daemon) {
    const struct evd_log_field keyless = EVD_LOG_FIELD_TEXT(
        "message", EVD_TEXT("token-jwks is not set: every call to the API is answered 401. The control socket works."));
    const struct evd_log_field fields[] = {
        EVD_LOG_FIELD_TEXT("version", evd_text_from(EVD_VERSION)),
        EVD_LOG_FIELD_U64("api_port", evd_http_server_port(daemon->servers[EVD_DOOR_API])),
        EVD_LOG_FIELD_U64("admin_port", evd_http_server_port(daemon->servers[EVD_DOOR_ADMIN])),
        EVD_LOG_FIELD_TEXT("api", evd_config_text(daemon->config, EVD_CONFIG_LISTEN)),
        EVD_LOG_FIELD_TEXT("admin", evd_config_text(daemon->config, EVD_CONFIG_ADMIN_LISTEN)),
        EVD_LOG_FIELD_TEXT("control", evd_config_text(daemon->config, EVD_CONFIG_CONTROL)),
    };
    if (evd_keyring_count(daemon->keyring) == 0) evd_log_event(daemon->log, EVD_LOG_WARN, "no-token-keys", &keyless, 1);
    evd_log_event(daemon->log, EVD_LOG_INFO, "listening", fields, sizeof fields / sizeof *fields);
}

static bool open_all(struct evd_daemon *daemon, int log_fd, char *ret_error) {
    daemon->log =
        evd_log_new(log_fd, (enum evd_log_level)evd_config_choice(daemon->config, EVD_CONFIG_LOG_LEVEL), daemon->clock);
    if (daemon->log == NULL) return fail(ret_error, "The log cannot be started: %s.", strerrordesc_np(errno));
    if (!make_data(daemon, ret_error) || !open_keyring(daemon, ret_error) || !open_edge(daemon, ret_error) ||
        !open_spool(daemon, ret_error) || !open_doors(daemon, ret_error) || !open_store(daemon, ret_error))
        return false;
    open_runtime(daemon);
    return true;
}

/* Whoever uses another goes first. */
static void close_all(struct evd_daemon *daemon) {
    for (int door = 0; door < EVD_DOOR_COUNT; door++) {
        if (daemon->servers[door] == NULL) continue;
        bool quiesced = daemon->stage == EVD_STAGE_ENDING && door != EVD_DOOR_ADMIN;
        if (!quiesced) evd_http_server_quiesce(daemon->servers[door]);
        evd_http_server_close(daemon->servers[door]);
    }
    evd_spool_close(daemon->spool);
    evd_driver_close(daemon->driver);
    evd_runtime_close(daemon->runtime);
    if (daemon->store != NULL) evd_store_close(daemon->store);
    evd_edge_free(daemon->edge);
    evd_operations_free(daemon->operations);
    evd_figures_free(daemon->figures);
    evd_keyring_free(daemon->keyring);
    free(daemon->jwks_path);
    if (daemon->stage == EVD_STAGE_ENDING) evd_log_event(daemon->log, EVD_LOG_INFO, "stopped", NULL, 0);
    evd_log_free(daemon->log);
}

int evd_daemon_run(const struct evd_config *config, const struct evd_config_input *input, int log_fd,
                   char ret_error[EVD_DAEMON_ERROR_BYTES]) {
    struct evd_daemon daemon = {.config = config, .input = input, .clock = evd_clock_system()};
    ret_error[0] = '\0';
    raise_file_limit();
    give_large_blocks_back();
    (void)signal(SIGPIPE, SIG_IGN);
    bool opened = open_all(&daemon, log_fd, ret_error);
    if (opened) {
        evd_daemon_loop_begin(&daemon);
        log_start(&daemon);
        evd_daemon_loop(&daemon);
    }
    bool clean = opened && !daemon.overdue;
    close_all(&daemon);
    return clean ? 0 : 1;
}
