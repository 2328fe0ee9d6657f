/*
 * The answers of a version of a session: its pins, and the revisions they name. With what the author's other forms made
 * of them since, where a session is shown as it stands.
 */
#ifndef EVIDENCED_SRC_READ_ANSWERS_H
#define EVIDENCED_SRC_READ_ANSWERS_H

#include "read/support.h"

struct evd_answers {
    const struct evd_pin_map *map; /* read before; NULL: there is none, and no answers */
    struct evd_pins pins;
    const struct evd_annotation_revision **revisions; /* of the pins, in their order */
    const struct evd_annotation_head **heads;         /* NULL: not asked for */
    const struct evd_annotation_revision **current;   /* of the heads that are not at their pin; else NULL */
    bool corrupt;
};

/** Read the map's revisions, in one store call. */
void evd_answers_read(struct evd_call *call, struct evd_answers *answers);

/** Read the map's revisions and their heads in one store call, and in another what the heads are at now, if any moved.
 */
void evd_answers_read_current(struct evd_call *call, struct evd_answers *answers, evd_uuid study, evd_uuid author);

/** A revision is shown only when it is what was written: its digest is verified on every read. */
bool evd_answers_are_whole(const struct evd_answers *answers);
bool evd_revision_is_whole(const struct evd_annotation_revision *revision);

/** As many views as pins. */
struct evd_answer_view *evd_answers_show(struct evd_call *call, const struct evd_answers *answers);

/** What an answer is at a revision. */
struct evd_answer_revision_view *evd_revision_show(struct evd_call *call,
                                                   const struct evd_annotation_revision *revision);

#endif
