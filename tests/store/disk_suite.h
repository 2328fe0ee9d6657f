/*
 * The embedded store on a disk that fails. The faults come from faultfs, compiled into the program, so they are there
 * under the sanitizers too. That it can be preloaded as well is proved in test_embedded_process.c.
 */
#ifndef EVIDENCED_TESTS_STORE_DISK_SUITE_H
#define EVIDENCED_TESTS_STORE_DISK_SUITE_H

#include "../support/faultfs.c"

#include "suite.h"

#include "evidenced/base/clock.h"
#include "evidenced/store/embedded.h"

enum { SHORT_MS = 60 };

static struct faultfs_control disk;
static char directory[FAULTFS_TEXT_BYTES];
static const struct evd_clock *store_clock;

static SUITE_UNUSED void disk_open(void) {
    char error[EVD_EMBEDDED_ERROR_BYTES] = "";
    const struct evd_embedded_options options = {
        .directory = directory, .catalogue = &catalogue, .clock = store_clock, .free_bytes_floor = 64 * EVD_MIB};
    store = evd_embedded_open(&options, error);
    ck_assert_msg(store != NULL, "%s", error);
}

static SUITE_UNUSED void disk_prepare(void) {
    evd_arena_init(&arena, 256 * EVD_MIB);
    store_clock = evd_clock_system();
    (void)snprintf(directory, sizeof directory, "%s/store", evd_test_directory());
    memcpy(disk.prefix, directory, sizeof directory);
    for (int call = 0; call < FAULTFS_CALLS; call++)
        atomic_store(&disk.rules[call].short_bytes, -1);
    faultfs_use(&disk);
}

static SUITE_UNUSED void disk_setup(void) {
    disk_prepare();
    disk_open();
}

static SUITE_UNUSED void log_only(void) {
    (void)snprintf(disk.part, sizeof disk.part, ".log");
}

static SUITE_UNUSED void disk_fails(enum faultfs_call call, int64_t skip, int64_t times, int error) {
    atomic_store(&disk.rules[call].error, error);
    atomic_store(&disk.rules[call].skip, skip);
    atomic_store(&disk.rules[call].fail, times);
}

static SUITE_UNUSED void disk_heals(void) {
    for (int call = 0; call < FAULTFS_CALLS; call++)
        disk_fails((enum faultfs_call)call, 0, 0, 0);
}

static SUITE_UNUSED int64_t failures(enum faultfs_call call) {
    return atomic_load(&disk.rules[call].failed);
}

static SUITE_UNUSED struct evd_store_figures figures(void) {
    struct evd_store_figures found;
    evd_store_figures(store, &found);
    return found;
}

static SUITE_UNUSED struct evd_txn *begin_until(int64_t deadline_ms) {
    struct evd_txn *txn = NULL;
    struct evd_store_result result = evd_txn_open(store, EVD_READ_SNAPSHOT, deadline_ms, &arena, &txn);
    ck_assert_int_eq(result.status, EVD_STORE_OK);
    return txn;
}

static SUITE_UNUSED size_t ranks_found(void) {
    struct evd_key keys[64];
    struct evd_image images[64];
    size_t count = 0;
    const struct evd_range range = {.index = &indexes[BY_RANK], .project = thing_key(0).project, .limit = 64};
    struct evd_txn *txn = begin();
    ck_assert_int_eq(evd_txn_scan(txn, &range, keys, images, &count).status, EVD_STORE_OK);
    evd_txn_close(txn);
    return count;
}

/* After a restart on a sound disk, these numbers are there and no other below 64, each with its index entry. */
static SUITE_UNUSED void expect_after_restart(const unsigned *numbers, size_t count) {
    disk_heals();
    evd_store_close(store);
    disk_open();
    for (unsigned number = 0; number < 64; number++) {
        bool expected = false;
        for (size_t i = 0; i < count; i++)
            expected |= numbers[i] == number;
        ck_assert_msg(expected == (latest(thing_key(number)).size_bytes > 0), "record %u", number);
    }
    ck_assert_uint_eq(ranks_found(), count);
    suite_close();
}

#endif
