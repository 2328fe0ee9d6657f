#include "../../support/edge_fixture.h"

/* What is refused before the runtime sees it: every status, outcome and header of it. */

#define JSON "Content-Type: application/json\r\n"
#define KEY  "Idempotency-Key: " EDGE_KEY "\r\n"
#define BODY "Content-Length: 12\r\n\r\n{\"name\":\"x\"}"

static struct evd_edge_fixture fixture;
static struct evd_raw_response response;

static const struct {
    const char *request;
    int status;
    const char *outcome;
} refused[] = {
    {"GET /nowhere HTTP/1.1\r\n@\r\n", 404, "NotFound"},
    {"GET / HTTP/1.1\r\n@\r\n", 404, "NotFound"},
    {"GET /v1/projects/x/members HTTP/1.1\r\n@\r\n", 404, "NotFound"},
    {"GET /v1/projects/" EDGE_P "/members/ HTTP/1.1\r\n@\r\n", 404, "NotFound"},
    {"GET /metrics HTTP/1.1\r\n@\r\n", 404, "NotFound"},
    {"GET /version HTTP/1.1\r\n@\r\n", 404, "NotFound"},
    {"GET /problems/nothing HTTP/1.1\r\n@\r\n", 404, "NotFound"},
    {"OPTIONS /nowhere HTTP/1.1\r\n@\r\n", 404, "NotFound"},
    {"GET /v1/projects HTTP/1.1\r\n@\r\n", 405, "MethodNotAllowed"},
    {"POST " EDGE_LOOK " HTTP/1.1\r\n@\r\n", 405, "MethodNotAllowed"},
    {"PUT " EDGE_LOOK " HTTP/1.1\r\n@\r\n", 405, "MethodNotAllowed"},
    {"DELETE " EDGE_LOOK " HTTP/1.1\r\n@\r\n", 405, "MethodNotAllowed"},
    {"PATCH /v1/projects HTTP/1.1\r\n@\r\n", 405, "MethodNotAllowed"},
    {"POST /livez HTTP/1.1\r\n@\r\n", 405, "MethodNotAllowed"},
    {"GET " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\n\r\n", 401, "Unauthenticated"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY JSON "\r\n", 411, "LengthRequired"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY JSON "Transfer-Encoding: chunked\r\n\r\n", 411, "LengthRequired"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY BODY, 415, "UnsupportedMediaType"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY "Content-Type: text/plain\r\n" BODY, 415, "UnsupportedMediaType"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY "Content-Type: application/jsonx\r\n" BODY, 415, "UnsupportedMediaType"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY JSON "Content-Encoding: gzip\r\n" BODY, 415, "UnsupportedMediaType"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY JSON "Content-Length: 4097\r\n\r\n", 413, "BodyTooLarge"},
    {"GET " EDGE_LOOK " HTTP/1.1\r\n@Content-Length: 1\r\n\r\nx", 413, "BodyTooLarge"},
    {"POST /v1/projects/" EDGE_P "/studies/" EDGE_S "/touch HTTP/1.1\r\n@" KEY "Content-Length: 2\r\n\r\n{}", 413,
     "BodyTooLarge"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY JSON "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400, "Malformed"},
    {"GET /%00 HTTP/1.1\r\n@\r\n", 400, "Malformed"},
    {"GET /livez HTTP/1.1\r\n\r\n", 400, "Malformed"},
    {"GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "Malformed"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY JSON "Content-Length: 1\r\n\r\n{", 400, "Malformed"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY JSON "Content-Length: 0\r\n\r\n", 400, "Malformed"},
    {"POST /v1/projects HTTP/1.1\r\n@" KEY JSON "Content-Length: 18\r\n\r\n{\"name\":\"x\",\"a\":1}", 400, "Malformed"},
    {"BREW /v1/projects HTTP/1.1\r\n@\r\n", 501, "NotImplemented"},
    {"POST /v1/projects HTTP/1.1\r\n@Transfer-Encoding: gzip\r\n\r\n", 501, "NotImplemented"},
};

START_TEST(whatever_is_refused_is_a_problem_with_a_status_and_an_outcome) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        evd_edge_ask(&fixture, &response, "%s", refused[i].request);
        ck_assert_msg(response.status == refused[i].status, "%d: %s", response.status, refused[i].request);
        json_decref(evd_edge_expect_problem(&response, refused[i].status, refused[i].outcome));
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_path_or_a_head_too_large_is_a_problem_too) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "GET /%04000d HTTP/1.1\r\n@\r\n", 0);
    json_decref(evd_edge_expect_problem(&response, 414, "PathTooLong"));
    evd_edge_ask(&fixture, &response, "GET /livez HTTP/1.1\r\nHost: x\r\nA: %025000d\r\n\r\n", 0);
    json_decref(evd_edge_expect_problem(&response, 431, "HeadersTooLarge"));
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_wrong_method_is_told_the_right_ones) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "GET /v1/projects HTTP/1.1\r\n@\r\n");
    ck_assert_str_eq(evd_raw_header(&response, "Allow"), "POST, OPTIONS");
    evd_edge_ask(&fixture, &response, "DELETE " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    ck_assert_str_eq(evd_raw_header(&response, "Allow"), "GET, HEAD, OPTIONS");
    evd_edge_ask(&fixture, &response, "POST /readyz HTTP/1.1\r\n@\r\n");
    ck_assert_str_eq(evd_raw_header(&response, "Allow"), "GET, HEAD, OPTIONS");
    evd_edge_ask(&fixture, &response, "OPTIONS " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_int_eq(response.status, 204);
    ck_assert_str_eq(evd_raw_header(&response, "Allow"), "GET, HEAD, OPTIONS");
    evd_edge_ask(&fixture, &response, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_int_eq(response.status, 204);
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* Tokens. */

static const struct {
    const char *header, *challenge;
} strangers[] = {
    {"", "Bearer realm=\"evidenced\""},
    {"Authorization: \r\n", "Bearer realm=\"evidenced\""},
    {"Authorization: Bearer\r\n", "Bearer realm=\"evidenced\""},
    {"Authorization: Bearer  \r\n", "Bearer realm=\"evidenced\""},
    {"Authorization: Basic YTpi\r\n", "Bearer realm=\"evidenced\""},
    {"Authorization: Bearer x\r\n",
     "Bearer realm=\"evidenced\", error=\"invalid_token\", error_description=\"the token does not have three parts\""},
    {"Authorization: bearer a.b.c\r\n", "Bearer realm=\"evidenced\", error=\"invalid_token\", "
                                        "error_description=\"a part of the token is not base64url\""},
};

START_TEST(who_brings_no_good_token_is_challenged) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\n%s\r\n", strangers[i].header);
        json_decref(evd_edge_expect_problem(&response, 401, "Unauthenticated"));
        ck_assert_str_eq(evd_raw_header(&response, "WWW-Authenticate"), strangers[i].challenge);
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_token_of_another_key_or_past_its_time_is_refused_however_often_it_was_good) {
    static char forged[EDGE_TOKEN_BYTES];
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    ck_assert_int_eq(response.status, 200);
    (void)snprintf(forged, sizeof forged, "%s", fixture.token);
    char *last = forged + strlen(forged) - 8;
    *last = *last == 'A' ? 'B' : 'A';
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n",
                 forged);
    json_decref(evd_edge_expect_problem(&response, 401, "Unauthenticated"));
    evd_test_clock_advance(&fixture.clock, INT64_C(3600) * 1000);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    json_decref(evd_edge_expect_problem(&response, 401, "Unauthenticated"));
    ck_assert_ptr_nonnull(strstr(evd_raw_header(&response, "WWW-Authenticate"), "expired"));
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(an_address_that_brings_too_many_wrong_tokens_has_to_wait_unless_it_is_a_proxy) {
    static const struct evd_text proxies[] = {EVD_TEXT_INIT("127.0.0.0/8")};
    static const char wrong[] = "GET " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a.b.c\r\n\r\n";
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    for (int i = 0; i < 200; i++) {
        evd_edge_ask(&fixture, &response, wrong);
        ck_assert_int_eq(response.status, 401);
    }
    evd_edge_ask(&fixture, &response, wrong);
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    ck_assert_int_eq(response.status, 200); /* a token that is known costs nothing */
    fixture.settings.proxies = proxies;
    fixture.settings.proxy_count = 1;
    evd_edge_set(fixture.edge, &fixture.settings);
    evd_edge_ask(&fixture, &response, wrong);
    ck_assert_int_eq(response.status, 401);
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* Idempotency-Key. */

static const struct {
    const char *header;
    int status;
} keys[] = {
    {"Idempotency-Key: " EDGE_KEY "\r\n", 200},
    {"idempotency-key: \"018f3b1e-0000-7000-8000-00000000000b\"\r\n", 200},
    {"Idempotency-Key: 018F3B1E-0000-4000-8000-00000000000C\r\n", 200},
    {"Idempotency-Key: 018f3b1e-0000-1000-8000-00000000000d\r\n", 200},
    {"", 400},
    {"Idempotency-Key:\r\n", 400},
    {"Idempotency-Key: \"\"\r\n", 400},
    {"Idempotency-Key: 1\r\n", 400},
    {"Idempotency-Key: \"" EDGE_KEY "\r\n", 400},
    {"Idempotency-Key: " EDGE_KEY "0\r\n", 400},
    {"Idempotency-Key: {" EDGE_KEY "}\r\n", 400},
    {"Idempotency-Key: 018f3b1e-0000-8000-8000-00000000000a\r\n", 400},
    {"Idempotency-Key: 00000000-0000-0000-0000-000000000000\r\n", 400},
};

START_TEST(a_command_needs_a_key_that_is_a_uuid_of_any_version_but_8) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        evd_edge_ask(&fixture, &response, "POST /v1/projects HTTP/1.1\r\n@%s" JSON BODY, keys[i].header);
        ck_assert_msg(response.status == keys[i].status, "%s: %s", keys[i].header, response.body);
        if (response.status == 200) continue;
        json_t *json = evd_edge_expect_problem(&response, 400, "Malformed");
        ck_assert_str_eq(json_string_value(json_object_get(json, "header")), "Idempotency-Key");
        ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(json, "detail")), "Idempotency-Key"));
        json_decref(json);
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_daemon_that_is_still_starting_answers_probes_and_503) {
    evd_edge_fixture_open_unstarted(&fixture);
    evd_edge_ask(&fixture, &response, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    ck_assert_int_eq(response.status, 200);
    evd_edge_ask(&fixture, &response, "GET /startupz HTTP/1.1\r\nHost: x\r\n\r\n");
    json_decref(evd_edge_expect_problem(&response, 503, "StoreUnavailable"));
    evd_edge_ask(&fixture, &response, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    json_decref(evd_edge_expect_problem(&response, 503, "StoreUnavailable"));
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    json_decref(evd_edge_expect_problem(&response, 503, "StoreUnavailable"));
    evd_edge_fixture_close(&fixture);
}
END_TEST

EVD_TEST_MAIN("http: edge, refusals", whatever_is_refused_is_a_problem_with_a_status_and_an_outcome,
              a_path_or_a_head_too_large_is_a_problem_too, a_wrong_method_is_told_the_right_ones,
              who_brings_no_good_token_is_challenged,
              a_token_of_another_key_or_past_its_time_is_refused_however_often_it_was_good,
              an_address_that_brings_too_many_wrong_tokens_has_to_wait_unless_it_is_a_proxy,
              a_command_needs_a_key_that_is_a_uuid_of_any_version_but_8,
              a_daemon_that_is_still_starting_answers_probes_and_503)
