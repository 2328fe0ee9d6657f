#include "../../support/test.h"
#include "evidenced/base/clock.h"
#include "evidenced/base/random.h"
#include "evidenced/base/stamp.h"
#include "evidenced/base/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define AT(ms, counter) ((evd_stamp)(ms) << EVD_STAMP_COUNTER_BITS | (counter))

static const struct {
    int64_t wall_ms;
    evd_stamp read;
    int64_t ahead_ms;
    bool is_given;
    evd_stamp stamp;
} stamps[] = {
    {1000, 0, 60000, true, AT(1000, 1)},
    {1000, AT(999, 65535), 60000, true, AT(1000, 1)},
    {1000, AT(1000, 0), 60000, true, AT(1000, 1)},
    {1000, AT(1000, 7), 60000, true, AT(1000, 8)},
    {1000, AT(1000, 65535), 60000, true, AT(1001, 0)}, /* the counter carries into the time */
    {1000, AT(61000, 0), 60000, true, AT(61000, 1)},   /* exactly as far ahead as allowed */
    {1000, AT(61000, 65534), 60000, true, AT(61000, 65535)},
    {1000, AT(61000, 65535), 60000, false, 0}, /* the tick carries it beyond */
    {1000, AT(61001, 0), 60000, false, 0},
    {1000, UINT64_MAX, 60000, false, 0},
    {1000, UINT64_MAX, INT64_MAX, false, 0}, /* nothing comes after it */
    {1000, AT(1000, 0), 0, true, AT(1000, 1)},
    {1000, AT(1000, 65535), 0, false, 0},
    {0, 0, 60000, true, AT(0, 1)},
    {-5, 0, 60000, true, AT(0, 1)}, /* a clock before 1970 */
    {-60001, 0, 60000, false, 0},
};

START_TEST(a_stamp_comes_after_all_that_was_read_and_not_too_far_ahead_of_the_clock) {
    for (size_t i = 0; i < COUNT(stamps); i++) {
        evd_stamp stamp = 42;
        bool given = evd_stamp_next(stamps[i].wall_ms, stamps[i].read, stamps[i].ahead_ms, &stamp);
        ck_assert_msg(given == stamps[i].is_given, "row %zu", i);
        ck_assert_msg(stamp == (given ? stamps[i].stamp : 42), "row %zu", i);
        if (given) ck_assert_uint_gt(stamp, stamps[i].read);
    }
}
END_TEST

START_TEST(stamps_increase_strictly_when_the_clock_stands_jumps_and_goes_back) {
    struct evd_test_random random;
    evd_stamp last = 0;
    int64_t wall_ms = INT64_C(1772357400000);
    evd_test_random_init(&random, 3);
    for (unsigned i = 0; i < 200000; i++) {
        evd_stamp next;
        ck_assert(evd_stamp_next(wall_ms, last, 60000, &next));
        ck_assert_uint_gt(next, last);
        ck_assert_int_ge(evd_stamp_ms(next), wall_ms);
        last = next;
        uint64_t dice = evd_random_below(&random.random, 100);
        if (dice == 0) wall_ms -= (int64_t)evd_random_below(&random.random, 500);
        if (dice == 1) wall_ms += (int64_t)evd_random_below(&random.random, 600);
    }
}
END_TEST

START_TEST(stamps_are_written_in_decimal) {
    char text[EVD_STAMP_TEXT_BYTES + 1];
    evd_stamp_format(0, text);
    ck_assert_str_eq(text, "0");
    evd_stamp_format(UINT64_MAX, text);
    ck_assert_str_eq(text, "18446744073709551615");
    ck_assert_int_eq(evd_stamp_ms(UINT64_MAX), (INT64_C(1) << 48) - 1);
}
END_TEST

static const struct {
    const char *text;
    bool is_date;
} dates[] = {
    {"2026-03-01", true},  {"2024-02-29", true},  {"2000-02-29", true},  {"0001-01-01", true},  {"9999-12-31", true},
    {"2026-04-30", true},  {"2026-12-31", true},  {"2025-02-29", false}, {"1900-02-29", false}, {"2100-02-29", false},
    {"2026-04-31", false}, {"2026-06-31", false}, {"2026-09-31", false}, {"2026-11-31", false}, {"2026-01-32", false},
    {"2026-00-10", false}, {"2026-13-10", false}, {"2026-10-00", false}, {"0000-01-01", false}, {"2026-3-01", false},
    {"2026-03-1", false},  {"26-03-01", false},   {"2026/03/01", false}, {"20260301", false},   {"2026-03-01 ", false},
    {" 2026-03-1", false}, {"+026-03-01", false}, {"2026-03-0x", false}, {"", false},           {"10000-01-01", false},
    {"2026-02-30", false}, {"2026--3-01", false},
};

START_TEST(a_date_is_one_that_exists) {
    for (size_t i = 0; i < COUNT(dates); i++)
        ck_assert_msg(evd_date_is_valid(evd_text_from(dates[i].text)) == dates[i].is_date, "%s", dates[i].text);
}
END_TEST

static const struct {
    int64_t ms;
    const char *text;
} times[] = {
    {0, "1970-01-01T00:00:00.000Z"},
    {1, "1970-01-01T00:00:00.001Z"},
    {INT64_C(1772357400123), "2026-03-01T09:30:00.123Z"},
    {INT64_C(951782399999), "2000-02-28T23:59:59.999Z"},
    {INT64_C(951782400000), "2000-02-29T00:00:00.000Z"},
    {INT64_C(253402300799999), "9999-12-31T23:59:59.999Z"},
    {INT64_C(253402300800000), "9999-12-31T23:59:59.999Z"},
    {INT64_MAX, "9999-12-31T23:59:59.999Z"},
    {-1, "1970-01-01T00:00:00.000Z"},
    {INT64_MIN, "1970-01-01T00:00:00.000Z"},
};

START_TEST(times_are_written_in_utc_with_milliseconds_whatever_the_time_zone) {
    ck_assert_int_eq(setenv("TZ", "Asia/Kathmandu", 1), 0);
    tzset();
    for (size_t i = 0; i < COUNT(times); i++) {
        char text[EVD_TIME_TEXT_BYTES + 1];
        evd_time_format(times[i].ms, text);
        ck_assert_str_eq(text, times[i].text);
    }
}
END_TEST

START_TEST(the_hosts_clock_is_in_the_units_it_says) {
    const struct evd_clock *clock = evd_clock_system();
    int64_t seconds = (int64_t)time(NULL), before_us = evd_clock_monotonic_us(clock);
    ck_assert_int_le(seconds * 1000 - 1000, evd_clock_wall_ms(clock));
    ck_assert_int_ge((int64_t)time(NULL) * 1000 + 2000, evd_clock_wall_ms(clock));
    ck_assert_int_le(before_us / 1000, evd_clock_monotonic_ms(clock));
    ck_assert_int_le(before_us, evd_clock_monotonic_us(clock));
}
END_TEST

EVD_TEST_MAIN("base: stamps and time", a_stamp_comes_after_all_that_was_read_and_not_too_far_ahead_of_the_clock,
              stamps_increase_strictly_when_the_clock_stands_jumps_and_goes_back, stamps_are_written_in_decimal,
              a_date_is_one_that_exists, times_are_written_in_utc_with_milliseconds_whatever_the_time_zone,
              the_hosts_clock_is_in_the_units_it_says)
