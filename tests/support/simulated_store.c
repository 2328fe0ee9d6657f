#include "simulated_store.h"

#include "evidenced/base/arena.h"
#include "evidenced/store/adapter.h"
#include "store/embedded/internal.h"

#include <assert.h>
#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 1024 };

/* One state of a document, from an instant on. */
struct version {
    struct version *before;
    uint64_t since;         /* the commit that made it */
    struct evd_image image; /* size 0: deleted */
    struct evd_entries entries;
};

struct record {
    struct evd_key key;
    struct version *newest;
    struct record *next_in_bucket, *next_in_collection;
};

struct collection {
    struct record *first, *last; /* in the order they were first written */
};

/* A commit that is on its way, with what it needs to be judged when it arrives. */
struct delayed {
    struct delayed *next;
    uint64_t snapshot;
    struct evd_write *writes;
    size_t count;
    int64_t largest_read;
    void *tag;
    bool arrived, landed, left; /* left: its transaction is closed */
    unsigned references;
};

struct simulated_store {
    struct evd_store store;
    struct record **buckets;
    size_t bucket_count, record_count;
    struct collection collections[UINT8_MAX + 1];
    uint64_t now;
    simulated_decider *decider;
    void *decider_self;
    simulated_witness *witness;
    simulated_tagger *tagger;
    void *witness_self;
    struct delayed *delayed;
    size_t open_transactions;
};

struct simulated_txn {
    struct evd_txn txn;
    uint64_t snapshot;
    int64_t largest_read;
    struct delayed *pending; /* UNKNOWN: the commit; NULL: its fate is in `landed` */
    bool landed;
};

static const struct evd_store_result fine = {.status = EVD_STORE_OK};

static struct simulated_store *of(struct evd_store *store) {
    return (struct simulated_store *)store;
}

static void *take(size_t count, size_t size_bytes) {
    void *memory = calloc(count == 0 ? 1 : count, size_bytes);
    if (memory == NULL) abort();
    return memory;
}

static enum simulated_fate decide(struct simulated_store *store, enum simulated_call call) {
    return store->decider == NULL ? SIMULATED_AS_IT_IS : store->decider(store->decider_self, call);
}

static struct evd_store_result status(enum evd_store_status said) {
    return (struct evd_store_result){.status = said};
}

/* Records. */

static bool same_key(const struct evd_key *a, const struct evd_key *b) {
    return a->in == b->in && evd_uuid_equal(a->id, b->id) && evd_uuid_equal(a->project, b->project);
}

static size_t bucket_of(const struct simulated_store *store, const struct evd_key *key) {
    uint64_t id, project;
    memcpy(&id, key->id.bytes + 8, sizeof id);
    memcpy(&project, key->project.bytes + 8, sizeof project);
    return (size_t)((id ^ project * UINT64_C(0x9E3779B97F4A7C15) ^ key->in * UINT64_C(0xC2B2AE3D27D4EB4F)) %
                    store->bucket_count);
}

static struct record *find(const struct simulated_store *store, const struct evd_key *key) {
    struct record *record = store->buckets[bucket_of(store, key)];
    while (record != NULL && !same_key(&record->key, key))
        record = record->next_in_bucket;
    return record;
}

static const struct version *version_at(const struct record *record, uint64_t instant) {
    const struct version *version = record == NULL ? NULL : record->newest;
    while (version != NULL && version->since > instant)
        version = version->before;
    return version;
}

static const struct version *there_at(const struct record *record, uint64_t instant) {
    const struct version *version = version_at(record, instant);
    return version == NULL || version->image.size_bytes == 0 ? NULL : version;
}

static void rehash(struct simulated_store *store) {
    struct record **before = store->buckets;
    size_t count = store->bucket_count;
    store->bucket_count *= 2;
    store->buckets = take(store->bucket_count, sizeof(struct record *));
    for (size_t i = 0; i < count; i++)
        for (struct record *record = before[i], *next; record != NULL; record = next) {
            struct record **bucket = &store->buckets[bucket_of(store, &record->key)];
            next = record->next_in_bucket;
            record->next_in_bucket = *bucket;
            *bucket = record;
        }
    free(before);
}

static struct record *find_or_make(struct simulated_store *store, const struct evd_key *key) {
    struct record *record = find(store, key);
    if (record != NULL) return record;
    if (++store->record_count > store->bucket_count) rehash(store);
    struct record **bucket = &store->buckets[bucket_of(store, key)];
    struct collection *collection = &store->collections[key->in];
    record = take(1, sizeof *record);
    record->key = *key;
    record->next_in_bucket = *bucket;
    *bucket = record;
    if (collection->first == NULL)
        collection->first = record;
    else
        collection->last->next_in_collection = record;
    collection->last = record;
    return record;
}

static void put(struct simulated_store *store, const struct evd_key *key, const struct evd_image *image) {
    struct record *record = find_or_make(store, key);
    struct version *version = take(1, sizeof *version);
    version->since = store->now;
    version->before = record->newest;
    version->image.size_bytes = image->size_bytes;
    version->image.version = image->version;
    if (image->size_bytes > 0) {
        uint8_t *bytes = take(1, image->size_bytes);
        memcpy(bytes, image->bson, image->size_bytes);
        version->image.bson = bytes;
    }
    if (evd_entries_collect(&version->entries, store->store.catalogue, key, &version->image) != EVD_ENTRIES_OK) abort();
    record->newest = version;
}

/* Reading. */

static int64_t stamp_of(const struct evd_image *image) {
    bson_t document;
    bson_iter_t iter;
    if (!bson_init_static(&document, image->bson, image->size_bytes)) return 0;
    return bson_iter_init_find(&iter, &document, "stamp") && BSON_ITER_HOLDS_INT64(&iter) ? bson_iter_int64(&iter) : 0;
}

static void note_read(struct simulated_txn *txn, const struct evd_image *image) {
    int64_t stamp = stamp_of(image);
    if (stamp > txn->largest_read) txn->largest_read = stamp;
}

static void image_copy(struct simulated_txn *txn, const struct version *version, struct evd_image *ret_image) {
    *ret_image = (struct evd_image){.bson = NULL};
    if (version == NULL) return;
    note_read(txn, &version->image);
    *ret_image = version->image;
    ret_image->bson = evd_arena_copy(txn->txn.arena, version->image.bson, version->image.size_bytes);
}

static uint64_t instant_of(const struct simulated_txn *txn) {
    return txn->txn.kind == EVD_READ_LATEST ? UINT64_MAX : txn->snapshot;
}

static struct evd_store_result on_open(struct evd_store *base, enum evd_read_kind kind, int64_t deadline_ms,
                                       struct evd_arena *arena, struct evd_txn **ret_txn) {
    struct simulated_store *store = of(base);
    (void)kind;
    (void)deadline_ms;
    if (decide(store, SIMULATED_OPEN) != SIMULATED_AS_IT_IS) return status(EVD_STORE_UNAVAILABLE);
    struct simulated_txn *txn = EVD_NEW(arena, struct simulated_txn);
    txn->snapshot = store->now;
    store->open_transactions++;
    *ret_txn = &txn->txn;
    return fine;
}

static struct evd_store_result on_get(struct evd_txn *base, const struct evd_key *keys, size_t count,
                                      struct evd_image *ret_images) {
    struct simulated_txn *txn = (struct simulated_txn *)base;
    struct simulated_store *store = of(base->store);
    if (decide(store, SIMULATED_GET) != SIMULATED_AS_IT_IS) return status(EVD_STORE_UNAVAILABLE);
    for (size_t i = 0; i < count; i++)
        image_copy(txn, there_at(find(store, &keys[i]), instant_of(txn)), &ret_images[i]);
    return fine;
}

/* What a scan finds: entries under its prefix, sorted. */
struct found {
    const struct record *record;
    const struct version *version;
    const uint8_t *entry;
    uint32_t size_bytes;
};

static int found_order(const void *a, const void *b) {
    const struct found *left = a, *right = b;
    uint32_t shorter = left->size_bytes < right->size_bytes ? left->size_bytes : right->size_bytes;
    int order = memcmp(left->entry, right->entry, shorter);
    return order != 0 ? order : (left->size_bytes > right->size_bytes) - (left->size_bytes < right->size_bytes);
}

static size_t prefix_of(const struct evd_range *range, uint8_t bytes[EVD_INDEX_KEY_BYTES]) {
    size_t used = evd_index_head_encode(range->index->number, range->project, bytes);
    for (size_t i = 0; i < range->equal_count; i++)
        used += evd_index_value_encode(&range->equal[i], bytes + used);
    return used;
}

static struct found start_of(const struct evd_range *range, uint8_t bytes[EVD_INDEX_KEY_BYTES]) {
    size_t used = prefix_of(range, bytes);
    for (size_t i = 0; i < range->index->path_count - range->equal_count; i++)
        used += evd_index_value_encode(&range->after[i], bytes + used);
    memcpy(bytes + used, range->after_id.bytes, 16);
    return (struct found){.entry = bytes, .size_bytes = (uint32_t)used + 16};
}

static bool is_behind(const struct found *found, const struct evd_range *range, const struct found *start) {
    if (range->after == NULL) return true;
    int order = found_order(found, start);
    return range->descending ? order < 0 : order > 0;
}

static size_t collect(const struct simulated_txn *txn, const struct evd_range *range, struct found **ret_found) {
    const struct simulated_store *store = of(txn->txn.store);
    uint8_t prefix[EVD_INDEX_KEY_BYTES], after[EVD_INDEX_KEY_BYTES];
    size_t prefix_bytes = prefix_of(range, prefix), count = 0, capacity = 16;
    struct found *list = take(capacity, sizeof *list), start = {0};
    if (range->after != NULL) start = start_of(range, after);
    for (const struct record *record = store->collections[range->index->on].first; record != NULL;
         record = record->next_in_collection) {
        const struct version *version = there_at(record, instant_of(txn));
        for (size_t i = 0; version != NULL && i < version->entries.count; i++) {
            const struct evd_entry *entry = &version->entries.entries[i];
            struct found found = {record, version, version->entries.bytes + entry->offset, entry->size_bytes};
            if (found.size_bytes < prefix_bytes + 16 || memcmp(found.entry, prefix, prefix_bytes) != 0) continue;
            if (!is_behind(&found, range, &start)) continue;
            if (count == capacity) {
                list = realloc(list, (capacity *= 2) * sizeof *list);
                if (list == NULL) abort();
            }
            list[count++] = found;
        }
    }
    qsort(list, count, sizeof *list, found_order);
    *ret_found = list;
    return count;
}

static struct evd_store_result on_scan(struct evd_txn *base, const struct evd_range *range, struct evd_key *ret_keys,
                                       struct evd_image *ret_images, size_t *ret_count) {
    struct simulated_txn *txn = (struct simulated_txn *)base;
    struct found *list;
    if (decide(of(base->store), SIMULATED_SCAN) != SIMULATED_AS_IT_IS) return status(EVD_STORE_UNAVAILABLE);
    size_t count = collect(txn, range, &list), wanted = count < range->limit ? count : range->limit;
    for (size_t i = 0; i < wanted; i++) {
        const struct found *found = &list[range->descending ? count - 1 - i : i];
        ret_keys[i] = found->record->key;
        ret_images[i] = found->version->image; /* copied below: the arena may be left by a jump */
    }
    free(list);
    for (size_t i = 0; i < wanted; i++) {
        note_read(txn, &ret_images[i]);
        ret_images[i].bson = evd_arena_copy(base->arena, ret_images[i].bson, ret_images[i].size_bytes);
    }
    *ret_count = wanted;
    return fine;
}

/* Committing. */

static struct evd_store_result key_status(enum evd_store_status said, const struct evd_key *key) {
    return (struct evd_store_result){.status = said, .key = *key};
}

static struct evd_store_result judge_write(const struct simulated_store *store, const struct evd_write *write,
                                           uint64_t snapshot) {
    const struct record *record = find(store, &write->key);
    const struct version *then = there_at(record, snapshot), *now = there_at(record, UINT64_MAX);
    bool moved = version_at(record, snapshot) != version_at(record, UINT64_MAX);
    switch (write->kind) {
    case EVD_INSERT:
        if (then != NULL) return key_status(EVD_STORE_DUPLICATE, &write->key);
        return moved ? key_status(EVD_STORE_CONFLICT, &write->key) : fine;
    case EVD_INSERT_ONCE: return then == NULL && moved ? key_status(EVD_STORE_CONFLICT, &write->key) : fine;
    case EVD_REPLACE:
    case EVD_DELETE:
        if (moved || now == NULL || now->image.version != write->before.version)
            return key_status(EVD_STORE_CONFLICT, &write->key);
        return fine;
    }
    abort();
}

static struct evd_store_result judge(const struct simulated_store *store, const struct evd_write *writes, size_t count,
                                     uint64_t snapshot) {
    struct evd_store_result duplicate = fine;
    for (size_t i = 0; i < count; i++) {
        struct evd_store_result result = judge_write(store, &writes[i], snapshot);
        if (result.status == EVD_STORE_CONFLICT) return result;
        if (result.status == EVD_STORE_DUPLICATE && duplicate.status == EVD_STORE_OK) duplicate = result;
    }
    return duplicate;
}

static void apply(struct simulated_store *store, const struct simulated_commit *commit) {
    static const struct evd_image none;
    store->now++;
    for (size_t i = 0; i < commit->count; i++) {
        const struct evd_write *write = &commit->writes[i];
        if (write->kind == EVD_INSERT_ONCE && there_at(find(store, &write->key), UINT64_MAX) != NULL) continue;
        put(store, &write->key, write->kind == EVD_DELETE ? &none : &write->after);
    }
    if (store->witness != NULL) store->witness(store->witness_self, commit);
}

static struct evd_store_result land(struct simulated_store *store, const struct simulated_commit *commit,
                                    uint64_t snapshot) {
    struct evd_store_result result = judge(store, commit->writes, commit->count, snapshot);
    if (result.status == EVD_STORE_OK) apply(store, commit);
    return result;
}

static struct evd_image kept(const struct evd_image *image) {
    struct evd_image copy = *image;
    if (image->size_bytes == 0) return copy;
    uint8_t *bytes = take(1, image->size_bytes);
    memcpy(bytes, image->bson, image->size_bytes);
    copy.bson = bytes;
    return copy;
}

static struct delayed *delay(struct simulated_store *store, const struct simulated_commit *commit, uint64_t snapshot) {
    struct delayed *delayed = take(1, sizeof *delayed), **at = &store->delayed;
    *delayed = (struct delayed){.snapshot = snapshot,
                                .count = commit->count,
                                .largest_read = commit->largest_read,
                                .tag = commit->tag,
                                .references = 2};
    delayed->writes = take(commit->count, sizeof *delayed->writes);
    for (size_t i = 0; i < commit->count; i++) {
        delayed->writes[i] = commit->writes[i];
        delayed->writes[i].before = kept(&commit->writes[i].before);
        delayed->writes[i].after = kept(&commit->writes[i].after);
    }
    while (*at != NULL)
        at = &(*at)->next;
    *at = delayed;
    return delayed;
}

static void delayed_unref(struct delayed *delayed) {
    if (delayed == NULL || --delayed->references > 0) return;
    for (size_t i = 0; i < delayed->count; i++) {
        if (delayed->writes[i].before.size_bytes > 0) free((uint8_t *)(uintptr_t)delayed->writes[i].before.bson);
        if (delayed->writes[i].after.size_bytes > 0) free((uint8_t *)(uintptr_t)delayed->writes[i].after.bson);
    }
    free(delayed->writes);
    free(delayed);
}

static struct evd_store_result on_commit(struct evd_txn *base, const struct evd_write *writes, size_t count) {
    struct simulated_txn *txn = (struct simulated_txn *)base;
    struct simulated_store *store = of(base->store);
    if (count == 0) return fine;
    struct simulated_commit commit = {
        .writes = writes, .count = count, .largest_read = txn->largest_read, .snapshot = txn->snapshot};
    if (store->tagger != NULL) commit.tag = store->tagger(store->witness_self, base->arena);
    switch (decide(store, SIMULATED_COMMIT)) {
    case SIMULATED_AS_IT_IS: return land(store, &commit, txn->snapshot);
    case SIMULATED_UNAVAILABLE: return status(EVD_STORE_UNAVAILABLE);
    case SIMULATED_FULL: return status(EVD_STORE_FULL);
    case SIMULATED_CONFLICT: return status(EVD_STORE_CONFLICT);
    case SIMULATED_ANSWER_LOST:
        txn->landed = land(store, &commit, txn->snapshot).status == EVD_STORE_OK;
        return status(EVD_STORE_UNKNOWN);
    case SIMULATED_DELAYED: txn->pending = delay(store, &commit, txn->snapshot); return status(EVD_STORE_UNKNOWN);
    case SIMULATED_REQUEST_LOST:
    case SIMULATED_STAYS_UNKNOWN: return status(EVD_STORE_UNKNOWN);
    }
    abort();
}

/* The same commit once more: one that is on its way is overtaken by this and lands, or fails, now. */
static struct evd_store_result on_commit_again(struct evd_txn *base, int64_t deadline_ms) {
    struct simulated_txn *txn = (struct simulated_txn *)base;
    struct simulated_store *store = of(base->store);
    (void)deadline_ms;
    if (decide(store, SIMULATED_COMMIT_AGAIN) == SIMULATED_STAYS_UNKNOWN) return status(EVD_STORE_UNKNOWN);
    if (txn->pending != NULL && !txn->pending->arrived) (void)simulated_store_deliver(&store->store);
    bool landed = txn->pending != NULL ? txn->pending->landed : txn->landed;
    return status(landed ? EVD_STORE_OK : EVD_STORE_CONFLICT);
}

static void on_close(struct evd_txn *base) {
    struct simulated_txn *txn = (struct simulated_txn *)base;
    of(base->store)->open_transactions--;
    if (txn->pending != NULL) txn->pending->left = true;
    delayed_unref(txn->pending);
}

static struct evd_store_result on_swap(struct evd_store *base, const struct evd_write *write, int64_t deadline_ms) {
    struct simulated_store *store = of(base);
    struct simulated_commit commit = {.writes = write, .count = 1, .snapshot = store->now};
    (void)deadline_ms;
    switch (decide(store, SIMULATED_COMMIT)) {
    case SIMULATED_AS_IT_IS: return land(store, &commit, store->now);
    case SIMULATED_UNAVAILABLE: return status(EVD_STORE_UNAVAILABLE);
    case SIMULATED_FULL: return status(EVD_STORE_FULL);
    case SIMULATED_CONFLICT: return status(EVD_STORE_CONFLICT);
    case SIMULATED_ANSWER_LOST: (void)land(store, &commit, store->now); return status(EVD_STORE_UNKNOWN);
    case SIMULATED_DELAYED: delayed_unref(delay(store, &commit, store->now)); return status(EVD_STORE_UNKNOWN);
    case SIMULATED_REQUEST_LOST:
    case SIMULATED_STAYS_UNKNOWN: return status(EVD_STORE_UNKNOWN);
    }
    abort();
}

static struct evd_store_result on_probe(struct evd_store *base, int64_t deadline_ms) {
    (void)deadline_ms;
    return decide(of(base), SIMULATED_OPEN) == SIMULATED_AS_IT_IS ? fine : status(EVD_STORE_UNAVAILABLE);
}

static struct evd_store_result on_backup(struct evd_store *base, const char *directory) {
    (void)base;
    (void)directory;
    return status(EVD_STORE_UNAVAILABLE);
}

static void on_figures(struct evd_store *base, struct evd_store_figures *ret_figures) {
    *ret_figures = (struct evd_store_figures){.commits = of(base)->now, .open = true};
}

static void version_free(struct version *version) {
    while (version != NULL) {
        struct version *before = version->before;
        evd_entries_done(&version->entries);
        free((uint8_t *)(uintptr_t)version->image.bson);
        free(version);
        version = before;
    }
}

static void on_store_close(struct evd_store *base) {
    struct simulated_store *store = of(base);
    assert(store->open_transactions == 0);
    while (store->delayed != NULL) {
        struct delayed *next = store->delayed->next;
        delayed_unref(store->delayed);
        store->delayed = next;
    }
    for (size_t i = 0; i < store->bucket_count; i++)
        for (struct record *record = store->buckets[i], *next; record != NULL; record = next) {
            next = record->next_in_bucket;
            version_free(record->newest);
            free(record);
        }
    free(store->buckets);
    free(store);
}

struct evd_store *simulated_store_new(const struct evd_catalogue *catalogue) {
    static const struct evd_store_adapter adapter = {.txn_open = on_open,
                                                     .txn_get = on_get,
                                                     .txn_scan = on_scan,
                                                     .txn_commit = on_commit,
                                                     .txn_commit_again = on_commit_again,
                                                     .txn_close = on_close,
                                                     .swap = on_swap,
                                                     .probe = on_probe,
                                                     .backup = on_backup,
                                                     .figures = on_figures,
                                                     .close = on_store_close};
    struct simulated_store *store = take(1, sizeof *store);
    store->store = (struct evd_store){.adapter = &adapter, .catalogue = catalogue};
    store->bucket_count = FIRST_BUCKETS;
    store->buckets = take(FIRST_BUCKETS, sizeof(struct record *));
    return &store->store;
}

void simulated_store_decide(struct evd_store *store, simulated_decider *decider, void *self) {
    of(store)->decider = decider;
    of(store)->decider_self = self;
}

void simulated_store_watch(struct evd_store *store, simulated_witness *witness, simulated_tagger *tag, void *self) {
    of(store)->witness = witness;
    of(store)->tagger = tag;
    of(store)->witness_self = self;
}

size_t simulated_store_deliver(struct evd_store *base) {
    struct simulated_store *store = of(base);
    size_t landed = 0;
    while (store->delayed != NULL) {
        struct delayed *delayed = store->delayed;
        store->delayed = delayed->next;
        delayed->arrived = true;
        struct simulated_commit commit = {.writes = delayed->writes,
                                          .count = delayed->count,
                                          .largest_read = delayed->largest_read,
                                          .snapshot = delayed->snapshot,
                                          .late = delayed->left,
                                          .tag = delayed->tag};
        delayed->landed = land(store, &commit, delayed->snapshot).status == EVD_STORE_OK;
        landed += delayed->landed;
        delayed_unref(delayed);
    }
    return landed;
}

size_t simulated_store_delayed(const struct evd_store *base) {
    size_t count = 0;
    for (const struct delayed *at = ((const struct simulated_store *)base)->delayed; at != NULL; at = at->next)
        count++;
    return count;
}

uint64_t simulated_store_now(const struct evd_store *store) {
    return ((const struct simulated_store *)store)->now;
}

void simulated_store_visit(struct evd_store *base, uint64_t instant, evd_collection in, simulated_visitor *visitor,
                           void *self) {
    const struct simulated_store *store = of(base);
    for (size_t at = 0; at <= UINT8_MAX; at++)
        for (const struct record *record = store->collections[at].first; record != NULL && (in == 0 || in == at);
             record = record->next_in_collection) {
            const struct version *version = there_at(record, instant);
            if (version != NULL) visitor(self, &record->key, &version->image);
        }
}

bool simulated_store_read(struct evd_store *base, uint64_t instant, const struct evd_key *key,
                          struct evd_image *ret_image) {
    const struct version *version = there_at(find(of(base), key), instant);
    if (version != NULL) *ret_image = version->image;
    return version != NULL;
}
