#include "stub_server.h"

#include "test.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void listen_on_port(struct stub_server *stub) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    stub->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(stub->fd, 0);
    ck_assert_int_eq(bind(stub->fd, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(getsockname(stub->fd, (struct sockaddr *)&address, &size), 0);
    stub->port = ntohs(address.sin_port);
}

static void listen_on_file(struct stub_server *stub) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    ck_assert_uint_lt(strlen(stub->path), sizeof address.sun_path);
    memcpy(address.sun_path, stub->path, strlen(stub->path) + 1);
    stub->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(stub->fd, 0);
    ck_assert_int_eq(bind(stub->fd, (const struct sockaddr *)&address, sizeof address), 0);
}

/* One request: its head, then as much body as it announces. */

static size_t announced_bytes(const char *head) {
    const char *line = strcasestr(head, "\r\nContent-Length:");
    return line == NULL ? 0 : strtoul(line + strlen("\r\nContent-Length:"), NULL, 10);
}

static bool receive_head(int fd, struct stub_request *request, size_t *ret_held_bytes) {
    size_t held = 0;
    while (held < STUB_HEAD_BYTES - 1 && memmem(request->head, held, "\r\n\r\n", 4) == NULL) {
        ssize_t got = recv(fd, request->head + held, 1, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        held += (size_t)got;
    }
    request->head[held] = '\0';
    *ret_held_bytes = held;
    return true;
}

static bool receive(int fd, struct stub_request *request) {
    size_t held = 0, size = 0;
    if (!receive_head(fd, request, &held)) return false;
    if (strcasestr(request->head, "\r\nExpect: 100-continue") != NULL)
        (void)send(fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL);
    request->body_bytes = announced_bytes(request->head);
    request->body = calloc(request->body_bytes + 1, 1);
    if (request->body == NULL) abort();
    while (size < request->body_bytes) {
        ssize_t got = recv(fd, request->body + size, request->body_bytes - size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        size += (size_t)got;
    }
    return true;
}

static void send_text(int fd, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        ssize_t sent = send(fd, text, left, MSG_NOSIGNAL);
        if (sent <= 0) return;
        text += sent;
        left -= (size_t)sent;
    }
}

static void answer(int fd, const struct stub_answer *answer) {
    char head[1024], framing[64];
    const char *body = answer->body == NULL ? "" : answer->body, *type = answer->type;
    bool is_chunked = answer->manner == STUB_CHUNKED || answer->manner == STUB_CHUNKED_SHORT;
    if (answer->manner == STUB_DROP) return;
    if (type == NULL) type = answer->status >= 400 ? "application/problem+json" : "application/json";
    if (is_chunked)
        (void)snprintf(framing, sizeof framing, "Transfer-Encoding: chunked");
    else
        (void)snprintf(framing, sizeof framing, "Content-Length: %zu",
                       strlen(body) + (answer->manner == STUB_SHORT ? 10 : 0));
    (void)snprintf(head, sizeof head, "HTTP/1.1 %d Stub\r\nConnection: close\r\nContent-Type: %s\r\n%s\r\n%s\r\n",
                   answer->status, type, framing, answer->headers == NULL ? "" : answer->headers);
    send_text(fd, head);
    if (is_chunked && body[0] != '\0') {
        (void)snprintf(framing, sizeof framing, "%zx\r\n", strlen(body));
        send_text(fd, framing);
    }
    send_text(fd, body);
    if (is_chunked && body[0] != '\0') send_text(fd, "\r\n");
    if (answer->manner == STUB_CHUNKED) send_text(fd, "0\r\n\r\n");
}

static void *serve(void *self) {
    static const struct stub_answer unexpected = {.status = 501, .type = "text/plain", .body = "unexpected"};
    struct stub_server *stub = self;
    for (;;) {
        int fd = accept4(stub->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && errno == EINTR) continue;
        if (fd < 0) return NULL;
        (void)pthread_mutex_lock(&stub->mutex);
        size_t at = stub->request_count;
        (void)pthread_mutex_unlock(&stub->mutex);
        bool is_whole = at < STUB_ANSWERS && receive(fd, &stub->requests[at]);
        if (is_whole) {
            (void)pthread_mutex_lock(&stub->mutex);
            stub->request_count++;
            (void)pthread_cond_broadcast(&stub->changed);
            (void)pthread_mutex_unlock(&stub->mutex);
            answer(fd, at < stub->answer_count ? &stub->answers[at] : &unexpected);
        }
        (void)shutdown(fd, SHUT_WR);
        (void)close(fd);
    }
}

void stub_open(struct stub_server *stub, const char *path, const struct stub_answer *answers, size_t count) {
    memset(stub, 0, sizeof *stub);
    stub->path = path;
    stub->answers = answers;
    stub->answer_count = count;
    (void)pthread_mutex_init(&stub->mutex, NULL);
    (void)pthread_cond_init(&stub->changed, NULL);
    if (path == NULL)
        listen_on_port(stub);
    else
        listen_on_file(stub);
    ck_assert_int_eq(listen(stub->fd, 16), 0);
    ck_assert_int_eq(pthread_create(&stub->thread, NULL, serve, stub), 0);
}

void stub_await(struct stub_server *stub, size_t count) {
    (void)pthread_mutex_lock(&stub->mutex);
    while (stub->request_count < count)
        (void)pthread_cond_wait(&stub->changed, &stub->mutex);
    (void)pthread_mutex_unlock(&stub->mutex);
}

void stub_close(struct stub_server *stub) {
    (void)shutdown(stub->fd, SHUT_RDWR); /* wakes the accept */
    (void)pthread_join(stub->thread, NULL);
    (void)close(stub->fd);
    if (stub->path != NULL) (void)unlink(stub->path);
    ck_assert_uint_eq(stub->request_count, stub->answer_count);
}

void stub_done(struct stub_server *stub) {
    for (size_t i = 0; i < STUB_ANSWERS; i++)
        free(stub->requests[i].body);
    (void)pthread_mutex_destroy(&stub->mutex);
    (void)pthread_cond_destroy(&stub->changed);
}

const char *stub_header(const struct stub_server *stub, size_t at, const char *name) {
    static char value[1024];
    char wanted[128];
    (void)snprintf(wanted, sizeof wanted, "\r\n%s: ", name);
    const char *line = strcasestr(stub->requests[at].head, wanted);
    value[0] = '\0';
    if (line == NULL) return value;
    line += strlen(wanted);
    (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(line, "\r"), line);
    return value;
}

bool stub_was_asked(const struct stub_server *stub, size_t at, const char *method_and_target) {
    size_t size = strlen(method_and_target);
    const char *head = stub->requests[at].head;
    return strncmp(head, method_and_target, size) == 0 && strncmp(head + size, " HTTP/1.1\r\n", 11) == 0;
}
