/*
 * A listening socket: TCP, AF_UNIX or inherited.
 */
#ifndef EVIDENCED_HTTP_LISTEN_H
#define EVIDENCED_HTTP_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { EVD_LISTEN_ERROR_BYTES = 256 };

struct evd_listener {
    int fd;                                               /* non-blocking, closed on exec; -1: closed */
    uint16_t port;                                        /* 0 for AF_UNIX */
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* of the socket file this process made, else empty */
    dev_t device;
    ino_t inode;
};

/** `where` as in evd_http_server_options. False, and a sentence in ret_error, when it cannot listen there. */
bool evd_listener_open(const char *where, struct evd_listener *ret_listener, char ret_error[EVD_LISTEN_ERROR_BYTES]);

/** Close, and remove the socket file if it still is the one made here. Closed already is fine. */
void evd_listener_close(struct evd_listener *listener);

#endif
