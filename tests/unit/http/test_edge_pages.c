#include "../../support/edge_fixture.h"

#include "evidenced/http/metrics.h"

/* Probes, problem pages, metrics, version, CORS. */

#define ORIGIN "Origin: https://review.example.org\r\n"

static struct evd_edge_fixture fixture;
static struct evd_raw_response response;

static int get_at(uint16_t port, const char *path) {
    struct evd_raw_client client;
    evd_raw_open(&client, port);
    int status = evd_raw_get(&client, path, &response);
    evd_raw_close(&client);
    return status;
}

static int get(const char *path) {
    return get_at(fixture.port, path);
}

START_TEST(probes_answer_everybody_at_every_door) {
    static const char *const probes[] = {"/livez", "/readyz", "/startupz"};
    static const char *const bodies[] = {"alive\n", "ready\n", "started\n"};
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_raw_open_unix(&client, fixture.control);
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        ck_assert_int_eq(get(probes[i]), 200);
        ck_assert_str_eq(response.body, bodies[i]);
        ck_assert_int_eq(get_at(fixture.admin_port, probes[i]), 200);
        ck_assert_str_eq(response.body, bodies[i]);
        ck_assert_int_eq(evd_raw_get(&client, probes[i], &response), 200);
        ck_assert_str_eq(response.body, bodies[i]);
    }
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(readyz_says_why_not_and_livez_does_not_care) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_set_ready(fixture.edge, EVD_STORE_IS_FULL);
    ck_assert_int_eq(get("/readyz"), 503);
    json_decref(evd_edge_expect_problem(&response, 503, "StoreFull"));
    ck_assert_int_eq(get("/livez"), 200);
    ck_assert_int_eq(get("/startupz"), 200);
    evd_edge_set_ready(fixture.edge, EVD_OK);
    ck_assert_int_eq(get("/readyz"), 200);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_draining_daemon_is_not_ready_lives_and_still_takes_calls) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_drain(fixture.edge);
    evd_edge_set_ready(fixture.edge, EVD_OK);
    ck_assert_int_eq(get("/readyz"), 503);
    json_decref(evd_edge_expect_problem(&response, 503, "Draining"));
    ck_assert_int_eq(get("/livez"), 200);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    ck_assert_int_eq(response.status, 200);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(every_outcome_has_its_page) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (int code = EVD_OK + 1; code < EVD_OUTCOME_COUNT; code++) {
        char path[128];
        (void)snprintf(path, sizeof path, "/problems/%s", evd_outcome_entry_of((enum evd_outcome_code)code)->kebab);
        ck_assert_int_eq(get(path), 200);
        ck_assert_str_eq(evd_raw_header(&response, "Content-Type"), "text/markdown; charset=utf-8");
        ck_assert_ptr_nonnull(strstr(response.body, evd_outcome_entry_of((enum evd_outcome_code)code)->name));
    }
    ck_assert_int_eq(get("/problems/"), 404);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(the_admin_door_has_no_calls) {
    evd_edge_fixture_open(&fixture, 2, 16);
    ck_assert_int_eq(get_at(fixture.admin_port, "/version"), 200);
    ck_assert_str_eq(response.body, "{\"version\":\"1.2.3\",\"storeFormat\":7,\"profile\":\"fixture\"}");
    ck_assert_int_eq(get_at(fixture.admin_port, EDGE_LOOK), 404);
    json_decref(evd_edge_expect_problem(&response, 404, "NotFound"));
    ck_assert_int_eq(get_at(fixture.admin_port, "/problems/locked"), 404);
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* One sample a line: `name{labels} number`. */
static bool is_sample(const char *line) {
    size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyz_");
    const char *at = line + name;
    if (name == 0) return false;
    if (*at == '{') at = strchr(at, '}') == NULL ? "" : strchr(at, '}') + 1;
    char *end;
    if (*at != ' ') return false;
    (void)strtod(at + 1, &end);
    return end != at + 1 && *end == '\0';
}

static size_t count_samples(char *text) {
    size_t samples = 0;
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (*line == '\0' || *line == '#') continue;
        ck_assert_msg(is_sample(line), "%s", line);
        samples++;
    }
    return samples;
}

START_TEST(metrics_count_commands_and_outcomes_within_their_bound) {
    static char page[RAW_BODY_BYTES];
    evd_edge_fixture_open(&fixture, 2, 16);
    for (int i = 0; i < 3; i++)
        evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK "?limit=x HTTP/1.1\r\n@\r\n");
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\n\r\n");
    evd_edge_ask(&fixture, &response, "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_int_eq(get_at(fixture.admin_port, "/metrics"), 200);
    ck_assert_str_eq(evd_raw_header(&response, "Content-Type"), EVD_METRICS_CONTENT_TYPE);
    memcpy(page, response.body, sizeof page);
    static const char *const wanted[] = {
        "evidenced_requests_total{command=\"Look\",outcome=\"OK\"} 3\n",
        "evidenced_requests_total{command=\"Look\",outcome=\"Malformed\"} 1\n",
        "evidenced_requests_total{command=\"edge\",outcome=\"Unauthenticated\"} 1\n",
        "evidenced_requests_total{command=\"edge\",outcome=\"NotFound\"} 1\n",
        "evidenced_request_duration_seconds_count{command=\"Look\"} 5\n",
        "evidenced_ready 1\n",
        "evidenced_store_open 1\n",
        "evidenced_metrics_misplaced_total 0\n",
        "evidenced_queue_calls ",
        "evidenced_lanes ",
        "evidenced_attempts_in_flight ",
        "evidenced_clock_drift_total 0\n",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        ck_assert_msg(strstr(page, wanted[i]) != NULL, "no %s in %s", wanted[i], page);
    size_t samples = count_samples(page);
    ck_assert_uint_gt(samples, 20);
    ck_assert_uint_le(samples, EVD_METRICS_SERIES);
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* CORS. */

static const struct {
    const char *origin;
    bool allowed;
} origins[] = {
    {"Origin: https://review.example.org\r\n", true},
    {"", false},
    {"Origin: http://review.example.org\r\n", false},
    {"Origin: https://review.example.org:443\r\n", false},
    {"Origin: https://review.example.org.evil\r\n", false},
    {"Origin: https://REVIEW.example.org\r\n", false},
    {"Origin: null\r\n", false},
    {"Origin: *\r\n", false},
};

START_TEST(only_exact_origins_may_read_answers) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++) {
        evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@%s\r\n", origins[i].origin);
        ck_assert_int_eq(response.status, 200);
        ck_assert_str_eq(evd_raw_header(&response, "Vary"), "Origin");
        const char *allowed = evd_raw_header(&response, "Access-Control-Allow-Origin");
        ck_assert_msg((allowed != NULL) == origins[i].allowed, "%s", origins[i].origin);
        ck_assert_ptr_null(evd_raw_header(&response, "Access-Control-Allow-Credentials"));
        if (!origins[i].allowed) continue;
        ck_assert_str_eq(evd_raw_header(&response, "Access-Control-Allow-Origin"), "https://review.example.org");
        const char *exposed = evd_raw_header(&response, "Access-Control-Expose-Headers");
        ck_assert(strstr(exposed, "ETag") && strstr(exposed, "Retry-After") && strstr(exposed, "X-Request-Id"));
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(problems_can_be_read_by_allowed_origins_too) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\n" ORIGIN "\r\n");
    json_decref(evd_edge_expect_problem(&response, 401, "Unauthenticated"));
    ck_assert_ptr_nonnull(evd_raw_header(&response, "Access-Control-Allow-Origin"));
    evd_edge_ask(&fixture, &response, "GET /%%00 HTTP/1.1\r\nHost: x\r\n" ORIGIN "\r\n");
    json_decref(evd_edge_expect_problem(&response, 400, "Malformed"));
    ck_assert_ptr_nonnull(evd_raw_header(&response, "Access-Control-Allow-Origin"));
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_preflight_needs_no_token_and_tells_methods_and_headers) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response,
                 "OPTIONS /v1/projects HTTP/1.1\r\nHost: x\r\n" ORIGIN
                 "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n\r\n");
    ck_assert_int_eq(response.status, 204);
    ck_assert_str_eq(evd_raw_header(&response, "Access-Control-Allow-Origin"), "https://review.example.org");
    ck_assert_str_eq(evd_raw_header(&response, "Access-Control-Allow-Methods"), "POST, OPTIONS");
    ck_assert_str_eq(evd_raw_header(&response, "Access-Control-Allow-Headers"),
                     "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, traceparent");
    ck_assert_str_eq(evd_raw_header(&response, "Access-Control-Max-Age"), "600");
    evd_edge_ask(&fixture, &response,
                 "OPTIONS /v1/projects HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example.org\r\n"
                 "Access-Control-Request-Method: POST\r\n\r\n");
    ck_assert_int_eq(response.status, 204);
    ck_assert_ptr_null(evd_raw_header(&response, "Access-Control-Allow-Origin"));
    ck_assert_ptr_null(evd_raw_header(&response, "Access-Control-Allow-Methods"));
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(origins_change_while_it_runs) {
    static const struct evd_text others[] = {EVD_TEXT_INIT("https://a.example.org"),
                                             EVD_TEXT_INIT("https://b.example.org")};
    evd_edge_fixture_open(&fixture, 2, 16);
    fixture.settings.origins = others;
    fixture.settings.origin_count = 2;
    evd_edge_set(fixture.edge, &fixture.settings);
    evd_edge_ask(&fixture, &response, "GET /livez HTTP/1.1\r\nHost: x\r\n" ORIGIN "\r\n");
    ck_assert_ptr_null(evd_raw_header(&response, "Access-Control-Allow-Origin"));
    evd_edge_ask(&fixture, &response, "GET /livez HTTP/1.1\r\nHost: x\r\nOrigin: https://b.example.org\r\n\r\n");
    ck_assert_str_eq(evd_raw_header(&response, "Access-Control-Allow-Origin"), "https://b.example.org");
    evd_edge_fixture_close(&fixture);
}
END_TEST

EVD_TEST_MAIN("http: edge, pages", probes_answer_everybody_at_every_door, readyz_says_why_not_and_livez_does_not_care,
              a_draining_daemon_is_not_ready_lives_and_still_takes_calls, every_outcome_has_its_page,
              the_admin_door_has_no_calls, metrics_count_commands_and_outcomes_within_their_bound,
              only_exact_origins_may_read_answers, problems_can_be_read_by_allowed_origins_too,
              a_preflight_needs_no_token_and_tells_methods_and_headers, origins_change_while_it_runs)
