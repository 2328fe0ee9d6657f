/*
 * The control file of faultfs, see faultfs.c. A test program that includes faultfs.c itself needs no file.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_FAULTFS_H
#define EVIDENCED_TESTS_SUPPORT_FAULTFS_H

#include <stdatomic.h>
#include <stdint.h>

#define FAULTFS_MAGIC "FAULTFS1"

enum { FAULTFS_TEXT_BYTES = 256 };

enum faultfs_call {
    FAULTFS_SYNC,  /* fsync, fdatasync, sync_file_range, syncfs */
    FAULTFS_WRITE, /* write, pwrite, writev, pwritev (not fwrite) */
    FAULTFS_SIZE,  /* ftruncate, fallocate, posix_fallocate */
    FAULTFS_OPEN,  /* open and openat that may create or write */
    FAULTFS_NAME,  /* rename, unlink, mkdir */
    FAULTFS_CALLS
};

/* What happens to the calls of one kind whose path matches. All fields may be changed at any time. */
struct faultfs_rule {
    _Atomic int64_t skip;        /* this many pass first; counted down */
    _Atomic int64_t fail;        /* then this many fail, counted down; −1: all, until changed */
    _Atomic int32_t error;       /* errno of a failing call; 0 with FAULTFS_WRITE: only short */
    _Atomic int32_t short_bytes; /* FAULTFS_WRITE: written by the next failing call, which then succeeds; then −1 */
    _Atomic int64_t delay_us;    /* every matching call takes this much longer */
    _Atomic int64_t seen;        /* matching calls so far */
    _Atomic int64_t failed;      /* of these made to fail */
};

struct faultfs_control {
    char magic[8];
    char prefix[FAULTFS_TEXT_BYTES];          /* paths below this; "" matches nothing */
    char part[FAULTFS_TEXT_BYTES];            /* and that contain this; "" for all: ".log" is RocksDB's log */
    _Atomic uint64_t free_bytes;              /* statvfs reports this much free; 0: the truth */
    struct faultfs_rule rules[FAULTFS_CALLS]; /* by enum faultfs_call */
};

/** Use this control instead of the file; NULL: none. For programs that include faultfs.c. */
void faultfs_use(struct faultfs_control *control);

#endif
