/*
 * One line of the log, formatted in place. Private to the log.
 */
#ifndef EVIDENCED_SRC_BASE_LOG_LINE_H
#define EVIDENCED_SRC_BASE_LOG_LINE_H

#include "evidenced/base/log.h"

struct evd_log_line {
    size_t size_bytes; /* the newline included */
    bool is_cut;
    char bytes[EVD_LOG_LINE_BYTES];
};

/** Format an event dated wall_ms, cut to fit as evd_log_event says. Always a whole JSON object and a newline. */
void evd_log_line_format(struct evd_log_line *line, int64_t wall_ms, enum evd_log_level level, const char *event,
                         const struct evd_log_field *fields, size_t count);

#endif
