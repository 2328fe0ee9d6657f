/*
 * Authority: what each role of a project may do.
 *
 * Pure. Source: domain page §1, `membership`.
 */
#ifndef EVIDENCED_DOMAIN_AUTHORITY_H
#define EVIDENCED_DOMAIN_AUTHORITY_H

#include "evidenced/records/dictionary.h"

enum evd_capability {
    EVD_CAN_NOTHING,    /* needs none: the command checks for itself */
    EVD_CAN_READ,       /* see the project, its definitions and studies */
    EVD_CAN_EXTRACT,    /* Save, Complete and withdraw one's own sessions */
    EVD_CAN_SEE_OTHERS, /* other reviewers' entries and answers */
    EVD_CAN_ADMINISTER, /* members, forms, stages, studies */
    EVD_CAN_EXPORT      /* take everybody's answers out */
};

/** Does any of the membership's roles grant it? Roles this version does not know grant nothing. */
bool evd_authority_has(const struct evd_membership *membership, enum evd_capability capability);

/** Is this a membership at all: present, with a role? */
bool evd_authority_is_member(const struct evd_membership *membership);

#endif
