/*
 * Verification: the stored records of a project, held against each other. Read only; one part after another, each page
 * by page, each page on a snapshot of its own.
 *
 * A part names what a page needs (read), then judges it (judge), noting what does not fit, and says how far it came.
 * What it notes are ids, numbers and words of this file: never an answer, a name or a title.
 */
#ifndef EVIDENCED_SRC_READ_VERIFY_H
#define EVIDENCED_SRC_READ_VERIFY_H

#include "evidenced/base/buffer.h"
#include "read/support.h"

/* Where in its index a part is. */
struct evd_verify_place {
    bool begun;
    struct evd_value values[2];
    evd_uuid id;
    char text[EVD_STORE_INDEX_TEXT_BYTES]; /* of a value that is a text */
};

/* What is carried from run to run, in the call's arena. */
struct evd_verification {
    size_t part;
    struct evd_verify_place place;
    struct evd_verification_summary sum;
    int64_t form_seq; /* versions of the form that comes next that were looked at */
    evd_uuid last_study;
    evd_stamp last_stamp; /* of the last version of that study */
    struct evd_buffer *out;
};

struct evd_verify_part {
    void (*read)(struct evd_call *call, struct evd_verification *verification);
    void (*judge)(struct evd_call *call, struct evd_verification *verification);
};

extern const struct evd_verify_part evd_verify_forms, evd_verify_stages, evd_verify_studies, evd_verify_identities,
    evd_verify_sessions, evd_verify_drafts, evd_verify_versions, evd_verify_exposures, evd_verify_operations,
    evd_verify_open_operations;

/* The page of a part; in the attempt's state. */
struct evd_verify_page {
    const void *const *records;
    size_t count;
    bool ends;   /* nothing is behind it */
    void *extra; /* the part's own */
};

/** Scan on from the part's place: at most `limit` records. */
struct evd_verify_page *evd_verify_scan(struct evd_call *call, const struct evd_verification *verification,
                                        enum evd_index_number index, size_t limit);

/** The part is behind this record now, which has these values in its index. */
void evd_verify_pass(struct evd_verification *verification, const struct evd_value *values, size_t count, evd_uuid id);

/** The page was judged to its end: on to the next, or to the next part. */
void evd_verify_page_done(struct evd_verification *verification, const struct evd_verify_page *page);

/** Note one thing that does not fit. Texts of this room or made of ids and numbers; `in` names the record's kind. */
void evd_verify_note(struct evd_call *call, enum evd_integrity_check check, evd_collection in, evd_uuid id,
                     struct evd_text expected, struct evd_text found);

/** Note that they are not the same id, when they are not. True when they are. */
bool evd_verify_same(struct evd_call *call, enum evd_integrity_check check, evd_collection in, evd_uuid id,
                     evd_uuid expected, evd_uuid found);

/** The same for numbers. */
bool evd_verify_number(struct evd_call *call, enum evd_integrity_check check, evd_collection in, evd_uuid id,
                       int64_t expected, int64_t found);

/** Note that a record another one names is not there. True when it is. */
bool evd_verify_there(struct evd_call *call, enum evd_integrity_check check, evd_collection in, evd_uuid id,
                      const void *record);

/** An id in a few words: `form 1b4e…`. */
struct evd_text evd_verify_id_text(struct evd_call *call, const char *what, evd_uuid id);

#endif
