/*
 * The store port: everything the runtime may ask of a database, and nothing else.
 *
 * A store keeps BSON documents under keys (project, collection, id) and answers range scans over declared indexes.
 * It knows bytes, versions and index paths; what a document means is the business of records/. Two adapters
 * implement the port (embedded: RocksDB; mongo: libmongoc) and the simulator's store; `struct evd_store_adapter` is
 * the seam between them.
 *
 * Isolation is plain snapshot isolation on every adapter. Reads never conflict: a command that decides on a record
 * it does not write is protected by the Study write, by a fence and its drain, or it writes that record too.
 *
 * A key carries its project, so a command cannot reach another project's record even with the right id, and
 * documents shard by (project, id). Records outside projects use the nil project.
 *
 * Threads: a store is shared; a transaction belongs to one thread at a time.
 */
#ifndef EVIDENCED_STORE_STORE_H
#define EVIDENCED_STORE_STORE_H

#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_arena;
struct evd_store;
struct evd_txn;

/* A collection's number in the catalogue. It is part of stored keys: never renumber. */
typedef uint8_t evd_collection;

struct evd_key {
    evd_uuid project, id;
    evd_collection in;
};

/* A document as stored. size 0: no such record. The bytes live in the arena the transaction was opened with. */
struct evd_image {
    const uint8_t *bson;
    uint32_t size_bytes; /* at most EVD_LIMIT_DOCUMENT_BYTES */
    int64_t version;     /* the document's top-level `version`, an int64; 0 when there is none */
};

enum evd_value_kind { EVD_VALUE_UUID, EVD_VALUE_I64, EVD_VALUE_TEXT, EVD_VALUE_BOOL };

struct evd_value {
    enum evd_value_kind kind;
    union {
        evd_uuid uuid;
        int64_t i64;          /* int32, int64 and date-time fields */
        struct evd_text text; /* borrowed; at most EVD_STORE_INDEX_TEXT_BYTES are indexed */
        bool boolean;
    };
};

enum { EVD_STORE_INDEX_PATHS = 6, EVD_STORE_INDEX_TEXT_BYTES = 256 };

/*
 * An index: never unique (uniqueness is by key). `paths` are dotted; the first is always the project, implied by
 * the key and not listed. At most one path passes through an array, and through one only, which makes one entry an
 * element, equal elements one entry together; scans give such a path among the equal ones, or they see a document once
 * an entry. A document in which a path is absent, or of none of the kinds above, has no entry: that is what "partial"
 * means. Entries are ordered by the paths' values, then by id: numbers by value, texts and UUIDs by bytes. Texts that
 * agree in their first EVD_STORE_INDEX_TEXT_BYTES count as equal.
 */
struct evd_index {
    const char *name;
    evd_collection on;
    uint8_t number; /* part of stored keys: never renumber */
    uint8_t path_count;
    const char *paths[EVD_STORE_INDEX_PATHS];
};

struct evd_catalogue {
    const char *const *collection_names; /* by number; NULL: the number is not used */
    size_t collection_count;
    const struct evd_index *indexes;
    size_t index_count;
};

/*
 * The documents of one project whose first `equal_count` index values equal `equal`, in index order.
 * after: NULL to start at the beginning, else the remaining index values of the last document seen (path_count −
 * equal_count of them; when that is none, any pointer but NULL), and `after_id` its id; the scan goes on behind it,
 * whether that document is still there or not.
 */
struct evd_range {
    const struct evd_index *index;
    evd_uuid project;
    const struct evd_value *equal;
    size_t equal_count;
    const struct evd_value *after;
    evd_uuid after_id;
    bool descending;
    size_t limit; /* at least 1 */
};

enum evd_write_kind {
    EVD_INSERT,      /* the key must be free, else DUPLICATE */
    EVD_INSERT_ONCE, /* already there is success and leaves what is there */
    EVD_REPLACE,     /* the stored version must equal before.version, else CONFLICT */
    EVD_DELETE       /* as REPLACE */
};

struct evd_write {
    enum evd_write_kind kind;
    struct evd_key key;
    struct evd_image before,
        after; /* before: as read, names the index entries to drop. Borrowed until the call returns */
};

enum evd_store_status {
    EVD_STORE_OK,
    EVD_STORE_CONFLICT,    /* another commit came first; nothing was written; run the whole command again */
    EVD_STORE_DUPLICATE,   /* an INSERT's key was there in the snapshot; nothing was written */
    EVD_STORE_UNKNOWN,     /* the commit's fate is not known yet */
    EVD_STORE_UNAVAILABLE, /* the store cannot be reached or is recovering; nothing was written */
    EVD_STORE_FULL,        /* no space left within the safety margin; nothing was written */
    EVD_STORE_CORRUPT      /* stored bytes are not what was written */
};

struct evd_store_result {
    enum evd_store_status status;
    struct evd_key key; /* CONFLICT, DUPLICATE, CORRUPT: the record, where the adapter can name it; else zero */
};

enum evd_read_kind { EVD_READ_SNAPSHOT, EVD_READ_LATEST };

#define EVD_STORE_RESULT __attribute__((warn_unused_result)) struct evd_store_result

/**
 * Begin. SNAPSHOT: all reads see one instant, and commit conflicts with writes after it. LATEST: each read sees the
 * newest committed state; such a transaction cannot commit. deadline_ms: monotonic; a store that is recovering may
 * be waited for until then. arena: borrowed; holds everything the transaction reads.
 */
EVD_STORE_RESULT evd_txn_open(struct evd_store *store, enum evd_read_kind kind, int64_t deadline_ms,
                              struct evd_arena *arena, struct evd_txn **ret_txn);

/** The documents under many keys in one call; ret_images[i] belongs to keys[i], size 0 where there is none. */
EVD_STORE_RESULT evd_txn_get(struct evd_txn *txn, const struct evd_key *keys, size_t count,
                             struct evd_image *ret_images);

/** At most range->limit documents in index order into ret_images (room for limit), their keys into ret_keys. */
EVD_STORE_RESULT evd_txn_scan(struct evd_txn *txn, const struct evd_range *range, struct evd_key *ret_keys,
                              struct evd_image *ret_images, size_t *ret_count);

/**
 * All the writes or none, durable before it returns OK. Ends the transaction's reads, whatever the answer; only close
 * and, after UNKNOWN, commit_again may follow. No key may occur twice. No writes: OK.
 *
 * An adapter resolves a commit of unknown fate itself while the deadline lasts. CONFLICT without a key: the commit
 * failed and is known not to have landed. An INSERT or INSERT_ONCE that another commit overtook after the snapshot
 * is CONFLICT too: the command that runs again sees the record.
 */
EVD_STORE_RESULT evd_txn_commit(struct evd_txn *txn, const struct evd_write *writes, size_t count);

/** After UNKNOWN only: wait once more, until deadline_ms, to learn the fate of that same commit. */
EVD_STORE_RESULT evd_txn_commit_again(struct evd_txn *txn, int64_t deadline_ms);

/** Ends the transaction; what was not committed is gone. NULL is fine. */
void evd_txn_close(struct evd_txn *txn);

/** One write without a transaction, guarded and durable as a commit is. UNKNOWN: the caller reads the record to learn
 * the fate. */
EVD_STORE_RESULT evd_store_swap(struct evd_store *store, const struct evd_write *write, int64_t deadline_ms);

/** Is the store able to commit right now (open, not recovering, enough space)? Writes nothing. */
EVD_STORE_RESULT evd_store_probe(struct evd_store *store, int64_t deadline_ms);

/** A consistent, openable copy into `directory`, which must not exist; commits go on meanwhile. UNAVAILABLE: the
 * store is recovering, or the directory exists or cannot be made; what was begun is removed. */
EVD_STORE_RESULT evd_store_backup(struct evd_store *store, const char *directory);

/* What a call did, for budget tests and metrics: `get`, `scan`, `insert`, `replace`, `delete` or `swap`, and how many
 * records: keys asked for, documents found by a scan, writes handed over. */
typedef void evd_store_observer(void *self, const char *call, evd_collection in, size_t records);

/** One observer at a time, NULL for none. Called on the calling thread after the store answered, whatever the answer:
 * once a collection for get; for commit once a collection for each of `insert` (both kinds), `replace`, `delete`, in
 * this order; once for a scan or swap. Collections come in ascending order. Set it before the store is shared. */
void evd_store_observe(struct evd_store *store, evd_store_observer *observer, void *self);

struct evd_store_figures {
    uint64_t commits, conflicts, unknown, recoveries, free_bytes;
    bool open; /* the gate is open */
};
void evd_store_figures(struct evd_store *store, struct evd_store_figures *ret_figures);

/** Ends everything; no transaction may be open. NULL is fine. */
void evd_store_close(struct evd_store *store);

/** `ok`, `conflict`, … for messages and labels. */
const char *evd_store_status_name(enum evd_store_status status);

#endif
