/*
 * Commit and swap: read what the writes meet in the snapshot, stage them in RocksDB's transaction, commit.
 *
 * Every record key is tracked by its put or delete with the snapshot's sequence, so a write that came after the
 * snapshot makes RocksDB refuse the commit. Keys that are only read are not tracked: reads never conflict.
 *
 * Index entries go straight into the transaction's batch and are not tracked: two commits that touch the same entry
 * write the same record. Those to drop are taken from the stored document, not from what the caller says it was; so an
 * entry is put once and dropped once, in turn, which is what the cheaper single deletion asks for.
 */
#include "internal.h"

#include "evidenced/base/crash.h"
#include "evidenced/base/sha256.h"

enum { SWAP_ATTEMPTS = 16 };

struct staging {
    struct evd_session *session;
    rocksdb_writebatch_wi_t *batch; /* the transaction's own, wrapped */
    struct evd_entries before, after;
    size_t staged;
    const struct evd_write *witness; /* the write that will tell the commit's fate, see `prefers` */
};

static rocksdb_column_family_handle_t *family_of(const struct staging *staging, enum evd_family family) {
    return staging->session->store->database.families[family];
}

static void entry_drop(void *self, const uint8_t *key, size_t size_bytes) {
    struct staging *staging = self;
    rocksdb_writebatch_wi_singledelete_cf(staging->batch, family_of(staging, EVD_FAMILY_INDEX), (const char *)key,
                                          size_bytes);
}

static void entry_add(void *self, const uint8_t *key, size_t size_bytes) {
    struct staging *staging = self;
    rocksdb_writebatch_wi_put_cf(staging->batch, family_of(staging, EVD_FAMILY_INDEX), (const char *)key, size_bytes,
                                 "", 0);
}

static bool record_stage(const struct staging *staging, const struct evd_write *write) {
    uint8_t key[EVD_RECORD_KEY_BYTES];
    char *said = NULL;
    rocksdb_transaction_t *transaction = staging->session->transaction;
    rocksdb_column_family_handle_t *records = family_of(staging, EVD_FAMILY_RECORDS);
    evd_record_key_encode(&write->key, key);
    if (write->kind == EVD_DELETE)
        rocksdb_transaction_delete_cf(transaction, records, (const char *)key, sizeof key, &said);
    else
        rocksdb_transaction_put_cf(transaction, records, (const char *)key, sizeof key, (const char *)write->after.bson,
                                   write->after.size_bytes, &said);
    bool fine = said == NULL;
    rocksdb_free(said);
    return fine;
}

static enum evd_store_status entries_status(enum evd_entries_status status) {
    switch (status) {
    case EVD_ENTRIES_OK: return EVD_STORE_OK;
    case EVD_ENTRIES_MALFORMED: return EVD_STORE_CORRUPT;
    case EVD_ENTRIES_NO_MEMORY: return EVD_STORE_UNAVAILABLE;
    }
    abort();
}

/* The best witness is an insert: nobody else can have written those bytes. A replacement by what was there proves
 * nothing. */
static bool prefers(const struct staging *staging, const struct evd_write *write, const struct evd_image *stored) {
    if (staging->witness == NULL) return true;
    if (staging->witness->kind != EVD_REPLACE) return false;
    return write->kind != EVD_REPLACE || stored->size_bytes != write->after.size_bytes ||
           memcmp(stored->bson, write->after.bson, stored->size_bytes) != 0;
}

static enum evd_store_status changes_stage(struct staging *staging, const struct evd_write *write,
                                           const struct evd_image *stored) {
    const struct evd_catalogue *catalogue = staging->session->store->base.catalogue;
    enum evd_store_status status =
        entries_status(evd_entries_collect(&staging->before, catalogue, &write->key, stored));
    if (status != EVD_STORE_OK) return status;
    status = entries_status(evd_entries_collect(&staging->after, catalogue, &write->key, &write->after));
    if (status != EVD_STORE_OK) return status;
    if (!record_stage(staging, write)) return EVD_STORE_UNAVAILABLE;
    evd_entries_difference(&staging->before, &staging->after, entry_drop, entry_add, staging);
    if (prefers(staging, write, stored)) staging->witness = write;
    staging->staged++;
    return EVD_STORE_OK;
}

/* One write against what the snapshot holds under its key; value: NULL for nothing. */
static enum evd_store_status write_stage(struct staging *staging, const struct evd_write *write,
                                         const rocksdb_pinnableslice_t *value) {
    struct evd_image stored = {0};
    if (value != NULL) {
        size_t size_bytes = 0;
        const char *bytes = rocksdb_pinnableslice_value(value, &size_bytes);
        if (!evd_document_image((const uint8_t *)bytes, size_bytes, &stored)) return EVD_STORE_CORRUPT;
    }
    bool exists = value != NULL;
    switch (write->kind) {
    case EVD_INSERT:
        if (exists) return EVD_STORE_DUPLICATE;
        break;
    case EVD_INSERT_ONCE:
        if (exists) return EVD_STORE_OK;
        break;
    case EVD_REPLACE:
    case EVD_DELETE:
        if (!exists || stored.version != write->before.version) return EVD_STORE_CONFLICT;
        break;
    }
    return changes_stage(staging, write, &stored);
}

static struct evd_store_result all_stage(struct staging *staging, const struct evd_write *writes, size_t count) {
    struct evd_session *session = staging->session;
    for (size_t done = 0; done < count; done += EVD_SESSION_BATCH) {
        size_t batch = count - done < EVD_SESSION_BATCH ? count - done : EVD_SESSION_BATCH;
        struct evd_store_result result = evd_session_pin(session, &writes[done].key, sizeof *writes, batch);
        if (result.status != EVD_STORE_OK) return result;
        for (size_t i = 0; i < batch; i++) {
            enum evd_store_status status = write_stage(staging, &writes[done + i], session->pinned[i]);
            if (status != EVD_STORE_OK) return evd_store_key_result(status, &writes[done + i].key);
        }
    }
    evd_session_unpin(session);
    return evd_store_status_result(EVD_STORE_OK);
}

static uint64_t size_of(const struct evd_write *writes, size_t count) {
    uint64_t size_bytes = 0;
    for (size_t i = 0; i < count; i++)
        size_bytes += writes[i].after.size_bytes;
    return size_bytes;
}

static bool is_conflict(const char *said) {
    static const char busy[] = "Resource busy", again[] = "Operation failed. Try again";
    return strncmp(said, busy, sizeof busy - 1) == 0 || strncmp(said, again, sizeof again - 1) == 0;
}

static bool values_differ(rocksdb_pinnableslice_t *a, rocksdb_pinnableslice_t *b) {
    size_t a_bytes = 0, b_bytes = 0;
    if ((a == NULL) != (b == NULL)) return true;
    if (a == NULL) return false;
    const char *left = rocksdb_pinnableslice_value(a, &a_bytes), *right = rocksdb_pinnableslice_value(b, &b_bytes);
    return a_bytes != b_bytes || memcmp(left, right, a_bytes) != 0;
}

static bool has_changed(const struct evd_session *session, const struct evd_key *key,
                        const rocksdb_readoptions_t *latest) {
    uint8_t bytes[EVD_RECORD_KEY_BYTES];
    char *said[2] = {NULL, NULL};
    rocksdb_t *base = session->store->database.base;
    rocksdb_column_family_handle_t *records = session->store->database.families[EVD_FAMILY_RECORDS];
    evd_record_key_encode(key, bytes);
    rocksdb_pinnableslice_t *then =
        rocksdb_get_pinned_cf(base, session->read_options, records, (const char *)bytes, sizeof bytes, &said[0]);
    rocksdb_pinnableslice_t *now =
        rocksdb_get_pinned_cf(base, latest, records, (const char *)bytes, sizeof bytes, &said[1]);
    bool known = said[0] == NULL && said[1] == NULL;
    bool changed = known && values_differ(then, now);
    rocksdb_free(said[0]);
    rocksdb_free(said[1]);
    if (then != NULL) rocksdb_pinnableslice_destroy(then);
    if (now != NULL) rocksdb_pinnableslice_destroy(now);
    return changed;
}

/* RocksDB does not say whose key it was: the first that changed since the snapshot. */
static struct evd_store_result conflict_name(const struct evd_session *session, const struct evd_write *writes,
                                             size_t count) {
    struct evd_store_result result = {.status = EVD_STORE_CONFLICT};
    rocksdb_readoptions_t *latest = rocksdb_readoptions_create();
    for (size_t i = 0; i < count; i++) {
        if (!has_changed(session, &writes[i].key, latest)) continue;
        result.key = writes[i].key;
        break;
    }
    rocksdb_readoptions_destroy(latest);
    return result;
}

static void pending_fill(struct evd_pending *pending, const struct evd_write *witness) {
    *pending = (struct evd_pending){.references = 1, .fate = EVD_FATE_PENDING};
    evd_record_key_encode(&witness->key, pending->witness);
    pending->witness_is_absent = witness->kind == EVD_DELETE;
    if (witness->kind != EVD_DELETE)
        pending->witness_digest = evd_sha256_of(witness->after.bson, witness->after.size_bytes);
}

static struct evd_store_result fate_result(struct evd_embedded *store, enum evd_fate fate) {
    switch (fate) {
    case EVD_FATE_LANDED: (void)atomic_fetch_add(&store->commits, 1); return evd_store_status_result(EVD_STORE_OK);
    case EVD_FATE_NOT_LANDED:
        (void)atomic_fetch_add(&store->conflicts, 1);
        return evd_store_status_result(EVD_STORE_CONFLICT);
    case EVD_FATE_PENDING: return evd_store_status_result(EVD_STORE_UNKNOWN);
    }
    abort();
}

/* Hand what is staged to RocksDB. *ret_pending is set when the fate is unknown; the session then was ended. */
static struct evd_store_result staged_commit(const struct staging *staging, const struct evd_write *writes,
                                             size_t count, struct evd_pending **ret_pending) {
    struct evd_session *session = staging->session;
    struct evd_embedded *store = session->store;
    char *said = NULL;
    struct evd_pending *pending = malloc(sizeof *pending); /* while refusing is still possible */
    if (pending == NULL) return evd_store_status_result(EVD_STORE_UNAVAILABLE);
    EVD_CRASH_POINT(COMMIT_BEFORE);
    rocksdb_transaction_commit(session->transaction, &said);
    if (said == NULL) {
        EVD_CRASH_POINT(COMMIT_AFTER);
        free(pending);
        (void)atomic_fetch_add(&store->commits, 1);
        return evd_store_status_result(EVD_STORE_OK);
    }
    bool conflict = is_conflict(said);
    if (!conflict) evd_gate_poison(&store->gate);
    rocksdb_free(said);
    if (conflict) {
        free(pending);
        return conflict_name(session, writes, count);
    }
    pending_fill(pending, staging->witness);
    evd_session_end_pending(session, pending);
    *ret_pending = pending;
    return evd_store_status_result(EVD_STORE_UNKNOWN);
}

/* Stage and commit within a session. */
static struct evd_store_result session_commit(struct evd_session *session, const struct evd_write *writes, size_t count,
                                              struct evd_pending **ret_pending) {
    struct evd_embedded *store = session->store;
    if (evd_gate_is_poisoned(&store->gate)) return evd_store_status_result(EVD_STORE_UNAVAILABLE);
    if (!evd_space_admits(&store->space, size_of(writes, count))) return evd_store_status_result(EVD_STORE_FULL);
    struct staging staging = {.session = session, .batch = rocksdb_transaction_get_writebatch_wi(session->transaction)};
    struct evd_store_result result = all_stage(&staging, writes, count);
    rocksdb_free(staging.batch); /* the wrapper only */
    evd_entries_done(&staging.before);
    evd_entries_done(&staging.after);
    if (result.status == EVD_STORE_OK && evd_gate_is_poisoned(&store->gate))
        result = evd_store_status_result(EVD_STORE_UNAVAILABLE);
    if (result.status == EVD_STORE_OK && staging.staged > 0)
        result = staged_commit(&staging, writes, count, ret_pending);
    if (result.status == EVD_STORE_CONFLICT) (void)atomic_fetch_add(&store->conflicts, 1);
    return result;
}

/* Wait for the fate; *pending is let go once it is known. */
static struct evd_store_result fate_await(struct evd_embedded *store, struct evd_pending **pending,
                                          int64_t deadline_ms) {
    enum evd_fate fate = evd_gate_await_fate(&store->gate, *pending, deadline_ms);
    if (fate == EVD_FATE_PENDING) return fate_result(store, fate);
    evd_gate_release(&store->gate, *pending);
    *pending = NULL;
    return fate_result(store, fate);
}

struct evd_store_result evd_embedded_commit(struct evd_txn *base, const struct evd_write *writes, size_t count) {
    struct evd_embedded_txn *txn = (struct evd_embedded_txn *)base;
    struct evd_embedded *store = (struct evd_embedded *)base->store;
    struct evd_store_result result = session_commit(&txn->session, writes, count, &txn->pending);
    evd_session_end(&txn->session);
    if (txn->pending == NULL) return result;
    result = fate_await(store, &txn->pending, base->deadline_ms);
    if (result.status == EVD_STORE_UNKNOWN) (void)atomic_fetch_add(&store->unknown, 1);
    return result;
}

struct evd_store_result evd_embedded_commit_again(struct evd_txn *base, int64_t deadline_ms) {
    struct evd_embedded_txn *txn = (struct evd_embedded_txn *)base;
    return fate_await((struct evd_embedded *)base->store, &txn->pending, deadline_ms);
}

/* A swap that inserts and was overtaken is tried again: it then meets what is there. A replacement that was overtaken
 * could only find another version. */
struct evd_store_result evd_embedded_swap(struct evd_store *base, const struct evd_write *write, int64_t deadline_ms) {
    struct evd_embedded *store = (struct evd_embedded *)base;
    struct evd_store_result result = {.status = EVD_STORE_CONFLICT, .key = write->key};
    int attempts = write->kind == EVD_INSERT || write->kind == EVD_INSERT_ONCE ? SWAP_ATTEMPTS : 1;
    while (attempts-- > 0 && result.status == EVD_STORE_CONFLICT) {
        struct evd_session session;
        struct evd_pending *pending = NULL;
        if (!evd_session_begin(&session, store, EVD_READ_SNAPSHOT, deadline_ms))
            return evd_store_status_result(EVD_STORE_UNAVAILABLE);
        result = session_commit(&session, write, 1, &pending);
        evd_session_end(&session);
        if (pending == NULL) continue;
        result = fate_await(store, &pending, deadline_ms);
        if (result.status == EVD_STORE_UNKNOWN) (void)atomic_fetch_add(&store->unknown, 1);
        evd_gate_release(&store->gate, pending);
    }
    return result;
}
