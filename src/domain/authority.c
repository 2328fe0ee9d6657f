#include "evidenced/domain/authority.h"

#define CAN(capability) (1U << (capability))

enum {
    EVERY_MEMBER = CAN(EVD_CAN_NOTHING) | CAN(EVD_CAN_READ),
    ADMIN = EVERY_MEMBER | CAN(EVD_CAN_SEE_OTHERS) | CAN(EVD_CAN_ADMINISTER) | CAN(EVD_CAN_EXPORT),
    REVIEWER = EVERY_MEMBER | CAN(EVD_CAN_EXTRACT),
    RECONCILER = EVERY_MEMBER | CAN(EVD_CAN_SEE_OTHERS) | CAN(EVD_CAN_EXPORT)
};

static unsigned granted_by(enum evd_role role) {
    switch (role) {
    case EVD_ROLE_ADMIN: return ADMIN;
    case EVD_ROLE_REVIEWER: return REVIEWER;
    case EVD_ROLE_RECONCILER: return RECONCILER;
    case EVD_ROLE_QUERY_REVIEWER:
    case EVD_ROLE_OBSERVER: return EVERY_MEMBER;
    case EVD_NONE_OF_role:
    case EVD_END_OF_role: return 0;
    }
    return 0;
}

bool evd_authority_is_member(const struct evd_membership *membership) {
    return membership != NULL && membership->roles.count > 0;
}

bool evd_authority_has(const struct evd_membership *membership, enum evd_capability capability) {
    if (!evd_authority_is_member(membership)) return false;
    for (size_t i = 0; i < membership->roles.count; i++) {
        int role = evd_names_find(&evd_names_role, membership->roles.items[i]);
        if ((granted_by((enum evd_role)role) & CAN(capability)) != 0) return true;
    }
    return false;
}
