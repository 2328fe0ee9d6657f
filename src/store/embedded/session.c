#include "internal.h"

bool evd_session_begin(struct evd_session *session, struct evd_embedded *store, enum evd_read_kind kind,
                       int64_t deadline_ms) {
    *session = (struct evd_session){0};
    if (!evd_gate_enter(&store->gate, deadline_ms)) return false;
    session->store = store;
    rocksdb_set_perf_level(rocksdb_disable); /* of this thread: else every comparison of two keys is counted */
    session->read_options = rocksdb_readoptions_create();
    if (kind == EVD_READ_LATEST) return true;
    session->transaction = rocksdb_optimistictransaction_begin(store->database.transactional, store->options.write,
                                                               store->options.begin, NULL);
    /* The transaction's snapshot guards its writes only; reads see it when their options name it. */
    session->snapshot = rocksdb_transaction_get_snapshot(session->transaction);
    rocksdb_readoptions_set_snapshot(session->read_options, session->snapshot);
    return true;
}

void evd_session_unpin(struct evd_session *session) {
    for (int i = 0; i < EVD_SESSION_BATCH; i++) {
        if (session->pinned[i] != NULL) rocksdb_pinnableslice_destroy(session->pinned[i]);
        session->pinned[i] = NULL;
    }
}

static void snapshot_drop(struct evd_session *session) {
    if (session->snapshot == NULL) return;
    rocksdb_readoptions_set_snapshot(session->read_options, NULL);
    if (session->transaction == NULL)
        rocksdb_release_snapshot(session->store->database.base, session->snapshot);
    else
        rocksdb_free((void *)(uintptr_t)session->snapshot); /* the wrapper only; the transaction owns what is in it */
    session->snapshot = NULL;
}

void evd_session_refresh(struct evd_session *session) {
    if (session->transaction != NULL) return;
    snapshot_drop(session);
    session->snapshot = rocksdb_create_snapshot(session->store->database.base);
    rocksdb_readoptions_set_snapshot(session->read_options, session->snapshot);
}

static void let_go(struct evd_session *session) {
    char *said = NULL;
    evd_session_unpin(session);
    snapshot_drop(session);
    rocksdb_readoptions_destroy(session->read_options);
    if (session->transaction != NULL) {
        rocksdb_transaction_rollback(session->transaction, &said);
        rocksdb_free(said);
        rocksdb_transaction_destroy(session->transaction);
    }
}

void evd_session_end(struct evd_session *session) {
    struct evd_embedded *store = session->store;
    if (store == NULL) return;
    let_go(session);
    *session = (struct evd_session){0};
    evd_gate_leave(&store->gate);
}

void evd_session_end_pending(struct evd_session *session, struct evd_pending *pending) {
    struct evd_embedded *store = session->store;
    let_go(session);
    *session = (struct evd_session){0};
    evd_gate_leave_pending(&store->gate, pending);
}

/* What RocksDB said about a read. Takes the sentence. */
static enum evd_store_status read_status(char *said) {
    bool corrupt = strncmp(said, "Corruption", strlen("Corruption")) == 0;
    rocksdb_free(said);
    return corrupt ? EVD_STORE_CORRUPT : EVD_STORE_UNAVAILABLE;
}

struct evd_store_result evd_session_pin(struct evd_session *session, const struct evd_key *keys, size_t stride_bytes,
                                        size_t count) {
    uint8_t bytes[EVD_SESSION_BATCH][EVD_RECORD_KEY_BYTES];
    const char *at[EVD_SESSION_BATCH];
    size_t sizes[EVD_SESSION_BATCH];
    char *said[EVD_SESSION_BATCH];
    struct evd_store_result result = {.status = EVD_STORE_OK};
    const struct evd_embedded *store = session->store;
    const uint8_t *first = (const uint8_t *)keys;
    evd_session_unpin(session);
    for (size_t i = 0; i < count; i++) {
        evd_record_key_encode((const struct evd_key *)(const void *)(first + i * stride_bytes), bytes[i]);
        at[i] = (const char *)bytes[i];
        sizes[i] = EVD_RECORD_KEY_BYTES;
    }
    rocksdb_batched_multi_get_cf(store->database.base, session->read_options,
                                 store->database.families[EVD_FAMILY_RECORDS], count, at, sizes, session->pinned, said,
                                 false);
    for (size_t i = 0; i < count; i++) {
        if (said[i] == NULL) continue;
        enum evd_store_status status = read_status(said[i]);
        if (result.status == EVD_STORE_OK)
            result = evd_store_key_result(status, (const struct evd_key *)(const void *)(first + i * stride_bytes));
    }
    return result;
}
