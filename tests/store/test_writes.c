/*
 * What each kind of write does, refuses and leaves behind.
 */
#include "suite.h"

START_TEST(an_insert_of_a_key_that_is_there_is_a_duplicate_and_names_it) {
    suite_open();
    struct evd_image image = IMAGE(.rank = 1);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), image)), EVD_STORE_OK);
    struct evd_write writes[] = {inserting(thing_key(2), image), inserting(thing_key(1), IMAGE(.rank = 2))};
    struct evd_txn *txn = begin();
    struct evd_store_result result = evd_txn_commit(txn, writes, 2);
    evd_txn_close(txn);
    ck_assert_int_eq(result.status, EVD_STORE_DUPLICATE);
    ck_assert(same_key(&result.key, &writes[1].key));
    ck_assert_uint_eq(latest(thing_key(2)).size_bytes, 0);
    struct evd_image now = latest(thing_key(1));
    ck_assert(same_image(&now, &image));
    suite_close();
}
END_TEST

START_TEST(insert_once_leaves_what_is_there_and_the_other_writes_land) {
    suite_open();
    struct evd_image image = IMAGE(.rank = 1), other = IMAGE(.rank = 2);
    ck_assert_int_eq(WRITE(inserting_once(thing_key(1), image)), EVD_STORE_OK);
    ck_assert_int_eq(WRITE(inserting_once(thing_key(1), other), inserting(thing_key(2), other)), EVD_STORE_OK);
    ck_assert_int_eq(WRITE(inserting_once(thing_key(1), other)), EVD_STORE_OK);
    struct evd_image now = latest(thing_key(1));
    ck_assert(same_image(&now, &image));
    now = latest(thing_key(2));
    ck_assert(same_image(&now, &other));
    suite_close();
}
END_TEST

START_TEST(a_replacement_or_deletion_of_another_version_conflicts_and_names_the_record) {
    suite_open();
    struct evd_image stored = IMAGE(.version = 5, .rank = 1);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), stored)), EVD_STORE_OK);
    const struct {
        struct evd_key key;
        int64_t version;
        enum evd_store_status status;
    } rows[] = {
        {thing_key(1), 4, EVD_STORE_CONFLICT},         {thing_key(1), 6, EVD_STORE_CONFLICT},
        {thing_key(1), 0, EVD_STORE_CONFLICT},         {thing_key(2), 5, EVD_STORE_CONFLICT}, /* is not there */
        {key_in(THINGS, 2, 1), 5, EVD_STORE_CONFLICT}, {key_in(NOTES, 1, 1), 5, EVD_STORE_CONFLICT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct evd_image before = stored;
        before.version = rows[i].version;
        struct evd_write writes[] = {replacing(rows[i].key, before, IMAGE(.version = 6)),
                                     deleting(rows[i].key, before)};
        for (int kind = 0; kind < 2; kind++) {
            struct evd_txn *txn = begin();
            struct evd_store_result result = evd_txn_commit(txn, &writes[kind], 1);
            evd_txn_close(txn);
            ck_assert_int_eq(result.status, rows[i].status);
            ck_assert(same_key(&result.key, &rows[i].key));
        }
    }
    struct evd_image now = latest(thing_key(1));
    ck_assert(same_image(&now, &stored));
    ck_assert_int_eq(WRITE(replacing(thing_key(1), stored, IMAGE(.version = 6, .rank = 9))), EVD_STORE_OK);
    suite_close();
}
END_TEST

START_TEST(a_deleted_record_is_gone_and_its_key_is_free) {
    suite_open();
    struct evd_image image = IMAGE(.rank = 1, .name = "a");
    ck_assert_int_eq(WRITE(inserting(thing_key(1), image)), EVD_STORE_OK);
    ck_assert_int_eq(WRITE(deleting(thing_key(1), image)), EVD_STORE_OK);
    struct evd_image none = latest(thing_key(1));
    ck_assert_uint_eq(none.size_bytes, 0);
    ck_assert_int_eq(none.version, 0);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), image)), EVD_STORE_OK);
    suite_close();
}
END_TEST

START_TEST(a_commit_is_all_or_nothing) {
    suite_open();
    struct evd_image image = IMAGE(.rank = 1), next = IMAGE(.version = 2, .rank = 2);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), image), inserting(thing_key(2), image)), EVD_STORE_OK);
    struct evd_image wrong = image;
    wrong.version = 9;
    /* whatever fails, wherever it stands in the list, the rest is not written */
    const struct evd_write fails[] = {inserting(thing_key(1), image), replacing(thing_key(2), wrong, next),
                                      deleting(thing_key(2), wrong)};
    for (size_t fail = 0; fail < 3; fail++)
        for (size_t place = 0; place < 3; place++) {
            struct evd_write writes[3] = {inserting(thing_key(10), image), inserting(thing_key(11), image),
                                          inserting(key_in(NOTES, 1, 12), image)};
            writes[place] = fails[fail];
            ck_assert_int_ne(write_all(writes, 3), EVD_STORE_OK);
            ck_assert_uint_eq(latest(thing_key(10)).size_bytes, 0);
            ck_assert_uint_eq(latest(thing_key(11)).size_bytes, 0);
            ck_assert_uint_eq(latest(key_in(NOTES, 1, 12)).size_bytes, 0);
        }
    struct evd_image now = latest(thing_key(2));
    ck_assert(same_image(&now, &image));
    suite_close();
}
END_TEST

START_TEST(a_transaction_that_is_not_committed_leaves_nothing) {
    suite_open();
    struct evd_txn *txn = begin();
    ck_assert_uint_eq(get(txn, thing_key(1)).size_bytes, 0);
    evd_txn_close(txn);
    evd_txn_close(NULL);
    txn = begin();
    ck_assert_int_eq(commit(txn, NULL, 0), EVD_STORE_OK);
    ck_assert_uint_eq(latest(thing_key(1)).size_bytes, 0);
    suite_close();
}
END_TEST

START_TEST(the_version_is_the_documents_own) {
    suite_open();
    const int64_t versions[] = {1, 2, 77, INT64_MAX, INT64_MIN, -1};
    for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++) {
        ck_assert_int_eq(WRITE(inserting(thing_key(i), IMAGE(.version = versions[i]))), EVD_STORE_OK);
        ck_assert_int_eq(latest(thing_key(i)).version, versions[i]);
    }
    bson_t bare = BSON_INITIALIZER, inside;
    bson_append_document_begin(&bare, "inner", -1, &inside);
    bson_append_int64(&inside, "version", -1, 8);
    bson_append_document_end(&bare, &inside);
    struct evd_image image = image_of_bson(&arena, &bare, 0);
    bson_destroy(&bare);
    ck_assert_int_eq(WRITE(inserting(thing_key(50), image)), EVD_STORE_OK);
    ck_assert_int_eq(latest(thing_key(50)).version, 0);
    ck_assert_int_eq(WRITE(replacing(thing_key(50), image, IMAGE(.version = 1))), EVD_STORE_OK);
    suite_close();
}
END_TEST

START_TEST(many_keys_come_back_in_the_order_they_were_asked_for) {
    enum { KEYS = 1000 };
    static struct evd_key keys[2 * KEYS];
    static struct evd_image images[2 * KEYS];
    static struct evd_write writes[KEYS];
    suite_open();
    for (unsigned i = 0; i < KEYS; i++)
        writes[i] = inserting(thing_key(2 * i), IMAGE(.rank = 1000 + i));
    ck_assert_int_eq(write_all(writes, KEYS), EVD_STORE_OK);
    for (unsigned i = 0; i < 2 * KEYS; i++)
        keys[i] = thing_key(i * 997 % (2 * KEYS)); /* coprime: every key once, in disorder */
    keys[1] = keys[0];                             /* and one twice */
    struct evd_txn *txn = begin();
    memset(images, 0x5A, sizeof images);
    ck_assert_int_eq(evd_txn_get(txn, keys, 2 * KEYS, images).status, EVD_STORE_OK);
    for (unsigned i = 0; i < 2 * KEYS; i++) {
        unsigned number = number_of(&keys[i]);
        if (number % 2 == 1)
            ck_assert_uint_eq(images[i].size_bytes, 0);
        else
            ck_assert_int_eq(rank_of(&images[i]), 1000 + number / 2);
    }
    evd_txn_close(txn);
    suite_close();
}
END_TEST

START_TEST(a_key_is_its_project_collection_and_id_together) {
    suite_open();
    const struct evd_key keys[] = {key_in(THINGS, 1, 1), key_in(THINGS, 2, 1), key_in(NOTES, 1, 1),
                                   key_in(THINGS, 1, 2), key_in(THINGS, 0, 1)};
    for (unsigned i = 0; i < 5; i++)
        ck_assert_int_eq(WRITE(inserting(keys[i], IMAGE(.rank = 10 + i))), EVD_STORE_OK);
    for (unsigned i = 0; i < 5; i++) {
        struct evd_image image = latest(keys[i]);
        ck_assert_int_eq(rank_of(&image), 10 + i);
    }
    struct evd_key nil = key_in(THINGS, 1, 9);
    nil.project = evd_uuid_nil();
    ck_assert_int_eq(WRITE(inserting(nil, IMAGE(.rank = 99))), EVD_STORE_OK);
    struct evd_image outside = latest(nil);
    ck_assert_int_eq(rank_of(&outside), 99);
    ck_assert_uint_eq(latest(key_in(THINGS, 1, 9)).size_bytes, 0);
    suite_close();
}
END_TEST

START_TEST(large_documents_come_back_whole) {
    suite_open();
    const size_t sizes[] = {1000, 20000, 1000000, EVD_LIMIT_DOCUMENT_BYTES - 4096};
    for (unsigned i = 0; i < 4; i++) {
        struct evd_image image = IMAGE(.rank = i + 1, .pad_bytes = sizes[i]);
        ck_assert_int_eq(WRITE(inserting(thing_key(i), image)), EVD_STORE_OK);
        struct evd_image now = latest(thing_key(i));
        ck_assert(same_image(&now, &image));
    }
    suite_close();
}
END_TEST

START_TEST(a_swap_is_guarded_as_a_commit_is) {
    suite_open();
    struct evd_image one = IMAGE(.version = 1, .rank = 1), two = IMAGE(.version = 2, .rank = 2);
    struct evd_image three = IMAGE(.version = 3, .rank = 3);
    struct evd_key key = thing_key(1);
    const struct {
        struct evd_write write;
        enum evd_store_status status;
        int64_t then;
    } steps[] = {
        {replacing(key, one, two), EVD_STORE_CONFLICT, 0},
        {deleting(key, one), EVD_STORE_CONFLICT, 0},
        {inserting(key, one), EVD_STORE_OK, 1},
        {inserting(key, three), EVD_STORE_DUPLICATE, 1},
        {inserting_once(key, three), EVD_STORE_OK, 1},
        {replacing(key, two, three), EVD_STORE_CONFLICT, 1},
        {replacing(key, one, two), EVD_STORE_OK, 2},
        {replacing(key, one, two), EVD_STORE_CONFLICT, 2},
        {deleting(key, one), EVD_STORE_CONFLICT, 2},
        {deleting(key, two), EVD_STORE_OK, 0},
        {inserting_once(key, three), EVD_STORE_OK, 3},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct evd_store_result result = evd_store_swap(store, &steps[i].write, evd_store_fixture_far());
        ck_assert_int_eq(result.status, steps[i].status);
        if (result.status != EVD_STORE_OK) ck_assert(same_key(&result.key, &key));
        ck_assert_int_eq(latest(key).version, steps[i].then);
    }
    suite_close();
}
END_TEST

START_TEST(a_swap_makes_an_open_transaction_on_the_record_conflict) {
    suite_open();
    struct evd_image one = IMAGE(.rank = 1), two = IMAGE(.version = 2, .rank = 2);
    ck_assert_int_eq(WRITE(inserting(thing_key(1), one)), EVD_STORE_OK);
    struct evd_txn *txn = begin();
    struct evd_write write = replacing(thing_key(1), get(txn, thing_key(1)), two);
    ck_assert_int_eq(evd_store_swap(store, &write, evd_store_fixture_far()).status, EVD_STORE_OK);
    ck_assert_int_eq(commit(txn, &write, 1), EVD_STORE_CONFLICT);
    suite_close();
}
END_TEST

START_TEST(a_restart_keeps_everything) {
    enum { RECORDS = 300 };
    static struct evd_image images[RECORDS];
    suite_open();
    for (unsigned i = 0; i < RECORDS; i++) {
        images[i] = IMAGE(.rank = i + 1, .name = "kept", .pad_bytes = i * 37);
        ck_assert_int_eq(WRITE(inserting(thing_key(i), images[i])), EVD_STORE_OK);
    }
    for (unsigned i = 0; i < RECORDS; i += 3) {
        struct evd_image next = IMAGE(.version = 2, .rank = i + 1000);
        ck_assert_int_eq(WRITE(replacing(thing_key(i), images[i], next)), EVD_STORE_OK);
        images[i] = next;
    }
    for (int restart = 0; restart < 2; restart++) {
        store = evd_store_fixture_reopen(store, &catalogue);
        for (unsigned i = 0; i < RECORDS; i++) {
            struct evd_image now = latest(thing_key(i));
            ck_assert(same_image(&now, &images[i]));
        }
    }
    suite_close();
}
END_TEST

START_TEST(an_arena_that_runs_out_in_the_middle_of_a_read_leaves_the_store_whole) {
    suite_open();
    for (unsigned i = 0; i < 100; i++)
        ck_assert_int_eq(WRITE(inserting(thing_key(i), IMAGE(.rank = i + 1, .pad_bytes = 5000))), EVD_STORE_OK);
    struct evd_key keys[100];
    struct evd_image images[100];
    for (unsigned i = 0; i < 100; i++)
        keys[i] = thing_key(i);
    const struct evd_range range = {.index = &indexes[BY_RANK], .project = keys[0].project, .limit = 100};
    for (volatile int scans = 0; scans < 2; scans++) {
        struct evd_arena small;
        jmp_buf escape;
        struct evd_txn *volatile txn = NULL;
        size_t count = 0;
        volatile bool escaped = false;
        evd_arena_init(&small, 100000);
        small.escape = &escape;
        txn = begin_in(&small, EVD_READ_SNAPSHOT);
        if (setjmp(escape) == 0) {
            struct evd_store_result result =
                scans ? evd_txn_scan(txn, &range, keys, images, &count) : evd_txn_get(txn, keys, 100, images);
            ck_abort_msg("the arena should have run out, got %s", evd_store_status_name(result.status));
        } else {
            escaped = true;
        }
        ck_assert(escaped);
        evd_txn_close(txn);
        evd_arena_done(&small);
    }
    ck_assert_int_eq(WRITE(inserting(thing_key(200), IMAGE(.rank = 1))), EVD_STORE_OK);
    suite_close();
}
END_TEST

EVD_TEST_MAIN("store: writes", an_insert_of_a_key_that_is_there_is_a_duplicate_and_names_it,
              insert_once_leaves_what_is_there_and_the_other_writes_land,
              a_replacement_or_deletion_of_another_version_conflicts_and_names_the_record,
              a_deleted_record_is_gone_and_its_key_is_free, a_commit_is_all_or_nothing,
              a_transaction_that_is_not_committed_leaves_nothing, the_version_is_the_documents_own,
              many_keys_come_back_in_the_order_they_were_asked_for, a_key_is_its_project_collection_and_id_together,
              large_documents_come_back_whole, a_swap_is_guarded_as_a_commit_is,
              a_swap_makes_an_open_transaction_on_the_record_conflict, a_restart_keeps_everything,
              an_arena_that_runs_out_in_the_middle_of_a_read_leaves_the_store_whole)
