/*
 * Canaries: deliberate bugs of test builds, to prove that the tests can fail. Each stands where a real one would, as a
 * condition `EVD_CANARY(id)` that is false unless it was chosen; in other builds it is false and compiles to nothing.
 *
 * `EVIDENCED_CANARY=name` chooses one for a process; evd_canary_choose for whoever runs many. `make sim-canaries`
 * fails unless the simulator catches each.
 */
#ifndef EVIDENCED_BASE_CANARY_H
#define EVIDENCED_BASE_CANARY_H

#include <stdbool.h>

/* EVD_CANARIES(X): X(id, "name", "what it breaks"), in the order of a command's life. */
#define EVD_CANARIES(X)                                                                                                \
    X(MEMBERSHIP_NOT_CHECKED, "membership-not-checked", "who is no member any more may go on")                         \
    X(REVOCATION_NOT_AWAITED, "revocation-not-awaited", "a revocation is answered while attempts before it run")       \
    X(LEDGER_NOT_READ, "ledger-not-read", "a command that took effect runs again when it is sent again")               \
    X(DIGEST_NOT_COMPARED, "digest-not-compared",                                                                      \
      "a command id used for another request gets the first one's receipt")                                            \
    X(REPLAY_RENDERED_ANEW, "replay-rendered-anew", "a command that is sent again gets another receipt")               \
    X(UNKNOWN_RUN_AGAIN, "unknown-run-again", "a commit of unknown fate is run again without asking the ledger")       \
    X(UNKNOWN_TAKEN_FOR_DONE, "unknown-taken-for-done", "a commit of unknown fate is answered as a success")           \
    X(STAMP_OF_HOST_ONLY, "stamp-of-host-only", "a stamp is of the host's clock, whatever was read")                   \
    X(READS_LATEST, "reads-latest", "a view is read from several instants")                                            \
    X(LANE_NOT_HANDED_ON, "lane-not-handed-on", "a call that is done leaves those behind it in its lane")

enum evd_canary {
#define EVD_CANARY_ENUM(id, name, what) EVD_CANARY_##id,
    EVD_CANARIES(EVD_CANARY_ENUM)
#undef EVD_CANARY_ENUM
        EVD_CANARY_COUNT
};

/** `ledger-not-read`, … */
const char *evd_canary_name(enum evd_canary canary);
const char *evd_canary_meaning(enum evd_canary canary);

#ifdef EVD_TEST
/** From now on this one, or none (EVD_CANARY_COUNT); for a thread that has no others beside it. */
void evd_canary_choose(enum evd_canary canary);

bool evd_canary_is_chosen(enum evd_canary canary);
#define EVD_CANARY(id) evd_canary_is_chosen(EVD_CANARY_##id)
#else
#define EVD_CANARY(id) false
#endif

#endif
