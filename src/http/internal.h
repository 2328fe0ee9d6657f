/*
 * What the server's parts share: the server, its connections, its exchanges.
 *
 * Threads. One thread accepts; libmicrohttpd's threads read, call the guard and the application, and write; any thread
 * answers, reaps, or asks for numbers. A connection and its exchange belong to one libmicrohttpd thread. Three things
 * are shared: an exchange's handover (see exchange.c), a connection's deadline, and the list of connections, under
 * the server's mutex, which is taken when a connection begins or ends and never for a request.
 *
 * The library is handed accepted sockets and never the listening one. Measured with 0.9.75: MHD_quiesce_daemon() races
 * with the threads of the pool for the socket's place in their epoll sets and then aborts the process (3 of 2,000
 * stops under load); and the pool's threads share connections unevenly, where handing them over alternates.
 */
#ifndef EVIDENCED_HTTP_INTERNAL_H
#define EVIDENCED_HTTP_INTERNAL_H

#include "evidenced/http/server.h"
#include "evidenced/http/spool.h"
#include "guard.h"
#include "listen.h"
#include "target.h"
#include "trace.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    EVD_HTTP_MEMORY_BYTES = 32768,      /* the library's, for each connection: head, read buffer, response head */
    EVD_HTTP_HEAD_BYTES = 24576,        /* what a head may take of it, so that the response's head still fits */
    EVD_HTTP_FIELDS = 100,              /* headers of one request */
    EVD_HTTP_DISCARD_BYTES = 64 * 1024, /* a body that nobody wants is read up to here to keep the connection */
    EVD_HTTP_LINGERERS = 64,
};

struct evd_http_connection {
    struct evd_http_connection *next, **link; /* in the server's list */
    int fd;                                   /* the library's; valid while in the list */
    _Atomic int64_t deadline_us;              /* monotonic; the reaper cuts the connection after it */
    atomic_bool streams;                      /* a streamed response is under way */
    atomic_bool ends_by_closing;              /* and has no other end */
    char peer[INET6_ADDRSTRLEN];
    uint32_t peer_uid;
};

/* A socket whose response said `close` while the client was still sending: see linger.c. */
struct evd_http_lingerer {
    int fd;
    int64_t until_us;
};

struct evd_http_server {
    struct evd_http_server_options options; /* defaults filled in */
    struct MHD_Daemon *daemon;
    struct evd_listener listener;
    uint16_t port;
    pthread_t acceptor;
    int wake_fd; /* eventfd: wakes the acceptor */

    pthread_mutex_t mutex;
    pthread_cond_t drained; /* in_flight came to 0 while closing */
    struct evd_http_connection *connections;
    struct evd_http_lingerer lingerers[EVD_HTTP_LINGERERS];
    size_t lingerer_count;

    atomic_size_t in_flight, connection_count, complaints;
    atomic_bool quiesced, closing;
};

/* What the library's next call about an exchange is for. */
enum evd_http_step {
    EVD_STEP_HEAD,    /* the head is complete */
    EVD_STEP_BODY,    /* a piece of the body, or its end */
    EVD_STEP_DISCARD, /* the same, but the answer is known and the body unwanted */
    EVD_STEP_ANSWER,  /* the application was asked */
    EVD_STEP_SENDING, /* the response is the library's */
};

/* Who has the exchange: the application (and the server's thread runs, or is suspended), or the server again. */
enum evd_http_handover { EVD_HANDED, EVD_PARKED, EVD_ANSWERED };

struct evd_http_private {
    struct evd_http_exchange shown; /* first: what the application sees */
    struct evd_http_connection *connection;
    struct MHD_Connection *mhd;
    enum evd_http_step step;
    atomic_int handover; /* enum evd_http_handover */
    bool counted;        /* in in_flight, and `ended` will be called */
    bool unread;         /* the client may still be sending when the response is out */
    int64_t arrived_us;  /* monotonic, the request line was complete */
    struct evd_http_response answer;

    /* Of a streamed answer: what the library has not taken yet. Written before the handover. */
    struct evd_text piece;
    bool piece_is_last, is_cut;

    struct evd_text raw; /* the target as it came; bytes NULL when longer than EVD_TARGET_BYTES */
    size_t raw_bytes;
    struct evd_target target;
    struct evd_http_field *fields; /* names and values are the library's, and live as long */
    size_t field_count;
    char *body; /* in the arena, or spooled */
    size_t body_bytes;
    struct evd_spooled spooled;
    char id[EVD_TRACE_ID_BYTES + 1];
};

/* connection.c */

/** MHD_NotifyConnectionCallback; self is the server. */
void evd_http_connection_notify(void *self, struct MHD_Connection *mhd, void **context,
                                enum MHD_ConnectionNotificationCode what);

/** The connection waits for a request line. */
void evd_http_connection_idle(struct evd_http_server *server, struct evd_http_connection *connection);

/** The connection moves `bytes`, from since_us on, and is cut when that takes too long. */
void evd_http_connection_moves(struct evd_http_server *server, struct evd_http_connection *connection, int64_t since_us,
                               size_t bytes);

/** The connection waits for the application, however long. */
void evd_http_connection_parked(struct evd_http_connection *connection);

/** A streamed response begins on it. */
void evd_http_connection_streams(struct evd_http_connection *connection, bool ends_by_closing);

/** End the connection from outside the library, so that no client takes what it got for a whole response. */
void evd_http_connection_cut(struct evd_http_connection *connection);

/** Cut every connection, with the mutex held. */
void evd_http_connections_cut(struct evd_http_server *server);

/* linger.c */

/** Keep a copy of fd for a while, so that closing it with unread bytes does not destroy the response on its way. */
void evd_http_linger(struct evd_http_server *server, int fd);

/** Read what lingerers were sent and drop it; close those that are done. The mutex is held. all: close all. */
void evd_http_linger_reap(struct evd_http_server *server, int64_t now_us, bool all);

/* accept.c */

bool evd_http_acceptor_start(struct evd_http_server *server);
void evd_http_acceptor_wake(const struct evd_http_server *server);

/* exchange.c */

/** As MHD's URI log callback: a request line is complete. Returns the exchange, NULL when there is no memory. */
void *evd_http_exchange_begin(void *self, const char *uri, struct MHD_Connection *mhd);

/** MHD_AccessHandlerCallback. */
enum MHD_Result evd_http_exchange_proceed(void *self, struct MHD_Connection *mhd, const char *url, const char *method,
                                          const char *version, const char *piece, size_t *piece_bytes, void **context);

/** MHD_RequestCompletedCallback. */
void evd_http_exchange_end(void *self, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode why);

/** Run `step` where the arena's exhaustion ends it: false then. Frames of the library are never jumped over. */
bool evd_http_within_arena(struct evd_arena *arena, void (*step)(void *), void *argument);

/* head.c */

/** Is the library the version whose way with its buffer was read and measured? Later ones parse otherwise, and refuse
 * more by themselves. */
bool evd_http_layout_is_known(void);

/** Take the fields, the id, the target and the length of a complete head, and judge it. */
struct evd_guard_refusal evd_http_head_take(struct evd_http_private *exchange, const char *method, const char *version);

/** Swap the handover: the answer, or a piece, is there. Goes on with the exchange when the server's thread waits. */
void evd_http_exchange_hand_back(struct evd_http_private *exchange);

/** The application was asked and may take its time: suspend, unless it has answered by now. */
void evd_http_exchange_park(struct evd_http_private *exchange);

bool evd_http_exchange_is_answered(struct evd_http_private *exchange);

/* stream.c */

/** MHD_ContentReaderCallback; self is the exchange. */
ssize_t evd_http_stream_read(void *self, uint64_t position, char *buffer, size_t room_bytes);

/* respond.c */

/** Hand the exchange's answer to the library. MHD_NO: the connection is beyond it. */
enum MHD_Result evd_http_respond(struct evd_http_private *exchange);

#endif
