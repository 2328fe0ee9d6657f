#include "evidenced/runtime/reader.h"

#include "evidenced/base/limits.h"
#include "evidenced/records/bson.h"
#include "runtime/private.h"

#include <assert.h>

enum { FIRST_ENTRIES = 64, FIRST_SLOTS = 64 };

void evd_reads_begin(struct evd_call *call, struct evd_txn *txn, jmp_buf *escape) {
    struct evd_arena *arena = evd_call_arena(call);
    struct evd_reads *reads = EVD_NEW(arena, struct evd_reads);
    *reads = (struct evd_reads){.txn = txn, .escape = escape};
    reads->capacity = FIRST_ENTRIES;
    reads->entries = EVD_NEW_ARRAY(arena, struct evd_read_entry, FIRST_ENTRIES);
    reads->bucket_count = FIRST_ENTRIES * 2;
    reads->buckets = EVD_NEW_ARRAY(arena, uint32_t, reads->bucket_count);
    reads->slot_capacity = FIRST_SLOTS;
    reads->slots = EVD_NEW_ARRAY(arena, struct evd_read_slot, FIRST_SLOTS);
    call->reads = reads;
}

void evd_reads_end(struct evd_call *call) {
    struct evd_reads *reads = call->reads;
    if (reads == NULL) return;
    for (size_t i = 0; i < reads->definition_count; i++)
        if (reads->definitions[i].held != NULL)
            evd_definition_cache_unref(call->runtime->definitions, reads->definitions[i].held);
    reads->definition_count = 0;
    call->reads = NULL;
}

/* Ids are hashes or random: seven of their bytes are the hash. Not the eighth, which begins with the variant. */
static size_t bucket_of(const struct evd_reads *reads, struct evd_key key) {
    uint64_t hash = 0;
    memcpy(&hash, key.id.bytes + 9, sizeof hash - 1);
    return (hash ^ (uint64_t)key.in * 0x9E3779B97F4A7C15U) & (reads->bucket_count - 1);
}

static bool same_key(struct evd_key a, struct evd_key b) {
    return a.in == b.in && evd_uuid_equal(a.id, b.id) && evd_uuid_equal(a.project, b.project);
}

static uint32_t *find_bucket(const struct evd_reads *reads, struct evd_key key) {
    size_t at = bucket_of(reads, key);
    while (reads->buckets[at] != 0 && !same_key(reads->entries[reads->buckets[at] - 1].key, key))
        at = (at + 1) & (reads->bucket_count - 1);
    return &reads->buckets[at];
}

const struct evd_read_entry *evd_reads_find(const struct evd_reads *reads, struct evd_key key) {
    uint32_t found = *find_bucket(reads, key);
    return found == 0 ? NULL : &reads->entries[found - 1];
}

static void grow_entries(struct evd_arena *arena, struct evd_reads *reads) {
    struct evd_read_entry *entries = EVD_NEW_ARRAY(arena, struct evd_read_entry, reads->capacity * 2);
    memcpy(entries, reads->entries, reads->count * sizeof *entries);
    reads->entries = entries;
    reads->capacity *= 2;
    reads->bucket_count = reads->capacity * 2;
    reads->buckets = EVD_NEW_ARRAY(arena, uint32_t, reads->bucket_count);
    for (size_t i = 0; i < reads->count; i++)
        *find_bucket(reads, reads->entries[i].key) = (uint32_t)i + 1;
}

static size_t add_entry(struct evd_call *call, struct evd_key key) {
    struct evd_reads *reads = call->reads;
    uint32_t *bucket = find_bucket(reads, key);
    if (*bucket != 0) return *bucket - 1;
    assert(reads->count - reads->fetched < EVD_LIMIT_READ_KEYS);
    if (reads->count == reads->capacity) {
        grow_entries(evd_call_arena(call), reads);
        bucket = find_bucket(reads, key);
    }
    reads->entries[reads->count] = (struct evd_read_entry){.key = key};
    *bucket = (uint32_t)++reads->count;
    return reads->count - 1;
}

static struct evd_key key_of(const struct evd_call *call, evd_collection in, evd_uuid id) {
    return (struct evd_key){.project = evd_collection_project(in, call->ids.project), .id = id, .in = in};
}

static void set_slot(void *slot, void *record) {
    memcpy(slot, &record, sizeof record);
}

static void *decode(struct evd_call *call, evd_collection in, struct evd_image image) {
    const struct evd_type *type = evd_type_of_collection(in);
    struct evd_reads *reads = call->reads;
    if (image.size_bytes == 0) return NULL;
    struct evd_record *record = evd_arena_alloc(evd_call_arena(call), type->size_bytes);
    switch (evd_bson_decode(type, image.bson, image.size_bytes, evd_call_arena(call), record)) {
    case EVD_DECODED: break;
    case EVD_DECODED_UNKNOWN_NAME: reads->met_unknown_name = true; break;
    case EVD_DECODED_CORRUPT: evd_attempt_settle_store(call, EVD_STORE_CORRUPT);
    }
    if (record->stamp > reads->largest) reads->largest = record->stamp;
    return record;
}

/* What was read under the entry's key. A definition's record is decoded only when somebody names it too. */
static void *record_of(struct evd_call *call, size_t at) {
    struct evd_read_entry *entry = &call->reads->entries[at];
    if (entry->record == NULL) entry->record = decode(call, entry->key.in, entry->image);
    return entry->record;
}

void evd_reader_want(struct evd_call *call, evd_collection in, evd_uuid id, void *slot) {
    struct evd_reads *reads = call->reads;
    set_slot(slot, NULL);
    if (evd_uuid_is_nil(id)) return;
    size_t entry = add_entry(call, key_of(call, in, id));
    if (entry < reads->fetched) {
        set_slot(slot, record_of(call, entry));
        return;
    }
    if (reads->slot_count == reads->slot_capacity) {
        struct evd_read_slot *slots =
            EVD_NEW_ARRAY(evd_call_arena(call), struct evd_read_slot, reads->slot_capacity * 2);
        memcpy(slots, reads->slots, reads->slot_count * sizeof *slots);
        reads->slots = slots;
        reads->slot_capacity *= 2;
    }
    reads->slots[reads->slot_count++] = (struct evd_read_slot){.slot = slot, .entry = entry};
}

static void lend(struct evd_call *call, struct evd_read_definition *lent) {
    struct evd_reads *reads = call->reads;
    const struct evd_form_version *version = evd_definition_version(lent->held->definition);
    if (version->base.stamp > reads->largest) reads->largest = version->base.stamp;
    reads->met_unknown_name |= lent->held->met_unknown_name;
    *lent->slot = lent->held->definition;
}

/* Immutable and shared: decoded into the cache instead of the attempt's arena. */
static void lend_read_ones(struct evd_call *call) {
    struct evd_reads *reads = call->reads;
    for (size_t i = 0; i < reads->definition_count; i++) {
        struct evd_read_definition *lent = &reads->definitions[i];
        if (lent->held != NULL || reads->entries[lent->entry].image.size_bytes == 0) continue;
        struct evd_key key = reads->entries[lent->entry].key;
        lent->held = evd_definition_cache_add(call->runtime->definitions, key.project, key.id,
                                              reads->entries[lent->entry].image);
        if (lent->held == NULL) evd_attempt_settle_store(call, EVD_STORE_CORRUPT);
        lend(call, lent);
    }
}

void evd_reader_want_definition(struct evd_call *call, evd_uuid form_version, const struct evd_definition **slot) {
    struct evd_reads *reads = call->reads;
    *slot = NULL;
    if (evd_uuid_is_nil(form_version)) return;
    assert(reads->definition_count < EVD_READ_DEFINITIONS);
    struct evd_read_definition *lent = &reads->definitions[reads->definition_count++];
    *lent = (struct evd_read_definition){.slot = slot};
    lent->held = evd_definition_cache_ref(call->runtime->definitions, call->ids.project, form_version);
    if (lent->held != NULL)
        lend(call, lent);
    else
        lent->entry = add_entry(call, key_of(call, EVD_IN_FORM_VERSION, form_version));
    lend_read_ones(call); /* its record may have been read already */
}

static bool is_lent(const struct evd_reads *reads, size_t entry) {
    for (size_t i = 0; i < reads->definition_count; i++)
        if (reads->definitions[i].held == NULL && reads->definitions[i].entry == entry) return true;
    return false;
}

static void get_named(struct evd_call *call) {
    struct evd_reads *reads = call->reads;
    size_t first = reads->fetched, count = reads->count - first;
    struct evd_key *keys = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_key, count);
    struct evd_image *images = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_image, count);
    for (size_t i = 0; i < count; i++)
        keys[i] = reads->entries[first + i].key;
    struct evd_store_result result = evd_txn_get(reads->txn, keys, count, images);
    if (result.status != EVD_STORE_OK) evd_attempt_settle_store(call, result.status);
    for (size_t i = 0; i < count; i++) {
        struct evd_read_entry *entry = &reads->entries[first + i];
        entry->image = images[i];
        if (!is_lent(reads, first + i)) entry->record = decode(call, entry->key.in, entry->image);
    }
    reads->fetched = reads->count;
}

void evd_reader_fetch(struct evd_call *call) {
    struct evd_reads *reads = call->reads;
    if (reads->count > reads->fetched) {
        get_named(call);
        lend_read_ones(call);
        for (size_t i = 0; i < reads->slot_count; i++)
            set_slot(reads->slots[i].slot, record_of(call, reads->slots[i].entry));
        reads->slot_count = 0;
    }
    if (!reads->admitted) evd_attempt_admit(call);
}

void evd_reader_scan(struct evd_call *call, const struct evd_scan *scan, void *ret_records, size_t *ret_count) {
    struct evd_reads *reads = call->reads;
    struct evd_arena *arena = evd_call_arena(call);
    struct evd_range range = {.index = evd_index_of(scan->index),
                              .project = evd_collection_project(evd_index_of(scan->index)->on, call->ids.project),
                              .equal = scan->equal,
                              .equal_count = scan->equal_count,
                              .after = scan->after,
                              .after_id = scan->after_id,
                              .descending = scan->descending,
                              .limit = scan->limit};
    struct evd_key *keys = EVD_NEW_ARRAY(arena, struct evd_key, scan->limit);
    struct evd_image *images = EVD_NEW_ARRAY(arena, struct evd_image, scan->limit);
    size_t count = 0;
    assert(reads->fetched == reads->count && reads->admitted);
    struct evd_store_result result = evd_txn_scan(reads->txn, &range, keys, images, &count);
    if (result.status != EVD_STORE_OK) evd_attempt_settle_store(call, result.status);
    void **records = EVD_NEW_ARRAY(arena, void *, count);
    for (size_t i = 0; i < count; i++) {
        size_t at = add_entry(call, keys[i]);
        struct evd_read_entry *entry = &reads->entries[at];
        if (at >= reads->fetched) {
            entry->image = images[i];
            entry->record = decode(call, entry->key.in, entry->image);
            reads->fetched = reads->count;
        }
        records[i] = record_of(call, at);
    }
    memcpy(ret_records, &records, sizeof records);
    *ret_count = count;
}

bool evd_reader_has(const struct evd_call *call, evd_collection in, evd_uuid id) {
    const struct evd_reads *reads = call->reads;
    for (size_t i = 0; i < reads->definition_count; i++) {
        if (in != EVD_IN_FORM_VERSION || reads->definitions[i].held == NULL) continue;
        if (evd_uuid_equal(reads->definitions[i].held->id, id)) return true;
    }
    const struct evd_read_entry *entry = evd_reads_find(reads, key_of(call, in, id));
    return entry != NULL && entry->image.size_bytes > 0;
}
