/*
 * What is the embedded adapter's own: its directory, its format, and damage to what it stored.
 */
#include "embedded_suite.h"

#include <fcntl.h>
#include <rocksdb/c.h>
#include <sys/stat.h>
#include <unistd.h>

static void refused_with(const char *path, const char *words) {
    ck_assert_ptr_null(open_at(path));
    ck_assert_msg(strstr(sentence, words) != NULL, "%s", sentence);
    ck_assert_ptr_nonnull(strstr(sentence, path));
}

START_TEST(the_directory_is_made_for_its_owner_alone) {
    struct stat status;
    prepare();
    open_here();
    ck_assert_int_eq(stat(directory, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
    suite_close();
}
END_TEST

START_TEST(a_second_opening_in_one_process_is_refused_with_a_sentence) {
    prepare();
    open_here();
    struct evd_store *first = store;
    refused_with(directory, "already open in this process");
    store = first;
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    suite_close();
}
END_TEST

/* RocksDB's own interface, to make databases this store would not make. */

struct raw {
    rocksdb_options_t *options;
    rocksdb_t *database;
    rocksdb_column_family_handle_t *families[3];
    int count;
};

static const char *const raw_names[] = {"default", "records", "index"};

static struct raw raw_open(int count) {
    struct raw raw = {.options = rocksdb_options_create(), .count = count};
    const rocksdb_options_t *options[] = {raw.options, raw.options, raw.options};
    char *said = NULL;
    rocksdb_options_set_create_if_missing(raw.options, 1);
    rocksdb_options_set_create_missing_column_families(raw.options, 1);
    raw.database = rocksdb_open_column_families(raw.options, directory, count, raw_names, options, raw.families, &said);
    ck_assert_msg(said == NULL, "%s", said);
    return raw;
}

static void raw_put(const struct raw *raw, int family, const void *key, size_t key_bytes, const void *value,
                    size_t value_bytes) {
    rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
    char *said = NULL;
    if (value == NULL)
        rocksdb_delete_cf(raw->database, options, raw->families[family], key, key_bytes, &said);
    else
        rocksdb_put_cf(raw->database, options, raw->families[family], key, key_bytes, value, value_bytes, &said);
    ck_assert_msg(said == NULL, "%s", said);
    rocksdb_writeoptions_destroy(options);
}

static void raw_close(struct raw *raw) {
    for (int i = 0; i < raw->count; i++)
        rocksdb_column_family_handle_destroy(raw->families[i]);
    rocksdb_close(raw->database);
    rocksdb_options_destroy(raw->options);
}

START_TEST(a_newer_or_unreadable_format_is_refused_and_left_alone) {
    const struct {
        const char *format, *words;
    } rows[] = {{"2", "newer version"},         {"1000000", "newer version"},      {"0", "not an evidenced store"},
                {"", "not an evidenced store"}, {"one", "not an evidenced store"}, {"1 ", "not an evidenced store"}};
    prepare();
    open_here();
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    evd_store_close(store);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct raw raw = raw_open(3);
        raw_put(&raw, 0, "format", 6, rows[i].format, strlen(rows[i].format));
        raw_close(&raw);
        refused_with(directory, rows[i].words);
    }
    struct raw raw = raw_open(3);
    raw_put(&raw, 0, "format", 6, "1", 1);
    raw_close(&raw);
    open_here();
    ck_assert_uint_ne(latest(thing_key(1)).size_bytes, 0);
    suite_close();
}
END_TEST

START_TEST(another_programs_database_is_refused_and_gets_no_families) {
    char **names;
    size_t count = 0;
    char *said = NULL;
    prepare();
    struct raw raw = raw_open(1);
    raw_put(&raw, 0, "somebody", 8, "else", 4);
    raw_close(&raw);
    refused_with(directory, "not an evidenced store");
    rocksdb_options_t *options = rocksdb_options_create();
    names = rocksdb_list_column_families(options, directory, &count, &said);
    ck_assert_ptr_null(said);
    ck_assert_uint_eq(count, 1);
    rocksdb_list_column_families_destroy(names, count);
    rocksdb_options_destroy(options);
    raw = raw_open(3); /* our families, but not our key */
    raw_close(&raw);
    refused_with(directory, "not an evidenced store");
    evd_arena_done(&arena);
}
END_TEST

START_TEST(a_first_start_that_was_interrupted_is_taken_up) {
    for (int families = 1; families <= 3; families++) {
        prepare();
        struct raw raw = raw_open(families);
        raw_close(&raw);
        open_here();
        ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
        suite_close();
    }
}
END_TEST

START_TEST(a_directory_with_other_files_is_refused_and_left_alone) {
    char path[PATH_MAX];
    prepare();
    ck_assert_int_eq(mkdir(directory, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/letters.txt", directory);
    ck_assert_int_ge(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600), 0);
    refused_with(directory, "other files");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(directory), 0); /* nothing was put beside it */
    evd_arena_done(&arena);
}
END_TEST

START_TEST(a_directory_that_cannot_be_had_is_refused) {
    prepare();
    refused_with("/proc/evidenced", "cannot be made");
    (void)snprintf(directory, sizeof directory, "%s/no/such", evd_test_directory());
    refused_with(directory, "cannot be made");
    (void)snprintf(directory, sizeof directory, "%s/file", evd_test_directory());
    ck_assert_int_ge(open(directory, O_CREAT | O_WRONLY | O_CLOEXEC, 0600), 0);
    refused_with(directory, "cannot be read");
    evd_arena_done(&arena);
}
END_TEST

/* Damage. */

static size_t raw_key(struct evd_key key, uint8_t bytes[33]) {
    memcpy(bytes, key.project.bytes, 16);
    bytes[16] = key.in;
    memcpy(bytes + 17, key.id.bytes, 16);
    return 33;
}

static void corrupted_on_every_call(struct evd_key key) {
    struct evd_image image;
    struct evd_image before = IMAGE(.version = 1);
    struct evd_write write = replacing(key, before, IMAGE(.version = 2));
    struct evd_txn *txn = begin();
    struct evd_store_result result = evd_txn_get(txn, &key, 1, &image);
    ck_assert_int_eq(result.status, EVD_STORE_CORRUPT);
    ck_assert(same_key(&result.key, &key));
    result = evd_txn_commit(txn, &write, 1);
    ck_assert_int_eq(result.status, EVD_STORE_CORRUPT);
    ck_assert(same_key(&result.key, &key));
    evd_txn_close(txn);
    ck_assert_int_eq(evd_store_swap(store, &write, evd_store_fixture_far()).status, EVD_STORE_CORRUPT);
}

START_TEST(stored_bytes_that_are_no_document_are_corrupt_and_named) {
    static const uint8_t cut[] = {40, 0, 0, 0, 0x12, 'v', 0}, unended[] = {6, 0, 0, 0, 0, 1},
                         wrong_kind[] = {18, 0, 0, 0, 0x10, 'v', 'e', 'r', 's', 'i', 'o', 'n', 0, 1, 0, 0, 0, 0},
                         bad_type[] = {9, 0, 0, 0, 0x44, 'x', 0, 1, 0}, empty[] = {0};
    const struct {
        const uint8_t *bytes;
        size_t size_bytes;
    } rows[] = {{cut, sizeof cut},
                {unended, sizeof unended},
                {wrong_kind, sizeof wrong_kind},
                {bad_type, sizeof bad_type},
                {empty, 0}};
    uint8_t key[33];
    prepare();
    open_here();
    ck_assert_int_eq(WRITE(inserting(thing_key(99), IMAGE(.rank = 1))), EVD_STORE_OK);
    evd_store_close(store);
    struct raw raw = raw_open(3);
    for (unsigned i = 0; i < 5; i++)
        raw_put(&raw, 1, key, raw_key(thing_key(i), key), rows[i].bytes, rows[i].size_bytes);
    raw_close(&raw);
    open_here();
    for (unsigned i = 0; i < 5; i++)
        corrupted_on_every_call(thing_key(i));
    ck_assert_uint_ne(latest(thing_key(99)).size_bytes, 0);
    suite_close();
}
END_TEST

START_TEST(an_index_entry_without_its_document_is_corrupt_and_named) {
    uint8_t bytes[33];
    struct evd_key keys[4], missing = thing_key(2);
    struct evd_image images[4];
    size_t count = 0;
    const struct evd_range range = {.index = &indexes[BY_RANK], .project = missing.project, .limit = 4};
    prepare();
    open_here();
    for (unsigned i = 1; i <= 3; i++)
        ck_assert_int_eq(WRITE(inserting(thing_key(i), IMAGE(.rank = i))), EVD_STORE_OK);
    evd_store_close(store);
    struct raw raw = raw_open(3);
    raw_put(&raw, 1, bytes, raw_key(missing, bytes), NULL, 0);
    raw_close(&raw);
    open_here();
    struct evd_txn *txn = begin();
    struct evd_store_result result = evd_txn_scan(txn, &range, keys, images, &count);
    ck_assert_int_eq(result.status, EVD_STORE_CORRUPT);
    ck_assert(same_key(&result.key, &missing));
    evd_txn_close(txn);
    suite_close();
}
END_TEST

START_TEST(a_store_below_its_floor_opens_for_reading_and_a_clock_that_stands_still_hangs_nobody) {
    struct evd_test_clock still;
    struct evd_txn *txn = NULL;
    evd_test_clock_init(&still, 0);
    prepare();
    open_here();
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    evd_store_close(store);
    const struct evd_embedded_options options = {.directory = directory,
                                                 .catalogue = &catalogue,
                                                 .clock = &still.clock,
                                                 .free_bytes_floor = UINT64_MAX / 2}; /* no disk is that large */
    store = evd_embedded_open(&options, sentence);
    ck_assert_msg(store != NULL, "%s", sentence);
    ck_assert_int_eq(evd_txn_open(store, EVD_READ_SNAPSHOT, 0, &arena, &txn).status, EVD_STORE_OK);
    ck_assert_uint_ne(get(txn, thing_key(1)).size_bytes, 0);
    struct evd_write write = inserting(thing_key(2), IMAGE(.rank = 1));
    ck_assert_int_eq(commit(txn, &write, 1), EVD_STORE_FULL);
    ck_assert_int_eq(evd_store_probe(store, 0).status, EVD_STORE_FULL);
    suite_close();
}
END_TEST

EVD_TEST_MAIN("store: embedded", the_directory_is_made_for_its_owner_alone,
              a_second_opening_in_one_process_is_refused_with_a_sentence,
              a_newer_or_unreadable_format_is_refused_and_left_alone,
              another_programs_database_is_refused_and_gets_no_families, a_first_start_that_was_interrupted_is_taken_up,
              a_directory_with_other_files_is_refused_and_left_alone, a_directory_that_cannot_be_had_is_refused,
              stored_bytes_that_are_no_document_are_corrupt_and_named,
              an_index_entry_without_its_document_is_corrupt_and_named,
              a_store_below_its_floor_opens_for_reading_and_a_clock_that_stands_still_hangs_nobody)
