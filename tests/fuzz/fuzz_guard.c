/*
 * Any bytes on a connection to a real server, which is in this process and listens on an abstract socket.
 *
 * What reaches the application is what the plainest reading of the bytes finds: heads that end with an empty line, each
 * with as many bytes of body behind it as it declares, one after the other from the first byte on. What is answered is
 * a row of HTTP responses, no more than there were requests but one. A good request on a new connection is answered.
 *
 * The input is sent with a fence behind it, which ends whatever the input left open: an empty line, then more good
 * requests than a body may swallow, each of which closes the connection.
 */
#include "evidenced/base/arena.h"
#include "evidenced/base/clock.h"
#include "evidenced/http/server.h"

#include "expect.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define FENCE "GET /fence HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

enum {
    FENCES = 40,
    BODY_BYTES = 1000,
    MOST_REQUESTS = 512,
    ANSWER_BYTES = 1 << 20,
    PATIENCE_S = 20,
    LEAST_REQUEST_BYTES = 18
};

/* A request that reached the application whole. */
struct request {
    enum evd_http_method method;
    size_t body_bytes;
    uint8_t body[BODY_BYTES];
};

/* What one connection came to. Guarded by the mutex, though the server has ended the connection when we look. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct request requests[MOST_REQUESTS];
static size_t wholes, heads;

_Static_assert(sizeof FENCE *(FENCES - 1) > BODY_BYTES, "what follows a body reaches the server");

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_bytes;
static struct evd_http_server *server; /* for the process's life */

static bool on_head(void *self, struct evd_http_exchange *exchange, size_t *ret_body_limit_bytes,
                    struct evd_http_response *ret_answer) {
    (void)self, (void)exchange, (void)ret_answer;
    (void)pthread_mutex_lock(&mutex);
    heads++;
    (void)pthread_mutex_unlock(&mutex);
    *ret_body_limit_bytes = BODY_BYTES;
    return false;
}

static void on_whole(void *self, struct evd_http_exchange *exchange) {
    static const struct evd_http_response answer = {
        .status = 200, .content_type = "text/plain", .body = EVD_TEXT_INIT("taken")};
    (void)self;
    (void)pthread_mutex_lock(&mutex);
    EXPECT(wholes < MOST_REQUESTS && exchange->body.size_bytes <= BODY_BYTES);
    EXPECT(exchange->body.size_bytes == exchange->content_length);
    EXPECT(exchange->path.size_bytes > 0 && evd_text_is_utf8(exchange->path));
    struct request *request = &requests[wholes++];
    request->method = exchange->method;
    request->body_bytes = exchange->body.size_bytes;
    if (exchange->body.size_bytes > 0) memcpy(request->body, exchange->body.bytes, exchange->body.size_bytes);
    (void)pthread_mutex_unlock(&mutex);
    evd_http_exchange_answer(exchange, &answer);
}

static void on_refuse(void *self, struct evd_http_exchange *exchange, unsigned status, const char *what,
                      struct evd_http_response *ret_answer) {
    (void)self, (void)exchange;
    EXPECT(status >= 400 && what[0] != '\0');
    ret_answer->status = status;
    ret_answer->content_type = "text/plain";
    ret_answer->body = evd_text_from(what);
}

static void on_ended(void *self, struct evd_http_exchange *exchange, bool sent) {
    (void)self, (void)exchange, (void)sent;
}

static void begin(void) {
    char where[32], error[256];
    if (server != NULL) return;
    int name = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "evidenced-fuzz-%ld", (long)getpid());
    address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)name);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(listening >= 0 && bind(listening, (const struct sockaddr *)&address, address_bytes) == 0);
    EXPECT(listen(listening, 16) == 0);
    (void)snprintf(where, sizeof where, "fd:%d", listening);
    const struct evd_http_server_options options = {
        .listen = where,
        .threads = 1,
        .clock = evd_clock_system(),
        .application = {.head = on_head, .whole = on_whole, .refuse = on_refuse, .ended = on_ended},
    };
    server = evd_http_server_open(&options, error);
    if (server == NULL) (void)fprintf(stderr, "%s\n", error);
    EXPECT(server != NULL);
}

/* Send the bytes, say that there are no more, and take what comes until the server ends the connection. */
static struct evd_text converse(const void *bytes, size_t size_bytes, char answer[ANSWER_BYTES]) {
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    size_t sent = 0, held = 0;
    ssize_t step = 1;
    heads = wholes = 0;
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(connection >= 0 && setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    EXPECT(connect(connection, (const struct sockaddr *)&address, address_bytes) == 0);
    while (sent < size_bytes && step > 0) {
        step = send(connection, (const char *)bytes + sent, size_bytes - sent, MSG_NOSIGNAL);
        if (step > 0) sent += (size_t)step;
    }
    (void)shutdown(connection, SHUT_WR);
    do {
        step = recv(connection, answer + held, ANSWER_BYTES - held, 0);
        if (step > 0) held += (size_t)step;
        EXPECT(held < ANSWER_BYTES);
    } while (step > 0 || (step < 0 && errno == EINTR));
    EXPECT(step == 0 || errno == ECONNRESET); /* anything else: the server let us wait */
    (void)close(connection);
    return (struct evd_text){answer, held};
}

static size_t find(struct evd_text in, const char *what) {
    const char *found = in.size_bytes == 0 ? NULL : memmem(in.bytes, in.size_bytes, what, strlen(what));
    return found == NULL ? SIZE_MAX : (size_t)(found - in.bytes);
}

static struct evd_text behind(struct evd_text text, size_t size_bytes) {
    EXPECT(size_bytes <= text.size_bytes);
    return (struct evd_text){text.bytes + size_bytes, text.size_bytes - size_bytes};
}

/* What a head declares as its body's size; 0 when it says nothing. */
static size_t declared(struct evd_text head) {
    static const char name[] = "\r\ncontent-length:";
    for (size_t at = 0; at + sizeof name - 1 <= head.size_bytes; at++)
        if (strncasecmp(head.bytes + at, name, sizeof name - 1) == 0)
            return (size_t)strtoull(head.bytes + at + sizeof name - 1, NULL, 10);
    return 0;
}

static const char *method_name(enum evd_http_method method) {
    static const char *const names[] = {
        [EVD_HTTP_GET] = "GET ",        [EVD_HTTP_HEAD] = "HEAD ",   [EVD_HTTP_POST] = "POST ",
        [EVD_HTTP_PUT] = "PUT ",        [EVD_HTTP_PATCH] = "PATCH ", [EVD_HTTP_DELETE] = "DELETE ",
        [EVD_HTTP_OPTIONS] = "OPTIONS "};
    EXPECT(method < sizeof names / sizeof *names && names[method] != NULL);
    return names[method];
}

/* Empty lines before a request are let pass, by libmicrohttpd 0.9.75 also lines that begin with a NUL. */
static struct evd_text at_request(struct evd_text bytes) {
    bool in_line = false;
    while (bytes.size_bytes > 0) {
        char c = bytes.bytes[0];
        bool ends = c == '\n' || evd_text_starts_with(bytes, EVD_TEXT("\r\n"));
        if (!ends && c != '\0' && !in_line) break;
        in_line = (in_line || c == '\0') && c != '\n';
        bytes = behind(bytes, 1);
    }
    return bytes;
}

/* Each request the application got, at its place in the bytes. Returns what comes after them. */
static struct evd_text expect_requests(struct evd_text bytes) {
    EXPECT(heads * LEAST_REQUEST_BYTES <= bytes.size_bytes && wholes <= heads);
    bytes = at_request(bytes);
    for (size_t i = 0; i < wholes; i++) {
        size_t end = find(bytes, "\r\n\r\n");
        EXPECT(end != SIZE_MAX);
        EXPECT(evd_text_starts_with(bytes, evd_text_from(method_name(requests[i].method))));
        EXPECT(declared((struct evd_text){bytes.bytes, end + 2}) == requests[i].body_bytes);
        bytes = behind(bytes, end + 4);
        EXPECT(bytes.size_bytes >= requests[i].body_bytes);
        EXPECT(memcmp(bytes.bytes, requests[i].body, requests[i].body_bytes) == 0);
        bytes = at_request(behind(bytes, requests[i].body_bytes));
    }
    return bytes;
}

/* libmicrohttpd 0.9.75 answers a Content-Length that is no number, or none it can hold, by itself, before we see the
 * request; and it sends that answer's head twice. The connection ends with it. */
static bool is_of_the_library(struct evd_text answer, size_t head_bytes) {
    struct evd_text head = {answer.bytes, head_bytes}, rest = behind(answer, head_bytes);
    if (evd_text_equal(rest, head)) return true; /* to HEAD */
    return evd_text_starts_with(rest, head) && find(rest, "<html>") == head_bytes &&
           rest.size_bytes == head_bytes + declared(head);
}

/* rest: what of the bytes did not reach the application. */
static void expect_responses(struct evd_text answer, struct evd_text rest) {
    const bool rest_is_head = evd_text_starts_with(rest, EVD_TEXT("HEAD "));
    size_t count = 0;
    while (answer.size_bytes > 0) {
        size_t end = find(answer, "\r\n\r\n");
        EXPECT(evd_text_starts_with(answer, EVD_TEXT("HTTP/1.")) && end != SIZE_MAX);
        bool interim = answer.size_bytes > 9 && answer.bytes[9] == '1'; /* 100 Continue */
        bool to_head = count < wholes ? requests[count].method == EVD_HTTP_HEAD : rest_is_head;
        size_t body_bytes = interim || to_head ? 0 : declared((struct evd_text){answer.bytes, end + 2});
        if (count == wholes && heads == wholes && is_of_the_library(answer, end + 4)) return;
        answer = behind(answer, end + 4 + body_bytes);
        count += !interim;
    }
    EXPECT(count <= wholes + 1);
}

static struct evd_text fenced(const uint8_t *data, size_t size) {
    struct evd_text text = {malloc(size + 4 + FENCES * (sizeof FENCE - 1)), 0};
    char *at = (char *)(uintptr_t)text.bytes;
    EXPECT(at != NULL);
    if (size > 0) memcpy(at, data, size);
    memcpy(at + size, "\r\n\r\n", 4);
    text.size_bytes = size + 4;
    for (int i = 0; i < FENCES; i++, text.size_bytes += sizeof FENCE - 1)
        memcpy(at + text.size_bytes, FENCE, sizeof FENCE - 1);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char good[] = "GET /good HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    static char answer[ANSWER_BYTES];
    begin();
    struct evd_text bytes = fenced(data, size);
    struct evd_text said = converse(bytes.bytes, bytes.size_bytes, answer);
    expect_responses(said, expect_requests(bytes));
    free((char *)(uintptr_t)bytes.bytes);
    said = converse(good, sizeof good - 1, answer);
    EXPECT(wholes == 1 && evd_text_starts_with(said, EVD_TEXT("HTTP/1.1 200 ")));
    return 0;
}
