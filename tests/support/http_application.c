#include "http_application.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"

#include <sched.h>

static struct evd_text path_of(const struct evd_http_exchange *exchange) {
    return exchange->path;
}

static bool is_at(const struct evd_http_exchange *exchange, const char *path) {
    return evd_text_equal(path_of(exchange), evd_text_from(path));
}

static void note(struct evd_app *app, unsigned *counter, const struct evd_http_exchange *exchange) {
    pthread_mutex_lock(&app->mutex);
    (*counter)++;
    struct evd_text path = path_of(exchange);
    if (path.size_bytes > 0 && memmem(path.bytes, path.size_bytes, "smuggled", 8) != NULL) app->saw_smuggled = true;
    (void)snprintf(app->last_peer, sizeof app->last_peer, EVD_TEXT_FMT, EVD_TEXT_ARG(exchange->peer));
    app->last_uid = exchange->peer_uid;
    pthread_cond_broadcast(&app->changed);
    pthread_mutex_unlock(&app->mutex);
}

static bool on_head(void *self, struct evd_http_exchange *exchange, size_t *ret_body_limit_bytes,
                    struct evd_http_response *ret_answer) {
    struct evd_app *app = self;
    note(app, &app->heads, exchange);
    *ret_body_limit_bytes = EVD_APP_BODY_BYTES;
    if (is_at(exchange, "/none")) *ret_body_limit_bytes = 0;
    if (is_at(exchange, "/upload")) *ret_body_limit_bytes = EVD_APP_LARGE_BODY_BYTES;
    if (!is_at(exchange, "/head")) return false;
    *ret_answer =
        (struct evd_http_response){.status = 401, .content_type = "text/plain", .body = EVD_TEXT("who are you?")};
    return true;
}

static const char *method_name(enum evd_http_method method) {
    switch (method) {
    case EVD_HTTP_GET: return "GET";
    case EVD_HTTP_HEAD: return "HEAD";
    case EVD_HTTP_POST: return "POST";
    case EVD_HTTP_PUT: return "PUT";
    case EVD_HTTP_PATCH: return "PATCH";
    case EVD_HTTP_DELETE: return "DELETE";
    case EVD_HTTP_OPTIONS: return "OPTIONS";
    case EVD_HTTP_METHOD_OTHER: return "OTHER";
    }
    return "";
}

static void answer_stream(struct evd_http_exchange *exchange) {
    struct evd_http_response response = {
        .status = 200, .content_type = "text/plain", .body = EVD_TEXT("first;"), .streamed = true};
    evd_http_exchange_answer(exchange, &response);
}

/* Pieces of /count: "0;", nothing, "1;", nothing, … */
static void give_count(struct evd_app *app, struct evd_http_exchange *exchange, unsigned mores) {
    unsigned number = mores / 2;
    if (number == EVD_APP_COUNT) {
        evd_http_exchange_give(exchange, EVD_TEXT("end"), true);
        return;
    }
    (void)snprintf(app->counted, sizeof app->counted, "%u;", number);
    evd_http_exchange_give(exchange, mores % 2 == 0 ? evd_text_from(app->counted) : EVD_TEXT(""), false);
}

static void on_more(void *self, struct evd_http_exchange *exchange) {
    struct evd_app *app = self;
    unsigned mores = evd_app_count(app, &app->mores);
    if (is_at(exchange, "/count")) {
        note(app, &app->mores, exchange);
        give_count(app, exchange, mores);
        return;
    }
    pthread_mutex_lock(&app->mutex);
    app->wanting = exchange;
    app->mores++;
    pthread_cond_broadcast(&app->changed);
    pthread_mutex_unlock(&app->mutex);
}

/* The exchange that wants a piece, once there is one. */
static struct evd_http_exchange *take_wanting(struct evd_app *app) {
    pthread_mutex_lock(&app->mutex);
    while (app->wanting == NULL)
        pthread_cond_wait(&app->changed, &app->mutex);
    struct evd_http_exchange *exchange = app->wanting;
    app->wanting = NULL;
    pthread_mutex_unlock(&app->mutex);
    return exchange;
}

void evd_app_give(struct evd_app *app, struct evd_text piece, bool last) {
    evd_http_exchange_give(take_wanting(app), piece, last);
}

void evd_app_cut(struct evd_app *app) {
    evd_http_exchange_cut(take_wanting(app));
}

static void answer(struct evd_http_exchange *exchange) {
    struct evd_arena *arena = &exchange->arena;
    struct evd_http_header *header = EVD_NEW(arena, struct evd_http_header);
    struct evd_http_response response = {.status = 200, .content_type = "text/plain"};
    *header = (struct evd_http_header){"X-Answer", EVD_TEXT("yes")};
    if (is_at(exchange, "/broken")) header->value = EVD_TEXT("a\001b"); /* the library would let it pass */
    response.headers = header;
    response.header_count = 1;
    struct evd_text query = evd_http_exchange_query(exchange, "q");
    if (is_at(exchange, "/large"))
        response.body = (struct evd_text){evd_arena_alloc(arena, EVD_APP_LARGE_BYTES), EVD_APP_LARGE_BYTES};
    else if (is_at(exchange, "/upload"))
        response.body = evd_text_print(arena, "%zu", exchange->body.size_bytes);
    else
        response.body =
            evd_text_print(arena, "%s " EVD_TEXT_FMT "%s" EVD_TEXT_FMT " " EVD_TEXT_FMT, method_name(exchange->method),
                           EVD_TEXT_ARG(exchange->path), query.bytes == NULL ? "" : " q=", EVD_TEXT_ARG(query),
                           EVD_TEXT_ARG(exchange->body));
    evd_http_exchange_answer(exchange, &response);
}

static void on_whole(void *self, struct evd_http_exchange *exchange) {
    struct evd_app *app = self;
    bool worker = is_at(exchange, "/worker"), hold = is_at(exchange, "/hold");
    if (!worker && !hold) {
        note(app, &app->wholes, exchange);
        if (is_at(exchange, "/stream") || is_at(exchange, "/count"))
            answer_stream(exchange);
        else
            answer(exchange);
        return;
    }
    pthread_mutex_lock(&app->mutex);
    size_t *size = hold ? &app->held_size : &app->queue_size;
    if (*size == EVD_APP_QUEUE) abort();
    (hold ? app->held : app->queue)[(*size)++] = exchange;
    app->wholes++;
    pthread_cond_broadcast(&app->changed);
    pthread_mutex_unlock(&app->mutex);
}

static void on_refuse(void *self, struct evd_http_exchange *exchange, unsigned status, const char *what,
                      struct evd_http_response *ret_answer) {
    struct evd_app *app = self;
    note(app, &app->refusals, exchange);
    ret_answer->status = status;
    ret_answer->content_type = "text/plain";
    ret_answer->body = evd_text_print(&exchange->arena, "refused: %s", what);
}

static void on_ended(void *self, struct evd_http_exchange *exchange, bool sent) {
    struct evd_app *app = self;
    note(app, sent ? &app->ended_sent : &app->ended_unsent, exchange);
}

static void *work(void *self) {
    struct evd_app *app = self;
    pthread_mutex_lock(&app->mutex);
    for (;;) {
        while (app->queue_size == 0 && !app->stops)
            pthread_cond_wait(&app->changed, &app->mutex);
        if (app->queue_size == 0) break;
        struct evd_http_exchange *exchange = app->queue[--app->queue_size];
        pthread_mutex_unlock(&app->mutex);
        answer(exchange);
        pthread_mutex_lock(&app->mutex);
    }
    pthread_mutex_unlock(&app->mutex);
    return NULL;
}

void evd_app_init(struct evd_app *app) {
    *app = (struct evd_app){.heads = 0};
    evd_test_clock_init(&app->clock, INT64_C(1767225600000));
    pthread_mutex_init(&app->mutex, NULL);
    pthread_cond_init(&app->changed, NULL);
    app->options = (struct evd_http_server_options){
        .listen = "127.0.0.1:0",
        .clock = &app->clock.clock,
        .arena_cap_bytes = 8 * EVD_MIB,
        .application = {
            .self = app, .head = on_head, .whole = on_whole, .more = on_more, .refuse = on_refuse, .ended = on_ended}};
}

void evd_app_open(struct evd_app *app) {
    char error[256] = "";
    app->server = evd_http_server_open(&app->options, error);
    ck_assert_msg(app->server != NULL, "%s", error);
    app->port = evd_http_server_port(app->server);
    for (size_t i = 0; i < EVD_APP_WORKERS; i++)
        ck_assert_int_eq(pthread_create(&app->workers[i], NULL, work, app), 0);
}

void evd_app_close(struct evd_app *app) {
    evd_http_server_quiesce(app->server);
    evd_app_release(app);
    evd_http_server_close(app->server);
    pthread_mutex_lock(&app->mutex);
    app->stops = true;
    pthread_cond_broadcast(&app->changed);
    pthread_mutex_unlock(&app->mutex);
    for (size_t i = 0; i < EVD_APP_WORKERS; i++)
        pthread_join(app->workers[i], NULL);
    pthread_mutex_destroy(&app->mutex);
    pthread_cond_destroy(&app->changed);
}

void evd_app_wait(struct evd_app *app, const unsigned *counter, unsigned at_least) {
    pthread_mutex_lock(&app->mutex);
    while (*counter < at_least)
        pthread_cond_wait(&app->changed, &app->mutex);
    pthread_mutex_unlock(&app->mutex);
}

unsigned evd_app_count(struct evd_app *app, const unsigned *counter) {
    pthread_mutex_lock(&app->mutex);
    unsigned count = *counter;
    pthread_mutex_unlock(&app->mutex);
    return count;
}

void evd_app_release(struct evd_app *app) {
    static const struct evd_http_response released = {
        .status = 200, .content_type = "text/plain", .body = EVD_TEXT_INIT("released")};
    pthread_mutex_lock(&app->mutex);
    while (app->held_size > 0) {
        struct evd_http_exchange *exchange = app->held[--app->held_size];
        pthread_mutex_unlock(&app->mutex);
        evd_http_exchange_answer(exchange, &released);
        pthread_mutex_lock(&app->mutex);
    }
    pthread_mutex_unlock(&app->mutex);
}

void evd_app_pass_ms(struct evd_app *app, int64_t ms) {
    evd_test_clock_advance(&app->clock, ms);
    evd_http_server_reap(app->server);
}

void evd_app_wait_empty(struct evd_app *app) {
    while (evd_http_server_connections(app->server) > 0)
        (void)sched_yield();
}
