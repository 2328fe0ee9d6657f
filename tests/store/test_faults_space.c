/*
 * A disk that is full: said so in time where it can be seen coming, survived where it cannot.
 */
#include "disk_suite.h"

#include <signal.h>
#include <sys/wait.h>

START_TEST(a_full_disk_is_full_until_space_returns) {
    struct evd_test_clock still;
    evd_test_clock_init(&still, 1000);
    disk_setup();
    evd_store_close(store);
    store_clock = &still.clock; /* the gate needs no clock that moves */
    atomic_store(&disk.free_bytes, 65 * EVD_MIB);
    disk_open();
    struct evd_write fits = inserting(thing_key(1), IMAGE(.rank = 1));
    struct evd_write large = inserting(thing_key(2), IMAGE(.rank = 2, .pad_bytes = 2 * EVD_MIB));
    ck_assert_int_eq(WRITE(fits), EVD_STORE_OK);
    ck_assert_int_eq(WRITE(large), EVD_STORE_FULL);
    atomic_store(&disk.free_bytes, 64 * EVD_MIB - 4096);
    ck_assert_int_eq(evd_store_probe(store, 0).status, EVD_STORE_FULL);
    struct evd_write write = inserting(thing_key(3), IMAGE(.rank = 3));
    ck_assert_int_eq(WRITE(write), EVD_STORE_FULL);
    ck_assert_int_eq(evd_store_swap(store, &write, INT64_MAX).status, EVD_STORE_FULL);
    ck_assert_uint_ne(latest(thing_key(1)).size_bytes, 0);
    ck_assert_uint_eq(ranks_found(), 1);
    ck_assert_uint_le(figures().free_bytes, 64 * EVD_MIB - 4096);
    ck_assert(figures().open);
    atomic_store(&disk.free_bytes, 80 * EVD_MIB);
    ck_assert_int_eq(WRITE(write), EVD_STORE_OK);
    ck_assert_int_eq(WRITE(large), EVD_STORE_OK);
    ck_assert_int_eq(evd_store_probe(store, 0).status, EVD_STORE_OK);
    ck_assert_uint_eq(figures().recoveries, 0);
    expect_after_restart((const unsigned[]){1, 2, 3}, 3);
}
END_TEST

START_TEST(a_disk_that_fills_up_unnoticed_is_noticed_by_time_commits_or_bytes) {
    struct evd_test_clock still;
    evd_test_clock_init(&still, 1000);
    disk_setup();
    evd_store_close(store);
    store_clock = &still.clock;
    atomic_store(&disk.free_bytes, 200 * EVD_MIB);
    disk_open();
    for (int how = 0; how < 3; how++) {
        unsigned commits = 0;
        atomic_store(&disk.free_bytes, 200 * EVD_MIB);
        ck_assert_int_eq(evd_store_probe(store, 0).status, EVD_STORE_OK); /* looks: counting starts here */
        atomic_store(&disk.free_bytes, EVD_MIB);
        if (how == 0) evd_test_clock_advance(&still, 100);
        for (enum evd_store_status status = EVD_STORE_OK; status == EVD_STORE_OK; commits++) {
            struct evd_write write = inserting(thing_key((unsigned)how * 1000 + commits),
                                               IMAGE(.rank = 1, .pad_bytes = how == 2 ? EVD_MIB : 10));
            status = WRITE(write);
            ck_assert(status == EVD_STORE_OK || status == EVD_STORE_FULL);
        }
        const unsigned most[] = {1, 64, 9};
        ck_assert_uint_le(commits, most[how]);
    }
    suite_close();
}
END_TEST

START_TEST(a_disk_too_full_to_open_is_said_so) {
    char error[EVD_EMBEDDED_ERROR_BYTES] = "";
    disk_setup();
    evd_store_close(store);
    const struct evd_embedded_options options = {
        .directory = directory, .catalogue = &catalogue, .clock = store_clock, .free_bytes_floor = 64 * EVD_MIB};
    atomic_store(&disk.free_bytes, EVD_MIB);
    ck_assert_ptr_null(evd_embedded_open(&options, error));
    ck_assert_ptr_nonnull(strstr(error, "too little space"));
    evd_arena_done(&arena);
}
END_TEST

START_TEST(recovery_waits_for_space) {
    disk_setup();
    log_only();
    disk_fails(FAULTFS_SYNC, 0, 1, EIO);
    atomic_store(&disk.free_bytes, 0);
    struct evd_txn *holder = begin(), *txn = begin_until(evd_store_fixture_in(SHORT_MS));
    struct evd_write write = inserting(thing_key(2), IMAGE(.rank = 2));
    ck_assert_int_eq(evd_txn_commit(txn, &write, 1).status, EVD_STORE_UNKNOWN);
    atomic_store(&disk.free_bytes, EVD_MIB);
    evd_txn_close(holder); /* recovery begins, on a full disk */
    ck_assert_int_eq(evd_txn_commit_again(txn, evd_store_fixture_in(SHORT_MS)).status, EVD_STORE_UNKNOWN);
    atomic_store(&disk.free_bytes, 0);
    ck_assert_int_eq(evd_txn_commit_again(txn, evd_store_fixture_far()).status, EVD_STORE_OK);
    evd_txn_close(txn);
    expect_after_restart((const unsigned[]){2}, 1);
}
END_TEST

/* A disk that is full although statvfs promised space. RocksDB may end the process; then a restart must find the store
 * whole, with every acknowledged commit and no half one. */
static void full_child(int64_t times) {
    const struct evd_write writes[] = {inserting(thing_key(2), IMAGE(.rank = 2)),
                                       inserting(thing_key(3), IMAGE(.rank = 3))};
    disk_open();
    bool fine = WRITE(inserting(thing_key(1), IMAGE(.rank = 1))) == EVD_STORE_OK;
    disk_fails(FAULTFS_WRITE, 0, times, ENOSPC);
    struct evd_txn *txn = begin_until(evd_store_fixture_in(times < 0 ? SHORT_MS : 60000));
    enum evd_store_status hit = evd_txn_commit(txn, writes, 2).status;
    fine &= hit == (times < 0 ? EVD_STORE_UNKNOWN : EVD_STORE_CONFLICT);
    disk_heals();
    if (hit == EVD_STORE_UNKNOWN) hit = evd_txn_commit_again(txn, evd_store_fixture_far()).status;
    evd_txn_close(txn);
    fine &= hit == EVD_STORE_CONFLICT;
    fine &= WRITE(inserting(thing_key(4), IMAGE(.rank = 4))) == EVD_STORE_OK;
    evd_store_close(store);
    _exit(fine ? 0 : 1);
}

static void full_disk(int64_t times) {
    int status = 0;
    disk_prepare(); /* RocksDB's threads do not survive a fork: the child is the first to use it */
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) full_child(times);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    disk_open();
    ck_assert_uint_ne(latest(thing_key(1)).size_bytes, 0);
    ck_assert_int_eq(latest(thing_key(2)).size_bytes > 0, latest(thing_key(3)).size_bytes > 0);
    if (WIFEXITED(status)) {
        ck_assert_int_eq(WEXITSTATUS(status), 0);
        ck_assert_uint_ne(latest(thing_key(4)).size_bytes, 0);
        ck_assert_uint_eq(latest(thing_key(2)).size_bytes, 0);
    } else {
        ck_assert_int_eq(WTERMSIG(status), SIGABRT);
    }
    suite_close();
}

START_TEST(an_unannounced_full_disk_loses_nothing) {
    full_disk(1);
}
END_TEST

START_TEST(a_disk_that_stays_full_unannounced_loses_nothing) {
    full_disk(-1);
}
END_TEST

EVD_TEST_MAIN("store: full disk", a_full_disk_is_full_until_space_returns,
              a_disk_that_fills_up_unnoticed_is_noticed_by_time_commits_or_bytes, a_disk_too_full_to_open_is_said_so,
              recovery_waits_for_space, an_unannounced_full_disk_loses_nothing,
              a_disk_that_stays_full_unannounced_loses_nothing)
