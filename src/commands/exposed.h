/*
 * Exposures: revisions of others that a request says the reviewer was shown. Consistency model §8.5.
 */
#ifndef EVIDENCED_SRC_COMMANDS_EXPOSED_H
#define EVIDENCED_SRC_COMMANDS_EXPOSED_H

#include "evidenced/runtime/reader.h"
#include "evidenced/runtime/writes.h"

struct evd_exposed {
    const evd_uuid *asked; /* NULL: the client did not say whether anything was shown */
    size_t count;
    const struct evd_annotation_revision **revisions;
    const struct evd_annotation_head **heads;
};

/** Name the revisions in the command's first reads. Borrows `asked`. */
void evd_exposed_want(struct evd_call *call, struct evd_exposed *exposed, const evd_uuid *asked, size_t count);

/** Name what they belong to, in its second. */
void evd_exposed_want_heads(struct evd_call *call, struct evd_exposed *exposed);

/** Each must be a revision of the path's study; noted as `/<member>/<n>` otherwise. */
void evd_exposed_check(struct evd_call *call, const struct evd_exposed *exposed, const char *member,
                       struct evd_errors *errors);

/** Record each for that version of the session, once however often it is named; one's own are no exposures. late: the
 * version was saved before. Returns how many there are. */
size_t evd_exposed_write(struct evd_call *call, const struct evd_exposed *exposed, evd_uuid session, evd_uuid version,
                         int64_t version_seq, bool late);

#endif
