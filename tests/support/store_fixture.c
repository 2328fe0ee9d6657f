#include "store_fixture.h"

#include "evidenced/base/clock.h"
#include "evidenced/store/embedded.h"
#include "test.h"

#include <assert.h>

static char directory[512];

static struct evd_store *open_again(const struct evd_catalogue *catalogue) {
    char error[EVD_EMBEDDED_ERROR_BYTES] = "";
    const struct evd_embedded_options options = {
        .directory = directory, .catalogue = catalogue, .clock = evd_clock_system(), .free_bytes_floor = 1};
    struct evd_store *store = evd_embedded_open(&options, error);
    if (store == NULL) ck_abort_msg("%s", error);
    return store;
}

struct evd_store *evd_store_fixture_open(const struct evd_catalogue *catalogue) {
    int size = snprintf(directory, sizeof directory, "%s/store", evd_test_directory());
    assert(size > 0 && (size_t)size < sizeof directory);
    return open_again(catalogue);
}

struct evd_store *evd_store_fixture_reopen(struct evd_store *store, const struct evd_catalogue *catalogue) {
    evd_store_close(store);
    return open_again(catalogue);
}

int64_t evd_store_fixture_far(void) {
    return evd_store_fixture_in(INT64_C(1000) * 60 * 60);
}

int64_t evd_store_fixture_in(int64_t wait_ms) {
    return evd_clock_monotonic_ms(evd_clock_system()) + wait_ms;
}
