#include "../../support/test.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define ASSERT_TEXT(text, literal)                                                                                     \
    do {                                                                                                               \
        struct evd_text is_ = (text);                                                                                  \
        ck_assert_msg(evd_text_equal(is_, evd_text_from(literal)), "`" EVD_TEXT_FMT "`, not `%s`", EVD_TEXT_ARG(is_),  \
                      (literal));                                                                                      \
    } while (0)

static const struct {
    struct evd_text text;
    bool is_utf8;
} utf8[] = {
    {EVD_TEXT_INIT(""), true},
    {EVD_TEXT_INIT("plain\n\0\x7f"), true},
    {EVD_TEXT_INIT("\xC2\x80"), true},
    {EVD_TEXT_INIT("\xDF\xBF"), true},
    {EVD_TEXT_INIT("\xE0\xA0\x80"), true},
    {EVD_TEXT_INIT("\xED\x9F\xBF"), true},
    {EVD_TEXT_INIT("\xEE\x80\x80"), true},
    {EVD_TEXT_INIT("\xEF\xBF\xBF"), true},
    {EVD_TEXT_INIT("\xF0\x90\x80\x80"), true},
    {EVD_TEXT_INIT("\xF4\x8F\xBF\xBF"), true},
    {EVD_TEXT_INIT("\x80"), false}, /* continuation without a lead */
    {EVD_TEXT_INIT("\xBF"), false},
    {EVD_TEXT_INIT("\xC0\x80"), false}, /* overlong NUL */
    {EVD_TEXT_INIT("\xC0\xAF"), false}, /* overlong '/' */
    {EVD_TEXT_INIT("\xC1\xBF"), false},
    {EVD_TEXT_INIT("\xE0\x80\xAF"), false}, /* overlong in three */
    {EVD_TEXT_INIT("\xE0\x9F\xBF"), false},
    {EVD_TEXT_INIT("\xF0\x80\x80\xAF"), false}, /* overlong in four */
    {EVD_TEXT_INIT("\xF0\x8F\xBF\xBF"), false},
    {EVD_TEXT_INIT("\xED\xA0\x80"), false}, /* surrogates */
    {EVD_TEXT_INIT("\xED\xBF\xBF"), false},
    {EVD_TEXT_INIT("\xED\xA0\x80\xED\xB0\x80"), false},
    {EVD_TEXT_INIT("\xF4\x90\x80\x80"), false}, /* above U+10FFFF */
    {EVD_TEXT_INIT("\xF5\x80\x80\x80"), false},
    {EVD_TEXT_INIT("\xFE"), false},
    {EVD_TEXT_INIT("\xFF"), false},
    {EVD_TEXT_INIT("a\xC2"), false}, /* cut short */
    {EVD_TEXT_INIT("a\xE2\x82"), false},
    {EVD_TEXT_INIT("a\xF0\x9F\x98"), false},
    {EVD_TEXT_INIT("\xC2"
                   "a"),
     false}, /* lead without its continuation */
    {EVD_TEXT_INIT("\xE2\x82"
                   "a"),
     false},
    {EVD_TEXT_INIT("\xE2"
                   "a\x82"),
     false},
    {EVD_TEXT_INIT("\xF0\x9F\x98"
                   "a"),
     false},
    {EVD_TEXT_INIT("\xC2\x80\x80"), false}, /* one continuation too many */
};

START_TEST(utf8_is_told_from_what_only_looks_like_it) {
    for (size_t i = 0; i < COUNT(utf8); i++)
        ck_assert_msg(evd_text_is_utf8(utf8[i].text) == utf8[i].is_utf8, "row %zu", i);
}
END_TEST

/* Encode every scalar value, and every would-be surrogate, by hand. */
START_TEST(every_scalar_value_is_utf8_and_of_length_one_and_no_surrogate_is) {
    for (uint32_t value = 0; value <= 0x10FFFF; value++) {
        char bytes[4];
        size_t size = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
        static const uint8_t leads[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
        for (size_t i = size - 1; i > 0; i--)
            bytes[i] = (char)(0x80 | (value >> (6 * (size - 1 - i)) & 0x3F));
        bytes[0] = (char)(leads[size] | value >> (6 * (size - 1)));
        struct evd_text text = {bytes, size};
        bool right = evd_text_is_utf8(text) == (value < 0xD800 || value > 0xDFFF) && evd_text_length(text) == 1;
        if (!right) ck_abort_msg("U+%04X", value); /* a check each would take a minute */
    }
}
END_TEST

START_TEST(a_text_is_as_long_as_its_characters) {
    ck_assert_uint_eq(evd_text_length(EVD_TEXT("")), 0);
    ck_assert_uint_eq(evd_text_length(EVD_TEXT("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")), 4);
}
END_TEST

static const struct {
    const char *text;
    bool is_u64, is_i64;
    uint64_t u64;
    int64_t i64;
} numbers[] = {
    {"0", true, true, 0, 0},
    {"007", true, true, 7, 7},
    {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
    {"9223372036854775808", true, false, (uint64_t)INT64_MAX + 1, 0},
    {"18446744073709551615", true, false, UINT64_MAX, 0},
    {"18446744073709551616", false, false, 0, 0},
    {"18446744073709551620", false, false, 0, 0},
    {"99999999999999999999999", false, false, 0, 0},
    {"-1", false, true, 0, -1},
    {"-0", false, true, 0, 0},
    {"-9223372036854775808", false, true, 0, INT64_MIN},
    {"-9223372036854775809", false, false, 0, 0},
    {"", false, false, 0, 0},
    {"-", false, false, 0, 0},
    {"--1", false, false, 0, 0},
    {"+1", false, false, 0, 0},
    {" 1", false, false, 0, 0},
    {"1 ", false, false, 0, 0},
    {"1.0", false, false, 0, 0},
    {"0x1", false, false, 0, 0},
    {"1e3", false, false, 0, 0},
    {"\xD9\xA1", false, false, 0, 0}, /* a digit, but not one of ours */
};

START_TEST(numbers_are_digits_that_fit_and_nothing_else) {
    for (size_t i = 0; i < COUNT(numbers); i++) {
        uint64_t u64 = 42;
        int64_t i64 = 42;
        struct evd_text text = evd_text_from(numbers[i].text);
        ck_assert_msg(evd_text_to_u64(text, &u64) == numbers[i].is_u64, "%s", numbers[i].text);
        ck_assert_msg(evd_text_to_i64(text, &i64) == numbers[i].is_i64, "%s", numbers[i].text);
        ck_assert_uint_eq(u64, numbers[i].is_u64 ? numbers[i].u64 : 42);
        ck_assert_int_eq(i64, numbers[i].is_i64 ? numbers[i].i64 : 42);
    }
}
END_TEST

START_TEST(texts_are_ordered_by_bytes_and_a_prefix_comes_first) {
    static const struct evd_text ascending[] = {EVD_TEXT_INIT(""),   EVD_TEXT_INIT("\0"), EVD_TEXT_INIT("A"),
                                                EVD_TEXT_INIT("AA"), EVD_TEXT_INIT("a"),  EVD_TEXT_INIT("a\0"),
                                                EVD_TEXT_INIT("ab"), EVD_TEXT_INIT("b"),  EVD_TEXT_INIT("\xFF")};
    for (size_t i = 0; i < COUNT(ascending); i++) {
        for (size_t j = 0; j < COUNT(ascending); j++) {
            int order = evd_text_compare(ascending[i], ascending[j]);
            ck_assert_int_eq((order > 0) - (order < 0), (i > j) - (i < j));
            ck_assert_int_eq(evd_text_equal(ascending[i], ascending[j]), i == j);
        }
    }
    ck_assert(evd_text_equal(evd_text_from(NULL), EVD_TEXT("")));
    ck_assert(evd_text_equal((struct evd_text){NULL, 0}, EVD_TEXT("")));
    ck_assert_int_eq(evd_text_compare((struct evd_text){NULL, 0}, EVD_TEXT("")), 0);
}
END_TEST

START_TEST(case_is_ignored_in_ascii_only) {
    ck_assert(evd_text_equal_ignoring_case(EVD_TEXT("Content-TYPE"), EVD_TEXT("content-type")));
    ck_assert(!evd_text_equal_ignoring_case(EVD_TEXT("abc"), EVD_TEXT("abcd")));
    ck_assert(!evd_text_equal_ignoring_case(EVD_TEXT("@["), EVD_TEXT("`{")));
    ck_assert(!evd_text_equal_ignoring_case(EVD_TEXT("\xC3\x89"), EVD_TEXT("\xC3\xA9")));
    ck_assert(evd_text_starts_with(EVD_TEXT("abc"), EVD_TEXT("")));
    ck_assert(evd_text_starts_with(EVD_TEXT("abc"), EVD_TEXT("abc")));
    ck_assert(!evd_text_starts_with(EVD_TEXT("abc"), EVD_TEXT("abcd")));
    ck_assert(!evd_text_starts_with(EVD_TEXT("abc"), EVD_TEXT("b")));
}
END_TEST

START_TEST(white_space_is_trimmed_at_the_ends_only) {
    ASSERT_TEXT(evd_text_trim(EVD_TEXT(" \t\r\n\v\fa b \t")), "a b");
    ASSERT_TEXT(evd_text_trim(EVD_TEXT("a")), "a");
    ASSERT_TEXT(evd_text_trim(EVD_TEXT("   ")), "");
    ASSERT_TEXT(evd_text_trim(EVD_TEXT("")), "");
    ASSERT_TEXT(evd_text_trim(EVD_TEXT("\xC2\xA0")), "\xC2\xA0");
}
END_TEST

START_TEST(copied_and_printed_texts_are_terminated) {
    struct evd_arena arena;
    evd_arena_init(&arena, EVD_MIB);
    struct evd_text copy = evd_text_copy(&arena, (struct evd_text){"abcdef", 3});
    ck_assert_str_eq(copy.bytes, "abc");
    ck_assert_str_eq(evd_text_copy(&arena, (struct evd_text){NULL, 0}).bytes, "");
    struct evd_text print = evd_text_print(&arena, "%s-%d", "x", 5);
    ck_assert_str_eq(print.bytes, "x-5");
    ck_assert_uint_eq(print.size_bytes, 3);
    evd_arena_done(&arena);
}
END_TEST

EVD_TEST_MAIN("base: text", utf8_is_told_from_what_only_looks_like_it,
              every_scalar_value_is_utf8_and_of_length_one_and_no_surrogate_is, a_text_is_as_long_as_its_characters,
              numbers_are_digits_that_fit_and_nothing_else, texts_are_ordered_by_bytes_and_a_prefix_comes_first,
              case_is_ignored_in_ascii_only, white_space_is_trimmed_at_the_ends_only,
              copied_and_printed_texts_are_terminated)
