/*
 * The edge on the server's threads: heads, refusals, ends. Nothing here waits for anything.
 */
#include "edge_private.h"

#include "evidenced/base/clock.h"
#include "evidenced/http/problem.h"
#include "evidenced/runtime/runtime.h"

#include <assert.h>
#include <unistd.h>

enum { ADDRESS_ENTRIES = 4096 };

/* The settings. */

static struct evd_text copy_of(struct evd_text text) {
    char *bytes = strndup(text.bytes, text.size_bytes);
    if (bytes == NULL) abort();
    return (struct evd_text){bytes, text.size_bytes};
}

static void free_origins(struct evd_text *origins, size_t count) {
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)origins[i].bytes);
}

void evd_edge_set(struct evd_edge *edge, const struct evd_edge_settings *settings) {
    struct evd_text origins[EVD_EDGE_LIST_MOST], before[EVD_EDGE_LIST_MOST];
    struct evd_network proxies[EVD_EDGE_LIST_MOST] = {{.bits = 0}};
    size_t proxy_count = 0;
    assert(settings->origin_count <= EVD_EDGE_LIST_MOST && settings->proxy_count <= EVD_EDGE_LIST_MOST);
    for (size_t i = 0; i < settings->origin_count; i++)
        origins[i] = copy_of(settings->origins[i]);
    for (size_t i = 0; i < settings->proxy_count; i++)
        if (evd_network_parse(settings->proxies[i], &proxies[proxy_count])) proxy_count++;
    (void)pthread_rwlock_wrlock(&edge->lock);
    size_t before_count = edge->origin_count;
    memcpy(before, edge->origins, before_count * sizeof *before);
    memcpy(edge->origins, origins, settings->origin_count * sizeof *origins);
    memcpy(edge->proxies, proxies, proxy_count * sizeof *proxies);
    edge->origin_count = settings->origin_count;
    edge->proxy_count = proxy_count;
    edge->subject = settings->subject;
    (void)pthread_rwlock_unlock(&edge->lock);
    free_origins(before, before_count);
}

struct evd_edge *evd_edge_new(const struct evd_edge_options *options) {
    struct evd_edge *edge = calloc(1, sizeof *edge);
    if (edge == NULL) return NULL;
    edge->options = *options;
    edge->subject = (struct evd_limits){.in_flight = 1, .rate = 1, .burst = 1};
    edge->operator_id = evd_uuid_derive("operator", NULL, 0);
    edge->router = evd_router_new(options->commands, options->command_count);
    edge->subjects = evd_limiter_new(0);
    edge->addresses = evd_limiter_new(ADDRESS_ENTRIES);
    atomic_init(&edge->ready, EVD_STORE_IS_UNAVAILABLE);
    (void)pthread_rwlock_init(&edge->lock, NULL);
    for (int door = 0; door < EVD_DOOR_COUNT; door++)
        edge->doors[door] = (struct evd_edge_at){edge, (enum evd_edge_door)door};
    if (edge->subjects != NULL && edge->addresses != NULL) return edge;
    evd_edge_free(edge);
    return NULL;
}

void evd_edge_free(struct evd_edge *edge) {
    if (edge == NULL) return;
    free_origins(edge->origins, edge->origin_count);
    evd_limiter_free(edge->addresses);
    evd_limiter_free(edge->subjects);
    evd_router_free(edge->router);
    (void)pthread_rwlock_destroy(&edge->lock);
    free(edge);
}

void evd_edge_start(struct evd_edge *edge, struct evd_runtime *runtime) {
    atomic_store(&edge->runtime, runtime);
}

void evd_edge_offer_backups(struct evd_edge *edge, struct evd_store *store) {
    atomic_store(&edge->store, store);
}

static void show_ready(struct evd_edge *edge) {
    bool ready = atomic_load(&edge->ready) == EVD_OK && !atomic_load(&edge->draining);
    evd_figures_set_ready(edge->options.figures, ready);
}

void evd_edge_set_ready(struct evd_edge *edge, enum evd_outcome_code code) {
    atomic_store(&edge->ready, code);
    show_ready(edge);
}

void evd_edge_drain(struct evd_edge *edge) {
    atomic_store(&edge->draining, true);
    show_ready(edge);
}

/* Heads. */

struct evd_edge_reply *evd_edge_refuse(struct evd_edge_request *request, enum evd_outcome_code code,
                                       struct evd_text detail) {
    struct evd_outcome outcome = {.code = code, .detail = detail};
    return evd_edge_problem(request, &outcome, 0);
}

/* Tokens are looked at by workers; that there is one is seen here. */
static struct evd_edge_reply *take_token(struct evd_edge_request *request, struct evd_text header) {
    static const struct evd_text scheme = EVD_TEXT_INIT("Bearer ");
    struct evd_text start = {header.bytes, header.size_bytes < scheme.size_bytes ? 0 : scheme.size_bytes};
    if (!evd_text_equal_ignoring_case(start, scheme)) return evd_edge_unauthenticated(request, NULL);
    struct evd_text rest = {header.bytes + scheme.size_bytes, header.size_bytes - scheme.size_bytes};
    request->token = evd_text_trim(rest);
    return request->token.size_bytes > 0 ? NULL : evd_edge_unauthenticated(request, NULL);
}

struct evd_edge_reply *evd_edge_refuse_stranger(struct evd_edge_request *request) {
    struct evd_http_exchange *exchange = request->exchange;
    struct evd_text header = evd_http_exchange_header(exchange, "Authorization");
    if (request->door != EVD_DOOR_CONTROL) return take_token(request, header);
    if (exchange->peer_uid != (uint32_t)geteuid()) return evd_edge_unauthenticated(request, NULL);
    return header.bytes == NULL ? NULL : take_token(request, header); /* without one: the operator */
}

static struct evd_edge_reply *refuse_method(struct evd_edge_request *request, const char *allow) {
    struct evd_edge_reply *reply = evd_edge_problem_of(request, EVD_METHOD_NOT_ALLOWED);
    evd_edge_reply_header(reply, "Allow", evd_text_from(allow));
    return reply;
}

/* False: no command has that method. */
static bool command_method(enum evd_http_method method, enum evd_command_method *ret_method) {
    switch (method) {
    case EVD_HTTP_GET:
    case EVD_HTTP_HEAD: *ret_method = EVD_COMMAND_GET; return true;
    case EVD_HTTP_POST: *ret_method = EVD_COMMAND_POST; return true;
    case EVD_HTTP_PUT: *ret_method = EVD_COMMAND_PUT; return true;
    case EVD_HTTP_PATCH: *ret_method = EVD_COMMAND_PATCH; return true;
    case EVD_HTTP_DELETE: *ret_method = EVD_COMMAND_DELETE; return true;
    case EVD_HTTP_OPTIONS:
    case EVD_HTTP_METHOD_OTHER: break;
    }
    return false;
}

static const struct evd_command *take_command(struct evd_edge_request *request, const struct evd_route *route) {
    enum evd_command_method wanted;
    request->route = route->path;
    if (!command_method(request->exchange->method, &wanted) || route->commands[wanted] == NULL) return NULL;
    request->command = route->numbers[wanted];
    request->call.ids = route->ids;
    return request->call.command = route->commands[wanted];
}

/* What has no length of its own ends with the connection for an old client, and AF_UNIX has no reset to tell it that
 * something is missing. */
static struct evd_edge_reply *refuse_stream(struct evd_edge_request *request) {
    const struct evd_http_exchange *exchange = request->exchange;
    bool ambiguous = request->call.command->streamed && exchange->is_old && request->door == EVD_DOOR_CONTROL;
    if (!ambiguous) return NULL;
    return evd_edge_refuse(request, EVD_NOT_IMPLEMENTED, EVD_TEXT("Here this answer needs HTTP/1.1."));
}

static struct evd_edge_reply *look_at(struct evd_edge_request *request) {
    struct evd_edge *edge = request->edge;
    struct evd_http_exchange *exchange = request->exchange;
    struct evd_route route;
    struct evd_edge_reply *page = evd_edge_page(request);
    if (page != NULL) return page;
    if (evd_edge_operator(request, &page)) return page;
    if (exchange->method == EVD_HTTP_OPTIONS && evd_text_equal(exchange->path, EVD_TEXT("*")))
        return evd_edge_options(request, EVD_ROUTE_ALLOW_ALL);
    if (request->door == EVD_DOOR_ADMIN || !evd_router_find(edge->router, exchange->path, &route))
        return evd_edge_problem_of(request, EVD_NOT_FOUND);
    if (exchange->method == EVD_HTTP_OPTIONS) {
        request->route = route.path;
        return evd_edge_options(request, route.allow);
    }
    if (take_command(request, &route) == NULL) return refuse_method(request, route.allow);
    struct evd_edge_reply *refusal = evd_edge_refuse_stranger(request);
    if (refusal == NULL) refusal = evd_edge_refuse_body(request);
    if (refusal == NULL) refusal = refuse_stream(request);
    if (refusal == NULL && atomic_load(&edge->runtime) == NULL)
        refusal = evd_edge_refuse(request, EVD_STORE_IS_UNAVAILABLE, EVD_TEXT("This instance is still starting."));
    return refusal;
}

static struct evd_edge_request *request_new(const struct evd_edge_at *at, struct evd_http_exchange *exchange) {
    struct evd_edge_request *request = EVD_NEW(&exchange->arena, struct evd_edge_request);
    request->edge = at->edge;
    request->door = at->door;
    request->exchange = exchange;
    request->command = EVD_FIGURES_EDGE;
    exchange->application = request;
    return request;
}

static bool on_head(void *self, struct evd_http_exchange *exchange, size_t *ret_body_limit_bytes,
                    struct evd_http_response *ret_answer) {
    struct evd_edge_request *request = request_new(self, exchange);
    struct evd_edge_reply *reply = look_at(request);
    if (reply == NULL) {
        *ret_body_limit_bytes =
            request->is_backup ? EVD_EDGE_OPERATOR_BODY_BYTES : request->call.command->body_limit_bytes;
        return false;
    }
    *ret_answer = reply->response;
    request->body_bytes = ret_answer->body.size_bytes;
    evd_edge_note(request);
    return true;
}

static void on_whole(void *self, struct evd_http_exchange *exchange) {
    struct evd_edge_request *request = exchange->application;
    (void)self;
    if (request->is_backup)
        evd_edge_back_up(request);
    else
        evd_edge_submit(request);
}

static void on_more(void *self, struct evd_http_exchange *exchange) {
    (void)self;
    evd_edge_stream_more(exchange->application);
}

static void on_refuse(void *self, struct evd_http_exchange *exchange, unsigned status, const char *what,
                      struct evd_http_response *ret_answer) {
    struct evd_edge_request *request = exchange->application;
    if (request == NULL) request = request_new(self, exchange);
    struct evd_outcome outcome = {.code = evd_problem_of_status(status), .detail = evd_text_from(what)};
    if (status == 503 && atomic_load(&request->edge->draining)) outcome.code = EVD_DRAINING;
    if (status == 507) status = 0; /* the outcome's own */
    struct evd_edge_reply *reply = evd_edge_problem(request, &outcome, status);
    *ret_answer = reply->response;
    request->body_bytes = ret_answer->body.size_bytes;
    evd_edge_note(request);
}

static void on_ended(void *self, struct evd_http_exchange *exchange, bool sent) {
    struct evd_edge_request *request = exchange->application;
    (void)self;
    if (request == NULL) return; /* there was no memory even for it */
    evd_edge_leave(request);
    if (request->streams && !request->is_noted) evd_edge_note(request); /* the client left before its end */
    evd_edge_log_end(request, sent);
    evd_arena_done(&request->call.attempt_arena);
    if (request->look != NULL) evd_arena_done(&request->look->attempt_arena);
}

void evd_edge_application(struct evd_edge *edge, enum evd_edge_door door,
                          struct evd_http_application *ret_application) {
    *ret_application = (struct evd_http_application){.self = &edge->doors[door],
                                                     .head = on_head,
                                                     .whole = on_whole,
                                                     .more = on_more,
                                                     .refuse = on_refuse,
                                                     .ended = on_ended};
}
