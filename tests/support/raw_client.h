/*
 * A client that sends the bytes it is told to, right or wrong, and reads what comes back.
 *
 * Blocking; a peer that says nothing for RAW_PATIENCE_S seconds fails the test instead of hanging it.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_RAW_CLIENT_H
#define EVIDENCED_TESTS_SUPPORT_RAW_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RAW_PATIENCE_S = 60, RAW_HEAD_BYTES = 16384, RAW_BODY_BYTES = 65536, RAW_LINE_BYTES = 64 };

struct evd_raw_client {
    int fd;
    bool was_reset;    /* how the connection ended */
    size_t held_bytes; /* received, not yet taken */
    char held[RAW_HEAD_BYTES];
};

struct evd_raw_response {
    int status;
    char head[RAW_HEAD_BYTES]; /* terminated */
    char body[RAW_BODY_BYTES]; /* terminated; what is longer is counted and dropped */
    size_t body_bytes;
};

/** Connect to 127.0.0.1, or to a socket file. Fails the test when it cannot. */
void evd_raw_open(struct evd_raw_client *client, uint16_t port);
void evd_raw_open_unix(struct evd_raw_client *client, const char *path);
void evd_raw_close(struct evd_raw_client *client);

/** False when the peer has gone. */
bool evd_raw_send(const struct evd_raw_client *client, const void *bytes, size_t size_bytes);
bool evd_raw_say(const struct evd_raw_client *client, const char *text);

/** The next response; its body, also in chunks, only when `with_body` (not for HEAD). False when the peer closed before
 * its end: what came of the body is in the response. */
bool evd_raw_receive(struct evd_raw_client *client, bool with_body, struct evd_raw_response *ret_response);

/** The next response, whose body ends with the connection. False when that was reset. */
bool evd_raw_receive_to_end(struct evd_raw_client *client, struct evd_raw_response *ret_response);

/** The value of a response header, in a buffer that lasts until the next call of this thread; NULL when absent. */
const char *evd_raw_header(const struct evd_raw_response *response, const char *name);

/** Wait until the peer closes. False when it sends something instead. */
bool evd_raw_is_closed(struct evd_raw_client *client);

/** Drop what the peer still sends, and wait until it closes. False when it sends more than RAW_BODY_BYTES. */
bool evd_raw_drain(struct evd_raw_client *client);

/** Ask and receive in one: `GET path`, kept alive. The status, 0 when the connection broke. */
int evd_raw_get(struct evd_raw_client *client, const char *path, struct evd_raw_response *ret_response);

#endif
