/*
 * The spool by itself, on a disk that fails when told to.
 */
#include "../../support/faultfs.c"
#include "../../support/test.h"
#include "evidenced/base/limits.h"
#include "evidenced/http/spool.h"

#include <dirent.h>
#include <pthread.h>

enum { MOST_BYTES = 8 * 1024 * 1024, THREADS = 4, ROUNDS = 200 };

static struct faultfs_control disk;
static struct evd_spool *spool;
static char directory[300], error[EVD_SPOOL_ERROR_BYTES];

static void open_all(void) {
    (void)snprintf(directory, sizeof directory, "%s/spool", evd_test_directory());
    (void)snprintf(disk.prefix, sizeof disk.prefix, "%.250s", directory);
    faultfs_use(&disk);
    struct evd_spool_options options = {
        .directory = directory, .most_bytes = MOST_BYTES, .free_bytes_floor = 64 * EVD_MIB};
    spool = evd_spool_open(&options, error);
    ck_assert_msg(spool != NULL, "%s", error);
}

static size_t files_there(void) {
    DIR *open = opendir(directory);
    size_t count = 0;
    ck_assert_ptr_nonnull(open);
    while (readdir(open) != NULL)
        count++;
    (void)closedir(open);
    return count - 2; /* "." and ".." */
}

START_TEST(a_place_is_zeroed_memory_in_a_file_without_a_name) {
    struct evd_spooled spooled = {NULL, 0};
    struct stat status;
    open_all();
    ck_assert_int_eq(stat(directory, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0700);
    ck_assert_int_eq(evd_spool_take(spool, 3 * EVD_MIB, &spooled), EVD_SPOOL_OK);
    ck_assert_uint_eq(spooled.size_bytes, 3 * EVD_MIB);
    for (size_t i = 0; i < spooled.size_bytes; i++)
        if (spooled.bytes[i] != 0) ck_abort_msg("%zu is not zero", i);
    memset(spooled.bytes, 'x', spooled.size_bytes);
    ck_assert_uint_eq(files_there(), 0);
    ck_assert_uint_eq(evd_spool_held_bytes(spool), 3 * EVD_MIB);
    evd_spool_give_back(spool, &spooled);
    ck_assert(spooled.bytes == NULL && spooled.size_bytes == 0);
    evd_spool_give_back(spool, &spooled);
    evd_spool_give_back(NULL, &spooled);
    ck_assert_uint_eq(evd_spool_held_bytes(spool), 0);
    evd_spool_close(spool);
}
END_TEST

START_TEST(what_all_bodies_take_together_is_bounded) {
    struct evd_spooled first = {NULL, 0}, second = {NULL, 0}, none = {NULL, 0};
    open_all();
    ck_assert_int_eq(evd_spool_take(spool, MOST_BYTES + 1, &none), EVD_SPOOL_BUSY);
    ck_assert_int_eq(evd_spool_take(spool, SIZE_MAX, &none), EVD_SPOOL_BUSY);
    ck_assert_int_eq(evd_spool_take(spool, MOST_BYTES - 1, &first), EVD_SPOOL_OK);
    ck_assert_int_eq(evd_spool_take(spool, 2, &none), EVD_SPOOL_BUSY);
    ck_assert_int_eq(evd_spool_take(spool, 1, &second), EVD_SPOOL_OK);
    ck_assert_int_eq(evd_spool_take(spool, 1, &none), EVD_SPOOL_BUSY);
    evd_spool_give_back(spool, &first);
    ck_assert_int_eq(evd_spool_take(spool, MOST_BYTES - 1, &first), EVD_SPOOL_OK);
    ck_assert(none.bytes == NULL && none.size_bytes == 0);
    evd_spool_give_back(spool, &first);
    evd_spool_give_back(spool, &second);
    evd_spool_close(spool);
}
END_TEST

static void disk_fails(enum faultfs_call call, int number) {
    atomic_store(&disk.rules[call].error, number);
    atomic_store(&disk.rules[call].fail, number == 0 ? 0 : -1);
}

static void expect(enum evd_spool_status status) {
    struct evd_spooled spooled = {NULL, 0};
    ck_assert_int_eq(evd_spool_take(spool, EVD_MIB, &spooled), status);
    ck_assert(status == EVD_SPOOL_OK || spooled.bytes == NULL);
    evd_spool_give_back(spool, &spooled);
    ck_assert_uint_eq(evd_spool_held_bytes(spool), 0);
}

START_TEST(a_disk_without_room_is_told_before_a_byte_arrives_and_used_again_when_there_is_some) {
    open_all();
    expect(EVD_SPOOL_OK);
    disk_fails(FAULTFS_SIZE, ENOSPC);
    expect(EVD_SPOOL_FULL);
    ck_assert_int_gt(atomic_load(&disk.rules[FAULTFS_SIZE].failed), 0);
    disk_fails(FAULTFS_SIZE, 0);
    disk_fails(FAULTFS_OPEN, ENOSPC);
    expect(EVD_SPOOL_FULL);
    disk_fails(FAULTFS_OPEN, 0);
    atomic_store(&disk.free_bytes, 64 * EVD_MIB - 4096); /* what the store needs is left to it */
    expect(EVD_SPOOL_FULL);
    atomic_store(&disk.free_bytes, 64 * EVD_MIB);
    expect(EVD_SPOOL_OK);
    ck_assert_uint_eq(files_there(), 0);
    evd_spool_close(spool);
}
END_TEST

START_TEST(a_file_system_without_nameless_files_has_files_whose_name_is_taken_away) {
    open_all();
    disk_fails(FAULTFS_OPEN, EOPNOTSUPP); /* mkostemp's own open is not one of those that fall */
    expect(EVD_SPOOL_OK);
    ck_assert_int_gt(atomic_load(&disk.rules[FAULTFS_OPEN].failed), 0);
    ck_assert_uint_eq(files_there(), 0);
    evd_spool_close(spool);
}
END_TEST

START_TEST(a_directory_that_cannot_be_used_is_named_in_a_sentence) {
    char missing[340];
    open_all();
    evd_spool_close(spool);
    (void)snprintf(missing, sizeof missing, "%s/missing/spool", directory);
    struct evd_spool_options options = {.directory = missing, .most_bytes = MOST_BYTES};
    ck_assert_ptr_null(evd_spool_open(&options, error));
    ck_assert(strstr(error, missing) != NULL && strstr(error, "No such file") != NULL);
    disk_fails(FAULTFS_OPEN, EROFS);
    options.directory = directory;
    ck_assert_ptr_null(evd_spool_open(&options, error));
    ck_assert_ptr_nonnull(strstr(error, "Read-only"));
}
END_TEST

static void *take_and_give(void *self) {
    (void)self;
    for (int i = 0; i < ROUNDS; i++) {
        struct evd_spooled spooled = {NULL, 0};
        enum evd_spool_status status = evd_spool_take(spool, MOST_BYTES / 2, &spooled);
        if (status == EVD_SPOOL_OK) memset(spooled.bytes, 'x', 4096);
        if (status == EVD_SPOOL_FULL || evd_spool_held_bytes(spool) > MOST_BYTES) return spool;
        evd_spool_give_back(spool, &spooled);
    }
    return NULL;
}

START_TEST(many_at_once_never_take_more_than_all_may) {
    pthread_t threads[THREADS];
    open_all();
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
    ck_assert_uint_eq(evd_spool_held_bytes(spool), 0);
    evd_spool_close(spool);
}
END_TEST

EVD_TEST_MAIN("http: spool", a_place_is_zeroed_memory_in_a_file_without_a_name,
              what_all_bodies_take_together_is_bounded,
              a_disk_without_room_is_told_before_a_byte_arrives_and_used_again_when_there_is_some,
              a_file_system_without_nameless_files_has_files_whose_name_is_taken_away,
              a_directory_that_cannot_be_used_is_named_in_a_sentence, many_at_once_never_take_more_than_all_may)
