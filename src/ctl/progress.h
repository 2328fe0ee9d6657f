/*
 * A progress bar on standard error, when that is a terminal; otherwise nothing at all.
 */
#ifndef EVIDENCED_SRC_CTL_PROGRESS_H
#define EVIDENCED_SRC_CTL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct evd_ctl_progress {
    const char *doing; /* "Uploading" */
    bool is_shown;     /* on a terminal */
    bool is_drawn;     /* there is a line to clear */
    unsigned width;    /* of the terminal */
    int64_t drawn_ms;  /* when; drawn at most ten times a second */
};

/** Is standard error a terminal? */
bool evd_ctl_progress_is_wanted(void);

/** Begin, unless !wanted. doing: borrowed. */
void evd_ctl_progress_init(struct evd_ctl_progress *progress, const char *doing, bool wanted);

/** So many of so many bytes, total 0: unknown. */
void evd_ctl_progress_bytes(struct evd_ctl_progress *progress, uint64_t done, uint64_t total);

/** So many of so many rows, total 0: unknown. */
void evd_ctl_progress_rows(struct evd_ctl_progress *progress, uint64_t done, uint64_t total);

/** Clear the line, so that something else can be said. */
void evd_ctl_progress_clear(struct evd_ctl_progress *progress);

#endif
