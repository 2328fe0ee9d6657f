/*
 * What the store holds, read and written behind the runtime's back: maintenance, a newer version of the service, a
 * damaged record.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_BEHIND_H
#define EVIDENCED_TESTS_SUPPORT_BEHIND_H

#include "house.h"

#include "evidenced/base/arena.h"
#include "evidenced/records/dictionary.h"

/** The stored record of the house's project, in the arena, or NULL. The test ends when it cannot be decoded. */
void *behind_read(struct house *house, const struct evd_type *type, evd_uuid id, struct evd_arena *arena);

#define BEHIND_READ(house, T, id, arena) ((struct evd_##T *)behind_read((house), &evd_type_##T, (id), (arena)))

/** Replace the stored record by this one, which gets the next version. */
void behind_replace(struct house *house, const struct evd_type *type, struct evd_record *record);

#define BEHIND_REPLACE(house, T, record) behind_replace((house), &evd_type_##T, &(record)->base)

/** Insert this record, as its first version. */
void behind_insert(struct house *house, const struct evd_type *type, struct evd_record *record);

#define BEHIND_INSERT(house, T, record) behind_insert((house), &evd_type_##T, &(record)->base)

/** Replace the stored record by one whose `key` has a value of a type no version writes there. */
void behind_damage(struct house *house, evd_collection in, evd_uuid id, const char *key);

/** Take the record away, as no command does. */
void behind_lose(struct house *house, evd_collection in, evd_uuid id);

/** How many records of that index there are in the house's project. */
size_t behind_count(struct house *house, enum evd_index_number index, const struct evd_value *equal,
                    size_t equal_count);

#endif
