/*
 * Clock: the only way to learn the time, so that tests own it.
 */
#ifndef EVIDENCED_BASE_CLOCK_H
#define EVIDENCED_BASE_CLOCK_H

#include "evidenced/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct evd_clock {
    int64_t (*wall_ms)(void *self);      /* milliseconds since 1970, UTC; may jump */
    int64_t (*monotonic_us)(void *self); /* microseconds since some start; never goes back */
    void *self;
};

/** The host's clock. Never freed. */
const struct evd_clock *evd_clock_system(void);

int64_t evd_clock_wall_ms(const struct evd_clock *clock);
int64_t evd_clock_monotonic_us(const struct evd_clock *clock);
int64_t evd_clock_monotonic_ms(const struct evd_clock *clock);

#define EVD_TIME_TEXT_BYTES 24

/** RFC 3339, UTC, milliseconds: `2026-03-01T09:30:00.000Z`, NUL behind it. Years 1970 to 9999; others are clamped. */
void evd_time_format(int64_t wall_ms, char ret_text[EVD_TIME_TEXT_BYTES + 1]);

/** Is it a calendar date `YYYY-MM-DD` that exists (proleptic Gregorian, years 0001 to 9999)? */
bool evd_date_is_valid(struct evd_text text);

#endif
