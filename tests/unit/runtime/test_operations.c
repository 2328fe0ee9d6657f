#include "../../support/test.h"

#include "evidenced/runtime/operations.h"

#include <pthread.h>

enum { WAITERS = 8, DEADLINE_MS = 5000, ROUNDS = 2000 };

struct waiting {
    struct evd_operation_waiter waiter; /* first: the one is found from the other */
    atomic_uint told;
};

static struct evd_test_clock test_clock;
static struct evd_operations *operations;
static struct waiting waiting[WAITERS];

static void note(struct evd_operation_waiter *waiter) {
    atomic_fetch_add(&((struct waiting *)waiter)->told, 1);
}

static evd_uuid id_of(unsigned number) {
    evd_uuid id = {.bytes = {0}};
    id.bytes[0] = (uint8_t)number;
    id.bytes[15] = 1;
    return id;
}

static void open_all(void) {
    evd_test_clock_init(&test_clock, 0);
    operations = evd_operations_new(&test_clock.clock);
    ck_assert_ptr_nonnull(operations);
}

static void begin(unsigned which, unsigned project, unsigned operation, int64_t for_ms) {
    struct evd_operation_waiter *waiter = &waiting[which].waiter;
    atomic_store(&waiting[which].told, 0);
    waiter->project = id_of(project);
    waiter->operation = id_of(operation);
    waiter->deadline_ms = evd_clock_monotonic_ms(&test_clock.clock) + for_ms;
    waiter->over = note;
    evd_operations_wait(operations, waiter);
}

static unsigned told(unsigned which) {
    return atomic_load(&waiting[which].told);
}

START_TEST(all_who_wait_for_an_operation_are_told_once_when_it_is_settled_and_nobody_else) {
    open_all();
    begin(0, 1, 1, DEADLINE_MS);
    begin(1, 1, 2, DEADLINE_MS);
    begin(2, 1, 1, DEADLINE_MS);
    begin(3, 2, 1, DEADLINE_MS);
    ck_assert_uint_eq(evd_operations_waiting(operations), 4);
    evd_operations_settled(operations, id_of(1), id_of(1));
    evd_operations_settled(operations, id_of(1), id_of(1));
    ck_assert(told(0) == 1 && told(1) == 0 && told(2) == 1 && told(3) == 0);
    ck_assert_uint_eq(evd_operations_waiting(operations), 2);
    evd_operations_settled(operations, id_of(2), id_of(1));
    evd_operations_settled(operations, id_of(1), id_of(2));
    ck_assert(told(0) == 1 && told(1) == 1 && told(2) == 1 && told(3) == 1);
    evd_operations_settled(NULL, id_of(1), id_of(1));
    evd_operations_free(operations);
}
END_TEST

START_TEST(who_waits_is_told_when_time_is_up_and_not_before) {
    open_all();
    begin(0, 1, 1, DEADLINE_MS);
    begin(1, 1, 2, 2 * DEADLINE_MS);
    evd_test_clock_advance(&test_clock, DEADLINE_MS - 1);
    evd_operations_tick(operations);
    ck_assert(told(0) == 0 && told(1) == 0);
    evd_test_clock_advance(&test_clock, 1);
    evd_operations_tick(operations);
    ck_assert(told(0) == 1 && told(1) == 0);
    evd_operations_settled(operations, id_of(1), id_of(1));
    evd_test_clock_advance(&test_clock, DEADLINE_MS);
    evd_operations_tick(operations);
    evd_operations_tick(operations);
    ck_assert(told(0) == 1 && told(1) == 1);
    evd_operations_free(operations);
}
END_TEST

START_TEST(who_gave_up_is_not_told) {
    open_all();
    for (unsigned i = 0; i < 4; i++)
        begin(i, 1, 1, DEADLINE_MS);
    evd_operations_cancel(operations, &waiting[1].waiter);
    evd_operations_cancel(operations, &waiting[3].waiter);
    evd_operations_cancel(operations, &waiting[3].waiter);
    evd_operations_settled(operations, id_of(1), id_of(1));
    evd_operations_cancel(operations, &waiting[0].waiter);
    ck_assert(told(0) == 1 && told(1) == 0 && told(2) == 1 && told(3) == 0);
    begin(1, 1, 1, DEADLINE_MS);
    evd_operations_settled(operations, id_of(1), id_of(1));
    ck_assert_uint_eq(told(1), 1);
    evd_operations_free(operations);
}
END_TEST

START_TEST(when_the_daemon_ends_nobody_waits_any_more) {
    open_all();
    begin(0, 1, 1, DEADLINE_MS);
    begin(1, 1, 2, DEADLINE_MS);
    evd_operations_release(operations);
    ck_assert(told(0) == 1 && told(1) == 1);
    begin(2, 1, 1, DEADLINE_MS);
    ck_assert_uint_eq(told(2), 1);
    evd_operations_cancel(operations, &waiting[2].waiter);
    ck_assert_uint_eq(evd_operations_waiting(operations), 0);
    evd_operations_free(operations);
}
END_TEST

static void *settle_often(void *self) {
    (void)self;
    for (int i = 0; i < ROUNDS; i++)
        evd_operations_settled(operations, id_of(1), id_of(1));
    return NULL;
}

START_TEST(after_a_cancel_nobody_is_told_whoever_settles_meanwhile) {
    pthread_t settler;
    open_all();
    ck_assert_int_eq(pthread_create(&settler, NULL, settle_often, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        begin(0, 1, 1, DEADLINE_MS);
        evd_operations_cancel(operations, &waiting[0].waiter);
        unsigned before = told(0);
        ck_assert_uint_le(before, 1);
        ck_assert_uint_eq(told(0), before);
        memset(&waiting[0].waiter, 0xA5, sizeof waiting[0].waiter); /* the owner's again: nobody may look */
    }
    pthread_join(settler, NULL);
    ck_assert_uint_eq(evd_operations_waiting(operations), 0);
    evd_operations_free(operations);
}
END_TEST

EVD_TEST_MAIN("runtime: operations waited for",
              all_who_wait_for_an_operation_are_told_once_when_it_is_settled_and_nobody_else,
              who_waits_is_told_when_time_is_up_and_not_before, who_gave_up_is_not_told,
              when_the_daemon_ends_nobody_waits_any_more, after_a_cancel_nobody_is_told_whoever_settles_meanwhile)
