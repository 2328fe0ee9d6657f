/*
 * The acceptor: takes connections from the listening socket and hands them to the library's threads in turn.
 */
#include "internal.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STARVED_MS = 100, FOR_EVER = -1 };

void evd_http_acceptor_wake(const struct evd_http_server *server) {
    (void)eventfd_write(server->wake_fd, 1);
}

static bool is_full(struct evd_http_server *server) {
    return atomic_load(&server->connection_count) >= server->options.connections;
}

static bool is_starved(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Accept until nobody waits or the server is full. False when the system has no more descriptors or memory. */
static bool accept_some(struct evd_http_server *server) {
    while (!is_full(server)) {
        struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
        socklen_t size = sizeof address;
        int fd = accept4(server->listener.fd, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (fd < 0) return !is_starved(errno);
        atomic_fetch_add(&server->connection_count, 1);
        if (MHD_add_connection(server->daemon, fd, (struct sockaddr *)&address, size) != MHD_YES)
            atomic_fetch_sub(&server->connection_count, 1);
    }
    return true;
}

static void *run(void *self) {
    struct evd_http_server *server = self;
    bool starved = false, broken = false;
    (void)pthread_setname_np(pthread_self(), "http-accept");
    while (!atomic_load(&server->quiesced)) {
        eventfd_t wakes;
        bool deaf = starved || broken || is_full(server);
        struct pollfd watched[2] = {{.fd = server->wake_fd, .events = POLLIN},
                                    {.fd = deaf ? -1 : server->listener.fd, .events = POLLIN}};
        (void)poll(watched, 2, starved ? STARVED_MS : FOR_EVER);
        if (watched[0].revents != 0) (void)eventfd_read(server->wake_fd, &wakes);
        /* An inherited socket that its giver shut down would be ready for ever. */
        broken = broken || (watched[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
        starved = !broken && !accept_some(server);
    }
    /* Who had connected before the socket closes was promised an answer. */
    (void)accept_some(server);
    return NULL;
}

bool evd_http_acceptor_start(struct evd_http_server *server) {
    return pthread_create(&server->acceptor, NULL, run, server) == 0;
}
