/*
 * Published definitions, decoded once. Immutable, so a cached one is as good as a read one; it still reports its
 * stamp. Shared by all threads, counted references, bounded in bytes; what is in use is never dropped.
 */
#ifndef EVIDENCED_SRC_RUNTIME_DEFINITION_CACHE_H
#define EVIDENCED_SRC_RUNTIME_DEFINITION_CACHE_H

#include "evidenced/base/arena.h"
#include "evidenced/domain/definition.h"

struct evd_definition_cache;

struct evd_cached_definition {
    evd_uuid project, id;
    const struct evd_definition *definition;
    bool met_unknown_name;
    struct evd_arena arena; /* of all of it */
    unsigned references;    /* under the cache's mutex */
    uint64_t used;
    struct evd_cached_definition *next;
};

enum { EVD_DEFINITION_CACHE_BYTES = 64 * 1024 * 1024 };

struct evd_definition_cache *evd_definition_cache_new(size_t cap_bytes);
void evd_definition_cache_free(struct evd_definition_cache *cache); /* nothing may be held; NULL is fine */

/** The cached one, held for the caller, or NULL. */
struct evd_cached_definition *evd_definition_cache_ref(struct evd_definition_cache *cache, evd_uuid project,
                                                       evd_uuid id);

/** Decode, compile and keep what was read; held for the caller. NULL: the document is corrupt, or memory ran out. */
struct evd_cached_definition *evd_definition_cache_add(struct evd_definition_cache *cache, evd_uuid project,
                                                       evd_uuid id, struct evd_image image);

void evd_definition_cache_unref(struct evd_definition_cache *cache, struct evd_cached_definition *held);

#endif
