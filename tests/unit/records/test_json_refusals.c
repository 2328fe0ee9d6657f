/*
 * What the JSON codec refuses, where it says the fault is, and that hostile bodies cost nothing.
 */
#include "../../support/test.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "evidenced/records/json.h"
#include "fixture.h"
#include "specimen.h"

#include <jansson.h>

static struct evd_arena arena;

static void arena_renew(void) {
    evd_arena_done(&arena);
    evd_arena_init(&arena, SPECIMEN_ARENA_BYTES);
}

enum answer { TAKEN, NOT_PARSED, NOT_READ };

static enum answer answer_to(const struct evd_type *type, struct evd_text text, struct evd_json_fault *ret_fault) {
    json_t *json = evd_json_parse(text, &arena, ret_fault);
    if (json == NULL) return NOT_PARSED;
    bool good = evd_json_read(type, json, &arena, evd_arena_alloc(&arena, type->size_bytes), ret_fault);
    json_decref(json);
    return good ? TAKEN : NOT_READ;
}

static bool contains(struct evd_text text, const char *part) {
    return memmem(text.bytes, text.size_bytes, part, strlen(part)) != NULL;
}

struct refusal {
    struct evd_text text;
    const char *pointer, *message; /* a part of it */
};

static void assert_refused(const struct refusal *refusal, enum answer expected) {
    struct evd_json_fault fault = {.message = EVD_TEXT("")};
    arena_renew();
    enum answer got = answer_to(&evd_type_sample, refusal->text, &fault);
    ck_assert_msg(got == expected, EVD_TEXT_FMT " gave %d", EVD_TEXT_ARG(refusal->text), (int)got);
    ck_assert_msg(evd_text_equal(fault.pointer, evd_text_from(refusal->pointer)),
                  EVD_TEXT_FMT " gave the pointer " EVD_TEXT_FMT, EVD_TEXT_ARG(refusal->text),
                  EVD_TEXT_ARG(fault.pointer));
    ck_assert_msg(contains(fault.message, refusal->message), EVD_TEXT_FMT " gave " EVD_TEXT_FMT,
                  EVD_TEXT_ARG(refusal->text), EVD_TEXT_ARG(fault.message));
    ck_assert(evd_text_is_utf8(fault.message) && evd_text_is_utf8(fault.pointer));
}

#define ID            "\"id\":\"ab000000-0000-0000-0000-000000000000\""
#define REST          "\"anyNumber\":null,\"studyId\":null,\"stages\":[],\"notes\":null"
#define WITH(members) EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":1," REST members "}")

static const struct refusal misfits[] = {
    /* not an object */
    {EVD_TEXT_INIT("[]"), "", "object is expected"},
    {WITH(",\"trunk\":[]"), "/trunk", "object is expected"},
    {WITH(",\"trunk\":\"x\""), "/trunk", "object is expected"},
    {WITH(",\"branches\":[{\"order\":1,\"best\":null},7]"), "/branches/1", "object is expected"},
    {WITH(",\"branches\":[null]"), "/branches/0", "object is expected"},
    /* missing */
    {EVD_TEXT_INIT("{}"), "/id", "missing"},
    {EVD_TEXT_INIT("{" ID ",\"count\":1," REST "}"), "/title", "missing"},
    {EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":1,\"studyId\":null,\"stages\":[],\"notes\":null}"), "/anyNumber",
     "missing"},
    {WITH(",\"trunk\":{\"best\":null}"), "/trunk/order", "missing"},
    {WITH(",\"trunk\":{\"order\":1}"), "/trunk/best", "missing"},
    {WITH(",\"branches\":[{\"order\":1,\"best\":null},{\"order\":1,\"best\":{}}]"), "/branches/1/best/name", "missing"},
    /* null where it is not allowed */
    {EVD_TEXT_INIT("{\"id\":null,\"title\":\"t\",\"count\":1," REST "}"), "/id", "UUID"},
    {EVD_TEXT_INIT("{" ID ",\"title\":null,\"count\":1," REST "}"), "/title", "string"},
    {EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":null," REST "}"), "/count", "whole number"},
    {WITH(",\"tags\":[\"a\",null]"), "/tags/1", "string"},
    {WITH(",\"value\":[null]"), "/value/0", "string"},
    /* unknown, and names that are not repeated to the client */
    {WITH(",\"titel\":1"), "/titel", "no member of that name"},
    {WITH(",\"Title\":1"), "/Title", "no member of that name"},
    {WITH(",\"base\":1"), "/base", "no member of that name"},
    {WITH(",\"\":1"), "/", "no member of that name"},
    {WITH(",\"trunk\":{\"order\":1,\"best\":null,\"x\":[]}"), "/trunk/x", "no member of that name"},
    {WITH(",\"branches\":[{\"order\":1,\"best\":{\"name\":\"n\",\"x\":1}}]"), "/branches/0/best/x", "no member"},
    {WITH(",\"a/b\":1"), "", "a member here"},
    {WITH(",\"a~b\":1"), "", "a member here"},
    {WITH(",\"\\u0007\":1"), "", "a member here"},
    {WITH(",\"\\u007f\":1"), "", "a member here"},
    {WITH(",\"\xC3\xA9\":1"), "", "a member here"},
    {WITH(",\"trunk\":{\"order\":1,\"best\":null,\"123456789012345678901234567890123456789012345678901234567890"
          "1\":1}"),
     "/trunk", "a member here"},
    /* identifiers */
    {EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":1,\"anyNumber\":null,\"studyId\":null,\"notes\":null,"
                   "\"stages\":[\"ab000000-0000-0000-0000-000000000000\",\"x\"]}"),
     "/stages/1", "UUID"},
    {EVD_TEXT_INIT("{\"id\":\"ab000000-0000-0000-0000-00000000000\",\"title\":\"t\",\"count\":1," REST "}"), "/id",
     "UUID"},
    {EVD_TEXT_INIT("{\"id\":\"{ab000000-0000-0000-0000-000000000000}\",\"title\":\"t\",\"count\":1," REST "}"), "/id",
     "UUID"},
    {EVD_TEXT_INIT("{\"id\":7,\"title\":\"t\",\"count\":1," REST "}"), "/id", "UUID"},
    /* numbers */
    {EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":6," REST "}"), "/count", "from -5 to 5"},
    {EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":-6," REST "}"), "/count", "from -5 to 5"},
    {EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":1.0," REST "}"), "/count", "whole number"},
    {EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":1e0," REST "}"), "/count", "whole number"},
    {EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":\"1\"," REST "}"), "/count", "whole number"},
    {EVD_TEXT_INIT("{" ID ",\"title\":\"t\",\"count\":true," REST "}"), "/count", "whole number"},
    /* the other kinds */
    {WITH(",\"ripe\":0"), "/ripe", "true or false"},
    {WITH(",\"ripe\":\"true\""), "/ripe", "true or false"},
    {WITH(",\"stamp\":5"), "/stamp", "stamp"},
    {WITH(",\"stamp\":\"\""), "/stamp", "stamp"},
    {WITH(",\"stamp\":\"-1\""), "/stamp", "stamp"},
    {WITH(",\"stamp\":\"+1\""), "/stamp", "stamp"},
    {WITH(",\"stamp\":\" 1\""), "/stamp", "stamp"},
    {WITH(",\"stamp\":\"0x1\""), "/stamp", "stamp"},
    {WITH(",\"stamp\":\"18446744073709551616\""), "/stamp", "stamp"},
    {WITH(",\"role\":\"Admin\""), "/role", "not one of the names"},
    {WITH(",\"role\":\"\""), "/role", "not one of the names"},
    {WITH(",\"role\":1"), "/role", "name is expected"},
    {WITH(",\"tags\":{}"), "/tags", "list is expected"},
    {WITH(",\"tags\":\"a\""), "/tags", "list is expected"},
    {WITH(",\"tags\":[\"a\",\"b\",\"c\",\"d\"]"), "/tags", "4 elements; at most 3"},
    {WITH(",\"tags\":[\"a\",7]"), "/tags/1", "string"},
    {WITH(",\"tags\":[\"123456\"]"), "/tags/0", "6 bytes; at most 5"},
    {WITH(",\"tags\":[\"\xC3\xA9\xC3\xA9\xC3\xA9\"]"), "/tags/0", "6 bytes; at most 5"},
    {WITH(",\"branches\":{}"), "/branches", "list is expected"},
    /* answers */
    {WITH(",\"value\":1.5"), "/value", "decimal answer is given as a string"},
    {WITH(",\"value\":1e3"), "/value", "decimal answer is given as a string"},
    {WITH(",\"value\":9007199254740992"), "/value",
     "\xC2\xB1"
     "9007199254740991"},
    {WITH(",\"value\":-9007199254740992"), "/value",
     "\xC2\xB1"
     "9007199254740991"},
    {WITH(",\"value\":{}"), "/value", "An answer is"},
    {WITH(",\"value\":[\"a\",1]"), "/value/1", "string"},
    {WITH(",\"value\":[[\"a\"]]"), "/value/0", "string"},
    {WITH(",\"value\":[\"a\",{}]"), "/value/1", "string"},
    {WITH(",\"value\":[{\"time\":\"0\",\"average\":\"1\"},\"a\"]"), "/value/1", "object is expected"},
    {WITH(",\"value\":[{\"time\":\"0\",\"average\":\"1\"},[]]"), "/value/1", "object is expected"},
    {WITH(",\"value\":[{}]"), "/value/0/time", "missing"},
    {WITH(",\"value\":[{\"time\":\"0\",\"error\":\"1\"}]"), "/value/0/average", "missing"},
    {WITH(",\"value\":[{\"time\":null,\"average\":\"1\"}]"), "/value/0/time", "string"},
    {WITH(",\"value\":[{\"time\":\"0\",\"average\":1}]"), "/value/0/average", "string"},
    {WITH(",\"value\":[{\"time\":\"0\",\"average\":1.5}]"), "/value/0/average", "string"},
    {WITH(",\"value\":[{\"time\":\"0\",\"average\":\"1\",\"error\":[]}]"), "/value/0/error", "string"},
    {WITH(",\"value\":[{\"time\":\"0\",\"average\":\"1\",\"n\":\"3\"}]"), "/value/0/n", "no member of that name"},
    {WITH(",\"value\":[{\"time\":\"12345678901234567890123456789012345678901\",\"average\":\"1\"}]"), "/value/0/time",
     "41 bytes; at most 40"},
};

START_TEST(what_does_not_fit_is_refused_at_its_place) {
    for (size_t i = 0; i < sizeof misfits / sizeof *misfits; i++)
        assert_refused(&misfits[i], NOT_READ);
}
END_TEST

START_TEST(what_is_not_json_is_refused_whole) {
    static const struct evd_text table[] = {
        EVD_TEXT_INIT(""),
        {NULL, 0},
        EVD_TEXT_INIT(" "),
        EVD_TEXT_INIT("\0"),
        EVD_TEXT_INIT("null"),
        EVD_TEXT_INIT("1"),
        EVD_TEXT_INIT("\"text\""),
        EVD_TEXT_INIT("{"),
        EVD_TEXT_INIT("}"),
        EVD_TEXT_INIT("{} {}"),
        EVD_TEXT_INIT("{}x"),
        EVD_TEXT_INIT("{}\0"),
        EVD_TEXT_INIT("\xEF\xBB\xBF{}"),
        EVD_TEXT_INIT("{'a':1}"),
        EVD_TEXT_INIT("{a:1}"),
        EVD_TEXT_INIT("{\"a\":1,}"),
        EVD_TEXT_INIT("[1,]"),
        EVD_TEXT_INIT("[1 2]"),
        EVD_TEXT_INIT("{\"a\" 1}"),
        EVD_TEXT_INIT("{\"a\"::1}"),
        EVD_TEXT_INIT("[1]//"),
        EVD_TEXT_INIT("[/**/1]"),
        EVD_TEXT_INIT("[NaN]"),
        EVD_TEXT_INIT("[Infinity]"),
        EVD_TEXT_INIT("[-]"),
        EVD_TEXT_INIT("[01]"),
        EVD_TEXT_INIT("[+1]"),
        EVD_TEXT_INIT("[.5]"),
        EVD_TEXT_INIT("[1.]"),
        EVD_TEXT_INIT("[True]"),
        EVD_TEXT_INIT("[9223372036854775808]"),
        EVD_TEXT_INIT("[-9223372036854775809]"),
        EVD_TEXT_INIT("[1e400]"),
        EVD_TEXT_INIT("[123456789012345678901234567890123456789012345678901234567890]"),
        EVD_TEXT_INIT("[\"\t\"]"),
        EVD_TEXT_INIT("[\"\n\"]"),
        EVD_TEXT_INIT("[\"\0\"]"),
        EVD_TEXT_INIT("[\"\\u0000\"]"),
        EVD_TEXT_INIT("[\"a\\u0000b\"]"),
        EVD_TEXT_INIT("{\"a\\u0000b\":1}"),
        EVD_TEXT_INIT("[\"\\ud83d\"]"),
        EVD_TEXT_INIT("[\"\\ud83d\\u0041\"]"),
        EVD_TEXT_INIT("[\"\\udd2c\"]"),
        EVD_TEXT_INIT("[\"\\udd2c\\ud83d\"]"),
        EVD_TEXT_INIT("[\"\\u12\"]"),
        EVD_TEXT_INIT("[\"\\x41\"]"),
        EVD_TEXT_INIT("[\"\\\"]"),
        EVD_TEXT_INIT("[\"\xFF\"]"),
        EVD_TEXT_INIT("[\"\x80\"]"),
        EVD_TEXT_INIT("[\"\xC3\"]"),
        EVD_TEXT_INIT("[\"\xC0\x80\"]"),
        EVD_TEXT_INIT("[\"\xED\xA0\x80\"]"),
        EVD_TEXT_INIT("[\"\xF4\x90\x80\x80\"]"),
        EVD_TEXT_INIT("{\"\xFF\":1}"),
        EVD_TEXT_INIT("\xFE\xFF"),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct refusal refusal = {table[i], "", "not valid JSON"};
        assert_refused(&refusal, NOT_PARSED);
    }
}
END_TEST

START_TEST(a_member_that_comes_twice_is_refused_at_every_depth) {
    static const struct evd_text table[] = {
        EVD_TEXT_INIT("{\"a\":1,\"a\":1}"),
        EVD_TEXT_INIT("{\"a\":1,\"b\":{\"c\":[{\"d\":1,\"d\":2}]}}"),
        EVD_TEXT_INIT("{\"a\":1,\"\\u0061\":1}"),
        EVD_TEXT_INIT("{\"\":1,\"\":1}"),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct refusal refusal = {table[i], "", "a member occurs twice"};
        assert_refused(&refusal, NOT_PARSED);
    }
}
END_TEST

START_TEST(a_number_nothing_can_hold_is_refused_as_such) {
    static const struct evd_text table[] = {
        EVD_TEXT_INIT("{\"a\":9223372036854775808}"),
        EVD_TEXT_INIT("[-9223372036854775809]"),
        EVD_TEXT_INIT("{\"a\":[1e400]}"),
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct refusal refusal = {table[i], "", "a number is too large"};
        assert_refused(&refusal, NOT_PARSED);
    }
}
END_TEST

/* A type of one field: what the tables of fields say can then be tried one by one. */
struct alone {
    struct evd_field field;
    struct evd_type type;
};

static struct alone *alone(const struct evd_type *type, const struct evd_field *field, enum evd_need need) {
    struct alone *made = EVD_NEW(&arena, struct alone);
    made->field = *field;
    made->field.need = need;
    made->type = *type;
    made->type.fields = &made->field;
    made->type.field_count = 1;
    return made;
}

static struct evd_text object_of(const char *key, struct evd_text value) {
    return evd_text_print(&arena, "{\"%s\":" EVD_TEXT_FMT "}", key, EVD_TEXT_ARG(value));
}

static enum answer answer_alone(struct alone *alone, struct evd_text value, struct evd_json_fault *ret_fault) {
    struct evd_text body = value.bytes == NULL ? EVD_TEXT("{}") : object_of(alone->field.key, value);
    enum answer got = answer_to(&alone->type, body, ret_fault);
    if (got == NOT_READ) {
        struct evd_text pointer = evd_text_print(&arena, "/%s", alone->field.key);
        ck_assert_msg(evd_text_equal(ret_fault->pointer, pointer) || alone->field.key[0] == '\0',
                      "%s: the pointer " EVD_TEXT_FMT, alone->field.key, EVD_TEXT_ARG(ret_fault->pointer));
    }
    return got;
}

static size_t for_each_field(void (*check)(const struct evd_type *type, const struct evd_field *field)) {
    struct specimen_types types = specimen_stored_types();
    size_t fields = 0;
    specimen_types_add(&types, &evd_type_sample);
    specimen_types_add(&types, &evd_type_sample_view);
    for (size_t i = 0; i < types.count; i++)
        for (size_t f = 0; f < types.items[i]->field_count; f++, fields++) {
            arena_renew();
            check(types.items[i], &types.items[i]->fields[f]);
        }
    return fields;
}

static void check_need(const struct evd_type *type, const struct evd_field *field) {
    static const struct {
        enum evd_need need;
        enum answer missing, null;
    } table[] = {{EVD_REQUIRED, NOT_READ, NOT_READ}, {EVD_NULLABLE, NOT_READ, TAKEN}, {EVD_OPTIONAL, TAKEN, TAKEN}};
    struct evd_json_fault fault;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct alone *one = alone(type, field, table[i].need);
        ck_assert_msg(answer_alone(one, (struct evd_text){NULL, 0}, &fault) == table[i].missing, "%s.%s", type->name,
                      field->key);
        ck_assert_msg(answer_alone(one, EVD_TEXT("null"), &fault) == table[i].null, "%s.%s", type->name, field->key);
    }
}

START_TEST(the_need_says_what_may_be_missing_or_null) {
    ck_assert_uint_gt(for_each_field(check_need), 150);
}
END_TEST

/* A JSON value of each type, and what takes it. */
static void check_each_type(const struct evd_type *type, const struct evd_field *field) {
    enum { TEXT, WHOLE, REAL, BOOLEAN, EMPTY_LIST, OBJECT, NULL_VALUE };
    static const struct evd_text values[] = {
        [TEXT] = EVD_TEXT_INIT("\"~\""),     [WHOLE] = EVD_TEXT_INIT("1"),       [REAL] = EVD_TEXT_INIT("1.5"),
        [BOOLEAN] = EVD_TEXT_INIT("true"),   [EMPTY_LIST] = EVD_TEXT_INIT("[]"), [OBJECT] = EVD_TEXT_INIT("{\"~\":1}"),
        [NULL_VALUE] = EVD_TEXT_INIT("null")};
    bool list = field->kind == EVD_KIND_LIST || field->kind == EVD_KIND_STRINGS || field->kind == EVD_KIND_UUIDS;
    bool answer = field->kind == EVD_KIND_VALUE;
    const bool takes[] = {[TEXT] = field->kind == EVD_KIND_STRING || answer,
                          [WHOLE] = field->kind == EVD_KIND_NUMBER || answer,
                          [REAL] = false,
                          [BOOLEAN] = field->kind == EVD_KIND_BOOLEAN || answer,
                          [EMPTY_LIST] = list || answer,
                          [OBJECT] = false,
                          [NULL_VALUE] = false};
    struct evd_json_fault fault;
    struct alone *one = alone(type, field, EVD_REQUIRED);
    for (size_t i = 0; i < sizeof takes; i++) {
        bool nested_fault = i == OBJECT && field->kind == EVD_KIND_NEST;
        if (nested_fault) continue; /* refused inside: see the table above */
        enum answer got = answer_alone(one, values[i], &fault);
        ck_assert_msg(got == (takes[i] ? TAKEN : NOT_READ), "%s.%s: " EVD_TEXT_FMT, type->name, field->key,
                      EVD_TEXT_ARG(values[i]));
    }
}

START_TEST(a_value_of_another_type_is_refused) {
    (void)for_each_field(check_each_type);
}
END_TEST

static struct evd_text string_of(size_t size_bytes) {
    char *bytes = memset(evd_arena_alloc(&arena, size_bytes + 2), 'x', size_bytes + 2);
    bytes[0] = bytes[size_bytes + 1] = '"';
    return (struct evd_text){bytes, size_bytes + 2};
}

static struct evd_text list_of(size_t count, struct evd_text each, struct evd_text last) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 1024);
    evd_buffer_add_byte(&out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) evd_buffer_add_byte(&out, ',');
        evd_buffer_add_text(&out, i + 1 == count ? last : each);
    }
    evd_buffer_add_byte(&out, ']');
    return evd_buffer_text(&out);
}

static void check_text_bound(struct alone *one, size_t most) {
    struct evd_json_fault fault;
    ck_assert_int_eq(answer_alone(one, string_of(0), &fault), TAKEN);
    ck_assert_int_eq(answer_alone(one, string_of(most), &fault), TAKEN);
    ck_assert_int_eq(answer_alone(one, string_of(most + 1), &fault), NOT_READ);
}

static void check_texts_bound(struct alone *one, size_t most, size_t most_bytes) {
    struct evd_json_fault fault;
    struct evd_text body = object_of(one->field.key, list_of(2, string_of(1), string_of(most_bytes + 1)));
    ck_assert_int_eq(answer_alone(one, list_of(most, string_of(1), string_of(most_bytes)), &fault), TAKEN);
    ck_assert_int_eq(answer_alone(one, list_of(most + 1, string_of(1), string_of(1)), &fault), NOT_READ);
    ck_assert_int_eq(answer_to(&one->type, body, &fault), NOT_READ);
    ck_assert(evd_text_equal(fault.pointer, evd_text_print(&arena, "/%s/1", one->field.key)));
}

static void check_number_bounds(struct alone *one) {
    struct evd_json_fault fault;
    int64_t least = one->field.least, most = one->field.most;
    ck_assert_int_eq(answer_alone(one, evd_text_print(&arena, "%lld", (long long)least), &fault), TAKEN);
    ck_assert_int_eq(answer_alone(one, evd_text_print(&arena, "%lld", (long long)most), &fault), TAKEN);
    if (least > INT64_MIN)
        ck_assert_int_eq(answer_alone(one, evd_text_print(&arena, "%lld", (long long)least - 1), &fault), NOT_READ);
    if (most < INT64_MAX)
        ck_assert_int_eq(answer_alone(one, evd_text_print(&arena, "%lld", (long long)most + 1), &fault), NOT_READ);
}

static void check_bounds(const struct evd_type *type, const struct evd_field *field) {
    const struct evd_text uuid = EVD_TEXT("\"ab000000-0000-0000-0000-000000000000\"");
    struct alone *one = alone(type, field, EVD_REQUIRED);
    struct evd_json_fault fault;
    if (field->kind == EVD_KIND_NUMBER) check_number_bounds(one);
    if (field->kind == EVD_KIND_STRING) check_text_bound(one, field->max);
    if (field->kind == EVD_KIND_STRINGS) check_texts_bound(one, field->max, field->max_bytes);
    if (field->kind == EVD_KIND_VALUE) {
        check_text_bound(one, EVD_ANSWER_TEXT_BYTES);
        check_texts_bound(one, EVD_ANSWER_TEXTS_MOST, EVD_ANSWER_TEXT_BYTES);
        struct evd_text point = EVD_TEXT("{\"time\":\"0\",\"average\":\"1\"}");
        ck_assert_int_eq(answer_alone(one, list_of(EVD_ANSWER_POINTS_MOST, point, point), &fault), TAKEN);
        ck_assert_int_eq(answer_alone(one, list_of(EVD_ANSWER_POINTS_MOST + 1, point, point), &fault), NOT_READ);
    }
    if (field->kind == EVD_KIND_UUIDS) {
        ck_assert_int_eq(answer_alone(one, list_of(field->max, uuid, uuid), &fault), TAKEN);
        ck_assert_int_eq(answer_alone(one, list_of(field->max + 1, uuid, uuid), &fault), NOT_READ);
    }
    if (field->kind == EVD_KIND_LIST) {
        struct evd_type anything = {.name = "anything", .size_bytes = sizeof(struct evd_unknown)};
        one->field.of = &anything;
        ck_assert_int_eq(answer_alone(one, list_of(field->max, EVD_TEXT("{}"), EVD_TEXT("{}")), &fault), TAKEN);
        ck_assert_int_eq(answer_alone(one, list_of(field->max + 1, EVD_TEXT("{}"), EVD_TEXT("{}")), &fault), NOT_READ);
    }
}

START_TEST(every_bound_holds_and_one_more_is_refused) {
    (void)for_each_field(check_bounds);
}
END_TEST

START_TEST(what_is_only_shown_is_not_taken) {
    struct evd_json_fault fault;
    arena_renew();
    struct evd_text body = EVD_TEXT("{\"at\":\"2026-03-01T09:30:00.000Z\"}");
    ck_assert_int_eq(answer_to(&evd_type_sample_view, body, &fault), NOT_READ);
    ck_assert(evd_text_equal(fault.pointer, EVD_TEXT("/at")));
    ck_assert(contains(fault.message, "not taken"));
}
END_TEST

START_TEST(nothing_of_a_refused_text_is_in_the_message) {
    static const struct evd_text bodies[] = {
        WITH(",\"notes\":\"s3cret\""),   WITH(",\"tags\":[\"s3cretsecret\"]"),
        WITH(",\"role\":\"s3cret\""),    WITH(",\"value\":{\"s3cret\":1}"),
        WITH(",\"stamp\":\"s3cret\""),   EVD_TEXT_INIT("{\"id\":\"s3cret\"}"),
        EVD_TEXT_INIT("{\"a\":s3cret}"), EVD_TEXT_INIT("{\"s3cret\":1,\"s3cret\":1}"),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct evd_json_fault fault;
        arena_renew();
        ck_assert_int_ne(answer_to(&evd_type_sample, bodies[i], &fault), TAKEN);
        ck_assert_msg(!contains(fault.message, "s3cret") && !contains(fault.pointer, "s3cret"), EVD_TEXT_FMT,
                      EVD_TEXT_ARG(fault.message));
    }
}
END_TEST

EVD_TEST_MAIN("records: what the JSON codec refuses", what_does_not_fit_is_refused_at_its_place,
              what_is_not_json_is_refused_whole, a_member_that_comes_twice_is_refused_at_every_depth,
              a_number_nothing_can_hold_is_refused_as_such, the_need_says_what_may_be_missing_or_null,
              a_value_of_another_type_is_refused, every_bound_holds_and_one_more_is_refused,
              what_is_only_shown_is_not_taken, nothing_of_a_refused_text_is_in_the_message)
