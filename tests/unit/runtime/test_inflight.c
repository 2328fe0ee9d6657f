/*
 * The in-flight registry by itself: a barrier is told when the last attempt registered before it has ended.
 */
#include "../../support/test.h"

#include "runtime/inflight.h"

#include <pthread.h>

enum { CALLS = 8 };

static struct evd_inflight *registry;
static struct evd_call calls[CALLS], barrier, second_barrier;

static void begin(void) {
    registry = evd_inflight_new();
    for (size_t i = 0; i < CALLS; i++)
        calls[i] = (struct evd_call){.ids.project.bytes = {9}};
    barrier = second_barrier = calls[0];
}

static void enter(size_t call) {
    evd_inflight_enter(registry, &calls[call]);
}

static struct evd_call *leave(size_t call) {
    return evd_inflight_leave(registry, &calls[call]);
}

static void end(void) {
    ck_assert_uint_eq(evd_inflight_count(registry), 0);
    evd_inflight_free(registry);
}

START_TEST(with_nothing_registered_a_barrier_waits_for_nothing) {
    begin();
    ck_assert(evd_inflight_drained(registry, &barrier));
    enter(0);
    ck_assert_ptr_null(leave(0));
    ck_assert(evd_inflight_drained(registry, &barrier));
    end();
}
END_TEST

START_TEST(a_barrier_is_told_by_the_last_of_the_attempts_before_it_in_whatever_order_they_end) {
    static const size_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {1, 0, 2}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        begin();
        for (size_t call = 0; call < 3; call++)
            enter(call);
        ck_assert(!evd_inflight_drained(registry, &barrier));
        ck_assert_ptr_null(leave(orders[i][0]));
        ck_assert_ptr_null(leave(orders[i][1]));
        ck_assert_ptr_eq(leave(orders[i][2]), &barrier);
        ck_assert_ptr_null(barrier.next_waiting);
        end();
    }
}
END_TEST

START_TEST(an_attempt_begun_after_the_barrier_does_not_matter) {
    begin();
    enter(0);
    ck_assert(!evd_inflight_drained(registry, &barrier));
    enter(1);
    ck_assert_ptr_null(leave(1));
    enter(1);
    ck_assert_ptr_eq(leave(0), &barrier); /* though 1 still runs */
    ck_assert_ptr_null(leave(1));
    end();
}
END_TEST

START_TEST(attempts_of_another_project_do_not_matter_even_in_the_same_stripe) {
    begin();
    calls[1].ids.project.bytes[5] = 1; /* bytes 0 and 15 choose the stripe */
    calls[2].ids.project.bytes[0] = 10;
    for (size_t call = 0; call < 3; call++)
        enter(call);
    ck_assert(!evd_inflight_drained(registry, &barrier));
    ck_assert_ptr_null(leave(1));
    ck_assert_ptr_null(leave(2));
    ck_assert_ptr_eq(leave(0), &barrier);
    end();
}
END_TEST

START_TEST(an_attempt_run_again_counts_as_a_new_one) {
    begin();
    enter(0);
    enter(1);
    ck_assert(!evd_inflight_drained(registry, &barrier));
    ck_assert_ptr_null(leave(0));
    enter(0); /* its next attempt reads what the barrier's call has committed */
    ck_assert_ptr_eq(leave(1), &barrier);
    ck_assert_ptr_null(leave(0));
    end();
}
END_TEST

START_TEST(one_attempt_may_be_the_last_for_several_barriers) {
    begin();
    enter(0);
    ck_assert(!evd_inflight_drained(registry, &barrier));
    enter(1);
    ck_assert(!evd_inflight_drained(registry, &second_barrier));
    ck_assert_ptr_null(leave(1));
    struct evd_call *told = leave(0);
    ck_assert_ptr_nonnull(told);
    struct evd_call *next = told->next_waiting;
    ck_assert_ptr_nonnull(next);
    ck_assert_ptr_null(next->next_waiting);
    ck_assert((told == &barrier && next == &second_barrier) || (told == &second_barrier && next == &barrier));
    end();
}
END_TEST

/* Threads register and leave while one asks again and again: each barrier is told once, by nobody but the last. */
static atomic_uint told;

static void *come_and_go(void *self) {
    struct evd_call *call = self;
    for (int i = 0; i < 3000; i++) {
        evd_inflight_enter(registry, call);
        for (struct evd_call *done = evd_inflight_leave(registry, call); done != NULL; done = done->next_waiting)
            atomic_fetch_add(&told, 1);
    }
    return NULL;
}

START_TEST(barriers_raised_while_attempts_come_and_go_are_each_told_once) {
    enum { BARRIERS = 500 };
    static struct evd_call barriers[BARRIERS];
    pthread_t threads[CALLS];
    unsigned waited = 0;
    begin();
    for (size_t i = 0; i < BARRIERS; i++)
        barriers[i] = calls[0];
    for (size_t i = 0; i < CALLS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go, &calls[i]), 0);
    for (size_t i = 0; i < BARRIERS; i++)
        waited += !evd_inflight_drained(registry, &barriers[i]);
    for (size_t i = 0; i < CALLS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(atomic_load(&told), waited);
    end();
}
END_TEST

EVD_TEST_MAIN("runtime: the in-flight registry", with_nothing_registered_a_barrier_waits_for_nothing,
              a_barrier_is_told_by_the_last_of_the_attempts_before_it_in_whatever_order_they_end,
              an_attempt_begun_after_the_barrier_does_not_matter,
              attempts_of_another_project_do_not_matter_even_in_the_same_stripe,
              an_attempt_run_again_counts_as_a_new_one, one_attempt_may_be_the_last_for_several_barriers,
              barriers_raised_while_attempts_come_and_go_are_each_told_once)
