/*
 * Writes: the set of records an attempt will commit, all or nothing.
 *
 * A written record's project, version and stamp are set here; its id and content by the command. Records are encoded
 * at once, so the struct may be changed or forgotten afterwards.
 */
#ifndef EVIDENCED_RUNTIME_WRITES_H
#define EVIDENCED_RUNTIME_WRITES_H

#include "evidenced/runtime/call.h"

/** Insert a new record. Somebody else's insert of the same key makes the command run again. */
void evd_writes_insert(struct evd_call *call, const struct evd_type *type, struct evd_record *record);

/** As evd_writes_insert, for a record of about this many bytes: a good guess saves the arena twice its size. */
void evd_writes_insert_large(struct evd_call *call, const struct evd_type *type, struct evd_record *record,
                             size_t expected_bytes);

/** Insert a record that may be there already, by its key the same one: then it stays as it is. */
void evd_writes_insert_once(struct evd_call *call, const struct evd_type *type, struct evd_record *record);

/** Delete a record that was read in this attempt. Nothing that is evidence is ever deleted: identities are, when they
 * move, and the registry of running operations. */
void evd_writes_delete(struct evd_call *call, const struct evd_type *type, const struct evd_record *record);

/** Replace a record that was read in this attempt with this changed copy of it. */
void evd_writes_replace(struct evd_call *call, const struct evd_type *type, struct evd_record *record);

#define EVD_INSERT_RECORD(call, T, pointer)  evd_writes_insert((call), &evd_type_##T, &(pointer)->base)
#define EVD_INSERT_ONCE(call, T, pointer)    evd_writes_insert_once((call), &evd_type_##T, &(pointer)->base)
#define EVD_DELETE_RECORD(call, T, pointer)  evd_writes_delete((call), &evd_type_##T, &(pointer)->base)
#define EVD_REPLACE_RECORD(call, T, pointer) evd_writes_replace((call), &evd_type_##T, &(pointer)->base)

/** A copy of a record that was read, to be changed and replaced. Shallow: lists still belong to what was read. */
#define EVD_CHANGE(call, T, pointer)                                                                                   \
    ((struct evd_##T *)evd_arena_copy(evd_call_arena(call), (pointer), sizeof(struct evd_##T)))

#endif
