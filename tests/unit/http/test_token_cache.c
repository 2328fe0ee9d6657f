#include "evidenced/http/token_cache.h"

#include "../../support/test.h"

#include <pthread.h>

enum { EXPIRES_MS = 10000, ENTRIES = 64, WAYS = 8 };

static struct evd_sha256 digest_of(uint64_t number) {
    return evd_sha256_of(&number, sizeof number);
}

/* An identity that says which token it belongs to. */
static struct evd_identity identity_of(uint64_t number, uint64_t generation, int64_t expires_ms) {
    struct evd_identity identity = {.may_create_projects = number % 2 == 0, .expires_ms = expires_ms};
    memcpy(identity.investigator.bytes, &number, sizeof number);
    memcpy(identity.investigator.bytes + 8, &generation, sizeof generation);
    return identity;
}

static bool is_identity_of(const struct evd_identity *identity, uint64_t number) {
    return memcmp(identity->investigator.bytes, &number, sizeof number) == 0 &&
           identity->may_create_projects == (number % 2 == 0);
}

static void put(struct evd_token_cache *cache, uint64_t number, int64_t now_ms, int64_t expires_ms) {
    struct evd_sha256 digest = digest_of(number);
    struct evd_identity identity = identity_of(number, 0, expires_ms);
    evd_token_cache_put(cache, evd_token_cache_generation(cache), &digest, now_ms, &identity);
}

static bool finds(struct evd_token_cache *cache, uint64_t number, int64_t now_ms) {
    struct evd_sha256 digest = digest_of(number);
    struct evd_identity identity;
    bool found = evd_token_cache_find(cache, &digest, now_ms, &identity);
    ck_assert(!found || is_identity_of(&identity, number));
    return found;
}

START_TEST(a_token_is_found_until_it_expires_and_not_a_millisecond_longer) {
    struct evd_token_cache *cache = evd_token_cache_new(0);
    ck_assert(!finds(cache, 1, 0));
    put(cache, 1, 0, EXPIRES_MS);
    ck_assert(finds(cache, 1, 0));
    ck_assert(finds(cache, 1, EXPIRES_MS - 1));
    ck_assert(!finds(cache, 1, EXPIRES_MS));
    ck_assert(!finds(cache, 2, 0));
    put(cache, 3, EXPIRES_MS, EXPIRES_MS); /* within the leeway only: not worth a place */
    ck_assert(!finds(cache, 3, 0));
    evd_token_cache_free(cache);
}
END_TEST

START_TEST(a_digest_that_differs_in_its_last_bit_is_another_token) {
    struct evd_token_cache *cache = evd_token_cache_new(0);
    struct evd_sha256 digest = digest_of(1);
    struct evd_identity identity = {0};
    const struct evd_identity untouched = identity;
    put(cache, 1, 0, EXPIRES_MS);
    digest.bytes[EVD_SHA256_BYTES - 1] ^= 1;
    ck_assert(!evd_token_cache_find(cache, &digest, 0, &identity));
    ck_assert_mem_eq(&identity, &untouched, sizeof identity);
    evd_token_cache_free(cache);
}
END_TEST

START_TEST(an_invalidation_forgets_everything_at_once) {
    struct evd_token_cache *cache = evd_token_cache_new(ENTRIES);
    for (uint64_t i = 0; i < 4; i++)
        put(cache, i, 0, EXPIRES_MS);
    evd_token_cache_invalidate(cache);
    for (uint64_t i = 0; i < 4; i++)
        ck_assert(!finds(cache, i, 0));
    put(cache, 1, 0, EXPIRES_MS);
    ck_assert(finds(cache, 1, 0));
    evd_token_cache_free(cache);
}
END_TEST

START_TEST(what_was_verified_before_an_invalidation_is_not_put_after_it) {
    struct evd_token_cache *cache = evd_token_cache_new(ENTRIES);
    struct evd_sha256 digest = digest_of(1);
    struct evd_identity identity = identity_of(1, 0, EXPIRES_MS);
    uint64_t generation = evd_token_cache_generation(cache);
    evd_token_cache_invalidate(cache);
    evd_token_cache_put(cache, generation, &digest, 0, &identity);
    ck_assert(!finds(cache, 1, 0));
    evd_token_cache_free(cache);
}
END_TEST

START_TEST(a_token_put_again_takes_one_place_and_its_newer_expiry) {
    struct evd_token_cache *cache = evd_token_cache_new(WAYS);
    for (uint64_t i = 1; i <= WAYS; i++)
        put(cache, i, 0, EXPIRES_MS);
    for (unsigned i = 1; i <= 3 * WAYS; i++)
        put(cache, 1, 0, EXPIRES_MS + i);
    for (uint64_t i = 1; i <= WAYS; i++)
        ck_assert(finds(cache, i, 0));
    ck_assert(finds(cache, 1, EXPIRES_MS + 3 * WAYS - 1));
    evd_token_cache_free(cache);
}
END_TEST

START_TEST(a_full_set_gives_up_what_expired_first_and_then_what_nobody_asked_for) {
    struct evd_token_cache *cache = evd_token_cache_new(WAYS); /* one set */
    for (uint64_t i = 1; i <= WAYS; i++)
        put(cache, i, 0, i == 5 ? 100 : EXPIRES_MS);
    ck_assert(finds(cache, 5, 0));
    put(cache, 9, 100, EXPIRES_MS); /* token 5 has expired by now */
    for (uint64_t i = 1; i <= 9; i++)
        ck_assert_int_eq(finds(cache, i, 100), i != 5); /* and marks all as asked for */
    put(cache, 10, 100, EXPIRES_MS);                    /* clears the marks, takes the first place: token 1's */
    ck_assert(!finds(cache, 1, 100));
    ck_assert(finds(cache, 2, 100));
    put(cache, 11, 100, EXPIRES_MS); /* token 2 was asked for, token 3 was not */
    ck_assert(finds(cache, 2, 100));
    ck_assert(!finds(cache, 3, 100));
    evd_token_cache_free(cache);
}
END_TEST

START_TEST(more_tokens_than_places_leave_as_many_as_there_are_places) {
    struct evd_token_cache *cache = evd_token_cache_new(ENTRIES);
    unsigned found = 0;
    for (uint64_t i = 0; i < 100 * ENTRIES; i++)
        put(cache, i, 0, EXPIRES_MS);
    for (uint64_t i = 0; i < 100 * ENTRIES; i++)
        found += finds(cache, i, 0);
    ck_assert_uint_eq(found, ENTRIES);
    evd_token_cache_free(cache);
}
END_TEST

START_TEST(freeing_no_cache_is_fine) {
    evd_token_cache_free(NULL);
}
END_TEST

/* The real order of a reload, with a number for the key set: what a verifier finds was never verified with a key set
 * older than the last one whose invalidation had ended before it asked. */
enum { THREADS = 4, ROUNDS = 20000, TOKENS = 200, RELOADS = 500 };

struct shared {
    struct evd_token_cache *cache;
    atomic_ullong key_set, invalidated; /* key_set is published first, then invalidated follows */
    atomic_uint running;
};

struct worker {
    struct shared *shared;
    unsigned index;
    pthread_t thread;
    uint64_t hits, stale, wrong;
};

static void *ask(void *argument) {
    struct worker *worker = argument;
    struct shared *shared = worker->shared;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t number = (i * 7 + worker->index) % TOKENS, least = atomic_load(&shared->invalidated);
        struct evd_sha256 digest = digest_of(number);
        struct evd_identity identity;
        uint64_t generation = evd_token_cache_generation(shared->cache);
        uint64_t key_set = atomic_load(&shared->key_set);
        if (evd_token_cache_find(shared->cache, &digest, 0, &identity)) {
            uint64_t verified_with;
            memcpy(&verified_with, identity.investigator.bytes + 8, sizeof verified_with);
            worker->hits++;
            worker->stale += verified_with < least;
            worker->wrong += !is_identity_of(&identity, number);
            continue;
        }
        identity = identity_of(number, key_set, EXPIRES_MS);
        evd_token_cache_put(shared->cache, generation, &digest, 0, &identity);
    }
    atomic_fetch_sub(&shared->running, 1);
    return NULL;
}

START_TEST(nothing_verified_with_an_old_key_set_outlives_a_reload) {
    struct shared shared = {.cache = evd_token_cache_new(TOKENS / 2)}; /* too small, so that places change hands */
    struct worker workers[THREADS];
    atomic_init(&shared.key_set, 0);
    atomic_init(&shared.invalidated, 0);
    atomic_init(&shared.running, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.shared = &shared, .index = i};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, ask, &workers[i]), 0);
    }
    for (uint64_t key_set = 1; key_set <= RELOADS || atomic_load(&shared.running) > 0; key_set++) {
        atomic_store(&shared.key_set, key_set);
        evd_token_cache_invalidate(shared.cache);
        atomic_store(&shared.invalidated, key_set);
        (void)sched_yield();
    }
    uint64_t hits = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        ck_assert_uint_eq(workers[i].stale, 0);
        ck_assert_uint_eq(workers[i].wrong, 0);
        hits += workers[i].hits;
    }
    ck_assert_uint_gt(hits, 0);
    evd_token_cache_free(shared.cache);
}
END_TEST

EVD_TEST_MAIN("http: verified tokens", a_token_is_found_until_it_expires_and_not_a_millisecond_longer,
              a_digest_that_differs_in_its_last_bit_is_another_token, an_invalidation_forgets_everything_at_once,
              what_was_verified_before_an_invalidation_is_not_put_after_it,
              a_token_put_again_takes_one_place_and_its_newer_expiry,
              a_full_set_gives_up_what_expired_first_and_then_what_nobody_asked_for,
              more_tokens_than_places_leave_as_many_as_there_are_places, freeing_no_cache_is_fine,
              nothing_verified_with_an_old_key_set_outlives_a_reload)
