#include "domain/answer_bound.h"

#include "forms.h"

START_TEST(a_decimal_has_digits_and_at_most_one_point) {
    static const struct {
        const char *text;
        bool valid;
    } decimals[] = {
        {"0", true},
        {"-0", true},
        {"1.50", true},
        {"007.5", true},
        {"-12.000", true},
        {"1234567890123456789012345678901234", true},
        {"-0.123456789012345678901234567890123", true},
        {"12345678901234567890123456789012345", false},
        {"0.1234567890123456789012345678901234", false},
        {"", false},
        {"-", false},
        {".", false},
        {".5", false},
        {"5.", false},
        {"-.5", false},
        {"+1", false},
        {"--1", false},
        {"1e3", false},
        {"1,5", false},
        {"1.5.2", false},
        {" 1", false},
        {"1 ", false},
        {"NaN", false},
        {"Infinity", false},
        {"0x10", false},
        {"١", false},
    };
    for (size_t i = 0; i < sizeof decimals / sizeof *decimals; i++)
        ck_assert_msg(evd_decimal_is_valid(evd_text_from(decimals[i].text)) == decimals[i].valid, "%s",
                      decimals[i].text);
}
END_TEST

START_TEST(decimals_are_compared_exactly) {
    static const struct {
        const char *a, *b;
        int order;
    } pairs[] = {
        {"0", "0", 0},
        {"0", "-0.00", 0},
        {"1.50", "1.5", 0},
        {"01.5", "1.500", 0},
        {"1.5", "1.49", 1},
        {"9", "10", -1},
        {"-9", "-10", 1},
        {"-0.5", "0.4", -1},
        {"0.1", "0.09", 1},
        {"0.1", "0.10000000000000000000000000000001", -1},
        {"9007199254740993", "9007199254740992", 1},
        {"9999999999999999999999999999999999", "9999999999999999999999999999999998", 1},
        {"-9999999999999999999999999999999.999", "-9999999999999999999999999999999.998", -1},
        {"0.000000000000000000000000000000001", "0", 1},
        {"-0.000000000000000000000000000000001", "0", -1},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct evd_text a = evd_text_from(pairs[i].a), b = evd_text_from(pairs[i].b);
        int there = evd_decimal_compare(a, b), back = evd_decimal_compare(b, a);
        ck_assert_msg((there > 0) - (there < 0) == pairs[i].order, "%s %s", pairs[i].a, pairs[i].b);
        ck_assert_msg((back > 0) - (back < 0) == -pairs[i].order, "%s %s", pairs[i].b, pairs[i].a);
    }
}
END_TEST

/* A decimal of `thousandths`, written with leading zeros and trailing ones at random. */
static struct evd_text written(int64_t thousandths, const struct evd_random *random) {
    static const char zeros[] = "000";
    int64_t size = thousandths < 0 ? -thousandths : thousandths;
    return evd_text_print(&arena, "%s%.*s%lld.%03lld%.*s", thousandths < 0 ? "-" : "", (int)evd_random_below(random, 4),
                          zeros, (long long)(size / 1000), (long long)(size % 1000), (int)evd_random_below(random, 4),
                          zeros);
}

START_TEST(random_decimals_compare_as_their_numbers_do) {
    struct evd_test_random random;
    evd_test_random_init(&random, 3);
    begin();
    for (int round = 0; round < 20000; round++) {
        uint64_t range = UINT64_C(1) << (2 + evd_random_below(&random.random, 40));
        int64_t a = (int64_t)evd_random_below(&random.random, range) - (int64_t)(range / 2);
        int64_t b = (int64_t)evd_random_below(&random.random, range) - (int64_t)(range / 2);
        struct evd_text left = written(a, &random.random), right = written(b, &random.random);
        ck_assert(evd_decimal_is_valid(left));
        int order = evd_decimal_compare(left, right);
        ck_assert_msg((order > 0) - (order < 0) == (a > b) - (a < b), EVD_TEXT_FMT " " EVD_TEXT_FMT, EVD_TEXT_ARG(left),
                      EVD_TEXT_ARG(right));
    }
    end();
}
END_TEST

EVD_TEST_MAIN("domain: answers with an order", a_decimal_has_digits_and_at_most_one_point,
              decimals_are_compared_exactly, random_decimals_compare_as_their_numbers_do)
