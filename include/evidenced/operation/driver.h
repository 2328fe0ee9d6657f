/*
 * Driver: moves the operations of all projects, step by step, until each is settled.
 *
 * When it is opened it takes over every operation that is still running, whoever drove it before; after that it is
 * told of new ones. Operations of one project go one after another, in the order they were asked for; those of
 * different projects take turns, a step each. A step is run on the driver's thread as a call of the runtime; while it
 * is parked, other projects go on.
 *
 *   a step succeeded                      the next one
 *   refused, but may succeed later        the same step again, with a growing pause, for as long as it takes
 *   StaleBase                             it is not where it was thought to be: look, and go on, or leave it to
 *                                         whoever took it over
 *   refused for good                      the plan's next step ends it (evd_driven.stopped_by)
 *   refused for good while ending, or     left as it is until the next start; the observer is told
 *   because a newer version wrote it
 *
 * Any thread may call, but evd_driver_step. One mutex over the list; none is held while a step runs.
 */
#ifndef EVIDENCED_OPERATION_DRIVER_H
#define EVIDENCED_OPERATION_DRIVER_H

#include "evidenced/operation/plan.h"

struct evd_clock;
struct evd_driver;
struct evd_operations;

/* What happens, as it happens; any may be NULL. Called on the driver's thread, without its mutex. */
struct evd_driver_observer {
    void *self;
    void (*begun)(void *self, const struct evd_driven *driven, bool taken_over);
    void (*stepped)(void *self, const struct evd_driven *driven, const struct evd_command *command,
                    enum evd_outcome_code code);
    void (*settled)(void *self, const struct evd_driven *driven);
    void (*stuck)(void *self, const struct evd_driven *driven, const struct evd_command *command,
                  enum evd_outcome_code code);
};

struct evd_driver_options {
    struct evd_runtime *runtime;       /* borrowed, as are the next three */
    const struct evd_clock *clock;     /* the runtime's */
    struct evd_operations *operations; /* told of each that is settled; NULL: nobody */
    const struct evd_operation_plan *const *plans;
    size_t plan_count;
    bool has_thread; /* false: tests run it by evd_driver_step */
    struct evd_driver_observer observer;
};

struct evd_driver *evd_driver_open(const struct evd_driver_options *options);

/** An operation was begun. Fine when it is known already, or settled. */
void evd_driver_poke(struct evd_driver *driver, evd_uuid project, evd_uuid operation);

/** Do the next thing that can be done now: take up an answer, or run a step. False when there is none: all is done, or
 * waits for its time, or for a call that is parked. For drivers without a thread. */
bool evd_driver_step(struct evd_driver *driver);

/** Begin no step any more; the one in hand is finished. Returns at once. */
void evd_driver_stop(struct evd_driver *driver);

struct evd_driver_figures {
    size_t open;     /* operations that are not settled */
    size_t stuck;    /* of them */
    size_t in_hand;  /* steps that are running or parked */
    uint64_t steps;  /* that took effect */
    uint64_t pauses; /* after a refusal that may pass */
};
void evd_driver_figures(struct evd_driver *driver, struct evd_driver_figures *ret_figures);

/** Stop, wait for the steps in hand, free. What is not settled goes on with the next driver. NULL is fine. */
void evd_driver_close(struct evd_driver *driver);

#endif
