/*
 * Reader: a command names the records it needs; they come in one call, decoded, from the attempt's snapshot.
 *
 * Every record read, one from the cache included, raises the attempt's largest stamp, so that what is written comes
 * after all it was decided on. A failing store, a corrupt record, a caller who is no member and a command seen before
 * end the attempt from inside the first fetch: none of these calls returns an error.
 */
#ifndef EVIDENCED_RUNTIME_READER_H
#define EVIDENCED_RUNTIME_READER_H

#include "evidenced/domain/definition.h"
#include "evidenced/runtime/call.h"

/**
 * Name a record of the call's project. After the next fetch *slot, a pointer to a struct of the collection's type,
 * points to it, or is NULL when there is none. `slot` must stay valid until then. What it points to belongs to the
 * attempt and is not changed; a copy is (see writes.h).
 */
void evd_reader_want(struct evd_call *call, evd_collection in, evd_uuid id, void *slot);

/* struct evd_study *study; EVD_WANT(call, STUDY, id, &study); */
#define EVD_WANT(call, COLLECTION, id, slot) evd_reader_want((call), EVD_IN_##COLLECTION, (id), (slot))

/** Name a published definition; immutable, so it may come from the cache. NULL when there is none. */
void evd_reader_want_definition(struct evd_call *call, evd_uuid form_version, const struct evd_definition **slot);

/** Fetch all that was named since the last fetch, in one store call; in none when there is nothing to ask for. */
void evd_reader_fetch(struct evd_call *call);

/* A page of an index: `after` as in struct evd_range. */
struct evd_scan {
    enum evd_index_number index;
    const struct evd_value *equal;
    size_t equal_count;
    const struct evd_value *after;
    evd_uuid after_id;
    bool descending;
    size_t limit;
};

/** Scan the call's project, in one store call. *ret_records is an array of *ret_count pointers to structs of the
 * index's collection. */
void evd_reader_scan(struct evd_call *call, const struct evd_scan *scan, void *ret_records, size_t *ret_count);

/** Was this record read in this attempt (and existed)? */
bool evd_reader_has(const struct evd_call *call, evd_collection in, evd_uuid id);

#endif
