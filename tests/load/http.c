/*
 * A client is a connection and what it asks next. One thread serves all clients of a fleet, as cheaply as it can: it
 * shares the processors with the daemon.
 */
#include "bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HEAD_BYTES = 2048, ANSWER_BYTES = 128 * 1024, EVENTS = 64 };

struct connection {
    int fd;
    char *token;
    char answer[ANSWER_BYTES + 1];
    size_t answer_bytes, head_bytes, whole_bytes; /* the last two: 0 until the head is there */
};

static void connection_open(struct connection *connection, const struct bench_process *process, unsigned who) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(bench_process_port(process)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    connection->token = bench_process_token(process, who);
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 || connect(connection->fd, (const struct sockaddr *)&address, sizeof address) != 0)
        bench_fail("the daemon cannot be reached: %s", strerrordesc_np(errno));
    (void)setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void connection_close(struct connection *connection) {
    (void)close(connection->fd);
    free(connection->token);
}

/* What stands before the body. condition NULL: a POST under a fresh key, else a PATCH with this If-Match; without a
 * body a GET. */
static size_t write_head(const struct connection *connection, const char *path, const char *condition, bool with_body,
                         size_t body_bytes, char head[HEAD_BYTES]) {
    char key[BENCH_TEXT_BYTES];
    const char *method = !with_body ? "GET" : condition == NULL ? "POST" : "PATCH";
    int size = snprintf(head, HEAD_BYTES, "%s %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n", method, path,
                        connection->token);
    if (with_body) {
        evd_uuid_format(bench_key(), key);
        size += snprintf(head + size, HEAD_BYTES - (size_t)size,
                         "%s: %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n",
                         condition == NULL ? "Idempotency-Key" : "If-Match", condition == NULL ? key : condition,
                         body_bytes);
    }
    size += snprintf(head + size, HEAD_BYTES - (size_t)size, "\r\n");
    if (size >= HEAD_BYTES) bench_fail("a request's head is too large");
    return (size_t)size;
}

static void await_room(int fd) {
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};
    (void)poll(&wanted, 1, -1);
}

static void send_request(struct connection *connection, char *head, size_t head_bytes, struct evd_text body) {
    struct iovec parts[] = {{head, head_bytes}, {(char *)(uintptr_t)body.bytes, body.size_bytes}};
    connection->answer_bytes = connection->head_bytes = connection->whole_bytes = 0;
    while (parts[1].iov_len > 0 || parts[0].iov_len > 0) {
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t sent = sendmsg(connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN) await_room(connection->fd);
        if (sent < 0 && errno != EINTR && errno != EAGAIN) bench_fail("the daemon hung up: %s", strerrordesc_np(errno));
        for (size_t i = 0; i < 2 && sent > 0; i++) {
            size_t part = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + part;
            parts[i].iov_len -= part;
            sent -= (ssize_t)part;
        }
    }
}

static void look_for_head(struct connection *connection) {
    const char *end = memmem(connection->answer, connection->answer_bytes, "\r\n\r\n", 4);
    if (end == NULL) return;
    connection->head_bytes = (size_t)(end - connection->answer) + 4;
    const char *length = strcasestr(connection->answer, "\r\nContent-Length:");
    size_t body_bytes = length == NULL || length > end ? 0 : strtoul(length + 17, NULL, 10);
    connection->whole_bytes = connection->head_bytes + body_bytes;
    if (connection->whole_bytes > ANSWER_BYTES) bench_fail("an answer is too large");
}

/* True when the whole answer is there. */
static bool receive(struct connection *connection, int flags) {
    ssize_t got = recv(connection->fd, connection->answer + connection->answer_bytes,
                       ANSWER_BYTES - connection->answer_bytes, flags);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (got <= 0) bench_fail("the daemon hung up");
    connection->answer_bytes += (size_t)got;
    connection->answer[connection->answer_bytes] = '\0';
    if (connection->whole_bytes == 0) look_for_head(connection);
    return connection->whole_bytes > 0 && connection->answer_bytes >= connection->whole_bytes;
}

static unsigned status_of(const struct connection *connection) {
    return (unsigned)strtoul(connection->answer + strlen("HTTP/1.1 "), NULL, 10);
}

static struct evd_text body_of(const struct connection *connection) {
    return (struct evd_text){connection->answer + connection->head_bytes,
                             connection->whole_bytes - connection->head_bytes};
}

/* Asking once. */

/* Takes the connection. */
static void ask_with(struct connection *connection, const char *path, char *head, size_t head_bytes,
                     struct evd_text body, char **ret_answer) {
    send_request(connection, head, head_bytes, body);
    while (!receive(connection, 0)) {
    }
    if (status_of(connection) != 200) bench_fail("%s answered %s", path, connection->answer);
    struct evd_text answer = body_of(connection);
    *ret_answer = strndup(answer.bytes, answer.size_bytes);
    if (*ret_answer == NULL) bench_fail("out of memory");
    connection_close(connection);
    free(connection);
}

static void ask(void *self, unsigned who, const char *path, const char *condition, const char *body,
                char **ret_answer) {
    struct connection *connection = bench_alloc(sizeof *connection);
    char head[HEAD_BYTES];
    connection_open(connection, self, who);
    size_t head_bytes = write_head(connection, path, condition, true, strlen(body), head);
    ask_with(connection, path, head, head_bytes, evd_text_from(body), ret_answer);
}

void bench_http_send_file(struct bench_process *process, const char *path, struct evd_text csv, char **ret_answer) {
    struct connection *connection = bench_alloc(sizeof *connection);
    char head[HEAD_BYTES], key[BENCH_TEXT_BYTES];
    connection_open(connection, process, 0);
    evd_uuid_format(bench_key(), key);
    int size = snprintf(head, sizeof head,
                        "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\n"
                        "Content-Type: text/csv\r\nPrefer: wait=30\r\nContent-Length: %zu\r\n\r\n",
                        path, connection->token, key, csv.size_bytes);
    if (size < 0 || size >= HEAD_BYTES) bench_fail("a request's head is too large");
    ask_with(connection, path, head, (size_t)size, csv, ret_answer);
}

struct bench_asker bench_http_asker(struct bench_process *process) {
    return (struct bench_asker){.self = process, .ask = ask};
}

/* Fleets. */

struct client {
    struct connection connection;
    char path[BENCH_PATH_BYTES];
    struct bench_author *author; /* NULL: it reads */
    int64_t asked_ns;
};

struct bench_fleet {
    struct client *clients;
    struct bench_samples *samples; /* of each client */
    unsigned count, expected;
    int poller;
    clockid_t processor; /* the daemon's */
};

static struct bench_fleet *fleet_new(const struct bench_process *process, unsigned clients, unsigned expected) {
    struct bench_fleet *fleet = bench_alloc(sizeof *fleet);
    *fleet = (struct bench_fleet){.count = clients,
                                  .expected = expected,
                                  .poller = epoll_create1(EPOLL_CLOEXEC),
                                  .processor = bench_process_processor(process)};
    if (fleet->poller < 0) bench_fail("no epoll: %s", strerrordesc_np(errno));
    fleet->clients = bench_alloc(clients * sizeof *fleet->clients);
    fleet->samples = bench_alloc(clients * sizeof *fleet->samples);
    memset(fleet->samples, 0, clients * sizeof *fleet->samples);
    for (unsigned i = 0; i < clients; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
        connection_open(&fleet->clients[i].connection, process, i + 1);
        fleet->clients[i].author = NULL;
        if (epoll_ctl(fleet->poller, EPOLL_CTL_ADD, fleet->clients[i].connection.fd, &event) != 0)
            bench_fail("no epoll: %s", strerrordesc_np(errno));
    }
    return fleet;
}

struct bench_fleet *bench_fleet_of_authors(const struct bench_process *process, const struct bench_project *project,
                                           struct bench_author *authors, const char *const *studies, unsigned clients,
                                           enum bench_verb verb) {
    struct bench_fleet *fleet = fleet_new(process, clients, 200);
    for (unsigned i = 0; i < clients; i++) {
        fleet->clients[i].author = &authors[i];
        bench_session_path(project, studies[i], verb, fleet->clients[i].path);
    }
    return fleet;
}

struct bench_fleet *bench_fleet_of_readers(const struct bench_process *process, const char *path, unsigned status,
                                           unsigned clients) {
    struct bench_fleet *fleet = fleet_new(process, clients, status);
    for (unsigned i = 0; i < clients; i++)
        (void)snprintf(fleet->clients[i].path, BENCH_PATH_BYTES, "%s", path);
    return fleet;
}

void bench_fleet_free(struct bench_fleet *fleet) {
    for (unsigned i = 0; i < fleet->count; i++) {
        connection_close(&fleet->clients[i].connection);
        free(fleet->samples[i].ns);
    }
    (void)close(fleet->poller);
    free(fleet->samples);
    free(fleet->clients);
    free(fleet);
}

static void client_ask(struct client *client) {
    char head[HEAD_BYTES], etag[BENCH_ETAG_BYTES];
    const char *condition = NULL;
    struct evd_text body = {"", 0};
    if (client->author != NULL) {
        bench_author_write(client->author);
        condition = bench_author_condition(client->author, etag);
        body = (struct evd_text){client->author->body, client->author->body_bytes};
    }
    size_t head_bytes =
        write_head(&client->connection, client->path, condition, client->author != NULL, body.size_bytes, head);
    client->asked_ns = bench_now_ns();
    send_request(&client->connection, head, head_bytes, body);
}

/* An answer nobody expects is told once. */
static void complain(const struct connection *connection) {
    static bool complained;
    if (!complained) (void)fprintf(stderr, "unexpected: %s\n", connection->answer);
    complained = true;
}

static void client_answered(const struct bench_fleet *fleet, struct client *client, struct bench_samples *samples) {
    struct connection *connection = &client->connection;
    bench_sample(samples, bench_now_ns() - client->asked_ns);
    if (status_of(connection) == fleet->expected) {
        if (client->author != NULL) bench_author_keep(client->author, body_of(connection));
        return;
    }
    if (strstr(connection->answer, "\"outcome\":\"RetryableConflict\"") != NULL) {
        samples->exhausted++;
        return;
    }
    samples->refused++;
    complain(connection);
}

static void fleet_run(void *self, double seconds, struct bench_round *ret_round) {
    struct bench_fleet *fleet = self;
    struct epoll_event events[EVENTS];
    unsigned waiting = fleet->count;
    int64_t begun_ns = bench_now_ns(), end_ns = begun_ns + (int64_t)(seconds * 1e9), last_ns = begun_ns;
    for (unsigned i = 0; i < fleet->count; i++)
        client_ask(&fleet->clients[i]);
    while (waiting > 0) {
        int count = epoll_wait(fleet->poller, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            struct client *client = &fleet->clients[events[i].data.u32];
            if (!receive(&client->connection, MSG_DONTWAIT)) continue;
            client_answered(fleet, client, &fleet->samples[events[i].data.u32]);
            last_ns = bench_now_ns();
            if (last_ns < end_ns)
                client_ask(client);
            else
                waiting--;
        }
    }
    bench_round_make(fleet->samples, fleet->count, (double)(last_ns - begun_ns) / 1e9, ret_round);
}

struct bench_side bench_fleet_side(struct bench_fleet *fleet) {
    return (struct bench_side){.self = fleet, .processor = fleet->processor, .run = fleet_run};
}
