/*
 * Plans: how an operation of one kind goes on. Whoever knows the kind's commands makes the plan; the driver runs it
 * without knowing them (driver.h).
 *
 * An operation is moved by steps. A step is an internal command, so it is read, refused, derived and committed like
 * any other, exactly once: its command id is made from the operation, the step's name and its number, whoever runs it.
 * Every step that writes replaces the operation's record, and is refused unless the record stands where the step was
 * made for; a late step of a driver that was replaced therefore changes nothing.
 */
#ifndef EVIDENCED_OPERATION_PLAN_H
#define EVIDENCED_OPERATION_PLAN_H

#include "evidenced/base/arena.h"
#include "evidenced/runtime/call.h"

/* Where an operation stands, as its record says. */
struct evd_operation_stand {
    enum evd_operation_kind kind; /* 0: of a kind this version does not know */
    enum evd_operation_status status;
    enum evd_operation_phase phase;
    evd_uuid requested_by, undoes;
    int64_t requested_at, generation;
    int64_t batch_count, next_batch, row_count, refused;
    bool dry_run, skip_refused;
};

struct evd_operation_stand evd_operation_stand_of(const struct evd_operation *operation);

/* An operation that is being driven. The driver's; a plan changes `memory` and what is in `arena` only. */
struct evd_driven {
    evd_uuid project, operation;
    struct evd_operation_stand stand; /* as the last step left it */
    enum evd_outcome_code stopped_by; /* what its last step was refused with, for good: the next one ends it */
    void *memory;                     /* in `arena`; NULL at first, and after another driver took over */
    struct evd_arena arena;
};

/* One step. Its command finds it in call->request. */
struct evd_step {
    const struct evd_command *command;
    const char *name; /* with `number` the step's identity within the operation */
    uint64_t number, batch;
    struct evd_driven *driven;
    struct evd_operation_stand after; /* set by derive: where the operation stands when the step has taken effect */
};

struct evd_operation_plan {
    enum evd_operation_kind kind;

    /**
     * The step that comes next: command, name, number and batch. The operation is running, and no step of it is.
     * May take memory from driven->arena, and be left by a jump out of it.
     */
    void (*next)(struct evd_driven *driven, struct evd_step *ret_step);
};

/** The step this call is. */
static inline struct evd_step *evd_step_of(const struct evd_call *call) {
    return (struct evd_step *)call->request;
}

/**
 * Is the record still where the step was made for: same generation, running, same phase and batch? EVD_OK, NotFound,
 * or StaleBase; the driver then looks again.
 */
struct evd_outcome evd_step_refuse_moved(const struct evd_call *call, const struct evd_operation *operation);

#endif
