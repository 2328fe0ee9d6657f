#include "internal.h"

#include "evidenced/base/clock.h"

#include <arpa/inet.h>
#include <sys/socket.h>

static void describe_peer(struct evd_http_connection *connection, const struct sockaddr *address) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    connection->peer_uid = UINT32_MAX;
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)address;
        (void)inet_ntop(AF_INET, &v4->sin_addr, connection->peer, sizeof connection->peer);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)address;
        bool mapped = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
        (void)inet_ntop(mapped ? AF_INET : AF_INET6, v6->sin6_addr.s6_addr + (mapped ? 12 : 0), connection->peer,
                        sizeof connection->peer);
    } else {
        memcpy(connection->peer, "unix", sizeof "unix");
        if (getsockopt(connection->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) connection->peer_uid = peer.uid;
    }
}

static void begin(struct evd_http_server *server, struct MHD_Connection *mhd, void **context) {
    const union MHD_ConnectionInfo *fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *address = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct evd_http_connection *connection = calloc(1, sizeof *connection);
    *context = connection;
    if (connection == NULL) return; /* the first request finds no connection and is dropped */
    connection->fd = fd->connect_fd;
    describe_peer(connection, address->client_addr);
    evd_http_connection_idle(server, connection);
    pthread_mutex_lock(&server->mutex);
    connection->next = server->connections;
    connection->link = &server->connections;
    if (connection->next != NULL) connection->next->link = &connection->next;
    server->connections = connection;
    pthread_mutex_unlock(&server->mutex);
}

/* The library closes the descriptor after this, so nobody who holds the mutex shuts a stranger's. */
static void end(struct evd_http_server *server, void **context) {
    struct evd_http_connection *connection = *context;
    if (connection != NULL) {
        pthread_mutex_lock(&server->mutex);
        *connection->link = connection->next;
        if (connection->next != NULL) connection->next->link = connection->link;
        pthread_mutex_unlock(&server->mutex);
        free(connection);
        *context = NULL;
    }
    size_t before = atomic_fetch_sub(&server->connection_count, 1);
    if (before >= server->options.connections) evd_http_acceptor_wake(server);
}

void evd_http_connection_notify(void *self, struct MHD_Connection *mhd, void **context,
                                enum MHD_ConnectionNotificationCode what) {
    switch (what) {
    case MHD_CONNECTION_NOTIFY_STARTED: begin(self, mhd, context); break;
    case MHD_CONNECTION_NOTIFY_CLOSED: end(self, context); break;
    }
}

static void set_deadline(struct evd_http_connection *connection, int64_t deadline_us) {
    atomic_store_explicit(&connection->deadline_us, deadline_us, memory_order_relaxed);
}

void evd_http_connection_idle(struct evd_http_server *server, struct evd_http_connection *connection) {
    int64_t patience_ms = (int64_t)server->options.idle_seconds * 1000 + server->options.request_ms;
    atomic_store(&connection->streams, false);
    set_deadline(connection, evd_clock_monotonic_us(server->options.clock) + patience_ms * 1000);
}

void evd_http_connection_moves(struct evd_http_server *server, struct evd_http_connection *connection, int64_t since_us,
                               size_t bytes) {
    int64_t patience_ms = server->options.request_ms + (int64_t)(bytes / EVD_HTTP_SLOWEST_BYTES_PER_S) * 1000;
    set_deadline(connection, since_us + patience_ms * 1000);
}

void evd_http_connection_parked(struct evd_http_connection *connection) {
    set_deadline(connection, INT64_MAX);
}

void evd_http_connection_streams(struct evd_http_connection *connection, bool ends_by_closing) {
    atomic_store(&connection->ends_by_closing, ends_by_closing);
    atomic_store(&connection->streams, true);
}

/* What has no other end than the connection's would look whole after an orderly one: dissolving the association sends a
 * reset (TCP only). */
void evd_http_connection_cut(struct evd_http_connection *connection) {
    static const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    bool looks_whole = atomic_load(&connection->streams) && atomic_load(&connection->ends_by_closing);
    if (looks_whole) (void)connect(connection->fd, &nowhere, sizeof nowhere);
    (void)shutdown(connection->fd, SHUT_RDWR);
}

void evd_http_connections_cut(struct evd_http_server *server) {
    for (struct evd_http_connection *each = server->connections; each != NULL; each = each->next)
        evd_http_connection_cut(each);
}

void evd_http_server_cut_streams(struct evd_http_server *server) {
    pthread_mutex_lock(&server->mutex);
    for (struct evd_http_connection *each = server->connections; each != NULL; each = each->next)
        if (atomic_load(&each->streams)) evd_http_connection_cut(each);
    pthread_mutex_unlock(&server->mutex);
}

void evd_http_server_reap(struct evd_http_server *server) {
    int64_t now_us = evd_clock_monotonic_us(server->options.clock);
    pthread_mutex_lock(&server->mutex);
    for (struct evd_http_connection *each = server->connections; each != NULL; each = each->next)
        if (atomic_load_explicit(&each->deadline_us, memory_order_relaxed) < now_us) evd_http_connection_cut(each);
    evd_http_linger_reap(server, now_us, false);
    pthread_mutex_unlock(&server->mutex);
}
