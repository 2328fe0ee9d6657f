/*
 * The blocking client of daemon.h.
 */
#include "daemon.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HEAD_BYTES = 32768, FIRST_BYTES = 65536 };

struct growing {
    char *bytes;
    size_t size_bytes, capacity_bytes;
};

static void client_new(struct evd_client *client, const struct evd_daemon_process *process) {
    *client = (struct evd_client){.process = process, .fd = -1};
}

void evd_client_init(struct evd_client *client, const struct evd_daemon_process *process, const char *subject,
                     bool may_create_projects) {
    client_new(client, process);
    evd_daemon_process_token(process, subject, may_create_projects ? "evidenced:create-project" : "", client->token);
}

void evd_client_init_operator(struct evd_client *client, const struct evd_daemon_process *process) {
    client_new(client, process);
    client->by_control = true;
}

static void hang_up(struct evd_client *client) {
    if (client->fd >= 0) (void)close(client->fd);
    client->fd = -1;
}

void evd_client_done(struct evd_client *client) {
    hang_up(client);
}

static int connect_tcp(uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) return fd;
    (void)close(fd);
    return -1;
}

static int connect_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_uint_lt(strlen(path), sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) return fd;
    (void)close(fd);
    return -1;
}

static bool is_connected(struct evd_client *client) {
    struct timeval patience = {.tv_sec = DAEMON_PATIENCE_S};
    if (client->fd >= 0) return true;
    client->fd = client->by_control ? connect_unix(client->process->control) : connect_tcp(client->process->api_port);
    if (client->fd < 0) return false;
    (void)setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return true;
}

static bool send_all(int fd, const char *bytes, size_t size_bytes) {
    while (size_bytes > 0) {
        ssize_t sent = send(fd, bytes, size_bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes += sent;
        size_bytes -= (size_t)sent;
    }
    return true;
}

static bool send_request(struct evd_client *client, const char *method, const char *path, const char *key,
                         const char *body, const char *extra) {
    static _Thread_local char head[HEAD_BYTES];
    size_t body_bytes = body == NULL ? 0 : strlen(body);
    bool says_type = extra != NULL && strstr(extra, "Content-Type:") != NULL;
    bool posts = body != NULL || strcmp(method, "POST") == 0;
    int size =
        snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: test\r\n%s", method, path, extra == NULL ? "" : extra);
    if (!client->by_control)
        size += snprintf(head + size, sizeof head - (size_t)size, "Authorization: Bearer %s\r\n", client->token);
    if (key != NULL) size += snprintf(head + size, sizeof head - (size_t)size, "Idempotency-Key: %s\r\n", key);
    if (posts) size += snprintf(head + size, sizeof head - (size_t)size, "Content-Length: %zu\r\n", body_bytes);
    if (body != NULL && !says_type)
        size += snprintf(head + size, sizeof head - (size_t)size, "Content-Type: application/json\r\n");
    size += snprintf(head + size, sizeof head - (size_t)size, "\r\n");
    ck_assert_int_lt(size, HEAD_BYTES);
    return send_all(client->fd, head, (size_t)size) && send_all(client->fd, body, body_bytes);
}

static bool receive_more(int fd, struct growing *into) {
    if (into->capacity_bytes - into->size_bytes < 2) {
        into->capacity_bytes = into->capacity_bytes == 0 ? FIRST_BYTES : into->capacity_bytes * 2;
        into->bytes = realloc(into->bytes, into->capacity_bytes);
        if (into->bytes == NULL) abort();
    }
    for (;;) {
        ssize_t got = recv(fd, into->bytes + into->size_bytes, into->capacity_bytes - into->size_bytes - 1, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) ck_abort_msg("no answer within %d s", DAEMON_PATIENCE_S);
        if (got <= 0) return false;
        into->size_bytes += (size_t)got;
        into->bytes[into->size_bytes] = '\0';
        return true;
    }
}

static bool receive_head(int fd, struct growing *into, size_t *ret_head_bytes) {
    const char *end = NULL;
    while (end == NULL) {
        if (!receive_more(fd, into)) return false;
        end = strstr(into->bytes, "\r\n\r\n");
    }
    *ret_head_bytes = (size_t)(end - into->bytes) + 4;
    return true;
}

static size_t length_of(const struct evd_reply *reply) {
    char text[32];
    return evd_reply_header(reply, "Content-Length", text, sizeof text) == NULL ? 0 : strtoul(text, NULL, 10);
}

static bool is_chunked(const struct evd_reply *reply) {
    char text[32];
    return evd_reply_header(reply, "Transfer-Encoding", text, sizeof text) != NULL && strcmp(text, "chunked") == 0;
}

static bool receive_until(int fd, struct growing *got, size_t size_bytes) {
    while (got->size_bytes < size_bytes)
        if (!receive_more(fd, got)) return false;
    return true;
}

/* Chunks behind the head become one body there: `size CRLF bytes CRLF`, the last of size 0. */
static bool receive_chunks(int fd, struct growing *got, size_t head_bytes, size_t *ret_body_bytes) {
    size_t body_end = head_bytes, at = head_bytes, size;
    do {
        const char *line_end;
        if (!receive_until(fd, got, at + 1)) return false;
        while ((line_end = strstr(got->bytes + at, "\r\n")) == NULL)
            if (!receive_more(fd, got)) return false;
        size = strtoul(got->bytes + at, NULL, 16);
        at = (size_t)(line_end - got->bytes) + 2;
        if (!receive_until(fd, got, at + size + 2)) return false;
        memmove(got->bytes + body_end, got->bytes + at, size);
        body_end += size;
        at += size + 2;
    } while (size > 0);
    *ret_body_bytes = body_end - head_bytes;
    return true;
}

static bool receive_body(struct evd_client *client, struct growing *got, size_t head_bytes, struct evd_reply *reply) {
    if (is_chunked(reply)) return receive_chunks(client->fd, got, head_bytes, &reply->body_bytes);
    reply->body_bytes = length_of(reply);
    return receive_until(client->fd, got, head_bytes + reply->body_bytes);
}

static bool receive(struct evd_client *client, bool with_body, struct evd_reply *reply) {
    struct growing got = {.bytes = NULL};
    size_t head_bytes = 0;
    bool whole = receive_head(client->fd, &got, &head_bytes);
    if (whole) reply->head = strndup(got.bytes, head_bytes);
    if (whole && with_body) whole = receive_body(client, &got, head_bytes, reply);
    if (whole) {
        reply->body = strndup(got.bytes + head_bytes, reply->body_bytes);
        reply->json = json_loadb(got.bytes + head_bytes, reply->body_bytes, JSON_DECODE_ANY, NULL);
    }
    free(got.bytes);
    return whole;
}

static bool says_close(const struct evd_reply *reply) {
    char text[32];
    return evd_reply_header(reply, "Connection", text, sizeof text) != NULL && strcasecmp(text, "close") == 0;
}

void evd_client_ask(struct evd_client *client, const char *method, const char *path, const char *key, const char *body,
                    const char *extra, struct evd_reply *ret_reply) {
    struct evd_reply reply = {.status = 0};
    bool answered = is_connected(client) && send_request(client, method, path, key, body, extra) &&
                    receive(client, strcmp(method, "HEAD") != 0, &reply);
    if (answered) reply.status = (int)strtol(reply.head + strlen("HTTP/1.1 "), NULL, 10);
    if (!answered || says_close(&reply)) hang_up(client);
    *ret_reply = reply;
}

int evd_client_get(struct evd_client *client, const char *path, struct evd_reply *ret_reply) {
    evd_client_ask(client, "GET", path, NULL, NULL, NULL, ret_reply);
    return ret_reply->status;
}

int evd_client_post(struct evd_client *client, const char *path, const char *key, const char *body,
                    struct evd_reply *ret_reply) {
    evd_client_ask(client, "POST", path, key, body, NULL, ret_reply);
    return ret_reply->status;
}

void evd_reply_done(struct evd_reply *reply) {
    free(reply->head);
    free(reply->body);
    json_decref(reply->json);
    *reply = (struct evd_reply){.status = 0};
}

const char *evd_reply_header(const struct evd_reply *reply, const char *name, char *buffer, size_t buffer_bytes) {
    size_t name_bytes = strlen(name);
    const char *line = reply->head == NULL ? NULL : strstr(reply->head, "\r\n");
    for (; line != NULL && line[2] != '\r' && line[2] != '\0'; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, name_bytes) != 0 || line[2 + name_bytes] != ':') continue;
        const char *value = line + 2 + name_bytes + 1;
        value += strspn(value, " ");
        (void)snprintf(buffer, buffer_bytes, "%.*s", (int)strcspn(value, "\r"), value);
        return buffer;
    }
    return NULL;
}

const char *evd_reply_text(const struct evd_reply *reply, const char *member) {
    const char *text = json_string_value(json_object_get(reply->json, member));
    return text == NULL ? "" : text;
}
