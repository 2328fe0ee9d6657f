/*
 * The ring is a stream of bytes, `used` of them from `head` on, that always begins and ends at a line's border. The
 * writer copies a piece of whole lines out under the mutex and writes it without. Everything below `mutex` in the
 * struct is guarded by it; `piece`, `torn` and `is_sick` are the writer's own.
 *
 * Two references: the owner's and the writer's. Normally free joins the writer; only a writer that hangs in write(2)
 * is detached, and then frees the log itself when, and if, the call returns.
 */
#include "evidenced/base/log.h"

#include "evidenced/base/clock.h"
#include "log_line.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(EVD_LOG_LINE_BYTES <= PIPE_BUF, "a line is written to a pipe whole or not at all");

enum { POLL_MS = 50, GRACE_MS = 200, NOTICE_BYTES = 256 };

struct evd_log {
    int fd; /* its own duplicate: a writer left behind must never write to what took the caller's number */
    bool is_socket;
    const struct evd_clock *clock;
    atomic_int level;
    atomic_uint_least64_t lost; /* lines, ever */
    atomic_llong give_up_us;    /* the host's monotonic clock; INT64_MAX while the log lives */
    pthread_t writer;
    char piece[EVD_LOG_LINE_BYTES];
    bool torn;    /* the last piece was given up inside a line */
    bool is_sick; /* the last piece was not written whole; the next event tries again, the writer alone does not */

    pthread_mutex_t mutex;
    pthread_cond_t fed, ended;
    bool stopping, abandoned, has_ended;
    uint64_t unreported; /* lines dropped since the last notice */
    size_t head, used;
    char ring[EVD_LOG_RING_BYTES];
};

const char *evd_log_level_name(enum evd_log_level level) {
    static const char *const names[] = {"error", "warn", "info", "debug"};
    return names[level];
}

void evd_log_set_level(struct evd_log *log, enum evd_log_level level) {
    atomic_store_explicit(&log->level, (int)level, memory_order_relaxed);
}

bool evd_log_wants(const struct evd_log *log, enum evd_log_level level) {
    return log != NULL && (int)level <= atomic_load_explicit(&log->level, memory_order_relaxed);
}

uint64_t evd_log_dropped(struct evd_log *log) {
    return atomic_load_explicit(&log->lost, memory_order_relaxed);
}

static void push(struct evd_log *log, const char *bytes, size_t size_bytes) {
    size_t tail = (log->head + log->used) % EVD_LOG_RING_BYTES;
    size_t first = EVD_LOG_RING_BYTES - tail < size_bytes ? EVD_LOG_RING_BYTES - tail : size_bytes;
    assert(size_bytes <= EVD_LOG_RING_BYTES - log->used);
    memcpy(log->ring + tail, bytes, first);
    memcpy(log->ring, bytes + first, size_bytes - first);
    log->used += size_bytes;
}

/* Put the notice of a gap where the gap is. False: there is no room for it and `then` bytes more. */
static bool push_notice(struct evd_log *log, size_t then) {
    if (log->unreported == 0) return EVD_LOG_RING_BYTES - log->used >= then;
    if (EVD_LOG_RING_BYTES - log->used < NOTICE_BYTES + then) return false;
    struct evd_log_line line;
    const struct evd_log_field counts[] = {EVD_LOG_FIELD_U64("lines", log->unreported),
                                           EVD_LOG_FIELD_U64("lines_ever", evd_log_dropped(log))};
    evd_log_line_format(&line, evd_clock_wall_ms(log->clock), EVD_LOG_WARN, "log-lines-dropped", counts, 2);
    assert(line.size_bytes <= NOTICE_BYTES);
    push(log, line.bytes, line.size_bytes);
    log->unreported = 0;
    return true;
}

static void count_lost(struct evd_log *log, uint64_t lines) {
    log->unreported += lines;
    atomic_fetch_add_explicit(&log->lost, lines, memory_order_relaxed);
}

void evd_log_event(struct evd_log *log, enum evd_log_level level, const char *event, const struct evd_log_field *fields,
                   size_t count) {
    if (!evd_log_wants(log, level)) return;
    struct evd_log_line line;
    evd_log_line_format(&line, evd_clock_wall_ms(log->clock), level, event, fields, count);
    (void)pthread_mutex_lock(&log->mutex);
    bool was_empty = log->used == 0;
    if (push_notice(log, line.size_bytes))
        push(log, line.bytes, line.size_bytes);
    else
        count_lost(log, 1);
    (void)pthread_mutex_unlock(&log->mutex);
    if (was_empty) (void)pthread_cond_signal(&log->fed);
}

/* The size of the longest run of whole lines in the first piece's worth of the ring. */
static size_t whole_lines(const struct evd_log *log) {
    size_t size = log->used < sizeof log->piece ? log->used : sizeof log->piece;
    while (log->ring[(log->head + size - 1) % EVD_LOG_RING_BYTES] != '\n')
        size--;
    return size;
}

/* Wait for lines and move a piece of them to log->piece. 0: there are none and there will be none. */
static size_t take_piece(struct evd_log *log) {
    size_t size = 0;
    (void)pthread_mutex_lock(&log->mutex);
    while (log->used == 0 && (log->unreported == 0 || log->is_sick) && !log->stopping)
        (void)pthread_cond_wait(&log->fed, &log->mutex);
    if (log->used == 0 && !log->is_sick) (void)push_notice(log, 0);
    if (log->used > 0 && !log->abandoned) {
        size = whole_lines(log);
        size_t first = EVD_LOG_RING_BYTES - log->head < size ? EVD_LOG_RING_BYTES - log->head : size;
        memcpy(log->piece, log->ring + log->head, first);
        memcpy(log->piece + first, log->ring, size - first);
        log->head = (log->head + size) % EVD_LOG_RING_BYTES;
        log->used -= size;
    }
    (void)pthread_mutex_unlock(&log->mutex);
    return size;
}

/* What the host's clock says, not the log's: how long a reader is waited for is real time even in a test. */
static int64_t host_us(void) {
    return evd_clock_monotonic_us(evd_clock_system());
}

static bool is_given_up(const struct evd_log *log) {
    return host_us() >= atomic_load_explicit(&log->give_up_us, memory_order_relaxed);
}

/* Write it all. Returns how much was written before the descriptor failed or the log was given up. */
static size_t write_out(struct evd_log *log, const char *bytes, size_t size_bytes) {
    size_t done = 0;
    while (done < size_bytes && !is_given_up(log)) {
        struct pollfd ready = {.fd = log->fd, .events = POLLOUT};
        if (poll(&ready, 1, POLL_MS) != 1) continue;
        ssize_t size = log->is_socket ? send(log->fd, bytes + done, size_bytes - done, MSG_DONTWAIT | MSG_NOSIGNAL)
                                      : write(log->fd, bytes + done, size_bytes - done);
        if (size < 0 && errno != EINTR && errno != EAGAIN) break;
        if (size > 0) done += (size_t)size;
    }
    return done;
}

static void write_piece(struct evd_log *log, size_t size_bytes) {
    if (log->torn) log->torn = write_out(log, "\n", 1) == 0;
    size_t done = log->torn ? 0 : write_out(log, log->piece, size_bytes);
    log->is_sick = done < size_bytes;
    if (!log->is_sick) return;
    if (done > 0) log->torn = log->piece[done - 1] != '\n';
    uint64_t lines = 0;
    for (size_t i = done; i < size_bytes; i++)
        lines += log->piece[i] == '\n';
    (void)pthread_mutex_lock(&log->mutex);
    count_lost(log, lines);
    (void)pthread_mutex_unlock(&log->mutex);
}

static void destroy(struct evd_log *log) {
    (void)pthread_cond_destroy(&log->fed);
    (void)pthread_cond_destroy(&log->ended);
    (void)pthread_mutex_destroy(&log->mutex);
    (void)close(log->fd);
    free(log);
}

static void *run(void *argument) {
    struct evd_log *log = argument;
    for (size_t size; (size = take_piece(log)) > 0;)
        write_piece(log, size);
    (void)pthread_mutex_lock(&log->mutex);
    bool is_mine = log->abandoned;
    log->has_ended = true;
    (void)pthread_cond_signal(&log->ended);
    (void)pthread_mutex_unlock(&log->mutex);
    if (is_mine) destroy(log);
    return NULL;
}

/* No signal belongs to the writer; above all not the SIGPIPE of a reader that has gone. */
static int start_writer(struct evd_log *log) {
    sigset_t all, before;
    (void)sigfillset(&all);
    int failed = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (failed != 0) return failed;
    failed = pthread_create(&log->writer, NULL, run, log);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

struct evd_log *evd_log_new(int fd, enum evd_log_level level, const struct evd_clock *clock) {
    struct stat status;
    struct evd_log *log = malloc(sizeof *log);
    if (log == NULL) return NULL;
    memset(log, 0, offsetof(struct evd_log, ring)); /* the ring's pages come when they are used */
    log->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (log->fd < 0) {
        free(log);
        return NULL;
    }
    log->is_socket = fstat(log->fd, &status) == 0 && S_ISSOCK(status.st_mode);
    log->clock = clock;
    atomic_init(&log->level, (int)level);
    atomic_init(&log->give_up_us, INT64_MAX);
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&log->mutex, NULL);
    (void)pthread_cond_init(&log->fed, NULL);
    (void)pthread_cond_init(&log->ended, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    int failed = start_writer(log);
    if (failed != 0) {
        destroy(log);
        errno = failed;
        return NULL;
    }
    return log;
}

static struct timespec at_us(int64_t us) {
    return (struct timespec){.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
}

void evd_log_free(struct evd_log *log) {
    if (log == NULL) return;
    int64_t give_up_us = host_us() + EVD_LOG_FLUSH_MS * INT64_C(1000);
    struct timespec latest = at_us(give_up_us + (POLL_MS + GRACE_MS) * INT64_C(1000));
    (void)pthread_mutex_lock(&log->mutex);
    atomic_store_explicit(&log->give_up_us, give_up_us, memory_order_relaxed);
    log->stopping = true;
    (void)pthread_cond_signal(&log->fed);
    int late = 0;
    while (!log->has_ended && late == 0)
        late = pthread_cond_timedwait(&log->ended, &log->mutex, &latest);
    log->abandoned = !log->has_ended;
    bool hangs = log->abandoned;
    pthread_t writer = log->writer;
    if (hangs) (void)pthread_detach(writer);
    (void)pthread_mutex_unlock(&log->mutex);
    if (hangs) return; /* the writer frees it */
    (void)pthread_join(writer, NULL);
    destroy(log);
}
