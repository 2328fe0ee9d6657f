/*
 * The HTTP server: libmicrohttpd behind a door that knows no command.
 *
 * A request is guarded at its first byte of meaning (smuggling, sizes, lengths), its head is shown to the
 * application, which says how large a body it takes or answers at once; then the body is collected, the connection
 * is suspended and the whole exchange is handed over. The application answers from any thread, once. No thread of
 * the server ever waits for the application.
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

enum evd_http_method { EVD_GET, EVD_HEAD, EVD_POST, EVD_PUT, EVD_PATCH, EVD_DELETE, EVD_OPTIONS, EVD_METHOD_OTHER };

struct evd_http_header {
    const char *name;      /* static or in the exchange's arena, NUL-terminated */
    struct evd_text value; /* no control characters */
};

struct evd_http_response {
    unsigned status;
    const struct evd_http_header *headers;
    size_t header_count;
    const char *content_type; /* NULL with an empty body */
    struct evd_text body;     /* in the exchange's arena or static */
    bool close;               /* close the connection after it */
};

struct evd_http_exchange {
    struct evd_arena arena; /* the call's memory; owner: the server */
    enum evd_http_method method;
    struct evd_text path;       /* decoded once; no NUL, at most EVD_LIMIT_PATH_BYTES */
    struct evd_text body;       /* whole, once `whole` is called */
    size_t content_length;      /* as declared */
    int64_t begun_us;           /* monotonic, when the head was complete */
    struct evd_text peer;       /* numeric address, or "unix" */
    uint32_t peer_uid;          /* AF_UNIX: SO_PEERCRED; else UINT32_MAX */
    struct evd_text request_id; /* 32 hex digits: the trace id of a well-formed traceparent, else fresh */
    unsigned status;            /* of the answer; 0 before */
    void *application;          /* the application's own, for the exchange's life */
    struct evd_http_server *server;
};

/** The value of a request header, by name in any case; empty with bytes NULL when absent. Repeated headers: the first.
 */
struct evd_text evd_http_exchange_header(const struct evd_http_exchange *exchange, const char *name);

/** The decoded value of a query parameter; bytes NULL when absent. */
struct evd_text evd_http_exchange_query(const struct evd_http_exchange *exchange, const char *name);

/** Answer, exactly once, from any thread. The response's memory must live in the exchange's arena or be static; the
 * exchange may be gone when this returns. */
void evd_http_exchange_answer(struct evd_http_exchange *exchange, const struct evd_http_response *response);

/* The application. All are called on a server thread and must not block. */
struct evd_http_application {
    void *self;
    /* The head is complete. Set *ret_body_limit_bytes (0: no body is taken) and return false; or fill *ret_answer and
     * return true: the exchange ends with it. */
    bool (*head)(void *self, struct evd_http_exchange *exchange, size_t *ret_body_limit_bytes,
                 struct evd_http_response *ret_answer);
    /* The body is complete; the exchange is the application's until it answers. */
    void (*whole)(void *self, struct evd_http_exchange *exchange);
    /* Render the server's own refusals (400, 408, 411, 413, 414, 415, 431, 501, …) as problem+json; `what` is a
     * sentence. */
    void (*refuse)(void *self, struct evd_http_exchange *exchange, unsigned status, const char *what,
                   struct evd_http_response *ret_answer);
    /* The response was sent, or the client had gone (sent: false). For the log line and the metrics. */
    void (*ended)(void *self, struct evd_http_exchange *exchange, bool sent);
};

struct evd_http_server_options {
    const char *listen;     /* "127.0.0.1:8080", "[::1]:0", "unix:/path", or "fd:3"; port 0: any free one */
    unsigned threads;       /* epoll threads; 0: 2 */
    unsigned connections;   /* at most; 0: 1024 */
    unsigned idle_seconds;  /* keep-alive without a request; 0: 30 */
    unsigned request_ms;    /* from the first byte of a request to its last, then the connection is shut; 0: 15000 */
    size_t arena_cap_bytes; /* of an exchange; 0: EVD_LIMIT_CALL_ARENA_BYTES */
    const struct evd_clock *clock; /* borrowed */
    struct evd_http_application application;
};

/** Listen and serve. On failure returns NULL and a sentence in ret_error (256 bytes). */
struct evd_http_server *evd_http_server_open(const struct evd_http_server_options *options, char ret_error[256]);

/** The port in use; 0 for AF_UNIX. */
uint16_t evd_http_server_port(const struct evd_http_server *server);

/** Stop accepting; requests on kept-alive connections are still answered, each with `Connection: close`. */
void evd_http_server_quiesce(struct evd_http_server *server);

/** Exchanges that have begun and not ended. */
size_t evd_http_server_in_flight(const struct evd_http_server *server);

/** Cut connections whose request took too long. Call it about every 250 ms; tests call it with their own clock. */
void evd_http_server_reap(struct evd_http_server *server);

/** After quiesce and once in flight is 0: shut idle connections, stop, free. NULL is fine. */
void evd_http_server_close(struct evd_http_server *server);

#endif
