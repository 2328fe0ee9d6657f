/*
 * The embedded store: RocksDB in this process, one directory, durable before it answers, group commit.
 *
 * After any commit error but a conflict the handle is poisoned: the write may be absent now and there after
 * reopening. So the gate closes (UNAVAILABLE to newcomers), what is running ends, the database is reopened and has
 * flushed what it recovered, the fate of each pending commit is read back, and the gate opens. Only a commit whose
 * deadline ends before that is UNKNOWN.
 *
 * Index entries are written with their records: an index that is declared or changed later has no entries of the
 * records that were there before. Such a change is a new format.
 */
#ifndef EVIDENCED_STORE_EMBEDDED_H
#define EVIDENCED_STORE_EMBEDDED_H

#include "evidenced/store/store.h"

struct evd_clock;

struct evd_embedded_options {
    const char *directory;                 /* copied; the store's own; made when missing, with mode 0700 */
    const struct evd_catalogue *catalogue; /* borrowed for the store's life */
    const struct evd_clock *clock;         /* borrowed for the store's life; deadlines */
    uint64_t free_bytes_floor;             /* 0: EVD_LIMIT_STORE_FREE_BYTES */
    uint64_t write_buffer_bytes;           /* of all column families together; 0: 256 MiB */
    uint64_t block_cache_bytes;            /* 0: 32 MiB */
};

enum { EVD_EMBEDDED_FORMAT = 1, EVD_EMBEDDED_ERROR_BYTES = 512 };

/**
 * Open or create. On failure returns NULL and a sentence in ret_error for the operator: the directory is in use by
 * another process or by this one, was written by a newer format, has no space, is not ours, or what RocksDB said.
 *
 * Deadlines are instants of `clock`. What is left until one is waited for on the host's monotonic clock, so a clock
 * that stands still cannot make a caller hang.
 */
struct evd_store *evd_embedded_open(const struct evd_embedded_options *options,
                                    char ret_error[EVD_EMBEDDED_ERROR_BYTES]);

#endif
