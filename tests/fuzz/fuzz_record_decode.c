/*
 * Any bytes as a stored record: corrupt, or read, written and read again without a difference, with what is not known
 * kept byte for byte at every level, and shown as JSON that everybody can parse.
 *
 * Input: the collection, one byte, then the document.
 */
#include "../unit/records/specimen.h"
#include "evidenced/base/buffer.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/json.h"

#include "expect.h"

#include <bson/bson.h>
#include <jansson.h>

static const struct evd_field *field_named(const struct evd_type *type, const char *key) {
    for (size_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].key, key) == 0) return &type->fields[i];
    return NULL;
}

static bool enter(const struct evd_text document, bson_iter_t *ret_iter) {
    return bson_iter_init_from_data(ret_iter, (const uint8_t *)document.bytes, document.size_bytes);
}

/* The bytes of the element the iterator stands on, or of its value when that is a document or an array. */
static struct evd_text element_bytes(const bson_iter_t *iter) {
    return (struct evd_text){(const char *)iter->raw + iter->off, iter->next_off - iter->off};
}

static struct evd_text value_bytes(const bson_iter_t *iter) {
    return (struct evd_text){(const char *)iter->raw + iter->d1, iter->next_off - iter->d1};
}

static struct evd_text unknown_in(const struct evd_type *type, struct evd_text document, struct evd_arena *arena) {
    struct evd_buffer unknown;
    bson_iter_t iter;
    evd_buffer_init(&unknown, arena, 256);
    EXPECT(enter(document, &iter));
    while (bson_iter_next(&iter))
        if (field_named(type, bson_iter_key(&iter)) == NULL) evd_buffer_add_text(&unknown, element_bytes(&iter));
    return evd_buffer_text(&unknown);
}

static struct evd_text value_under(const char *key, struct evd_text document) {
    bson_iter_t iter;
    EXPECT(enter(document, &iter));
    while (bson_iter_next(&iter))
        if (strcmp(bson_iter_key(&iter), key) == 0) return value_bytes(&iter);
    return (struct evd_text){NULL, 0};
}

static void expect_kept(const struct evd_type *type, struct evd_text before, struct evd_text after,
                        struct evd_arena *arena);

static void expect_list_kept(const struct evd_type *of, struct evd_text before, struct evd_text after,
                             struct evd_arena *arena) {
    bson_iter_t left, right;
    EXPECT(enter(before, &left) && enter(after, &right));
    while (bson_iter_next(&left)) {
        EXPECT(bson_iter_next(&right));
        expect_kept(of, value_bytes(&left), value_bytes(&right), arena);
    }
    EXPECT(!bson_iter_next(&right));
}

/* Is the answer's value under that key a series: a list that begins with a document? */
static bool holds_points(const char *key, struct evd_text document) {
    bson_iter_t iter, first;
    EXPECT(enter(document, &iter));
    if (!bson_iter_find(&iter, key) || !BSON_ITER_HOLDS_ARRAY(&iter) || !bson_iter_recurse(&iter, &first)) return false;
    return bson_iter_next(&first) && BSON_ITER_HOLDS_DOCUMENT(&first);
}

static void expect_kept(const struct evd_type *type, struct evd_text before, struct evd_text after,
                        struct evd_arena *arena) {
    EXPECT(evd_text_equal(unknown_in(type, before, arena), unknown_in(type, after, arena)));
    for (size_t i = 0; i < type->field_count; i++) {
        const struct evd_field *field = &type->fields[i];
        struct evd_text inner_before, inner_after;
        if (field->kind == EVD_KIND_VALUE && holds_points(field->key, before)) {
            EXPECT(holds_points(field->key, after));
            expect_list_kept(&evd_type_answer_point, value_under(field->key, before), value_under(field->key, after),
                             arena);
        }
        if (field->of == NULL) continue;
        inner_before = value_under(field->key, before);
        inner_after = value_under(field->key, after);
        bool empty = field->kind == EVD_KIND_LIST && inner_before.size_bytes <= 5; /* an empty list is left out */
        EXPECT((inner_after.bytes == NULL) == (inner_before.bytes == NULL || empty));
        if (inner_after.bytes == NULL) continue;
        if (field->kind == EVD_KIND_LIST)
            expect_list_kept(field->of, inner_before, inner_after, arena);
        else
            expect_kept(field->of, inner_before, inner_after, arena);
    }
}

static void expect_shown(const struct evd_type *type, const void *from, struct evd_arena *arena) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 256);
    evd_json_write(type, from, &out);
    json_t *json = json_loadb((const char *)out.bytes, out.size_bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    EXPECT(json != NULL);
    json_decref(json);
}

static void try_document(const struct evd_type *type, struct evd_text document, struct evd_arena *arena) {
    void *first = evd_arena_alloc(arena, type->size_bytes), *second = evd_arena_alloc(arena, type->size_bytes);
    const uint8_t *bytes = (const uint8_t *)document.bytes;
    enum evd_decoded got = evd_bson_decode(type, bytes, document.size_bytes, arena, first);
    if (got == EVD_DECODED_CORRUPT) return;
    struct evd_image image = evd_bson_encode(type, first, arena);
    EXPECT(evd_bson_decode(type, image.bson, image.size_bytes, arena, second) == got);
    EXPECT(specimen_difference(type, first, second) == NULL);
    struct evd_image again = evd_bson_encode(type, second, arena);
    EXPECT(image.size_bytes == again.size_bytes && memcmp(image.bson, again.bson, image.size_bytes) == 0);
    EXPECT(image.version == again.version);
    expect_kept(type, document, (struct evd_text){(const char *)image.bson, image.size_bytes}, arena);
    expect_shown(type, first, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct evd_arena arena;
    if (size == 0) return 0;
    const struct evd_type *type = evd_type_of_collection(data[0]);
    if (type == NULL) return 0;
    evd_arena_init(&arena, SPECIMEN_ARENA_BYTES);
    try_document(type, (struct evd_text){(const char *)data + 1, size - 1}, &arena);
    evd_arena_done(&arena);
    return 0;
}
