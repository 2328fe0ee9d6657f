/*
 * Operations that are waited for: who wants to know when one is settled, and for how long.
 *
 * Bookkeeping only: nothing is read or written here, and nothing is run. Whoever drives operations says when one is
 * settled; whoever waits is told so, or that its time is up. Whether an operation was settled before somebody began to
 * wait is not known here: begin to wait first, then look.
 *
 * Any thread; one mutex, held for a few pointer moves and while waiters are told.
 */
#ifndef EVIDENCED_RUNTIME_OPERATIONS_H
#define EVIDENCED_RUNTIME_OPERATIONS_H

#include "evidenced/base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_clock;
struct evd_operations;

/* One that waits: embedded in whatever waits, which owns it. The first four are set before it begins to wait. */
struct evd_operation_waiter {
    evd_uuid project, operation;
    int64_t deadline_ms; /* monotonic */
    /* The wait is over, whyever: it is settled, time is up, or there is no waiting any more. Called exactly once,
     * unless the wait is cancelled before, on whatever thread, with the mutex held: it may note, and post a task, and
     * must not call back. It may be called before evd_operations_wait returns. The waiter is its owner's again. */
    void (*over)(struct evd_operation_waiter *waiter);
    struct evd_operation_waiter *next, **link; /* the list's; link NULL: it does not wait */
};

/** clock: borrowed. NULL without memory. */
struct evd_operations *evd_operations_new(const struct evd_clock *clock);

/** Nobody may wait any more. NULL is fine. */
void evd_operations_free(struct evd_operations *operations);

/** Wait until the operation is settled, or until the deadline. Takes no memory. */
void evd_operations_wait(struct evd_operations *operations, struct evd_operation_waiter *waiter);

/** Wait no longer. When this returns, `over` is not running and will not be called (again). Fine when the wait was
 * over, or cancelled, before. */
void evd_operations_cancel(struct evd_operations *operations, struct evd_operation_waiter *waiter);

/** This operation will not move any more (Succeeded, Refused, Cancelled, …), and that it is so can be read by now: to
 * be called after the commit that settled it. Tells all that wait for it. Cheap when nobody does; NULL is fine. */
void evd_operations_settled(struct evd_operations *operations, evd_uuid project, evd_uuid operation);

/** Tell those whose time is up. To be called now and then, some ten times a second. */
void evd_operations_tick(struct evd_operations *operations);

/** Tell all that wait, and from now on whoever begins to, at once: the daemon is about to end. */
void evd_operations_release(struct evd_operations *operations);

/** How many wait. */
size_t evd_operations_waiting(struct evd_operations *operations);

#endif
