/*
 * A streamed body, on the library's thread: it takes bytes of the piece at hand; when there are none left it asks for
 * the next one and suspends the connection until that is given. The library asks only when the kernel has taken what it
 * got before, so a client that does not read is not produced for.
 *
 *   taken ► `more` ► HANDED ► (suspended: PARKED) ► give, cut ► ANSWERED ► taken …
 */
#include "internal.h"

#include "evidenced/base/clock.h"

#include <assert.h>

static void moves(struct evd_http_private *exchange, size_t bytes) {
    struct evd_http_server *server = exchange->shown.server;
    evd_http_connection_moves(server, exchange->connection, evd_clock_monotonic_us(server->options.clock), bytes);
}

/* True: it was given within the call. */
static bool ask_for_more(struct evd_http_private *exchange) {
    const struct evd_http_application *application = &exchange->shown.server->options.application;
    exchange->piece = (struct evd_text){NULL, 0};
    atomic_store(&exchange->handover, EVD_HANDED);
    evd_http_connection_parked(exchange->connection);
    application->more(application->self, &exchange->shown);
    if (evd_http_exchange_is_answered(exchange)) return true;
    evd_http_exchange_park(exchange);
    return false;
}

static size_t take(struct evd_http_private *exchange, char *buffer, size_t room_bytes) {
    size_t size_bytes = exchange->piece.size_bytes < room_bytes ? exchange->piece.size_bytes : room_bytes;
    memcpy(buffer, exchange->piece.bytes, size_bytes);
    exchange->piece.bytes += size_bytes;
    exchange->piece.size_bytes -= size_bytes;
    return size_bytes;
}

ssize_t evd_http_stream_read(void *self, uint64_t position, char *buffer, size_t room_bytes) {
    struct evd_http_private *exchange = self;
    (void)position;
    if (!evd_http_exchange_is_answered(exchange)) return 0;
    while (exchange->piece.size_bytes == 0) {
        if (exchange->is_cut) {
            evd_http_connection_cut(exchange->connection);
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
        if (exchange->piece_is_last) {
            moves(exchange, 0);
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        if (!ask_for_more(exchange)) return 0;
    }
    size_t size_bytes = take(exchange, buffer, room_bytes);
    moves(exchange, size_bytes);
    return (ssize_t)size_bytes;
}

void evd_http_exchange_give(struct evd_http_exchange *shown, struct evd_text piece, bool last) {
    struct evd_http_private *exchange = (struct evd_http_private *)shown;
    assert(exchange->answer.streamed && !evd_http_exchange_is_answered(exchange));
    exchange->piece = piece;
    exchange->piece_is_last = last;
    evd_http_exchange_hand_back(exchange);
}

void evd_http_exchange_cut(struct evd_http_exchange *shown) {
    struct evd_http_private *exchange = (struct evd_http_private *)shown;
    assert(exchange->answer.streamed && !evd_http_exchange_is_answered(exchange));
    exchange->is_cut = true;
    evd_http_exchange_hand_back(exchange);
}
