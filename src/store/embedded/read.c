/*
 * Reads. Values are copied once, from RocksDB's memory into the call's arena; until then they are parked in the
 * session, because the arena may jump away from here.
 */
#include "internal.h"

#include "evidenced/base/arena.h"

static struct evd_store_result image_copy(struct evd_txn *txn, rocksdb_pinnableslice_t *value,
                                          const struct evd_key *key, struct evd_image *ret_image) {
    size_t size_bytes = 0;
    *ret_image = (struct evd_image){0};
    if (value == NULL) return evd_store_status_result(EVD_STORE_OK);
    const char *bytes = rocksdb_pinnableslice_value(value, &size_bytes);
    const uint8_t *copy = evd_arena_copy(txn->arena, bytes, size_bytes);
    if (!evd_document_image(copy, size_bytes, ret_image)) return evd_store_key_result(EVD_STORE_CORRUPT, key);
    return evd_store_status_result(EVD_STORE_OK);
}

static struct evd_store_result images_read(struct evd_embedded_txn *txn, const struct evd_key *keys, size_t count,
                                           struct evd_image *ret_images) {
    struct evd_session *session = &txn->session;
    for (size_t done = 0; done < count; done += EVD_SESSION_BATCH) {
        size_t batch = count - done < EVD_SESSION_BATCH ? count - done : EVD_SESSION_BATCH;
        struct evd_store_result result = evd_session_pin(session, keys + done, sizeof *keys, batch);
        for (size_t i = 0; i < batch && result.status == EVD_STORE_OK; i++)
            result = image_copy(&txn->base, session->pinned[i], &keys[done + i], &ret_images[done + i]);
        evd_session_unpin(session);
        if (result.status != EVD_STORE_OK) return result;
    }
    return evd_store_status_result(EVD_STORE_OK);
}

static bool may_read(const struct evd_embedded_txn *txn) {
    return txn->session.store != NULL && !evd_gate_is_poisoned(&txn->session.store->gate);
}

struct evd_store_result evd_embedded_get(struct evd_txn *base, const struct evd_key *keys, size_t count,
                                         struct evd_image *ret_images) {
    struct evd_embedded_txn *txn = (struct evd_embedded_txn *)base;
    if (!may_read(txn)) return evd_store_status_result(EVD_STORE_UNAVAILABLE);
    evd_session_refresh(&txn->session);
    return images_read(txn, keys, count, ret_images);
}

/* Where a scan begins and which keys belong to it. */
struct bounds {
    uint8_t prefix[EVD_INDEX_KEY_BYTES], start[EVD_INDEX_KEY_BYTES], end[EVD_INDEX_KEY_BYTES];
    size_t prefix_bytes, start_bytes;
};

static void bounds_init(struct bounds *bounds, const struct evd_range *range) {
    size_t used = evd_index_head_encode(range->index->number, range->project, bounds->prefix);
    for (size_t i = 0; i < range->equal_count; i++)
        used += evd_index_value_encode(&range->equal[i], bounds->prefix + used);
    bounds->prefix_bytes = used;
    memcpy(bounds->start, bounds->prefix, used);
    memcpy(bounds->end, bounds->prefix, used);
    evd_key_successor(bounds->end, used);
    if (range->after != NULL) {
        for (size_t i = 0; i < range->index->path_count - range->equal_count; i++)
            used += evd_index_value_encode(&range->after[i], bounds->start + used);
        memcpy(bounds->start + used, range->after_id.bytes, 16);
        used += 16;
    }
    bounds->start_bytes = used;
}

static void step(rocksdb_iterator_t *iterator, bool descending) {
    if (descending)
        rocksdb_iter_prev(iterator);
    else
        rocksdb_iter_next(iterator);
}

static bool stands_on(const rocksdb_iterator_t *iterator, const uint8_t *key, size_t size_bytes) {
    size_t found_bytes = 0;
    if (!rocksdb_iter_valid(iterator)) return false;
    const char *found = rocksdb_iter_key(iterator, &found_bytes);
    return found_bytes == size_bytes && memcmp(found, key, size_bytes) == 0;
}

static void seek(rocksdb_iterator_t *iterator, const struct bounds *bounds, const struct evd_range *range) {
    const uint8_t *start = bounds->start;
    size_t start_bytes = bounds->start_bytes;
    if (range->descending && range->after == NULL) {
        start = bounds->end;
        start_bytes = bounds->prefix_bytes;
    }
    if (range->descending)
        rocksdb_iter_seek_for_prev(iterator, (const char *)start, start_bytes);
    else
        rocksdb_iter_seek(iterator, (const char *)start, start_bytes);
    if (stands_on(iterator, start, start_bytes)) step(iterator, range->descending); /* behind it, not on it */
}

/* The iterator's bounds are a help to RocksDB; whether a key belongs to the scan is decided here. */
static bool next_key(rocksdb_iterator_t *iterator, const struct bounds *bounds, const struct evd_range *range,
                     struct evd_key *ret_key) {
    size_t size_bytes = 0;
    if (!rocksdb_iter_valid(iterator)) return false;
    const char *bytes = rocksdb_iter_key(iterator, &size_bytes);
    if (size_bytes < bounds->prefix_bytes + 16 || memcmp(bytes, bounds->prefix, bounds->prefix_bytes) != 0)
        return false;
    *ret_key = (struct evd_key){.project = range->project, .in = range->index->on};
    memcpy(ret_key->id.bytes, bytes + size_bytes - 16, 16);
    step(iterator, range->descending);
    return true;
}

static struct evd_store_result iterator_result(const rocksdb_iterator_t *iterator) {
    char *said = NULL;
    rocksdb_iter_get_error(iterator, &said);
    if (said == NULL) return evd_store_status_result(EVD_STORE_OK);
    bool corrupt = strncmp(said, "Corruption", strlen("Corruption")) == 0;
    rocksdb_free(said);
    return evd_store_status_result(corrupt ? EVD_STORE_CORRUPT : EVD_STORE_UNAVAILABLE);
}

/* In one snapshot every entry has its document; the one that has none is named. */
static struct evd_store_result all_there(const struct evd_key *keys, const struct evd_image *images, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (images[i].size_bytes == 0) return evd_store_key_result(EVD_STORE_CORRUPT, &keys[i]);
    return evd_store_status_result(EVD_STORE_OK);
}

/* The keys a scan finds, at most range->limit. No arena is used while the iterator lives: it cannot be jumped past. */
static struct evd_store_result keys_find(struct evd_session *session, const struct evd_range *range,
                                         struct evd_key *ret_keys, size_t *ret_found) {
    struct bounds bounds;
    size_t found = 0;
    rocksdb_readoptions_t *options = session->read_options;
    bounds_init(&bounds, range);
    rocksdb_readoptions_set_iterate_lower_bound(options, (const char *)bounds.prefix, bounds.prefix_bytes);
    rocksdb_readoptions_set_iterate_upper_bound(options, (const char *)bounds.end, bounds.prefix_bytes);
    rocksdb_iterator_t *iterator = rocksdb_create_iterator_cf(session->store->database.base, options,
                                                              session->store->database.families[EVD_FAMILY_INDEX]);
    seek(iterator, &bounds, range);
    while (found < range->limit && next_key(iterator, &bounds, range, &ret_keys[found]))
        found++;
    struct evd_store_result result = iterator_result(iterator);
    /* The iterator points into the options, the options into this frame: both end here, in this order. */
    rocksdb_iter_destroy(iterator);
    rocksdb_readoptions_set_iterate_lower_bound(options, NULL, 0);
    rocksdb_readoptions_set_iterate_upper_bound(options, NULL, 0);
    *ret_found = found;
    return result;
}

struct evd_store_result evd_embedded_scan(struct evd_txn *base, const struct evd_range *range, struct evd_key *ret_keys,
                                          struct evd_image *ret_images, size_t *ret_count) {
    struct evd_embedded_txn *txn = (struct evd_embedded_txn *)base;
    size_t found = 0;
    if (!may_read(txn)) return evd_store_status_result(EVD_STORE_UNAVAILABLE);
    evd_session_refresh(&txn->session);
    struct evd_store_result result = keys_find(&txn->session, range, ret_keys, &found);
    if (result.status == EVD_STORE_OK) result = images_read(txn, ret_keys, found, ret_images);
    if (result.status == EVD_STORE_OK) result = all_there(ret_keys, ret_images, found);
    if (result.status == EVD_STORE_OK) *ret_count = found;
    return result;
}
