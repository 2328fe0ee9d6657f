/*
 * One question in two forms: form F, the house's own, with q1, q2, q3, and form G with q1, q2, g1.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_SHARED_H
#define EVIDENCED_TESTS_SUPPORT_SHARED_H

#include "extraction.h"

struct shared {
    struct extraction f, g;
    char *g_version, *f_version, *old[2], *new[2]; /* after shared_change; old, new: revisions of q1 and q2 */
};

/** Both forms, in a house that is furnished. */
struct shared shared_open(struct house *house);

/** Reviewer 1 answers q1 and q2 in F with "old", takes both over in G, then changes them in F to "new". */
void shared_change(struct house *house, struct shared *shared);

void shared_done(struct shared *shared);

#endif
