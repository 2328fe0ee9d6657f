/*
 * The store under test. The suite in tests/store/ speaks to the port only; which adapter it proves is decided here.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_STORE_FIXTURE_H
#define EVIDENCED_TESTS_SUPPORT_STORE_FIXTURE_H

#include "evidenced/store/store.h"

/** A fresh, empty store. catalogue: borrowed for the store's life. Ends the test when it cannot be had. */
struct evd_store *evd_store_fixture_open(const struct evd_catalogue *catalogue);

/** Close the store and open it again with what it holds, as a restart does. */
struct evd_store *evd_store_fixture_reopen(struct evd_store *store, const struct evd_catalogue *catalogue);

/** An instant of the store's clock that no test reaches, and one wait_ms from now. */
int64_t evd_store_fixture_far(void);
int64_t evd_store_fixture_in(int64_t wait_ms);

#endif
