/*
 * What the codec of stored records keeps: every member of every record, everything it does not know, byte for byte.
 */
#include "../../support/test.h"
#include "elements.h"
#include "evidenced/records/bson.h"
#include "fixture.h"
#include "specimen.h"

#include <bson/bson.h>

static struct evd_arena arena;

static struct specimen_maker maker_of(uint64_t seed, unsigned absent_percent) {
    evd_arena_done(&arena);
    evd_arena_init(&arena, SPECIMEN_ARENA_BYTES);
    return (struct specimen_maker){.arena = &arena, .state = seed, .absent_percent = absent_percent};
}

static struct evd_text encoded(const struct evd_type *type, const void *from) {
    struct evd_image image = evd_bson_encode(type, from, &arena);
    return (struct evd_text){(const char *)image.bson, image.size_bytes};
}

/* A fresh struct of the type, decoded; the test ends when the answer is not the expected one. */
static void *decoded(const struct evd_type *type, struct evd_text bson, enum evd_decoded expected) {
    void *to = evd_arena_alloc(&arena, type->size_bytes);
    enum evd_decoded got = evd_bson_decode(type, (const uint8_t *)bson.bytes, bson.size_bytes, &arena, to);
    ck_assert_msg(got == expected, "%s: decoded as %d, not %d", type->name, (int)got, (int)expected);
    return to;
}

static void assert_same_bytes(const char *what, struct evd_text got, struct evd_text expected) {
    size_t at = 0;
    while (at < got.size_bytes && at < expected.size_bytes && got.bytes[at] == expected.bytes[at])
        at++;
    ck_assert_msg(evd_text_equal(got, expected), "%s: %zu bytes, not %zu; they part at byte %zu", what, got.size_bytes,
                  expected.size_bytes, at);
}

static void *filled(struct specimen_maker *maker, const struct evd_type *type) {
    void *made = evd_arena_alloc(&arena, type->size_bytes);
    specimen_fill(maker, type, made);
    return made;
}

static void assert_round_trip(const struct evd_type *type, uint64_t seed, unsigned absent_percent) {
    struct specimen_maker maker = maker_of(seed, absent_percent);
    const void *made = filled(&maker, type);
    struct evd_text bson = encoded(type, made);
    const void *back = decoded(type, bson, EVD_DECODED);
    const char *differs = specimen_difference(type, made, back);
    ck_assert_msg(differs == NULL, "%s.%s, seed %llu", type->name, differs, (unsigned long long)seed);
    assert_same_bytes(type->name, encoded(type, back), bson);
}

START_TEST(every_member_of_every_record_comes_back) {
    struct specimen_types types = specimen_stored_types();
    ck_assert_uint_gt(types.count, 20);
    for (size_t i = 0; i < types.count; i++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            assert_round_trip(types.items[i], seed, 0);
            assert_round_trip(types.items[i], seed, 50);
        }
}
END_TEST

/* Else the test above would prove nothing. */
START_TEST(a_member_that_is_lost_is_noticed) {
    struct specimen_types types = specimen_stored_types();
    for (size_t i = 0; i < types.count; i++) {
        struct specimen_maker maker = maker_of(i, 0);
        const void *made = filled(&maker, types.items[i]), *zero = evd_arena_alloc(&arena, types.items[i]->size_bytes);
        for (size_t f = 0; f < types.items[i]->field_count; f++) {
            const struct evd_field *field = &types.items[i]->fields[f];
            struct evd_type alone = *types.items[i];
            alone.fields = field;
            alone.field_count = 1;
            bool drew_zero = field->kind == EVD_KIND_NUMBER &&
                             *(const int64_t *)(const void *)((const uint8_t *)made + field->offset) == 0;
            if (!drew_zero) ck_assert_str_eq(specimen_difference(&alone, made, zero), field->key);
        }
    }
}
END_TEST

/* The stored form itself, by hand: what one version writes, every later one must read. */
static struct evd_text sample_by_hand(void) {
    static const evd_uuid id = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 64);
    size_t begun = put_begin(&out);
    put_binary(&out, "id", 4, evd_uuid_part(&id));
    put_text(&out, "title", EVD_TEXT("a\0b"));
    put_number(&out, TYPE_I64, "count", -3);
    put_number(&out, TYPE_I64, "anyNumber", 0);
    put_boolean(&out, "ripe", true);
    put_number(&out, TYPE_I64, "stamp", INT64_MIN);
    put_text(&out, "role", EVD_TEXT("reviewer"));
    put_head(&out, TYPE_DOCUMENT, "trunk");
    size_t trunk = put_begin(&out);
    put_number(&out, TYPE_I64, "order", 0);
    put_head(&out, TYPE_ARRAY, "leaves");
    size_t leaves = put_begin(&out), leaf;
    put_head(&out, TYPE_DOCUMENT, "0");
    leaf = put_begin(&out);
    put_text(&out, "name", EVD_TEXT(""));
    put_boolean(&out, "ripe", false);
    put_end(&out, leaf);
    put_end(&out, leaves);
    put_end(&out, trunk);
    put_head(&out, TYPE_ARRAY, "tags");
    size_t tags = put_begin(&out);
    put_text(&out, "0", EVD_TEXT("x"));
    put_text(&out, "1", EVD_TEXT(""));
    put_end(&out, tags);
    put_head(&out, TYPE_ARRAY, "stages");
    size_t stages = put_begin(&out);
    put_binary(&out, "0", 4, evd_uuid_part(&id));
    put_end(&out, stages);
    put_number(&out, TYPE_I64, "value", 42);
    put_end(&out, begun);
    return evd_buffer_text(&out);
}

START_TEST(the_stored_form_is_this_one) {
    (void)maker_of(1, 0);
    struct evd_text by_hand = sample_by_hand();
    const struct evd_sample *sample = decoded(&evd_type_sample, by_hand, EVD_DECODED);
    ck_assert_uint_eq(sample->id.bytes[15], 15);
    ck_assert(evd_text_equal(sample->title, EVD_TEXT("a\0b")));
    ck_assert_int_eq(sample->count, -3);
    ck_assert(sample->ripe);
    ck_assert(sample->stamp == UINT64_C(1) << 63);
    ck_assert_int_eq(sample->role.value, EVD_ROLE_REVIEWER);
    ck_assert_uint_eq(sample->trunk->leaves.count, 1);
    ck_assert_ptr_nonnull(sample->trunk->leaves.items[0].name.bytes);
    ck_assert_ptr_null(sample->trunk->best);
    ck_assert_uint_eq(sample->tags.count, 2);
    ck_assert_uint_eq(sample->stages.items[0].bytes[1], 1);
    ck_assert_int_eq(sample->value.integer, 42);
    ck_assert_ptr_null(sample->notes.bytes);
    assert_same_bytes("sample", encoded(&evd_type_sample, sample), by_hand);
}
END_TEST

START_TEST(what_is_written_is_well_formed_for_everybody) {
    struct specimen_types records = specimen_records();
    for (size_t i = 0; i < records.count; i++) {
        struct specimen_maker maker = maker_of(i, 0);
        struct evd_record *made = filled(&maker, records.items[i]);
        struct evd_image image = evd_bson_encode(records.items[i], made, &arena);
        bson_t bson;
        size_t wrong_at = 0;
        ck_assert(bson_init_static(&bson, image.bson, image.size_bytes));
        ck_assert_msg(bson_validate(&bson, BSON_VALIDATE_UTF8 | BSON_VALIDATE_EMPTY_KEYS, &wrong_at), "%s, byte %zu",
                      records.items[i]->name, wrong_at);
        ck_assert_int_eq(image.version, made->version);
    }
}
END_TEST

START_TEST(absent_members_read_as_zero) {
    struct specimen_types types = specimen_stored_types();
    for (size_t i = 0; i < types.count; i++) {
        (void)maker_of(1, 0);
        const void *zero = evd_arena_alloc(&arena, types.items[i]->size_bytes);
        const void *read = decoded(types.items[i], EVD_TEXT("\x05\0\0\0\0"), EVD_DECODED);
        ck_assert_mem_eq(read, zero, types.items[i]->size_bytes);
    }
}
END_TEST

/* The document without the elements of one key. */
static struct evd_text without(struct evd_text bson, const char *key) {
    struct evd_buffer out;
    bson_iter_t iter;
    evd_buffer_init(&out, &arena, bson.size_bytes);
    ck_assert(bson_iter_init_from_data(&iter, (const uint8_t *)bson.bytes, bson.size_bytes));
    size_t begun = put_begin(&out);
    while (bson_iter_next(&iter))
        if (strcmp(bson_iter_key(&iter), key) != 0) evd_buffer_add(&out, iter.raw + iter.off, iter.next_off - iter.off);
    put_end(&out, begun);
    return evd_buffer_text(&out);
}

START_TEST(a_member_an_older_version_did_not_write_is_zero_and_the_others_stay) {
    struct specimen_types types = specimen_stored_types();
    for (size_t i = 0; i < types.count; i++)
        for (size_t f = 0; f < types.items[i]->field_count; f++) {
            const struct evd_field *field = &types.items[i]->fields[f];
            struct specimen_maker maker = maker_of(f, 0);
            uint8_t *made = filled(&maker, types.items[i]);
            const uint8_t *zero = evd_arena_alloc(&arena, types.items[i]->size_bytes);
            const uint8_t *read =
                decoded(types.items[i], without(encoded(types.items[i], made), field->key), EVD_DECODED);
            ck_assert(specimen_same_member(field, read + field->offset, zero + field->offset));
            struct evd_field *others =
                evd_arena_copy(&arena, types.items[i]->fields, types.items[i]->field_count * sizeof *others);
            others[f] = others[0];
            struct evd_type rest = *types.items[i];
            rest.fields = f == 0 ? others + 1 : others;
            rest.field_count -= f == 0;
            ck_assert_ptr_null(specimen_difference(&rest, read, made));
        }
}
END_TEST

START_TEST(numbers_of_32_bits_are_numbers) {
    struct specimen_types types = specimen_stored_types();
    static const int32_t numbers[] = {0, 1, -1, INT32_MAX, INT32_MIN};
    size_t seen = 0;
    for (size_t i = 0; i < types.count; i++)
        for (size_t f = 0; f < types.items[i]->field_count; f++) {
            const struct evd_field *field = &types.items[i]->fields[f];
            if (field->kind != EVD_KIND_NUMBER && field->kind != EVD_KIND_STAMP && field->kind != EVD_KIND_VALUE)
                continue;
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++, seen++) {
                (void)maker_of(1, 0);
                struct evd_buffer out;
                evd_buffer_init(&out, &arena, 64);
                size_t begun = put_begin(&out);
                put_number(&out, TYPE_I32, field->key, numbers[n]);
                put_end(&out, begun);
                const uint8_t *at =
                    (const uint8_t *)decoded(types.items[i], evd_buffer_text(&out), EVD_DECODED) + field->offset;
                const struct evd_answer_value *value = (const void *)at;
                ck_assert_int_eq(field->kind == EVD_KIND_VALUE ? value->integer : *(const int64_t *)(const void *)at,
                                 numbers[n]);
            }
        }
    ck_assert_uint_gt(seen, 100);
}
END_TEST

/* Where unknown elements are put into a document, and what must become of it: the known in their order, all else
 * behind. */
struct sprinkling {
    struct evd_buffer newer, expected;
    unsigned serial, series;
};

static void sprinkle_document(struct sprinkling *to, const struct evd_type *type, bson_iter_t *iter);

/* One of each BSON type, none under a key that was there before. */
static void sprinkle_unknown(struct sprinkling *to, struct evd_buffer *behind) {
    char key[40];
    for (size_t i = 0; i < ELEMENT_COUNT; i++, to->serial++) {
        (void)snprintf(key, sizeof key, "newer \xC3\xA9\xFF.$%u", to->serial);
        put_element(&to->newer, key, &elements[i]);
        put_element(behind, key, &elements[i]);
    }
    put_element(&to->newer, "", &elements[to->serial % ELEMENT_COUNT]); /* an empty key, and that again and again */
    put_element(behind, "", &elements[to->serial % ELEMENT_COUNT]);
}

static void sprinkle_list(struct sprinkling *to, const struct evd_type *of, bson_iter_t *iter) {
    bson_iter_t inner;
    size_t newer = put_begin(&to->newer), expected = put_begin(&to->expected);
    while (bson_iter_next(iter)) {
        put_head(&to->newer, TYPE_DOCUMENT, bson_iter_key(iter));
        put_head(&to->expected, TYPE_DOCUMENT, bson_iter_key(iter));
        ck_assert(bson_iter_recurse(iter, &inner));
        sprinkle_document(to, of, &inner);
    }
    put_end(&to->newer, newer);
    put_end(&to->expected, expected);
}

/* An answer's value is a list of documents when it is a series. */
static bool is_series(const struct evd_field *field, const bson_iter_t *iter) {
    bson_iter_t first;
    if (field->kind != EVD_KIND_VALUE || !BSON_ITER_HOLDS_ARRAY(iter)) return false;
    return bson_iter_recurse(iter, &first) && bson_iter_next(&first) && BSON_ITER_HOLDS_DOCUMENT(&first);
}

static void sprinkle_known(struct sprinkling *to, const struct evd_field *field, bson_iter_t *iter) {
    bson_iter_t inner;
    bool series = is_series(field, iter);
    to->series += series;
    if (field->of == NULL && !series) {
        evd_buffer_add(&to->newer, iter->raw + iter->off, iter->next_off - iter->off);
        evd_buffer_add(&to->expected, iter->raw + iter->off, iter->next_off - iter->off);
        return;
    }
    put_head(&to->newer, (uint8_t)bson_iter_type(iter), field->key);
    put_head(&to->expected, (uint8_t)bson_iter_type(iter), field->key);
    ck_assert(bson_iter_recurse(iter, &inner));
    if (series)
        sprinkle_list(to, &evd_type_answer_point, &inner);
    else if (field->kind == EVD_KIND_LIST)
        sprinkle_list(to, field->of, &inner);
    else
        sprinkle_document(to, field->of, &inner);
}

static const struct evd_field *field_named(const struct evd_type *type, const char *key) {
    for (size_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].key, key) == 0) return &type->fields[i];
    return NULL;
}

static void sprinkle_document(struct sprinkling *to, const struct evd_type *type, bson_iter_t *iter) {
    struct evd_buffer behind;
    evd_buffer_init(&behind, &arena, 1000);
    size_t newer = put_begin(&to->newer), expected = put_begin(&to->expected);
    sprinkle_unknown(to, &behind);
    while (bson_iter_next(iter)) {
        const struct evd_field *field = field_named(type, bson_iter_key(iter));
        ck_assert_ptr_nonnull(field);
        sprinkle_known(to, field, iter);
        if (to->serial % 3 != 0) sprinkle_unknown(to, &behind); /* sometimes the known stand side by side */
    }
    evd_buffer_add_text(&to->expected, evd_buffer_text(&behind));
    put_end(&to->newer, newer);
    put_end(&to->expected, expected);
}

static struct sprinkling sprinkled(const struct evd_type *type, struct evd_text bson) {
    struct sprinkling to = {.serial = 0};
    bson_iter_t iter;
    evd_buffer_init(&to.newer, &arena, 64 * 1024);
    evd_buffer_init(&to.expected, &arena, 64 * 1024);
    ck_assert(bson_iter_init_from_data(&iter, (const uint8_t *)bson.bytes, bson.size_bytes));
    sprinkle_document(&to, type, &iter);
    return to;
}

START_TEST(what_a_newer_version_wrote_is_kept_byte_for_byte_at_every_level) {
    enum { ROUNDS = 8 };
    struct specimen_types types = specimen_stored_types();
    unsigned series = 0;
    for (size_t i = 0; i < types.count * ROUNDS; i++) {
        struct specimen_maker maker = maker_of(i, 0);
        const struct evd_type *type = types.items[i / ROUNDS];
        const void *made = filled(&maker, type);
        struct sprinkling document = sprinkled(type, encoded(type, made));
        series += document.series;
        const void *read = decoded(type, evd_buffer_text(&document.newer), EVD_DECODED);
        ck_assert_ptr_null(specimen_difference(type, read, made));
        struct evd_text again = encoded(type, read);
        assert_same_bytes(type->name, again, evd_buffer_text(&document.expected));
        assert_same_bytes(type->name, encoded(type, decoded(type, again, EVD_DECODED)), again);
    }
    ck_assert_uint_gt(series, 1); /* points keep theirs too */
}
END_TEST

START_TEST(a_known_member_changed_between_leaves_the_unknown_alone) {
    struct specimen_maker maker = maker_of(3, 0);
    struct evd_study *study = filled(&maker, &evd_type_study), *read;
    struct sprinkling document = sprinkled(&evd_type_study, encoded(&evd_type_study, study));
    read = decoded(&evd_type_study, evd_buffer_text(&document.newer), EVD_DECODED);
    read->title = EVD_TEXT("another title, longer than the one before it was");
    read->summary->forms.items[0].members.items[0].version_seq = 77;
    study->title = read->title;
    study->summary->forms.items[0].members.items[0].version_seq = 77;
    document = sprinkled(&evd_type_study, encoded(&evd_type_study, study));
    assert_same_bytes("study", encoded(&evd_type_study, read), evd_buffer_text(&document.expected));
}
END_TEST

/* Renames, in place, one after another, every enum's name in the document. */
static size_t rename_each(const struct evd_type *top, struct evd_text bson, const struct evd_type *type,
                          bson_iter_t *iter) {
    size_t renamed = 0;
    bson_iter_t inner, element;
    while (bson_iter_next(iter)) {
        const struct evd_field *field = field_named(type, bson_iter_key(iter));
        if (field->kind == EVD_KIND_ENUM) {
            char *first = (char *)(uintptr_t)bson_iter_utf8(iter, NULL), was = *first;
            *first = '~';
            assert_same_bytes(field->key, encoded(top, decoded(top, bson, EVD_DECODED_UNKNOWN_NAME)), bson);
            *first = was;
            renamed++;
        }
        if (field->of == NULL) continue;
        ck_assert(bson_iter_recurse(iter, &inner));
        if (field->kind == EVD_KIND_NEST) renamed += rename_each(top, bson, field->of, &inner);
        while (field->kind == EVD_KIND_LIST && bson_iter_next(&inner)) {
            ck_assert(bson_iter_recurse(&inner, &element));
            renamed += rename_each(top, bson, field->of, &element);
        }
    }
    return renamed;
}

START_TEST(a_newer_name_is_kept_and_reported_wherever_it_stands) {
    struct specimen_types types = specimen_stored_types();
    size_t renamed = 0;
    for (size_t i = 0; i < types.count; i++) {
        struct specimen_maker maker = maker_of(i, 0);
        const void *made = filled(&maker, types.items[i]);
        struct evd_text bson = evd_text_copy(&arena, encoded(types.items[i], made));
        bson_iter_t iter;
        ck_assert(bson_iter_init_from_data(&iter, (const uint8_t *)bson.bytes, bson.size_bytes));
        renamed += rename_each(types.items[i], bson, types.items[i], &iter);
    }
    ck_assert_uint_gt(renamed, 10);
}
END_TEST

START_TEST(a_newer_name_has_no_value_and_shows_its_text) {
    static const struct element newer = ELEMENT("", TYPE_TEXT, "\x0C\0\0\0Quarantined\0");
    (void)maker_of(1, 0);
    const struct evd_stage *stage =
        decoded(&evd_type_stage, document_of(&arena, "status", &newer), EVD_DECODED_UNKNOWN_NAME);
    ck_assert_int_eq(stage->status.value, 0);
    ck_assert(evd_text_equal(evd_name_text(&evd_names_stage_status, stage->status), EVD_TEXT("Quarantined")));
}
END_TEST

EVD_TEST_MAIN("records: what the BSON codec keeps", every_member_of_every_record_comes_back,
              a_member_that_is_lost_is_noticed, the_stored_form_is_this_one,
              what_is_written_is_well_formed_for_everybody, absent_members_read_as_zero,
              a_member_an_older_version_did_not_write_is_zero_and_the_others_stay, numbers_of_32_bits_are_numbers,
              what_a_newer_version_wrote_is_kept_byte_for_byte_at_every_level,
              a_known_member_changed_between_leaves_the_unknown_alone,
              a_newer_name_is_kept_and_reported_wherever_it_stands, a_newer_name_has_no_value_and_shows_its_text)
