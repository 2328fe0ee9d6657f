/*
 * What every test program shares: its main, fresh directories, a clock and randomness it owns.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_TEST_H
#define EVIDENCED_TESTS_SUPPORT_TEST_H

#include "evidenced/base/clock.h"
#include "evidenced/base/random.h"

#include <check.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/** Run the tests, each in a process of its own, print Check's totals, return the exit status. */
int evd_test_run(const char *suite, const TTest *const *tests, size_t count);

#define EVD_TEST_MAIN(suite, ...)                                                                                      \
    int main(void) {                                                                                                   \
        const TTest *const tests[] = {__VA_ARGS__};                                                                    \
        return evd_test_run(suite, tests, sizeof tests / sizeof *tests);                                               \
    }

/** A fresh empty directory, removed with its content when the program ends. The text lives as long. */
const char *evd_test_directory(void);

/* A clock that stands still until the test moves it. */
struct evd_test_clock {
    atomic_llong wall_ms, monotonic_us;
    struct evd_clock clock;
};
void evd_test_clock_init(struct evd_test_clock *clock, int64_t wall_ms);
void evd_test_clock_advance(struct evd_test_clock *clock, int64_t by_ms);

/* A repeatable source: the same seed gives the same bytes. */
struct evd_test_random {
    uint64_t state;
    struct evd_random random;
};
void evd_test_random_init(struct evd_test_random *random, uint64_t seed);

#endif
