#include "../../support/http_application.h"
#include "../../support/raw_client.h"

#include "evidenced/base/limits.h"

#include <unistd.h>

#define GET(path)  "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define HELD       "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"
#define TRACE      "0af7651916cd43dd8448eb211c80319c"
#define MANY_BYTES (EVD_APP_LARGE_BODY_BYTES)

static struct evd_app app;
static struct evd_raw_client client;
static struct evd_raw_response response;

static void open_all(void) {
    evd_app_init(&app);
    evd_app_open(&app);
    evd_raw_open(&client, app.port);
}

static void close_all(void) {
    evd_raw_close(&client);
    evd_app_close(&app);
}

static void expect(int status, const char *body) {
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_int_eq(response.status, status);
    if (body != NULL) ck_assert_str_eq(response.body, body);
}

static bool says_close(void) {
    const char *connection = evd_raw_header(&response, "Connection");
    return connection != NULL && strcasecmp(connection, "close") == 0;
}

START_TEST(a_request_is_answered_within_the_call_and_the_connection_kept) {
    open_all();
    ck_assert_int_eq(evd_raw_get(&client, "/now?q=a%20b", &response), 200);
    ck_assert_str_eq(response.body, "GET /now q=a b ");
    ck_assert_str_eq(evd_raw_header(&response, "Content-Type"), "text/plain");
    ck_assert_str_eq(evd_raw_header(&response, "X-Answer"), "yes");
    ck_assert(!says_close());
    ck_assert(evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"));
    expect(200, "POST /now hello");
    ck_assert(evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect(200, "POST /now ");
    evd_app_wait(&app, &app.ended_sent, 3);
    ck_assert_str_eq(app.last_peer, "127.0.0.1");
    ck_assert_uint_eq(app.last_uid, UINT32_MAX);
    close_all();
    ck_assert_uint_eq(app.ended_unsent, 0);
}
END_TEST

START_TEST(a_request_is_answered_by_another_thread) {
    open_all();
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(evd_raw_get(&client, "/worker", &response), 200);
        ck_assert_str_eq(response.body, "GET /worker ");
    }
    close_all();
}
END_TEST

START_TEST(head_is_answered_like_get_without_the_body) {
    open_all();
    ck_assert(evd_raw_say(&client, "HEAD /now HTTP/1.1\r\nHost: x\r\n\r\n" GET("/now")));
    ck_assert(evd_raw_receive(&client, false, &response));
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(evd_raw_header(&response, "Content-Length"), "10");
    expect(200, "GET /now ");
    close_all();
}
END_TEST

START_TEST(options_goes_to_the_application) {
    open_all();
    ck_assert(evd_raw_say(&client, "OPTIONS /now HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect(200, "OPTIONS /now ");
    ck_assert(evd_raw_say(&client, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"));
    expect(200, "OPTIONS * ");
    close_all();
}
END_TEST

START_TEST(an_old_client_needs_no_host_and_is_closed_after_its_answer) {
    open_all();
    ck_assert(evd_raw_say(&client, "GET /now HTTP/1.0\r\n\r\n"));
    expect(200, "GET /now ");
    ck_assert(evd_raw_is_closed(&client));
    close_all();
}
END_TEST

START_TEST(a_body_arrives_whole_in_however_many_pieces) {
    static char body[MANY_BYTES];
    char head[128];
    open_all();
    memset(body, 'b', sizeof body);
    (void)snprintf(head, sizeof head, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", MANY_BYTES);
    ck_assert(evd_raw_say(&client, head));
    ck_assert(evd_raw_send(&client, body, sizeof body));
    expect(200, "1048576");
    const char *request = "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    for (const char *at = request; *at != '\0'; at++)
        ck_assert(evd_raw_send(&client, at, 1));
    expect(200, "POST /now hello");
    close_all();
}
END_TEST

START_TEST(a_body_over_the_limit_is_refused_by_its_length_alone) {
    open_all();
    ck_assert(evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"));
    evd_app_wait(&app, &app.heads, 1);
    ck_assert_uint_eq(evd_app_count(&app, &app.refusals), 0);
    evd_raw_close(&client);
    evd_raw_open(&client, app.port);
    ck_assert(evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n"));
    expect(413, NULL);
    ck_assert(says_close() && evd_raw_is_closed(&client));
    close_all();
    ck_assert_uint_eq(app.wholes, 0);
}
END_TEST

START_TEST(who_sends_too_much_still_reads_why) {
    static const char junk[65536];
    open_all();
    ck_assert(evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n"));
    evd_app_wait(&app, &app.ended_sent, 1);
    evd_app_wait_empty(&app); /* the library has closed its descriptor by now: without lingering, this resets */
    for (int i = 0; i < 10; i++) {
        ck_assert(evd_raw_send(&client, junk, sizeof junk));
        evd_http_server_reap(app.server);
    }
    expect(413, NULL);
    ck_assert(evd_raw_is_closed(&client));
    close_all();
}
END_TEST

START_TEST(who_lingers_too_long_is_closed) {
    static const char junk[1024];
    open_all();
    ck_assert(evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n"));
    expect(413, NULL);
    evd_app_wait_empty(&app);
    ck_assert(evd_raw_send(&client, junk, sizeof junk));
    evd_app_pass_ms(&app, 2001);
    while (evd_raw_send(&client, junk, sizeof junk))
        continue; /* the reset arrives at last */
    close_all();
}
END_TEST

START_TEST(who_waits_for_continue_is_told_so_or_refused_before_the_body) {
    open_all();
    ck_assert(
        evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
    ck_assert(evd_raw_receive(&client, false, &response));
    ck_assert_int_eq(response.status, 100);
    ck_assert(evd_raw_say(&client, "hello"));
    expect(200, "POST /now hello");
    ck_assert(
        evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n"));
    expect(413, NULL);
    ck_assert(evd_raw_is_closed(&client));
    evd_raw_close(&client);
    evd_raw_open(&client, app.port);
    ck_assert(
        evd_raw_say(&client, "POST /head HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
    expect(401, NULL);
    ck_assert(evd_raw_is_closed(&client));
    close_all();
}
END_TEST

START_TEST(an_answer_from_the_head_keeps_the_connection_when_little_is_left_to_read) {
    open_all();
    ck_assert_int_eq(evd_raw_get(&client, "/head", &response), 401);
    ck_assert(evd_raw_say(&client, "POST /head HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello" GET("/now")));
    expect(401, "who are you?");
    expect(200, "GET /now ");
    ck_assert(evd_raw_say(&client, "POST /head HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n"));
    expect(401, "who are you?");
    ck_assert(says_close() && evd_raw_is_closed(&client));
    close_all();
    ck_assert_uint_eq(app.wholes, 1);
}
END_TEST

static const struct {
    const char *request;
    int status;
} refused[] = {
    {"POST /now HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n", 415},
    {"POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 411},
    {"BREW /now HTTP/1.1\r\nHost: x\r\n\r\n", 501},
    {"GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
    {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
    {"POST /none HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n", 413},
};

static bool has_request_id(void) {
    const char *id = evd_raw_header(&response, "X-Request-Id");
    return id != NULL && strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32;
}

START_TEST(refusals_are_the_applications_to_render_and_carry_a_request_id) {
    open_all();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        evd_raw_close(&client);
        evd_raw_open(&client, app.port);
        ck_assert(evd_raw_say(&client, refused[i].request));
        expect(refused[i].status, NULL);
        ck_assert_uint_eq(strncmp(response.body, "refused: ", 9), 0);
        ck_assert(has_request_id() && evd_raw_is_closed(&client));
    }
    close_all();
    ck_assert_uint_eq(app.refusals, sizeof refused / sizeof *refused);
    ck_assert_uint_eq(app.ended_sent, sizeof refused / sizeof *refused);
}
END_TEST

/* A request with a target and one header value of these sizes. */
static int status_with(size_t target_bytes, size_t value_bytes, size_t fields) {
    static char request[65536];
    int size = snprintf(request, sizeof request, "GET /%0*d HTTP/1.1\r\nHost: x\r\nA: %0*d\r\n", (int)target_bytes, 0,
                        (int)value_bytes, 0);
    for (size_t i = 0; i < fields; i++)
        size += snprintf(request + size, sizeof request - (size_t)size, "B:\r\n");
    size += snprintf(request + size, sizeof request - (size_t)size, "\r\n");
    evd_raw_close(&client);
    evd_raw_open(&client, app.port);
    ck_assert(evd_raw_send(&client, request, (size_t)size));
    ck_assert(evd_raw_receive(&client, true, &response));
    if (response.status != 200) ck_assert(says_close() && evd_raw_drain(&client));
    return response.status;
}

START_TEST(long_targets_and_large_heads_are_refused_and_closed) {
    open_all();
    ck_assert_int_eq(status_with(2047, 1, 0), 200);
    ck_assert_int_eq(status_with(2048, 1, 0), 414);
    ck_assert_int_eq(status_with(20000, 1, 0), 414);
    ck_assert_int_eq(status_with(40000, 1, 0), 414);
    ck_assert_int_eq(status_with(1, 24000, 0), 200);
    ck_assert_int_eq(status_with(1, 25000, 0), 431);
    ck_assert_int_eq(status_with(1, 40000, 0), 431);
    ck_assert_int_eq(status_with(1, 1, 98), 200);
    ck_assert_int_eq(status_with(1, 1, 99), 431);
    ck_assert_int_eq(status_with(1, 1, 5000), 431);
    close_all();
}
END_TEST

START_TEST(a_query_of_many_parameters_is_refused_and_does_not_hang) {
    static char request[8192];
    open_all();
    memset(request, '&', 3000);
    memcpy(request, "GET /now?", 9);
    memcpy(request + 3000, "x HTTP/1.1\r\nHost: x\r\n\r\n", 24);
    ck_assert(evd_raw_say(&client, request));
    expect(200, "GET /now ");
    for (size_t i = 9; i < 3000; i += 2)
        request[i] = 'a';
    ck_assert(evd_raw_say(&client, request));
    expect(400, NULL);
    close_all();
}
END_TEST

START_TEST(a_trace_is_continued_in_the_request_id) {
    open_all();
    ck_assert(
        evd_raw_say(&client, "GET /now HTTP/1.1\r\nHost: x\r\ntraceparent: 00-" TRACE "-b7ad6b7169203331-01\r\n\r\n"));
    expect(200, NULL);
    ck_assert_str_eq(evd_raw_header(&response, "X-Request-Id"), TRACE);
    ck_assert(evd_raw_say(&client, "GET /now HTTP/1.1\r\nHost: x\r\ntraceparent: 00-" TRACE "-x\r\n\r\n"));
    expect(200, NULL);
    ck_assert(has_request_id());
    ck_assert_str_ne(evd_raw_header(&response, "X-Request-Id"), TRACE);
    ck_assert(
        evd_raw_say(&client, "GET /%00 HTTP/1.1\r\nHost: x\r\ntraceparent: 00-" TRACE "-b7ad6b7169203331-01\r\n\r\n"));
    expect(400, NULL);
    ck_assert_str_eq(evd_raw_header(&response, "X-Request-Id"), TRACE);
    close_all();
}
END_TEST

START_TEST(a_response_that_cannot_be_sent_becomes_an_empty_500) {
    open_all();
    ck_assert_int_eq(evd_raw_get(&client, "/broken", &response), 500);
    ck_assert(has_request_id() && evd_raw_header(&response, "X-Answer") == NULL);
    ck_assert_uint_eq(response.body_bytes, 0);
    close_all();
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_order) {
    open_all();
    ck_assert(evd_raw_say(&client, GET("/worker") GET("/a") GET("/worker") GET("/head") GET("/b")));
    expect(200, "GET /worker ");
    expect(200, "GET /a ");
    expect(200, "GET /worker ");
    expect(401, "who are you?");
    expect(200, "GET /b ");
    close_all();
}
END_TEST

START_TEST(an_exhausted_arena_is_a_503) {
    evd_app_init(&app);
    app.options.arena_cap_bytes = 64 * EVD_KIB;
    evd_app_open(&app);
    evd_raw_open(&client, app.port);
    ck_assert_int_eq(evd_raw_get(&client, "/now", &response), 200);
    ck_assert(evd_raw_say(&client, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"));
    expect(503, NULL);
    ck_assert(evd_raw_is_closed(&client));
    close_all();
}
END_TEST

EVD_TEST_MAIN("http: server", a_request_is_answered_within_the_call_and_the_connection_kept,
              a_request_is_answered_by_another_thread, head_is_answered_like_get_without_the_body,
              options_goes_to_the_application, an_old_client_needs_no_host_and_is_closed_after_its_answer,
              a_body_arrives_whole_in_however_many_pieces, a_body_over_the_limit_is_refused_by_its_length_alone,
              who_sends_too_much_still_reads_why, who_lingers_too_long_is_closed,
              who_waits_for_continue_is_told_so_or_refused_before_the_body,
              an_answer_from_the_head_keeps_the_connection_when_little_is_left_to_read,
              refusals_are_the_applications_to_render_and_carry_a_request_id,
              long_targets_and_large_heads_are_refused_and_closed,
              a_query_of_many_parameters_is_refused_and_does_not_hang, a_trace_is_continued_in_the_request_id,
              a_response_that_cannot_be_sent_becomes_an_empty_500, pipelined_requests_are_answered_in_order,
              an_exhausted_arena_is_a_503)
