#include "../../support/edge_fixture.h"

#include "evidenced/runtime/runtime.h"

#include <sched.h>

/* Calls that reach the runtime: receipts, views, limits, the log. */

#define POST(key, name)                                                                                                \
    "POST /v1/projects HTTP/1.1\r\n@Idempotency-Key: 018f3b1e-0000-7000-8000-0000000000" key                           \
    "\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: %zu\r\n\r\n{\"name\":\"%s\"}",               \
        strlen(name) + 11, name

static struct evd_edge_fixture fixture;
static struct evd_raw_response response, other;

static const char *header(const char *name) {
    const char *value = evd_raw_header(&response, name);
    return value == NULL ? "" : value;
}

START_TEST(a_command_is_answered_with_its_receipt_and_a_repetition_with_the_same_one) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, POST("01", "hello"));
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("Content-Type"), "application/json");
    ck_assert_str_eq(header("Cache-Control"), "no-store");
    ck_assert_str_eq(header("Idempotency-Replayed"), "");
    ck_assert_ptr_nonnull(strstr(response.body, "\"may\":1"));
    evd_edge_ask(&fixture, &other, POST("01", "hello"));
    ck_assert_str_eq(evd_raw_header(&other, "Idempotency-Replayed"), "true");
    ck_assert_str_eq(other.body, response.body);
    evd_edge_ask(&fixture, &response, POST("01", "goodbye"));
    json_t *json = evd_edge_expect_problem(&response, 409, "CommandDigestMismatch");
    ck_assert_str_eq(json_string_value(json_object_get(json, "commandId")), "018f3b1e-0000-7000-8000-000000000001");
    json_decref(json);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_command_without_a_body_needs_no_content_type) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response,
                 "POST /v1/projects/" EDGE_P "/studies/" EDGE_S "/touch HTTP/1.1\r\n@Idempotency-Key: " EDGE_KEY
                 "\r\n\r\n");
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(response.body, "{\"touched\":true}");
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(every_outcome_arrives_with_its_own_status) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (int code = EVD_OK + 1; code < EVD_OUTCOME_COUNT; code++) {
        const struct evd_outcome_entry *entry = evd_outcome_entry_of((enum evd_outcome_code)code);
        char name[128];
        (void)snprintf(name, sizeof name, "refuse:%s", entry->name);
        evd_edge_ask(&fixture, &response, POST("02", name));
        json_t *json = evd_edge_expect_problem(&response, (int)entry->status, entry->name);
        ck_assert_str_eq(json_string_value(json_object_get(json, "commandId")), "018f3b1e-0000-7000-8000-000000000002");
        if (code == EVD_LOCKED) ck_assert_str_eq(header("Retry-After"), "120");
        if (code == EVD_REFUSED) ck_assert_str_eq(json_string_value(json_object_get(json, "reason")), "permission");
        if (code == EVD_STALE_BASE) ck_assert_str_eq(json_string_value(json_object_get(json, "current")), "2");
        if (code == EVD_VALIDATION_FAILED) ck_assert_uint_eq(json_array_size(json_object_get(json, "errors")), 1);
        json_decref(json);
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* Views. */

static const struct {
    const char *query, *body; /* body NULL: refused, */
    const char *named;        /* naming this parameter */
} pages[] = {
    {"", "{\"limit\":100,\"cursor\":null}", NULL},
    {"?limit=1", "{\"limit\":1,\"cursor\":null}", NULL},
    {"?limit=500&cursor=a%20b", "{\"limit\":500,\"cursor\":\"a b\"}", NULL},
    {"?cursor=", "{\"limit\":100,\"cursor\":\"\"}", NULL},
    {"?other=1", NULL, "other"},
    {"?limit=0", NULL, "limit"},
    {"?limti=2", NULL, "limti"},
    {"?limit=2&state=ready", NULL, "state"},
    {"?limit=501", NULL, "limit"},
    {"?limit=-1", NULL, "limit"},
    {"?limit=", NULL, "limit"},
    {"?limit=1x", NULL, "limit"},
    {"?limit=99999999999999999999", NULL, "limit"},
};

START_TEST(a_page_has_1_to_500_records_and_a_cursor) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK "%s HTTP/1.1\r\n@\r\n", pages[i].query);
        if (pages[i].body != NULL) {
            ck_assert_int_eq(response.status, 200);
            ck_assert_str_eq(response.body, pages[i].body);
            continue;
        }
        json_t *json = evd_edge_expect_problem(&response, 400, "Malformed");
        ck_assert_str_eq(json_string_value(json_object_get(json, "parameter")), pages[i].named);
        json_decref(json);
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_view_that_did_not_change_is_not_sent_again) {
    static const char *const known[] = {"%s", "W/%s", "\"x\", %s", "\"x\" , W/%s,\"y\"", "*"};
    char etag[64], list[256], wanted[300];
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    (void)snprintf(etag, sizeof etag, "%s", header("ETag"));
    ck_assert_uint_eq(strlen(etag), 34);
    ck_assert_str_eq(header("Cache-Control"), "no-store");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *mark = strstr(known[i], "%s");
        (void)snprintf(list, sizeof list, "%.*s%s%s", mark == NULL ? 9 : (int)(mark - known[i]), known[i],
                       mark == NULL ? "" : etag, mark == NULL ? "" : mark + 2);
        (void)snprintf(wanted, sizeof wanted, "If-None-Match: %s\r\n", list);
        evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@%s\r\n", wanted);
        ck_assert_msg(response.status == 304, "%s", list);
        ck_assert_uint_eq(response.body_bytes, 0);
        ck_assert_str_eq(header("ETag"), etag);
    }
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK "?limit=2 HTTP/1.1\r\n@If-None-Match: %s\r\n\r\n", etag);
    ck_assert_int_eq(response.status, 200);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_view_of_what_never_changes_may_be_kept) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "GET " EDGE_KEEP " HTTP/1.1\r\n@\r\n");
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("Cache-Control"), "private, immutable, max-age=31536000");
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(head_is_get_without_the_body) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &other, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    evd_edge_ask(&fixture, &response, "HEAD " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    ck_assert_int_eq(response.status, 200);
    char etag[64];
    (void)snprintf(etag, sizeof etag, "%s", header("ETag"));
    ck_assert_str_eq(evd_raw_header(&other, "ETag"), etag);
    ck_assert_str_eq(header("Content-Length"), "27");
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* Limits. */

START_TEST(a_caller_with_too_many_calls_in_flight_is_429_and_others_are_not) {
    struct evd_raw_client first;
    char bob[EDGE_TOKEN_BYTES];
    evd_edge_fixture_open(&fixture, 4, 16);
    fixture.settings.subject.in_flight = 1;
    evd_edge_set(fixture.edge, &fixture.settings);
    evd_edge_fixture_token(&fixture, "bob", "", bob);
    evd_raw_open(&first, fixture.port);
    evd_edge_say(&fixture, &first, POST("03", "hold"));
    evd_edge_fixture_await_held(1);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", bob);
    ck_assert_int_eq(response.status, 200);
    evd_edge_fixture_release();
    ck_assert(evd_raw_receive(&first, true, &response));
    ck_assert_int_eq(response.status, 200);
    for (int i = 0; i < 50; i++) { /* the place is free before the answer is there */
        evd_edge_say(&fixture, &first, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
        ck_assert(evd_raw_receive(&first, true, &response));
        ck_assert_int_eq(response.status, 200);
    }
    evd_raw_close(&first);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_caller_who_calls_too_often_is_429_until_time_has_passed) {
    evd_edge_fixture_open(&fixture, 2, 16);
    fixture.settings.subject = (struct evd_limits){.in_flight = 8, .rate = 1, .burst = 2};
    evd_edge_set(fixture.edge, &fixture.settings);
    for (int i = 0; i < 2; i++) {
        evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
        ck_assert_int_eq(response.status, 200);
    }
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    evd_test_clock_advance(&fixture.clock, 1000);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    ck_assert_int_eq(response.status, 200);
    evd_edge_fixture_close(&fixture);
}
END_TEST

static void await_queued(size_t count) {
    struct evd_runtime_figures now = {.queued = 0};
    while (now.queued < count) {
        (void)sched_yield();
        evd_runtime_figures(fixture.runtime, &now);
    }
}

START_TEST(a_full_queue_is_429_and_probes_still_answer) {
    struct evd_raw_client running, waiting;
    evd_edge_fixture_open(&fixture, 1, 1);
    evd_raw_open(&running, fixture.port);
    evd_raw_open(&waiting, fixture.port);
    evd_edge_say(&fixture, &running, POST("04", "hold"));
    evd_edge_fixture_await_held(1);
    evd_edge_say(&fixture, &waiting, POST("05", "wait"));
    await_queued(1);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    evd_edge_ask(&fixture, &response, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_int_eq(response.status, 200);
    evd_edge_fixture_release();
    ck_assert(evd_raw_receive(&running, true, &response));
    ck_assert_int_eq(response.status, 200);
    ck_assert(evd_raw_receive(&waiting, true, &response));
    ck_assert_int_eq(response.status, 200);
    evd_raw_close(&running);
    evd_raw_close(&waiting);
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* The control socket. */

START_TEST(the_control_socket_knows_its_operator_without_a_token) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    fixture.settings.subject = (struct evd_limits){.in_flight = 1, .rate = 1, .burst = 1};
    evd_edge_set(fixture.edge, &fixture.settings);
    evd_raw_open_unix(&client, fixture.control);
    for (int i = 0; i < 5; i++) {
        ck_assert(evd_raw_say(&client, "POST /v1/projects HTTP/1.1\r\nHost: x\r\nIdempotency-Key: " EDGE_KEY
                                       "\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n"
                                       "{\"name\":\"x\"}"));
        ck_assert(evd_raw_receive(&client, true, &response));
        ck_assert_int_eq(response.status, 200);
        ck_assert_ptr_nonnull(strstr(response.body, "\"may\":1"));
    }
    ck_assert_ptr_null(evd_raw_header(&response, "Vary"));
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* The log. */

/* One line: complete, and without what must not be there. Is it a replayed command's? */
static bool check_line(const char *line) {
    json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(json_is_object(json), "%s", line);
    ck_assert_ptr_null(strstr(line, "Secret"));
    ck_assert_ptr_null(strstr(line, fixture.token));
    ck_assert_str_eq(json_string_value(json_object_get(json, "event")), "request-ended");
    ck_assert(json_is_integer(json_object_get(json, "status")) && json_is_real(json_object_get(json, "duration_ms")));
    bool replayed = json_object_get(json, "replayed") != NULL;
    if (replayed) {
        ck_assert_str_eq(json_string_value(json_object_get(json, "route")), "/v1/projects");
        ck_assert_str_eq(json_string_value(json_object_get(json, "command")), "Echo");
        ck_assert_str_eq(json_string_value(json_object_get(json, "outcome")), "OK");
        ck_assert(json_is_string(json_object_get(json, "caller")) &&
                  json_is_string(json_object_get(json, "command_id")));
    }
    json_decref(json);
    return replayed;
}

START_TEST(a_request_is_one_line_in_the_log_without_a_secret_a_query_or_a_name) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, POST("06", "SecretName"));
    evd_edge_ask(&fixture, &response, POST("06", "SecretName"));
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK "?cursor=SecretQuery HTTP/1.1\r\n@\r\n");
    evd_edge_ask(&fixture, &response, "GET /SecretPath HTTP/1.1\r\n@\r\n");
    evd_edge_ask(&fixture, &response,
                 "GET " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer SecretToken\r\n\r\n");
    evd_edge_fixture_close(&fixture);
    char *log = evd_edge_fixture_log(&fixture), *rest = log, *line;
    int lines = 0, replayed = 0;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        replayed += check_line(line);
        lines++;
    }
    ck_assert_int_eq(lines, 5);
    ck_assert_int_eq(replayed, 1);
    free(log);
}
END_TEST

EVD_TEST_MAIN("http: edge, calls", a_command_is_answered_with_its_receipt_and_a_repetition_with_the_same_one,
              a_command_without_a_body_needs_no_content_type, every_outcome_arrives_with_its_own_status,
              a_page_has_1_to_500_records_and_a_cursor, a_view_that_did_not_change_is_not_sent_again,
              a_view_of_what_never_changes_may_be_kept, head_is_get_without_the_body,
              a_caller_with_too_many_calls_in_flight_is_429_and_others_are_not,
              a_caller_who_calls_too_often_is_429_until_time_has_passed, a_full_queue_is_429_and_probes_still_answer,
              the_control_socket_knows_its_operator_without_a_token,
              a_request_is_one_line_in_the_log_without_a_secret_a_query_or_a_name)
