#include "internal.h"

#include "evidenced/base/clock.h"

enum {
    STREAM_BLOCK_BYTES = 16384
}; /* what an HTTP/1.0 client is sent at once; chunks are as large as the library's buffer */

static bool add_header(struct MHD_Response *response, const char *name, struct evd_text value) {
    char terminated[EVD_HTTP_HEADER_VALUE_BYTES + 1];
    if (value.size_bytes > EVD_HTTP_HEADER_VALUE_BYTES) return false;
    for (size_t i = 0; i < value.size_bytes; i++)
        if ((uint8_t)value.bytes[i] < 0x20 || value.bytes[i] == 0x7F) return false;
    if (value.size_bytes > 0) memcpy(terminated, value.bytes, value.size_bytes);
    terminated[value.size_bytes] = '\0';
    return MHD_add_response_header(response, name, terminated) == MHD_YES;
}

/* To HEAD the library would send the last chunk. */
static bool comes_in_chunks(const struct evd_http_private *exchange) {
    return !exchange->shown.is_old && exchange->shown.method != EVD_HTTP_HEAD;
}

static bool add_headers(struct MHD_Response *response, const struct evd_http_private *exchange) {
    const struct evd_http_response *answer = &exchange->answer;
    bool close = answer->close || (answer->streamed && !comes_in_chunks(exchange)) ||
                 atomic_load(&exchange->shown.server->quiesced);
    if (!add_header(response, "X-Request-Id", exchange->shown.request_id)) return false;
    if (close && !add_header(response, "Connection", EVD_TEXT("close"))) return false;
    bool is_content = answer->body.size_bytes > 0 || answer->streamed || answer->status == 200; /* a file of nothing */
    if (answer->content_type != NULL && is_content &&
        !add_header(response, "Content-Type", evd_text_from(answer->content_type)))
        return false;
    for (size_t i = 0; i < answer->header_count; i++)
        if (!add_header(response, answer->headers[i].name, answer->headers[i].value)) return false;
    return true;
}

static struct MHD_Response *streamed_new(struct evd_http_private *exchange) {
    enum MHD_ResponseFlags flags = comes_in_chunks(exchange) ? MHD_RF_NONE : MHD_RF_HTTP_1_0_COMPATIBLE_STRICT;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, evd_http_stream_read, exchange, NULL);
    if (response != NULL) (void)MHD_set_response_options(response, flags, MHD_RO_END);
    return response;
}

static struct MHD_Response *whole_new(const struct evd_text *body) {
    /* The library asks for memory it may write and does not: this is said to be persistent. */
    union {
        const char *ours;
        void *theirs;
    } bytes = {.ours = body->size_bytes == 0 ? NULL : body->bytes};
    return MHD_create_response_from_buffer(body->size_bytes, bytes.theirs, MHD_RESPMEM_PERSISTENT);
}

/* NULL when the answer cannot be put on the wire, or memory is out. */
static struct MHD_Response *response_new(struct evd_http_private *exchange) {
    const struct evd_http_response *answer = &exchange->answer;
    if (answer->status < 200 || answer->status > 599) return NULL;
    struct MHD_Response *response = answer->streamed ? streamed_new(exchange) : whole_new(&answer->body);
    if (response == NULL || add_headers(response, exchange)) return response;
    MHD_destroy_response(response);
    return NULL;
}

enum MHD_Result evd_http_respond(struct evd_http_private *exchange) {
    struct evd_http_server *server = exchange->shown.server;
    struct MHD_Response *response = response_new(exchange);
    if (response == NULL) {
        exchange->answer = (struct evd_http_response){.status = 500, .close = true};
        exchange->shown.status = 500;
        response = response_new(exchange);
    }
    if (response == NULL) return MHD_NO;
    exchange->step = EVD_STEP_SENDING;
    exchange->piece = exchange->answer.body;
    evd_http_connection_moves(server, exchange->connection, evd_clock_monotonic_us(server->options.clock),
                              exchange->answer.streamed ? 0 : exchange->answer.body.size_bytes);
    if (exchange->answer.streamed) evd_http_connection_streams(exchange->connection, exchange->shown.is_old);
    enum MHD_Result queued = MHD_queue_response(exchange->mhd, exchange->answer.status, response);
    MHD_destroy_response(response);
    return queued;
}
