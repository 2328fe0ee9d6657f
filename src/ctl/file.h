/*
 * Files: read whole, sent as a stream, written whole or not at all.
 */
#ifndef EVIDENCED_SRC_CTL_FILE_H
#define EVIDENCED_SRC_CTL_FILE_H

#include "context.h"
#include "wire.h"

#include <sys/types.h>

/** A whole file, `-`: standard input, of at most so many bytes, into the run's arena, NUL behind it. DONE; or FAILED,
 * said. */
enum evd_ctl_exit evd_ctl_file_read(struct evd_ctl *ctl, const char *path, size_t most_bytes,
                                    struct evd_text *ret_text);

/** A JSON file as above, whose syntax is checked so that a slip is named by line and column. */
enum evd_ctl_exit evd_ctl_file_read_json(struct evd_ctl *ctl, const char *path, size_t most_bytes,
                                         struct evd_text *ret_text);

/** Open a file to be sent: a regular one as it is; anything else, and `-`, copied to a nameless file first, so that it
 * can be sent again. The descriptor is the caller's. DONE; or FAILED, said. */
enum evd_ctl_exit evd_ctl_file_open(struct evd_ctl *ctl, const char *path, int *ret_file, size_t *ret_bytes);

/* Where an answer is written. A regular file appears under its name when it is whole, and never otherwise; a device or
 * a pipe is written as it comes. */
struct evd_ctl_output {
    struct evd_ctl *ctl;
    int fd;
    char *part;  /* the name until it is whole; NULL: written directly */
    char *final; /* the name then */
    const char *shown;
    struct evd_ctl_sink sink;
};

/** Open. path NULL or `-`: standard output. DONE; or FAILED, said. */
enum evd_ctl_exit evd_ctl_output_open(struct evd_ctl *ctl, const char *path, struct evd_ctl_output *ret_output);

/** Close. With status DONE what was written becomes the file; otherwise it goes. Returns the status, or FAILED, said,
 * when the file could not be finished. */
enum evd_ctl_exit evd_ctl_output_close(struct evd_ctl_output *output, enum evd_ctl_exit status);

#endif
