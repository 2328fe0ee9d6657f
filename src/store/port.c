/*
 * The port's own part: arguments are checked, the adapter is called, the observer is told.
 */
#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"
#include "evidenced/store/adapter.h"

#include <assert.h>

static const struct evd_store_result fine = {.status = EVD_STORE_OK};

static void key_check(const struct evd_store *store, const struct evd_key *key) {
    assert(key->in < store->catalogue->collection_count && store->catalogue->collection_names[key->in] != NULL);
}

static void image_check(const struct evd_image *image, bool there) {
    assert(there == (image->size_bytes > 0));
    assert(image->size_bytes <= EVD_LIMIT_DOCUMENT_BYTES && (image->bson != NULL || !there));
}

static void write_check(const struct evd_store *store, const struct evd_write *write) {
    key_check(store, &write->key);
    image_check(&write->after, write->kind != EVD_DELETE);
    if (write->kind == EVD_REPLACE || write->kind == EVD_DELETE) image_check(&write->before, true);
}

static int key_compare(const struct evd_key *a, const struct evd_key *b) {
    if (a->in != b->in) return a->in < b->in ? -1 : 1;
    int order = evd_uuid_compare(a->id, b->id);
    return order != 0 ? order : evd_uuid_compare(a->project, b->project);
}

static int write_order(const void *a, const void *b) {
    const struct evd_write *const *left = a, *const *right = b;
    return key_compare(&(*left)->key, &(*right)->key);
}

static void writes_check(const struct evd_txn *txn, const struct evd_write *writes, size_t count) {
    const struct evd_write **ordered = EVD_NEW_ARRAY(txn->arena, const struct evd_write *, count);
    for (size_t i = 0; i < count; i++) {
        write_check(txn->store, &writes[i]);
        ordered[i] = &writes[i];
    }
    qsort(ordered, count, sizeof(const struct evd_write *), write_order);
    for (size_t i = 1; i < count; i++)
        assert(key_compare(&ordered[i - 1]->key, &ordered[i]->key) != 0);
}

/* Tell of each collection once, in ascending order. */
static void counts_tell(const struct evd_store *store, const char *call, const uint32_t counts[UINT8_MAX + 1]) {
    for (unsigned in = 0; in <= UINT8_MAX; in++)
        if (counts[in] > 0) store->observer(store->observer_self, call, (evd_collection)in, counts[in]);
}

static void get_tell(const struct evd_store *store, const struct evd_key *keys, size_t count) {
    uint32_t counts[UINT8_MAX + 1] = {0};
    if (store->observer == NULL) return;
    for (size_t i = 0; i < count; i++)
        counts[keys[i].in]++;
    counts_tell(store, "get", counts);
}

enum call { CALL_INSERT, CALL_REPLACE, CALL_DELETE, CALL_COUNT };

static enum call call_of(enum evd_write_kind kind) {
    switch (kind) {
    case EVD_INSERT:
    case EVD_INSERT_ONCE: return CALL_INSERT;
    case EVD_REPLACE: return CALL_REPLACE;
    case EVD_DELETE: return CALL_DELETE;
    }
    abort();
}

static void commit_tell(const struct evd_store *store, const struct evd_write *writes, size_t count) {
    static const char *const names[CALL_COUNT] = {"insert", "replace", "delete"};
    uint32_t counts[CALL_COUNT][UINT8_MAX + 1] = {{0}};
    if (store->observer == NULL) return;
    for (size_t i = 0; i < count; i++)
        counts[call_of(writes[i].kind)][writes[i].key.in]++;
    for (int call = 0; call < CALL_COUNT; call++)
        counts_tell(store, names[call], counts[call]);
}

struct evd_store_result evd_txn_open(struct evd_store *store, enum evd_read_kind kind, int64_t deadline_ms,
                                     struct evd_arena *arena, struct evd_txn **ret_txn) {
    struct evd_txn *txn = NULL;
    struct evd_store_result result = store->adapter->txn_open(store, kind, deadline_ms, arena, &txn);
    if (result.status != EVD_STORE_OK) return result;
    *txn = (struct evd_txn){
        .store = store, .phase = EVD_TXN_READING, .arena = arena, .kind = kind, .deadline_ms = deadline_ms};
    *ret_txn = txn;
    return result;
}

struct evd_store_result evd_txn_get(struct evd_txn *txn, const struct evd_key *keys, size_t count,
                                    struct evd_image *ret_images) {
    assert(txn->phase == EVD_TXN_READING && count <= EVD_LIMIT_READ_KEYS);
    if (count == 0) return fine;
    for (size_t i = 0; i < count; i++)
        key_check(txn->store, &keys[i]);
    struct evd_store_result result = txn->store->adapter->txn_get(txn, keys, count, ret_images);
    get_tell(txn->store, keys, count);
    return result;
}

struct evd_store_result evd_txn_scan(struct evd_txn *txn, const struct evd_range *range, struct evd_key *ret_keys,
                                     struct evd_image *ret_images, size_t *ret_count) {
    const struct evd_store *store = txn->store;
    size_t found = 0;
    assert(txn->phase == EVD_TXN_READING && range->limit >= 1);
    assert(range->index != NULL && range->equal_count <= range->index->path_count);
    assert(range->equal_count == 0 || range->equal != NULL);
    struct evd_store_result result = store->adapter->txn_scan(txn, range, ret_keys, ret_images, &found);
    if (result.status == EVD_STORE_OK) *ret_count = found;
    if (store->observer != NULL) store->observer(store->observer_self, "scan", range->index->on, found);
    return result;
}

struct evd_store_result evd_txn_commit(struct evd_txn *txn, const struct evd_write *writes, size_t count) {
    assert(txn->phase == EVD_TXN_READING && txn->kind == EVD_READ_SNAPSHOT && count <= EVD_LIMIT_WRITES);
    writes_check(txn, writes, count);
    struct evd_store_result result = txn->store->adapter->txn_commit(txn, writes, count);
    txn->phase = result.status == EVD_STORE_UNKNOWN ? EVD_TXN_FATE_UNKNOWN : EVD_TXN_ENDED;
    commit_tell(txn->store, writes, count);
    return result;
}

struct evd_store_result evd_txn_commit_again(struct evd_txn *txn, int64_t deadline_ms) {
    assert(txn->phase == EVD_TXN_FATE_UNKNOWN);
    struct evd_store_result result = txn->store->adapter->txn_commit_again(txn, deadline_ms);
    if (result.status != EVD_STORE_UNKNOWN) txn->phase = EVD_TXN_ENDED;
    return result;
}

void evd_txn_close(struct evd_txn *txn) {
    if (txn != NULL) txn->store->adapter->txn_close(txn);
}

struct evd_store_result evd_store_swap(struct evd_store *store, const struct evd_write *write, int64_t deadline_ms) {
    write_check(store, write);
    struct evd_store_result result = store->adapter->swap(store, write, deadline_ms);
    if (store->observer != NULL) store->observer(store->observer_self, "swap", write->key.in, 1);
    return result;
}

struct evd_store_result evd_store_probe(struct evd_store *store, int64_t deadline_ms) {
    return store->adapter->probe(store, deadline_ms);
}

struct evd_store_result evd_store_backup(struct evd_store *store, const char *directory) {
    return store->adapter->backup(store, directory);
}

void evd_store_observe(struct evd_store *store, evd_store_observer *observer, void *self) {
    store->observer = observer;
    store->observer_self = self;
}

void evd_store_figures(struct evd_store *store, struct evd_store_figures *ret_figures) {
    store->adapter->figures(store, ret_figures);
}

void evd_store_close(struct evd_store *store) {
    if (store != NULL) store->adapter->close(store);
}

const char *evd_store_status_name(enum evd_store_status status) {
    switch (status) {
    case EVD_STORE_OK: return "ok";
    case EVD_STORE_CONFLICT: return "conflict";
    case EVD_STORE_DUPLICATE: return "duplicate";
    case EVD_STORE_UNKNOWN: return "unknown";
    case EVD_STORE_UNAVAILABLE: return "unavailable";
    case EVD_STORE_FULL: return "full";
    case EVD_STORE_CORRUPT: return "corrupt";
    }
    abort();
}
