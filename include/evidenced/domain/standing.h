/*
 * Standing: what a completed session pinned below the published form version still counts for.
 *
 * Pure; derived, never stored as truth. Source: domain page §2, "Standing".
 */
#ifndef EVIDENCED_DOMAIN_STANDING_H
#define EVIDENCED_DOMAIN_STANDING_H

#include "evidenced/records/dictionary.h"

/* What one publication decided about completed sessions of older versions; stricter ones have larger values. */
enum evd_completed_policy { EVD_KEEP_COUNTED, EVD_NEEDS_UPDATING, EVD_NOT_COUNTED };

struct evd_policy_view {
    int64_t seq; /* of the publication; its latest generation */
    enum evd_completed_policy completed;
    bool overrides_earlier; /* replaces what came before; otherwise the strictest wins */
};

/** policies: of the publications after pinned_seq up to published_seq, ascending by seq. */
enum evd_standing evd_standing_of(enum evd_session_state state, int64_t pinned_seq, int64_t published_seq,
                                  const struct evd_policy_view *policies, size_t count);

/** Does it count towards the target? `needsUpdating` does not. */
bool evd_standing_qualifies(enum evd_standing standing);

#endif
