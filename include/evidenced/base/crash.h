/*
 * Crash points: named places at which a test build kills its own process, to prove what survives.
 *
 * `EVIDENCED_CRASH_AT=point[:n]` ends the process with SIGKILL when the point is passed for the n-th time (default
 * 1). In other builds the macro is nothing.
 */
#ifndef EVIDENCED_BASE_CRASH_H
#define EVIDENCED_BASE_CRASH_H

#define EVD_CRASH_POINTS(X)                                                                                            \
    X(ATTEMPT_REGISTERED, "attempt-registered", "the attempt is registered in flight, nothing was read")               \
    X(SNAPSHOT_READ, "snapshot-read", "the snapshot was read, nothing was decided")                                    \
    X(DERIVED, "derived", "the write set is ready, nothing was sent to the store")                                     \
    X(COMMIT_BEFORE, "commit-before", "the store holds the whole batch in memory, nothing is in its log")              \
    X(COMMIT_AFTER, "commit-after", "the store's log is synced, the caller does not know yet")                         \
    X(COMMIT_KNOWN, "commit-known", "the runtime knows of the commit, the lane is still held")                         \
    X(ANSWER_BEFORE, "answer-before", "the receipt is ready, no byte of it was sent")                                  \
    X(TAKEN_OVER, "taken-over", "an operation of an earlier start was taken over, nothing was done for it")            \
    X(STEP_CHOSEN, "step-chosen", "the next step of an operation is known, nothing of it was run")                     \
    X(STEP_ANSWERED, "step-answered", "a step of an operation took effect, nothing has followed from it")

enum evd_crash_point {
#define EVD_CRASH_ENUM(id, name, what) EVD_CRASH_##id,
    EVD_CRASH_POINTS(EVD_CRASH_ENUM)
#undef EVD_CRASH_ENUM
        EVD_CRASH_COUNT
};

/** `attempt-registered`, … */
const char *evd_crash_point_name(enum evd_crash_point point);
const char *evd_crash_point_meaning(enum evd_crash_point point);

#ifdef EVD_TEST
void evd_crash_point_pass(enum evd_crash_point point);
#define EVD_CRASH_POINT(id) evd_crash_point_pass(EVD_CRASH_##id)
#else
#define EVD_CRASH_POINT(id) ((void)0)
#endif

#endif
