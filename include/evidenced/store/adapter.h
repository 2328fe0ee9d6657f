/*
 * What an adapter implements: the port's calls as a table. Only the adapters and the port's own file include this.
 *
 * An adapter's store begins with a `struct evd_store`, its transaction with a `struct evd_txn`. The port checks
 * arguments and calls the observer, so that adapters do not have to.
 */
#ifndef EVIDENCED_STORE_ADAPTER_H
#define EVIDENCED_STORE_ADAPTER_H

#include "evidenced/store/store.h"

struct evd_store_adapter {
    struct evd_store_result (*txn_open)(struct evd_store *, enum evd_read_kind, int64_t deadline_ms, struct evd_arena *,
                                        struct evd_txn **ret_txn);
    struct evd_store_result (*txn_get)(struct evd_txn *, const struct evd_key *, size_t count, struct evd_image *);
    struct evd_store_result (*txn_scan)(struct evd_txn *, const struct evd_range *, struct evd_key *,
                                        struct evd_image *, size_t *ret_count);
    struct evd_store_result (*txn_commit)(struct evd_txn *, const struct evd_write *, size_t count);
    struct evd_store_result (*txn_commit_again)(struct evd_txn *, int64_t deadline_ms);
    void (*txn_close)(struct evd_txn *);
    struct evd_store_result (*swap)(struct evd_store *, const struct evd_write *, int64_t deadline_ms);
    struct evd_store_result (*probe)(struct evd_store *, int64_t deadline_ms);
    struct evd_store_result (*backup)(struct evd_store *, const char *directory);
    void (*figures)(struct evd_store *, struct evd_store_figures *);
    void (*close)(struct evd_store *);
};

struct evd_store {
    const struct evd_store_adapter *adapter;
    const struct evd_catalogue *catalogue; /* borrowed for the store's life */
    evd_store_observer *observer;
    void *observer_self;
};

/* What may be called next; kept by the port. */
enum evd_txn_phase { EVD_TXN_READING, EVD_TXN_FATE_UNKNOWN, EVD_TXN_ENDED };

struct evd_txn {
    struct evd_store *store;
    enum evd_txn_phase phase;
    struct evd_arena *arena;
    enum evd_read_kind kind;
    int64_t deadline_ms;
};

#endif
