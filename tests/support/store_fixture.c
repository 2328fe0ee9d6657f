#include "store_fixture.h"

#include "evidenced/base/clock.h"
#include "evidenced/store/embedded.h"
#include "simulated_store.h"
#include "test.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static char directory[512];

static struct evd_store *open_again(const struct evd_catalogue *catalogue) {
    char error[EVD_EMBEDDED_ERROR_BYTES] = "";
    const struct evd_embedded_options options = {
        .directory = directory, .catalogue = catalogue, .clock = evd_clock_system(), .free_bytes_floor = 1};
    struct evd_store *store = evd_embedded_open(&options, error);
    if (store == NULL) ck_abort_msg("%s", error);
    return store;
}

/* EVIDENCED_TEST_STORE=simulated: the simulator's store keeps the same promises. */
static bool is_simulated(void) {
    const char *which = getenv("EVIDENCED_TEST_STORE");
    return which != NULL && strcmp(which, "simulated") == 0;
}

struct evd_store *evd_store_fixture_open(const struct evd_catalogue *catalogue) {
    if (is_simulated()) return simulated_store_new(catalogue);
    int size = snprintf(directory, sizeof directory, "%s/store", evd_test_directory());
    assert(size > 0 && (size_t)size < sizeof directory);
    return open_again(catalogue);
}

struct evd_store *evd_store_fixture_reopen(struct evd_store *store, const struct evd_catalogue *catalogue) {
    if (is_simulated()) return store; /* its memory is its disk */
    evd_store_close(store);
    return open_again(catalogue);
}

int64_t evd_store_fixture_far(void) {
    return evd_store_fixture_in(INT64_C(1000) * 60 * 60);
}

int64_t evd_store_fixture_in(int64_t wait_ms) {
    return evd_clock_monotonic_ms(evd_clock_system()) + wait_ms;
}
