/*
 * What the JSON codec takes and writes: every member, with what may be left out, null or zero.
 */
#include "../../support/test.h"
#include "evidenced/base/buffer.h"
#include "evidenced/records/json.h"
#include "fixture.h"
#include "specimen.h"

#include <jansson.h>

static struct evd_arena arena;

static void arena_renew(void) {
    evd_arena_done(&arena);
    evd_arena_init(&arena, SPECIMEN_ARENA_BYTES);
}

static struct evd_text written(const struct evd_type *type, const void *from) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 64);
    evd_json_write(type, from, &out);
    return evd_buffer_text(&out);
}

/* Parsed by jansson alone, as strictly as it can. */
static json_t *loaded(struct evd_text text) {
    json_error_t error;
    json_t *json = json_loadb(text.bytes, text.size_bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    ck_assert_msg(json != NULL, "%s: " EVD_TEXT_FMT, error.text, EVD_TEXT_ARG(text));
    return json;
}

/* A fresh struct of the type, read; the parsed tree is gone by then. */
static void *read_back(const struct evd_type *type, struct evd_text text) {
    struct evd_json_fault fault = {.message = EVD_TEXT("")};
    void *to = evd_arena_alloc(&arena, type->size_bytes);
    json_t *json = evd_json_parse(text, &arena, &fault);
    bool good = json != NULL && evd_json_read(type, json, &arena, to, &fault);
    json_decref(json);
    ck_assert_msg(good, EVD_TEXT_FMT ": " EVD_TEXT_FMT " in " EVD_TEXT_FMT, EVD_TEXT_ARG(fault.pointer),
                  EVD_TEXT_ARG(fault.message), EVD_TEXT_ARG(text));
    return to;
}

START_TEST(what_is_written_reads_back_equal) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        arena_renew();
        struct specimen_maker maker = {.arena = &arena, .state = seed, .absent_percent = seed % 4 * 33};
        struct evd_sample *made = EVD_NEW(&arena, struct evd_sample);
        specimen_fill(&maker, &evd_type_sample, made);
        struct evd_text text = written(&evd_type_sample, made);
        const char *differs = specimen_difference(&evd_type_sample, made, read_back(&evd_type_sample, text));
        ck_assert_msg(differs == NULL, "%s, seed %llu", differs, (unsigned long long)seed);
    }
}
END_TEST

START_TEST(a_question_reads_back_equal) {
    for (uint64_t seed = 1; seed <= 100; seed++) {
        arena_renew();
        struct specimen_maker maker = {.arena = &arena, .state = seed, .absent_percent = 40};
        struct evd_question *made = EVD_NEW(&arena, struct evd_question);
        specimen_fill(&maker, &evd_type_question, made);
        struct evd_text text = written(&evd_type_question, made);
        ck_assert_ptr_null(specimen_difference(&evd_type_question, made, read_back(&evd_type_question, text)));
    }
}
END_TEST

static bool shows(const struct evd_type *type, const void *from, const json_t *json);

static bool shows_text(struct evd_text text, const json_t *json) {
    return json_is_string(json) &&
           evd_text_equal(text, (struct evd_text){json_string_value(json), json_string_length(json)});
}

static bool shows_texts(const struct evd_texts *texts, const json_t *json) {
    if (!json_is_array(json) || json_array_size(json) != texts->count) return false;
    for (size_t i = 0; i < texts->count; i++)
        if (!shows_text(texts->items[i], json_array_get(json, i))) return false;
    return true;
}

static bool shows_uuid(evd_uuid uuid, const json_t *json) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(uuid, text);
    return shows_text(evd_text_from(text), json);
}

static bool shows_list(const struct evd_field *field, const struct evd_list *list, const json_t *json) {
    if (!json_is_array(json) || json_array_size(json) != list->count) return false;
    for (size_t i = 0; i < list->count; i++) {
        const json_t *element = json_array_get(json, i);
        const evd_uuid *uuids = list->items;
        if (field->kind == EVD_KIND_UUIDS
                ? !shows_uuid(uuids[i], element)
                : !shows(field->of, (const uint8_t *)list->items + i * field->of->size_bytes, element))
            return false;
    }
    return true;
}

static bool shows_points(const struct evd_answer_points *points, const json_t *json) {
    if (!json_is_array(json) || json_array_size(json) != points->count) return false;
    for (size_t i = 0; i < points->count; i++)
        if (!shows(&evd_type_answer_point, &points->items[i], json_array_get(json, i))) return false;
    return true;
}

static bool shows_value(const struct evd_answer_value *value, const json_t *json) {
    switch (value->kind) {
    case EVD_ANSWER_NONE: return json_is_null(json);
    case EVD_ANSWER_TEXT: return shows_text(value->text, json);
    case EVD_ANSWER_INTEGER: return json_is_integer(json) && json_integer_value(json) == value->integer;
    case EVD_ANSWER_BOOLEAN: return json_is_boolean(json) && json_is_true(json) == value->boolean;
    case EVD_ANSWER_TEXTS: return shows_texts(&value->texts, json);
    case EVD_ANSWER_POINTS: return shows_points(&value->points, json);
    }
    return false;
}

static bool shows_member(const struct evd_field *field, const void *at, const json_t *json) {
    char text[40];
    switch (field->kind) {
    case EVD_KIND_UUID: return shows_uuid(*(const evd_uuid *)at, json);
    case EVD_KIND_BOOLEAN: return json_is_boolean(json) && json_is_true(json) == *(const bool *)at;
    case EVD_KIND_STAMP: evd_stamp_format(*(const evd_stamp *)at, text); return shows_text(evd_text_from(text), json);
    case EVD_KIND_TIME: evd_time_format(*(const int64_t *)at, text); return shows_text(evd_text_from(text), json);
    case EVD_KIND_NUMBER: return json_is_integer(json) && json_integer_value(json) == *(const int64_t *)at;
    case EVD_KIND_STRING: return shows_text(*(const struct evd_text *)at, json);
    case EVD_KIND_ENUM: return shows_text(evd_name_text(field->names, *(const struct evd_name *)at), json);
    case EVD_KIND_NEST: return shows(field->of, *(const void *const *)at, json);
    case EVD_KIND_LIST:
    case EVD_KIND_UUIDS: return shows_list(field, at, json);
    case EVD_KIND_STRINGS: return shows_texts(at, json);
    case EVD_KIND_VALUE: return shows_value(at, json);
    case EVD_KIND_BYTES:
    case EVD_KIND_MEMBERS: return false;
    }
    return false;
}

/* Does the object have just the members the struct has values for, and these values? */
static bool shows(const struct evd_type *type, const void *from, const json_t *json) {
    const uint8_t *zero = evd_arena_alloc(&arena, type->size_bytes);
    size_t shown = 0;
    if (!json_is_object(json)) return false;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct evd_field *field = &type->fields[i];
        const uint8_t *at = (const uint8_t *)from + field->offset;
        const json_t *member = json_object_get(json, field->key);
        bool listed = field->kind == EVD_KIND_LIST || field->kind == EVD_KIND_STRINGS || field->kind == EVD_KIND_UUIDS;
        bool absent = specimen_same_member(field, at, zero + field->offset);
        bool left_out = field->kind == EVD_KIND_BYTES || (absent && field->need == EVD_OPTIONAL);
        shown += !left_out;
        if (left_out ? member != NULL : member == NULL) return false;
        if (left_out) continue;
        bool nulled = absent && field->need == EVD_NULLABLE && !listed;
        if (nulled ? !json_is_null(member) : !shows_member(field, at, member)) return false;
    }
    return shown == json_object_size(json);
}

START_TEST(every_record_is_shown_as_it_is) {
    struct specimen_types types = specimen_stored_types();
    specimen_types_add(&types, &evd_type_sample);
    for (size_t i = 0; i < types.count; i++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            arena_renew();
            struct specimen_maker maker = {.arena = &arena, .state = seed, .absent_percent = seed % 3 * 40};
            void *made = evd_arena_alloc(&arena, types.items[i]->size_bytes);
            specimen_fill(&maker, types.items[i], made);
            struct evd_text text = written(types.items[i], made);
            json_t *json = loaded(text);
            ck_assert_msg(shows(types.items[i], made, json), "%s: " EVD_TEXT_FMT, types.items[i]->name,
                          EVD_TEXT_ARG(text));
            json_decref(json);
        }
}
END_TEST

static void assert_written(const struct evd_type *type, const void *from, const char *expected) {
    struct evd_text text = written(type, from);
    ck_assert_msg(evd_text_equal(text, evd_text_from(expected)), EVD_TEXT_FMT, EVD_TEXT_ARG(text));
}

START_TEST(zero_is_left_out_null_or_shown_as_the_need_says) {
    const evd_uuid id = {{0xAB}};
    struct evd_sample_branch trunk = {.order = -1};
    struct evd_sample sample = {.id = id, .title = EVD_TEXT_INIT("t"), .trunk = &trunk};
    arena_renew();
    assert_written(&evd_type_sample, &sample,
                   "{\"id\":\"ab000000-0000-0000-0000-000000000000\",\"title\":\"t\",\"count\":0,\"anyNumber\":null,"
                   "\"studyId\":null,\"trunk\":{\"order\":-1,\"best\":null},\"stages\":[],\"notes\":null}");
}
END_TEST

START_TEST(a_view_has_its_times_its_ready_made_members_and_no_bytes) {
    struct evd_sample_leaf leaf = {.name = EVD_TEXT_INIT(""), .ripe = true};
    struct evd_sample_view view = {.at = 1772357400000, .secret = EVD_TEXT_INIT("s"), .leaf = &leaf};
    arena_renew();
    assert_written(&evd_type_sample_view, &view,
                   "{\"at\":\"2026-03-01T09:30:00.000Z\",\"later\":null,\"leaf\":{\"name\":\"\",\"ripe\":true},"
                   "\"leaves\":[]}");
    view.later = 1;
    view.more = EVD_TEXT("\"more\":{\"a\":[1]},\"and\":2");
    view.leaves.items = &leaf;
    view.leaves.count = 1;
    assert_written(&evd_type_sample_view, &view,
                   "{\"at\":\"2026-03-01T09:30:00.000Z\",\"later\":\"1970-01-01T00:00:00.001Z\","
                   "\"leaf\":{\"name\":\"\",\"ripe\":true},\"more\":{\"a\":[1]},\"and\":2,"
                   "\"leaves\":[{\"name\":\"\",\"ripe\":true}]}");
}
END_TEST

START_TEST(members_can_be_written_without_braces) {
    struct evd_sample_leaf leaf = {.name = EVD_TEXT_INIT("n")};
    struct evd_buffer out;
    arena_renew();
    evd_buffer_init(&out, &arena, 64);
    evd_json_write_members(&evd_type_sample_leaf, &leaf, &out);
    ck_assert(evd_text_equal(evd_buffer_text(&out), EVD_TEXT("\"name\":\"n\"")));
}
END_TEST

START_TEST(every_character_comes_back_and_control_characters_are_escaped) {
    char bytes[0x80 + 12] = "";
    size_t size_bytes = 0;
    for (int c = 1; c < 0x80; c++)
        bytes[size_bytes++] = (char)c;
    memcpy(bytes + size_bytes, "\xC3\xA9\xE2\x80\xA8\xF0\x9F\x94\xAC", 9);
    struct evd_text text = {bytes, size_bytes + 9};
    struct evd_buffer out;
    arena_renew();
    evd_buffer_init(&out, &arena, 64);
    evd_json_write_string(text, &out);
    for (size_t i = 0; i < out.size_bytes; i++)
        ck_assert_uint_ge(out.bytes[i], 0x20);
    json_t *json = loaded(evd_buffer_text(&out));
    ck_assert(shows_text(text, json));
    json_decref(json);
}
END_TEST

START_TEST(a_text_that_is_absent_or_empty_is_an_empty_string) {
    static const struct evd_text texts[] = {{NULL, 0}, {"", 0}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct evd_buffer out;
        arena_renew();
        evd_buffer_init(&out, &arena, 64);
        evd_json_write_string(texts[i], &out);
        ck_assert(evd_text_equal(evd_buffer_text(&out), EVD_TEXT("\"\"")));
    }
}
END_TEST

START_TEST(numbers_are_exact_to_their_ends) {
    static const int64_t numbers[] = {0, -1, INT64_MAX, INT64_MIN, INT64_C(9007199254740993)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        arena_renew();
        struct evd_sample sample = {.id = {{1}}, .title = EVD_TEXT_INIT(""), .any_number = numbers[i]};
        sample.stamp = (evd_stamp)numbers[i];
        const struct evd_sample *back = read_back(&evd_type_sample, written(&evd_type_sample, &sample));
        ck_assert_int_eq(back->any_number, numbers[i]);
        ck_assert(back->stamp == (evd_stamp)numbers[i]);
    }
}
END_TEST

START_TEST(a_stamp_is_a_string_of_digits) {
    struct evd_sample sample = {.id = {{1}}, .title = EVD_TEXT_INIT(""), .stamp = UINT64_MAX};
    arena_renew();
    json_t *json = loaded(written(&evd_type_sample, &sample));
    ck_assert_str_eq(json_string_value(json_object_get(json, "stamp")), "18446744073709551615");
    json_decref(json);
}
END_TEST

#define WITH(members)                                                                                                  \
    EVD_TEXT_INIT("{\"id\":\"ab000000-0000-0000-0000-000000000000\",\"title\":\"t\",\"count\":1,\"anyNumber\":null,"   \
                  "\"studyId\":null,\"stages\":[],\"notes\":null" members "}")

START_TEST(what_is_left_out_or_null_is_zero) {
    static const struct evd_text texts[] = {
        WITH(""),
        WITH(",\"ripe\":null,\"stamp\":null,\"role\":null,\"trunk\":null,\"branches\":null,\"tags\":null,\"value\":"
             "null"),
        WITH(",\"ripe\":false,\"stamp\":\"0\",\"branches\":[],\"tags\":[]"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        arena_renew();
        const struct evd_sample plain = {.id = {{0xAB}}, .title = EVD_TEXT_INIT("t"), .count = 1};
        ck_assert_ptr_null(specimen_difference(&evd_type_sample, &plain, read_back(&evd_type_sample, texts[i])));
    }
}
END_TEST

START_TEST(an_answer_is_kept_as_it_was_given) {
    static const struct {
        struct evd_text text;
        struct evd_answer_value value;
    } table[] = {
        {WITH(",\"value\":\"1.50\""), {.kind = EVD_ANSWER_TEXT, .text = EVD_TEXT_INIT("1.50")}},
        {WITH(",\"value\":\"\""), {.kind = EVD_ANSWER_TEXT, .text = EVD_TEXT_INIT("")}},
        {WITH(",\"value\":0"), {.kind = EVD_ANSWER_INTEGER, .integer = 0}},
        {WITH(",\"value\":-0"), {.kind = EVD_ANSWER_INTEGER, .integer = 0}},
        {WITH(",\"value\":9007199254740991"), {.kind = EVD_ANSWER_INTEGER, .integer = INT64_C(9007199254740991)}},
        {WITH(",\"value\":-9007199254740991"), {.kind = EVD_ANSWER_INTEGER, .integer = INT64_C(-9007199254740991)}},
        {WITH(",\"value\":false"), {.kind = EVD_ANSWER_BOOLEAN, .boolean = false}},
        {WITH(",\"value\":true"), {.kind = EVD_ANSWER_BOOLEAN, .boolean = true}},
        {WITH(",\"value\":[]"), {.kind = EVD_ANSWER_TEXTS}},
        {WITH(",\"value\":null"), {.kind = EVD_ANSWER_NONE}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        arena_renew();
        const struct evd_sample *sample = read_back(&evd_type_sample, table[i].text);
        ck_assert_msg(evd_answer_value_equal(&sample->value, &table[i].value), EVD_TEXT_FMT,
                      EVD_TEXT_ARG(table[i].text));
    }
}
END_TEST

/* `time average error` of every point, `-` where there is no error. */
static const char *points_text(const struct evd_answer_value *value) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 64);
    ck_assert_int_eq(value->kind, EVD_ANSWER_POINTS);
    for (size_t i = 0; i < value->points.count; i++) {
        const struct evd_answer_point *point = &value->points.items[i];
        evd_buffer_print(&out, "%s" EVD_TEXT_FMT " " EVD_TEXT_FMT " " EVD_TEXT_FMT, i == 0 ? "" : "; ",
                         EVD_TEXT_ARG(point->time), EVD_TEXT_ARG(point->average),
                         EVD_TEXT_ARG(point->error.bytes == NULL ? EVD_TEXT("-") : point->error));
    }
    evd_buffer_add_byte(&out, 0);
    return evd_buffer_text(&out).bytes;
}

START_TEST(a_series_keeps_its_points_in_the_order_they_were_given) {
    static const struct {
        struct evd_text value;
        const char *points, *shown;
    } table[] = {
        {WITH(",\"value\":[{\"time\":\"0\",\"average\":\"12.50\",\"error\":\"0.4\"}]"), "0 12.50 0.4",
         "[{\"time\":\"0\",\"average\":\"12.50\",\"error\":\"0.4\"}]"},
        {WITH(",\"value\":[{\"time\":\"2\",\"average\":\"1\"},{\"average\":\"-3\",\"error\":null,\"time\":\"-1.0\"}]"),
         "2 1 -; -1.0 -3 -", "[{\"time\":\"2\",\"average\":\"1\"},{\"time\":\"-1.0\",\"average\":\"-3\"}]"},
        /* What a point may hold is the form's business, as with all answers. */
        {WITH(",\"value\":[{\"time\":\"\",\"average\":\"x\",\"error\":\"\"}]"), " x ",
         "[{\"time\":\"\",\"average\":\"x\",\"error\":\"\"}]"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        arena_renew();
        const struct evd_sample *sample = read_back(&evd_type_sample, table[i].value);
        ck_assert_str_eq(points_text(&sample->value), table[i].points);
        struct evd_buffer out;
        evd_buffer_init(&out, &arena, 64);
        evd_json_write_value(&sample->value, &out);
        evd_buffer_add_byte(&out, 0);
        ck_assert_str_eq(evd_buffer_text(&out).bytes, table[i].shown);
    }
}
END_TEST

START_TEST(escapes_become_what_they_stand_for) {
    arena_renew();
    const struct evd_sample *sample =
        read_back(&evd_type_sample, (struct evd_text)WITH(",\"value\":\"\\ud83d\\udd2c\\u00e9\\n\\/\\u0001\""));
    ck_assert(evd_text_equal(sample->value.text, EVD_TEXT("\xF0\x9F\x94\xAC\xC3\xA9\n/\x01")));
}
END_TEST

EVD_TEST_MAIN("records: what the JSON codec takes and writes", what_is_written_reads_back_equal,
              a_question_reads_back_equal, every_record_is_shown_as_it_is,
              zero_is_left_out_null_or_shown_as_the_need_says, a_view_has_its_times_its_ready_made_members_and_no_bytes,
              members_can_be_written_without_braces, every_character_comes_back_and_control_characters_are_escaped,
              a_text_that_is_absent_or_empty_is_an_empty_string, numbers_are_exact_to_their_ends,
              a_stamp_is_a_string_of_digits, what_is_left_out_or_null_is_zero, an_answer_is_kept_as_it_was_given,
              a_series_keeps_its_points_in_the_order_they_were_given, escapes_become_what_they_stand_for)
