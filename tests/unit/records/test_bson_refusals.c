/*
 * What the codec of stored records refuses: another type under a known key, what is beyond its bound, and damage.
 */
#include "../../support/test.h"
#include "elements.h"
#include "evidenced/records/bson.h"
#include "fixture.h"
#include "specimen.h"

enum { NAME_BYTES = 200 }; /* of a newer version's name */

static struct evd_arena arena;

static void arena_renew(void) {
    evd_arena_done(&arena);
    evd_arena_init(&arena, SPECIMEN_ARENA_BYTES);
}

static enum evd_decoded decode(const struct evd_type *type, struct evd_text bson) {
    void *to = evd_arena_alloc(&arena, type->size_bytes);
    return evd_bson_decode(type, (const uint8_t *)bson.bytes, bson.size_bytes, &arena, to);
}

static bool is_corrupt(const struct evd_type *type, struct evd_text bson) {
    return decode(type, bson) == EVD_DECODED_CORRUPT;
}

/* May this element stand under a field of this kind? */
static bool takes(enum evd_kind kind, const struct element *element) {
    bool empty_array = element->type == TYPE_ARRAY && element->value.size_bytes == 5;
    bool number = element->type == TYPE_I32 || element->type == TYPE_I64;
    switch (kind) {
    case EVD_KIND_UUID: return element->type == TYPE_BINARY && element->subtype == 4;
    case EVD_KIND_BOOLEAN: return element->type == TYPE_BOOLEAN;
    case EVD_KIND_STAMP:
    case EVD_KIND_NUMBER: return number;
    case EVD_KIND_TIME: return element->type == TYPE_TIME;
    case EVD_KIND_STRING:
    case EVD_KIND_ENUM: return element->type == TYPE_TEXT;
    case EVD_KIND_BYTES: return element->type == TYPE_BINARY && element->subtype == 0;
    case EVD_KIND_NEST: return element->type == TYPE_DOCUMENT;
    case EVD_KIND_LIST:
    case EVD_KIND_STRINGS:
    case EVD_KIND_UUIDS: return empty_array;
    case EVD_KIND_VALUE: return empty_array || number || element->type == TYPE_TEXT || element->type == TYPE_BOOLEAN;
    case EVD_KIND_MEMBERS: return false;
    }
    return false;
}

static bool takes_inside(enum evd_kind kind, const struct element *element) {
    if (kind == EVD_KIND_LIST) return element->type == TYPE_DOCUMENT;
    if (kind == EVD_KIND_VALUE) return element->type == TYPE_TEXT || element->type == TYPE_DOCUMENT; /* or a point */
    if (kind == EVD_KIND_UUIDS) return element->type == TYPE_BINARY && element->subtype == 4;
    return element->type == TYPE_TEXT;
}

static bool is_list(enum evd_kind kind) {
    return kind == EVD_KIND_LIST || kind == EVD_KIND_STRINGS || kind == EVD_KIND_UUIDS || kind == EVD_KIND_VALUE;
}

/* Calls back with every field of every stored type and of the fixture. */
static size_t for_each_field(void (*check)(const struct evd_type *type, const struct evd_field *field)) {
    struct specimen_types types = specimen_stored_types();
    size_t fields = 0;
    specimen_types_add(&types, &evd_type_sample);
    for (size_t i = 0; i < types.count; i++)
        for (size_t f = 0; f < types.items[i]->field_count; f++, fields++) {
            arena_renew();
            check(types.items[i], &types.items[i]->fields[f]);
        }
    return fields;
}

static void check_each_type(const struct evd_type *type, const struct evd_field *field) {
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        bool corrupt = is_corrupt(type, document_of(&arena, field->key, &elements[i]));
        ck_assert_msg(corrupt == !takes(field->kind, &elements[i]), "%s.%s: %s is %s", type->name, field->key,
                      elements[i].label, corrupt ? "corrupt" : "taken");
    }
}

START_TEST(a_known_key_of_another_type_is_corrupt) {
    ck_assert_uint_gt(for_each_field(check_each_type), 150);
}
END_TEST

/* { key: [ element ] } or, when key_inside is there, { key: [ { key_inside: element } ] }. */
static struct evd_text in_array(const char *key, const char *key_inside, const struct element *element) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 256);
    size_t begun = put_begin(&out);
    put_head(&out, TYPE_ARRAY, key);
    size_t array = put_begin(&out);
    if (key_inside == NULL) {
        put_element(&out, "0", element);
    } else {
        put_head(&out, TYPE_DOCUMENT, "0");
        size_t document = put_begin(&out);
        put_element(&out, key_inside, element);
        put_end(&out, document);
    }
    put_end(&out, array);
    put_end(&out, begun);
    return evd_buffer_text(&out);
}

static void check_each_type_in_list(const struct evd_type *type, const struct evd_field *field) {
    if (!is_list(field->kind)) return;
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        bool corrupt = is_corrupt(type, in_array(field->key, NULL, &elements[i]));
        ck_assert_msg(corrupt == !takes_inside(field->kind, &elements[i]), "%s.%s: %s is %s", type->name, field->key,
                      elements[i].label, corrupt ? "corrupt" : "taken");
    }
}

START_TEST(an_element_of_another_type_in_a_list_is_corrupt) {
    (void)for_each_field(check_each_type_in_list);
}
END_TEST

static void check_each_type_inside(const struct evd_type *type, const struct evd_field *field) {
    if (field->of == NULL) return;
    const struct evd_field *inner = &field->of->fields[0];
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        struct evd_text array = in_array(field->key, inner->key, &elements[i]);
        struct evd_text document = document_of(&arena, inner->key, &elements[i]);
        const struct element nest = {.type = TYPE_DOCUMENT, .value = document};
        struct evd_text bson = field->kind == EVD_KIND_LIST ? array : document_of(&arena, field->key, &nest);
        ck_assert_msg(is_corrupt(type, bson) == !takes(inner->kind, &elements[i]), "%s.%s.%s: %s", type->name,
                      field->key, inner->key, elements[i].label);
    }
}

START_TEST(what_is_corrupt_inside_makes_the_whole_corrupt) {
    (void)for_each_field(check_each_type_inside);
}
END_TEST

static void check_twice(const struct evd_type *type, const struct evd_field *field) {
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        if (!takes(field->kind, &elements[i])) continue;
        struct evd_buffer out;
        evd_buffer_init(&out, &arena, 128);
        size_t begun = put_begin(&out);
        put_element(&out, field->key, &elements[i]);
        put_element(&out, "unknown between", &elements[i]);
        put_element(&out, field->key, &elements[i]);
        put_end(&out, begun);
        ck_assert_msg(is_corrupt(type, evd_buffer_text(&out)), "%s.%s", type->name, field->key);
    }
}

START_TEST(a_known_key_that_comes_twice_is_corrupt) {
    (void)for_each_field(check_twice);
}
END_TEST

/* { key: a text, or bytes, of that size } */
static struct evd_text of_size(const struct evd_field *field, size_t size_bytes) {
    struct evd_buffer out;
    struct evd_text text = {memset(evd_arena_alloc(&arena, size_bytes + 1), 'x', size_bytes), size_bytes};
    evd_buffer_init(&out, &arena, size_bytes + 64);
    size_t begun = put_begin(&out);
    if (field->kind == EVD_KIND_BYTES)
        put_binary(&out, field->key, 0, text);
    else
        put_text(&out, field->key, text);
    put_end(&out, begun);
    return evd_buffer_text(&out);
}

/* { key: [ count elements, the last a text of that size ] } */
static struct evd_text of_count(const struct evd_field *field, size_t count, size_t last_bytes) {
    static const evd_uuid uuid = {{1}};
    struct evd_text last = {memset(evd_arena_alloc(&arena, last_bytes + 1), 'x', last_bytes), last_bytes};
    struct evd_buffer out;
    char key[24];
    evd_buffer_init(&out, &arena, 64 * 1024);
    size_t begun = put_begin(&out);
    put_head(&out, TYPE_ARRAY, field->key);
    size_t array = put_begin(&out);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(key, sizeof key, "%zu", i);
        if (field->kind == EVD_KIND_UUIDS) put_binary(&out, key, 4, evd_uuid_part(&uuid));
        if (field->kind == EVD_KIND_STRINGS || field->kind == EVD_KIND_VALUE)
            put_text(&out, key, i + 1 == count ? last : EVD_TEXT("x"));
        if (field->kind != EVD_KIND_LIST) continue;
        put_head(&out, TYPE_DOCUMENT, key);
        size_t empty = put_begin(&out);
        put_end(&out, empty);
    }
    put_end(&out, array);
    put_end(&out, begun);
    return evd_buffer_text(&out);
}

static void check_size(const struct evd_type *type, const struct evd_field *field, size_t most) {
    ck_assert_msg(!is_corrupt(type, of_size(field, 0)), "%s.%s without bytes", type->name, field->key);
    ck_assert_msg(!is_corrupt(type, of_size(field, most)), "%s.%s of %zu bytes", type->name, field->key, most);
    ck_assert_msg(is_corrupt(type, of_size(field, most + 1)), "%s.%s of %zu bytes", type->name, field->key, most + 1);
}

static void check_count(const struct evd_type *type, const struct evd_field *field, size_t most, size_t most_bytes) {
    ck_assert_msg(!is_corrupt(type, of_count(field, 0, 0)), "%s.%s of none", type->name, field->key);
    ck_assert_msg(!is_corrupt(type, of_count(field, most, most_bytes)), "%s.%s of %zu", type->name, field->key, most);
    ck_assert_msg(is_corrupt(type, of_count(field, most + 1, 1)), "%s.%s of %zu", type->name, field->key, most + 1);
    if (field->kind == EVD_KIND_STRINGS || field->kind == EVD_KIND_VALUE)
        ck_assert_msg(is_corrupt(type, of_count(field, most, most_bytes + 1)), "%s.%s: an element of %zu bytes",
                      type->name, field->key, most_bytes + 1);
}

static void check_bounds(const struct evd_type *type, const struct evd_field *field) {
    if (field->kind == EVD_KIND_STRING || field->kind == EVD_KIND_BYTES) check_size(type, field, field->max);
    if (field->kind == EVD_KIND_ENUM) check_size(type, field, NAME_BYTES);
    if (field->kind == EVD_KIND_VALUE) {
        check_size(type, field, EVD_ANSWER_TEXT_BYTES);
        check_count(type, field, EVD_ANSWER_TEXTS_MOST, EVD_ANSWER_TEXT_BYTES);
    } else if (is_list(field->kind)) {
        check_count(type, field, field->max, field->max_bytes);
    }
}

START_TEST(every_bound_holds_and_one_more_is_corrupt) {
    (void)for_each_field(check_bounds);
}
END_TEST

/* { value: [ count points, each of these texts ], and behind them one more element }; behind NULL: none. */
static struct evd_text series_of(size_t count, struct evd_text time, const struct element *behind) {
    struct evd_buffer out;
    char key[24];
    evd_buffer_init(&out, &arena, 64 * 1024);
    size_t begun = put_begin(&out);
    put_head(&out, TYPE_ARRAY, "value");
    size_t array = put_begin(&out);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(key, sizeof key, "%zu", i);
        put_head(&out, TYPE_DOCUMENT, key);
        size_t point = put_begin(&out);
        put_text(&out, "time", time);
        put_text(&out, "average", EVD_TEXT("1"));
        put_end(&out, point);
    }
    (void)snprintf(key, sizeof key, "%zu", count);
    if (behind != NULL) put_element(&out, key, behind);
    put_end(&out, array);
    put_end(&out, begun);
    return evd_buffer_text(&out);
}

START_TEST(a_series_is_bounded_and_holds_points_alone) {
    char long_time[41];
    memset(long_time, '1', sizeof long_time);
    arena_renew();
    ck_assert(!is_corrupt(&evd_type_sample, series_of(EVD_ANSWER_POINTS_MOST, EVD_TEXT("0"), NULL)));
    ck_assert(is_corrupt(&evd_type_sample, series_of(EVD_ANSWER_POINTS_MOST + 1, EVD_TEXT("0"), NULL)));
    ck_assert(!is_corrupt(&evd_type_sample, series_of(1, (struct evd_text){long_time, 40}, NULL)));
    ck_assert(is_corrupt(&evd_type_sample, series_of(1, (struct evd_text){long_time, 41}, NULL)));
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        bool corrupt = is_corrupt(&evd_type_sample, series_of(2, EVD_TEXT("0"), &elements[i]));
        ck_assert_msg(corrupt == (elements[i].type != TYPE_DOCUMENT), "%s", elements[i].label);
    }
}
END_TEST

START_TEST(a_uuid_has_sixteen_bytes) {
    static const char *const sizes[] = {"", "fifteen bytes..", "seventeen bytes.."};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        arena_renew();
        struct evd_buffer out;
        evd_buffer_init(&out, &arena, 64);
        size_t begun = put_begin(&out);
        put_binary(&out, "id", 4, evd_text_from(sizes[i]));
        put_end(&out, begun);
        ck_assert_msg(is_corrupt(&evd_type_sample, evd_buffer_text(&out)), "%s", sizes[i]);
    }
}
END_TEST

struct damage {
    const char *what;
    struct evd_text bytes;
};

#define DAMAGE(label, literal)                                                                                         \
    { .what = (label), .bytes = EVD_TEXT_INIT(literal) }

START_TEST(a_damaged_frame_is_corrupt) {
    static const struct damage table[] = {
        DAMAGE("no bytes", ""),
        DAMAGE("four bytes", "\4\0\0\0"),
        DAMAGE("a length too small", "\4\0\0\0\0"),
        DAMAGE("a length too large", "\6\0\0\0\0"),
        DAMAGE("a length below zero", "\xFF\xFF\xFF\xFF\0"),
        DAMAGE("a byte behind the end", "\5\0\0\0\0\0"),
        DAMAGE("no NUL at the end", "\5\0\0\0\1"),
        DAMAGE("an end before the end", "\7\0\0\0\0\0\0"),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        arena_renew();
        ck_assert_msg(is_corrupt(&evd_type_sample, table[i].bytes), "%s", table[i].what);
    }
}
END_TEST

static struct evd_text framed(struct evd_text inside) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 64);
    size_t begun = put_begin(&out);
    evd_buffer_add_text(&out, inside);
    put_end(&out, begun);
    return evd_buffer_text(&out);
}

START_TEST(damage_inside_is_corrupt) {
    static const struct damage table[] = {
        DAMAGE("a type that does not exist", "\x20x\0"),
        DAMAGE("a boolean that is 2", "\x08ripe\0\2"),
        DAMAGE("an unknown boolean that is 2", "\x08x\0\2"),
        DAMAGE("a key without an end", "\x0Axxxx"),
        DAMAGE("a text longer than the document", "\2title\0\x20\0\0\0abc\0"),
        DAMAGE("a text of no bytes, not even its NUL", "\2title\0\0\0\0\0"),
        DAMAGE("a text with a length below zero", "\2title\0\xFF\xFF\xFF\xFF\0"),
        DAMAGE("a text without its NUL", "\2title\0\2\0\0\0ab"),
        DAMAGE("a text that is not UTF-8", "\2title\0\2\0\0\0\xFF\0"),
        DAMAGE("a fault behind plain text", "\2title\0\x0B\0\0\0plain te\xC3(\0"),
        DAMAGE("a character cut at the end", "\2title\0\x0A\0\0\0plain te\xC3\0"),
        DAMAGE("a surrogate in a text", "\2title\0\4\0\0\0\xED\xA0\x80\0"),
        DAMAGE("a name that is not UTF-8", "\2role\0\2\0\0\0\xC0\0"),
        DAMAGE("a nested document of four bytes", "\3trunk\0\4\0\0\0"),
        DAMAGE("a nested document of no bytes", "\3trunk\0\0\0\0\0"),
        DAMAGE("a nested document without its NUL", "\3trunk\0\5\0\0\0\1"),
        DAMAGE("bytes behind the last nested element", "\3trunk\0\x08\0\0\0\x0A"
                                                       "bcd"),
        DAMAGE("a nested document that ends in its middle", "\3trunk\0\x08\0\0\0\0bc\0"),
        DAMAGE("a nested document longer than its parent", "\3trunk\0\x40\0\0\0\0"),
        DAMAGE("a nested length below zero", "\3trunk\0\xFB\xFF\xFF\xFF\0"),
        DAMAGE("an array without its NUL", "\4tags\0\5\0\0\0\1"),
        DAMAGE("an array that ends in its middle", "\4tags\0\x08\0\0\0\2"
                                                   "0\0"),
        DAMAGE("an answer's list without its NUL", "\4value\0\5\0\0\0\1"),
        DAMAGE("a point without its NUL", "\4value\0\x0D\0\0\0\3"
                                          "0\0\5\0\0\0\1\0"),
        DAMAGE("a time that is a number", "\4value\0\x1B\0\0\0\3"
                                          "0\0\x13\0\0\0\x12time\0\1\0\0\0\0\0\0\0\0\0"),
        DAMAGE("a list's element without its NUL", "\4branches\0\x0D\0\0\0\3"
                                                   "0\0\5\0\0\0\1\0"),
        DAMAGE("old bytes with a wrong length of their own", "\5id\0\4\0\0\0\2\xFF\0\0\0"),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        arena_renew();
        ck_assert_msg(is_corrupt(&evd_type_sample, framed(table[i].bytes)), "%s", table[i].what);
    }
    ck_assert(!is_corrupt(&evd_type_sample, framed(EVD_TEXT("\3trunk\0\5\0\0\0\0\2title\0\1\0\0\0\0"))));
}
END_TEST

static struct evd_text specimen_bson(const struct evd_type *type, uint64_t seed) {
    struct specimen_maker maker = {.arena = &arena, .state = seed};
    void *made = evd_arena_alloc(&arena, type->size_bytes);
    specimen_fill(&maker, type, made);
    struct evd_image image = evd_bson_encode(type, made, &arena);
    return (struct evd_text){(const char *)image.bson, image.size_bytes};
}

/* Decodes an exact copy on the heap, so that a read beyond it is seen; what is taken must be one another's equal. */
static bool is_corrupt_copy(const struct evd_type *type, struct evd_text bson) {
    static struct evd_arena scratch;
    uint8_t *copy = malloc(bson.size_bytes + (bson.size_bytes == 0));
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bson.bytes, bson.size_bytes);
    evd_arena_init(&scratch, SPECIMEN_ARENA_BYTES);
    void *first = evd_arena_alloc(&scratch, type->size_bytes), *second = evd_arena_alloc(&scratch, type->size_bytes);
    enum evd_decoded got = evd_bson_decode(type, copy, bson.size_bytes, &scratch, first);
    if (got != EVD_DECODED_CORRUPT) {
        struct evd_image image = evd_bson_encode(type, first, &scratch);
        ck_assert_int_eq(evd_bson_decode(type, image.bson, image.size_bytes, &scratch, second), got);
        ck_assert_ptr_null(specimen_difference(type, first, second));
    }
    evd_arena_done(&scratch);
    free(copy);
    return got == EVD_DECODED_CORRUPT;
}

START_TEST(a_truncated_document_is_corrupt_at_every_length) {
    struct specimen_types records = specimen_records();
    for (size_t i = 0; i < records.count; i++) {
        arena_renew();
        struct evd_text bson = specimen_bson(records.items[i], i);
        ck_assert(!is_corrupt_copy(records.items[i], bson));
        for (; bson.size_bytes > 0; bson.size_bytes--) {
            struct evd_text shorter = {bson.bytes, bson.size_bytes - 1};
            ck_assert_msg(is_corrupt_copy(records.items[i], shorter), "%s: %zu bytes", records.items[i]->name,
                          shorter.size_bytes);
        }
    }
}
END_TEST

/* Cut, with the outer length and the last byte as they ought to be: the cut goes through what is inside. */
START_TEST(a_document_cut_within_does_no_harm) {
    struct specimen_types records = specimen_records();
    size_t corrupt = 0;
    for (size_t i = 0; i < records.count; i++) {
        arena_renew();
        struct evd_text bson = specimen_bson(records.items[i], i);
        char *bytes = evd_arena_copy(&arena, bson.bytes, bson.size_bytes);
        for (size_t size_bytes = bson.size_bytes - 1; size_bytes >= 5; size_bytes--) {
            bytes[size_bytes - 1] = 0;
            for (size_t b = 0; b < 4; b++)
                bytes[b] = (char)(size_bytes >> (8 * b));
            corrupt += is_corrupt_copy(records.items[i], (struct evd_text){bytes, size_bytes});
        }
    }
    ck_assert_uint_gt(corrupt, 1000);
}
END_TEST

START_TEST(a_changed_byte_does_no_harm) {
    static const uint8_t masks[] = {0x01, 0x80, 0x02, 0xFF, 0x10};
    struct specimen_types records = specimen_records();
    for (size_t i = 0; i < records.count; i++) {
        arena_renew();
        struct evd_text bson = specimen_bson(records.items[i], i);
        char *bytes = evd_arena_copy(&arena, bson.bytes, bson.size_bytes);
        for (size_t at = 0; at < bson.size_bytes; at++)
            for (size_t m = 0; m < sizeof masks; m++) {
                bytes[at] = (char)((uint8_t)bytes[at] ^ masks[m]);
                (void)is_corrupt_copy(records.items[i], (struct evd_text){bytes, bson.size_bytes});
                bytes[at] = bson.bytes[at];
            }
    }
}
END_TEST

START_TEST(a_full_arena_ends_the_attempt_at_every_allocation) {
    jmp_buf escape;
    volatile int64_t escapes = 0;
    arena_renew();
    struct evd_text bson = specimen_bson(&evd_type_study, 1);
    for (volatile int64_t at = 1; at <= escapes + 1; at++) {
        struct evd_arena small;
        evd_arena_init(&small, SPECIMEN_ARENA_BYTES);
        small.escape = &escape;
        small.fail_at = at;
        if (setjmp(escape) == 0) {
            struct evd_study *study = EVD_NEW(&small, struct evd_study);
            enum evd_decoded got =
                evd_bson_decode(&evd_type_study, (const uint8_t *)bson.bytes, bson.size_bytes, &small, study);
            ck_assert_int_eq(got, EVD_DECODED);
            (void)evd_bson_encode(&evd_type_study, study, &small);
        } else {
            escapes++;
        }
        evd_arena_done(&small);
    }
    ck_assert_int_gt(escapes, 10);
}
END_TEST

EVD_TEST_MAIN("records: what the BSON codec refuses", a_known_key_of_another_type_is_corrupt,
              an_element_of_another_type_in_a_list_is_corrupt, what_is_corrupt_inside_makes_the_whole_corrupt,
              a_known_key_that_comes_twice_is_corrupt, every_bound_holds_and_one_more_is_corrupt,
              a_series_is_bounded_and_holds_points_alone, a_uuid_has_sixteen_bytes, a_damaged_frame_is_corrupt,
              damage_inside_is_corrupt, a_truncated_document_is_corrupt_at_every_length,
              a_document_cut_within_does_no_harm, a_changed_byte_does_no_harm,
              a_full_arena_ends_the_attempt_at_every_allocation)
