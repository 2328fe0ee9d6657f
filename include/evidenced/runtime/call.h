/*
 * A call: one request on its way through the runtime.
 *
 * Owner: whoever submits it; it must stay until `done` was called, which happens exactly once, on a worker or on the
 * timer's thread. Two arenas: `arena` holds what was asked and lives as long as the call; `attempt_arena` is emptied
 * before each attempt and, after the last, holds the answer. Two more, `scratch`, are an attempt's only while it runs.
 */
#ifndef EVIDENCED_RUNTIME_CALL_H
#define EVIDENCED_RUNTIME_CALL_H

#include "evidenced/base/arena.h"
#include "evidenced/base/sha256.h"
#include "evidenced/runtime/command.h"
#include "evidenced/runtime/task.h"

struct evd_runtime;
struct evd_reads;
struct evd_writes;

/* The ids a path may name. */
struct evd_ids {
    evd_uuid project, study, form, stage, version, investigator, session, copy, operation;
};

/* Where the caller of a list is: decoded from the query by the edge. */
struct evd_page {
    size_t limit;
    struct evd_text cursor; /* opaque; bytes NULL: the beginning */
    evd_uuid stage;         /* filters, for the lists that take them; nil and bytes NULL: none */
    struct evd_text state, result;
};

/* Options of single commands, decoded from the query by the edge. */
struct evd_options {
    bool dry_run, skip_refused;
    char delimiter; /* 0: not given; else ',', ';' or '\t' */
    bool spreadsheet_safe;
    const struct evd_text *labels;
    size_t label_count;
};

/* If-Match and If-None-Match of a conditional command; bytes NULL: not there. As they came, without white space
 * around: UTF-8, at most EVD_LIMIT_CONDITION_BYTES. */
struct evd_conditions {
    struct evd_text if_match, if_none_match;
};

/*
 * A view answered in pieces. It is run again and again, each time on a snapshot of its own with the membership checked
 * anew, until it says that there is no more; each run's receipt is the next piece, and may be empty. A run that refuses
 * after a piece was sent can only cut the answer off. Where it is, it keeps in `carried`, which it allocates in the
 * call's arena in the first run (when it is NULL) and never grows.
 */
struct evd_stream {
    void *carried;
    bool more; /* set by derive: run again */
};

/* Of the operation that a view shows: while it is under way the answer says when to ask again. */
enum evd_progress { EVD_PROGRESS_NONE, EVD_PROGRESS_UNDER_WAY, EVD_PROGRESS_SETTLED };

struct evd_call {
    /* What is asked: set before it is submitted. */
    const struct evd_command *command;
    struct evd_arena *arena; /* borrowed */
    struct evd_ids ids;
    evd_uuid caller, command_id;
    bool may_create_projects;
    bool is_operator; /* the control socket's; see struct evd_command */
    struct evd_text body;
    enum evd_media media; /* of the body */
    struct evd_page page;
    struct evd_options options;
    struct evd_conditions conditions;
    int64_t deadline_ms; /* monotonic */
    void (*done)(struct evd_call *call);
    void *owner;

    /* Made from the body. */
    void *request; /* of command->request's type */
    struct evd_sha256 digest;
    evd_uuid made; /* the operation that an EVD_COMMIT_OPERATION begins: evd_operation_id, whether replayed or not */

    /* An attempt, for the command. */
    struct evd_arena attempt_arena;
    struct evd_arena scratch[2];             /* for what is forgotten while the attempt runs: the command resets them */
    void *state;                             /* the command's own, in the attempt arena */
    int64_t now_ms;                          /* wall clock when the attempt began */
    evd_stamp stamp;                         /* of all it writes; set before derive */
    const struct evd_membership *membership; /* NULL for the operator and for commands without a project */
    struct evd_reads *reads;
    struct evd_writes *writes;
    struct evd_text receipt;    /* JSON, unless the command says otherwise; set by derive */
    int64_t etag;               /* of a conditional command's answer, set by derive; 0: none */
    enum evd_progress progress; /* of a view of an operation, set by derive */
    struct evd_stream stream;

    /* The answer. */
    struct evd_outcome outcome;
    bool replayed; /* the receipt is the one stored when the command took effect */
    unsigned attempts_charged, attempts_free;

    /* The runtime's own. */
    struct evd_runtime *runtime;
    struct json_t *parsed; /* the body, only while it is being read */
    bool conflicted;       /* the attempt lost a race and is to be run again */
    struct evd_task task;  /* when it can go on again */
    evd_uuid lane_studies[EVD_COMMAND_LANES];
    size_t lane_count, lanes_held;
    struct evd_call *next_in_lane, *next_waiting;
    int64_t due_ms; /* monotonic: when a retry may begin */
    struct evd_seen_study {
        int64_t version, fold_sequence, maintenance_sequence;
    } seen[EVD_COMMAND_LANES]; /* by the attempt before: decides whether a retry was free */
    struct evd_inflight_entry {
        struct evd_inflight_entry *previous, *next;
        uint64_t ticket;
    } in_flight;
    struct evd_inflight_barrier {
        struct evd_inflight_barrier *next;
        uint64_t before_ticket;
        size_t remaining;
    } barrier;
};

/** Memory for what the attempt derives. */
static inline struct evd_arena *evd_call_arena(struct evd_call *call) {
    return &call->attempt_arena;
}

#define EVD_CALL_STATE(call, type) ((struct type *)((call)->state = EVD_NEW(evd_call_arena(call), struct type)))

/** Render `view` of that type as the call's receipt. */
void evd_call_receipt(struct evd_call *call, const struct evd_type *type, const void *view);

#endif
