/*
 * Runtime: how calls run. Workers, lanes, attempts, the ledger, retries, the in-flight registry.
 *
 * A worker prepares a call (parse, digest, lanes) and, when the call is first in its lanes, runs it. A call that is
 * not first is parked in the lane, without a worker; so is one that waits to try again. No worker ever waits for a
 * lane or for a back-off.
 */
#ifndef EVIDENCED_RUNTIME_RUNTIME_H
#define EVIDENCED_RUNTIME_RUNTIME_H

#include "evidenced/runtime/call.h"

struct evd_clock;
struct evd_random;
struct evd_runtime;
struct evd_store;

/* Figures a runtime reports as things happen; any may be NULL. Called on workers; must not block. */
struct evd_runtime_observer {
    void *self;
    void (*retried)(void *self, const struct evd_command *command, bool charged);
    void (*drifted)(void *self); /* a stamp was refused because this host's clock is behind */
    void (*began)(void *self, evd_uuid project, evd_uuid operation); /* it is stored by now; it may have been before */
};

struct evd_runtime_options {
    struct evd_store *store; /* borrowed, as are the next two */
    const struct evd_clock *clock;
    const struct evd_random *random;
    unsigned workers; /* 0: none; tests run calls themselves */
    size_t queue;     /* tasks waiting for a worker, at most */
    bool conformance; /* prove each command's reads and writes; a violation aborts. Test builds turn it on */
    struct evd_runtime_observer observer;
};

struct evd_runtime *evd_runtime_open(const struct evd_runtime_options *options);

/** Hand a task to the workers; false when the queue is full (429). */
bool evd_runtime_post(struct evd_runtime *runtime, struct evd_task *task) __attribute__((warn_unused_result));

/** The same for a task of something that was let in before: it is never turned away. Whoever posts sees to it that
 * there are not many. */
void evd_runtime_go_on(struct evd_runtime *runtime, struct evd_task *task);

/** Run one waiting task on this thread; false when there is none. For runtimes without workers. */
bool evd_runtime_work(struct evd_runtime *runtime);

/** Run a call on this thread, a worker's or a test's, or park it. `done` may have been called when this returns. */
void evd_runtime_run(struct evd_runtime *runtime, struct evd_call *call);

/** Run a call again that is done and said that there is more (struct evd_stream), on this thread. Its body is not read
 * again; its deadline must be set anew. The receipt before is gone. */
void evd_runtime_run_again(struct evd_runtime *runtime, struct evd_call *call);

/** Let waiting calls go on and end those whose deadline passed in a lane. The timer's thread does this by itself; tests
 * with a clock of their own call it. */
void evd_runtime_tick(struct evd_runtime *runtime);

struct evd_runtime_figures {
    size_t queued, running, parked, lanes, in_flight;
};
void evd_runtime_figures(struct evd_runtime *runtime, struct evd_runtime_figures *ret_figures);

/** When all calls are done: stop the workers, free. NULL is fine. */
void evd_runtime_close(struct evd_runtime *runtime);

#endif
