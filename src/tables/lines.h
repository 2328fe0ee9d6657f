/*
 * Lines of a text that end in LF, CR or CR LF, in time that grows with the text whatever it ends its lines in.
 */
#ifndef TABLES_LINES_H
#define TABLES_LINES_H

#include "evidenced/base/text.h"

struct evd_lines {
    struct evd_text content; /* borrowed */
    size_t at;               /* where the next line begins */
    size_t next_cr, next_lf; /* the first at or behind `at`, the content's size when there is none */
};

void evd_lines_init(struct evd_lines *lines, struct evd_text content, size_t at);

/**
 * The next line with its end, or its next `most_bytes` when it is longer; CR LF are never parted. most_bytes: at
 * least 2. False at the end. Borrows from the content.
 */
bool evd_lines_take(struct evd_lines *lines, size_t most_bytes, struct evd_text *ret_piece);

#endif
