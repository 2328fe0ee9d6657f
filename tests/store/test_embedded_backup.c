/*
 * Backups of the embedded store.
 */
#include "embedded_suite.h"

#include <pthread.h>

static void expect_same_content(unsigned records, const struct evd_image *expected) {
    struct evd_key keys[64];
    struct evd_image images[64];
    size_t count = 0;
    const struct evd_range range = {.index = &indexes[BY_RANK], .project = thing_key(0).project, .limit = 64};
    for (unsigned i = 0; i < records; i++) {
        struct evd_image now = latest(thing_key(i));
        ck_assert(same_image(&now, &expected[i]));
    }
    struct evd_txn *txn = begin();
    ck_assert_int_eq(evd_txn_scan(txn, &range, keys, images, &count).status, EVD_STORE_OK);
    ck_assert_uint_eq(count, records);
    evd_txn_close(txn);
}

START_TEST(a_backup_opens_and_is_equal_and_apart) {
    enum { RECORDS = 50 };
    struct evd_image expected[RECORDS];
    char backup[PATH_MAX];
    prepare();
    open_here();
    for (unsigned i = 0; i < RECORDS; i++) {
        expected[i] = IMAGE(.rank = i + 1, .name = "kept", .pad_bytes = 500);
        ck_assert_int_eq(WRITE(inserting(thing_key(i), expected[i])), EVD_STORE_OK);
    }
    (void)snprintf(backup, sizeof backup, "%s.copy", directory);
    ck_assert_int_eq(evd_store_backup(store, backup).status, EVD_STORE_OK);
    ck_assert_int_eq(WRITE(deleting(thing_key(3), expected[3])), EVD_STORE_OK);
    ck_assert_int_eq(WRITE(inserting(thing_key(RECORDS), IMAGE(.rank = 999))), EVD_STORE_OK);
    struct evd_store *original = store;
    store = open_at(backup);
    ck_assert_msg(store != NULL, "%s", sentence);
    expect_same_content(RECORDS, expected);
    ck_assert_uint_eq(latest(thing_key(RECORDS)).size_bytes, 0);
    ck_assert_int_eq(WRITE(inserting(thing_key(RECORDS + 1), IMAGE(.rank = 5))), EVD_STORE_OK);
    evd_store_close(store);
    store = original;
    ck_assert_uint_eq(latest(thing_key(RECORDS + 1)).size_bytes, 0);
    ck_assert_int_eq(evd_store_backup(store, backup).status, EVD_STORE_UNAVAILABLE); /* it exists */
    ck_assert_int_eq(evd_store_backup(store, "/proc/evidenced").status, EVD_STORE_UNAVAILABLE);
    ck_assert_int_eq(WRITE(inserting(thing_key(RECORDS + 2), IMAGE(.rank = 5))), EVD_STORE_OK);
    suite_close();
}
END_TEST

static atomic_bool stop;
static atomic_uint acknowledged;

/* Pairs are written together; a backup that has one of a pair must have the other. */
static void *write_pairs(void *self) {
    struct evd_arena own;
    (void)self;
    evd_arena_init(&own, 8 * EVD_MIB);
    for (unsigned i = 0; !atomic_load(&stop) && i < 20000; i++) {
        evd_arena_reset(&own);
        struct evd_txn *txn = begin_in(&own, EVD_READ_SNAPSHOT);
        struct thing thing = {.rank = i + 1, .pad_bytes = 1000};
        struct evd_write writes[] = {inserting(thing_key(i), image_in(&own, thing)),
                                     inserting(key_in(NOTES, 1, i), image_in(&own, thing))};
        ck_assert_int_eq(commit(txn, writes, 2), EVD_STORE_OK);
        atomic_store(&acknowledged, i + 1);
    }
    evd_arena_done(&own);
    return NULL;
}

START_TEST(a_backup_under_load_has_all_that_was_acknowledged_and_no_half_commit) {
    pthread_t writer;
    char backup[PATH_MAX];
    unsigned before[3];
    prepare();
    open_here();
    ck_assert_int_eq(pthread_create(&writer, NULL, write_pairs, NULL), 0);
    for (int round = 0; round < 3; round++) {
        while (atomic_load(&acknowledged) < 20U * (unsigned)(round + 1))
            (void)sched_yield();
        before[round] = atomic_load(&acknowledged);
        (void)snprintf(backup, sizeof backup, "%s.%d", directory, round);
        ck_assert_int_eq(evd_store_backup(store, backup).status, EVD_STORE_OK);
    }
    atomic_store(&stop, true);
    ck_assert_int_eq(pthread_join(writer, NULL), 0);
    evd_store_close(store);
    for (int round = 0; round < 3; round++) {
        (void)snprintf(backup, sizeof backup, "%s.%d", directory, round);
        store = open_at(backup);
        ck_assert_msg(store != NULL, "%s", sentence);
        for (unsigned i = 0; i < atomic_load(&acknowledged); i++) {
            bool one = latest(thing_key(i)).size_bytes > 0, other = latest(key_in(NOTES, 1, i)).size_bytes > 0;
            ck_assert(one == other);
            ck_assert(one || i >= before[round]);
        }
        evd_store_close(store);
    }
    evd_arena_done(&arena);
}
END_TEST

EVD_TEST_MAIN("store: embedded backups", a_backup_opens_and_is_equal_and_apart,
              a_backup_under_load_has_all_that_was_acknowledged_and_no_half_commit)
