/*
 * Log: one JSON line per event, written by a thread of its own.
 *
 * Whoever logs never waits for the reader: a line is formatted on the caller's stack and copied, under a mutex held for
 * that copy only, into a ring of EVD_LOG_RING_BYTES. One writer thread empties it. A line that does not fit is dropped
 * and counted; an event `log-lines-dropped` (fields `lines`, `lines_ever`) stands where the gap is. Lines are written
 * in pieces of whole lines of at most PIPE_BUF bytes, so they do not interleave with those of another process on the
 * same pipe.
 *
 * There is no global log: whoever may log is given one. Library code is not.
 */
#ifndef EVIDENCED_BASE_LOG_H
#define EVIDENCED_BASE_LOG_H

#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVD_LOG_LINE_BYTES 4096 /* the longest line, its newline included */
#define EVD_LOG_RING_BYTES (1024 * 1024)
#define EVD_LOG_FLUSH_MS   500 /* what evd_log_free gives a slow reader */

struct evd_clock;
struct evd_log;

enum evd_log_level { EVD_LOG_ERROR, EVD_LOG_WARN, EVD_LOG_INFO, EVD_LOG_DEBUG };

enum evd_log_kind { EVD_LOG_TEXT, EVD_LOG_I64, EVD_LOG_U64, EVD_LOG_UUID, EVD_LOG_MS };

struct evd_log_field {
    const char *key; /* borrowed; `snake_case`, unit last, none of time, level, event, truncated */
    enum evd_log_kind kind;
    union {
        struct evd_text text; /* borrowed; any bytes */
        int64_t i64;
        uint64_t u64;
        evd_uuid uuid;
        double ms; /* printed with three decimals; not finite: null */
    } value;
};

#define EVD_LOG_FIELD_TEXT(name, of) ((struct evd_log_field){.key = (name), .kind = EVD_LOG_TEXT, .value.text = (of)})
#define EVD_LOG_FIELD_I64(name, of)  ((struct evd_log_field){.key = (name), .kind = EVD_LOG_I64, .value.i64 = (of)})
#define EVD_LOG_FIELD_U64(name, of)  ((struct evd_log_field){.key = (name), .kind = EVD_LOG_U64, .value.u64 = (of)})
#define EVD_LOG_FIELD_UUID(name, of) ((struct evd_log_field){.key = (name), .kind = EVD_LOG_UUID, .value.uuid = (of)})
#define EVD_LOG_FIELD_MS(name, of)   ((struct evd_log_field){.key = (name), .kind = EVD_LOG_MS, .value.ms = (of)})

/**
 * Start a log on a descriptor: a file, pipe, terminal or stream socket, blocking or not.
 *
 * fd      duplicated: the caller's may be closed at any time; its flags are left alone, because others may share it
 * level   the least grave level that is written
 * clock   borrowed; dates the lines
 *
 * Returns NULL, errno set, when fd is not open or there is no memory, descriptor or thread.
 */
struct evd_log *evd_log_new(int fd, enum evd_log_level level, const struct evd_clock *clock)
    __attribute__((warn_unused_result));

/** Write what is queued, for at most EVD_LOG_FLUSH_MS, and stop. NULL is fine. Nobody may be logging any more. When the
 * writer hangs in a write nothing can interrupt, it is left behind with its memory and writes nothing after it. */
void evd_log_free(struct evd_log *log);

/** From any thread; holds from the next event on. */
void evd_log_set_level(struct evd_log *log, enum evd_log_level level);

/** Would an event of this level be written? For callers whose fields are costly. NULL: no. */
bool evd_log_wants(const struct evd_log *log, enum evd_log_level level);

/**
 * Log an event: `{"time":"2026-03-01T09:30:00.000Z","level":"info","event":"request-ended", …the fields, in order}`.
 *
 * From any thread, never blocks on the descriptor. Each byte of a text that is no part of well-formed UTF-8 becomes
 * U+FFFD; control characters are escaped. When the line would be longer than EVD_LOG_LINE_BYTES, a text is cut, what
 * does not fit at all is left out, and `"truncated":true` is added: put the longest text last. NULL log: nothing.
 *
 * event    borrowed; `kebab-case`
 * fields   borrowed; may be NULL when count is 0
 */
void evd_log_event(struct evd_log *log, enum evd_log_level level, const char *event, const struct evd_log_field *fields,
                   size_t count);

/** Lines lost so far: the ring was full, or the descriptor refused them. */
uint64_t evd_log_dropped(struct evd_log *log);

/** `error`, `warn`, `info`, `debug`. */
const char *evd_log_level_name(enum evd_log_level level);

#endif
