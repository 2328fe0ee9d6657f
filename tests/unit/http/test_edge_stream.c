#include "../../support/edge_fixture.h"
#include "evidenced/http/server.h"
#include "evidenced/runtime/runtime.h"

#include <sched.h>
#include <unistd.h>

/* Views in pieces. */

static struct evd_edge_fixture fixture;
static struct evd_raw_response response, page;

#define GET(script) "GET " EDGE_SCRIPT script " HTTP/1.1\r\n@\r\n"

static const char *header(const char *name) {
    const char *value = evd_raw_header(&response, name);
    return value == NULL ? "" : value;
}

static void expect_counted(const char *series, unsigned count) {
    struct evd_raw_client client;
    char line[256];
    evd_raw_open(&client, fixture.admin_port);
    ck_assert_int_eq(evd_raw_get(&client, "/metrics", &page), 200);
    evd_raw_close(&client);
    (void)snprintf(line, sizeof line, "\nevidenced_%s %u\n", series, count);
    ck_assert_msg(strstr(page.body, line) != NULL, "no %s in %s", line, page.body);
}

/* Ask on a connection of its own; false when the answer is not whole. */
static bool ask(const char *request) {
    struct evd_raw_client client;
    evd_raw_open(&client, fixture.port);
    evd_edge_say(&fixture, &client, "%s", request);
    bool whole = evd_raw_receive(&client, true, &response);
    evd_raw_close(&client);
    return whole;
}

/* The line of the first script: other requests may have ended before it. */
static json_t *script_log_line(void) {
    char *log = evd_edge_fixture_log(&fixture), *rest = log, *line;
    do
        line = strsep(&rest, "\n");
    while (line != NULL && strstr(line, "\"command\":\"Script\"") == NULL);
    json_t *json = line == NULL ? NULL : json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    ck_assert(json_is_object(json));
    free(log);
    return json;
}

START_TEST(a_view_comes_in_as_many_pieces_as_it_has_runs_and_is_counted_once) {
    evd_edge_fixture_open(&fixture, 2, 16);
    ck_assert(ask(GET("ab-c--de")));
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(response.body, "a;b;c;d;e;");
    ck_assert_str_eq(header("Content-Type"), "text/csv; charset=utf-8");
    ck_assert_str_eq(header("Transfer-Encoding"), "chunked");
    ck_assert_str_eq(header("Cache-Control"), "no-store");
    ck_assert_str_eq(header("Vary"), "Origin");
    ck_assert_str_eq(header("ETag"), "");
    ck_assert_uint_eq(evd_edge_script_runs(), 8);
    expect_counted("requests_total{command=\"Script\",outcome=\"OK\"}", 1);
    expect_counted("request_duration_seconds_count{command=\"Script\"}", 1);
    evd_edge_fixture_close(&fixture);
    json_t *line = script_log_line();
    ck_assert_int_eq(json_integer_value(json_object_get(line, "bytes")), 10);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "status")), 200);
    ck_assert_str_eq(json_string_value(json_object_get(line, "command")), "Script");
    ck_assert(json_object_get(line, "cut") == NULL && json_object_get(line, "client_gone") == NULL);
    json_decref(line);
}
END_TEST

START_TEST(a_view_of_one_piece_is_an_ordinary_answer_however_many_runs_it_took) {
    static const char *const scripts[] = {GET("z"), GET("--z"), GET("------z")};
    char request[256];
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        ck_assert(ask(scripts[i]));
        ck_assert_int_eq(response.status, 200);
        ck_assert_str_eq(response.body, "z;");
        ck_assert_str_eq(header("Content-Length"), "2");
        ck_assert_str_eq(header("Transfer-Encoding"), "");
        ck_assert_str_eq(header("Content-Type"), "text/csv; charset=utf-8");
        ck_assert_uint_eq(strlen(header("ETag")), 34);
    }
    (void)snprintf(request, sizeof request, "GET " EDGE_SCRIPT "-z HTTP/1.1\r\n@If-None-Match: %s\r\n\r\n",
                   header("ETag"));
    ck_assert(ask(request));
    ck_assert_int_eq(response.status, 304);
    ck_assert(ask(GET("")));
    ck_assert_str_eq(response.body, ".;");
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_view_of_nothing_says_of_what_kind_it_is) {
    evd_edge_fixture_open(&fixture, 2, 16);
    ck_assert(ask(GET("-")));
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(response.body, "");
    ck_assert_str_eq(header("Content-Length"), "0");
    ck_assert_str_eq(header("Content-Type"), "text/csv; charset=utf-8");
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_view_refused_before_its_first_piece_is_a_problem) {
    static const char *const scripts[] = {GET("!"), GET("!a"), GET("--!"), GET("---!a")};
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        ck_assert(ask(scripts[i]));
        json_decref(evd_edge_expect_problem(&response, 409, "Locked"));
    }
    expect_counted("requests_total{command=\"Script\",outcome=\"Locked\"}", 4);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_view_refused_after_a_piece_is_cut_off_and_counted_as_refused) {
    evd_edge_fixture_open(&fixture, 2, 16);
    ck_assert(!ask(GET("ab-!c")));
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(response.body, "a;b;");
    expect_counted("requests_total{command=\"Script\",outcome=\"Locked\"}", 1);
    expect_counted("request_duration_seconds_count{command=\"Script\"}", 1);
    evd_edge_fixture_close(&fixture);
    json_t *line = script_log_line();
    ck_assert_str_eq(json_string_value(json_object_get(line, "outcome")), "Locked");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "bytes")), 4);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "cut")), 1);
    json_decref(line);
}
END_TEST

START_TEST(head_of_a_view_in_pieces_runs_no_further_than_its_first_piece) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_raw_open(&client, fixture.port);
    evd_edge_say(&fixture, &client, "HEAD " EDGE_SCRIPT "-abc HTTP/1.1\r\n@\r\n");
    ck_assert(evd_raw_receive(&client, false, &response));
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("Content-Type"), "text/csv; charset=utf-8");
    ck_assert(evd_raw_is_closed(&client));
    evd_raw_close(&client);
    ck_assert_uint_eq(evd_edge_script_runs(), 2);
    evd_edge_fixture_close(&fixture);
    json_decref(script_log_line());
}
END_TEST

START_TEST(a_view_in_pieces_takes_one_place_in_flight_until_its_last_piece) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 4, 16);
    fixture.settings.subject.in_flight = 1;
    evd_edge_set(fixture.edge, &fixture.settings);
    evd_raw_open(&client, fixture.port);
    evd_edge_say(&fixture, &client, GET("a-bhc"));
    evd_edge_fixture_await_held(1);
    ck_assert(ask("GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n"));
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    evd_edge_fixture_release();
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_str_eq(response.body, "a;b;h;c;");
    for (int i = 0; i < 20; i++) { /* free before the end is there, whether it went well or not */
        evd_edge_say(&fixture, &client, i == 19 ? GET("ab!") : GET("ab"));
        ck_assert(evd_raw_receive(&client, true, &response) == (i < 19));
        ck_assert_int_eq(response.status, 200);
    }
    evd_raw_close(&client);
    ck_assert(ask(GET("x")));
    ck_assert_int_eq(response.status, 200);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(each_run_has_the_whole_deadline) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_raw_open(&client, fixture.port);
    evd_edge_say(&fixture, &client, GET("ahb"));
    evd_edge_fixture_await_held(1);
    evd_test_clock_advance(&fixture.clock, 3600000);
    evd_edge_fixture_release();
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_str_eq(response.body, "a;h;b;");
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}
END_TEST

static void await_runs(unsigned count) {
    while (evd_edge_script_runs() < count)
        (void)sched_yield();
}

static void await_queued(size_t count) {
    struct evd_runtime_figures now = {.queued = 0};
    while (now.queued < count) {
        (void)sched_yield();
        evd_runtime_figures(fixture.runtime, &now);
    }
}

#define HOLD(key)                                                                                                      \
    "POST /v1/projects HTTP/1.1\r\n@Idempotency-Key: 018f3b1e-0000-7000-8000-0000000000" key                           \
    "\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"name\":\"hold\"}"

START_TEST(a_view_that_began_is_not_turned_away_by_a_full_queue) {
    struct evd_raw_client client, running, waiting;
    evd_edge_fixture_open(&fixture, 1, 1);
    evd_raw_open(&client, fixture.port);
    evd_raw_open(&running, fixture.port);
    evd_raw_open(&waiting, fixture.port);
    evd_edge_say(&fixture, &client, GET("LLb")); /* the second run waits for a reader */
    await_runs(1);
    evd_edge_say(&fixture, &running, HOLD("01"));
    evd_edge_fixture_await_held(1);
    evd_edge_say(&fixture, &waiting, HOLD("02"));
    await_queued(1);
    ck_assert(ask(GET("x")));
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    evd_edge_fixture_release();
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_uint_eq(response.body_bytes, 2 * (size_t)EDGE_LARGE_PIECE + 2);
    ck_assert(evd_raw_receive(&running, true, &response));
    ck_assert(evd_raw_receive(&waiting, true, &response));
    evd_raw_close(&running);
    evd_raw_close(&waiting);
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_view_nobody_reads_is_run_no_further_and_ended) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    fixture.settings.subject.in_flight = 1;
    evd_edge_set(fixture.edge, &fixture.settings);
    evd_raw_open(&client, fixture.port);
    evd_edge_say(&fixture, &client, GET("LLLL"));
    await_runs(1);
    while (evd_http_server_in_flight(fixture.servers[EVD_DOOR_API]) > 0) {
        evd_test_clock_advance(&fixture.clock, 30001);
        evd_http_server_reap(fixture.servers[EVD_DOOR_API]);
        (void)sched_yield();
    }
    ck_assert_uint_eq(evd_edge_script_runs(), 1);
    evd_edge_fixture_token(&fixture, "ada", "", fixture.token); /* hours have passed */
    ck_assert(ask(GET("ab")));                                  /* its place in flight is free */
    ck_assert_str_eq(response.body, "a;b;");
    expect_counted("requests_total{command=\"Script\",outcome=\"OK\"}", 2);
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
    json_t *line = script_log_line();
    ck_assert_int_eq(json_integer_value(json_object_get(line, "client_gone")), 1);
    json_decref(line);
}
END_TEST

START_TEST(an_old_client_gets_a_view_in_pieces_where_it_can_be_told_that_something_is_missing) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_raw_open(&client, fixture.port);
    evd_edge_say(&fixture, &client, "GET " EDGE_SCRIPT "abc HTTP/1.0\r\n@\r\n");
    ck_assert(evd_raw_receive_to_end(&client, &response));
    ck_assert_str_eq(response.body, "a;b;c;");
    evd_raw_close(&client);
    evd_raw_open_unix(&client, fixture.control);
    ck_assert(evd_raw_say(&client, "GET " EDGE_SCRIPT "abc HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_str_eq(response.body, "a;b;c;");
    ck_assert(evd_raw_say(&client, "GET " EDGE_SCRIPT "abc HTTP/1.0\r\n\r\n"));
    ck_assert(evd_raw_receive(&client, true, &response));
    json_decref(evd_edge_expect_problem(&response, 501, "NotImplemented"));
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}
END_TEST

EVD_TEST_MAIN("http: edge, views in pieces", a_view_comes_in_as_many_pieces_as_it_has_runs_and_is_counted_once,
              a_view_of_one_piece_is_an_ordinary_answer_however_many_runs_it_took,
              a_view_of_nothing_says_of_what_kind_it_is, a_view_refused_before_its_first_piece_is_a_problem,
              a_view_refused_after_a_piece_is_cut_off_and_counted_as_refused,
              head_of_a_view_in_pieces_runs_no_further_than_its_first_piece,
              a_view_in_pieces_takes_one_place_in_flight_until_its_last_piece, each_run_has_the_whole_deadline,
              a_view_that_began_is_not_turned_away_by_a_full_queue, a_view_nobody_reads_is_run_no_further_and_ended,
              an_old_client_gets_a_view_in_pieces_where_it_can_be_told_that_something_is_missing)
