/*
 * Answers that are lists: references and series. Chosen options are in test_answer.c.
 */
#include "evidenced/domain/answer.h"

#include "forms.h"

#define LISTS_FORM "[{'id':'u','kind':'unit'},{'id':'r','kind':'reference','target':'u'},{'id':'s','kind':'series'}]"

static struct evd_errors check_value(const char *question, const struct evd_answer_value *value) {
    struct evd_errors errors;
    struct evd_answer answer = {.question = evd_text_from(question), .value = value, .pointer = EVD_TEXT("/answers/3")};
    evd_errors_init(&errors, &arena);
    evd_answer_check(definition_of(LISTS_FORM), &answer, (struct evd_pins){NULL, 0}, &errors);
    return errors;
}

static const struct evd_answer_value *parsed(const char *text) {
    json_t *json = quoted(evd_text_print(&arena, "{'v':%s}", text).bytes);
    const struct evd_answer_value *value = value_of(json_object_get(json, "v"));
    json_decref(json);
    return value;
}

static void check_table(const char *question, const char *const (*rows)[2], size_t count) {
    begin();
    for (size_t i = 0; i < count; i++) {
        struct evd_errors errors = check_value(question, parsed(rows[i][0]));
        ck_assert_msg(strcmp(summary_of(&errors), rows[i][1]) == 0, "%s: %s", rows[i][0], summary_of(&errors));
    }
    end();
}

START_TEST(a_reference_is_of_instances_each_once) {
    static const char *const rows[][2] = {
        {"['1']", ""},
        {"['2','1']", ""},
        {"[]", "/answers/3/value emptyAnswer"},
        {"['x']", "/answers/3/value/0 malformedElement"},
        {"['1','','2']", "/answers/3/value/1 malformedElement"},
        {"['2','1','2']", "/answers/3/value/2 repeatedReference"},
        {"['1','2','1','3','2','1']", "/answers/3/value/2 repeatedReference; /answers/3/value/4 repeatedReference; "
                                      "/answers/3/value/5 repeatedReference"},
        {"['x','x']", "/answers/3/value/0 malformedElement; /answers/3/value/1 malformedElement; "
                      "/answers/3/value/1 repeatedReference"},
        {"'1'", "/answers/3/value wrongType"},
        {"[{'time':'0','average':'1'}]", "/answers/3/value wrongType"},
    };
    check_table("r", rows, sizeof rows / sizeof *rows);
}
END_TEST

#define AT "/answers/3/value"

START_TEST(a_series_has_decimals_and_one_point_a_time) {
    static const char *const rows[][2] = {
        {"[{'time':'0','average':'12.50','error':'0.4'}]", ""},
        {"[{'time':'-1.5','average':'-2'},{'time':'-0.5','average':'-2','error':'0'}]", ""},
        {"[{'time':'7','average':'1'},{'time':'1','average':'1'}]", ""}, /* in whatever order */
        {"[{'time':'0','average':'1','error':'-0.0'}]", ""},             /* which is zero */
        {"[{'time':'','average':'1'}]", AT "/0/time notADecimal"},
        {"[{'time':'1 week','average':'1'}]", AT "/0/time notADecimal"},
        {"[{'time':'1','average':'1e3'}]", AT "/0/average notADecimal"},
        {"[{'time':'1','average':''}]", AT "/0/average notADecimal"},
        {"[{'time':'1','average':'1','error':''}]", AT "/0/error notADecimal"},
        {"[{'time':'1','average':'1','error':'±1'}]", AT "/0/error notADecimal"},
        {"[{'time':'1','average':'1','error':'-0.1'}]", AT "/0/error negativeError"},
        {"[{'time':'12345678901234567890123456789012345','average':'1'}]", AT "/0/time notADecimal"},
        {"[{'time':'1234567890123456789012345678901234','average':'1'}]", ""},
        {"[{'time':'1','average':'1'},{'time':'1','average':'2'}]", AT "/1/time repeatedTime"},
        {"[{'time':'1.0','average':'1'},{'time':'2','average':'1'},{'time':'1.00','average':'1'},"
         "{'time':'01','average':'1'}]",
         AT "/2/time repeatedTime; " AT "/3/time repeatedTime"},
        {"[{'time':'0','average':'1'},{'time':'-0','average':'1'}]", AT "/1/time repeatedTime"},
        {"[{'time':'1','average':'1'},{'time':'10','average':'1'},{'time':'0.1','average':'1'},"
         "{'time':'-1','average':'1'}]",
         ""},
        /* Times that are none do not repeat one another. */
        {"[{'time':'x','average':'1'},{'time':'x','average':'1'}]",
         AT "/0/time notADecimal; " AT "/1/time notADecimal"},
        {"[{'time':'x','average':'y','error':'z'},{'time':'1','average':'1','error':'-1'},{'time':'1.','average':'1'}]",
         AT "/0/time notADecimal; " AT "/0/average notADecimal; " AT "/0/error notADecimal; " AT
            "/1/error negativeError; " AT "/2/time notADecimal"},
        {"['1']", AT " wrongType"},
        {"[]", AT " emptyAnswer"},
        {"null", AT " emptyAnswer"},
        {"'1'", AT " wrongType"},
    };
    check_table("s", rows, sizeof rows / sizeof *rows);
}
END_TEST

START_TEST(a_series_is_an_answer_to_no_other_question) {
    begin();
    const struct evd_definition *definition = definition_of(PLAIN_FORM);
    static const char *const questions[] = {"t", "i", "d", "b", "c", "m", "day", "u=1", "split=x"};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct place place = place_of(questions[i]);
        struct evd_answer answer = {.question = place.question,
                                    .path = place.path,
                                    .path_count = place.path_count,
                                    .value = parsed("[{'time':'0','average':'1'}]")};
        struct evd_errors errors;
        evd_errors_init(&errors, &arena);
        evd_answer_check(definition, &answer, (struct evd_pins){NULL, 0}, &errors);
        ck_assert_msg(strcmp(summary_of(&errors), " wrongType") == 0, "%s: %s", questions[i], summary_of(&errors));
    }
    end();
}
END_TEST

/* As many points as there may be, times counting up; `first` and `second` of them exchanged. */
static struct evd_answer_value series(size_t count, size_t first, size_t second) {
    struct evd_answer_value value = {.kind = EVD_ANSWER_POINTS,
                                     .points = {EVD_NEW_ARRAY(&arena, struct evd_answer_point, count), count}};
    for (size_t i = 0; i < count; i++)
        value.points.items[i] = (struct evd_answer_point){.time = number_text("", i), .average = number_text("1.", i)};
    struct evd_answer_point other = value.points.items[first];
    value.points.items[first] = value.points.items[second];
    value.points.items[second] = other;
    return value;
}

START_TEST(the_longest_series_is_checked_and_its_last_point_too) {
    begin();
    struct evd_answer_value value = series(EVD_ANSWER_POINTS_MOST, 0, EVD_ANSWER_POINTS_MOST - 1);
    ck_assert_uint_eq(check_value("s", &value).total, 0);
    value.points.items[EVD_ANSWER_POINTS_MOST - 1].time = EVD_TEXT("1000.0");
    struct evd_errors errors = check_value("s", &value);
    ck_assert_str_eq(summary_of(&errors), AT "/1999/time repeatedTime");
    for (size_t i = 0; i < value.points.count; i++)
        value.points.items[i].time = EVD_TEXT("7");
    ck_assert_uint_eq(check_value("s", &value).total, EVD_ANSWER_POINTS_MOST - 1);
    end();
}
END_TEST

static bool same(const struct evd_answer_value *a, const struct evd_answer_value *b) {
    struct evd_sha256 left = evd_answer_digest(a, EVD_TEXT("n")), right = evd_answer_digest(b, EVD_TEXT("n"));
    return evd_sha256_equal(&left, &right);
}

START_TEST(the_order_of_points_does_not_count) {
    begin();
    struct evd_test_random random;
    evd_test_random_init(&random, 3);
    for (size_t count = 1; count <= EVD_ANSWER_POINTS_MOST; count = count * 3 + 1) {
        struct evd_answer_value sorted = series(count, 0, 0), mixed = sorted;
        for (int times = 0; times < 20; times++) {
            size_t a = evd_random_below(&random.random, count), b = evd_random_below(&random.random, count);
            mixed = series(count, a, b);
            struct evd_text first = mixed.points.items[0].time;
            ck_assert(same(&sorted, &mixed));
            ck_assert(evd_text_equal(mixed.points.items[0].time, first)); /* the answer itself keeps its order */
        }
        mixed.points.items[count / 2].error = EVD_TEXT("0");
        ck_assert(!same(&sorted, &mixed));
        mixed = series(count, 0, 0);
        mixed.points.count--;
        ck_assert(!same(&sorted, &mixed));
    }
    end();
}
END_TEST

START_TEST(series_that_differ_have_different_digests) {
    static const char *const different[] = {
        "[]",
        "['0']",
        "['0','1']",
        "[{'time':'0','average':'1'}]",
        "[{'time':'1','average':'0'}]",
        "[{'time':'0','average':'1.0'}]",
        "[{'time':'0.0','average':'1'}]",
        "[{'time':'0','average':'1','error':''}]",
        "[{'time':'0','average':'1','error':'2'}]",
        "[{'time':'0','average':'12'}]",
        "[{'time':'01','average':'2'}]",
        "[{'time':'0','average':'1'},{'time':'0','average':'1'}]",
        "[{'time':'0','average':'1'},{'time':'2','average':'3'}]",
        "[{'time':'0','average':'3'},{'time':'2','average':'1'}]",
        "[{'time':'0','average':'1','error':'2'},{'time':'2','average':'3'}]",
        "[{'time':'0','average':'1'},{'time':'2','average':'3','error':'2'}]",
    };
    enum { COUNT = sizeof different / sizeof *different };
    begin();
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < COUNT; k++)
            ck_assert_msg(same(parsed(different[i]), parsed(different[k])) == (i == k), "%zu %zu", i, k);
    end();
}
END_TEST

START_TEST(a_seriess_digest_is_the_same_for_ever) {
    begin();
    const struct evd_answer_value *value =
        parsed("[{'time':'7','average':'-1'},{'time':'0','average':'12.50','error':'0.4'}]");
    struct evd_sha256 digest = evd_answer_digest(value, EVD_TEXT("p. 3"));
    struct evd_buffer hex;
    evd_buffer_init(&hex, &arena, 80);
    for (size_t i = 0; i < sizeof digest.bytes; i++)
        evd_buffer_print(&hex, "%02x", digest.bytes[i]);
    evd_buffer_add_byte(&hex, 0);
    ck_assert_str_eq(evd_buffer_text(&hex).bytes, "b04e28859a71dd11abf8c991ad564694aa34b16f6aac09e7e477e11ced820618");
    end();
}
END_TEST

EVD_TEST_MAIN("domain: lists as answers", a_reference_is_of_instances_each_once,
              a_series_has_decimals_and_one_point_a_time, a_series_is_an_answer_to_no_other_question,
              the_longest_series_is_checked_and_its_last_point_too, the_order_of_points_does_not_count,
              series_that_differ_have_different_digests, a_seriess_digest_is_the_same_for_ever)
