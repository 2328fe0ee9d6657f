/*
 * A small application behind a real server, for tests of the server: it answers, counts and remembers.
 *
 *   /now         answered within `whole`: `METHOD path body`
 *   /worker      the same, by a thread of its own
 *   /hold        not answered until evd_app_release
 *   /head        answered 401 from `head`
 *   /large       4 MiB
 *   /broken      a response header that cannot be sent
 *   /stream      a streamed body: `first;`, then what evd_app_give gives. One at a time
 *   /count       a streamed body: `first;`, 0; to EVD_APP_COUNT with empty pieces between, `end`. One, and once
 *   anything     else is like /now
 *
 * Bodies of up to EVD_APP_BODY_BYTES are taken, none on /none, EVD_APP_LARGE_BODY_BYTES on /upload.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_HTTP_APPLICATION_H
#define EVIDENCED_TESTS_SUPPORT_HTTP_APPLICATION_H

#include "evidenced/http/server.h"
#include "test.h"

#include <pthread.h>

enum {
    EVD_APP_BODY_BYTES = 1000,
    EVD_APP_LARGE_BODY_BYTES = 1024 * 1024,
    EVD_APP_LARGE_BYTES = 4 * 1024 * 1024,
    EVD_APP_WORKERS = 4,
    EVD_APP_COUNT = 5000,
    EVD_APP_QUEUE = 256,
};

struct evd_app {
    struct evd_test_clock clock;
    struct evd_http_server_options options; /* changed by a test before evd_app_open */
    struct evd_http_server *server;
    uint16_t port;

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t workers[EVD_APP_WORKERS];
    bool stops;
    struct evd_http_exchange *queue[EVD_APP_QUEUE];
    size_t queue_size;
    struct evd_http_exchange *held[EVD_APP_QUEUE];
    size_t held_size;
    struct evd_http_exchange *wanting; /* a piece */
    char counted[16];
    unsigned heads, wholes, mores, refusals, ended_sent, ended_unsent; /* under the mutex */
    bool saw_smuggled;                                                 /* any exchange of a path with `smuggled` */
    char last_peer[64];
    uint32_t last_uid;
};

void evd_app_init(struct evd_app *app);
void evd_app_open(struct evd_app *app); /* fails the test when it cannot */
/** Quiesce, answer what is held, close, and stop the workers. */
void evd_app_close(struct evd_app *app);

/** Wait until *counter, one of the application's, is at least this. */
void evd_app_wait(struct evd_app *app, const unsigned *counter, unsigned at_least);
unsigned evd_app_count(struct evd_app *app, const unsigned *counter);

/** Answer everything that is held, with 200 and `released`. */
void evd_app_release(struct evd_app *app);

/** Give the next piece of /stream when it is wanted, or cut it then. */
void evd_app_give(struct evd_app *app, struct evd_text piece, bool last);
void evd_app_cut(struct evd_app *app);

/** Move the clock, then reap. */
void evd_app_pass_ms(struct evd_app *app, int64_t ms);

/** Wait until the server has no connection left. */
void evd_app_wait_empty(struct evd_app *app);

#endif
