/*
 * A race on purpose: two threads count without a lock. Built under the thread sanitizer only, where it must be
 * reported (`make check-planted-race`): a sanitizer that sees nothing here proves nothing elsewhere.
 */
#include "test.h"

#include <pthread.h>

#ifndef __SANITIZE_THREAD__
#error "this program means something under the thread sanitizer only: PROFILE=tsan"
#endif

enum { ROUNDS = 100000 };

static long count;

static void *count_up(void *argument) {
    (void)argument;
    for (int i = 0; i < ROUNDS; i++)
        *(volatile long *)&count += 1;
    return NULL;
}

START_TEST(two_threads_count_without_a_lock) {
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, count_up, NULL), 0);
    (void)count_up(NULL);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    ck_assert_int_ge(count, 1);
}
END_TEST

EVD_TEST_MAIN("a planted race", two_threads_count_without_a_lock)
