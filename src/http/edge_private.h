/*
 * What the edge's files share.
 */
#ifndef EVIDENCED_SRC_HTTP_EDGE_PRIVATE_H
#define EVIDENCED_SRC_HTTP_EDGE_PRIVATE_H

#include "evidenced/http/server.h"

#include "evidenced/http/edge.h"
#include "evidenced/http/router.h"
#include "evidenced/runtime/operations.h"
#include "networks.h"

#include <pthread.h>
#include <stdatomic.h>

enum { EVD_EDGE_LIST_MOST = 64, EVD_EDGE_HEADERS = 10 };

struct evd_edge_at {
    struct evd_edge *edge;
    enum evd_edge_door door;
};

struct evd_edge {
    struct evd_edge_options options;
    struct evd_router *router;
    struct evd_limiter *subjects, *addresses;
    struct evd_edge_at doors[EVD_DOOR_COUNT];
    evd_uuid operator_id;
    _Atomic(struct evd_runtime *) runtime; /* NULL: not started */
    _Atomic(struct evd_store *) store;     /* NULL: no backups are made of it */
    atomic_bool backs_up;                  /* one is being made */
    atomic_int ready;                      /* enum evd_outcome_code */
    atomic_bool draining;

    pthread_rwlock_t lock; /* of the settings; nothing that may jump or wait runs under it */
    struct evd_text origins[EVD_EDGE_LIST_MOST];
    size_t origin_count;
    struct evd_network proxies[EVD_EDGE_LIST_MOST];
    size_t proxy_count;
    struct evd_limits subject;
};

/* Of an operation: somebody looks how it stands; nobody does until the wait is over; the wait is over. */
enum evd_edge_waiting { EVD_EDGE_LOOKING, EVD_EDGE_PARKED, EVD_EDGE_OVER };

/* One request, in its exchange's arena. */
struct evd_edge_request {
    struct evd_edge *edge;
    enum evd_edge_door door;
    struct evd_http_exchange *exchange;
    const char *route; /* the template, for the log; NULL: none */
    size_t command;    /* its number, or EVD_FIGURES_EDGE */
    bool is_page;      /* probes and the like */
    bool is_backup;    /* and no call */
    struct evd_text token;

    struct evd_task task; /* the way to a worker */
    struct evd_limited *held;
    bool is_known; /* the caller is */
    struct evd_call call;

    /* Of a call that began an operation whose end it waits for; see edge_wait.c. */
    int64_t wait_s; /* 0: it does not */
    struct evd_operation_waiter waiter;
    atomic_int waiting; /* enum evd_edge_waiting */
    struct evd_task look_task;
    struct evd_call *look; /* the view of the operation; NULL: not looked at yet */
    bool is_last_look;

    bool streams;        /* the first piece of a streamed answer was given */
    bool is_cut;         /* and it will not be whole */
    bool is_noted;       /* counted */
    int64_t answered_us; /* then */
    enum evd_outcome_code outcome;
    size_t body_bytes;
};

/* An answer being put together, in the exchange's arena. */
struct evd_edge_reply {
    struct evd_http_response response;
    struct evd_http_header headers[EVD_EDGE_HEADERS];
};

/* edge_answer.c */

/** Begin an answer: status, and the headers every answer at this door has. */
struct evd_edge_reply *evd_edge_reply_new(struct evd_edge_request *request, unsigned status);
void evd_edge_reply_header(struct evd_edge_reply *reply, const char *name, struct evd_text value);

/** A problem, with its Retry-After. `status` 0: the outcome's own. */
struct evd_edge_reply *evd_edge_problem(struct evd_edge_request *request, const struct evd_outcome *outcome,
                                        unsigned status);
struct evd_edge_reply *evd_edge_problem_of(struct evd_edge_request *request, enum evd_outcome_code code);

/** 401, with `WWW-Authenticate`. why: static; NULL: there was no token at all. */
struct evd_edge_reply *evd_edge_unauthenticated(struct evd_edge_request *request, const char *why);

/** Of the answer of a call that went well. */
const char *evd_edge_content_type(const struct evd_command *command);

/** The answer of a call that is done. */
struct evd_edge_reply *evd_edge_call_reply(struct evd_edge_request *request);

/** Count what is about to be answered, body_bytes and all, and note it for the log. Once, before whoever asked can have
 * the answer, or all of it. */
void evd_edge_note(struct evd_edge_request *request);

/** An answer made without memory. */
void evd_edge_out_of_memory(struct evd_edge_request *request, struct evd_http_response *ret_response);

/** Run `step` where the exhaustion of the arena ends it: false then. */
bool evd_edge_within(struct evd_arena *arena, void (*step)(void *), void *argument);

/** 400, with what names the place. */
struct evd_edge_reply *evd_edge_malformed(struct evd_edge_request *request, struct evd_text detail,
                                          struct evd_text members);

/* edge.c */

/** Does somebody call who may at this door? Takes the token, which is not looked at yet. NULL, or 401. */
struct evd_edge_reply *evd_edge_refuse_stranger(struct evd_edge_request *request);

/** A problem with its own sentence. */
struct evd_edge_reply *evd_edge_refuse(struct evd_edge_request *request, enum evd_outcome_code code,
                                       struct evd_text detail);

/* edge_operator.c */

enum { EVD_EDGE_OPERATOR_BODY_BYTES = 16384 };

/** Is it a backup, at the control socket? Then *ret_reply is the refusal its head deserves, or NULL. */
bool evd_edge_operator(struct evd_edge_request *request, struct evd_edge_reply **ret_reply);

/** Make the backup, on a worker. */
void evd_edge_back_up(struct evd_edge_request *request);

/* edge_cors.c */

/** Add what a browser needs to show the answer to a page of another origin. */
void evd_edge_cors(const struct evd_edge_request *request, struct evd_edge_reply *reply);

/** Answer OPTIONS. allow: the path's methods. */
struct evd_edge_reply *evd_edge_options(struct evd_edge_request *request, const char *allow);

/* edge_pages.c */

/** Is it one of the fixed pages of this door? Then the answer, else NULL. */
struct evd_edge_reply *evd_edge_page(struct evd_edge_request *request);

/* edge_body.c */

/** Is there a body as the command takes it, by what the head says of it? NULL, or the refusal. Sets the call's media.
 */
struct evd_edge_reply *evd_edge_refuse_body(struct evd_edge_request *request);

/** The same for a body that is JSON whatever the command. */
struct evd_edge_reply *evd_edge_refuse_json(struct evd_edge_request *request);

/* edge_take.c */

/** Take what the request asks beside its body: key, conditions, page, options. NULL, or the 400 that names what is
 * wrong. */
struct evd_edge_reply *evd_edge_take(struct evd_edge_request *request);

/* edge_call.c */

/** Hand the request to a worker. */
void evd_edge_submit(struct evd_edge_request *request);

/** Post the request's task, or say that the queue is full. */
void evd_edge_post(struct evd_edge_request *request);

/** The caller's place among those in flight is free again. */
void evd_edge_leave(struct evd_edge_request *request);

/** Answer with what `make` makes, or say that memory is out. The request may be gone when this returns. */
void evd_edge_answer_with(struct evd_edge_request *request,
                          struct evd_edge_reply *(*make)(struct evd_edge_request *request));

/** Both. */
void evd_edge_leave_with(struct evd_edge_request *request,
                         struct evd_edge_reply *(*make)(struct evd_edge_request *request));

/* edge_stream.c */

/** A run of a streamed view is done: begin the answer, go on with it, or end it. */
void evd_edge_stream_run_done(struct evd_edge_request *request);

/** The next piece is wanted. */
void evd_edge_stream_more(struct evd_edge_request *request);

/* edge_wait.c */

/** Note how long the caller prefers to wait for the operation the call begins. Whatever cannot be understood of it is
 * ignored. */
void evd_edge_take_wait(struct evd_edge_request *request);

/** A call that begins an operation is done: answer, or wait for the operation and answer then. */
void evd_edge_operation_done(struct evd_edge_request *request);

/** What an answer about the operation that the call began has beside its body. */
void evd_edge_operation_headers(struct evd_edge_request *request, struct evd_edge_reply *reply);

/* edge_end.c */

/** The log line of a request that has ended. */
void evd_edge_log_end(const struct evd_edge_request *request, bool sent);

#endif
