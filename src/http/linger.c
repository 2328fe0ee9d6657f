/*
 * Lingering: a client that is refused while it still sends must get to read why.
 *
 * The library closes a connection as soon as the refusal is written. Bytes that arrive afterwards make the kernel
 * answer with a reset, and a reset destroys the response on the client's side if it was not read yet. So the socket is
 * kept open under a second descriptor, its sending side shut, and what arrives is read and dropped, for a while.
 */
#include "internal.h"

#include "evidenced/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINGER_US = 2000000, READS_A_ROUND = 64 };

void evd_http_linger(struct evd_http_server *server, int fd) {
    int64_t until_us = evd_clock_monotonic_us(server->options.clock) + LINGER_US;
    pthread_mutex_lock(&server->mutex);
    bool room = server->lingerer_count < EVD_HTTP_LINGERERS;
    int copy = room ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (copy >= 0)
        server->lingerers[server->lingerer_count++] = (struct evd_http_lingerer){.fd = copy, .until_us = until_us};
    pthread_mutex_unlock(&server->mutex);
}

/* True when the client is done, or has gone. */
static bool drop_what_came(int fd) {
    static _Thread_local char unwanted[16384];
    for (int i = 0; i < READS_A_ROUND; i++) {
        ssize_t got = recv(fd, unwanted, sizeof unwanted, MSG_DONTWAIT);
        if (got == 0) return true;
        if (got < 0) return errno != EAGAIN && errno != EINTR;
    }
    return false;
}

void evd_http_linger_reap(struct evd_http_server *server, int64_t now_us, bool all) {
    size_t kept = 0;
    for (size_t i = 0; i < server->lingerer_count; i++) {
        struct evd_http_lingerer each = server->lingerers[i];
        if (drop_what_came(each.fd) || all || each.until_us < now_us)
            (void)close(each.fd);
        else
            server->lingerers[kept++] = each;
    }
    server->lingerer_count = kept;
}
