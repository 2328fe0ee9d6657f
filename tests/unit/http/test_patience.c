/*
 * Slow clients, on a clock that the test moves. Where a test must know that the server has come as far as it means, it
 * looks at the connection's deadline, which is the only thing the reaper looks at.
 */
#include "../../../src/http/internal.h"
#include "../../support/http_application.h"
#include "../../support/raw_client.h"

#include <sched.h>
#include <sys/socket.h>

enum { IDLE_MS = 30000, REQUEST_MS = 15000, BYTES_PER_S = EVD_HTTP_SLOWEST_BYTES_PER_S };

static struct evd_app app;
static struct evd_raw_client client;
static struct evd_raw_response response;

static void open_all(void) {
    evd_app_init(&app);
    app.options.idle_seconds = IDLE_MS / 1000;
    app.options.request_ms = REQUEST_MS;
    evd_app_open(&app);
    evd_raw_open(&client, app.port);
}

/* A connection that is known to be idle since now. */
static void open_idle(void) {
    open_all();
    ck_assert_int_eq(evd_raw_get(&client, "/now", &response), 200);
    evd_app_wait(&app, &app.ended_sent, 1);
}

static void close_all(void) {
    evd_raw_close(&client);
    evd_app_close(&app);
}

static int64_t deadline_of_the_only_connection(void) {
    pthread_mutex_lock(&app.server->mutex);
    const struct evd_http_connection *only = app.server->connections;
    int64_t deadline_us = only == NULL ? -1 : atomic_load(&only->deadline_us);
    pthread_mutex_unlock(&app.server->mutex);
    return deadline_us;
}

static void wait_for_patience(int64_t ms) {
    int64_t expected_us = evd_clock_monotonic_us(&app.clock.clock) + ms * 1000;
    while (deadline_of_the_only_connection() != expected_us)
        (void)sched_yield();
}

START_TEST(an_idle_connection_is_not_cut_before_its_time) {
    open_idle();
    evd_app_pass_ms(&app, IDLE_MS + REQUEST_MS);
    ck_assert_int_eq(evd_raw_get(&client, "/now", &response), 200);
    evd_app_wait(&app, &app.ended_sent, 2);
    evd_app_pass_ms(&app, IDLE_MS + REQUEST_MS);
    ck_assert_int_eq(evd_raw_get(&client, "/worker", &response), 200);
    evd_app_wait(&app, &app.ended_sent, 3);
    evd_app_pass_ms(&app, IDLE_MS + REQUEST_MS + 1);
    ck_assert(evd_raw_is_closed(&client));
    close_all();
}
END_TEST

START_TEST(a_new_connection_that_says_nothing_is_cut) {
    open_all();
    wait_for_patience(IDLE_MS + REQUEST_MS);
    evd_app_pass_ms(&app, IDLE_MS + REQUEST_MS + 1);
    ck_assert(evd_raw_is_closed(&client));
    close_all();
}
END_TEST

START_TEST(a_client_that_drips_its_request_line_is_cut) {
    open_idle();
    const char *line = "GET /a/path/of/some/length/to/drip";
    for (int i = 0; i < 30; i++) {
        ck_assert(evd_raw_send(&client, line + i, 1));
        evd_app_pass_ms(&app, (IDLE_MS + REQUEST_MS) / 30);
    }
    evd_app_pass_ms(&app, 1);
    ck_assert(evd_raw_is_closed(&client));
    close_all();
    ck_assert_uint_eq(app.heads, 1);
}
END_TEST

START_TEST(a_client_that_drips_its_headers_is_cut) {
    open_idle();
    ck_assert(evd_raw_say(&client, "GET /now HTTP/1.1\r\n"));
    wait_for_patience(REQUEST_MS);
    for (int i = 0; i < 15; i++) {
        ck_assert(evd_raw_say(&client, "A: b\r\n"));
        evd_app_pass_ms(&app, REQUEST_MS / 15);
    }
    evd_app_pass_ms(&app, 1);
    ck_assert(evd_raw_is_closed(&client));
    close_all();
    ck_assert_uint_eq(app.heads, 1);
    ck_assert_uint_eq(app.ended_unsent, 0); /* it never was an exchange to the application */
}
END_TEST

START_TEST(a_client_that_drips_its_body_is_cut) {
    open_idle();
    ck_assert(evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"));
    evd_app_wait(&app, &app.heads, 2);
    wait_for_patience(REQUEST_MS);
    for (int i = 0; i < 15; i++) {
        ck_assert(evd_raw_say(&client, "x"));
        evd_app_pass_ms(&app, REQUEST_MS / 15);
    }
    ck_assert_uint_eq(evd_app_count(&app, &app.ended_unsent), 0);
    evd_app_pass_ms(&app, 1);
    ck_assert(evd_raw_is_closed(&client));
    evd_app_wait(&app, &app.ended_unsent, 1);
    close_all();
    ck_assert_uint_eq(app.wholes, 1);
}
END_TEST

START_TEST(a_large_body_is_given_more_time) {
    open_idle();
    ck_assert(evd_raw_say(&client, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n"));
    evd_app_wait(&app, &app.heads, 2);
    wait_for_patience(REQUEST_MS + 1048576 / BYTES_PER_S * 1000);
    close_all();
}
END_TEST

START_TEST(a_request_that_waits_for_the_application_is_not_cut) {
    open_all();
    ck_assert(evd_raw_say(&client, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
    evd_app_wait(&app, &app.wholes, 1);
    evd_app_pass_ms(&app, INT64_C(10) * (IDLE_MS + REQUEST_MS));
    evd_app_release(&app);
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_int_eq(response.status, 200);
    close_all();
}
END_TEST

START_TEST(a_client_that_does_not_read_its_response_is_cut) {
    int small = 4096;
    open_all();
    ck_assert_int_eq(setsockopt(client.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    ck_assert(evd_raw_say(&client, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"));
    int64_t patience_ms = REQUEST_MS + EVD_APP_LARGE_BYTES / BYTES_PER_S * 1000;
    wait_for_patience(patience_ms);
    evd_app_pass_ms(&app, patience_ms);
    ck_assert_uint_eq(evd_app_count(&app, &app.ended_unsent), 0);
    evd_app_pass_ms(&app, 1);
    evd_app_wait(&app, &app.ended_unsent, 1);
    evd_app_wait_empty(&app);
    close_all();
}
END_TEST

EVD_TEST_MAIN("http: patience", an_idle_connection_is_not_cut_before_its_time,
              a_new_connection_that_says_nothing_is_cut, a_client_that_drips_its_request_line_is_cut,
              a_client_that_drips_its_headers_is_cut, a_client_that_drips_its_body_is_cut,
              a_large_body_is_given_more_time, a_request_that_waits_for_the_application_is_not_cut,
              a_client_that_does_not_read_its_response_is_cut)
