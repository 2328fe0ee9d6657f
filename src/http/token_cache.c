/*
 * Sets of eight entries. A digest's first bytes choose its set, the set chooses one of the locks. An entry carries the
 * generation it was verified in; to invalidate is to count the generation up, and old entries are overwritten when
 * their place is needed. Within a set the victim is chosen by CLOCK: a hand goes round and spares, once, what was
 * found since it came by.
 *
 * Locks: one stripe's at a time, never while calling out. The generation is atomic and read under the stripe's lock;
 * a put that lost the race against an invalidation leaves an entry of an old generation, which nobody finds.
 */
#include "evidenced/http/token_cache.h"

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

enum { WAYS = 8, STRIPES = 64, CACHE_LINE_BYTES = 64, GENERATION_NONE = 0, GENERATION_FIRST = 1 };

struct entry {
    struct evd_sha256 token;
    struct evd_identity identity;
    uint64_t generation; /* GENERATION_NONE: empty */
    bool spared;         /* found since the hand last came by */
};

struct set {
    struct entry entries[WAYS];
    unsigned hand;
};

struct stripe {
    alignas(CACHE_LINE_BYTES) pthread_mutex_t lock;
};

struct evd_token_cache {
    atomic_ullong generation;
    size_t set_count; /* a power of two */
    struct set *sets;
    struct stripe stripes[STRIPES];
};

static size_t sets_for(size_t entries) {
    size_t sets = 1;
    while (sets * WAYS < entries)
        sets *= 2;
    return sets;
}

struct evd_token_cache *evd_token_cache_new(size_t entries) {
    if (entries == 0) entries = EVD_TOKEN_CACHE_ENTRIES;
    assert(entries <= EVD_TOKEN_CACHE_MOST_ENTRIES);
    size_t set_count = sets_for(entries);
    struct evd_token_cache *cache = aligned_alloc(alignof(struct evd_token_cache), sizeof *cache);
    struct set *sets = calloc(set_count, sizeof *sets);
    if (cache == NULL || sets == NULL) {
        free(cache);
        free(sets);
        return NULL;
    }
    cache->set_count = set_count;
    cache->sets = sets;
    atomic_init(&cache->generation, GENERATION_FIRST);
    for (size_t i = 0; i < STRIPES; i++)
        if (pthread_mutex_init(&cache->stripes[i].lock, NULL) != 0) abort(); /* a plain mutex takes nothing */
    return cache;
}

void evd_token_cache_free(struct evd_token_cache *cache) {
    if (cache == NULL) return;
    for (size_t i = 0; i < STRIPES; i++)
        (void)pthread_mutex_destroy(&cache->stripes[i].lock);
    free(cache->sets);
    free(cache);
}

uint64_t evd_token_cache_generation(const struct evd_token_cache *cache) {
    return atomic_load(&cache->generation);
}

void evd_token_cache_invalidate(struct evd_token_cache *cache) {
    (void)atomic_fetch_add(&cache->generation, 1);
}

/* Locks the set's stripe; unlock with set_close. */
static struct set *set_open(struct evd_token_cache *cache, const struct evd_sha256 *token, pthread_mutex_t **ret_lock) {
    uint32_t place;
    memcpy(&place, token->bytes, sizeof place);
    size_t at = place & (cache->set_count - 1);
    *ret_lock = &cache->stripes[at % STRIPES].lock;
    if (pthread_mutex_lock(*ret_lock) != 0) abort();
    return &cache->sets[at];
}

static void set_close(pthread_mutex_t *lock) {
    if (pthread_mutex_unlock(lock) != 0) abort();
}

static bool is_live(const struct entry *entry, uint64_t generation, int64_t now_ms) {
    return entry->generation == generation && now_ms < entry->identity.expires_ms;
}

static struct entry *entry_of(struct set *set, const struct evd_sha256 *token) {
    for (size_t i = 0; i < WAYS; i++)
        if (set->entries[i].generation != GENERATION_NONE && evd_sha256_equal(&set->entries[i].token, token))
            return &set->entries[i];
    return NULL;
}

bool evd_token_cache_find(struct evd_token_cache *cache, const struct evd_sha256 *token, int64_t now_ms,
                          struct evd_identity *ret_identity) {
    pthread_mutex_t *lock;
    struct set *set = set_open(cache, token, &lock);
    struct entry *entry = entry_of(set, token);
    bool found = entry != NULL && is_live(entry, evd_token_cache_generation(cache), now_ms);
    if (found) {
        entry->spared = true;
        *ret_identity = entry->identity;
    }
    set_close(lock);
    return found;
}

static struct entry *victim_of(struct set *set, uint64_t generation, int64_t now_ms) {
    for (size_t i = 0; i < WAYS; i++)
        if (!is_live(&set->entries[i], generation, now_ms)) return &set->entries[i];
    for (;;) { /* one round clears every mark, so the second ends it */
        struct entry *entry = &set->entries[set->hand];
        set->hand = (set->hand + 1) % WAYS;
        if (!entry->spared) return entry;
        entry->spared = false;
    }
}

void evd_token_cache_put(struct evd_token_cache *cache, uint64_t generation, const struct evd_sha256 *token,
                         int64_t now_ms, const struct evd_identity *identity) {
    pthread_mutex_t *lock;
    assert(generation != GENERATION_NONE);
    if (generation != evd_token_cache_generation(cache) || now_ms >= identity->expires_ms) return;
    struct set *set = set_open(cache, token, &lock);
    struct entry *entry = entry_of(set, token);
    if (entry == NULL) entry = victim_of(set, generation, now_ms);
    *entry = (struct entry){.token = *token, .identity = *identity, .generation = generation};
    set_close(lock);
}
