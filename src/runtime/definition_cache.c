#include "runtime/definition_cache.h"

#include "evidenced/records/bson.h"

#include <assert.h>
#include <pthread.h>

enum { BUCKETS = 256, DEFINITION_CAP_BYTES = 128 * 1024 * 1024 };

struct evd_definition_cache {
    pthread_mutex_t mutex;
    struct evd_cached_definition *buckets[BUCKETS];
    size_t held_bytes, cap_bytes;
    uint64_t uses;
};

struct evd_definition_cache *evd_definition_cache_new(size_t cap_bytes) {
    struct evd_definition_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL) abort();
    (void)pthread_mutex_init(&cache->mutex, NULL);
    cache->cap_bytes = cap_bytes;
    return cache;
}

static void cached_free(struct evd_cached_definition *cached) {
    evd_arena_done(&cached->arena);
    free(cached);
}

void evd_definition_cache_free(struct evd_definition_cache *cache) {
    if (cache == NULL) return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (cache->buckets[i] != NULL) {
            struct evd_cached_definition *cached = cache->buckets[i];
            assert(cached->references == 0);
            cache->buckets[i] = cached->next;
            cached_free(cached);
        }
    (void)pthread_mutex_destroy(&cache->mutex);
    free(cache);
}

static struct evd_cached_definition *find(struct evd_definition_cache *cache, evd_uuid project, evd_uuid id) {
    struct evd_cached_definition *cached = cache->buckets[id.bytes[0]];
    while (cached != NULL && !(evd_uuid_equal(cached->id, id) && evd_uuid_equal(cached->project, project)))
        cached = cached->next;
    return cached;
}

static struct evd_cached_definition *hold(struct evd_definition_cache *cache, struct evd_cached_definition *cached) {
    if (cached == NULL) return NULL;
    cached->references++;
    cached->used = ++cache->uses;
    return cached;
}

struct evd_cached_definition *evd_definition_cache_ref(struct evd_definition_cache *cache, evd_uuid project,
                                                       evd_uuid id) {
    (void)pthread_mutex_lock(&cache->mutex);
    struct evd_cached_definition *cached = hold(cache, find(cache, project, id));
    (void)pthread_mutex_unlock(&cache->mutex);
    return cached;
}

/* Decodes into the entry's own arena; false when the document is corrupt or the arena is exhausted. */
static bool fill(struct evd_cached_definition *cached, struct evd_image image) {
    jmp_buf escape;
    cached->arena.escape = &escape;
    if (setjmp(escape) != 0) return false;
    const uint8_t *bson = evd_arena_copy(&cached->arena, image.bson, image.size_bytes);
    struct evd_form_version *version = EVD_NEW(&cached->arena, struct evd_form_version);
    enum evd_decoded decoded = evd_bson_decode(&evd_type_form_version, bson, image.size_bytes, &cached->arena, version);
    if (decoded == EVD_DECODED_CORRUPT) return false;
    cached->met_unknown_name = decoded == EVD_DECODED_UNKNOWN_NAME;
    cached->definition = evd_definition_compile(version, &cached->arena);
    cached->arena.escape = NULL;
    return true;
}

/* Drops the one unused longest, until the rest fits or all are in use. */
static void make_room(struct evd_definition_cache *cache) {
    while (cache->held_bytes > cache->cap_bytes) {
        struct evd_cached_definition **oldest = NULL;
        for (size_t i = 0; i < BUCKETS; i++)
            for (struct evd_cached_definition **at = &cache->buckets[i]; *at != NULL; at = &(*at)->next)
                if ((*at)->references == 0 && (oldest == NULL || (*at)->used < (*oldest)->used)) oldest = at;
        if (oldest == NULL) return;
        struct evd_cached_definition *dropped = *oldest;
        *oldest = dropped->next;
        cache->held_bytes -= dropped->arena.held_bytes;
        cached_free(dropped);
    }
}

struct evd_cached_definition *evd_definition_cache_add(struct evd_definition_cache *cache, evd_uuid project,
                                                       evd_uuid id, struct evd_image image) {
    struct evd_cached_definition *made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    made->project = project;
    made->id = id;
    evd_arena_init(&made->arena, DEFINITION_CAP_BYTES);
    if (!fill(made, image)) {
        cached_free(made);
        return NULL;
    }
    (void)pthread_mutex_lock(&cache->mutex);
    struct evd_cached_definition *cached = find(cache, project, id);
    if (cached == NULL) {
        made->next = cache->buckets[id.bytes[0]];
        cache->buckets[id.bytes[0]] = cached = made;
        cache->held_bytes += made->arena.held_bytes;
        made = NULL;
    }
    (void)hold(cache, cached);
    make_room(cache);
    (void)pthread_mutex_unlock(&cache->mutex);
    if (made != NULL) cached_free(made); /* another thread was first */
    return cached;
}

void evd_definition_cache_unref(struct evd_definition_cache *cache, struct evd_cached_definition *held) {
    (void)pthread_mutex_lock(&cache->mutex);
    assert(held->references > 0);
    held->references--;
    (void)pthread_mutex_unlock(&cache->mutex);
}
