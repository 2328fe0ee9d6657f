#include "evidenced/store/embedded.h"

#include "internal.h"

#include "evidenced/base/limits.h"

#include <assert.h>
#include <errno.h>
#include <sys/stat.h>

#ifdef __SANITIZE_THREAD__
/* RocksDB is not instrumented, so what it synchronises by atomics looks like races of its own. And it locks a mutex for
 * each key a commit writes; beyond 64 at once the sanitizer's deadlock detector gives up and ends the process. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "ignore_noninstrumented_modules=1:detect_deadlocks=0";
}
#endif

static const uint64_t default_write_buffer_bytes = 256 * EVD_MIB;
static const uint64_t default_block_cache_bytes = 32 * EVD_MIB;

static struct evd_store_result embedded_txn_open(struct evd_store *base, enum evd_read_kind kind, int64_t deadline_ms,
                                                 struct evd_arena *arena, struct evd_txn **ret_txn) {
    struct evd_embedded *store = (struct evd_embedded *)base;
    (void)arena; /* the transaction outlives a jump out of it, so it is not taken from there */
    struct evd_embedded_txn *txn = calloc(1, sizeof *txn);
    if (txn == NULL) return evd_store_status_result(EVD_STORE_UNAVAILABLE);
    if (!evd_session_begin(&txn->session, store, kind, deadline_ms)) {
        free(txn);
        return evd_store_status_result(EVD_STORE_UNAVAILABLE);
    }
    evd_gate_count_session(&store->gate, 1);
    *ret_txn = &txn->base;
    return evd_store_status_result(EVD_STORE_OK);
}

static void embedded_txn_close(struct evd_txn *base) {
    struct evd_embedded_txn *txn = (struct evd_embedded_txn *)base;
    struct evd_gate *gate = &((struct evd_embedded *)base->store)->gate;
    evd_session_end(&txn->session);
    evd_gate_release(gate, txn->pending);
    evd_gate_count_session(gate, -1);
    free(txn);
}

static struct evd_store_result embedded_probe(struct evd_store *base, int64_t deadline_ms) {
    struct evd_embedded *store = (struct evd_embedded *)base;
    (void)deadline_ms; /* nothing is waited for */
    if (evd_gate_is_poisoned(&store->gate)) return evd_store_status_result(EVD_STORE_UNAVAILABLE);
    bool full = evd_space_look(&store->space) < store->space.floor_bytes;
    return evd_store_status_result(full ? EVD_STORE_FULL : EVD_STORE_OK);
}

static void embedded_figures(struct evd_store *base, struct evd_store_figures *ret_figures) {
    struct evd_embedded *store = (struct evd_embedded *)base;
    *ret_figures = (struct evd_store_figures){
        .commits = atomic_load(&store->commits),
        .conflicts = atomic_load(&store->conflicts),
        .unknown = atomic_load(&store->unknown),
        .recoveries = atomic_load(&store->recoveries),
        .free_bytes = evd_space_look(&store->space),
        .open = !evd_gate_is_poisoned(&store->gate),
    };
}

static void embedded_free(struct evd_embedded *store) {
    evd_gate_done(&store->gate);
    evd_space_done(&store->space);
    evd_database_options_done(&store->options);
    free(store->directory);
    free(store);
}

static void embedded_close(struct evd_store *base) {
    struct evd_embedded *store = (struct evd_embedded *)base;
    evd_gate_close(&store->gate);
    (void)pthread_join(store->recovery, NULL);
    evd_database_close(&store->database);
    embedded_free(store);
}

static const struct evd_store_adapter embedded_adapter = {
    .txn_open = embedded_txn_open,
    .txn_get = evd_embedded_get,
    .txn_scan = evd_embedded_scan,
    .txn_commit = evd_embedded_commit,
    .txn_commit_again = evd_embedded_commit_again,
    .txn_close = embedded_txn_close,
    .swap = evd_embedded_swap,
    .probe = embedded_probe,
    .backup = evd_embedded_backup,
    .figures = embedded_figures,
    .close = embedded_close,
};

static void catalogue_check(const struct evd_catalogue *catalogue) {
    for (size_t i = 0; i < catalogue->index_count; i++) {
        const struct evd_index *index = &catalogue->indexes[i];
        assert(index->number < UINT8_MAX && index->path_count >= 1 && index->path_count <= EVD_STORE_INDEX_PATHS);
        assert(index->on < catalogue->collection_count && catalogue->collection_names[index->on] != NULL);
        for (size_t other = 0; other < i; other++)
            assert(catalogue->indexes[other].number != index->number);
    }
}

static struct evd_embedded *embedded_new(const struct evd_embedded_options *options) {
    struct evd_embedded *store = calloc(1, sizeof *store);
    if (store == NULL) return NULL;
    store->directory = strdup(options->directory);
    if (store->directory == NULL) {
        free(store);
        return NULL;
    }
    store->base = (struct evd_store){.adapter = &embedded_adapter, .catalogue = options->catalogue};
    store->clock = options->clock;
    evd_database_options_init(
        &store->options, options->write_buffer_bytes == 0 ? default_write_buffer_bytes : options->write_buffer_bytes,
        options->block_cache_bytes == 0 ? default_block_cache_bytes : options->block_cache_bytes);
    evd_gate_init(&store->gate, options->clock);
    evd_space_init(&store->space, store->directory, store->clock,
                   options->free_bytes_floor == 0 ? EVD_LIMIT_STORE_FREE_BYTES : options->free_bytes_floor);
    return store;
}

static bool embedded_start(struct evd_embedded *store, char ret_error[EVD_EMBEDDED_ERROR_BYTES]) {
    if (mkdir(store->directory, 0700) != 0 && errno != EEXIST)
        return EVD_REFUSE(ret_error, "The directory %s cannot be made: %s.", store->directory, strerrordesc_np(errno));
    if (!evd_space_suffices_to_open(&store->space))
        return EVD_REFUSE(ret_error, "The disk that holds %s has too little space left to open the store.",
                          store->directory);
    if (!evd_database_open(&store->database, &store->options, store->directory, true, ret_error)) return false;
    if (pthread_create(&store->recovery, NULL, evd_recovery_run, store) == 0) return true;
    evd_database_close(&store->database);
    return EVD_REFUSE(ret_error, "The store's recovery thread cannot be started.");
}

struct evd_store *evd_embedded_open(const struct evd_embedded_options *options,
                                    char ret_error[EVD_EMBEDDED_ERROR_BYTES]) {
    catalogue_check(options->catalogue);
    struct evd_embedded *store = embedded_new(options);
    if (store == NULL) {
        (void)EVD_REFUSE(ret_error, "There is no memory for the store.");
        return NULL;
    }
    if (embedded_start(store, ret_error)) return &store->base;
    embedded_free(store);
    return NULL;
}
