/*
 * UUIDs: 16 bytes, by value. Ids of records, people and commands.
 */
#ifndef EVIDENCED_BASE_UUID_H
#define EVIDENCED_BASE_UUID_H

#include "evidenced/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct evd_random;

typedef struct evd_uuid {
    uint8_t bytes[16];
} evd_uuid;

#define EVD_UUID_TEXT_BYTES 36

/** Canonical form, either case, nothing around it. False, and *ret_uuid untouched, for anything else. */
bool evd_uuid_parse(struct evd_text text, evd_uuid *ret_uuid);

/** Lower case, NUL behind it. */
void evd_uuid_format(evd_uuid uuid, char ret_text[EVD_UUID_TEXT_BYTES + 1]);

/** All zero: stands for "none". */
static inline evd_uuid evd_uuid_nil(void) {
    return (evd_uuid){{0}};
}

bool evd_uuid_equal(evd_uuid a, evd_uuid b);
bool evd_uuid_is_nil(evd_uuid uuid);
int evd_uuid_compare(evd_uuid a, evd_uuid b); /* byte order */
unsigned evd_uuid_version(evd_uuid uuid);     /* the version nibble, 0–15 */

/** A random (version 4) UUID. */
evd_uuid evd_uuid_random(const struct evd_random *random);

/**
 * The id of a natural key: SHA-256 over the record type and the parts, each preceded by its length, cut to 16
 * bytes and marked as version 8. Equal parts give equal ids for ever, on every host; so uniqueness is by key.
 */
evd_uuid evd_uuid_derive(const char *type, const struct evd_text *parts, size_t count);

/** A UUID's 16 bytes as a part of a natural key. Borrows. */
struct evd_text evd_uuid_part(const evd_uuid *uuid);

#endif
