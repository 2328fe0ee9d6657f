#include "evidenced/base/config.h"

#include "../../support/test.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/log.h"

enum { MOST = 100 };

/* One reading: what is given and what came of it. */
struct attempt {
    const char *flags[MOST];     /* without the program's name; NULL-terminated */
    const char *variables[MOST]; /* NULL-terminated */
    const char *file;            /* the content of /etc/evidenced.conf; NULL: there is none */
    size_t file_bytes;           /* 0: as terminated */
    struct evd_arena arena;
    const struct evd_config *config;
    struct evd_config_errors errors;
    unsigned files_read;
};

static bool read_given(void *self, const char *path, size_t limit_bytes, struct evd_arena *arena,
                       struct evd_text *ret_content, const char **ret_why) {
    struct attempt *attempt = self;
    attempt->files_read++;
    *ret_why = "No such file or directory";
    if (attempt->file == NULL || strcmp(path, "/etc/evidenced.conf") != 0) return false;
    size_t size = attempt->file_bytes == 0 ? strlen(attempt->file) : attempt->file_bytes;
    if (size > limit_bytes + 1) size = limit_bytes + 1;
    *ret_content = evd_text_copy(arena, (struct evd_text){attempt->file, size});
    return true;
}

static const struct evd_config *config_of(struct attempt *attempt) {
    char program[] = "evidenced", *argv[MOST + 2] = {program}, *envp[MOST + 1] = {NULL};
    int argc = 1;
    evd_arena_init(&attempt->arena, 4 * EVD_MIB);
    for (size_t i = 0; attempt->flags[i] != NULL; i++)
        argv[argc++] = evd_arena_copy(&attempt->arena, attempt->flags[i], strlen(attempt->flags[i]) + 1);
    for (size_t i = 0; attempt->variables[i] != NULL; i++)
        envp[i] = evd_arena_copy(&attempt->arena, attempt->variables[i], strlen(attempt->variables[i]) + 1);
    const struct evd_config_input input = {
        .argc = argc, .argv = argv, .envp = envp, .read_file = read_given, .reader = attempt};
    attempt->config = evd_config_read(&input, &attempt->arena, &attempt->errors);
    /* Nothing may be borrowed from what was given. */
    for (int i = 1; i < argc; i++)
        memset(argv[i], '!', strlen(argv[i]));
    for (size_t i = 0; envp[i] != NULL; i++)
        memset(envp[i], '!', strlen(envp[i]));
    return attempt->config;
}

static const struct evd_config *good(struct attempt *attempt) {
    const struct evd_config *config = config_of(attempt);
    ck_assert_msg(config != NULL, EVD_TEXT_FMT, EVD_TEXT_ARG(attempt->errors.lines[0]));
    return config;
}

#define ASSERT_TEXT(text, literal)                                                                                     \
    do {                                                                                                               \
        struct evd_text is_ = (text);                                                                                  \
        ck_assert_msg(evd_text_equal(is_, evd_text_from(literal)), "`" EVD_TEXT_FMT "`, not `%s`", EVD_TEXT_ARG(is_),  \
                      (literal));                                                                                      \
    } while (0)

START_TEST(nothing_given_gives_the_defaults) {
    struct attempt attempt = {.file = NULL};
    const struct evd_config *config = good(&attempt);
    size_t count = 1;
    ck_assert_int_eq(evd_config_action(config), EVD_ACTION_SERVE);
    ASSERT_TEXT(evd_config_text(config, EVD_CONFIG_LISTEN), "127.0.0.1:8080");
    ASSERT_TEXT(evd_config_text(config, EVD_CONFIG_ADMIN_LISTEN), "127.0.0.1:8081");
    ASSERT_TEXT(evd_config_text(config, EVD_CONFIG_DATA), "./data");
    ASSERT_TEXT(evd_config_text(config, EVD_CONFIG_CONTROL), "./data/control.sock");
    ASSERT_TEXT(evd_config_text(config, EVD_CONFIG_TOKEN_JWKS), "");
    ASSERT_TEXT(evd_config_origin(config, EVD_CONFIG_WORKERS), "default");
    ck_assert_uint_eq(evd_config_number(config, EVD_CONFIG_WORKERS), 32);
    ck_assert_uint_eq(evd_config_choice(config, EVD_CONFIG_LOG_LEVEL), EVD_LOG_INFO);
    (void)evd_config_list(config, EVD_CONFIG_ALLOWED_ORIGINS, &count);
    ck_assert_uint_eq(count, 0);
    ck_assert_uint_eq(attempt.files_read, 0);
    evd_arena_done(&attempt.arena);
}
END_TEST

START_TEST(the_defaults_agree_with_the_bounds_of_the_code) {
    struct attempt attempt = {.file = NULL};
    const struct evd_config *config = good(&attempt);
    ck_assert_uint_eq(evd_config_number(config, EVD_CONFIG_DEADLINE_MS), EVD_LIMIT_DEADLINE_MS);
    ck_assert_uint_eq(evd_config_number(config, EVD_CONFIG_FREE_MIB) * EVD_MIB, EVD_LIMIT_STORE_FREE_BYTES);
    evd_arena_done(&attempt.arena);
}
END_TEST

START_TEST(a_flag_beats_a_variable_beats_the_file_beats_the_default) {
    struct attempt attempt = {
        .flags = {"--workers", "1", "--config", "/etc/evidenced.conf", "--data=/a=b"},
        .variables = {"EVIDENCED_WORKERS=2", "EVIDENCED_QUEUE=2", "PATH=/bin", "EVIDENCED_CONFIG=/nowhere"},
        .file = "# ours\r\n\n  workers = 3\r\nqueue=3\n\tsubject-rate\t= 3 "};
    const struct evd_config *config = good(&attempt);
    ck_assert_uint_eq(evd_config_number(config, EVD_CONFIG_WORKERS), 1);
    ck_assert_uint_eq(evd_config_number(config, EVD_CONFIG_QUEUE), 2);
    ck_assert_uint_eq(evd_config_number(config, EVD_CONFIG_SUBJECT_RATE), 3);
    ck_assert_uint_eq(evd_config_number(config, EVD_CONFIG_SUBJECT_BURST), 200);
    ASSERT_TEXT(evd_config_text(config, EVD_CONFIG_DATA), "/a=b");
    ASSERT_TEXT(evd_config_text(config, EVD_CONFIG_CONTROL), "/a=b/control.sock");
    ASSERT_TEXT(evd_config_origin(config, EVD_CONFIG_WORKERS), "--workers");
    ASSERT_TEXT(evd_config_origin(config, EVD_CONFIG_QUEUE), "EVIDENCED_QUEUE");
    ASSERT_TEXT(evd_config_origin(config, EVD_CONFIG_SUBJECT_RATE), "/etc/evidenced.conf:5");
    ASSERT_TEXT(evd_config_origin(config, EVD_CONFIG_SUBJECT_BURST), "default");
    ck_assert_uint_eq(attempt.files_read, 1);
    evd_arena_done(&attempt.arena);
}
END_TEST

START_TEST(the_file_may_be_named_by_a_variable_and_the_last_flag_of_a_name_wins) {
    struct attempt attempt = {.flags = {"--queue", "8", "--queue", "9"},
                              .variables = {"EVIDENCED_CONFIG=/etc/evidenced.conf"},
                              .file = "\xEF\xBB\xBF"
                                      "workers = 3"};
    const struct evd_config *config = good(&attempt);
    ck_assert_uint_eq(evd_config_number(config, EVD_CONFIG_WORKERS), 3);
    ck_assert_uint_eq(evd_config_number(config, EVD_CONFIG_QUEUE), 9);
    evd_arena_done(&attempt.arena);
}
END_TEST

START_TEST(an_empty_value_clears_what_may_be_empty) {
    struct attempt attempt = {
        .flags = {"--allowed-origins", ""}, .variables = {"EVIDENCED_TRUSTED_PROXIES="}, .file = NULL};
    const struct evd_config *config = good(&attempt);
    ASSERT_TEXT(evd_config_origin(config, EVD_CONFIG_ALLOWED_ORIGINS), "--allowed-origins");
    ASSERT_TEXT(evd_config_origin(config, EVD_CONFIG_TRUSTED_PROXIES), "EVIDENCED_TRUSTED_PROXIES");
    evd_arena_done(&attempt.arena);
}
END_TEST

START_TEST(lists_are_split_and_trimmed) {
    struct attempt attempt = {.flags = {"--allowed-origins=https://a.example, http://localhost:3000,https://[::1]:8443",
                                        "--trusted-proxies", "10.0.0.0/8,::1, fd00::/8"}};
    const struct evd_config *config = good(&attempt);
    size_t count;
    const struct evd_text *origins = evd_config_list(config, EVD_CONFIG_ALLOWED_ORIGINS, &count);
    ck_assert_uint_eq(count, 3);
    ASSERT_TEXT(origins[0], "https://a.example");
    ASSERT_TEXT(origins[1], "http://localhost:3000");
    ASSERT_TEXT(origins[2], "https://[::1]:8443");
    const struct evd_text *proxies = evd_config_list(config, EVD_CONFIG_TRUSTED_PROXIES, &count);
    ck_assert_uint_eq(count, 3);
    ASSERT_TEXT(proxies[1], "::1");
    ASSERT_TEXT(proxies[2], "fd00::/8");
    evd_arena_done(&attempt.arena);
}
END_TEST

/* Flags and what must be said; every line of `errors` must be there, in order, and no other. */
static const struct {
    const char *flags[6], *variables[3], *file, *errors[4];
} mistakes[] = {
    {{"--workers", "900"}, {NULL}, NULL, {"--workers: expected a number from 1 to 256"}},
    {{"--workers="}, {NULL}, NULL, {"--workers: expected a number from 1 to 256, got nothing"}},
    {{"--workers"}, {NULL}, NULL, {"--workers: expected a value behind it"}},
    {{"--allowed-origins"}, {NULL}, NULL, {"--allowed-origins: expected a value behind it"}},
    {{"--workers", "--queue", "3"}, {NULL}, NULL, {"--workers: expected a value behind it"}},
    {{"--config"}, {NULL}, NULL, {"--config: expected a value behind it"}},
    {{"--config="}, {NULL}, NULL, {"--config: expected a path"}},
    {{"--config", "/nowhere"}, {NULL}, NULL, {"/nowhere: cannot read it: No such file or directory"}},
    {{"--wokers", "3"}, {NULL}, NULL, {"argument 1: there is no option `--wokers`; did you mean `--workers`?"}},
    {{"--wokers=3"}, {NULL}, NULL, {"argument 1: there is no option `--wokers`; did you mean `--workers`?"}},
    {{"--admin_listen=x"},
     {NULL},
     NULL,
     {"argument 1: there is no option `--admin_listen`; did you mean `--admin-listen`?"}},
    {{"--chek-config"},
     {NULL},
     NULL,
     {"argument 1: there is no option `--chek-config`; did you mean `--check-config`?"}},
    {{"--token", "s3cret"}, {NULL}, NULL, {"argument 1: there is no option `--token`; --help lists them"}},
    {{"--\x1b[31m"}, {NULL}, NULL, {"argument 1: expected the name of an option; --help lists them"}},
    {{"--this-name-is-far-longer-than-any-option-there-could-be"},
     {NULL},
     NULL,
     {"argument 1: expected the name of an option; --help lists them"}},
    {{"--"}, {NULL}, NULL, {"argument 1: there is no option `--`; --help lists them"}},
    {{"serve"}, {NULL}, NULL, {"argument 1: expected --name value or --name=value"}},
    {{"-x"}, {NULL}, NULL, {"argument 1: expected --name value or --name=value"}},
    {{""}, {NULL}, NULL, {"argument 1: expected --name value or --name=value"}},
    {{"--check-config=yes"}, {NULL}, NULL, {"--check-config: expected no value"}},
    {{"--restore"}, {NULL}, NULL, {"--restore: expected a path"}},
    {{"--restore="}, {NULL}, NULL, {"--restore: expected a path"}},
    {{"--restore", "/backup", "--check-config"},
     {NULL},
     NULL,
     {"--check-config: expected one of --check-config, --restore, --list-crash-points, --list-canaries, once"}},
    {{NULL},
     {"EVIDENCED_WORKERS=no", "EVIDENCED_LISTEM=x"},
     NULL,
     {"EVIDENCED_WORKERS: expected a number from 1 to 256",
      "environment: there is no option `EVIDENCED_LISTEM`; did you mean `EVIDENCED_LISTEN`?"}},
    {{NULL}, {"EVIDENCED_workers=8"}, NULL, {"environment: there is no option `EVIDENCED_workers`; --help lists them"}},
    {{NULL}, {"EVIDENCED_FOO=8"}, NULL, {"environment: there is no option `EVIDENCED_FOO`; --help lists them"}},
    {{"--config=/etc/evidenced.conf"},
     {NULL},
     "\nwokers = 3\nworkers 3\nworkers = 3 # all cores\n= 3",
     {"/etc/evidenced.conf:2: there is no option `wokers`; did you mean `workers`?",
      "/etc/evidenced.conf:3: expected `name = value`",
      "/etc/evidenced.conf:4: expected the comment on a line of its own",
      "/etc/evidenced.conf:5: expected the name of an option; --help lists them"}},
    {{"--config=/etc/evidenced.conf"},
     {NULL},
     "workers = 3\nconfig = /other\n\nworkers = 4",
     {"/etc/evidenced.conf:2: there is no option `config`; --help lists them",
      "/etc/evidenced.conf:4: expected workers once, it is in line 1 too"}},
    {{"--workers", "3", "--config=/etc/evidenced.conf"},
     {"EVIDENCED_WORKERS=0"},
     "workers = 0",
     {"/etc/evidenced.conf:1: expected a number from 1 to 256", "EVIDENCED_WORKERS: expected a number from 1 to 256"}},
    {{"--listen=0.0.0.0:8080"},
     {NULL},
     NULL,
     {"--listen: listen opens beyond this host; that needs token-jwks, because nothing listens there without "
      "authentication"}},
    {{"--listen=[::]:80", "--admin-listen=192.168.1.1:81"},
     {NULL},
     NULL,
     {"--listen: listen opens beyond this host; that needs token-jwks, because nothing listens there without "
      "authentication",
      "--admin-listen: admin-listen opens beyond this host; that needs token-jwks, because nothing listens there "
      "without "
      "authentication"}},
    {{"--listen=fd:3"},
     {NULL},
     NULL,
     {"--listen: listen opens beyond this host; that needs token-jwks, because nothing listens there without "
      "authentication"}},
    {{"--listen=[::ffff:10.0.0.1]:80"},
     {NULL},
     NULL,
     {"--listen: listen opens beyond this host; that needs token-jwks, because nothing listens there without "
      "authentication"}},
    {{"--listen=0.0.0.0:80"},
     {"EVIDENCED_TOKEN_JWKS=/keys"},
     NULL,
     {"EVIDENCED_TOKEN_JWKS: expected token-issuer too; token-jwks, token-issuer and token-audience go together",
      "EVIDENCED_TOKEN_JWKS: expected token-audience too; token-jwks, token-issuer and token-audience go together"}},
    {{"--listen=127.0.0.1:8081"}, {NULL}, NULL, {"default: expected admin-listen to be another address than listen"}},
    {{"--drain-seconds=20"},
     {NULL},
     NULL,
     {"--drain-seconds: expected drain-seconds and deadline-ms to be at most 29 seconds together"}},
    {{"--listen=bad", "--drain-seconds=99"},
     {NULL},
     NULL,
     {"--listen: expected a numeric address such as 127.0.0.1:8080 or [::1]:8080, or unix:PATH, or fd:NUMBER",
      "--drain-seconds: expected a number from 0 to 25"}},
    {{"--data=/a/directory/whose/name/is/so/long/that/no/socket/can/have/a/name/in/it/"
      "because/the/kernel/takes/no/more/than/107/bytes"},
     {NULL},
     NULL,
     {"default: expected control to be a path of at most 107 bytes: it is a socket"}},
};

START_TEST(every_mistake_is_told_at_once_with_its_place_and_what_was_expected) {
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct attempt attempt = {.file = mistakes[i].file};
        memcpy(attempt.flags, mistakes[i].flags, sizeof mistakes[i].flags);
        memcpy(attempt.variables, mistakes[i].variables, sizeof mistakes[i].variables);
        ck_assert_msg(config_of(&attempt) == NULL, "row %zu", i);
        size_t count = 0;
        for (; count < 4 && mistakes[i].errors[count] != NULL; count++) {
            ck_assert_msg(count < attempt.errors.count, "row %zu: nobody said %s", i, mistakes[i].errors[count]);
            ASSERT_TEXT(attempt.errors.lines[count], mistakes[i].errors[count]);
        }
        ck_assert_msg(attempt.errors.count == count, "row %zu: " EVD_TEXT_FMT, i,
                      EVD_TEXT_ARG(attempt.errors.lines[count]));
        evd_arena_done(&attempt.arena);
    }
}
END_TEST

START_TEST(errors_are_bounded_and_the_rest_is_counted) {
    struct attempt attempt = {.file = NULL};
    for (size_t i = 0; i < 80; i++)
        attempt.flags[i] = "bogus";
    ck_assert_ptr_null(config_of(&attempt));
    ck_assert_uint_eq(attempt.errors.count, EVD_CONFIG_ERRORS);
    ck_assert_uint_eq(attempt.errors.untold, 80 - EVD_CONFIG_ERRORS);
    evd_arena_done(&attempt.arena);
}
END_TEST

START_TEST(hostile_files_are_refused_in_bounds) {
    static char large[EVD_CONFIG_FILE_BYTES + 100];
    memset(large, '#', sizeof large - 1);
    struct attempt too_large = {.flags = {"--config=/etc/evidenced.conf"}, .file = large};
    ck_assert_ptr_null(config_of(&too_large));
    ASSERT_TEXT(too_large.errors.lines[0], "/etc/evidenced.conf: expected at most 65536 bytes");
    large[EVD_CONFIG_FILE_BYTES] = '\0';
    struct attempt fits = {.flags = {"--config=/etc/evidenced.conf"}, .file = large};
    ck_assert_ptr_nonnull(config_of(&fits));
    static const char binary[] = "data = a\0b\n\0\0\xFF = \x80\n\n====\n";
    struct attempt odd = {.flags = {"--config=/etc/evidenced.conf"}, .file = binary, .file_bytes = sizeof binary - 1};
    ck_assert_ptr_null(config_of(&odd));
    ck_assert_uint_eq(odd.errors.count, 3);
    evd_arena_done(&too_large.arena);
    evd_arena_done(&fits.arena);
    evd_arena_done(&odd.arena);
}
END_TEST

START_TEST(a_door_opens_beyond_this_host_with_tokens) {
    struct attempt attempt = {
        .flags = {"--listen=0.0.0.0:8080", "--admin-listen=[::]:8081", "--token-jwks=/keys.json"},
        .variables = {"EVIDENCED_TOKEN_ISSUER=https://id.example", "EVIDENCED_TOKEN_AUDIENCE=evidenced"}};
    const struct evd_config *config = good(&attempt);
    ASSERT_TEXT(evd_config_text(config, EVD_CONFIG_LISTEN), "0.0.0.0:8080");
    evd_arena_done(&attempt.arena);
}
END_TEST

START_TEST(both_doors_may_take_any_free_port) {
    struct attempt attempt = {.flags = {"--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0"}};
    (void)good(&attempt);
    evd_arena_done(&attempt.arena);
}
END_TEST

START_TEST(what_kubernetes_evidencectl_and_tests_put_into_the_environment_does_not_stop_it) {
    struct attempt attempt = {
        .variables = {"EVIDENCED_SERVICE_HOST=10.0.0.1", "EVIDENCED_SERVICE_PORT=80", "EVIDENCED_SERVICE_PORT_HTTP=80",
                      "EVIDENCED_PORT=tcp://10.0.0.1:80", "EVIDENCED_PORT_80_TCP=tcp://10.0.0.1:80",
                      "EVIDENCED_PORT_80_TCP_ADDR=10.0.0.1", "EVIDENCED_ADMIN_SERVICE_HOST=10.0.0.2",
                      "EVIDENCED_ADMIN_PORT_81_TCP_PROTO=tcp", "EVIDENCED_CRASH_AT=derived", "EVIDENCED_CANARY=x",
                      "EVIDENCED_TEST_DATA=/x", "EVIDENCED_BIN=build", "EVIDENCED_PROJECT=x", "EVIDENCED_SERVER=x",
                      "EVIDENCED_TOKEN_FILE=x", "EVIDENCED_FAULTFS_FAIL=3", "EVIDENCED", "=x", ""}};
    (void)good(&attempt);
    evd_arena_done(&attempt.arena);
    struct attempt port = {.variables = {"EVIDENCED_PORT=8080"}}; /* somebody's wish, not Kubernetes */
    ck_assert_ptr_null(config_of(&port));
    evd_arena_done(&port.arena);
}
END_TEST

START_TEST(actions_are_recognised_among_options) {
    static const struct {
        const char *flags[5];
        enum evd_config_action action;
    } rows[] = {
        {{"--help"}, EVD_ACTION_HELP},
        {{"-h"}, EVD_ACTION_HELP},
        {{"--version"}, EVD_ACTION_VERSION},
        {{"--bogus", "--workers=x", "--help"}, EVD_ACTION_HELP},
        {{"--workers", "--version"}, EVD_ACTION_VERSION},
        {{"--version", "--help"}, EVD_ACTION_VERSION},
        {{"--check-config", "--workers", "3"}, EVD_ACTION_CHECK},
        {{"--workers", "3", "--list-crash-points"}, EVD_ACTION_LIST_CRASH_POINTS},
        {{"--list-canaries"}, EVD_ACTION_LIST_CANARIES},
        {{"--restore", "/backup", "--data", "/new"}, EVD_ACTION_RESTORE},
        {{"--restore=/backup"}, EVD_ACTION_RESTORE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attempt attempt = {.file = NULL};
        memcpy(attempt.flags, rows[i].flags, sizeof rows[i].flags);
        const struct evd_config *config = good(&attempt);
        ck_assert_msg(evd_config_action(config) == rows[i].action, "row %zu", i);
        ASSERT_TEXT(evd_config_restore_from(config), rows[i].action == EVD_ACTION_RESTORE ? "/backup" : "");
        evd_arena_done(&attempt.arena);
    }
}
END_TEST

static const char *printed(struct attempt *attempt) {
    struct evd_buffer buffer;
    evd_buffer_init(&buffer, &attempt->arena, 4096);
    evd_config_print(attempt->config, &buffer);
    evd_buffer_add_byte(&buffer, '\0');
    return (const char *)buffer.bytes;
}

START_TEST(the_printed_configuration_names_every_origin_and_gives_the_same_values_when_read_again) {
    struct attempt first = {.flags = {"--workers=7", "--allowed-origins=https://a.example,https://b.example",
                                      "--token-jwks=/k", "--config=/etc/evidenced.conf"},
                            .variables = {"EVIDENCED_TOKEN_ISSUER=https://id.example/#1", "EVIDENCED_LOG_LEVEL=debug"},
                            .file = "token-audience = us"};
    (void)good(&first);
    const char *text = printed(&first);
    ck_assert_ptr_nonnull(strstr(text, "\n# from --workers\nworkers = 7\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n# from EVIDENCED_LOG_LEVEL\nlog-level = debug\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n# from /etc/evidenced.conf:1\ntoken-audience = us\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n# from default\ntrusted-proxies =\n"));
    struct attempt second = {.flags = {"--config=/etc/evidenced.conf"}, .file = text};
    (void)good(&second);
    for (enum evd_config_option option = 0; option < EVD_CONFIG_COUNT; option++)
        ck_assert_msg(evd_config_is_same(first.config, second.config, option), "%s", evd_config_name(option));
    evd_arena_done(&first.arena);
    evd_arena_done(&second.arena);
}
END_TEST

START_TEST(a_second_reading_shows_what_changed_and_what_can_be_reloaded) {
    struct attempt before = {.variables = {"EVIDENCED_LOG_LEVEL=info"}},
                   after = {.variables = {"EVIDENCED_LOG_LEVEL=debug"}};
    (void)good(&before);
    (void)good(&after);
    for (enum evd_config_option option = 0; option < EVD_CONFIG_COUNT; option++)
        ck_assert_int_eq(evd_config_is_same(before.config, after.config, option), option != EVD_CONFIG_LOG_LEVEL);
    ck_assert(evd_config_is_reloaded(EVD_CONFIG_LOG_LEVEL));
    ck_assert(evd_config_is_reloaded(EVD_CONFIG_TOKEN_JWKS));
    ck_assert(!evd_config_is_reloaded(EVD_CONFIG_DATA));
    evd_arena_done(&before.arena);
    evd_arena_done(&after.arena);
}
END_TEST

START_TEST(help_and_page_tell_every_option_and_help_fits_a_terminal) {
    struct evd_arena arena;
    struct evd_buffer help, page;
    evd_arena_init(&arena, EVD_MIB);
    evd_buffer_init(&help, &arena, 4096);
    evd_buffer_init(&page, &arena, 4096);
    evd_config_help(&help);
    evd_config_markdown(&page);
    evd_buffer_add_byte(&help, '\0');
    evd_buffer_add_byte(&page, '\0');
    const char *help_text = (const char *)help.bytes, *page_text = (const char *)page.bytes;
    for (enum evd_config_option option = 0; option < EVD_CONFIG_COUNT; option++) {
        struct evd_text flag = evd_text_print(&arena, "\n  --%s ", evd_config_name(option));
        struct evd_text row = evd_text_print(&arena, "\n| `%s` | ", evd_config_name(option));
        ck_assert_msg(strstr(help_text, flag.bytes) != NULL, "%s", evd_config_name(option));
        ck_assert_msg(strstr(page_text, row.bytes) != NULL, "%s", evd_config_name(option));
    }
    const char *end;
    for (const char *at = help_text; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        ck_assert_msg(end - at <= 80, "%.*s", (int)(end - at), at);
        ck_assert_msg(end == at || end[-1] != ' ', "%.*s", (int)(end - at), at);
    }
    for (const char *at = page_text; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        unsigned bars = 0;
        for (const char *byte = at; byte < end; byte++)
            bars += *byte == '|';
        ck_assert_msg(bars == 0 || bars == 6, "%.*s", (int)(end - at), at);
    }
    ck_assert_ptr_nonnull(strstr(help_text, "[default 127.0.0.1:8080]"));
    ck_assert_ptr_nonnull(strstr(page_text, "| `info` | one of error, warn, info, debug | SIGHUP |"));
    evd_arena_done(&arena);
}
END_TEST

EVD_TEST_MAIN("base: configuration", nothing_given_gives_the_defaults, the_defaults_agree_with_the_bounds_of_the_code,
              a_flag_beats_a_variable_beats_the_file_beats_the_default,
              the_file_may_be_named_by_a_variable_and_the_last_flag_of_a_name_wins,
              an_empty_value_clears_what_may_be_empty, lists_are_split_and_trimmed,

              every_mistake_is_told_at_once_with_its_place_and_what_was_expected,
              errors_are_bounded_and_the_rest_is_counted, hostile_files_are_refused_in_bounds,
              a_door_opens_beyond_this_host_with_tokens, both_doors_may_take_any_free_port,
              what_kubernetes_evidencectl_and_tests_put_into_the_environment_does_not_stop_it,
              actions_are_recognised_among_options,
              the_printed_configuration_names_every_origin_and_gives_the_same_values_when_read_again,
              a_second_reading_shows_what_changed_and_what_can_be_reloaded,
              help_and_page_tell_every_option_and_help_fits_a_terminal)
