/*
 * Bodies that are sent piece by piece: to whom they look whole and to whom not, how far ahead of their reader they run,
 * and how long that may take, on a clock that the test moves.
 */
#include "../../../src/http/internal.h"
#include "../../support/http_application.h"
#include "../../support/raw_client.h"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MS = 15000, LARGE_BYTES = 32 * 1024 * 1024 }; /* more than the kernel keeps for a connection */

#define STREAM "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"

static struct evd_app app;
static struct evd_raw_client client;
static struct evd_raw_response response;

static void open_all(void) {
    evd_app_init(&app);
    app.options.request_ms = REQUEST_MS;
    evd_app_open(&app);
    evd_raw_open(&client, app.port);
}

static void close_all(void) {
    evd_raw_close(&client);
    evd_app_close(&app);
}

static const char *header(const char *name) {
    const char *value = evd_raw_header(&response, name);
    return value == NULL ? "" : value;
}

START_TEST(a_body_comes_in_pieces_and_the_connection_is_kept) {
    open_all();
    ck_assert(evd_raw_say(&client, STREAM "GET /now HTTP/1.1\r\nHost: x\r\n\r\n"));
    evd_app_give(&app, EVD_TEXT("second;"), false);
    evd_app_give(&app, EVD_TEXT(""), false);
    evd_app_give(&app, EVD_TEXT("third;"), false);
    evd_app_give(&app, EVD_TEXT("last"), true);
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(response.body, "first;second;third;last");
    ck_assert_str_eq(header("Transfer-Encoding"), "chunked");
    ck_assert_str_eq(header("Content-Length"), "");
    ck_assert_str_eq(header("Content-Type"), "text/plain");
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_str_eq(response.body, "GET /now ");
    close_all();
    ck_assert_uint_eq(app.mores, 4);
    ck_assert_uint_eq(app.ended_sent, 2);
}
END_TEST

START_TEST(a_piece_is_seen_before_the_next_one_is_made) {
    char line[16] = "";
    open_all();
    ck_assert(evd_raw_say(&client, STREAM));
    evd_app_wait(&app, &app.mores, 1);
    ck_assert(evd_raw_receive(&client, false, &response));
    while (client.held_bytes < 11) { /* "6\r\nfirst;\r\n" is there although nothing else was given */
        ssize_t got = recv(client.fd, client.held + client.held_bytes, 11 - client.held_bytes, 0);
        ck_assert_int_gt(got, 0);
        client.held_bytes += (size_t)got;
    }
    memcpy(line, client.held, 11);
    ck_assert_str_eq(line, "6\r\nfirst;\r\n");
    client.held_bytes = 0;
    evd_app_give(&app, EVD_TEXT(""), true);
    close_all();
}
END_TEST

START_TEST(many_pieces_given_at_once_arrive_in_order) {
    static char expected[RAW_BODY_BYTES];
    size_t size = (size_t)snprintf(expected, sizeof expected, "first;");
    for (unsigned i = 0; i < EVD_APP_COUNT; i++)
        size += (size_t)snprintf(expected + size, sizeof expected - size, "%u;", i);
    (void)snprintf(expected + size, sizeof expected - size, "end");
    open_all();
    ck_assert_int_eq(evd_raw_get(&client, "/count", &response), 200);
    ck_assert_str_eq(response.body, expected);
    close_all();
}
END_TEST

START_TEST(head_of_a_streamed_body_asks_for_no_piece) {
    open_all();
    ck_assert(evd_raw_say(&client, "HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert(evd_raw_receive(&client, false, &response));
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("Content-Type"), "text/plain");
    ck_assert_str_eq(header("Content-Length"), "");
    ck_assert(evd_raw_is_closed(&client));
    close_all();
    ck_assert_uint_eq(app.mores, 0);
    ck_assert_uint_eq(app.ended_sent, 1);
}
END_TEST

START_TEST(a_body_that_is_cut_does_not_look_whole) {
    open_all();
    ck_assert(evd_raw_say(&client, STREAM));
    evd_app_give(&app, EVD_TEXT("second;"), false);
    evd_app_cut(&app);
    ck_assert(!evd_raw_receive(&client, true, &response));
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(response.body, "first;second;");
    evd_app_wait(&app, &app.ended_unsent, 1);
    close_all();
}
END_TEST

START_TEST(a_body_that_is_cut_although_the_connection_is_to_close_does_not_look_whole_either) {
    open_all();
    evd_http_server_quiesce(app.server);
    ck_assert(evd_raw_say(&client, STREAM));
    evd_app_cut(&app);
    ck_assert(!evd_raw_receive(&client, true, &response));
    ck_assert_str_eq(header("Connection"), "close");
    ck_assert_str_eq(header("Transfer-Encoding"), "chunked");
    ck_assert_str_eq(response.body, "first;");
    close_all();
}
END_TEST

START_TEST(an_old_client_gets_a_body_that_ends_with_the_connection) {
    open_all();
    ck_assert(evd_raw_say(&client, "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    evd_app_give(&app, EVD_TEXT("second;"), false);
    evd_app_give(&app, EVD_TEXT("last"), true);
    ck_assert(evd_raw_receive_to_end(&client, &response));
    ck_assert_str_eq(header("Transfer-Encoding"), "");
    ck_assert_str_eq(header("Content-Length"), "");
    ck_assert_str_eq(response.body, "first;second;last");
    close_all();
    ck_assert_uint_eq(app.ended_sent, 1);
}
END_TEST

START_TEST(an_old_clients_connection_is_reset_when_its_body_is_cut) {
    open_all();
    ck_assert(evd_raw_say(&client, "GET /stream HTTP/1.0\r\n\r\n"));
    evd_app_give(&app, EVD_TEXT("second;"), false);
    evd_app_cut(&app);
    ck_assert(!evd_raw_receive_to_end(&client, &response));
    evd_app_wait(&app, &app.ended_unsent, 1);
    close_all();
}
END_TEST

START_TEST(a_client_that_leaves_is_noticed_with_the_next_piece) {
    open_all();
    ck_assert(evd_raw_say(&client, STREAM));
    evd_app_wait(&app, &app.mores, 1);
    evd_raw_close(&client);
    static char piece[LARGE_BYTES];
    evd_app_give(&app, (struct evd_text){piece, sizeof piece}, false);
    evd_app_wait(&app, &app.ended_unsent, 1);
    evd_raw_open(&client, app.port);
    ck_assert_int_eq(evd_raw_get(&client, "/now", &response), 200);
    close_all();
    ck_assert_uint_eq(app.mores, 1);
}
END_TEST

/* Patience. */

static int64_t deadline_of_the_only_connection(void) {
    pthread_mutex_lock(&app.server->mutex);
    const struct evd_http_connection *only = app.server->connections;
    int64_t deadline_us = only == NULL ? -1 : atomic_load(&only->deadline_us);
    pthread_mutex_unlock(&app.server->mutex);
    return deadline_us;
}

static void wait_for_deadline(int64_t deadline_us) {
    while (deadline_of_the_only_connection() != deadline_us)
        (void)sched_yield();
}

static void wait_for_patience(int64_t ms) {
    wait_for_deadline(evd_clock_monotonic_us(&app.clock.clock) + ms * 1000);
}

static void read_little(void) {
    int small = 4096;
    ck_assert_int_eq(setsockopt(client.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
}

/* The kernel may still take some of the piece, and each buffer full is given time anew. */
static void wait_until_cut(void) {
    while (evd_app_count(&app, &app.ended_unsent) == 0) {
        evd_app_pass_ms(&app, REQUEST_MS + 1);
        (void)sched_yield();
    }
}

START_TEST(who_does_not_read_is_not_produced_for_and_cut_in_the_end) {
    static char piece[LARGE_BYTES];
    open_all();
    read_little();
    ck_assert(evd_raw_say(&client, STREAM));
    evd_app_give(&app, (struct evd_text){piece, sizeof piece}, false);
    wait_for_patience(REQUEST_MS);
    evd_app_pass_ms(&app, REQUEST_MS);
    ck_assert_uint_eq(evd_app_count(&app, &app.ended_unsent), 0);
    wait_until_cut();
    evd_app_wait_empty(&app);
    ck_assert_uint_eq(evd_app_count(&app, &app.mores), 1);
    close_all();
}
END_TEST

START_TEST(who_reads_slowly_is_given_time_for_each_part_however_long_the_whole_takes) {
    static char piece[64 * 1024];
    open_all();
    ck_assert(evd_raw_say(&client, STREAM));
    for (int i = 0; i < 20; i++) {
        evd_app_wait(&app, &app.mores, (unsigned)i + 1);
        wait_for_deadline(INT64_MAX);
        evd_app_pass_ms(&app, INT64_C(10) * REQUEST_MS); /* the application's time does not count */
        evd_app_give(&app, (struct evd_text){piece, sizeof piece}, i == 19);
    }
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_uint_eq(response.body_bytes, 6 + 20 * sizeof piece);
    close_all();
}
END_TEST

START_TEST(an_old_client_that_does_not_read_is_reset) {
    static char piece[LARGE_BYTES];
    open_all();
    read_little();
    ck_assert(evd_raw_say(&client, "GET /stream HTTP/1.0\r\n\r\n"));
    evd_app_give(&app, (struct evd_text){piece, sizeof piece}, true);
    wait_for_patience(REQUEST_MS);
    wait_until_cut();
    ck_assert(!evd_raw_receive_to_end(&client, &response));
    close_all();
}
END_TEST

START_TEST(an_old_client_that_the_library_finds_idle_is_reset_too) {
    static char piece[LARGE_BYTES];
    evd_app_init(&app);
    app.options.idle_seconds = 1;
    evd_app_open(&app);
    evd_raw_open(&client, app.port);
    read_little();
    ck_assert(evd_raw_say(&client, "GET /stream HTTP/1.0\r\n\r\n"));
    evd_app_give(&app, (struct evd_text){piece, sizeof piece}, true);
    evd_app_wait(&app, &app.ended_unsent, 1); /* a second of the library's own */
    ck_assert(!evd_raw_receive_to_end(&client, &response));
    close_all();
}
END_TEST

/* The end of the server. */

START_TEST(streams_go_on_while_a_server_drains_until_they_are_cut) {
    struct evd_raw_client idle;
    open_all();
    ck_assert(evd_raw_say(&client, STREAM));
    evd_app_wait(&app, &app.mores, 1);
    evd_raw_open(&idle, app.port);
    ck_assert_int_eq(evd_raw_get(&idle, "/now", &response), 200);
    evd_http_server_quiesce(app.server);
    evd_app_give(&app, EVD_TEXT("second;"), false);
    evd_app_wait(&app, &app.mores, 2);
    evd_http_server_cut_streams(app.server);
    ck_assert_int_eq(evd_raw_get(&idle, "/now", &response), 200); /* only streams */
    ck_assert(!evd_raw_receive(&client, true, &response));
    ck_assert_str_eq(response.body, "first;second;");
    evd_app_give(&app, EVD_TEXT("third;"), true);
    evd_app_wait(&app, &app.ended_unsent, 1);
    evd_raw_close(&idle);
    close_all();
}
END_TEST

static void *close_server(void *server) {
    evd_http_server_close(server);
    return NULL;
}

START_TEST(a_server_that_closes_cuts_streams_and_waits_for_who_makes_them) {
    pthread_t closer;
    open_all();
    ck_assert(evd_raw_say(&client, STREAM));
    evd_app_wait(&app, &app.mores, 1);
    ck_assert_int_eq(pthread_create(&closer, NULL, close_server, app.server), 0);
    ck_assert(!evd_raw_receive(&client, true, &response)); /* after a second's grace */
    evd_app_give(&app, EVD_TEXT("second;"), false);
    pthread_join(closer, NULL);
    ck_assert_uint_eq(app.ended_unsent, 1);
    evd_raw_close(&client);
}
END_TEST

EVD_TEST_MAIN("http: streamed bodies", a_body_comes_in_pieces_and_the_connection_is_kept,
              a_piece_is_seen_before_the_next_one_is_made, many_pieces_given_at_once_arrive_in_order,
              head_of_a_streamed_body_asks_for_no_piece, a_body_that_is_cut_does_not_look_whole,
              a_body_that_is_cut_although_the_connection_is_to_close_does_not_look_whole_either,
              an_old_client_gets_a_body_that_ends_with_the_connection,
              an_old_clients_connection_is_reset_when_its_body_is_cut,
              a_client_that_leaves_is_noticed_with_the_next_piece,
              who_does_not_read_is_not_produced_for_and_cut_in_the_end,
              who_reads_slowly_is_given_time_for_each_part_however_long_the_whole_takes,
              an_old_client_that_does_not_read_is_reset, an_old_client_that_the_library_finds_idle_is_reset_too,
              streams_go_on_while_a_server_drains_until_they_are_cut,
              a_server_that_closes_cuts_streams_and_waits_for_who_makes_them)
