#include "evidenced/domain/standing.h"

enum evd_standing evd_standing_of(enum evd_session_state state, int64_t pinned_seq, int64_t published_seq,
                                  const struct evd_policy_view *policies, size_t count) {
    enum evd_completed_policy verdict = EVD_KEEP_COUNTED;
    if (state != EVD_SESSION_COMPLETED) return EVD_STANDING_NOT_APPLICABLE;
    if (pinned_seq >= published_seq) return EVD_STANDING_QUALIFYING;
    for (size_t i = 0; i < count; i++) {
        if (policies[i].seq <= pinned_seq || policies[i].seq > published_seq) continue;
        if (policies[i].overrides_earlier || policies[i].completed > verdict) verdict = policies[i].completed;
    }
    switch (verdict) {
    case EVD_KEEP_COUNTED: return EVD_STANDING_PINNED_OLDER_COUNTED;
    case EVD_NEEDS_UPDATING: return EVD_STANDING_NEEDS_UPDATING;
    case EVD_NOT_COUNTED: return EVD_STANDING_PINNED_OLDER_NOT_COUNTED;
    }
    return EVD_STANDING_NEEDS_UPDATING;
}

bool evd_standing_qualifies(enum evd_standing standing) {
    return standing == EVD_STANDING_QUALIFYING || standing == EVD_STANDING_PINNED_OLDER_COUNTED;
}
