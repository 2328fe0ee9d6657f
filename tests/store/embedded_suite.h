/*
 * What the tests of the embedded adapter share beside the suite: a store at a path of their own.
 */
#ifndef EVIDENCED_TESTS_STORE_EMBEDDED_SUITE_H
#define EVIDENCED_TESTS_STORE_EMBEDDED_SUITE_H

#include "suite.h"

#include "evidenced/base/clock.h"
#include "evidenced/store/embedded.h"

#include <limits.h>

static char directory[PATH_MAX - 64], sentence[EVD_EMBEDDED_ERROR_BYTES];

static SUITE_UNUSED struct evd_store *open_at(const char *path) {
    const struct evd_embedded_options options = {
        .directory = path, .catalogue = &catalogue, .clock = evd_clock_system(), .free_bytes_floor = 1};
    sentence[0] = '\0';
    return evd_embedded_open(&options, sentence);
}

/* A directory that is not there yet. */
static SUITE_UNUSED void prepare(void) {
    evd_arena_init(&arena, 256 * EVD_MIB);
    (void)snprintf(directory, sizeof directory, "%s/store", evd_test_directory());
}

static SUITE_UNUSED void open_here(void) {
    store = open_at(directory);
    ck_assert_msg(store != NULL, "%s", sentence);
}

#endif
