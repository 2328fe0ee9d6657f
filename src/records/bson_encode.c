/*
 * Struct → BSON. Written here and not by libbson's builder for two reasons: unknown elements must go back byte for
 * byte, whatever their type, and the bytes must end in the call's arena, which may be left by a jump.
 */
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/dictionary.h"
#include "records/bson_private.h"

#include <assert.h>

enum { SCRATCH_BYTES = 512 };

static void add_i32(struct evd_buffer *out, int32_t number) {
    uint32_t little = htole32((uint32_t)number);
    evd_buffer_add(out, &little, sizeof little);
}

static void add_i64(struct evd_buffer *out, int64_t number) {
    uint64_t little = htole64((uint64_t)number);
    evd_buffer_add(out, &little, sizeof little);
}

static void add_head(struct evd_buffer *out, bson_type_t type, const char *key) {
    evd_buffer_add_byte(out, (uint8_t)type);
    evd_buffer_add(out, key, strlen(key) + 1);
}

static void add_text(struct evd_buffer *out, const char *key, struct evd_text text) {
    add_head(out, BSON_TYPE_UTF8, key);
    add_i32(out, (int32_t)text.size_bytes + 1);
    evd_buffer_add_text(out, text);
    evd_buffer_add_byte(out, 0);
}

static void add_binary(struct evd_buffer *out, const char *key, bson_subtype_t subtype, struct evd_text bytes) {
    add_head(out, BSON_TYPE_BINARY, key);
    add_i32(out, (int32_t)bytes.size_bytes);
    evd_buffer_add_byte(out, (uint8_t)subtype);
    evd_buffer_add_text(out, bytes);
}

static void add_number(struct evd_buffer *out, bson_type_t type, const char *key, int64_t number) {
    add_head(out, type, key);
    add_i64(out, number);
}

static void add_boolean(struct evd_buffer *out, const char *key, bool boolean) {
    add_head(out, BSON_TYPE_BOOL, key);
    evd_buffer_add_byte(out, boolean);
}

/* A document's length stands before it and is known only after: begin leaves room, end fills it in. */
static size_t document_begin(struct evd_buffer *out) {
    size_t at = out->size_bytes;
    add_i32(out, 0);
    return at;
}

static void document_end(struct evd_buffer *out, size_t at) {
    evd_buffer_add_byte(out, 0);
    assert(out->size_bytes - at <= INT32_MAX);
    uint32_t little = htole32((uint32_t)(out->size_bytes - at));
    memcpy(out->bytes + at, &little, sizeof little);
}

static void add_document(const struct evd_type *type, const void *from, struct evd_buffer *out);

/* An array is a document whose keys count up. */
static const char *array_key(size_t at, char key[24]) {
    (void)snprintf(key, 24, "%zu", at);
    return key;
}

static void add_texts(struct evd_buffer *out, const char *name, const struct evd_texts *texts) {
    char key[24];
    add_head(out, BSON_TYPE_ARRAY, name);
    size_t begun = document_begin(out);
    for (size_t i = 0; i < texts->count; i++)
        add_text(out, array_key(i, key), texts->items[i]);
    document_end(out, begun);
}

static void add_uuids(struct evd_buffer *out, const char *name, const struct evd_list *list) {
    char key[24];
    const evd_uuid *items = list->items;
    add_head(out, BSON_TYPE_ARRAY, name);
    size_t begun = document_begin(out);
    for (size_t i = 0; i < list->count; i++)
        add_binary(out, array_key(i, key), BSON_SUBTYPE_UUID, evd_uuid_part(&items[i]));
    document_end(out, begun);
}

static void add_list(struct evd_buffer *out, const char *name, const struct evd_type *of, const void *items,
                     size_t count) {
    char key[24];
    add_head(out, BSON_TYPE_ARRAY, name);
    size_t begun = document_begin(out);
    for (size_t i = 0; i < count; i++) {
        add_head(out, BSON_TYPE_DOCUMENT, array_key(i, key));
        add_document(of, (const uint8_t *)items + i * of->size_bytes, out);
    }
    document_end(out, begun);
}

static void add_value(struct evd_buffer *out, const char *key, const struct evd_answer_value *value) {
    switch (value->kind) {
    case EVD_ANSWER_NONE: return;
    case EVD_ANSWER_TEXT: add_text(out, key, value->text); return;
    case EVD_ANSWER_INTEGER: add_number(out, BSON_TYPE_INT64, key, value->integer); return;
    case EVD_ANSWER_BOOLEAN: add_boolean(out, key, value->boolean); return;
    case EVD_ANSWER_TEXTS: add_texts(out, key, &value->texts); return;
    case EVD_ANSWER_POINTS:
        add_list(out, key, &evd_type_answer_point, value->points.items, value->points.count);
        return;
    }
}

static void add_field(struct evd_buffer *out, const struct evd_field *field, const void *member) {
    union evd_member at = {.any = member};
    switch (field->kind) {
    case EVD_KIND_UUID:
        if (!evd_uuid_is_nil(*at.uuid)) add_binary(out, field->key, BSON_SUBTYPE_UUID, evd_uuid_part(at.uuid));
        return;
    case EVD_KIND_BOOLEAN: add_boolean(out, field->key, *at.boolean); return;
    case EVD_KIND_STAMP: add_number(out, BSON_TYPE_INT64, field->key, (int64_t)*at.stamp); return;
    case EVD_KIND_NUMBER:
        if (*at.number != 0 || field->need != EVD_OPTIONAL) add_number(out, BSON_TYPE_INT64, field->key, *at.number);
        return;
    case EVD_KIND_TIME:
        if (*at.number != 0) add_number(out, BSON_TYPE_DATE_TIME, field->key, *at.number);
        return;
    case EVD_KIND_STRING:
        if (at.text->bytes != NULL) add_text(out, field->key, *at.text);
        return;
    case EVD_KIND_BYTES:
        if (at.text->bytes != NULL) add_binary(out, field->key, BSON_SUBTYPE_BINARY, *at.text);
        return;
    case EVD_KIND_ENUM: {
        struct evd_text text = evd_name_text(field->names, *at.name);
        if (text.bytes != NULL) add_text(out, field->key, text);
        return;
    }
    case EVD_KIND_NEST:
        if (*at.nest == NULL) return;
        add_head(out, BSON_TYPE_DOCUMENT, field->key);
        add_document(field->of, *at.nest, out);
        return;
    case EVD_KIND_LIST:
        if (at.list->count > 0) add_list(out, field->key, field->of, at.list->items, at.list->count);
        return;
    case EVD_KIND_STRINGS:
        if (at.texts->count > 0) add_texts(out, field->key, at.texts);
        return;
    case EVD_KIND_UUIDS:
        if (at.list->count > 0) add_uuids(out, field->key, at.list);
        return;
    case EVD_KIND_VALUE: add_value(out, field->key, at.value); return;
    case EVD_KIND_MEMBERS: return; /* rendered JSON is no part of what is stored or digested */
    }
}

static void add_document(const struct evd_type *type, const void *from, struct evd_buffer *out) {
    size_t begun = document_begin(out);
    for (size_t i = 0; i < type->field_count; i++)
        add_field(out, &type->fields[i], (const uint8_t *)from + type->fields[i].offset);
    const struct evd_unknown *unknown = (const void *)((const uint8_t *)from + type->unknown_offset);
    for (const struct evd_unknown_part *part = unknown->first; part != NULL; part = part->next)
        evd_buffer_add(out, part->bytes, part->size_bytes);
    document_end(out, begun);
}

struct evd_image evd_bson_encode(const struct evd_type *type, const void *from, struct evd_arena *arena) {
    return evd_bson_encode_expecting(type, from, arena, 0);
}

struct evd_image evd_bson_encode_expecting(const struct evd_type *type, const void *from, struct evd_arena *arena,
                                           size_t expected_bytes) {
    uint8_t scratch[SCRATCH_BYTES]; /* most documents fit, and then take no more of the arena than their size */
    struct evd_buffer out = {.arena = arena, .bytes = scratch, .capacity_bytes = sizeof scratch};
    if (expected_bytes > sizeof scratch) evd_buffer_init(&out, arena, expected_bytes);
    add_document(type, from, &out);
    const uint8_t *bson = out.bytes == scratch ? evd_arena_copy(arena, scratch, out.size_bytes) : out.bytes;
    int64_t version = type->in == 0 ? 0 : ((const struct evd_record *)from)->version;
    return (struct evd_image){.bson = bson, .size_bytes = (uint32_t)out.size_bytes, .version = version};
}
