#include "evidenced/base/clock.h"

static int64_t system_wall_ms(void *self) {
    (void)self;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t system_monotonic_us(void *self) {
    (void)self;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

const struct evd_clock *evd_clock_system(void) {
    static const struct evd_clock clock = {.wall_ms = system_wall_ms, .monotonic_us = system_monotonic_us};
    return &clock;
}

int64_t evd_clock_wall_ms(const struct evd_clock *clock) {
    return clock->wall_ms(clock->self);
}

int64_t evd_clock_monotonic_us(const struct evd_clock *clock) {
    return clock->monotonic_us(clock->self);
}

int64_t evd_clock_monotonic_ms(const struct evd_clock *clock) {
    return evd_clock_monotonic_us(clock) / 1000;
}

void evd_time_format(int64_t wall_ms, char ret_text[EVD_TIME_TEXT_BYTES + 1]) {
    static const int64_t latest_ms = INT64_C(253402300799999); /* 9999-12-31T23:59:59.999Z */
    if (wall_ms < 0) wall_ms = 0;
    if (wall_ms > latest_ms) wall_ms = latest_ms;
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    (void)gmtime_r(&seconds, &utc);
    size_t size = strftime(ret_text, EVD_TIME_TEXT_BYTES + 1, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(ret_text + size, EVD_TIME_TEXT_BYTES + 1 - size, ".%03uZ", (unsigned)(wall_ms % 1000));
}

bool evd_date_is_valid(struct evd_text text) {
    static const uint8_t days_of[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint64_t year, month, day;
    if (text.size_bytes != 10 || text.bytes[4] != '-' || text.bytes[7] != '-') return false;
    if (!evd_text_to_u64((struct evd_text){text.bytes, 4}, &year) || year == 0) return false;
    if (!evd_text_to_u64((struct evd_text){text.bytes + 5, 2}, &month) || month < 1 || month > 12) return false;
    if (!evd_text_to_u64((struct evd_text){text.bytes + 8, 2}, &day) || day < 1) return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= (uint64_t)days_of[month - 1] + (month == 2 && leap);
}
