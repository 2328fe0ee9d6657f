#include "evidenced/domain/capacity.h"

#include "evidenced/base/canary.h"
#include "evidenced/domain/standing.h"

static bool holds_place(const struct evd_summary_member *member) {
    if (EVD_CANARY(WITHDRAWN_HOLDS_PLACE) && member->state.value == EVD_SESSION_WITHDRAWN) return true;
    return member->state.value == EVD_SESSION_COMPLETED || member->state.value == EVD_SESSION_SAVED_INCOMPLETE;
}

struct evd_outcome evd_capacity_admit(const struct evd_form_summary *entry, const struct evd_capacity *capacity,
                                      evd_uuid reviewer) {
    int64_t cap = capacity->cap == 0 ? capacity->target : capacity->cap;
    int64_t qualifying = 0, places = 0;
    for (size_t i = 0; entry != NULL && i < entry->members.count; i++) {
        const struct evd_summary_member *member = &entry->members.items[i];
        if (evd_uuid_equal(member->reviewer, reviewer)) continue;
        qualifying += evd_standing_qualifies((enum evd_standing)member->standing.value);
        places += holds_place(member);
    }
    if (qualifying >= capacity->target) return evd_outcome_of(EVD_ENOUGH_REVIEWERS);
    if (places >= cap) return evd_outcome_of(EVD_AT_CAPACITY);
    return evd_ok();
}
