#include "raw_client.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void open_to(struct evd_raw_client *client, const struct sockaddr *address, socklen_t size) {
    struct timeval patience = {.tv_sec = RAW_PATIENCE_S};
    client->held_bytes = 0;
    client->was_reset = false;
    client->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(client->fd, 0);
    ck_assert_int_eq(setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    ck_assert_int_eq(setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience), 0);
    ck_assert_msg(connect(client->fd, address, size) == 0, "connect: %s", strerrordesc_np(errno));
}

void evd_raw_open(struct evd_raw_client *client, uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    open_to(client, (const struct sockaddr *)&address, sizeof address);
    ck_assert_int_eq(setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
}

void evd_raw_open_unix(struct evd_raw_client *client, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    ck_assert_uint_lt(strlen(path), sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    open_to(client, (const struct sockaddr *)&address, sizeof address);
}

void evd_raw_close(struct evd_raw_client *client) {
    if (client->fd >= 0) (void)close(client->fd);
    client->fd = -1;
}

bool evd_raw_send(const struct evd_raw_client *client, const void *bytes, size_t size_bytes) {
    const char *at = bytes;
    while (size_bytes > 0) {
        ssize_t sent = send(client->fd, at, size_bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        ck_assert_msg(sent >= 0 || errno != EAGAIN, "the peer does not read");
        if (sent <= 0) return false;
        at += sent;
        size_bytes -= (size_t)sent;
    }
    return true;
}

bool evd_raw_say(const struct evd_raw_client *client, const char *text) {
    return evd_raw_send(client, text, strlen(text));
}

/* Receive something behind what is held; 0 when the peer has gone. */
static size_t receive_more(struct evd_raw_client *client) {
    ck_assert_uint_lt(client->held_bytes, sizeof client->held);
    ssize_t got;
    do
        got = recv(client->fd, client->held + client->held_bytes, sizeof client->held - client->held_bytes, 0);
    while (got < 0 && errno == EINTR);
    ck_assert_msg(got >= 0 || errno != EAGAIN, "the peer neither answers nor closes");
    client->was_reset = got < 0;
    if (got <= 0) return 0;
    client->held_bytes += (size_t)got;
    return (size_t)got;
}

static void drop_held(struct evd_raw_client *client, size_t bytes) {
    client->held_bytes -= bytes;
    memmove(client->held, client->held + bytes, client->held_bytes);
}

static bool receive_head(struct evd_raw_client *client, struct evd_raw_response *response) {
    const char *end;
    while ((end = memmem(client->held, client->held_bytes, "\r\n\r\n", 4)) == NULL)
        if (receive_more(client) == 0) return false;
    size_t size = (size_t)(end - client->held) + 4;
    ck_assert_uint_lt(size, sizeof response->head);
    memcpy(response->head, client->held, size);
    response->head[size] = '\0';
    drop_held(client, size);
    ck_assert_msg(strncmp(response->head, "HTTP/1.1 ", 9) == 0, "no status line: %.60s", response->head);
    response->status = (int)strtol(response->head + 9, NULL, 10);
    return true;
}

/* Move up to `bytes` of the body into the response; false when the peer closed before. */
static bool receive_bytes(struct evd_raw_client *client, struct evd_raw_response *response, size_t bytes) {
    while (bytes > 0) {
        if (client->held_bytes == 0 && receive_more(client) == 0) return false;
        size_t take = bytes < client->held_bytes ? bytes : client->held_bytes;
        if (response->body_bytes + take < sizeof response->body)
            memcpy(response->body + response->body_bytes, client->held, take);
        response->body_bytes += take;
        bytes -= take;
        drop_held(client, take);
    }
    return true;
}

/* A line without its end; false when the peer closed before. */
static bool receive_line(struct evd_raw_client *client, char line[RAW_LINE_BYTES]) {
    const char *end;
    while ((end = memmem(client->held, client->held_bytes, "\r\n", 2)) == NULL)
        if (receive_more(client) == 0) return false;
    size_t size = (size_t)(end - client->held);
    ck_assert_uint_lt(size, RAW_LINE_BYTES);
    memcpy(line, client->held, size);
    line[size] = '\0';
    drop_held(client, size + 2);
    return true;
}

static bool receive_chunks(struct evd_raw_client *client, struct evd_raw_response *response) {
    char line[RAW_LINE_BYTES], *end;
    size_t size;
    do {
        if (!receive_line(client, line)) return false;
        size = strtoul(line, &end, 16);
        ck_assert_msg(end != line && *end == '\0', "no chunk size: %s", line);
        if (!receive_bytes(client, response, size) || !receive_line(client, line)) return false;
        ck_assert_str_eq(line, "");
    } while (size > 0);
    return true;
}

static bool receive_body(struct evd_raw_client *client, struct evd_raw_response *response) {
    const char *length = evd_raw_header(response, "Content-Length");
    size_t expected = length == NULL ? 0 : strtoul(length, NULL, 10);
    const char *coding = evd_raw_header(response, "Transfer-Encoding");
    bool whole = coding == NULL ? receive_bytes(client, response, expected) : receive_chunks(client, response);
    size_t held = response->body_bytes;
    response->body[held < sizeof response->body ? held : sizeof response->body - 1] = '\0';
    return whole;
}

bool evd_raw_receive_to_end(struct evd_raw_client *client, struct evd_raw_response *ret_response) {
    if (!evd_raw_receive(client, false, ret_response)) return false;
    while (receive_bytes(client, ret_response, 1))
        continue;
    size_t held = ret_response->body_bytes;
    ret_response->body[held < sizeof ret_response->body ? held : sizeof ret_response->body - 1] = '\0';
    return !client->was_reset;
}

bool evd_raw_receive(struct evd_raw_client *client, bool with_body, struct evd_raw_response *ret_response) {
    ret_response->status = 0;
    ret_response->body_bytes = 0;
    ret_response->body[0] = '\0';
    if (!receive_head(client, ret_response)) return false;
    return !with_body || receive_body(client, ret_response);
}

const char *evd_raw_header(const struct evd_raw_response *response, const char *name) {
    static _Thread_local char value[4096];
    size_t size = strlen(name);
    for (const char *line = strstr(response->head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, size) != 0 || line[size] != ':') continue;
        const char *start = line + size + 1 + strspn(line + size + 1, " ");
        size_t length = strcspn(start, "\r");
        ck_assert_uint_lt(length, sizeof value);
        memcpy(value, start, length);
        value[length] = '\0';
        return value;
    }
    return NULL;
}

bool evd_raw_is_closed(struct evd_raw_client *client) {
    return client->held_bytes == 0 && receive_more(client) == 0;
}

bool evd_raw_drain(struct evd_raw_client *client) {
    size_t dropped = 0;
    do {
        dropped += client->held_bytes;
        client->held_bytes = 0;
    } while (dropped <= RAW_BODY_BYTES && receive_more(client) > 0);
    return dropped <= RAW_BODY_BYTES;
}

int evd_raw_get(struct evd_raw_client *client, const char *path, struct evd_raw_response *ret_response) {
    char request[RAW_HEAD_BYTES];
    int size = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    ck_assert(size > 0 && (size_t)size < sizeof request);
    ret_response->status = 0;
    if (!evd_raw_send(client, request, (size_t)size)) return 0;
    return evd_raw_receive(client, true, ret_response) ? ret_response->status : 0;
}
