#include "internal.h"

#include "evidenced/base/limits.h"

#include <assert.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { DEFAULT_THREADS = 2, DEFAULT_CONNECTIONS = 1024, DEFAULT_IDLE_SECONDS = 30, DEFAULT_REQUEST_MS = 15000 };
enum { CLOSING_GRACE_S = 1 };

static struct evd_http_server *fail(struct evd_http_server *server, char ret_error[256], const char *what) {
    if (what != NULL) (void)snprintf(ret_error, 256, "%s", what);
    if (server->daemon != NULL) MHD_stop_daemon(server->daemon);
    evd_listener_close(&server->listener);
    if (server->wake_fd >= 0) (void)close(server->wake_fd);
    pthread_mutex_destroy(&server->mutex);
    pthread_cond_destroy(&server->drained);
    free(server);
    return NULL;
}

static void fill_defaults(struct evd_http_server_options *options) {
    if (options->threads == 0) options->threads = DEFAULT_THREADS;
    if (options->connections == 0) options->connections = DEFAULT_CONNECTIONS;
    if (options->idle_seconds == 0) options->idle_seconds = DEFAULT_IDLE_SECONDS;
    if (options->request_ms == 0) options->request_ms = DEFAULT_REQUEST_MS;
    if (options->arena_cap_bytes == 0) options->arena_cap_bytes = EVD_LIMIT_CALL_ARENA_BYTES;
}

/* What the library says can hold what a client sent; it is counted only. */
static void count_complaint(void *self, const char *format, va_list arguments) {
    struct evd_http_server *server = self;
    (void)format;
    (void)arguments;
    atomic_fetch_add_explicit(&server->complaints, 1, memory_order_relaxed);
}

/* The guard decodes targets itself: the library's own decoding loses what follows an escaped NUL. */
static size_t leave_escapes(void *self, struct MHD_Connection *mhd, char *text) {
    (void)self;
    (void)mhd;
    return strlen(text);
}

static struct MHD_Daemon *start_daemon(struct evd_http_server *server) {
    const struct evd_http_server_options *options = &server->options;
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                     MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG;
    /* The limit is the acceptor's to keep; the library divides its own among its threads, so it gets room. */
    struct MHD_OptionItem pool[] = {{MHD_OPTION_THREAD_POOL_SIZE, options->threads, NULL}, {MHD_OPTION_END, 0, NULL}};
    unsigned limit = options->connections * options->threads;
    return MHD_start_daemon(flags, 0, NULL, NULL, evd_http_exchange_proceed, server, MHD_OPTION_EXTERNAL_LOGGER,
                            count_complaint, server, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)EVD_HTTP_MEMORY_BYTES,
                            MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
                            MHD_OPTION_NOTIFY_CONNECTION, evd_http_connection_notify, server,
                            MHD_OPTION_URI_LOG_CALLBACK, evd_http_exchange_begin, server, MHD_OPTION_UNESCAPE_CALLBACK,
                            leave_escapes, NULL, MHD_OPTION_NOTIFY_COMPLETED, evd_http_exchange_end, server,
                            MHD_OPTION_ARRAY, options->threads > 1 ? pool : pool + 1, MHD_OPTION_END);
}

/* Signals are the program's main thread's. */
static bool start_threads(struct evd_http_server *server) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    server->daemon = start_daemon(server);
    bool started = server->daemon != NULL && evd_http_acceptor_start(server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

struct evd_http_server *evd_http_server_open(const struct evd_http_server_options *options, char ret_error[256]) {
    struct evd_http_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        (void)snprintf(ret_error, 256, "Out of memory.");
        return NULL;
    }
    server->options = *options;
    fill_defaults(&server->options);
    server->listener.fd = -1;
    pthread_mutex_init(&server->mutex, NULL);
    pthread_cond_init(&server->drained, NULL);
    server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->wake_fd < 0) return fail(server, ret_error, "Cannot make an eventfd.");
    if (!evd_listener_open(options->listen, &server->listener, ret_error)) return fail(server, ret_error, NULL);
    server->port = server->listener.port;
    if (!start_threads(server)) return fail(server, ret_error, "Cannot start the server's threads.");
    return server;
}

uint16_t evd_http_server_port(const struct evd_http_server *server) {
    return server->port;
}

size_t evd_http_server_in_flight(const struct evd_http_server *server) {
    return atomic_load(&server->in_flight);
}

size_t evd_http_server_connections(const struct evd_http_server *server) {
    return atomic_load(&server->connection_count);
}

size_t evd_http_server_complaints(const struct evd_http_server *server) {
    return atomic_load(&server->complaints);
}

void evd_http_server_quiesce(struct evd_http_server *server) {
    if (atomic_exchange(&server->quiesced, true)) return;
    evd_http_acceptor_wake(server);
    pthread_join(server->acceptor, NULL);
    evd_listener_close(&server->listener);
}

/*
 * The library aborts the process when it is stopped with a suspended connection, so none may be: a head that is
 * complete after `closing` is refused and never handed over; take_head counts itself in before it looks at `closing`,
 * so whatever it did not refuse is waited for here. Clients that are slow to take their response are cut after a
 * moment; the application's answers are not hurried.
 */
static void drain(struct evd_http_server *server) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CLOSING_GRACE_S;
    atomic_store(&server->closing, true);
    pthread_mutex_lock(&server->mutex);
    while (atomic_load(&server->in_flight) > 0)
        if (pthread_cond_timedwait(&server->drained, &server->mutex, &until) != 0) break;
    evd_http_connections_cut(server);
    while (atomic_load(&server->in_flight) > 0)
        pthread_cond_wait(&server->drained, &server->mutex);
    pthread_mutex_unlock(&server->mutex);
}

void evd_http_server_close(struct evd_http_server *server) {
    if (server == NULL) return;
    evd_http_server_quiesce(server);
    drain(server);
    MHD_stop_daemon(server->daemon);
    assert(atomic_load(&server->in_flight) == 0 && server->connections == NULL);
    evd_http_linger_reap(server, 0, true);
    (void)close(server->wake_fd);
    pthread_mutex_destroy(&server->mutex);
    pthread_cond_destroy(&server->drained);
    free(server);
}
