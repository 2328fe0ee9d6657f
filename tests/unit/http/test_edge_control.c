/*
 * The control socket: who calls there, and backups.
 */
#include "../../support/edge_fixture.h"
#include "evidenced/http/server.h"
#include "evidenced/store/adapter.h"

#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define ECHO(key)                                                                                                      \
    "POST /v1/projects HTTP/1.1\r\nHost: x\r\nIdempotency-Key: 018f3b1e-0000-7000-8000-0000000000" key                 \
    "\r\nContent-Type: application/json\r\n%sContent-Length: 12\r\n\r\n{\"name\":\"x\"}"
#define BACKUP "POST /v1/operator/backup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

static struct evd_edge_fixture fixture;
static struct evd_raw_response response, other;
static struct evd_raw_client client;

static void open_all(void) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_raw_open_unix(&client, fixture.control);
}

static void close_all(void) {
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}

static const char *header(const char *name) {
    const char *value = evd_raw_header(&response, name);
    return value == NULL ? "" : value;
}

static void ask(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* On a connection of its own. */
static void ask(const char *format, ...) {
    static char request[65536];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(request, sizeof request, format, arguments);
    va_end(arguments);
    ck_assert(size > 0 && (size_t)size < sizeof request);
    evd_raw_close(&client);
    evd_raw_open_unix(&client, fixture.control);
    ck_assert(evd_raw_send(&client, request, (size_t)size));
    ck_assert(evd_raw_receive(&client, true, &response));
}

/* Who. */

static const char *token_header(const char *token) {
    static char line[EDGE_TOKEN_BYTES + 64];
    (void)snprintf(line, sizeof line, "Authorization: Bearer %s\r\n", token);
    return line;
}

START_TEST(who_brings_a_token_to_the_control_socket_acts_as_that_person) {
    char bob[EDGE_TOKEN_BYTES];
    open_all();
    evd_edge_fixture_token(&fixture, "bob", "", bob);
    evd_edge_ask(&fixture, &other, ECHO("01"), token_header(bob));
    ck_assert_ptr_nonnull(strstr(other.body, "\"may\":0"));
    ask(ECHO("01"), token_header(bob));
    ck_assert_str_eq(response.body, other.body);
    ck_assert_str_eq(header("Idempotency-Replayed"), "true"); /* the same person, so the same project and ledger */
    ask(ECHO("02"), token_header(fixture.token));
    ck_assert_ptr_nonnull(strstr(response.body, "\"may\":1"));
    ck_assert_str_ne(response.body, other.body);
    ask(ECHO("03"), "");
    ck_assert_int_eq(response.status, 200);
    ck_assert_ptr_nonnull(strstr(response.body, "\"may\":1"));
    close_all();
}
END_TEST

START_TEST(a_person_has_their_limits_at_the_control_socket_too_and_the_operator_has_none) {
    open_all();
    fixture.settings.subject = (struct evd_limits){.in_flight = 8, .rate = 1, .burst = 2};
    evd_edge_set(fixture.edge, &fixture.settings);
    for (int i = 0; i < 3; i++)
        ask(ECHO("02"), token_header(fixture.token));
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    for (int i = 0; i < 5; i++) {
        ask(ECHO("03"), "");
        ck_assert_int_eq(response.status, 200);
    }
    close_all();
}
END_TEST

static const char *const wrong[] = {"Authorization:\r\n", "Authorization: Basic YTpi\r\n", "Authorization: Bearer\r\n",
                                    "Authorization: Bearer a.b.c\r\n"};

START_TEST(a_wrong_token_does_not_make_an_operator_nor_is_it_counted_against_an_address) {
    open_all();
    for (int i = 0; i < 250; i++) {
        ask(ECHO("04"), wrong[(size_t)i % (sizeof wrong / sizeof *wrong)]);
        json_decref(evd_edge_expect_problem(&response, 401, "Unauthenticated"));
    }
    close_all();
}
END_TEST

/* Backups. */

static void ask_backup(const char *body) {
    ask(BACKUP "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
}

static void ask_backup_into(const char *directory) {
    char body[600];
    (void)snprintf(body, sizeof body, "{\"directory\":\"%s\"}", directory);
    ask_backup(body);
}

static size_t lines_with(const char *log, const char *word) {
    size_t count = 0;
    for (const char *at = strstr(log, word); at != NULL; at = strstr(at + 1, word))
        count++;
    return count;
}

START_TEST(the_operator_has_a_backup_made_into_a_new_directory) {
    char directory[300], file[340];
    struct stat there;
    open_all();
    (void)snprintf(directory, sizeof directory, "%s/backup", fixture.directory);
    ask_backup_into(directory);
    ck_assert_int_eq(response.status, 200);
    json_t *json = json_loadb(response.body, response.body_bytes, 0, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(json, "directory")), directory);
    ck_assert(json_is_integer(json_object_get(json, "durationMs")));
    json_decref(json);
    (void)snprintf(file, sizeof file, "%s/CURRENT", directory);
    ck_assert_int_eq(stat(file, &there), 0);
    ask_backup_into(directory);
    json = evd_edge_expect_problem(&response, 400, "Malformed");
    ck_assert_str_eq(json_string_value(json_object_get(json, "pointer")), "/directory");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(json, "detail")), "exists already"));
    json_decref(json);
    close_all();
    char *log = evd_edge_fixture_log(&fixture);
    ck_assert_uint_eq(lines_with(log, "\"event\":\"backup-begun\""), 1);
    ck_assert_uint_eq(lines_with(log, "\"event\":\"backup-ended\""), 1);
    ck_assert_uint_eq(lines_with(log, "\"route\":\"/v1/operator/backup\""), 2);
    free(log);
}
END_TEST

static const struct {
    const char *body, *pointer;
} bodies[] = {
    {"{\"directory\":\"backup\"}", "/directory"},
    {"{\"directory\":\"./backup\"}", "/directory"},
    {"{\"directory\":\"\"}", "/directory"},
    {"{\"directory\":\"/\"}", "/directory"},
    {"{\"directory\":\"/no/such/parent\"}", "/directory"},
    {"{\"directory\":\"/dev/null/x\"}", "/directory"},
    {"{\"directory\":\"/tmp/a\\u0000b\"}", ""},
    {"{\"directory\":7}", "/directory"},
    {"{\"directory\":null}", "/directory"},
    {"{\"directory\":\"/tmp/x\",\"more\":1}", "/more"},
    {"{}", "/directory"},
    {"[]", ""},
    {"{", ""},
    {"", ""},
};

START_TEST(a_backup_that_cannot_be_made_there_is_a_400_that_names_the_place) {
    open_all();
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        ask_backup(bodies[i].body);
        ck_assert_msg(response.status == 400, "%s: %d %s", bodies[i].body, response.status, response.body);
        json_t *json = evd_edge_expect_problem(&response, 400, "Malformed");
        ck_assert_msg(strcmp(json_string_value(json_object_get(json, "pointer")), bodies[i].pointer) == 0, "%s: %s",
                      bodies[i].body, response.body);
        json_decref(json);
    }
    ask(BACKUP "Content-Length: 5000\r\n\r\n{\"directory\":\"/%04983d\"}", 0);
    json_decref(evd_edge_expect_problem(&response, 400, "Malformed"));
    close_all();
}
END_TEST

START_TEST(backups_are_there_for_the_operator_only_and_nowhere_else) {
    struct evd_raw_client admin;
    open_all();
    ask("POST /v1/operator/backup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%sContent-Length: "
        "2\r\n\r\n{}",
        token_header(fixture.token));
    json_t *json = evd_edge_expect_problem(&response, 409, "Refused");
    ck_assert_str_eq(json_string_value(json_object_get(json, "reason")), "permission");
    json_decref(json);
    ask("POST /v1/operator/backup HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YTpi\r\nContent-Length: 2\r\n\r\n{}");
    json_decref(evd_edge_expect_problem(&response, 401, "Unauthenticated"));
    ask(BACKUP "\r\n");
    json_decref(evd_edge_expect_problem(&response, 411, "LengthRequired"));
    ask("POST /v1/operator/backup HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
    json_decref(evd_edge_expect_problem(&response, 415, "UnsupportedMediaType"));
    ask(BACKUP "Content-Length: 16385\r\n\r\n");
    json_decref(evd_edge_expect_problem(&response, 413, "BodyTooLarge"));
    ask("GET /v1/operator/backup HTTP/1.1\r\nHost: x\r\n\r\n");
    json_decref(evd_edge_expect_problem(&response, 405, "MethodNotAllowed"));
    ck_assert_str_eq(header("Allow"), "POST, OPTIONS");
    ask("OPTIONS /v1/operator/backup HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_int_eq(response.status, 204);
    evd_edge_ask(&fixture, &response, "POST /v1/operator/backup HTTP/1.1\r\n@Content-Length: 2\r\n\r\n{}");
    json_decref(evd_edge_expect_problem(&response, 404, "NotFound"));
    evd_raw_open(&admin, fixture.admin_port);
    ck_assert(evd_raw_say(&admin, BACKUP "Content-Length: 2\r\n\r\n{}"));
    ck_assert(evd_raw_receive(&admin, true, &response));
    json_decref(evd_edge_expect_problem(&response, 404, "NotFound"));
    evd_raw_close(&admin);
    close_all();
}
END_TEST

START_TEST(a_daemon_that_is_still_starting_makes_no_backups) {
    evd_edge_fixture_open_unstarted(&fixture);
    evd_raw_open_unix(&client, fixture.control);
    ask_backup("{\"directory\":\"/tmp/x\"}");
    json_decref(evd_edge_expect_problem(&response, 503, "StoreUnavailable"));
    close_all();
}
END_TEST

/* A store whose backups take as long as the test wants, and become what it says. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned begun;
static bool may_end;
static enum evd_store_status becomes;

static struct evd_store_result slow_backup(struct evd_store *store, const char *directory) {
    (void)store;
    (void)directory;
    (void)pthread_mutex_lock(&mutex);
    begun++;
    (void)pthread_cond_broadcast(&changed);
    while (!may_end)
        (void)pthread_cond_wait(&changed, &mutex);
    struct evd_store_result result = {.status = becomes};
    (void)pthread_mutex_unlock(&mutex);
    return result;
}

static void await_begun(unsigned count) {
    (void)pthread_mutex_lock(&mutex);
    while (begun < count)
        (void)pthread_cond_wait(&changed, &mutex);
    (void)pthread_mutex_unlock(&mutex);
}

static void let_end(enum evd_store_status status) {
    (void)pthread_mutex_lock(&mutex);
    may_end = true;
    becomes = status;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

static const struct evd_store_adapter slow_adapter = {.backup = slow_backup};
static struct evd_store slow = {.adapter = &slow_adapter};

START_TEST(a_backup_takes_its_time_on_a_worker_while_all_else_goes_on_and_one_is_enough) {
    struct evd_raw_client first;
    char body[400];
    open_all();
    evd_edge_offer_backups(fixture.edge, &slow);
    (void)snprintf(body, sizeof body, "{\"directory\":\"%s/backup\"}", fixture.directory);
    evd_raw_open_unix(&first, fixture.control);
    char request[700];
    (void)snprintf(request, sizeof request, BACKUP "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
    ck_assert(evd_raw_say(&first, request));
    await_begun(1);
    evd_test_clock_advance(&fixture.clock, INT64_C(600000)); /* no deadline */
    evd_http_server_reap(fixture.servers[EVD_DOOR_CONTROL]);
    ask("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_int_eq(response.status, 200);
    ask(ECHO("03"), "");
    ck_assert_int_eq(response.status, 200);
    ask_backup(body);
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    let_end(EVD_STORE_OK);
    ck_assert(evd_raw_receive(&first, true, &response));
    ck_assert_int_eq(response.status, 200);
    ck_assert_ptr_nonnull(strstr(response.body, "\"durationMs\":600000"));
    evd_raw_close(&first);
    close_all();
}
END_TEST

START_TEST(a_backup_that_fails_says_why_and_the_next_one_may_begin) {
    static const struct {
        enum evd_store_status status;
        int http;
        const char *outcome;
    } failures[] = {{EVD_STORE_FULL, 503, "StoreFull"}, {EVD_STORE_UNAVAILABLE, 503, "StoreUnavailable"}};
    char directory[300];
    open_all();
    evd_edge_offer_backups(fixture.edge, &slow);
    (void)snprintf(directory, sizeof directory, "%s/backup", fixture.directory);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        let_end(failures[i].status);
        ask_backup_into(directory);
        json_decref(evd_edge_expect_problem(&response, failures[i].http, failures[i].outcome));
    }
    let_end(EVD_STORE_OK);
    ask_backup_into(directory);
    ck_assert_int_eq(response.status, 200);
    close_all();
    char *log = evd_edge_fixture_log(&fixture);
    ck_assert_uint_eq(lines_with(log, "\"level\":\"error\",\"event\":\"backup-ended\""), 2);
    free(log);
}
END_TEST

EVD_TEST_MAIN("http: edge, control socket", who_brings_a_token_to_the_control_socket_acts_as_that_person,
              a_person_has_their_limits_at_the_control_socket_too_and_the_operator_has_none,
              a_wrong_token_does_not_make_an_operator_nor_is_it_counted_against_an_address,
              the_operator_has_a_backup_made_into_a_new_directory,
              a_backup_that_cannot_be_made_there_is_a_400_that_names_the_place,
              backups_are_there_for_the_operator_only_and_nowhere_else,
              a_daemon_that_is_still_starting_makes_no_backups,
              a_backup_takes_its_time_on_a_worker_while_all_else_goes_on_and_one_is_enough,
              a_backup_that_fails_says_why_and_the_next_one_may_begin)
