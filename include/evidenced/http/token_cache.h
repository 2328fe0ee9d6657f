/*
 * Tokens that were verified a moment ago, so that the next request of the same person costs a hash and not a
 * signature.
 *
 * A fixed number of entries, made once; finding and putting allocate nothing and hold one of many locks for a few
 * comparisons. An entry is found by the SHA-256 of the whole token, which is all the cache keeps of it, until the
 * token expires or the cache is invalidated. What it remembers is who somebody is; whether they may do something is
 * decided elsewhere, from a membership that is never cached.
 *
 * The order that makes a reload safe: the reloader publishes the new key set and *then* invalidates; a verifier takes
 * the generation and *then* the key set. What was verified with an old set then never outlives the invalidation.
 */
#ifndef EVIDENCED_HTTP_TOKEN_CACHE_H
#define EVIDENCED_HTTP_TOKEN_CACHE_H

#include "evidenced/base/sha256.h"
#include "evidenced/http/token.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_token_cache;

enum { EVD_TOKEN_CACHE_ENTRIES = 4096, EVD_TOKEN_CACHE_MOST_ENTRIES = 1024 * 1024 };

/** entries: how many to hold, rounded up to a power of two of at least 8; 0: EVD_TOKEN_CACHE_ENTRIES. NULL when there
 * is no memory. */
struct evd_token_cache *evd_token_cache_new(size_t entries);
void evd_token_cache_free(struct evd_token_cache *cache); /* NULL is fine; nobody may use it any more */

/** Which key set (and rules) entries belong to. Take it before the key set, and hand it to put. */
uint64_t evd_token_cache_generation(const struct evd_token_cache *cache);

/** Forget everything: the key set or the rules have changed, and the new ones are already published. */
void evd_token_cache_invalidate(struct evd_token_cache *cache);

/** Was the token with this digest verified, and does it still hold at now_ms (wall clock, no leeway)? */
bool evd_token_cache_find(struct evd_token_cache *cache, const struct evd_sha256 *token, int64_t now_ms,
                          struct evd_identity *ret_identity);

/** Remember what a token verified to. Does nothing when `generation` is no longer the current one or the token has
 * expired at now_ms. May push out an entry: an expired one first, else one that was not asked for lately. */
void evd_token_cache_put(struct evd_token_cache *cache, uint64_t generation, const struct evd_sha256 *token,
                         int64_t now_ms, const struct evd_identity *identity);

#endif
