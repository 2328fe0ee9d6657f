/*
 * One exchange, from its request line to its last byte.
 *
 *   request line ► HEAD ► (refused, or answered by `head`: SENDING, or DISCARD the body first)
 *                       ► BODY … ► whole ► ANSWER ► SENDING ► end
 *
 * The handover. After `whole` the application answers from any thread, maybe before the server's thread has suspended
 * the connection, maybe long after. Both swap the exchange's handover: who comes second resumes. Whoever finds HANDED
 * came first and must not touch the exchange again. The library's thread alone queues the response and frees the
 * exchange, so nothing of the library is called from the application's thread but MHD_resume_connection(). The pieces
 * of a streamed body are handed over in the same way, see stream.c.
 */
#include "internal.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/limits.h"

#include <assert.h>

_Static_assert(offsetof(struct evd_http_private, shown) == 0, "the one is found from the other");

static const struct evd_http_private *private_of(const struct evd_http_exchange *shown) {
    return (const struct evd_http_private *)shown;
}

bool evd_http_within_arena(struct evd_arena *arena, void (*step)(void *), void *argument) {
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

static void keep_target(void *self) {
    struct evd_http_private *exchange = self;
    exchange->raw = evd_text_copy(&exchange->shown.arena, exchange->raw);
}

/* The library would split the query into one record of its memory per parameter and, when that runs out, forget that
 * it has answered and hang (measured with 0.9.75: 600 ampersands). `uri` lies in its buffer, which it reads on from
 * after this call: an end right behind the question mark leaves it nothing to split. */
static void hide_query(const char *uri) {
    char *mark = strchr(uri, '?');
    if (mark != NULL && evd_http_layout_is_known()) mark[1] = '\0';
}

void *evd_http_exchange_begin(void *self, const char *uri, struct MHD_Connection *mhd) {
    struct evd_http_server *server = self;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct evd_http_connection *connection = info == NULL ? NULL : info->socket_context;
    struct evd_http_private *exchange = connection == NULL ? NULL : calloc(1, sizeof *exchange);
    if (exchange == NULL) return NULL;
    exchange->connection = connection;
    exchange->mhd = mhd;
    exchange->arrived_us = evd_clock_monotonic_us(server->options.clock);
    exchange->raw = evd_text_from(uri);
    exchange->raw_bytes = exchange->raw.size_bytes;
    exchange->shown.server = server;
    exchange->shown.peer = evd_text_from(connection->peer);
    exchange->shown.peer_uid = connection->peer_uid;
    atomic_init(&exchange->handover, EVD_HANDED);
    evd_arena_init(&exchange->shown.arena, server->options.arena_cap_bytes);
    bool kept =
        exchange->raw_bytes <= EVD_TARGET_BYTES && evd_http_within_arena(&exchange->shown.arena, keep_target, exchange);
    if (!kept) exchange->raw = (struct evd_text){NULL, 0};
    hide_query(uri);
    evd_http_connection_moves(server, connection, exchange->arrived_us, 0);
    return exchange;
}

/* The arguments of an application's callback, to run it within the arena. */
struct asking {
    struct evd_http_private *exchange;
    struct evd_guard_refusal refusal;
    struct evd_http_response answer;
    size_t limit_bytes;
    bool answered;
};

static void ask_refusal(void *self) {
    struct asking *asking = self;
    const struct evd_http_application *application = &asking->exchange->shown.server->options.application;
    application->refuse(application->self, &asking->exchange->shown, asking->refusal.status, asking->refusal.what,
                        &asking->answer);
}

static void ask_head(void *self) {
    struct asking *asking = self;
    const struct evd_http_application *application = &asking->exchange->shown.server->options.application;
    asking->answered =
        application->head(application->self, &asking->exchange->shown, &asking->limit_bytes, &asking->answer);
}

/* Answer before the request was read: the library then closes the connection after the response. */
static enum MHD_Result answer_now(struct evd_http_private *exchange, const struct evd_http_response *answer) {
    exchange->answer = *answer;
    exchange->answer.close = true;
    exchange->unread = true;
    exchange->shown.status = answer->status;
    return evd_http_respond(exchange);
}

static enum MHD_Result refuse(struct evd_http_private *exchange, struct evd_guard_refusal refusal) {
    struct asking asking = {.exchange = exchange, .refusal = refusal, .answer = {.status = refusal.status}};
    if (!evd_http_within_arena(&exchange->shown.arena, ask_refusal, &asking))
        asking.answer = (struct evd_http_response){.status = refusal.status};
    return answer_now(exchange, &asking.answer);
}

/* The head gave the answer. The connection survives when the rest of the request is nothing, or little. */
static enum MHD_Result answer_from_head(struct evd_http_private *exchange, const struct evd_http_response *answer) {
    bool waits = evd_http_exchange_header(&exchange->shown, "Expect").bytes != NULL;
    size_t rest_bytes = exchange->shown.content_length;
    if (rest_bytes > EVD_HTTP_DISCARD_BYTES || (rest_bytes > 0 && waits)) return answer_now(exchange, answer);
    exchange->answer = *answer;
    exchange->shown.status = answer->status;
    exchange->step = EVD_STEP_DISCARD;
    return MHD_YES;
}

static void take_body_memory(void *self) {
    struct evd_http_private *exchange = self;
    exchange->body = evd_arena_alloc(&exchange->shown.arena, exchange->shown.content_length + 1);
}

static struct evd_guard_refusal spool_body(struct evd_http_private *exchange) {
    switch (
        evd_spool_take(exchange->shown.server->options.spool, exchange->shown.content_length + 1, &exchange->spooled)) {
    case EVD_SPOOL_OK: exchange->body = exchange->spooled.bytes; return EVD_GUARD_PASS;
    case EVD_SPOOL_BUSY:
        return (struct evd_guard_refusal){429, "Too many large bodies are on their way; please try again shortly."};
    case EVD_SPOOL_FULL: break;
    }
    return (struct evd_guard_refusal){507, "There is no room on the disk for the body."};
}

static struct evd_guard_refusal make_room(struct evd_http_private *exchange) {
    bool large = exchange->shown.content_length > EVD_HTTP_SPOOL_ABOVE_BYTES;
    if (large && exchange->shown.server->options.spool != NULL) return spool_body(exchange);
    if (evd_http_within_arena(&exchange->shown.arena, take_body_memory, exchange)) return EVD_GUARD_PASS;
    return (struct evd_guard_refusal){503, "The server is out of memory."};
}

static enum MHD_Result show_head(struct evd_http_private *exchange) {
    struct asking asking = {.exchange = exchange};
    struct evd_arena *arena = &exchange->shown.arena;
    if (!evd_http_within_arena(arena, ask_head, &asking))
        return refuse(exchange, (struct evd_guard_refusal){503, "The server is out of memory."});
    if (asking.answered) return answer_from_head(exchange, &asking.answer);
    if (exchange->shown.content_length > asking.limit_bytes)
        return refuse(exchange, (struct evd_guard_refusal){413, "The body is larger than this request may have."});
    struct evd_guard_refusal refusal = make_room(exchange);
    if (refusal.status != 0) return refuse(exchange, refusal);
    exchange->step = EVD_STEP_BODY;
    return MHD_YES;
}

static enum MHD_Result take_head(struct evd_http_server *server, struct evd_http_private *exchange, const char *method,
                                 const char *version) {
    exchange->shown.begun_us = evd_clock_monotonic_us(server->options.clock);
    exchange->counted = true;
    atomic_fetch_add(&server->in_flight, 1); /* before closing is looked at: see evd_http_server_close */
    struct evd_guard_refusal refusal = evd_http_head_take(exchange, method, version);
    if (refusal.status == 0 && atomic_load(&server->closing))
        refusal = (struct evd_guard_refusal){503, "The server is shutting down."};
    if (refusal.status != 0) return refuse(exchange, refusal);
    evd_http_connection_moves(server, exchange->connection, exchange->arrived_us, exchange->shown.content_length);
    return show_head(exchange);
}

bool evd_http_exchange_is_answered(struct evd_http_private *exchange) {
    return atomic_load_explicit(&exchange->handover, memory_order_acquire) == EVD_ANSWERED;
}

void evd_http_exchange_park(struct evd_http_private *exchange) {
    int expected = EVD_HANDED;
    MHD_suspend_connection(exchange->mhd);
    bool parked = atomic_compare_exchange_strong(&exchange->handover, &expected, EVD_PARKED);
    if (!parked) MHD_resume_connection(exchange->mhd); /* answered in between; the library calls again at once */
}

void evd_http_exchange_hand_back(struct evd_http_private *exchange) {
    int before = atomic_exchange(&exchange->handover, EVD_ANSWERED);
    assert(before != EVD_ANSWERED);
    if (before == EVD_PARKED) MHD_resume_connection(exchange->mhd);
}

static enum MHD_Result hand_over(struct evd_http_server *server, struct evd_http_private *exchange) {
    exchange->step = EVD_STEP_ANSWER;
    exchange->shown.body = (struct evd_text){exchange->body, exchange->body_bytes};
    evd_http_connection_parked(exchange->connection);
    server->options.application.whole(server->options.application.self, &exchange->shown);
    if (evd_http_exchange_is_answered(exchange)) return evd_http_respond(exchange);
    evd_http_exchange_park(exchange);
    return MHD_YES;
}

static enum MHD_Result take_piece(struct evd_http_server *server, struct evd_http_private *exchange, const char *piece,
                                  size_t *piece_bytes) {
    bool more = *piece_bytes > 0;
    if (*piece_bytes > exchange->shown.content_length - exchange->body_bytes) return MHD_NO;
    if (more && exchange->step == EVD_STEP_BODY) memcpy(exchange->body + exchange->body_bytes, piece, *piece_bytes);
    exchange->body_bytes += *piece_bytes;
    *piece_bytes = 0;
    if (more) return MHD_YES;
    if (exchange->body_bytes != exchange->shown.content_length) return MHD_NO;
    return exchange->step == EVD_STEP_BODY ? hand_over(server, exchange) : evd_http_respond(exchange);
}

enum MHD_Result evd_http_exchange_proceed(void *self, struct MHD_Connection *mhd, const char *url, const char *method,
                                          const char *version, const char *piece, size_t *piece_bytes, void **context) {
    struct evd_http_private *exchange = *context;
    (void)mhd;
    (void)url; /* decoded by the library; the guard decodes its own */
    if (exchange == NULL) return MHD_NO;
    switch (exchange->step) {
    case EVD_STEP_HEAD: return take_head(self, exchange, method, version);
    case EVD_STEP_BODY:
    case EVD_STEP_DISCARD: return take_piece(self, exchange, piece, piece_bytes);
    case EVD_STEP_ANSWER: return evd_http_exchange_is_answered(exchange) ? evd_http_respond(exchange) : MHD_YES;
    case EVD_STEP_SENDING: return MHD_YES;
    }
    return MHD_NO;
}

void evd_http_exchange_answer(struct evd_http_exchange *shown, const struct evd_http_response *response) {
    struct evd_http_private *exchange = (struct evd_http_private *)shown;
    assert(!evd_http_exchange_is_answered(exchange));
    shown->status = response->status;
    exchange->answer = *response;
    evd_http_exchange_hand_back(exchange);
}

void evd_http_exchange_forget_body(struct evd_http_exchange *shown) {
    struct evd_http_private *exchange = (struct evd_http_private *)shown;
    shown->body = (struct evd_text){NULL, 0};
    evd_spool_give_back(shown->server->options.spool, &exchange->spooled);
}

static void uncount(struct evd_http_server *server) {
    bool last = atomic_fetch_sub(&server->in_flight, 1) == 1;
    if (!last || !atomic_load(&server->closing)) return;
    pthread_mutex_lock(&server->mutex);
    pthread_cond_broadcast(&server->drained);
    pthread_mutex_unlock(&server->mutex);
}

void evd_http_exchange_end(void *self, struct MHD_Connection *mhd, void **context,
                           enum MHD_RequestTerminationCode why) {
    struct evd_http_server *server = self;
    struct evd_http_private *exchange = *context;
    (void)mhd;
    if (exchange == NULL) return;
    *context = NULL;
    bool sent = why == MHD_REQUEST_TERMINATED_COMPLETED_OK && exchange->step == EVD_STEP_SENDING;
    /* The library ends a connection that is idle too long in an orderly way. */
    if (!sent && exchange->answer.streamed) evd_http_connection_cut(exchange->connection);
    evd_http_connection_idle(server, exchange->connection);
    if (sent && exchange->unread) evd_http_linger(server, exchange->connection->fd);
    if (exchange->counted) server->options.application.ended(server->options.application.self, &exchange->shown, sent);
    bool counted = exchange->counted;
    evd_spool_give_back(server->options.spool, &exchange->spooled);
    evd_arena_done(&exchange->shown.arena);
    free(exchange);
    if (counted) uncount(server);
}

struct evd_text evd_http_exchange_header(const struct evd_http_exchange *shown, const char *name) {
    const struct evd_http_private *exchange = private_of(shown);
    struct evd_text wanted = evd_text_from(name);
    for (size_t i = 0; i < exchange->field_count; i++)
        if (evd_text_equal_ignoring_case(exchange->fields[i].name, wanted)) return exchange->fields[i].value;
    return (struct evd_text){NULL, 0};
}

size_t evd_http_exchange_header_count(const struct evd_http_exchange *shown, const char *name) {
    const struct evd_http_private *exchange = private_of(shown);
    struct evd_text wanted = evd_text_from(name);
    size_t count = 0;
    for (size_t i = 0; i < exchange->field_count; i++)
        count += evd_text_equal_ignoring_case(exchange->fields[i].name, wanted);
    return count;
}

static bool is_among(struct evd_text text, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (evd_text_equal(text, evd_text_from(names[i]))) return true;
    return false;
}

struct evd_text evd_http_exchange_query_beyond(const struct evd_http_exchange *shown, const char *const *names,
                                               size_t count) {
    const struct evd_target *target = &private_of(shown)->target;
    for (size_t i = 0; i < target->parameter_count; i++)
        if (!is_among(target->parameters[i].name, names, count)) return target->parameters[i].name;
    return (struct evd_text){NULL, 0};
}

size_t evd_http_exchange_queries(const struct evd_http_exchange *shown, const char *name, struct evd_text *ret_values,
                                 size_t most) {
    const struct evd_target *target = &private_of(shown)->target;
    struct evd_text wanted = evd_text_from(name);
    size_t count = 0;
    for (size_t i = 0; i < target->parameter_count; i++) {
        if (!evd_text_equal(target->parameters[i].name, wanted)) continue;
        if (count < most) ret_values[count] = target->parameters[i].value;
        count++;
    }
    return count;
}

struct evd_text evd_http_exchange_query(const struct evd_http_exchange *shown, const char *name) {
    const struct evd_target *target = &private_of(shown)->target;
    struct evd_text wanted = evd_text_from(name);
    for (size_t i = 0; i < target->parameter_count; i++)
        if (evd_text_equal(target->parameters[i].name, wanted)) return target->parameters[i].value;
    return (struct evd_text){NULL, 0};
}
