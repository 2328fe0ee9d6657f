/*
 * What the files of the embedded store share. Nobody else includes this.
 *
 *   embedded.c   the adapter's table: open, probe, figures, close
 *   database.c   RocksDB's options and handles; what a directory must be to be ours
 *   gate.c       who may use the handles, and what happens when one is poisoned (read its essay first)
 *   recovery.c   the thread that reopens and resolves
 *   session.c    one snapshot with everything RocksDB lends us meanwhile
 *   read.c       get and scan
 *   commit.c     staging and committing; swap
 *   keys.c       bytes of record keys and index values
 *   entries.c    the index entries of a document
 *   space.c      the space gate
 *   backup.c
 */
#ifndef EVIDENCED_STORE_EMBEDDED_INTERNAL_H
#define EVIDENCED_STORE_EMBEDDED_INTERNAL_H

#include "evidenced/base/sha256.h"
#include "evidenced/store/adapter.h"
#include "evidenced/store/embedded.h"

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>

/* Keys: records project(16) collection(1) id(16); index number(1) project(16) values… id(16), value empty. */
enum {
    EVD_RECORD_KEY_BYTES = 33,
    EVD_INDEX_HEAD_BYTES = 17,
    EVD_INDEX_VALUE_BYTES = 1 + 2 * EVD_STORE_INDEX_TEXT_BYTES + 2, /* kind, every byte escaped, end */
    EVD_INDEX_KEY_BYTES = EVD_INDEX_HEAD_BYTES + EVD_STORE_INDEX_PATHS * EVD_INDEX_VALUE_BYTES + 16,
};

void evd_record_key_encode(const struct evd_key *key, uint8_t ret_bytes[EVD_RECORD_KEY_BYTES]);
size_t evd_index_head_encode(uint8_t number, evd_uuid project, uint8_t ret_bytes[EVD_INDEX_HEAD_BYTES]);
size_t evd_index_value_encode(const struct evd_value *value, uint8_t ret_bytes[EVD_INDEX_VALUE_BYTES]);

/* The first key behind all keys that begin with `prefix`, in place. A prefix never is all 0xFF: index numbers are
 * below 255. */
void evd_key_successor(uint8_t *prefix, size_t size_bytes);

/** Read a stored document: its version. False when it is not BSON, or its version not an int64. Borrows bytes. */
bool evd_document_image(const uint8_t *bytes, size_t size_bytes, struct evd_image *ret_image);

/* A document's index entries, sorted, each once. */
struct evd_entries {
    uint8_t *bytes;
    size_t size_bytes, capacity_bytes;
    struct evd_entry {
        size_t offset;
        uint32_t size_bytes;
    } * entries;
    size_t count, capacity;
};

enum evd_entries_status { EVD_ENTRIES_OK, EVD_ENTRIES_MALFORMED, EVD_ENTRIES_NO_MEMORY };

/** Replace what is in *entries by the entries of the document `image` (size 0: none) under `key`. */
enum evd_entries_status evd_entries_collect(struct evd_entries *entries, const struct evd_catalogue *catalogue,
                                            const struct evd_key *key, const struct evd_image *image);
void evd_entries_done(struct evd_entries *entries);

/** Walk both in order; call `drop` for what only `before` has and `add` for what only `after` has. */
void evd_entries_difference(const struct evd_entries *before, const struct evd_entries *after,
                            void (*drop)(void *self, const uint8_t *key, size_t size_bytes),
                            void (*add)(void *self, const uint8_t *key, size_t size_bytes), void *self);

/** A sentence into ret_error, as printf does; cut when it is too long. Always false, to be returned. */
#define EVD_REFUSE(ret_error, ...) ((void)snprintf((ret_error), EVD_EMBEDDED_ERROR_BYTES, __VA_ARGS__), false)

/* RocksDB's handles. */
enum evd_family { EVD_FAMILY_META, EVD_FAMILY_RECORDS, EVD_FAMILY_INDEX, EVD_FAMILY_COUNT };

struct evd_database_options {
    rocksdb_options_t *all, *records, *index; /* all: of the database, and of the family `default` */
    rocksdb_block_based_table_options_t *table, *records_table;
    rocksdb_cache_t *cache;
    rocksdb_writeoptions_t *write; /* synced */
    rocksdb_optimistictransaction_options_t *begin;
};

struct evd_database {
    rocksdb_optimistictransactiondb_t *transactional;
    rocksdb_t *base;
    rocksdb_column_family_handle_t *families[EVD_FAMILY_COUNT];
};

void evd_database_options_init(struct evd_database_options *options, uint64_t write_buffer_bytes,
                               uint64_t block_cache_bytes);
void evd_database_options_done(struct evd_database_options *options);

/** Open, or with may_create make, the database. False: nothing is open and ret_error says why, for an operator. */
bool evd_database_open(struct evd_database *database, const struct evd_database_options *options, const char *directory,
                       bool may_create, char ret_error[EVD_EMBEDDED_ERROR_BYTES]);
/** Everything in memory into synced files, and wait for it. */
bool evd_database_flush(struct evd_database *database, char ret_error[EVD_EMBEDDED_ERROR_BYTES]);
void evd_database_close(struct evd_database *database);

/* A commit whose fate RocksDB did not tell. One of its writes is the witness: it shows after reopening whether the
 * commit, which is all or nothing, landed. Counted references: its caller's and the gate's. Guarded by the gate. */
enum evd_fate { EVD_FATE_PENDING, EVD_FATE_LANDED, EVD_FATE_NOT_LANDED };

struct evd_pending {
    struct evd_pending *next;
    unsigned references;
    enum evd_fate fate;
    uint8_t witness[EVD_RECORD_KEY_BYTES];
    bool witness_is_absent; /* the write was a deletion */
    struct evd_sha256 witness_digest;
};

enum evd_gate_state { EVD_GATE_OPEN, EVD_GATE_DRAINING, EVD_GATE_REOPENING };

struct evd_gate {
    const struct evd_clock *clock;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* the gate opened, or fates were decided */
    pthread_cond_t work;    /* drained, or closing: for the recovery thread */
    enum evd_gate_state state;
    bool closing;
    size_t users;    /* inside: may touch the handles */
    size_t sessions; /* transactions that were opened and not closed */
    struct evd_pending *pendings;
    atomic_bool poisoned; /* state != OPEN, to be read without the mutex */
};

void evd_gate_init(struct evd_gate *gate, const struct evd_clock *clock);
void evd_gate_done(struct evd_gate *gate);

/** Wait for the gate to be open, at most until deadline_ms, and go in. False: it was not. */
bool evd_gate_enter(struct evd_gate *gate, int64_t deadline_ms);
void evd_gate_leave(struct evd_gate *gate);
bool evd_gate_is_poisoned(struct evd_gate *gate);

/** Close the gate at once: nobody inside tries another commit, nobody else comes in. */
void evd_gate_poison(struct evd_gate *gate);
/** Leave, with a commit to be resolved. The gate takes a reference of its own. */
void evd_gate_leave_pending(struct evd_gate *gate, struct evd_pending *pending);
/** Wait until the fate is decided, at most until deadline_ms. */
enum evd_fate evd_gate_await_fate(struct evd_gate *gate, struct evd_pending *pending, int64_t deadline_ms);
void evd_gate_release(struct evd_gate *gate, struct evd_pending *pending); /* NULL is fine */

/** Count transactions, so that closing too early is found. */
void evd_gate_count_session(struct evd_gate *gate, int change);

/* For the recovery thread. */
bool evd_gate_await_drained(struct evd_gate *gate);           /* false: closing */
bool evd_gate_pause(struct evd_gate *gate, int64_t pause_ms); /* false: closing */
void evd_gate_decide(struct evd_gate *gate, struct evd_pending *pending, enum evd_fate fate);
void evd_gate_open(struct evd_gate *gate);  /* all fates are decided */
void evd_gate_close(struct evd_gate *gate); /* ends all waits */

struct evd_space {
    char *directory;
    const struct evd_clock *clock;
    uint64_t floor_bytes;
    pthread_mutex_t mutex;
    int64_t read_at_ms;     /* of the last look at the disk */
    uint64_t free_bytes;    /* as found then */
    uint64_t written_bytes; /* by commits since */
    unsigned commits;       /* since */
};

void evd_space_init(struct evd_space *space, const char *directory, const struct evd_clock *clock,
                    uint64_t floor_bytes);
void evd_space_done(struct evd_space *space);
/** Free bytes on the disk, looked up now. */
uint64_t evd_space_look(struct evd_space *space);
/** May a commit of size_bytes go ahead? Looks at the disk now and then only, but always while it is full. */
bool evd_space_admits(struct evd_space *space, uint64_t size_bytes);
/** Enough for RocksDB to open and to write out what it recovers? */
bool evd_space_suffices_to_open(struct evd_space *space);

struct evd_embedded {
    struct evd_store base;
    const struct evd_clock *clock;
    char *directory;
    struct evd_database_options options;
    struct evd_database database; /* changed by the recovery thread while nobody is inside the gate */
    struct evd_gate gate;
    struct evd_space space;
    pthread_t recovery;
    atomic_ullong commits, conflicts, unknown, recoveries;
};

void *evd_recovery_run(void *embedded);

/*
 * A session: from entering the gate to leaving it. Holds whatever RocksDB lends. A read copies into an arena whose
 * exhaustion jumps past our frames; so pinned values are parked here first, and session_end, which the owner of the
 * transaction always reaches through evd_txn_close, lets them go.
 */
enum { EVD_SESSION_BATCH = 64 };

struct evd_session {
    struct evd_embedded *store;         /* NULL: not inside the gate */
    rocksdb_transaction_t *transaction; /* NULL when reading the latest */
    const rocksdb_snapshot_t *snapshot;
    rocksdb_readoptions_t *read_options;
    rocksdb_pinnableslice_t *pinned[EVD_SESSION_BATCH];
};

struct evd_embedded_txn {
    struct evd_txn base;
    struct evd_session session;
    struct evd_pending *pending;
};

/** Enter the gate and begin. False: the gate stayed closed. */
bool evd_session_begin(struct evd_session *session, struct evd_embedded *store, enum evd_read_kind kind,
                       int64_t deadline_ms);
/** Let everything go and leave the gate. May be called again. */
void evd_session_end(struct evd_session *session);
/** As end, but leave a commit to be resolved. */
void evd_session_end_pending(struct evd_session *session, struct evd_pending *pending);

/** Reading the latest: one instant a call. Otherwise nothing. */
void evd_session_refresh(struct evd_session *session);
void evd_session_unpin(struct evd_session *session);

/** The stored values of at most EVD_SESSION_BATCH keys into session->pinned, NULL where there is none. */
struct evd_store_result evd_session_pin(struct evd_session *session, const struct evd_key *keys, size_t stride_bytes,
                                        size_t count);

struct evd_store_result evd_embedded_get(struct evd_txn *txn, const struct evd_key *keys, size_t count,
                                         struct evd_image *ret_images);
struct evd_store_result evd_embedded_scan(struct evd_txn *txn, const struct evd_range *range, struct evd_key *ret_keys,
                                          struct evd_image *ret_images, size_t *ret_count);
struct evd_store_result evd_embedded_commit(struct evd_txn *txn, const struct evd_write *writes, size_t count);
struct evd_store_result evd_embedded_commit_again(struct evd_txn *txn, int64_t deadline_ms);
struct evd_store_result evd_embedded_swap(struct evd_store *store, const struct evd_write *write, int64_t deadline_ms);
struct evd_store_result evd_embedded_backup(struct evd_store *store, const char *directory);

static inline struct evd_store_result evd_store_status_result(enum evd_store_status status) {
    return (struct evd_store_result){.status = status};
}

static inline struct evd_store_result evd_store_key_result(enum evd_store_status status, const struct evd_key *key) {
    return (struct evd_store_result){.status = status, .key = *key};
}

#endif
