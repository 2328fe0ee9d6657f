#include "../support/daemon.h"
#include "../support/raw_client.h"
#include "../support/test.h"

#include <signal.h>
#include <sys/stat.h>

/* The whole program: start, signals, restart, crash, refusals to start. */

#define PROJECT "{\"name\":\"One\"}"

static struct evd_daemon_process process;
static struct evd_client ada;
static struct evd_reply reply;
static char key[EVD_UUID_TEXT_BYTES + 1];

static void prepare(void) {
    evd_daemon_process_init(&process);
    evd_test_uuid(key);
}

static void start(void) {
    prepare();
    evd_daemon_process_start(&process);
    evd_client_init(&ada, &process, "ada", true);
}

static void finish(void) {
    evd_reply_done(&reply);
    evd_client_done(&ada);
    evd_daemon_process_done(&process);
}

static int post(void) {
    evd_reply_done(&reply);
    return evd_client_post(&ada, "/v1/projects", key, PROJECT, &reply);
}

static int get(const char *path) {
    evd_reply_done(&reply);
    return evd_client_get(&ada, path, &reply);
}

START_TEST(it_takes_a_command_and_stops_cleanly_when_told_to) {
    start();
    ck_assert_int_eq(post(), 200);
    ck_assert_str_eq(evd_reply_text(&reply, "commandId"), key);
    ck_assert_int_eq(evd_daemon_process_stop(&process), 0);
    ck_assert(evd_daemon_process_has_logged(&process, "\"event\":\"stopped\""));
    finish();
}
END_TEST

START_TEST(an_interrupt_stops_it_as_well) {
    start();
    evd_daemon_process_signal(&process, SIGINT);
    ck_assert_int_eq(evd_daemon_process_wait(&process), 0);
    finish();
}
END_TEST

START_TEST(what_was_answered_is_there_after_a_kill) {
    char project[64], path[128];
    start();
    ck_assert_int_eq(post(), 200);
    (void)snprintf(project, sizeof project, "%s", evd_reply_text(&reply, "id"));
    evd_daemon_process_kill(&process);
    evd_client_done(&ada);
    evd_daemon_process_start(&process);
    ck_assert_int_eq(post(), 200);
    char replayed[8];
    ck_assert_ptr_nonnull(evd_reply_header(&reply, "Idempotency-Replayed", replayed, sizeof replayed));
    ck_assert_str_eq(evd_reply_text(&reply, "id"), project);
    (void)snprintf(path, sizeof path, "/v1/projects/%s", project);
    ck_assert_int_eq(get(path), 200);
    finish();
}
END_TEST

START_TEST(a_crash_point_breaks_the_connection_and_a_retry_finds_out) {
    prepare();
    process.variables[0] = "EVIDENCED_CRASH_AT=answer-before";
    evd_daemon_process_start(&process);
    evd_client_init(&ada, &process, "ada", true);
    ck_assert_int_eq(post(), 0);
    ck_assert_int_eq(evd_daemon_process_wait(&process), -SIGKILL);
    process.variables[0] = NULL;
    evd_daemon_process_start(&process);
    ck_assert_int_eq(post(), 200);
    char replayed[8];
    ck_assert_ptr_nonnull(evd_reply_header(&reply, "Idempotency-Replayed", replayed, sizeof replayed));
    finish();
}
END_TEST

START_TEST(while_it_lingers_it_is_not_ready_lives_and_serves_and_a_second_signal_ends_it) {
    start();
    ck_assert_int_eq(get("/readyz"), 200);
    evd_daemon_process_stop(&process);
    process.arguments[0] = "--drain-seconds";
    process.arguments[1] = "15";
    evd_client_done(&ada);
    evd_daemon_process_start(&process);
    evd_daemon_process_signal(&process, SIGTERM);
    evd_daemon_process_await_log(&process, "\"event\":\"draining\"");
    ck_assert_int_eq(get("/readyz"), 503);
    ck_assert_str_eq(evd_reply_text(&reply, "outcome"), "Draining");
    ck_assert_int_eq(get("/livez"), 200);
    ck_assert_int_eq(post(), 200);
    evd_daemon_process_signal(&process, SIGTERM);
    ck_assert_int_eq(evd_daemon_process_wait(&process), 1);
    finish();
}
END_TEST

/* A request whose body is not complete when the signal comes. */
START_TEST(a_request_in_flight_is_answered_before_the_end) {
    struct evd_raw_client raw;
    static struct evd_raw_response answer;
    char head[DAEMON_TOKEN_BYTES + 512];
    start();
    evd_raw_open(&raw, process.api_port);
    (void)snprintf(head, sizeof head,
                   "POST /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\n"
                   "Content-Type: application/json\r\nContent-Length: %zu\r\nExpect: 100-continue\r\n\r\n",
                   ada.token, key, strlen(PROJECT));
    ck_assert(evd_raw_say(&raw, head));
    ck_assert(evd_raw_receive(&raw, false, &answer));
    ck_assert_int_eq(answer.status, 100); /* its head was seen: it is in flight */
    evd_daemon_process_signal(&process, SIGTERM);
    evd_daemon_process_await_log(&process, "\"event\":\"stopped-accepting\"");
    ck_assert(evd_raw_say(&raw, PROJECT));
    ck_assert(evd_raw_receive(&raw, true, &answer));
    ck_assert_int_eq(answer.status, 200);
    ck_assert_str_eq(evd_raw_header(&answer, "Connection"), "close");
    evd_raw_close(&raw);
    ck_assert_int_eq(evd_daemon_process_wait(&process), 0);
    finish();
}
END_TEST

/* Reloading. */

static void write_file(const char *name, const char *text) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", process.directory, name);
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(hanging_up_reloads_what_can_be_and_refuses_what_is_wrong) {
    static char config[512], origin[64];
    prepare();
    (void)snprintf(config, sizeof config, "%s/evidenced.conf", process.directory);
    write_file("evidenced.conf", "allowed-origins = https://a.example.org\n");
    process.arguments[0] = "--config";
    process.arguments[1] = config;
    evd_daemon_process_start(&process);
    evd_client_init(&ada, &process, "ada", true);
    evd_client_ask(&ada, "GET", "/livez", NULL, NULL, "Origin: https://b.example.org\r\n", &reply);
    ck_assert_ptr_null(evd_reply_header(&reply, "Access-Control-Allow-Origin", origin, sizeof origin));
    write_file("evidenced.conf", "allowed-origins = https://b.example.org\nworkers = 3\n");
    evd_daemon_process_signal(&process, SIGHUP);
    evd_daemon_process_await_log(&process, "\"event\":\"configuration-reloaded\"");
    ck_assert(evd_daemon_process_has_logged(&process, "\"option\":\"workers\""));
    evd_reply_done(&reply);
    evd_client_ask(&ada, "GET", "/livez", NULL, NULL, "Origin: https://b.example.org\r\n", &reply);
    ck_assert_ptr_nonnull(evd_reply_header(&reply, "Access-Control-Allow-Origin", origin, sizeof origin));
    write_file("evidenced.conf", "no-such-option = 1\n");
    evd_daemon_process_signal(&process, SIGHUP);
    evd_daemon_process_await_log(&process, "\"event\":\"configuration-refused\"");
    ck_assert_int_eq(post(), 200);
    finish();
}
END_TEST

START_TEST(a_broken_key_set_at_a_reload_keeps_the_old_one) {
    start();
    write_file("jwks.json", "{}");
    evd_daemon_process_signal(&process, SIGHUP);
    evd_daemon_process_await_log(&process, "\"event\":\"keys-refused\"");
    ck_assert_int_eq(post(), 200);
    finish();
}
END_TEST

/* Starting that fails. */

START_TEST(a_second_daemon_on_one_directory_is_refused) {
    static char other[512];
    struct evd_daemon_process second;
    start();
    (void)snprintf(other, sizeof other, "%s/other.sock", process.directory);
    evd_daemon_process_init(&second);
    (void)snprintf(second.directory, sizeof second.directory, "%s", process.directory);
    ck_assert_int_eq(evd_daemon_process_fail(&second), 1);
    ck_assert(evd_daemon_process_has_logged(&second, "evidenced: Another process serves"));
    second.arguments[0] = "--control";
    second.arguments[1] = other;
    ck_assert_int_eq(evd_daemon_process_fail(&second), 1);
    ck_assert(evd_daemon_process_has_logged(&second, "evidenced: "));
    evd_daemon_process_done(&second);
    ck_assert_int_eq(post(), 200);
    finish();
}
END_TEST

static const struct {
    const char *option, *value;
    int status;
    const char *says;
} misstarts[] = {
    {"--token-jwks", "/nowhere/jwks.json", 1, "cannot be read"},
    {"--workers", "many", 2, "workers"},
    {"--nonsense", "1", 2, "nonsense"},
    {"--data", "/proc/nowhere", 1, "data directory"},
    {"--listen", "192.0.2.1:1", 1, "Cannot listen"},
};

START_TEST(what_cannot_start_says_why_in_a_sentence) {
    prepare();
    for (size_t i = 0; i < sizeof misstarts / sizeof *misstarts; i++) {
        process.arguments[0] = misstarts[i].option;
        process.arguments[1] = misstarts[i].value;
        ck_assert_int_eq(evd_daemon_process_fail(&process), misstarts[i].status);
        ck_assert(evd_daemon_process_has_logged(&process, "evidenced: "));
        ck_assert_msg(evd_daemon_process_has_logged(&process, misstarts[i].says), "%s: %s", misstarts[i].option,
                      process.log);
    }
    process.arguments[0] = "--check-config";
    process.arguments[1] = NULL;
    ck_assert_int_eq(evd_daemon_process_fail(&process), 0);
    finish();
}
END_TEST

/* The doors. */

START_TEST(without_keys_only_the_operator_gets_in) {
    struct evd_client operator_client;
    prepare();
    process.arguments[0] = "--token-jwks";
    process.arguments[1] = "";
    process.arguments[2] = "--token-issuer";
    process.arguments[3] = "";
    process.arguments[4] = "--token-audience";
    process.arguments[5] = "";
    evd_daemon_process_start(&process);
    ck_assert(evd_daemon_process_has_logged(&process, "\"event\":\"no-token-keys\""));
    evd_client_init(&ada, &process, "ada", true);
    ck_assert_int_eq(get("/readyz"), 200);
    ck_assert_int_eq(post(), 401);
    evd_reply_done(&reply);
    evd_client_init_operator(&operator_client, &process);
    ck_assert_int_eq(evd_client_post(&operator_client, "/v1/projects", key, PROJECT, &reply), 200);
    evd_client_done(&operator_client);
    finish();
}
END_TEST

START_TEST(the_operator_has_a_backup_made_while_it_serves) {
    struct evd_client operator_client;
    struct stat there;
    char body[400], path[400];
    start();
    ck_assert_int_eq(post(), 200);
    evd_reply_done(&reply);
    evd_client_init_operator(&operator_client, &process);
    (void)snprintf(body, sizeof body, "{\"directory\":\"%s/backup\"}", process.directory);
    ck_assert_int_eq(evd_client_post(&operator_client, "/v1/operator/backup", NULL, body, &reply), 200);
    (void)snprintf(path, sizeof path, "%s/backup/CURRENT", process.directory);
    ck_assert_int_eq(stat(path, &there), 0);
    evd_reply_done(&reply);
    ck_assert_int_eq(evd_client_post(&operator_client, "/v1/operator/backup", NULL, body, &reply), 400);
    evd_client_done(&operator_client);
    evd_daemon_process_await_log(&process, "\"event\":\"backup-ended\"");
    finish();
}
END_TEST

/* Studies whose abstracts make the body larger than what is held in memory. */
static char *large_batch(void) {
    enum { ROWS = 100, ABSTRACT_BYTES = 19000 };
    const size_t capacity = (size_t)ROWS * (ABSTRACT_BYTES + 100) + 100;
    char *body = malloc(capacity);
    size_t size = (size_t)snprintf(body, capacity, "{\"studies\":[");
    for (int i = 0; i < ROWS; i++)
        size += (size_t)snprintf(body + size, capacity - size, "%s{\"title\":\"T%d\",\"abstract\":\"%0*d\"}",
                                 i == 0 ? "" : ",", i, ABSTRACT_BYTES, 0);
    (void)snprintf(body + size, capacity - size, "],\"skipRefused\":false}");
    return body;
}

START_TEST(a_large_body_goes_through_the_spool_of_its_data_directory) {
    struct stat there;
    char path[400], *body = large_batch();
    start();
    (void)snprintf(path, sizeof path, "%s/data/spool", process.directory);
    ck_assert_int_eq(stat(path, &there), 0);
    ck_assert_uint_eq(there.st_mode & 07777, 0700);
    ck_assert_int_eq(post(), 200);
    (void)snprintf(path, sizeof path, "/v1/projects/%s/studies/batch", evd_reply_text(&reply, "id"));
    evd_test_uuid(key);
    evd_reply_done(&reply);
    ck_assert_int_eq(evd_client_post(&ada, path, key, body, &reply), 200);
    ck_assert_int_eq(json_integer_value(json_object_get(reply.json, "added")), 100);
    free(body);
    finish();
}
END_TEST

START_TEST(metrics_are_served_at_the_admin_door_only) {
    struct evd_raw_client raw;
    static struct evd_raw_response page;
    start();
    ck_assert_int_eq(post(), 200);
    ck_assert_int_eq(get("/metrics"), 404);
    evd_raw_open(&raw, process.admin_port);
    ck_assert_int_eq(evd_raw_get(&raw, "/metrics", &page), 200);
    ck_assert_ptr_nonnull(strstr(page.body, "evidenced_requests_total{command=\"CreateProject\",outcome=\"OK\"} 1\n"));
    ck_assert_ptr_nonnull(strstr(page.body, "evidenced_store_commits_total 1\n"));
    ck_assert_ptr_nonnull(strstr(page.body, "evidenced_metrics_misplaced_total 0\n"));
    ck_assert_int_eq(evd_raw_get(&raw, "/version", &page), 200);
    ck_assert_ptr_nonnull(strstr(page.body, EVD_VERSION));
    evd_raw_close(&raw);
    finish();
}
END_TEST

EVD_TEST_MAIN("http: daemon", it_takes_a_command_and_stops_cleanly_when_told_to, an_interrupt_stops_it_as_well,
              what_was_answered_is_there_after_a_kill, a_crash_point_breaks_the_connection_and_a_retry_finds_out,
              while_it_lingers_it_is_not_ready_lives_and_serves_and_a_second_signal_ends_it,
              a_request_in_flight_is_answered_before_the_end, hanging_up_reloads_what_can_be_and_refuses_what_is_wrong,
              a_broken_key_set_at_a_reload_keeps_the_old_one, a_second_daemon_on_one_directory_is_refused,
              what_cannot_start_says_why_in_a_sentence, without_keys_only_the_operator_gets_in,
              the_operator_has_a_backup_made_while_it_serves, a_large_body_goes_through_the_spool_of_its_data_directory,
              metrics_are_served_at_the_admin_door_only)
