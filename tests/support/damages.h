/*
 * Damage to the stored records of a project, each kind planted where one check of a verification finds it.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_DAMAGES_H
#define EVIDENCED_TESTS_SUPPORT_DAMAGES_H

#include "house.h"

#include "evidenced/base/arena.h"

/* What is damaged: the house's project, with a form bound to house->stage whose questions are `design` and `n`. */
struct damaged {
    struct house *house;
    struct evd_arena *arena;
    const evd_uuid *studies;       /* five at least, each with a customId; on the fifth one reviewer has worked */
    evd_uuid first, second, other; /* versions on the first: a Save, then the same reviewer's Complete that changed `n`,
                                      and another reviewer's */
};

/** Set what the damages below are planted in. Copies. */
void damages_on(const struct damaged *given);

struct damage {
    const char *name;
    void (*plant)(void);
    const char *check, *record; /* of the finding: the check's name, and the stored name of the record's collection */
};

extern const struct damage damages[];
extern const size_t damages_count;

/** The identity of a study's customId. */
evd_uuid damages_identity_of(evd_uuid study);

#endif
