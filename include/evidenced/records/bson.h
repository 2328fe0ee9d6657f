/*
 * The one codec of stored records: walks a type's field table between a struct and its BSON document.
 *
 * A document keeps what this version does not know, at every level, bytes intact. A name this version does not know
 * keeps its text. A known key of another type, with more bytes or elements than its bound, or that comes twice, and a
 * text that is not UTF-8, are corrupt. The range of a number binds JSON only; 32-bit numbers are taken.
 */
#ifndef EVIDENCED_RECORDS_BSON_H
#define EVIDENCED_RECORDS_BSON_H

#include "evidenced/records/schema.h"

struct evd_arena;

enum evd_decoded {
    EVD_DECODED,
    EVD_DECODED_UNKNOWN_NAME, /* decoded; some enum holds a name of a newer version: commands must fail closed */
    EVD_DECODED_CORRUPT       /* not what any version writes; *ret_struct is in an unspecified state */
};

/**
 * Decode size_bytes of BSON into a zeroed struct of that type. Texts and unknown parts borrow the document; lists and
 * nested structs are made in the arena.
 */
enum evd_decoded evd_bson_decode(const struct evd_type *type, const uint8_t *bson, size_t size_bytes,
                                 struct evd_arena *arena, void *ret_struct) __attribute__((warn_unused_result));

/**
 * Encode into the arena. Zero values are left out, but numbers, booleans and stamps. Never fails: what is encoded was
 * bounded before.
 */
struct evd_image evd_bson_encode(const struct evd_type *type, const void *from, struct evd_arena *arena);

/** As above, for what will have about this many bytes: it then takes no more of the arena than the guess, or what it
 * grows to beyond it. */
struct evd_image evd_bson_encode_expecting(const struct evd_type *type, const void *from, struct evd_arena *arena,
                                           size_t expected_bytes);

#endif
