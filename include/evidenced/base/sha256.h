/*
 * SHA-256, by OpenSSL.
 */
#ifndef EVIDENCED_BASE_SHA256_H
#define EVIDENCED_BASE_SHA256_H

#include "evidenced/base/text.h"

#include <stddef.h>
#include <stdint.h>

#define EVD_SHA256_BYTES 32

struct evd_sha256 {
    uint8_t bytes[EVD_SHA256_BYTES];
};

/** The digest of size_bytes bytes. Aborts when OpenSSL cannot hash: nothing this daemon does is right without. */
struct evd_sha256 evd_sha256_of(const void *bytes, size_t size_bytes);

/** The digest of the parts, each preceded by its length as eight bytes, big-endian: no two lists of parts collide by
 * shifting a border. */
struct evd_sha256 evd_sha256_of_parts(const struct evd_text *parts, size_t count);

/* A digest taken piece by piece. Plain memory, nothing to release: it may lie in an arena and be left at any time. */
struct evd_sha256_running {
    uint64_t state[16];
};

void evd_sha256_begin(struct evd_sha256_running *running);
void evd_sha256_add(struct evd_sha256_running *running, const void *bytes, size_t size_bytes);

/** The digest of all that was added so far; more may follow. */
struct evd_sha256 evd_sha256_so_far(const struct evd_sha256_running *running);

bool evd_sha256_equal(const struct evd_sha256 *a, const struct evd_sha256 *b);

#endif
