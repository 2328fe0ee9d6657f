/*
 * The HTTP server: libmicrohttpd behind a door that knows no command.
 *
 * A request is guarded as soon as its head is complete (smuggling, sizes, lengths), its head is shown to the
 * application, which says how large a body it takes or answers at once; then the body is collected, the connection
 * is suspended and the whole exchange is handed over. The application answers from any thread, once. No thread of
 * the server ever waits for the application.
 *
 * What the guard refuses, it answers and closes the connection: nothing behind such a request is read as another
 * one. HTTP/1.1 must carry exactly one Host, HTTP/1.0 at most one (old load balancers probe without). Chunked
 * requests are 411: every body has a length, so 413 is decided before the first byte of it.
 *
 * A streamed response is sent piece by piece: in chunks, to HTTP/1.0 until the connection closes. At most one piece is
 * held, and the next one is asked for when the kernel has taken it. A body that ends early never looks whole: the last
 * chunk is missing, and an HTTP/1.0 connection is reset (over AF_UNIX it cannot be: do not stream to HTTP/1.0 there).
 *
 * Lifetime: an exchange and everything it holds lives in its own arena until its response was sent or its connection
 * broke; the answer may be given after the client has gone.
 */
#ifndef EVIDENCED_HTTP_SERVER_H
#define EVIDENCED_HTTP_SERVER_H

#include "evidenced/base/arena.h"
#include "evidenced/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_clock;
struct evd_http_server;
struct evd_spool;

enum evd_http_method {
    EVD_HTTP_GET,
    EVD_HTTP_HEAD,
    EVD_HTTP_POST,
    EVD_HTTP_PUT,
    EVD_HTTP_PATCH,
    EVD_HTTP_DELETE,
    EVD_HTTP_OPTIONS,
    EVD_HTTP_METHOD_OTHER
};

#define EVD_HTTP_HEADER_VALUE_BYTES  4096          /* of one response header's value, at most */
#define EVD_HTTP_SPOOL_ABOVE_BYTES   (1024 * 1024) /* a larger body is spooled */
#define EVD_HTTP_SLOWEST_BYTES_PER_S 65536 /* a longer body, or response, is given a second more for each of these */

struct evd_http_header {
    const char *name;      /* static or in the exchange's arena, NUL-terminated */
    struct evd_text value; /* no control characters; at most EVD_HTTP_HEADER_VALUE_BYTES */
};

struct evd_http_response {
    unsigned status;
    const struct evd_http_header *headers;
    size_t header_count;
    const char *content_type; /* NULL with an empty body */
    struct evd_text body;     /* in the exchange's arena or static */
    bool streamed;            /* the body is only the first piece, and is borrowed until `more` or `ended` */
    bool close;               /* close the connection after it */
};

struct evd_http_exchange {
    struct evd_arena arena; /* the call's memory; owner: the server. Its escape is set by the server around `head` and
                               `refuse`, and is the application's to set once it holds the exchange */
    enum evd_http_method method;
    struct evd_text path;       /* decoded once: UTF-8, no control character, no "." or ".." segment, no slash that was
                                   escaped; begins with '/' or is "*"; at most EVD_LIMIT_PATH_BYTES; empty in `refuse`
                                   when the request had no usable one */
    struct evd_text body;       /* whole, once `whole` is called; a NUL behind it that the size does not count */
    size_t content_length;      /* as declared */
    bool is_old;                /* HTTP/1.0 */
    int64_t begun_us;           /* monotonic, when the head was complete */
    struct evd_text peer;       /* numeric address, or "unix" */
    uint32_t peer_uid;          /* AF_UNIX: SO_PEERCRED; else UINT32_MAX */
    struct evd_text request_id; /* 32 hex digits: the trace id of a well-formed traceparent, else fresh */
    unsigned status;            /* of the answer; 0 before */
    void *application;          /* the application's own, for the exchange's life */
    struct evd_http_server *server;
};

/** The value of a request header, by name in any case; empty with bytes NULL when absent. Repeated headers: the first.
 * No control characters but tab; not necessarily UTF-8. Borrows from the exchange. */
struct evd_text evd_http_exchange_header(const struct evd_http_exchange *exchange, const char *name);

/** How many request headers have that name, in any case. */
size_t evd_http_exchange_header_count(const struct evd_http_exchange *exchange, const char *name);

/** The decoded value of a query parameter, the first of that name; bytes NULL when absent, empty when it has no value.
 * UTF-8, no NUL. Borrows from the exchange. */
struct evd_text evd_http_exchange_query(const struct evd_http_exchange *exchange, const char *name);

/** The decoded values of all query parameters of that name, in their order, at most `most` of them into ret_values.
 * Returns how many there are. */
size_t evd_http_exchange_queries(const struct evd_http_exchange *exchange, const char *name,
                                 struct evd_text *ret_values, size_t most);

/** The name of the first query parameter that is none of these; bytes NULL when there is none. */
struct evd_text evd_http_exchange_query_beyond(const struct evd_http_exchange *exchange, const char *const *names,
                                               size_t count);

/** The body is not needed any more, and what it took on disk is free again: for whoever goes on holding the exchange.
 */
void evd_http_exchange_forget_body(struct evd_http_exchange *exchange);

/** Answer, exactly once, from any thread, also from within `whole`. The struct is copied; its headers and body must
 * live in the exchange's arena or be static. The exchange may be gone when this returns. A response that cannot be put
 * on the wire (a header value with control characters or over the limit) is sent as an empty 500. */
void evd_http_exchange_answer(struct evd_http_exchange *exchange, const struct evd_http_response *response);

/** Give the next piece of a streamed body, exactly once for each `more`, from any thread, also from within it. The
 * bytes are borrowed until the next `more` or `ended`; an empty piece is fine. last: the body is whole with it. The
 * exchange may be gone when this returns. */
void evd_http_exchange_give(struct evd_http_exchange *exchange, struct evd_text piece, bool last);

/** Instead of giving a piece: end the connection, so that the client sees that the body is not whole. */
void evd_http_exchange_cut(struct evd_http_exchange *exchange);

/* The application. All are called on a server thread and must not block. `head` and `refuse` may exhaust the arena:
 * the server then answers 503. */
struct evd_http_application {
    void *self;
    /* The head is complete. Set *ret_body_limit_bytes (0: no body is taken) and return false; or fill *ret_answer and
     * return true: the exchange ends with it. */
    bool (*head)(void *self, struct evd_http_exchange *exchange, size_t *ret_body_limit_bytes,
                 struct evd_http_response *ret_answer);
    /* The body is complete; the exchange is the application's until it answers. */
    void (*whole)(void *self, struct evd_http_exchange *exchange);
    /* All pieces of a streamed body so far were taken by the kernel, and the next one is wanted: the application gives
     * it, or cuts. Not called for HEAD. NULL when nothing is streamed. */
    void (*more)(void *self, struct evd_http_exchange *exchange);
    /* Render the server's own refusals (400, 411, 413, 414, 415, 429, 431, 501, 503, 505, and 507 when there is no room
     * on the disk for the body) as problem+json; `what` is a static sentence. *ret_answer.status is set and may be
     * changed; method and path are as far as they were understood. */
    void (*refuse)(void *self, struct evd_http_exchange *exchange, unsigned status, const char *what,
                   struct evd_http_response *ret_answer);
    /* The response was given to the kernel, or the client was seen to have gone (sent: false). For the log line and the
     * metrics. Called once for every exchange that was shown to `head` or `refuse`, on the server thread, before its
     * memory is freed. */
    void (*ended)(void *self, struct evd_http_exchange *exchange, bool sent);
};

struct evd_http_server_options {
    const char *listen;     /* "127.0.0.1:8080", "[::1]:0", "unix:/path" (mode 0600), or "fd:3"; port 0: any free one.
                               Addresses are numeric. An inherited descriptor is taken and closed */
    unsigned threads;       /* epoll threads; 0: 2 */
    unsigned connections;   /* at most; 0: 1024. More wait in the kernel's queue */
    unsigned idle_seconds;  /* without a byte in either direction; 0: 30 */
    unsigned request_ms;    /* how long a request may take to arrive, and a response to leave; 0: 15000. See `reap` */
    size_t arena_cap_bytes; /* of an exchange; 0: EVD_LIMIT_CALL_ARENA_BYTES */
    const struct evd_clock *clock; /* borrowed */
    struct evd_spool *spool;       /* borrowed, for bodies above EVD_HTTP_SPOOL_ABOVE_BYTES; NULL: all stay in memory */
    struct evd_http_application application;
};

/** Listen and serve. On failure returns NULL and a sentence in ret_error (256 bytes). The options are copied, what they
 * point to is borrowed. A stale socket file is replaced; one that somebody still serves is a failure. */
struct evd_http_server *evd_http_server_open(const struct evd_http_server_options *options, char ret_error[256]);

/** The port in use; 0 for AF_UNIX. */
uint16_t evd_http_server_port(const struct evd_http_server *server);

/** Stop accepting and close the listening socket (whoever had connected by then is served); requests on kept-alive
 * connections are still answered, each with `Connection: close`. Once; one thread. */
void evd_http_server_quiesce(struct evd_http_server *server);

/** Exchanges whose head was complete and that have not ended. */
size_t evd_http_server_in_flight(const struct evd_http_server *server);

/** Connections that are open now. */
size_t evd_http_server_connections(const struct evd_http_server *server);

/** Complaints of the HTTP library since the start; their text is dropped, it can hold what clients sent. */
size_t evd_http_server_complaints(const struct evd_http_server *server);

/**
 * Cut connections that are too slow. Call it about every 250 ms, from any one thread, and not while the server closes;
 * tests call it with their own clock.
 *
 * A request line must be complete idle_seconds + request_ms after the previous response ended (or the connection
 * began); the rest of the head request_ms after that; a body, request_ms and one second for each
 * EVD_HTTP_SLOWEST_BYTES_PER_S it declared after the request line. A response is given as much from its start; of a
 * streamed one each buffer full (at most 32 KiB) is, from when it was filled: how long the whole takes does not count.
 * Time with the application is not counted.
 */
void evd_http_server_reap(struct evd_http_server *server);

/** Cut the streamed responses that are under way; their clients see that they are not whole. For the end of a grace
 * period. From any one thread, and not while the server closes. */
void evd_http_server_cut_streams(struct evd_http_server *server);

/**
 * After quiesce and once in flight is 0: shut idle connections, stop, free. NULL is fine. Requests that arrive after
 * all get a 503; an exchange still with the application is waited for, so it must be answered.
 */
void evd_http_server_close(struct evd_http_server *server);

#endif
