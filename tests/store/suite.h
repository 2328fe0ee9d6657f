/*
 * The conformance suite's catalogue, documents and short forms. Each program includes it once; each test opens a
 * store of its own with suite_open.
 *
 * A `thing` has every kind of value an index may hold, an array of documents and one of texts; `pad_bytes` makes it
 * as large as wished. What is 0 or NULL is left out of the document.
 */
#ifndef EVIDENCED_TESTS_STORE_SUITE_H
#define EVIDENCED_TESTS_STORE_SUITE_H

#include "../support/store_fixture.h"
#include "../support/test.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"

#include <bson/bson.h>

#define SUITE_UNUSED __attribute__((unused))

enum { NOTES = 1, THINGS = 3, LEDGER = 4 };

static const char *const collection_names[] = {[NOTES] = "notes", [THINGS] = "things", [LEDGER] = "ledger"};

static const struct evd_index indexes[] = {
    {"by_rank", THINGS, 1, 1, {"rank"}},
    {"by_name", THINGS, 2, 1, {"name"}},
    {"by_open_rank", THINGS, 3, 2, {"open", "rank"}},
    {"by_reviewer", THINGS, 4, 2, {"members.reviewer", "rank"}},
    {"by_tag", THINGS, 7, 2, {"tags", "name"}},
    {"by_due", THINGS, 8, 2, {"deep.owner", "deep.due"}},
    {"notes_by_rank", NOTES, 9, 1, {"rank"}},
};
enum { BY_RANK, BY_NAME, BY_OPEN_RANK, BY_REVIEWER, BY_TAG, BY_DUE, NOTES_BY_RANK };

static const struct evd_catalogue catalogue = {
    .collection_names = collection_names,
    .collection_count = sizeof collection_names / sizeof *collection_names,
    .indexes = indexes,
    .index_count = sizeof indexes / sizeof *indexes,
};

static struct evd_store *store;
static struct evd_arena arena;

static SUITE_UNUSED void suite_open(void) {
    evd_arena_init(&arena, 512 * EVD_MIB);
    store = evd_store_fixture_open(&catalogue);
}

static SUITE_UNUSED void suite_close(void) {
    evd_store_close(store);
    evd_arena_done(&arena);
}

/* Ids that sort as their numbers do. */
static SUITE_UNUSED evd_uuid numbered(unsigned kind, unsigned number) {
    evd_uuid uuid = {{0}};
    uuid.bytes[0] = (uint8_t)kind;
    for (int byte = 0; byte < 4; byte++)
        uuid.bytes[12 + byte] = (uint8_t)(number >> (24 - 8 * byte));
    return uuid;
}

static SUITE_UNUSED struct evd_key key_in(evd_collection in, unsigned project, unsigned number) {
    return (struct evd_key){.project = numbered(0xAA, project), .in = in, .id = numbered(0xBB, number)};
}

static SUITE_UNUSED struct evd_key thing_key(unsigned number) {
    return key_in(THINGS, 1, number);
}

struct thing {
    int64_t version;
    int64_t rank;
    const char *name;
    const char *open; /* "yes", "no" */
    unsigned reviewers[4];
    const char *tags[4];
    unsigned owner;
    int64_t due_ms;
    size_t pad_bytes;
};

static SUITE_UNUSED void append_uuid(bson_t *to, const char *name, evd_uuid uuid) {
    bson_append_binary(to, name, -1, BSON_SUBTYPE_UUID, uuid.bytes, sizeof uuid.bytes);
}

static SUITE_UNUSED void append_members(bson_t *document, const struct thing *thing) {
    bson_t members, member;
    char at[2] = "0";
    if (thing->reviewers[0] == 0) return;
    bson_append_array_begin(document, "members", -1, &members);
    for (unsigned i = 0; i < 4 && thing->reviewers[i] != 0; i++, at[0]++) {
        bson_append_document_begin(&members, at, 1, &member);
        append_uuid(&member, "reviewer", numbered(0xCC, thing->reviewers[i]));
        bson_append_document_end(&members, &member);
    }
    bson_append_array_end(document, &members);
}

static SUITE_UNUSED void append_tags(bson_t *document, const struct thing *thing) {
    bson_t tags;
    char at[2] = "0";
    if (thing->tags[0] == NULL) return;
    bson_append_array_begin(document, "tags", -1, &tags);
    for (unsigned i = 0; i < 4 && thing->tags[i] != NULL; i++, at[0]++)
        bson_append_utf8(&tags, at, 1, thing->tags[i], -1);
    bson_append_array_end(document, &tags);
}

static SUITE_UNUSED void append_deep(bson_t *document, const struct thing *thing) {
    bson_t deep;
    if (thing->owner == 0) return;
    bson_append_document_begin(document, "deep", -1, &deep);
    append_uuid(&deep, "owner", numbered(0xDD, thing->owner));
    if (thing->due_ms != 0) bson_append_date_time(&deep, "due", -1, thing->due_ms);
    bson_append_document_end(document, &deep);
}

static SUITE_UNUSED struct evd_image image_of_bson(struct evd_arena *in, const bson_t *document, int64_t version) {
    return (struct evd_image){
        .bson = evd_arena_copy(in, bson_get_data(document), document->len),
        .size_bytes = document->len,
        .version = version,
    };
}

static SUITE_UNUSED struct evd_image image_in(struct evd_arena *in, struct thing thing) {
    bson_t document = BSON_INITIALIZER;
    if (thing.version == 0) thing.version = 1;
    bson_append_int64(&document, "version", -1, thing.version);
    if (thing.rank != 0) bson_append_int64(&document, "rank", -1, thing.rank);
    if (thing.name != NULL) bson_append_utf8(&document, "name", -1, thing.name, -1);
    if (thing.open != NULL) bson_append_bool(&document, "open", -1, strcmp(thing.open, "yes") == 0);
    append_members(&document, &thing);
    append_tags(&document, &thing);
    append_deep(&document, &thing);
    if (thing.pad_bytes > 0) {
        uint8_t *pad = evd_arena_alloc(in, thing.pad_bytes);
        for (size_t i = 0; i < thing.pad_bytes; i++)
            pad[i] = (uint8_t)(i * 131 + i / 251);
        bson_append_binary(&document, "pad", -1, BSON_SUBTYPE_BINARY, pad, (uint32_t)thing.pad_bytes);
    }
    struct evd_image image = image_of_bson(in, &document, thing.version);
    bson_destroy(&document);
    return image;
}

/* A version that is not given is 1. */
#define IMAGE(...) image_in(&arena, (struct thing){__VA_ARGS__})

static SUITE_UNUSED int64_t rank_of(const struct evd_image *image) {
    bson_t document;
    bson_iter_t iter;
    ck_assert(bson_init_static(&document, image->bson, image->size_bytes));
    ck_assert(bson_iter_init_find(&iter, &document, "rank"));
    return bson_iter_int64(&iter);
}

/* Writes. */
static SUITE_UNUSED struct evd_write inserting(struct evd_key key, struct evd_image after) {
    return (struct evd_write){.kind = EVD_INSERT, .key = key, .after = after};
}

static SUITE_UNUSED struct evd_write inserting_once(struct evd_key key, struct evd_image after) {
    return (struct evd_write){.kind = EVD_INSERT_ONCE, .key = key, .after = after};
}

static SUITE_UNUSED struct evd_write replacing(struct evd_key key, struct evd_image before, struct evd_image after) {
    return (struct evd_write){.kind = EVD_REPLACE, .key = key, .before = before, .after = after};
}

static SUITE_UNUSED struct evd_write deleting(struct evd_key key, struct evd_image before) {
    return (struct evd_write){.kind = EVD_DELETE, .key = key, .before = before};
}

/* Calls. */
static SUITE_UNUSED struct evd_txn *begin_in(struct evd_arena *in, enum evd_read_kind kind) {
    struct evd_txn *txn = NULL;
    struct evd_store_result result = evd_txn_open(store, kind, evd_store_fixture_far(), in, &txn);
    ck_assert_int_eq(result.status, EVD_STORE_OK);
    return txn;
}

static SUITE_UNUSED struct evd_txn *begin(void) {
    return begin_in(&arena, EVD_READ_SNAPSHOT);
}

static SUITE_UNUSED struct evd_image get(struct evd_txn *txn, struct evd_key key) {
    struct evd_image image = {0};
    ck_assert_int_eq(evd_txn_get(txn, &key, 1, &image).status, EVD_STORE_OK);
    return image;
}

/* Commit and close. */
static SUITE_UNUSED enum evd_store_status commit(struct evd_txn *txn, const struct evd_write *writes, size_t count) {
    struct evd_store_result result = evd_txn_commit(txn, writes, count);
    evd_txn_close(txn);
    return result.status;
}

/* A transaction of these writes and nothing else. */
#define WRITE(...)                                                                                                     \
    write_all((const struct evd_write[]){__VA_ARGS__},                                                                 \
              sizeof((const struct evd_write[]){__VA_ARGS__}) / sizeof(struct evd_write))
static SUITE_UNUSED enum evd_store_status write_all(const struct evd_write *writes, size_t count) {
    return commit(begin(), writes, count);
}

/* The newest committed state of one record. */
static SUITE_UNUSED struct evd_image latest(struct evd_key key) {
    struct evd_txn *txn = begin_in(&arena, EVD_READ_LATEST);
    struct evd_image image = get(txn, key);
    evd_txn_close(txn);
    return image;
}

static SUITE_UNUSED bool same_image(const struct evd_image *a, const struct evd_image *b) {
    return a->size_bytes == b->size_bytes && a->version == b->version &&
           (a->size_bytes == 0 || memcmp(a->bson, b->bson, a->size_bytes) == 0);
}

static SUITE_UNUSED bool same_key(const struct evd_key *a, const struct evd_key *b) {
    return a->in == b->in && evd_uuid_equal(a->project, b->project) && evd_uuid_equal(a->id, b->id);
}

static SUITE_UNUSED unsigned number_of(const struct evd_key *key) {
    const uint8_t *at = key->id.bytes + 12;
    return (unsigned)at[0] << 24 | (unsigned)at[1] << 16 | (unsigned)at[2] << 8 | at[3];
}

#endif
