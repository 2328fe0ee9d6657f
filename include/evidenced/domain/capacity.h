/*
 * Capacity of a form on one study: who holds a place, and who may still come in.
 *
 * Pure. Source: consistency model §3.4 item 4, §4.5; domain page §3.
 */
#ifndef EVIDENCED_DOMAIN_CAPACITY_H
#define EVIDENCED_DOMAIN_CAPACITY_H

#include "evidenced/domain/outcome.h"
#include "evidenced/records/dictionary.h"

/**
 * May `reviewer`, who holds no place, take one?
 *
 * entry     borrowed, recomputed in this snapshot; NULL when nobody has worked on it
 * capacity  borrowed, the form's
 *
 * Returns EVD_OK, or the first that holds: EVD_ENOUGH_REVIEWERS (as many qualifying completed members as the target),
 * EVD_AT_CAPACITY (as many places taken as the cap, which is the target unless set).
 */
struct evd_outcome evd_capacity_admit(const struct evd_form_summary *entry, const struct evd_capacity *capacity,
                                      evd_uuid reviewer);

#endif
