#include "evidenced/http/limiter.h"

#include <assert.h>
#include <pthread.h>

enum { SHARD_ENTRIES = 64 };

static const int64_t second_us = 1000000;

struct evd_limited {
    evd_uuid who;
    bool used;
    uint32_t in_flight;
    int64_t last_us;   /* when the bucket was looked at */
    int64_t tokens_us; /* what is in the bucket, in calls × 10⁶ */
    size_t shard;
};

struct shard {
    pthread_mutex_t mutex;
    struct evd_limited entries[SHARD_ENTRIES];
};

struct evd_limiter {
    size_t shard_count;
    struct shard *shards;
};

struct evd_limiter *evd_limiter_new(size_t entries) {
    if (entries == 0) entries = EVD_LIMITER_ENTRIES;
    struct evd_limiter *limiter = calloc(1, sizeof *limiter);
    if (limiter == NULL) return NULL;
    limiter->shard_count = (entries + SHARD_ENTRIES - 1) / SHARD_ENTRIES;
    limiter->shards = calloc(limiter->shard_count, sizeof *limiter->shards);
    if (limiter->shards == NULL) {
        free(limiter);
        return NULL;
    }
    for (size_t i = 0; i < limiter->shard_count; i++) {
        (void)pthread_mutex_init(&limiter->shards[i].mutex, NULL);
        for (size_t j = 0; j < SHARD_ENTRIES; j++)
            limiter->shards[i].entries[j].shard = i;
    }
    return limiter;
}

void evd_limiter_free(struct evd_limiter *limiter) {
    if (limiter == NULL) return;
    for (size_t i = 0; i < limiter->shard_count; i++)
        (void)pthread_mutex_destroy(&limiter->shards[i].mutex);
    free(limiter->shards);
    free(limiter);
}

/* Ids come from tokens somebody else issues, so all of their bytes count. */
static struct shard *shard_of(struct evd_limiter *limiter, evd_uuid who) {
    uint64_t mixed = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < sizeof who.bytes; i++)
        mixed = (mixed ^ who.bytes[i]) * UINT64_C(0x100000001B3);
    return &limiter->shards[(mixed ^ (mixed >> 32)) % limiter->shard_count];
}

static struct evd_limited *find(struct shard *shard, evd_uuid who) {
    for (size_t i = 0; i < SHARD_ENTRIES; i++)
        if (shard->entries[i].used && evd_uuid_equal(shard->entries[i].who, who)) return &shard->entries[i];
    return NULL;
}

/* A free place, or that of who was idle longest; NULL when all are in flight. */
static struct evd_limited *place_for(struct shard *shard) {
    struct evd_limited *oldest = NULL;
    for (size_t i = 0; i < SHARD_ENTRIES; i++) {
        struct evd_limited *entry = &shard->entries[i];
        if (!entry->used) return entry;
        if (entry->in_flight == 0 && (oldest == NULL || entry->last_us < oldest->last_us)) oldest = entry;
    }
    return oldest;
}

static struct evd_limited *find_or_place(struct shard *shard, const struct evd_limits *limits, evd_uuid who,
                                         int64_t now_us) {
    struct evd_limited *entry = find(shard, who);
    if (entry != NULL) return entry;
    entry = place_for(shard);
    if (entry == NULL) return NULL;
    entry->who = who;
    entry->used = true;
    entry->last_us = now_us;
    entry->tokens_us = (int64_t)limits->burst * second_us;
    return entry;
}

static void refill(struct evd_limited *entry, const struct evd_limits *limits, int64_t now_us) {
    int64_t most_us = (int64_t)limits->burst * second_us, passed_us = now_us - entry->last_us;
    int64_t missing_us = most_us - entry->tokens_us;
    bool full = missing_us <= 0 || passed_us >= missing_us / limits->rate + 1; /* no product that could overflow */
    if (full)
        entry->tokens_us = most_us;
    else if (passed_us > 0)
        entry->tokens_us += passed_us * limits->rate;
    if (passed_us > 0) entry->last_us = now_us;
}

static bool take(struct evd_limited *entry, const struct evd_limits *limits, int64_t now_us) {
    refill(entry, limits, now_us);
    if (entry->tokens_us < second_us) return false;
    entry->tokens_us -= second_us;
    return true;
}

enum evd_admission evd_limiter_enter(struct evd_limiter *limiter, const struct evd_limits *limits, evd_uuid who,
                                     int64_t now_us, struct evd_limited **ret_held) {
    struct shard *shard = shard_of(limiter, who);
    enum evd_admission admission = EVD_ADMITTED;
    (void)pthread_mutex_lock(&shard->mutex);
    struct evd_limited *entry = find_or_place(shard, limits, who, now_us);
    if (entry == NULL || (limits->in_flight > 0 && entry->in_flight >= limits->in_flight))
        admission = EVD_TOO_MANY_IN_FLIGHT;
    else if (!take(entry, limits, now_us))
        admission = EVD_TOO_FAST;
    else {
        entry->in_flight++;
        *ret_held = entry;
    }
    (void)pthread_mutex_unlock(&shard->mutex);
    return admission;
}

void evd_limiter_leave(struct evd_limiter *limiter, struct evd_limited *held) {
    if (held == NULL) return;
    struct shard *shard = &limiter->shards[held->shard];
    (void)pthread_mutex_lock(&shard->mutex);
    assert(held->in_flight > 0);
    held->in_flight--;
    (void)pthread_mutex_unlock(&shard->mutex);
}

bool evd_limiter_has(struct evd_limiter *limiter, const struct evd_limits *limits, evd_uuid who, int64_t now_us) {
    struct shard *shard = shard_of(limiter, who);
    (void)pthread_mutex_lock(&shard->mutex);
    struct evd_limited *entry = find(shard, who);
    if (entry != NULL) refill(entry, limits, now_us);
    bool has = entry == NULL || entry->tokens_us >= second_us;
    (void)pthread_mutex_unlock(&shard->mutex);
    return has;
}

bool evd_limiter_spend(struct evd_limiter *limiter, const struct evd_limits *limits, evd_uuid who, int64_t now_us) {
    struct shard *shard = shard_of(limiter, who);
    (void)pthread_mutex_lock(&shard->mutex);
    struct evd_limited *entry = find_or_place(shard, limits, who, now_us);
    bool spent = entry != NULL && take(entry, limits, now_us);
    (void)pthread_mutex_unlock(&shard->mutex);
    return spent;
}
