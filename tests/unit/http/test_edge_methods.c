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

EVD_TEST_MAIN("http: edge, methods", each_method_reaches_its_own_command_and_a_body_only_one_that_takes_it,
              a_path_tells_exactly_the_methods_it_takes)
