#include "behind.h"

#include "scripted_store.h"

#include "evidenced/records/bson.h"

#include <bson/bson.h>

enum { MOST_COUNTED = 2000 };

static struct evd_store *real_store(struct house *house) {
    return house->script == NULL ? house->store : scripted_inner(house->script);
}

static struct evd_txn *begin(struct house *house, struct evd_arena *arena) {
    struct evd_txn *txn = NULL;
    struct evd_store_result result =
        evd_txn_open(real_store(house), EVD_READ_SNAPSHOT, evd_clock_monotonic_ms(house->time) + 10000, arena, &txn);
    ck_assert_int_eq(result.status, EVD_STORE_OK);
    return txn;
}

static struct evd_image image_of(struct evd_txn *txn, struct evd_key key) {
    struct evd_image image = {0};
    ck_assert_int_eq(evd_txn_get(txn, &key, 1, &image).status, EVD_STORE_OK);
    return image;
}

void *behind_read(struct house *house, const struct evd_type *type, evd_uuid id, struct evd_arena *arena) {
    struct evd_txn *txn = begin(house, arena);
    struct evd_image image = image_of(txn, (struct evd_key){.project = house->project, .id = id, .in = type->in});
    evd_txn_close(txn);
    if (image.size_bytes == 0) return NULL;
    void *record = evd_arena_alloc(arena, type->size_bytes);
    ck_assert_int_ne(evd_bson_decode(type, image.bson, image.size_bytes, arena, record), EVD_DECODED_CORRUPT);
    return record;
}

static void put(struct evd_txn *txn, struct evd_write write) {
    ck_assert_int_eq(evd_txn_commit(txn, &write, 1).status, EVD_STORE_OK);
    evd_txn_close(txn);
}

void behind_replace(struct house *house, const struct evd_type *type, struct evd_record *record) {
    struct evd_arena arena;
    evd_arena_init(&arena, 16 * EVD_MIB);
    struct evd_txn *txn = begin(house, &arena);
    struct evd_key key = {.project = house->project, .id = record->id, .in = type->in};
    struct evd_image before = image_of(txn, key);
    record->version = before.version + 1;
    put(txn, (struct evd_write){
                 .kind = EVD_REPLACE, .key = key, .before = before, .after = evd_bson_encode(type, record, &arena)});
    evd_arena_done(&arena);
}

void behind_insert(struct house *house, const struct evd_type *type, struct evd_record *record) {
    struct evd_arena arena;
    evd_arena_init(&arena, 16 * EVD_MIB);
    struct evd_txn *txn = begin(house, &arena);
    struct evd_key key = {
        .project = evd_collection_project(type->in, house->project), .id = record->id, .in = type->in};
    record->project_id = key.project;
    record->version = 1;
    put(txn, (struct evd_write){.kind = EVD_INSERT, .key = key, .after = evd_bson_encode(type, record, &arena)});
    evd_arena_done(&arena);
}

static bool copy_but(const struct evd_image *image, const char *key, bson_t *to) {
    bson_t from;
    bson_iter_t at;
    if (!bson_init_static(&from, image->bson, image->size_bytes) || !bson_iter_init(&at, &from)) return false;
    while (bson_iter_next(&at))
        if (strcmp(bson_iter_key(&at), key) != 0 && strcmp(bson_iter_key(&at), "version") != 0)
            if (!bson_append_iter(to, NULL, 0, &at)) return false;
    return bson_append_int64(to, "version", -1, image->version + 1) && bson_append_double(to, key, -1, 0.5);
}

void behind_damage(struct house *house, evd_collection in, evd_uuid id, const char *key) {
    struct evd_arena arena;
    bson_t damaged = BSON_INITIALIZER;
    evd_arena_init(&arena, 16 * EVD_MIB);
    struct evd_txn *txn = begin(house, &arena);
    struct evd_key at = {.project = house->project, .id = id, .in = in};
    struct evd_image before = image_of(txn, at);
    ck_assert(copy_but(&before, key, &damaged));
    put(txn, (struct evd_write){
                 .kind = EVD_REPLACE,
                 .key = at,
                 .before = before,
                 .after = {.bson = bson_get_data(&damaged), .size_bytes = damaged.len, .version = before.version + 1}});
    bson_destroy(&damaged);
    evd_arena_done(&arena);
}

void behind_lose(struct house *house, evd_collection in, evd_uuid id) {
    struct evd_arena arena;
    evd_arena_init(&arena, 16 * EVD_MIB);
    struct evd_txn *txn = begin(house, &arena);
    struct evd_key at = {.project = house->project, .id = id, .in = in};
    put(txn, (struct evd_write){.kind = EVD_DELETE, .key = at, .before = image_of(txn, at)});
    evd_arena_done(&arena);
}

size_t behind_count(struct house *house, enum evd_index_number index, const struct evd_value *equal,
                    size_t equal_count) {
    struct evd_arena arena;
    size_t count = 0;
    evd_arena_init(&arena, 64 * EVD_MIB);
    struct evd_txn *txn = begin(house, &arena);
    struct evd_range range = {.index = evd_index_of(index),
                              .project = house->project,
                              .equal = equal,
                              .equal_count = equal_count,
                              .limit = MOST_COUNTED};
    struct evd_key *keys = EVD_NEW_ARRAY(&arena, struct evd_key, MOST_COUNTED);
    struct evd_image *images = EVD_NEW_ARRAY(&arena, struct evd_image, MOST_COUNTED);
    ck_assert_int_eq(evd_txn_scan(txn, &range, keys, images, &count).status, EVD_STORE_OK);
    evd_txn_close(txn);
    evd_arena_done(&arena);
    return count;
}
