/*
 * The recovery thread: sleeps until the gate is poisoned and drained, then reopens and resolves.
 *
 * RocksDB reads its log back from the page cache, where the bytes of a failed sync look as good as any. Opening writes
 * what it recovered to table files and syncs them (avoid_flush_during_recovery stays off); the explicit flush makes
 * sure. Only then is what a witness shows also what the disk holds. Any failure on the way, also a read error, closes
 * the database again and starts over after a pause, for as long as it takes.
 */
#include "internal.h"

#include "evidenced/base/sha256.h"

enum { PAUSE_FIRST_MS = 25, PAUSE_LONGEST_MS = 2000 };

/* False: the witness cannot be read. */
static bool fate_read(struct evd_embedded *store, const rocksdb_readoptions_t *options,
                      const struct evd_pending *pending, enum evd_fate *ret_fate) {
    char *said = NULL;
    size_t size_bytes = 0;
    bool landed = pending->witness_is_absent;
    rocksdb_pinnableslice_t *value =
        rocksdb_get_pinned_cf(store->database.base, options, store->database.families[EVD_FAMILY_RECORDS],
                              (const char *)pending->witness, sizeof pending->witness, &said);
    if (said != NULL) {
        rocksdb_free(said);
        return false;
    }
    if (value != NULL) {
        const char *bytes = rocksdb_pinnableslice_value(value, &size_bytes);
        struct evd_sha256 digest = evd_sha256_of(bytes, size_bytes);
        landed = !pending->witness_is_absent && evd_sha256_equal(&digest, &pending->witness_digest);
        rocksdb_pinnableslice_destroy(value);
    }
    *ret_fate = landed ? EVD_FATE_LANDED : EVD_FATE_NOT_LANDED;
    return true;
}

static bool resolve(struct evd_embedded *store) {
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    bool fine = true;
    for (struct evd_pending *pending = store->gate.pendings; pending != NULL && fine; pending = pending->next) {
        enum evd_fate fate;
        fine = fate_read(store, options, pending, &fate);
        if (fine) evd_gate_decide(&store->gate, pending, fate);
    }
    rocksdb_readoptions_destroy(options);
    return fine;
}

static bool reopen(struct evd_embedded *store) {
    char error[EVD_EMBEDDED_ERROR_BYTES];
    if (!evd_space_suffices_to_open(&store->space)) return false;
    if (!evd_database_open(&store->database, &store->options, store->directory, false, error)) return false;
    if (evd_database_flush(&store->database, error) && resolve(store)) return true;
    evd_database_close(&store->database);
    return false;
}

void *evd_recovery_run(void *embedded) {
    struct evd_embedded *store = embedded;
    while (evd_gate_await_drained(&store->gate)) {
        evd_database_close(&store->database);
        for (int64_t pause_ms = PAUSE_FIRST_MS; !reopen(store);) {
            if (!evd_gate_pause(&store->gate, pause_ms)) return NULL;
            pause_ms = pause_ms * 2 < PAUSE_LONGEST_MS ? pause_ms * 2 : PAUSE_LONGEST_MS;
        }
        (void)atomic_fetch_add(&store->recoveries, 1);
        evd_gate_open(&store->gate);
    }
    return NULL;
}
