/*
 * BSON → struct, by libbson's iterator. Nothing here trusts the bytes: a bound that does not hold is corrupt.
 */
#include "evidenced/base/arena.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/dictionary.h"
#include "records/bson_private.h"

#include <assert.h>

struct decoding {
    struct evd_arena *arena;
    bool met_unknown_name;
};

static bool decode_document(struct decoding *decoding, const struct evd_type *type, bson_iter_t *iter, void *to);

/* Most texts are ASCII, so their beginning is looked at eight bytes at a time. */
static bool is_utf8(struct evd_text text) {
    size_t plain = 0;
    for (uint64_t eight; plain + sizeof eight <= text.size_bytes; plain += sizeof eight) {
        memcpy(&eight, text.bytes + plain, sizeof eight);
        if ((eight & UINT64_C(0x8080808080808080)) != 0) break;
    }
    return evd_text_is_utf8((struct evd_text){text.bytes + plain, text.size_bytes - plain});
}

static bool read_text(const bson_iter_t *iter, uint32_t max_bytes, struct evd_text *ret_text) {
    uint32_t size_bytes = 0;
    if (!BSON_ITER_HOLDS_UTF8(iter)) return false;
    const char *bytes = bson_iter_utf8(iter, &size_bytes);
    struct evd_text text = {bytes, size_bytes};
    if (size_bytes > max_bytes || !is_utf8(text)) return false;
    *ret_text = text;
    return true;
}

static bool read_binary(const bson_iter_t *iter, bson_subtype_t wanted, uint32_t max_bytes,
                        struct evd_text *ret_bytes) {
    bson_subtype_t subtype;
    uint32_t size_bytes = 0;
    const uint8_t *bytes = NULL;
    if (!BSON_ITER_HOLDS_BINARY(iter)) return false;
    bson_iter_binary(iter, &subtype, &size_bytes, &bytes);
    if (subtype != wanted || size_bytes > max_bytes || bytes == NULL) return false;
    *ret_bytes = (struct evd_text){(const char *)bytes, size_bytes};
    return true;
}

static bool read_uuid(const bson_iter_t *iter, evd_uuid *ret_uuid) {
    struct evd_text bytes;
    if (!read_binary(iter, BSON_SUBTYPE_UUID, sizeof *ret_uuid, &bytes)) return false;
    if (bytes.size_bytes != sizeof *ret_uuid) return false;
    memcpy(ret_uuid, bytes.bytes, sizeof *ret_uuid);
    return true;
}

/* libbson looks at the end of the outermost document only: inside, what follows the last element would be dropped. */
static bool open_inner(const bson_iter_t *iter, bson_iter_t *ret_first) {
    enum { EMPTY_BYTES = 5 };
    if (!bson_iter_recurse(iter, ret_first)) return false;
    return ret_first->len >= EMPTY_BYTES && ret_first->raw[ret_first->len - 1] == 0;
}

/* Opens an array and counts its elements, at most `max`. */
static bool open_array(const bson_iter_t *iter, uint32_t max, bson_iter_t *ret_first, size_t *ret_count) {
    bson_iter_t count_iter;
    size_t count = 0;
    if (!BSON_ITER_HOLDS_ARRAY(iter)) return false;
    if (!open_inner(iter, &count_iter)) return false;
    while (bson_iter_next(&count_iter))
        if (++count > max) return false;
    if (count_iter.err_off != 0) return false;
    *ret_count = count;
    return open_inner(iter, ret_first);
}

static bool read_texts(struct decoding *decoding, const bson_iter_t *iter, uint32_t max, uint32_t max_bytes,
                       struct evd_texts *ret_texts) {
    bson_iter_t element;
    size_t count;
    if (!open_array(iter, max, &element, &count)) return false;
    struct evd_text *items = EVD_NEW_ARRAY(decoding->arena, struct evd_text, count);
    for (size_t i = 0; i < count; i++)
        if (!bson_iter_next(&element) || !read_text(&element, max_bytes, &items[i])) return false;
    *ret_texts = (struct evd_texts){items, count};
    return true;
}

static bool read_uuids(struct decoding *decoding, const bson_iter_t *iter, uint32_t max, struct evd_list *ret_list) {
    bson_iter_t element;
    size_t count;
    if (!open_array(iter, max, &element, &count)) return false;
    evd_uuid *items = EVD_NEW_ARRAY(decoding->arena, evd_uuid, count);
    for (size_t i = 0; i < count; i++)
        if (!bson_iter_next(&element) || !read_uuid(&element, &items[i])) return false;
    *ret_list = (struct evd_list){items, count};
    return true;
}

static bool read_list(struct decoding *decoding, const struct evd_type *of, const bson_iter_t *iter, uint32_t max,
                      struct evd_list *ret_list) {
    bson_iter_t element, inner;
    size_t count;
    if (!open_array(iter, max, &element, &count)) return false;
    uint8_t *items = evd_arena_alloc_array(decoding->arena, count, of->size_bytes);
    for (size_t i = 0; i < count; i++) {
        if (!bson_iter_next(&element) || !BSON_ITER_HOLDS_DOCUMENT(&element)) return false;
        if (!open_inner(&element, &inner)) return false;
        if (!decode_document(decoding, of, &inner, items + i * of->size_bytes)) return false;
    }
    *ret_list = (struct evd_list){items, count};
    return true;
}

static bool read_nest(struct decoding *decoding, const struct evd_field *field, const bson_iter_t *iter, void **ret) {
    bson_iter_t inner;
    if (!BSON_ITER_HOLDS_DOCUMENT(iter) || !open_inner(iter, &inner)) return false;
    void *nest = evd_arena_alloc(decoding->arena, field->of->size_bytes);
    if (!decode_document(decoding, field->of, &inner, nest)) return false;
    *ret = nest;
    return true;
}

static bool read_name(struct decoding *decoding, const struct evd_field *field, const bson_iter_t *iter,
                      struct evd_name *ret_name) {
    enum { MOST_NAME_BYTES = 200 };
    struct evd_text text;
    if (!read_text(iter, MOST_NAME_BYTES, &text)) return false;
    ret_name->value = evd_names_find(field->names, text);
    if (ret_name->value == 0) {
        ret_name->text = text;
        decoding->met_unknown_name = true;
    }
    return true;
}

static bool read_number(const bson_iter_t *iter, int64_t *ret_number) {
    if (!BSON_ITER_HOLDS_INT64(iter) && !BSON_ITER_HOLDS_INT32(iter)) return false;
    *ret_number = bson_iter_as_int64(iter);
    return true;
}

static bool read_points(struct decoding *decoding, const bson_iter_t *iter, struct evd_answer_points *ret_points) {
    struct evd_list list;
    if (!read_list(decoding, &evd_type_answer_point, iter, EVD_ANSWER_POINTS_MOST, &list)) return false;
    *ret_points = (struct evd_answer_points){list.items, list.count};
    return true;
}

/* A list that begins with a document is one of points. */
static bool begins_with_point(const bson_iter_t *iter) {
    bson_iter_t first;
    if (!BSON_ITER_HOLDS_ARRAY(iter) || !open_inner(iter, &first)) return false;
    return bson_iter_next(&first) && BSON_ITER_HOLDS_DOCUMENT(&first);
}

static bool read_value(struct decoding *decoding, const bson_iter_t *iter, struct evd_answer_value *ret_value) {
    if (BSON_ITER_HOLDS_UTF8(iter)) {
        ret_value->kind = EVD_ANSWER_TEXT;
        return read_text(iter, EVD_ANSWER_TEXT_BYTES, &ret_value->text);
    }
    if (read_number(iter, &ret_value->integer)) {
        ret_value->kind = EVD_ANSWER_INTEGER;
        return true;
    }
    if (BSON_ITER_HOLDS_BOOL(iter)) {
        *ret_value = (struct evd_answer_value){.kind = EVD_ANSWER_BOOLEAN, .boolean = bson_iter_bool(iter)};
        return true;
    }
    if (begins_with_point(iter)) {
        ret_value->kind = EVD_ANSWER_POINTS;
        return read_points(decoding, iter, &ret_value->points);
    }
    ret_value->kind = EVD_ANSWER_TEXTS;
    return read_texts(decoding, iter, EVD_ANSWER_TEXTS_MOST, EVD_ANSWER_TEXT_BYTES, &ret_value->texts);
}

static bool read_field(struct decoding *decoding, const struct evd_field *field, const bson_iter_t *iter, void *to) {
    switch (field->kind) {
    case EVD_KIND_UUID: return read_uuid(iter, to);
    case EVD_KIND_BOOLEAN:
        if (!BSON_ITER_HOLDS_BOOL(iter)) return false;
        *(bool *)to = bson_iter_bool(iter);
        return true;
    case EVD_KIND_STAMP:
    case EVD_KIND_NUMBER: return read_number(iter, to);
    case EVD_KIND_TIME:
        if (!BSON_ITER_HOLDS_DATE_TIME(iter)) return false;
        *(int64_t *)to = bson_iter_date_time(iter);
        return true;
    case EVD_KIND_STRING: return read_text(iter, field->max, to);
    case EVD_KIND_BYTES: return read_binary(iter, BSON_SUBTYPE_BINARY, field->max, to);
    case EVD_KIND_ENUM: return read_name(decoding, field, iter, to);
    case EVD_KIND_NEST: return read_nest(decoding, field, iter, to);
    case EVD_KIND_LIST: return read_list(decoding, field->of, iter, field->max, to);
    case EVD_KIND_STRINGS: return read_texts(decoding, iter, field->max, field->max_bytes, to);
    case EVD_KIND_UUIDS: return read_uuids(decoding, iter, field->max, to);
    case EVD_KIND_VALUE: return read_value(decoding, iter, to);
    case EVD_KIND_MEMBERS: return false;
    }
    return false;
}

/* Fields mostly come in the table's order, so the search begins behind the last hit. */
static const struct evd_field *find_field(const struct evd_type *type, const char *key, size_t *guess) {
    for (size_t tried = 0; tried < type->field_count; tried++) {
        size_t at = (*guess + tried) % type->field_count;
        if (strcmp(type->fields[at].key, key) != 0) continue;
        *guess = at + 1;
        return &type->fields[at];
    }
    return NULL;
}

static struct evd_unknown_part *keep_unknown(struct decoding *decoding, const bson_iter_t *iter,
                                             struct evd_unknown_part *last, struct evd_unknown *unknown) {
    const uint8_t *bytes = iter->raw + iter->off;
    size_t size_bytes = iter->next_off - iter->off;
    if (last != NULL && last->bytes + last->size_bytes == bytes) {
        last->size_bytes += size_bytes;
        return last;
    }
    struct evd_unknown_part *part = EVD_NEW(decoding->arena, struct evd_unknown_part);
    *part = (struct evd_unknown_part){.bytes = bytes, .size_bytes = size_bytes};
    if (last == NULL)
        unknown->first = part;
    else
        last->next = part;
    return part;
}

static bool decode_document(struct decoding *decoding, const struct evd_type *type, bson_iter_t *iter, void *to) {
    struct evd_unknown *unknown = (void *)((uint8_t *)to + type->unknown_offset);
    struct evd_unknown_part *last = NULL;
    uint64_t seen = 0; /* a key that comes twice is corrupt: the store's indexes would read the other one */
    size_t guess = 0;
    assert(type->field_count <= 64);
    while (bson_iter_next(iter)) {
        const struct evd_field *field = find_field(type, bson_iter_key_unsafe(iter), &guess);
        if (field == NULL) {
            last = keep_unknown(decoding, iter, last, unknown);
            continue;
        }
        uint64_t bit = UINT64_C(1) << (field - type->fields);
        if ((seen & bit) != 0 || !read_field(decoding, field, iter, (uint8_t *)to + field->offset)) return false;
        seen |= bit;
    }
    return iter->err_off == 0;
}

enum evd_decoded evd_bson_decode(const struct evd_type *type, const uint8_t *bson, size_t size_bytes,
                                 struct evd_arena *arena, void *ret_struct) {
    struct decoding decoding = {.arena = arena};
    bson_iter_t iter;
    if (!bson_iter_init_from_data(&iter, bson, size_bytes)) return EVD_DECODED_CORRUPT;
    if (!decode_document(&decoding, type, &iter, ret_struct)) return EVD_DECODED_CORRUPT;
    return decoding.met_unknown_name ? EVD_DECODED_UNKNOWN_NAME : EVD_DECODED;
}
