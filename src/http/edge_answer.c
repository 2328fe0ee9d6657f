#include "edge_private.h"

#include "evidenced/base/buffer.h"
#include "evidenced/base/clock.h"
#include "evidenced/base/sha256.h"
#include "evidenced/http/problem.h"

#include <assert.h>
#include <inttypes.h>

enum { ETAG_BYTES = 16, PROBLEM_BYTES = 1024 };

bool evd_edge_within(struct evd_arena *arena, void (*step)(void *), void *argument) {
    jmp_buf escape;
    arena->escape = &escape;
    if (setjmp(escape) == 0) {
        step(argument);
        arena->escape = NULL;
        return true;
    }
    arena->escape = NULL;
    return false;
}

void evd_edge_reply_header(struct evd_edge_reply *reply, const char *name, struct evd_text value) {
    assert(reply->response.header_count < EVD_EDGE_HEADERS);
    reply->headers[reply->response.header_count++] = (struct evd_http_header){name, value};
}

struct evd_edge_reply *evd_edge_reply_new(struct evd_edge_request *request, unsigned status) {
    struct evd_edge_reply *reply = EVD_NEW(&request->exchange->arena, struct evd_edge_reply);
    reply->response = (struct evd_http_response){.status = status, .headers = reply->headers};
    evd_edge_cors(request, reply);
    return reply;
}

static struct evd_text number_text(struct evd_edge_request *request, unsigned number) {
    return evd_text_print(&request->exchange->arena, "%u", number);
}

struct evd_edge_reply *evd_edge_problem(struct evd_edge_request *request, const struct evd_outcome *outcome,
                                        unsigned status) {
    struct evd_http_exchange *exchange = request->exchange;
    struct evd_buffer body;
    struct evd_problem problem = {.outcome = *outcome,
                                  .status = status == 0 ? evd_outcome_entry_of(outcome->code)->status : status,
                                  .request_id = exchange->request_id};
    if (!evd_uuid_is_nil(request->call.command_id)) problem.command_id = &request->call.command_id;
    evd_buffer_init(&body, &exchange->arena, PROBLEM_BYTES);
    evd_problem_render(&problem, &body);
    struct evd_edge_reply *reply = evd_edge_reply_new(request, problem.status);
    unsigned seconds = evd_problem_retry_seconds(outcome->code);
    if (seconds > 0) evd_edge_reply_header(reply, "Retry-After", number_text(request, seconds));
    evd_edge_reply_header(reply, "Cache-Control", EVD_TEXT("no-store"));
    reply->response.content_type = EVD_PROBLEM_CONTENT_TYPE;
    reply->response.body = evd_buffer_text(&body);
    request->outcome = outcome->code;
    return reply;
}

struct evd_edge_reply *evd_edge_problem_of(struct evd_edge_request *request, enum evd_outcome_code code) {
    struct evd_outcome outcome = evd_outcome_of(code);
    return evd_edge_problem(request, &outcome, 0);
}

struct evd_edge_reply *evd_edge_malformed(struct evd_edge_request *request, struct evd_text detail,
                                          struct evd_text members) {
    struct evd_outcome outcome = {.code = EVD_MALFORMED, .detail = detail, .members = members};
    return evd_edge_problem(request, &outcome, 0);
}

/* RFC 6750 §3: without a token there is no error to tell. */
struct evd_edge_reply *evd_edge_unauthenticated(struct evd_edge_request *request, const char *why) {
    struct evd_arena *arena = &request->exchange->arena;
    struct evd_outcome outcome = evd_outcome_of(EVD_UNAUTHENTICATED);
    struct evd_text challenge = EVD_TEXT("Bearer realm=\"evidenced\"");
    if (why != NULL) {
        outcome.detail = evd_text_print(arena, "A valid bearer token is needed: %s.", why);
        challenge =
            evd_text_print(arena, "Bearer realm=\"evidenced\", error=\"invalid_token\", error_description=\"%s\"", why);
    }
    struct evd_edge_reply *reply = evd_edge_problem(request, &outcome, 0);
    evd_edge_reply_header(reply, "WWW-Authenticate", challenge);
    return reply;
}

/* The first half of the digest of what is sent, quoted. */
static struct evd_text digest_etag(struct evd_edge_request *request, struct evd_text body) {
    struct evd_sha256 digest = evd_sha256_of(body.bytes, body.size_bytes);
    char *text = evd_arena_alloc(&request->exchange->arena, 2 * ETAG_BYTES + 3);
    text[0] = '"';
    for (size_t i = 0; i < ETAG_BYTES; i++)
        (void)snprintf(text + 1 + 2 * i, 3, "%02x", digest.bytes[i]);
    text[1 + 2 * ETAG_BYTES] = '"';
    return (struct evd_text){text, 2 * ETAG_BYTES + 2};
}

/* Weak comparison, RFC 9110 §13.1.2: an entry may carry `W/`. */
static bool names_etag(struct evd_text list, struct evd_text etag) {
    while (list.size_bytes > 0) {
        const char *comma = memchr(list.bytes, ',', list.size_bytes);
        size_t size_bytes = comma == NULL ? list.size_bytes : (size_t)(comma - list.bytes);
        struct evd_text entry = evd_text_trim((struct evd_text){list.bytes, size_bytes});
        if (evd_text_starts_with(entry, EVD_TEXT("W/")))
            entry = (struct evd_text){entry.bytes + 2, entry.size_bytes - 2};
        if (evd_text_equal(entry, etag) || evd_text_equal(entry, EVD_TEXT("*"))) return true;
        if (comma == NULL) return false;
        list = (struct evd_text){comma + 1, list.size_bytes - size_bytes - 1};
    }
    return false;
}

/* What a command says its answer's is; else, for views, one of the body. Bytes NULL: none. */
static struct evd_text etag_of(struct evd_edge_request *request) {
    const struct evd_call *call = &request->call;
    if (call->command->conditional && call->etag > 0)
        return evd_text_print(&request->exchange->arena, "\"%" PRId64 "\"", call->etag);
    if (call->command->commit == EVD_COMMIT_READ) return digest_etag(request, call->receipt);
    return (struct evd_text){NULL, 0};
}

static struct evd_edge_reply *view_reply(struct evd_edge_request *request) {
    const struct evd_call *call = &request->call;
    struct evd_text etag = etag_of(request);
    struct evd_text known = evd_http_exchange_header(request->exchange, "If-None-Match");
    bool same = names_etag(known, etag);
    struct evd_edge_reply *reply = evd_edge_reply_new(request, same ? 304 : 200);
    evd_edge_reply_header(reply, "ETag", etag);
    evd_edge_reply_header(reply, "Cache-Control",
                          call->command->immutable ? EVD_TEXT("private, immutable, max-age=31536000")
                                                   : EVD_TEXT("no-store"));
    if (call->progress == EVD_PROGRESS_UNDER_WAY) evd_edge_reply_header(reply, "Retry-After", EVD_TEXT("1"));
    if (!same) reply->response.body = call->receipt;
    return reply;
}

static struct evd_edge_reply *receipt_reply(struct evd_edge_request *request) {
    bool begins = request->call.command->commit == EVD_COMMIT_OPERATION;
    struct evd_edge_reply *reply = evd_edge_reply_new(request, begins ? 202 : 200);
    struct evd_text etag = etag_of(request);
    evd_edge_reply_header(reply, "Cache-Control", EVD_TEXT("no-store"));
    if (etag.bytes != NULL) evd_edge_reply_header(reply, "ETag", etag);
    if (request->call.replayed) evd_edge_reply_header(reply, "Idempotency-Replayed", EVD_TEXT("true"));
    if (begins) evd_edge_operation_headers(request, reply);
    reply->response.body = request->call.receipt;
    return reply;
}

const char *evd_edge_content_type(const struct evd_command *command) {
    return command->content_type == NULL ? "application/json" : command->content_type;
}

struct evd_edge_reply *evd_edge_call_reply(struct evd_edge_request *request) {
    const struct evd_call *call = &request->call;
    if (call->outcome.code != EVD_OK) return evd_edge_problem(request, &call->outcome, 0);
    bool is_view = call->command->commit == EVD_COMMIT_READ;
    struct evd_edge_reply *reply = is_view ? view_reply(request) : receipt_reply(request);
    reply->response.content_type = evd_edge_content_type(call->command);
    return reply;
}

void evd_edge_note(struct evd_edge_request *request) {
    const struct evd_call *call = &request->call;
    struct evd_figures *figures = request->edge->options.figures;
    request->is_noted = true;
    request->answered_us = evd_clock_monotonic_us(request->edge->options.clock);
    int64_t duration_us = request->answered_us - request->exchange->begun_us;
    evd_figures_request(figures, request->command, request->outcome, duration_us);
    if (call->command != NULL)
        evd_figures_retries(figures, request->command, call->attempts_charged, call->attempts_free);
}

void evd_edge_out_of_memory(struct evd_edge_request *request, struct evd_http_response *ret_response) {
    static const struct evd_http_header retry = {"Retry-After", EVD_TEXT_INIT("1")};
    *ret_response = (struct evd_http_response){.status = 503,
                                               .headers = &retry,
                                               .header_count = 1,
                                               .content_type = EVD_PROBLEM_CONTENT_TYPE,
                                               .body = evd_problem_out_of_memory()};
    request->outcome = EVD_OUT_OF_MEMORY;
}
