/*
 * A server that answers what it is told to, one answer a connection, and remembers what it was asked: for what the real
 * daemon does only on a bad day.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_STUB_SERVER_H
#define EVIDENCED_TESTS_SUPPORT_STUB_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STUB_ANSWERS = 64, STUB_HEAD_BYTES = 16384, STUB_PATIENCE_S = 60 };

enum stub_manner {
    STUB_WHOLE,        /* with a Content-Length, as it should be */
    STUB_CHUNKED,      /* in chunks, and ended properly */
    STUB_DROP,         /* close without an answer */
    STUB_SHORT,        /* a Content-Length that promises ten bytes more than come */
    STUB_CHUNKED_SHORT /* a chunk, and no end */
};

struct stub_answer {
    int status;
    const char *headers; /* more lines, each ending in CRLF; NULL: none */
    const char *type;    /* NULL: application/json, or application/problem+json from 400 on */
    const char *body;    /* NULL: empty */
    enum stub_manner manner;
};

struct stub_request {
    char head[STUB_HEAD_BYTES]; /* with the request line; terminated */
    char *body;                 /* terminated */
    size_t body_bytes;
};

struct stub_server {
    uint16_t port;    /* on 127.0.0.1 */
    const char *path; /* or a socket file instead */
    const struct stub_answer *answers;
    size_t answer_count;

    int fd;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t request_count; /* under the mutex; more than there are answers fails the test when it closes */
    struct stub_request requests[STUB_ANSWERS];
};

/** Serve these answers, in order. path NULL: on a free port. Borrows both. */
void stub_open(struct stub_server *stub, const char *path, const struct stub_answer *answers, size_t count);

/** Wait until so many requests have come. */
void stub_await(struct stub_server *stub, size_t count);

/** Stop, and fail the test unless as many requests came as there are answers. The requests stay to be looked at. */
void stub_close(struct stub_server *stub);
void stub_done(struct stub_server *stub);

/** A header's value of the at-th request, in a buffer that lasts until the next call; "" when absent. */
const char *stub_header(const struct stub_server *stub, size_t at, const char *name);

/** Does the at-th request begin with `METHOD target `? */
bool stub_was_asked(const struct stub_server *stub, size_t at, const char *method_and_target);

#endif
