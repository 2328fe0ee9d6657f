#include "listen.h"

#include "evidenced/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <unistd.h>

static bool fail(char ret_error[EVD_LISTEN_ERROR_BYTES], const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(char ret_error[EVD_LISTEN_ERROR_BYTES], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(ret_error, EVD_LISTEN_ERROR_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

/* Takes fd: closes it on failure. */
static bool bind_and_listen(int fd, const struct sockaddr *address, socklen_t size, const char *where,
                            char ret_error[EVD_LISTEN_ERROR_BYTES]) {
    if (bind(fd, address, size) == 0 && listen(fd, SOMAXCONN) == 0) return true;
    int error = errno;
    (void)close(fd);
    return fail(ret_error, "Cannot listen on %.100s: %s.", where, strerrordesc_np(error));
}

/* Does anybody still answer at this socket file? One that nobody does is left over from a process that died. */
static bool is_served(const struct sockaddr_un *address) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return true;
    bool refused = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
    (void)close(fd);
    return !refused;
}

static bool remove_stale(const struct sockaddr_un *address, char ret_error[EVD_LISTEN_ERROR_BYTES]) {
    struct stat status;
    if (lstat(address->sun_path, &status) != 0) return true;
    if (!S_ISSOCK(status.st_mode)) return fail(ret_error, "%s exists and is no socket.", address->sun_path);
    if (is_served(address)) return fail(ret_error, "Another process serves %s.", address->sun_path);
    if (unlink(address->sun_path) == 0) return true;
    return fail(ret_error, "Cannot remove the stale socket %s: %s.", address->sun_path, strerrordesc_np(errno));
}

static bool open_unix(const char *path, struct evd_listener *listener, char ret_error[EVD_LISTEN_ERROR_BYTES]) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;
    size_t size = strlen(path);
    if (size == 0 || size >= sizeof address.sun_path)
        return fail(ret_error, "A socket's path has 1 to %zu bytes.", sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, size);
    if (!remove_stale(&address, ret_error)) return false;
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd < 0) return fail(ret_error, "Cannot make a socket: %s.", strerrordesc_np(errno));
    (void)fchmod(listener->fd, 0600); /* before bind, so that the file never has more; the umask is the process's */
    if (!bind_and_listen(listener->fd, (const struct sockaddr *)&address, sizeof address, path, ret_error))
        return false;
    memcpy(listener->path, path, size + 1);
    if (chmod(path, 0600) == 0 && lstat(path, &status) == 0) {
        listener->device = status.st_dev;
        listener->inode = status.st_ino;
        return true;
    }
    (void)fail(ret_error, "Cannot make %s private: %s.", path, strerrordesc_np(errno));
    evd_listener_close(listener);
    return false;
}

static uint16_t port_of(int fd) {
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0) return 0;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

static bool open_inherited(const char *digits, struct evd_listener *listener, char ret_error[EVD_LISTEN_ERROR_BYTES]) {
    uint64_t number;
    int listens = 0;
    socklen_t size = sizeof listens;
    if (!evd_text_to_u64(evd_text_from(digits), &number) || number > INT32_MAX)
        return fail(ret_error, "fd: is followed by the number of a descriptor.");
    int fd = (int)number, flags = fcntl(fd, F_GETFL);
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0 || flags < 0)
        return fail(ret_error, "Descriptor %d is not a listening socket.", fd);
    if (fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return fail(ret_error, "Cannot use descriptor %d: %s.", fd, strerrordesc_np(errno));
    listener->fd = fd;
    listener->port = port_of(fd);
    return true;
}

/* "127.0.0.1:80" or "[::1]:80" in two parts. */
static bool split(const char *where, char ret_host[64], char ret_port[8]) {
    const char *colon = strrchr(where, ':');
    if (colon == NULL || colon == where || strlen(colon + 1) == 0 || strlen(colon + 1) > 5) return false;
    size_t size = (size_t)(colon - where);
    bool bracketed = where[0] == '[' && colon[-1] == ']';
    if (bracketed) {
        where++;
        size -= 2;
    }
    if (size == 0 || size >= 64 || (!bracketed && memchr(where, ':', size) != NULL)) return false;
    memcpy(ret_host, where, size);
    ret_host[size] = '\0';
    memcpy(ret_port, colon + 1, strlen(colon + 1) + 1);
    return true;
}

static bool open_tcp(const char *where, struct evd_listener *listener, char ret_error[EVD_LISTEN_ERROR_BYTES]) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found = NULL;
    char host[64], port[8];
    uint64_t number;
    int on = 1;
    bool parted = split(where, host, port) && evd_text_to_u64(evd_text_from(port), &number) && number <= UINT16_MAX;
    if (!parted || getaddrinfo(host, port, &hints, &found) != 0)
        return fail(ret_error,
                    "%.100s is no address to listen on: 127.0.0.1:8080, [::1]:8080, unix:/path or fd:3 are such.",
                    where);
    listener->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool listens = listener->fd >= 0 && setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0;
    if (listens)
        listens = bind_and_listen(listener->fd, found->ai_addr, found->ai_addrlen, where, ret_error);
    else
        (void)fail(ret_error, "Cannot make a socket: %s.", strerrordesc_np(errno));
    freeaddrinfo(found);
    if (!listens) return false;
    listener->port = port_of(listener->fd);
    return true;
}

bool evd_listener_open(const char *where, struct evd_listener *ret_listener, char ret_error[EVD_LISTEN_ERROR_BYTES]) {
    struct evd_listener listener = {.fd = -1};
    bool opened;
    if (strncmp(where, "unix:", 5) == 0)
        opened = open_unix(where + 5, &listener, ret_error);
    else if (strncmp(where, "fd:", 3) == 0)
        opened = open_inherited(where + 3, &listener, ret_error);
    else
        opened = open_tcp(where, &listener, ret_error);
    if (opened) *ret_listener = listener;
    return opened;
}

void evd_listener_close(struct evd_listener *listener) {
    struct stat status;
    if (listener == NULL || listener->fd < 0) return;
    /* Only its own file: a successor may have replaced it by now. */
    bool own = listener->path[0] != '\0' && lstat(listener->path, &status) == 0 && status.st_dev == listener->device &&
               status.st_ino == listener->inode;
    if (own) (void)unlink(listener->path);
    (void)close(listener->fd);
    listener->fd = -1;
}
