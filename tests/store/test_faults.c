/*
 * Syncs and writes that fail: the handle is poisoned, reopened, and every commit's fate is told rightly.
 */
#include "disk_suite.h"

#include <pthread.h>

START_TEST(a_failed_sync_poisons_and_the_commit_that_landed_is_ok) {
    disk_setup();
    log_only();
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    disk_fails(FAULTFS_SYNC, 0, 1, EIO);
    ck_assert_int_eq(WRITE(inserting(thing_key(2), IMAGE(.rank = 2)), inserting(thing_key(3), IMAGE(.rank = 3))),
                     EVD_STORE_OK);
    ck_assert_int_eq(failures(FAULTFS_SYNC), 1);
    ck_assert_uint_eq(figures().recoveries, 1);
    ck_assert(figures().open);
    ck_assert_int_eq(WRITE(inserting(thing_key(4), IMAGE(.rank = 4))), EVD_STORE_OK);
    ck_assert_uint_eq(ranks_found(), 4);
    expect_after_restart((const unsigned[]){1, 2, 3, 4}, 4);
}
END_TEST

START_TEST(a_failed_write_poisons_and_the_commit_that_did_not_land_conflicts) {
    const int32_t shorts[] = {-1, 1, 100};
    for (int i = 0; i < 3; i++) {
        disk_setup();
        log_only();
        struct evd_image one = IMAGE(.rank = 1);
        ck_assert_int_eq(WRITE(inserting(thing_key(1), one)), EVD_STORE_OK);
        atomic_store(&disk.rules[FAULTFS_WRITE].short_bytes, shorts[i]);
        disk_fails(FAULTFS_WRITE, 0, shorts[i] > 0 ? 2 : 1, EIO);
        struct evd_write writes[] = {inserting(thing_key(2), IMAGE(.rank = 2, .pad_bytes = 9000)),
                                     deleting(thing_key(1), one)};
        ck_assert_int_eq(write_all(writes, 2), EVD_STORE_CONFLICT);
        ck_assert_uint_eq(figures().recoveries, 1);
        ck_assert_uint_eq(ranks_found(), 1);
        ck_assert_int_eq(WRITE(inserting(thing_key(2), IMAGE(.rank = 5))), EVD_STORE_OK);
        expect_after_restart((const unsigned[]){1, 2}, 2);
        memset(&disk, 0, sizeof disk);
    }
}
END_TEST

START_TEST(every_kind_of_write_is_resolved_by_what_it_left) {
    disk_setup();
    log_only();
    struct evd_image one = IMAGE(.rank = 1), two = IMAGE(.version = 2, .rank = 2), odd = IMAGE(.rank = 8);
    const struct {
        struct evd_write write;
        bool swap;
    } rows[] = {
        {inserting(thing_key(1), one), false},     {replacing(thing_key(1), one, two), false},
        {deleting(thing_key(1), two), false},      {inserting_once(thing_key(1), one), false},
        {replacing(thing_key(1), one, two), true}, {deleting(thing_key(1), two), true},
        {inserting(thing_key(1), odd), true},      {replacing(thing_key(1), odd, odd), false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        disk_fails(FAULTFS_SYNC, 0, 1, EIO);
        enum evd_store_status status = rows[i].swap
                                           ? evd_store_swap(store, &rows[i].write, evd_store_fixture_far()).status
                                           : write_all(&rows[i].write, 1);
        ck_assert_int_eq(status, EVD_STORE_OK);
        ck_assert_uint_eq(figures().recoveries, i + 1);
        struct evd_image now = latest(thing_key(1));
        if (rows[i].write.kind == EVD_DELETE)
            ck_assert_uint_eq(now.size_bytes, 0);
        else
            ck_assert(same_image(&now, &rows[i].write.after));
    }
    expect_after_restart((const unsigned[]){1}, 1);
}
END_TEST

START_TEST(a_swap_that_did_not_land_conflicts_or_is_done_again) {
    disk_setup();
    log_only();
    struct evd_image one = IMAGE(.rank = 1), two = IMAGE(.version = 2, .rank = 2);
    struct evd_write insert = inserting(thing_key(1), one), replace = replacing(thing_key(1), one, two);
    disk_fails(FAULTFS_WRITE, 0, 1, EIO);
    ck_assert_int_eq(evd_store_swap(store, &insert, evd_store_fixture_far()).status, EVD_STORE_OK);
    disk_fails(FAULTFS_WRITE, 0, 1, EIO);
    ck_assert_int_eq(evd_store_swap(store, &replace, evd_store_fixture_far()).status, EVD_STORE_CONFLICT);
    ck_assert_int_eq(latest(thing_key(1)).version, 1);
    ck_assert_uint_eq(figures().recoveries, 2);
    expect_after_restart((const unsigned[]){1}, 1);
}
END_TEST

START_TEST(while_the_disk_is_broken_the_gate_is_closed_and_the_fate_unknown) {
    disk_setup();
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    disk_fails(FAULTFS_SYNC, 0, -1, EIO);
    struct evd_txn *txn = begin_until(evd_store_fixture_in(SHORT_MS)), *late = NULL;
    struct evd_write write = inserting(thing_key(2), IMAGE(.rank = 2)),
                     other = inserting(thing_key(3), IMAGE(.rank = 3));
    ck_assert_int_eq(evd_txn_commit(txn, &write, 1).status, EVD_STORE_UNKNOWN);
    ck_assert_int_eq(evd_txn_commit_again(txn, evd_store_fixture_in(SHORT_MS)).status, EVD_STORE_UNKNOWN);
    ck_assert_int_eq(evd_store_probe(store, evd_store_fixture_far()).status, EVD_STORE_UNAVAILABLE);
    ck_assert_int_eq(evd_txn_open(store, EVD_READ_SNAPSHOT, evd_store_fixture_in(SHORT_MS), &arena, &late).status,
                     EVD_STORE_UNAVAILABLE);
    ck_assert_int_eq(evd_txn_open(store, EVD_READ_LATEST, INT64_MIN, &arena, &late).status, EVD_STORE_UNAVAILABLE);
    ck_assert_ptr_null(late);
    ck_assert_int_eq(evd_store_swap(store, &other, evd_store_fixture_in(SHORT_MS)).status, EVD_STORE_UNAVAILABLE);
    ck_assert_int_eq(evd_store_backup(store, evd_test_directory()).status, EVD_STORE_UNAVAILABLE);
    ck_assert(!figures().open);
    ck_assert_uint_eq(figures().unknown, 1);
    ck_assert_uint_eq(figures().recoveries, 0);
    disk_heals();
    ck_assert_int_eq(evd_txn_commit_again(txn, evd_store_fixture_far()).status, EVD_STORE_OK);
    evd_txn_close(txn);
    ck_assert_int_eq(WRITE(other), EVD_STORE_OK);
    ck_assert_int_eq(evd_store_probe(store, evd_store_fixture_far()).status, EVD_STORE_OK);
    ck_assert_uint_eq(figures().recoveries, 1);
    expect_after_restart((const unsigned[]){1, 2, 3}, 3);
}
END_TEST

START_TEST(what_runs_when_the_handle_is_poisoned_ends_unavailable_and_writes_nothing) {
    disk_setup();
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    struct evd_txn *reader = begin(), *writer = begin(), *newest = begin_in(&arena, EVD_READ_LATEST);
    struct evd_txn *victim = begin_until(evd_store_fixture_in(SHORT_MS));
    struct evd_write write = inserting(thing_key(2), IMAGE(.rank = 2)),
                     other = inserting(thing_key(3), IMAGE(.rank = 3));
    struct evd_key key = thing_key(1);
    struct evd_image image;
    disk_fails(FAULTFS_SYNC, 0, 1, EIO);
    /* the others are inside, so reopening cannot begin and the fate stays unknown: no race with the deadline */
    ck_assert_int_eq(evd_txn_commit(victim, &write, 1).status, EVD_STORE_UNKNOWN);
    ck_assert_int_eq(evd_txn_get(reader, &key, 1, &image).status, EVD_STORE_UNAVAILABLE);
    ck_assert_int_eq(evd_txn_get(newest, &key, 1, &image).status, EVD_STORE_UNAVAILABLE);
    ck_assert_int_eq(evd_txn_commit(writer, &other, 1).status, EVD_STORE_UNAVAILABLE);
    ck_assert_uint_eq(figures().recoveries, 0);
    evd_txn_close(writer);
    evd_txn_close(newest);
    evd_txn_close(reader);
    ck_assert_int_eq(evd_txn_commit_again(victim, evd_store_fixture_far()).status, EVD_STORE_OK);
    evd_txn_close(victim);
    expect_after_restart((const unsigned[]){1, 2}, 2);
}
END_TEST

START_TEST(a_caller_that_leaves_before_its_fate_is_known_leaves_nothing_behind) {
    disk_setup();
    disk_fails(FAULTFS_SYNC, 0, -1, EIO);
    struct evd_arena short_lived;
    evd_arena_init(&short_lived, EVD_MIB);
    struct evd_txn *txn = NULL;
    ck_assert_int_eq(evd_txn_open(store, EVD_READ_SNAPSHOT, evd_store_fixture_in(SHORT_MS), &short_lived, &txn).status,
                     EVD_STORE_OK);
    struct evd_write write = inserting(thing_key(2), image_in(&short_lived, (struct thing){.rank = 2}));
    ck_assert_int_eq(commit(txn, &write, 1), EVD_STORE_UNKNOWN);
    evd_arena_done(&short_lived); /* its writes are gone; recovery must not look at them */
    disk_heals();
    ck_assert_int_eq(WRITE(inserting(thing_key(3), IMAGE(.rank = 3))), EVD_STORE_OK);
    expect_after_restart((const unsigned[]){2, 3}, 2);
}
END_TEST

START_TEST(closing_ends_a_recovery_that_cannot_succeed) {
    disk_setup();
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    disk_fails(FAULTFS_SYNC, 0, -1, EIO);
    struct evd_txn *txn = begin_until(evd_store_fixture_in(SHORT_MS));
    struct evd_write write = inserting(thing_key(2), IMAGE(.rank = 2));
    ck_assert_int_eq(commit(txn, &write, 1), EVD_STORE_UNKNOWN);
    evd_store_close(store);
    disk_heals();
    disk_open();
    ck_assert_uint_ne(latest(thing_key(1)).size_bytes, 0);
    ck_assert_uint_eq(ranks_found(), 1 + (latest(thing_key(2)).size_bytes > 0));
    suite_close();
}
END_TEST

START_TEST(recovery_makes_no_new_store_when_the_directory_is_gone) {
    char away[sizeof directory + 8];
    disk_setup();
    log_only();
    (void)snprintf(away, sizeof away, "%s.away", directory);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    disk_fails(FAULTFS_SYNC, 0, 1, EIO);
    struct evd_txn *holder = begin(), *txn = begin_until(evd_store_fixture_in(SHORT_MS));
    struct evd_write write = inserting(thing_key(2), IMAGE(.rank = 2));
    ck_assert_int_eq(evd_txn_commit(txn, &write, 1).status, EVD_STORE_UNKNOWN);
    ck_assert_int_eq(rename(directory, away), 0);
    ck_assert_int_eq(mkdir(directory, 0700), 0); /* as when a volume is not mounted */
    evd_txn_close(holder);
    ck_assert_int_eq(evd_txn_commit_again(txn, evd_store_fixture_in(SHORT_MS)).status, EVD_STORE_UNKNOWN);
    ck_assert_int_eq(evd_store_probe(store, 0).status, EVD_STORE_UNAVAILABLE);
    ck_assert_int_eq(rmdir(directory), 0);
    ck_assert_int_eq(rename(away, directory), 0);
    ck_assert_int_eq(evd_txn_commit_again(txn, evd_store_fixture_far()).status, EVD_STORE_OK);
    evd_txn_close(txn);
    expect_after_restart((const unsigned[]){1, 2}, 2);
}
END_TEST

/* Threads insert records of their own while syncs fail now and then. A conflict means: not landed, run again; so a
 * rerun that meets a duplicate, or an acknowledged record that is missing, is a wrong fate. */
enum { THREADS = 6, RECORDS = 40 };

static void insert_surely(struct evd_arena *own, struct evd_key key) {
    for (;;) {
        evd_arena_reset(own);
        struct evd_txn *txn = NULL;
        ck_assert_int_eq(evd_txn_open(store, EVD_READ_SNAPSHOT, evd_store_fixture_far(), own, &txn).status,
                         EVD_STORE_OK);
        struct evd_write write = inserting(key, image_in(own, (struct thing){.rank = 1, .pad_bytes = 2000}));
        enum evd_store_status status = commit(txn, &write, 1);
        if (status == EVD_STORE_OK) return;
        ck_assert_msg(status == EVD_STORE_CONFLICT || status == EVD_STORE_UNAVAILABLE, "%s",
                      evd_store_status_name(status));
    }
}

static void *insert_many(void *self) {
    struct evd_arena own;
    unsigned number = *(const unsigned *)self;
    evd_arena_init(&own, 8 * EVD_MIB);
    for (unsigned i = 0; i < RECORDS; i++)
        insert_surely(&own, thing_key(number * 1000 + i));
    evd_arena_done(&own);
    return NULL;
}

static void *break_now_and_then(void *self) {
    const enum faultfs_call call = *(const enum faultfs_call *)self;
    for (int64_t round = 1; round <= 5; round++) {
        disk_fails(call, 3, 1, EIO);
        while (figures().recoveries < (uint64_t)round)
            (void)sched_yield();
    }
    return NULL;
}

static void storm(enum faultfs_call call) {
    pthread_t threads[THREADS], breaker;
    unsigned numbers[THREADS];
    disk_setup();
    log_only();
    /* each failure needs commits to fall on: the breaker's rounds are fewer than the commits there are */
    ck_assert_int_eq(pthread_create(&breaker, NULL, break_now_and_then, &call), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, insert_many, &numbers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (unsigned i = 0; figures().recoveries < 5; i++) /* the threads may be done before the breaker is */
        (void)WRITE(inserting(key_in(NOTES, 1, i), IMAGE(.rank = 1)));
    ck_assert_int_eq(pthread_join(breaker, NULL), 0);
    ck_assert_uint_eq(figures().recoveries, 5);
    disk_heals();
    evd_store_close(store);
    disk_open();
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned record = 0; record < RECORDS; record++)
            ck_assert_uint_ne(latest(thing_key(i * 1000 + record)).size_bytes, 0);
    suite_close();
}

START_TEST(threads_lose_and_double_nothing_while_syncs_fail) {
    storm(FAULTFS_SYNC);
}
END_TEST

START_TEST(threads_lose_and_double_nothing_while_writes_fail) {
    storm(FAULTFS_WRITE);
}
END_TEST

EVD_TEST_MAIN("store: disk faults", a_failed_sync_poisons_and_the_commit_that_landed_is_ok,
              a_failed_write_poisons_and_the_commit_that_did_not_land_conflicts,
              every_kind_of_write_is_resolved_by_what_it_left, a_swap_that_did_not_land_conflicts_or_is_done_again,
              while_the_disk_is_broken_the_gate_is_closed_and_the_fate_unknown,
              what_runs_when_the_handle_is_poisoned_ends_unavailable_and_writes_nothing,
              a_caller_that_leaves_before_its_fate_is_known_leaves_nothing_behind,
              closing_ends_a_recovery_that_cannot_succeed, recovery_makes_no_new_store_when_the_directory_is_gone,
              threads_lose_and_double_nothing_while_syncs_fail, threads_lose_and_double_nothing_while_writes_fail)
