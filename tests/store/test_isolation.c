/*
 * Plain snapshot isolation: what it forbids, and what it must go on allowing on every adapter.
 */
#include "suite.h"

START_TEST(a_lost_update_is_impossible) {
    suite_open();
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 10))), EVD_STORE_OK);
    struct evd_txn *one = begin(), *other = begin();
    struct evd_image seen_by_one = get(one, thing_key(1)), seen_by_other = get(other, thing_key(1));
    struct evd_write first = replacing(thing_key(1), seen_by_one, IMAGE(.version = 2, .rank = 11));
    struct evd_write second = replacing(thing_key(1), seen_by_other, IMAGE(.version = 2, .rank = 12));
    ck_assert_int_eq(commit(one, &first, 1), EVD_STORE_OK);
    struct evd_store_result result = evd_txn_commit(other, &second, 1);
    ck_assert_int_eq(result.status, EVD_STORE_CONFLICT);
    ck_assert(same_key(&result.key, &second.key));
    evd_txn_close(other);
    struct evd_image now = latest(thing_key(1));
    ck_assert_int_eq(rank_of(&now), 11);
    suite_close();
}
END_TEST

START_TEST(a_deleted_and_recreated_record_conflicts_although_its_version_is_the_same) {
    suite_open();
    struct evd_image first = IMAGE(.rank = 10);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), first)), EVD_STORE_OK);
    struct evd_txn *slow = begin();
    struct evd_image seen = get(slow, thing_key(1));
    ck_assert_int_eq(WRITE(deleting(thing_key(1), first)), EVD_STORE_OK);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 99))), EVD_STORE_OK);
    struct evd_write write = replacing(thing_key(1), seen, IMAGE(.version = 2, .rank = 11));
    ck_assert_int_eq(commit(slow, &write, 1), EVD_STORE_CONFLICT);
    struct evd_image now = latest(thing_key(1));
    ck_assert_int_eq(rank_of(&now), 99);
    suite_close();
}
END_TEST

/* Two doctors on call: each reads both records and writes its own. The store must not protect them; what must not
 * happen, a command guards by writing what it decided on. */
START_TEST(write_skew_stays_possible) {
    suite_open();
    struct evd_image on_call = IMAGE(.open = "yes");
    ck_assert_int_eq(WRITE(inserting(thing_key(1), on_call), inserting(thing_key(2), on_call)), EVD_STORE_OK);
    struct evd_txn *one = begin(), *other = begin();
    (void)get(one, thing_key(2));
    (void)get(other, thing_key(1));
    struct evd_write first = replacing(thing_key(1), get(one, thing_key(1)), IMAGE(.version = 2, .open = "no"));
    struct evd_write second = replacing(thing_key(2), get(other, thing_key(2)), IMAGE(.version = 2, .open = "no"));
    ck_assert_int_eq(commit(one, &first, 1), EVD_STORE_OK);
    ck_assert_int_eq(commit(other, &second, 1), EVD_STORE_OK);
    suite_close();
}
END_TEST

START_TEST(a_phantom_does_not_conflict) {
    suite_open();
    const struct evd_value open = {.kind = EVD_VALUE_BOOL, .boolean = true};
    const struct evd_range range = {
        .index = &indexes[BY_OPEN_RANK], .project = thing_key(0).project, .equal = &open, .equal_count = 1, .limit = 4};
    struct evd_key keys[4];
    struct evd_image images[4];
    size_t count = 77;
    struct evd_txn *txn = begin();
    ck_assert_int_eq(evd_txn_scan(txn, &range, keys, images, &count).status, EVD_STORE_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.open = "yes", .rank = 1))), EVD_STORE_OK);
    struct evd_write write = inserting(thing_key(2), IMAGE(.open = "yes", .rank = 2));
    ck_assert_int_eq(commit(txn, &write, 1), EVD_STORE_OK);
    suite_close();
}
END_TEST

START_TEST(reads_never_conflict) {
    suite_open();
    struct evd_image first = IMAGE(.rank = 1);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), first)), EVD_STORE_OK);
    struct evd_txn *txn = begin();
    ck_assert_int_eq(rank_of(&(struct evd_image[]){get(txn, thing_key(1))}[0]), 1);
    ck_assert_uint_eq(get(txn, thing_key(3)).size_bytes, 0);
    ck_assert_int_eq(WRITE(replacing(thing_key(1), first, IMAGE(.version = 2, .rank = 5))), EVD_STORE_OK);
    ck_assert_int_eq(WRITE(inserting(thing_key(3), IMAGE(.rank = 3))), EVD_STORE_OK);
    struct evd_write write = inserting(thing_key(2), IMAGE(.rank = 2));
    ck_assert_int_eq(commit(txn, &write, 1), EVD_STORE_OK);
    suite_close();
}
END_TEST

START_TEST(a_snapshot_sees_one_instant) {
    suite_open();
    struct evd_image one = IMAGE(.rank = 1);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), one), inserting(thing_key(2), one)), EVD_STORE_OK);
    struct evd_txn *txn = begin();
    struct evd_image first = get(txn, thing_key(1));
    struct evd_image two = IMAGE(.version = 2, .rank = 2);
    ck_assert_int_eq(WRITE(replacing(thing_key(1), one, two), replacing(thing_key(2), one, two)), EVD_STORE_OK);
    struct evd_image second = get(txn, thing_key(2));
    ck_assert_int_eq(rank_of(&first), 1);
    ck_assert_int_eq(rank_of(&second), 1);
    struct evd_image again = get(txn, thing_key(1));
    ck_assert_int_eq(rank_of(&again), 1);
    evd_txn_close(txn);
    suite_close();
}
END_TEST

START_TEST(a_transaction_does_not_see_later_commits) {
    suite_open();
    struct evd_key keys[2];
    struct evd_image images[2], old = IMAGE(.rank = 7);
    const struct evd_range range = {.index = &indexes[BY_RANK], .project = thing_key(0).project, .limit = 2};
    size_t count = 0;
    ck_assert_int_eq(WRITE(inserting(thing_key(1), old)), EVD_STORE_OK);
    struct evd_txn *txn = begin();
    ck_assert_int_eq(WRITE(inserting(thing_key(2), IMAGE(.rank = 5))), EVD_STORE_OK);
    ck_assert_int_eq(WRITE(deleting(thing_key(1), old)), EVD_STORE_OK);
    ck_assert_uint_eq(get(txn, thing_key(2)).size_bytes, 0);
    ck_assert_uint_ne(get(txn, thing_key(1)).size_bytes, 0);
    ck_assert_int_eq(evd_txn_scan(txn, &range, keys, images, &count).status, EVD_STORE_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(number_of(&keys[0]), 1);
    evd_txn_close(txn);
    suite_close();
}
END_TEST

START_TEST(what_one_committed_the_next_transaction_reads) {
    suite_open();
    for (unsigned i = 1; i <= 20; i++) {
        struct evd_image image = IMAGE(.rank = (int64_t)i * 3);
        ck_assert_int_eq(WRITE(inserting(thing_key(i), image)), EVD_STORE_OK);
        struct evd_txn *txn = begin();
        struct evd_image seen = get(txn, thing_key(i));
        ck_assert(same_image(&seen, &image));
        evd_txn_close(txn);
    }
    suite_close();
}
END_TEST

START_TEST(latest_reads_see_the_newest) {
    suite_open();
    const struct evd_range range = {.index = &indexes[BY_RANK], .project = thing_key(0).project, .limit = 4};
    struct evd_key keys[4];
    struct evd_image images[4];
    size_t count = 0;
    struct evd_txn *txn = begin_in(&arena, EVD_READ_LATEST);
    ck_assert_uint_eq(get(txn, thing_key(1)).size_bytes, 0);
    for (int64_t version = 1; version <= 5; version++) {
        struct evd_image before = latest(thing_key(1)), after = IMAGE(.version = version, .rank = version);
        ck_assert_int_eq(version == 1 ? WRITE(inserting(thing_key(1), after))
                                      : WRITE(replacing(thing_key(1), before, after)),
                         EVD_STORE_OK);
        ck_assert_int_eq(get(txn, thing_key(1)).version, version);
        ck_assert_int_eq(evd_txn_scan(txn, &range, keys, images, &count).status, EVD_STORE_OK);
        ck_assert_uint_eq(count, 1);
        ck_assert_int_eq(images[0].version, version);
    }
    evd_txn_close(txn);
    suite_close();
}
END_TEST

START_TEST(an_insert_that_was_overtaken_conflicts_and_the_rerun_finds_the_duplicate) {
    suite_open();
    struct evd_txn *slow = begin();
    ck_assert_uint_eq(get(slow, key_in(LEDGER, 1, 1)).size_bytes, 0);
    ck_assert_int_eq(WRITE(inserting(key_in(LEDGER, 1, 1), IMAGE(.rank = 1))), EVD_STORE_OK);
    struct evd_write write = inserting(key_in(LEDGER, 1, 1), IMAGE(.rank = 2));
    struct evd_store_result result = evd_txn_commit(slow, &write, 1);
    ck_assert_int_eq(result.status, EVD_STORE_CONFLICT);
    ck_assert(same_key(&result.key, &write.key));
    evd_txn_close(slow);
    ck_assert_int_eq(WRITE(write), EVD_STORE_DUPLICATE);
    struct evd_image now = latest(write.key);
    ck_assert_int_eq(rank_of(&now), 1);
    suite_close();
}
END_TEST

START_TEST(deleting_a_record_that_was_replaced_meanwhile_conflicts) {
    suite_open();
    struct evd_image first = IMAGE(.rank = 1);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), first)), EVD_STORE_OK);
    struct evd_txn *slow = begin();
    ck_assert_int_eq(WRITE(replacing(thing_key(1), first, IMAGE(.version = 2, .rank = 2))), EVD_STORE_OK);
    struct evd_write write = deleting(thing_key(1), first);
    ck_assert_int_eq(commit(slow, &write, 1), EVD_STORE_CONFLICT);
    ck_assert_int_eq(latest(thing_key(1)).version, 2);
    suite_close();
}
END_TEST

EVD_TEST_MAIN("store: isolation", a_lost_update_is_impossible,
              a_deleted_and_recreated_record_conflicts_although_its_version_is_the_same, write_skew_stays_possible,
              a_phantom_does_not_conflict, reads_never_conflict, a_snapshot_sees_one_instant,
              a_transaction_does_not_see_later_commits, what_one_committed_the_next_transaction_reads,
              latest_reads_see_the_newest, an_insert_that_was_overtaken_conflicts_and_the_rerun_finds_the_duplicate,
              deleting_a_record_that_was_replaced_meanwhile_conflicts)
