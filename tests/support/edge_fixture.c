#include "evidenced/http/server.h"

#include "edge_fixture.h"

#include "edge_commands.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/log.h"
#include "evidenced/base/random.h"
#include "evidenced/http/spool.h"
#include "evidenced/http/token_mint.h"
#include "evidenced/runtime/operations.h"
#include "evidenced/runtime/runtime.h"
#include "store_fixture.h"

#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#define ISSUER   "issuer"
#define AUDIENCE "audience"

static void make_keyring(struct evd_edge_fixture *fixture) {
    char private_path[300], jwks_path[300], error[EVD_KEYRING_ERROR_BYTES] = "";
    struct evd_token_rules rules = {.issuer = EVD_TEXT(ISSUER), .audience = EVD_TEXT(AUDIENCE), .leeway_ms = 0};
    (void)snprintf(private_path, sizeof private_path, "%s/key.json", fixture->directory);
    (void)snprintf(jwks_path, sizeof jwks_path, "%s/jwks.json", fixture->directory);
    ck_assert_msg(evd_mint_key_create(private_path, jwks_path, error), "%s", error);
    fixture->key = evd_mint_key_open(private_path, error);
    fixture->keyring = evd_keyring_new(&rules);
    ck_assert(fixture->key != NULL && fixture->keyring != NULL);
    ck_assert_msg(evd_keyring_load(fixture->keyring, jwks_path, error), "%s", error);
    evd_edge_fixture_token(fixture, "ada", "evidenced:create-project", fixture->token);
}

void evd_edge_fixture_token(const struct evd_edge_fixture *fixture, const char *subject, const char *scope,
                            char ret_token[EDGE_TOKEN_BYTES]) {
    char token[EVD_LIMIT_TOKEN_BYTES + 1], error[256] = "";
    struct evd_mint_claims claims = {.issuer = EVD_TEXT(ISSUER),
                                     .audience = EVD_TEXT(AUDIENCE),
                                     .subject = evd_text_from(subject),
                                     .scope = evd_text_from(scope),
                                     .issued_ms = evd_clock_wall_ms(&fixture->clock.clock),
                                     .life_seconds = 3600};
    ck_assert_msg(evd_mint_token(fixture->key, &claims, token, error), "%s", error);
    ck_assert_uint_lt(strlen(token), EDGE_TOKEN_BYTES);
    memcpy(ret_token, token, strlen(token) + 1);
}

static void make_edge(struct evd_edge_fixture *fixture) {
    static const struct evd_text origins[] = {EVD_TEXT_INIT("https://review.example.org")};
    fixture->operations = evd_operations_new(&fixture->clock.clock);
    struct evd_edge_options options = {.operations = fixture->operations,
                                       .commands = evd_edge_commands,
                                       .command_count = evd_edge_command_count,
                                       .clock = &fixture->clock.clock,
                                       .keyring = fixture->keyring,
                                       .log = fixture->log,
                                       .deadline_ms = 10000,
                                       .version = "1.2.3",
                                       .profile = "fixture",
                                       .store_format = 7};
    options.figures = fixture->figures = evd_figures_new(options.commands, options.command_count);
    fixture->edge = evd_edge_new(&options);
    ck_assert(fixture->figures != NULL && fixture->edge != NULL);
    fixture->settings = (struct evd_edge_settings){
        .origins = origins, .origin_count = 1, .subject = {.in_flight = 100, .rate = 1000000, .burst = 1000000}};
    evd_edge_set(fixture->edge, &fixture->settings);
}

static void make_spool(struct evd_edge_fixture *fixture) {
    char directory[310], error[EVD_SPOOL_ERROR_BYTES] = "";
    (void)snprintf(directory, sizeof directory, "%s/spool", fixture->directory);
    struct evd_spool_options options = {.directory = directory, .most_bytes = EDGE_SPOOL_BYTES};
    fixture->spool = evd_spool_open(&options, error);
    ck_assert_msg(fixture->spool != NULL, "%s", error);
}

static void open_door(struct evd_edge_fixture *fixture, enum evd_edge_door door, const char *listen) {
    char error[256] = "";
    struct evd_http_server_options options = {
        .listen = listen, .clock = &fixture->clock.clock, .spool = fixture->spool};
    evd_edge_application(fixture->edge, door, &options.application);
    fixture->servers[door] = evd_http_server_open(&options, error);
    ck_assert_msg(fixture->servers[door] != NULL, "%s", error);
}

void evd_edge_fixture_open_unstarted(struct evd_edge_fixture *fixture) {
    char listen[310];
    *fixture = (struct evd_edge_fixture){.log_fd = -1};
    evd_test_clock_init(&fixture->clock, INT64_C(1767225600000));
    (void)snprintf(fixture->directory, sizeof fixture->directory, "%s", evd_test_directory());
    (void)snprintf(fixture->control, sizeof fixture->control, "%s/control", fixture->directory);
    (void)snprintf(fixture->log_path, sizeof fixture->log_path, "%s/log", fixture->directory);
    fixture->log_fd = open(fixture->log_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    fixture->log = evd_log_new(fixture->log_fd, EVD_LOG_DEBUG, &fixture->clock.clock);
    ck_assert_ptr_nonnull(fixture->log);
    make_keyring(fixture);
    make_edge(fixture);
    make_spool(fixture);
    (void)snprintf(listen, sizeof listen, "unix:%s", fixture->control);
    open_door(fixture, EVD_DOOR_API, "127.0.0.1:0");
    open_door(fixture, EVD_DOOR_CONTROL, listen);
    open_door(fixture, EVD_DOOR_ADMIN, "127.0.0.1:0");
    fixture->port = evd_http_server_port(fixture->servers[EVD_DOOR_API]);
    fixture->admin_port = evd_http_server_port(fixture->servers[EVD_DOOR_ADMIN]);
}

void evd_edge_fixture_open(struct evd_edge_fixture *fixture, unsigned workers, size_t queue) {
    evd_edge_fixture_open_unstarted(fixture);
    fixture->store = evd_store_fixture_open(evd_catalogue_stored());
    struct evd_runtime_options options = {.store = fixture->store,
                                          .clock = &fixture->clock.clock,
                                          .random = evd_random_system(),
                                          .workers = workers,
                                          .queue = queue};
    fixture->runtime = evd_runtime_open(&options);
    evd_edge_offer_backups(fixture->edge, fixture->store);
    evd_edge_start(fixture->edge, fixture->runtime);
    evd_edge_set_ready(fixture->edge, EVD_OK);
    struct evd_figures_sources sources = {.runtime = fixture->runtime,
                                          .store = fixture->store,
                                          .server = fixture->servers[EVD_DOOR_API],
                                          .log = fixture->log};
    evd_figures_watch(fixture->figures, &sources);
}

void evd_edge_fixture_close(struct evd_edge_fixture *fixture) {
    evd_edge_fixture_release();
    evd_operations_release(fixture->operations);
    for (int door = 0; door < EVD_DOOR_COUNT; door++) {
        evd_http_server_quiesce(fixture->servers[door]);
        evd_http_server_close(fixture->servers[door]);
    }
    evd_spool_close(fixture->spool);
    evd_runtime_close(fixture->runtime);
    if (fixture->store != NULL) evd_store_close(fixture->store);
    evd_edge_free(fixture->edge);
    evd_operations_free(fixture->operations);
    evd_figures_free(fixture->figures);
    evd_keyring_free(fixture->keyring);
    evd_mint_key_close(fixture->key);
    evd_log_free(fixture->log);
    (void)close(fixture->log_fd);
}

char *evd_edge_fixture_log(const struct evd_edge_fixture *fixture) {
    enum { MOST = 1 << 20 };
    char *text = calloc(1, MOST + 1);
    FILE *file = fopen(fixture->log_path, "re");
    ck_assert(text != NULL && file != NULL);
    ck_assert_uint_lt(fread(text, 1, MOST, file), MOST);
    (void)fclose(file);
    return text;
}

/* Requests. */

static void say_list(const struct evd_edge_fixture *fixture, struct evd_raw_client *client, const char *format,
                     va_list arguments) {
    static _Thread_local char text[EDGE_REQUEST_BYTES];
    int size = vsnprintf(text, sizeof text, format, arguments);
    ck_assert(size > 0 && (size_t)size < sizeof text);
    const char *at = strchr(text, '@');
    if (at == NULL) {
        (void)evd_raw_send(client, text, (size_t)size);
        return;
    }
    (void)evd_raw_send(client, text, (size_t)(at - text));
    (void)evd_raw_say(client, "Host: x\r\nAuthorization: Bearer ");
    (void)evd_raw_say(client, fixture->token);
    (void)evd_raw_say(client, "\r\n");
    (void)evd_raw_send(client, at + 1, (size_t)size - (size_t)(at + 1 - text));
}

void evd_edge_say(const struct evd_edge_fixture *fixture, struct evd_raw_client *client, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say_list(fixture, client, format, arguments);
    va_end(arguments);
}

void evd_edge_ask(const struct evd_edge_fixture *fixture, struct evd_raw_response *ret_response, const char *format,
                  ...) {
    struct evd_raw_client client;
    va_list arguments;
    va_start(arguments, format);
    evd_raw_open(&client, fixture->port);
    say_list(fixture, &client, format, arguments);
    va_end(arguments);
    bool with_body = strncmp(format, "HEAD ", 5) != 0;
    if (!evd_raw_receive(&client, with_body, ret_response)) ck_abort_msg("no answer to %.200s", format);
    evd_raw_close(&client);
}

json_t *evd_edge_expect_problem(const struct evd_raw_response *response, int status, const char *outcome) {
    if (response->status != status) ck_abort_msg("%d, expected %d: %s", response->status, status, response->body);
    ck_assert_str_eq(evd_raw_header(response, "Content-Type"), "application/problem+json");
    const char *id = evd_raw_header(response, "X-Request-Id");
    ck_assert(id != NULL && strlen(id) == 32);
    char instance[128];
    (void)snprintf(instance, sizeof instance, "urn:evidenced:request:%s", id);
    json_t *json = json_loadb(response->body, response->body_bytes, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(json_is_object(json), "%s", response->body);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "status")), status);
    ck_assert_str_eq(json_string_value(json_object_get(json, "outcome")), outcome);
    ck_assert_str_eq(json_string_value(json_object_get(json, "instance")), instance);
    ck_assert(json_is_string(json_object_get(json, "title")) && json_is_string(json_object_get(json, "detail")));
    ck_assert(strncmp(json_string_value(json_object_get(json, "type")), "urn:evidenced:problem:", 22) == 0);
    bool retryable = json_is_true(json_object_get(json, "retryable"));
    ck_assert_int_eq(retryable, evd_raw_header(response, "Retry-After") != NULL);
    return json;
}
