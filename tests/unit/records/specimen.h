/*
 * Specimens: structs filled from their field tables with generated values, and a comparer that walks the same tables.
 */
#ifndef EVIDENCED_TESTS_RECORDS_SPECIMEN_H
#define EVIDENCED_TESTS_RECORDS_SPECIMEN_H

#include "evidenced/base/arena.h"
#include "evidenced/records/dictionary.h"

#include <assert.h>

#define SPECIMEN_ARENA_BYTES ((size_t)256 << 20)

enum { MOST_TYPES = 200, MOST_COLLECTIONS = 256 };

struct specimen_types {
    const struct evd_type *items[MOST_TYPES];
    size_t count;
};

static inline void specimen_types_add(struct specimen_types *types, const struct evd_type *type) {
    for (size_t i = 0; i < types->count; i++)
        if (types->items[i] == type) return;
    assert(types->count < MOST_TYPES);
    types->items[types->count++] = type;
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].of != NULL) specimen_types_add(types, type->fields[i].of);
        if (type->fields[i].kind == EVD_KIND_VALUE) specimen_types_add(types, &evd_type_answer_point);
    }
}

/* Every record's type. */
static inline struct specimen_types specimen_records(void) {
    struct specimen_types types = {.count = 0};
    for (unsigned in = 0; in < MOST_COLLECTIONS; in++) {
        const struct evd_type *type = evd_type_of_collection((evd_collection)in);
        if (type != NULL) types.items[types.count++] = type;
    }
    return types;
}

/* Every record's type and all that is nested in them. */
static inline struct specimen_types specimen_stored_types(void) {
    struct specimen_types records = specimen_records(), types = {.count = 0};
    for (size_t i = 0; i < records.count; i++)
        specimen_types_add(&types, records.items[i]);
    return types;
}

struct specimen_maker {
    struct evd_arena *arena;
    uint64_t state;
    unsigned absent_percent; /* how often a member that is not required is left zero */
};

static inline uint64_t specimen_next(struct specimen_maker *maker) {
    uint64_t mixed = maker->state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

/* From 1 to `most`, and to `usual` at most. */
static inline size_t specimen_size(struct specimen_maker *maker, size_t most, size_t usual) {
    return 1 + specimen_next(maker) % (most < usual ? most : usual);
}

/* Exactly size_bytes of UTF-8 with what needs care in it: quotes, control characters, one to four bytes a character. */
static inline struct evd_text specimen_text(struct specimen_maker *maker, size_t size_bytes) {
    static const char *const pieces[] = {"a",
                                         "Z",
                                         "\"",
                                         "\\",
                                         "/",
                                         "\n",
                                         "\t",
                                         "\x01",
                                         "\x1F",
                                         "\x7F",
                                         "\xC3\xA9",
                                         "\xE2\x80\xA8",
                                         "\xF0\x9F\x94\xAC",
                                         "{",
                                         "}",
                                         "[",
                                         "%",
                                         "\xEF\xBF\xBF",
                                         "0",
                                         " ",
                                         "'"};
    char *bytes = evd_arena_alloc(maker->arena, size_bytes + 1);
    for (size_t at = 0; at < size_bytes;) {
        const char *piece = pieces[specimen_next(maker) % (sizeof pieces / sizeof *pieces)];
        size_t piece_bytes = strlen(piece);
        if (piece_bytes > size_bytes - at) continue;
        memcpy(bytes + at, piece, piece_bytes);
        at += piece_bytes;
    }
    return (struct evd_text){bytes, size_bytes};
}

static inline struct evd_text specimen_bytes(struct specimen_maker *maker, size_t size_bytes) {
    char *bytes = evd_arena_alloc(maker->arena, size_bytes + 1);
    for (size_t i = 0; i < size_bytes; i++)
        bytes[i] = (char)specimen_next(maker);
    return (struct evd_text){bytes, size_bytes};
}

static inline evd_uuid specimen_uuid(struct specimen_maker *maker) {
    evd_uuid uuid;
    for (size_t i = 0; i < sizeof uuid.bytes; i++)
        uuid.bytes[i] = (uint8_t)(1 + specimen_next(maker) % 255);
    return uuid;
}

static inline int64_t specimen_number(struct specimen_maker *maker, int64_t least, int64_t most) {
    uint64_t span = (uint64_t)most - (uint64_t)least;
    uint64_t drawn = specimen_next(maker);
    return (int64_t)((uint64_t)least + (span == UINT64_MAX ? drawn : drawn % (span + 1)));
}

static inline struct evd_texts specimen_texts(struct specimen_maker *maker, size_t count, size_t most_bytes) {
    struct evd_text *items = EVD_NEW_ARRAY(maker->arena, struct evd_text, count);
    for (size_t i = 0; i < count; i++)
        items[i] = specimen_text(maker, specimen_next(maker) % (1 + (most_bytes < 24 ? most_bytes : 24)));
    return (struct evd_texts){items, count};
}

static inline void *specimen_items(struct specimen_maker *maker, const struct evd_type *of, size_t count);

static inline struct evd_answer_value specimen_value(struct specimen_maker *maker) {
    const int64_t largest = (INT64_C(1) << 53) - 1;
    switch (specimen_next(maker) % 5) {
    case 0: return (struct evd_answer_value){.kind = EVD_ANSWER_TEXT, .text = specimen_text(maker, 12)};
    case 1:
        return (struct evd_answer_value){.kind = EVD_ANSWER_INTEGER,
                                         .integer = specimen_number(maker, -largest, largest)};
    case 2: return (struct evd_answer_value){.kind = EVD_ANSWER_BOOLEAN, .boolean = specimen_next(maker) % 2 == 0};
    case 3: {
        size_t count = 1 + specimen_next(maker) % 3;
        return (struct evd_answer_value){.kind = EVD_ANSWER_POINTS,
                                         .points = {specimen_items(maker, &evd_type_answer_point, count), count}};
    }
    default:
        return (struct evd_answer_value){.kind = EVD_ANSWER_TEXTS,
                                         .texts = specimen_texts(maker, specimen_next(maker) % 4, 30)};
    }
}

static inline void specimen_fill(struct specimen_maker *maker, const struct evd_type *type, void *to);

static inline void *specimen_items(struct specimen_maker *maker, const struct evd_type *of, size_t count) {
    uint8_t *items = evd_arena_alloc_array(maker->arena, count, of->size_bytes);
    for (size_t i = 0; i < count; i++)
        specimen_fill(maker, of, items + i * of->size_bytes);
    return items;
}

static inline struct evd_list specimen_uuids(struct specimen_maker *maker, size_t count) {
    evd_uuid *items = EVD_NEW_ARRAY(maker->arena, evd_uuid, count);
    for (size_t i = 0; i < count; i++)
        items[i] = specimen_uuid(maker);
    return (struct evd_list){items, count};
}

static inline void specimen_member(struct specimen_maker *maker, const struct evd_field *field, void *to) {
    switch (field->kind) {
    case EVD_KIND_UUID: *(evd_uuid *)to = specimen_uuid(maker); return;
    case EVD_KIND_BOOLEAN: *(bool *)to = maker->absent_percent == 0 || specimen_next(maker) % 2 == 0; return;
    case EVD_KIND_STAMP: *(evd_stamp *)to = specimen_next(maker); return;
    case EVD_KIND_TIME: *(int64_t *)to = specimen_number(maker, 1, INT64_C(253402300799999)); return;
    case EVD_KIND_NUMBER: *(int64_t *)to = specimen_number(maker, field->least, field->most); return;
    case EVD_KIND_STRING: *(struct evd_text *)to = specimen_text(maker, specimen_size(maker, field->max, 24)); return;
    case EVD_KIND_BYTES: *(struct evd_text *)to = specimen_bytes(maker, specimen_size(maker, field->max, 40)); return;
    case EVD_KIND_ENUM:
        ((struct evd_name *)to)->value = (int)specimen_size(maker, field->names->count - 1, 1000);
        return;
    case EVD_KIND_NEST: *(void **)to = specimen_items(maker, field->of, 1); return;
    case EVD_KIND_LIST: {
        size_t count = specimen_size(maker, field->max, 3);
        *(struct evd_list *)to = (struct evd_list){specimen_items(maker, field->of, count), count};
        return;
    }
    case EVD_KIND_STRINGS:
        *(struct evd_texts *)to = specimen_texts(maker, specimen_size(maker, field->max, 3), field->max_bytes);
        return;
    case EVD_KIND_UUIDS: *(struct evd_list *)to = specimen_uuids(maker, specimen_size(maker, field->max, 3)); return;
    case EVD_KIND_VALUE: *(struct evd_answer_value *)to = specimen_value(maker); return;
    case EVD_KIND_MEMBERS: return;
    }
}

/* Fills a zeroed struct; with absent_percent 0 every member gets a value, mostly not the zero value. */
static inline void specimen_fill(struct specimen_maker *maker, const struct evd_type *type, void *to) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct evd_field *field = &type->fields[i];
        if (field->need != EVD_REQUIRED && specimen_next(maker) % 100 < maker->absent_percent) continue;
        specimen_member(maker, field, (uint8_t *)to + field->offset);
    }
}

static inline const char *specimen_difference(const struct evd_type *type, const void *a, const void *b);

static inline bool specimen_same_texts(const struct evd_texts *a, const struct evd_texts *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!evd_text_equal(a->items[i], b->items[i])) return false;
    return true;
}

static inline bool specimen_same_items(const struct evd_type *of, const struct evd_list *a, const struct evd_list *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        size_t at = i * of->size_bytes;
        if (specimen_difference(of, (const uint8_t *)a->items + at, (const uint8_t *)b->items + at) != NULL)
            return false;
    }
    return true;
}

static inline bool specimen_same_nest(const struct evd_type *of, const void *const *a, const void *const *b) {
    if (*a == NULL || *b == NULL) return *a == *b;
    return specimen_difference(of, *a, *b) == NULL;
}

/* No text and a text without bytes are two things. */
static inline bool specimen_same_text(const struct evd_text *a, const struct evd_text *b) {
    return (a->bytes == NULL) == (b->bytes == NULL) && evd_text_equal(*a, *b);
}

static inline bool specimen_same_name(const struct evd_name *a, const struct evd_name *b) {
    return a->value == b->value && (a->value != 0 || specimen_same_text(&a->text, &b->text));
}

static inline bool specimen_same_member(const struct evd_field *field, const void *a, const void *b) {
    switch (field->kind) {
    case EVD_KIND_UUID: return memcmp(a, b, sizeof(evd_uuid)) == 0;
    case EVD_KIND_BOOLEAN: return *(const bool *)a == *(const bool *)b;
    case EVD_KIND_STAMP: return *(const evd_stamp *)a == *(const evd_stamp *)b;
    case EVD_KIND_TIME:
    case EVD_KIND_NUMBER: return *(const int64_t *)a == *(const int64_t *)b;
    case EVD_KIND_STRING:
    case EVD_KIND_BYTES:
    case EVD_KIND_MEMBERS: return specimen_same_text(a, b);
    case EVD_KIND_ENUM: return specimen_same_name(a, b);
    case EVD_KIND_NEST: return specimen_same_nest(field->of, a, b);
    case EVD_KIND_LIST: return specimen_same_items(field->of, a, b);
    case EVD_KIND_STRINGS: return specimen_same_texts(a, b);
    case EVD_KIND_UUIDS: {
        const struct evd_list *left = a, *right = b;
        return left->count == right->count &&
               (left->count == 0 || memcmp(left->items, right->items, left->count * sizeof(evd_uuid)) == 0);
    }
    case EVD_KIND_VALUE: return evd_answer_value_equal(a, b);
    }
    return false;
}

/* The key of the first member that differs, NULL when none does. Unknown parts are not looked at. */
static inline const char *specimen_difference(const struct evd_type *type, const void *a, const void *b) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct evd_field *field = &type->fields[i];
        if (!specimen_same_member(field, (const uint8_t *)a + field->offset, (const uint8_t *)b + field->offset))
            return field->key;
    }
    return NULL;
}

#endif
