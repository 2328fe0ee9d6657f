/*
 * Spool: bodies that are too large to be held in memory while they arrive, each a file without a name.
 *
 * A body's file is made at its whole size before the first byte arrives, so that a full disk is told then and not in
 * mid-upload, and mapped, so that the body is one contiguous text. A file without a name is gone with its process,
 * however that ends. What all bodies take together is bounded, and the disk is left the space the store needs.
 *
 * Any thread.
 */
#ifndef EVIDENCED_HTTP_SPOOL_H
#define EVIDENCED_HTTP_SPOOL_H

#include <stddef.h>
#include <stdint.h>

struct evd_spool;

enum { EVD_SPOOL_ERROR_BYTES = 512 };

struct evd_spool_options {
    const char *directory;     /* made when it is missing, with mode 0700 */
    uint64_t most_bytes;       /* of all bodies at once */
    uint64_t free_bytes_floor; /* what must be free on the disk beside them */
};

/** NULL with a sentence in ret_error when the directory cannot be made or files cannot be made in it. */
struct evd_spool *evd_spool_open(const struct evd_spool_options *options, char ret_error[EVD_SPOOL_ERROR_BYTES]);

/** Nothing may be in it. NULL is fine. */
void evd_spool_close(struct evd_spool *spool);

enum evd_spool_status {
    EVD_SPOOL_OK,
    EVD_SPOOL_BUSY, /* the others take too much now */
    EVD_SPOOL_FULL  /* the disk has no room for it, or fails */
};

/* A place for one body. All zero: none. */
struct evd_spooled {
    char *bytes; /* zeroed, to be written and read */
    size_t size_bytes;
};

/** Take a place for size_bytes, at least 1. Anything but OK leaves *ret_spooled alone. */
enum evd_spool_status evd_spool_take(struct evd_spool *spool, size_t size_bytes, struct evd_spooled *ret_spooled)
    __attribute__((warn_unused_result));

/** Give it back; *spooled is none then. Fine when it is none, whatever spool is. */
void evd_spool_give_back(struct evd_spool *spool, struct evd_spooled *spooled);

/** What all bodies take now. */
uint64_t evd_spool_held_bytes(struct evd_spool *spool);

#endif
