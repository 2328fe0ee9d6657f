#include "../../support/edge_fixture.h"

/* PUT, PATCH and DELETE; If-Match and If-None-Match. */

#define JSON "Content-Type: application/json\r\n"
#define KEY  "Idempotency-Key: " EDGE_KEY "\r\n"
#define BODY "Content-Length: 12\r\n\r\n{\"name\":\"x\"}"

static struct evd_edge_fixture fixture;
static struct evd_raw_response response;

static const char *header(const char *name) {
    const char *value = evd_raw_header(&response, name);
    return value == NULL ? "" : value;
}

static const struct {
    const char *request;
    int status;
    const char *body; /* of a success, or the outcome of a problem */
} methods[] = {
    {"PUT " EDGE_DRAFT " HTTP/1.1\r\n@" JSON BODY, 200, "\"keyed\":0"},
    {"PATCH " EDGE_DRAFT " HTTP/1.1\r\n@" JSON BODY, 200, "\"name\":\"x\""},
    {"DELETE " EDGE_DRAFT " HTTP/1.1\r\n@" KEY JSON BODY, 200, "\"keyed\":1"},
    {"DELETE " EDGE_COPY " HTTP/1.1\r\n@" KEY "\r\n", 200, "\"touched\":true"},
    {"DELETE " EDGE_COPY " HTTP/1.1\r\n@" KEY "Content-Length: 0\r\n\r\n", 200, "\"touched\":true"},
    {"GET " EDGE_DRAFT " HTTP/1.1\r\n@\r\n", 200, "\"keyed\":0"},
    {"POST " EDGE_DRAFT " HTTP/1.1\r\n@" KEY JSON BODY, 405, "MethodNotAllowed"},
    {"GET " EDGE_COPY " HTTP/1.1\r\n@\r\n", 405, "MethodNotAllowed"},
    {"GET " EDGE_DRAFT " HTTP/1.1\r\n@" JSON BODY, 413, "BodyTooLarge"},
    {"DELETE " EDGE_COPY " HTTP/1.1\r\n@" KEY JSON BODY, 413, "BodyTooLarge"},
    {"PUT " EDGE_DRAFT " HTTP/1.1\r\n@" JSON "Content-Length: 4097\r\n\r\n", 413, "BodyTooLarge"},
    {"PUT " EDGE_DRAFT " HTTP/1.1\r\n@" JSON "\r\n", 411, "LengthRequired"},
    {"PATCH " EDGE_DRAFT " HTTP/1.1\r\n@" JSON "Transfer-Encoding: chunked\r\n\r\n", 411, "LengthRequired"},
    {"DELETE " EDGE_DRAFT " HTTP/1.1\r\n@" KEY JSON "\r\n", 411, "LengthRequired"},
    {"PUT " EDGE_DRAFT " HTTP/1.1\r\n@" BODY, 415, "UnsupportedMediaType"},
    {"PATCH " EDGE_DRAFT " HTTP/1.1\r\n@Content-Type: application/merge-patch+json\r\n" BODY, 415,
     "UnsupportedMediaType"},
    {"PATCH " EDGE_DRAFT " HTTP/1.1\r\n@" JSON "Content-Length: 1\r\n\r\n{", 400, "Malformed"},
    {"PATCH " EDGE_DRAFT " HTTP/1.1\r\n@" JSON "Content-Length: 0\r\n\r\n", 400, "Malformed"},
    {"DELETE " EDGE_COPY " HTTP/1.1\r\n@\r\n", 400, "Malformed"},
    {"PUT " EDGE_DRAFT " HTTP/1.1\r\nHost: x\r\n" JSON BODY, 401, "Unauthenticated"},
};

START_TEST(each_method_reaches_its_own_command_and_a_body_only_one_that_takes_it) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        evd_edge_ask(&fixture, &response, "%s", methods[i].request);
        ck_assert_msg(response.status == methods[i].status, "%d: %s", response.status, methods[i].request);
        if (response.status == 200)
            ck_assert_msg(strstr(response.body, methods[i].body) != NULL, "%s: %s", methods[i].request, response.body);
        else
            json_decref(evd_edge_expect_problem(&response, methods[i].status, methods[i].body));
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

static const struct {
    const char *path, *allow;
} allowed[] = {
    {EDGE_DRAFT, "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
    {EDGE_COPY, "DELETE, OPTIONS"},
    {EDGE_LOOK, "GET, HEAD, OPTIONS"},
    {"/v1/projects", "POST, OPTIONS"},
    {"*", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"},
};

START_TEST(a_path_tells_exactly_the_methods_it_takes) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        evd_edge_ask(&fixture, &response,
                     "OPTIONS %s HTTP/1.1\r\nHost: x\r\nOrigin: https://review.example.org\r\n"
                     "Access-Control-Request-Method: PATCH\r\n\r\n",
                     allowed[i].path);
        ck_assert_int_eq(response.status, 204);
        ck_assert_str_eq(header("Allow"), allowed[i].allow);
        ck_assert_str_eq(header("Access-Control-Allow-Methods"), allowed[i].allow);
    }
    evd_edge_ask(&fixture, &response, "POST " EDGE_DRAFT " HTTP/1.1\r\n@" KEY JSON BODY);
    ck_assert_str_eq(header("Allow"), "GET, HEAD, PUT, PATCH, DELETE, OPTIONS");
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* Conditions. */

#define ETAG "\"1041\""

static const struct {
    const char *headers, *if_match, *if_none_match;
} conditions[] = {
    {"", "null", "null"},
    {"If-Match: \"3\"\r\n", "\"\\\"3\\\"\"", "null"},
    {"if-match:   * \t\r\n", "\"*\"", "null"},
    {"If-None-Match: *\r\n", "null", "\"*\""},
    {"If-Match: W/\"3\" , \"4\"\r\nIf-None-Match: x\r\n", "\"W/\\\"3\\\" , \\\"4\\\"\"", "\"x\""},
    {"If-Match:\r\n", "\"\"", "null"},
};

START_TEST(conditions_reach_a_conditional_command_as_they_came_and_its_etag_comes_back) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        char wanted[256];
        (void)snprintf(wanted, sizeof wanted, "{\"ifMatch\":%s,\"ifNoneMatch\":%s,\"keyed\":0}", conditions[i].if_match,
                       conditions[i].if_none_match);
        evd_edge_ask(&fixture, &response, "PUT " EDGE_DRAFT " HTTP/1.1\r\n@%s" JSON BODY, conditions[i].headers);
        ck_assert_int_eq(response.status, 200);
        ck_assert_str_eq(response.body, wanted);
        ck_assert_str_eq(header("ETag"), ETAG);
        ck_assert_str_eq(header("Cache-Control"), "no-store");
    }
    evd_edge_ask(&fixture, &response, "PATCH " EDGE_DRAFT " HTTP/1.1\r\n@If-Match: *\r\n" JSON BODY);
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("ETag"), ""); /* not conditional: none */
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_conditional_view_has_its_commands_etag_and_is_304_by_it) {
    static const char *const known[] = {ETAG, "W/" ETAG, "\"1\", " ETAG, "*"}, *const unknown[] = {"\"104\"", "1041"};
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "GET " EDGE_DRAFT " HTTP/1.1\r\n@\r\n");
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("ETag"), ETAG);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        evd_edge_ask(&fixture, &response, "GET " EDGE_DRAFT " HTTP/1.1\r\n@If-None-Match: %s\r\n\r\n", known[i]);
        ck_assert_msg(response.status == 304, "%s", known[i]);
        ck_assert_str_eq(header("ETag"), ETAG);
        ck_assert_uint_eq(response.body_bytes, 0);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        evd_edge_ask(&fixture, &response, "GET " EDGE_DRAFT " HTTP/1.1\r\n@If-None-Match: %s\r\n\r\n", unknown[i]);
        ck_assert_msg(response.status == 200, "%s", unknown[i]);
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_conditional_command_with_a_ledger_needs_its_key_and_one_without_does_not_mind_one) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "DELETE " EDGE_DRAFT " HTTP/1.1\r\n@If-Match: *\r\n" JSON BODY);
    json_t *json = evd_edge_expect_problem(&response, 400, "Malformed");
    ck_assert_str_eq(json_string_value(json_object_get(json, "header")), "Idempotency-Key");
    json_decref(json);
    evd_edge_ask(&fixture, &response, "DELETE " EDGE_DRAFT " HTTP/1.1\r\n@" KEY JSON BODY);
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("ETag"), ETAG);
    static const char *const keys[] = {KEY, "Idempotency-Key: nonsense\r\n"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) { /* a proxy may add one */
        evd_edge_ask(&fixture, &response, "PUT " EDGE_DRAFT " HTTP/1.1\r\n@%s" JSON BODY, keys[i]);
        ck_assert_int_eq(response.status, 200);
        ck_assert_ptr_nonnull(strstr(response.body, "\"keyed\":0"));
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

static void expect_named(const char *name) {
    json_t *json = evd_edge_expect_problem(&response, 400, "Malformed");
    ck_assert_str_eq(json_string_value(json_object_get(json, "header")), name);
    json_decref(json);
}

START_TEST(a_condition_that_is_huge_or_given_twice_or_no_text_is_refused_by_name) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, "PUT " EDGE_DRAFT " HTTP/1.1\r\n@If-Match: %01024d\r\n" JSON BODY, 1);
    ck_assert_int_eq(response.status, 200);
    evd_edge_ask(&fixture, &response, "PUT " EDGE_DRAFT " HTTP/1.1\r\n@If-Match: %01025d\r\n" JSON BODY, 1);
    expect_named("If-Match");
    evd_edge_ask(&fixture, &response, "PUT " EDGE_DRAFT " HTTP/1.1\r\n@If-None-Match: %020000d\r\n" JSON BODY, 1);
    expect_named("If-None-Match");
    evd_edge_ask(&fixture, &response,
                 "PUT " EDGE_DRAFT " HTTP/1.1\r\n@If-Match: \"1\"\r\nif-match: \"2\"\r\n" JSON BODY);
    expect_named("If-Match");
    evd_edge_ask(&fixture, &response, "PUT " EDGE_DRAFT " HTTP/1.1\r\n@If-Match: \"\303\"\r\n" JSON BODY);
    expect_named("If-Match");
    evd_edge_ask(&fixture, &response, "PATCH " EDGE_DRAFT " HTTP/1.1\r\n@If-Match: %020000d\r\n" JSON BODY, 1);
    ck_assert_int_eq(response.status, 200); /* it takes no conditions */
    evd_edge_fixture_close(&fixture);
}
END_TEST

EVD_TEST_MAIN("http: edge, methods", each_method_reaches_its_own_command_and_a_body_only_one_that_takes_it,
              a_path_tells_exactly_the_methods_it_takes,
              conditions_reach_a_conditional_command_as_they_came_and_its_etag_comes_back,
              a_conditional_view_has_its_commands_etag_and_is_304_by_it,
              a_conditional_command_with_a_ledger_needs_its_key_and_one_without_does_not_mind_one,
              a_condition_that_is_huge_or_given_twice_or_no_text_is_refused_by_name)
