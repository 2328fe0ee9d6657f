/*
 * The pages that are no command: probes and problem pages for everybody, metrics and the version at the admin door.
 */
#include "edge_private.h"

#include "evidenced/base/buffer.h"
#include "evidenced/http/metrics.h"
#include "evidenced/http/problem.h"

#define PAGE_ALLOW "GET, HEAD, OPTIONS"

enum { PAGE_BYTES = 1024, METRICS_BYTES = 64 * 1024 };

typedef struct evd_edge_reply *page_maker(struct evd_edge_request *request);

static struct evd_edge_reply *text_page(struct evd_edge_request *request, const char *content_type,
                                        struct evd_text body) {
    struct evd_edge_reply *reply = evd_edge_reply_new(request, 200);
    evd_edge_reply_header(reply, "Cache-Control", EVD_TEXT("no-store"));
    reply->response.content_type = content_type;
    reply->response.body = body;
    return reply;
}

static struct evd_edge_reply *live_page(struct evd_edge_request *request) {
    return text_page(request, "text/plain", EVD_TEXT("alive\n"));
}

static struct evd_edge_reply *ready_page(struct evd_edge_request *request) {
    struct evd_edge *edge = request->edge;
    enum evd_outcome_code code = (enum evd_outcome_code)atomic_load(&edge->ready);
    if (atomic_load(&edge->runtime) == NULL) code = EVD_STORE_IS_UNAVAILABLE;
    if (atomic_load(&edge->draining)) code = EVD_DRAINING;
    return code == EVD_OK ? text_page(request, "text/plain", EVD_TEXT("ready\n")) : evd_edge_problem_of(request, code);
}

static struct evd_edge_reply *startup_page(struct evd_edge_request *request) {
    bool started = atomic_load(&request->edge->runtime) != NULL;
    return started ? text_page(request, "text/plain", EVD_TEXT("started\n"))
                   : evd_edge_problem_of(request, EVD_STORE_IS_UNAVAILABLE);
}

static struct evd_edge_reply *metrics_page(struct evd_edge_request *request) {
    struct evd_buffer body;
    evd_buffer_init(&body, &request->exchange->arena, METRICS_BYTES);
    evd_figures_render(request->edge->options.figures, &body);
    return text_page(request, EVD_METRICS_CONTENT_TYPE, evd_buffer_text(&body));
}

static struct evd_edge_reply *version_page(struct evd_edge_request *request) {
    const struct evd_edge_options *options = &request->edge->options;
    struct evd_text body =
        evd_text_print(&request->exchange->arena, "{\"version\":\"%s\",\"storeFormat\":%u,\"profile\":\"%s\"}",
                       options->version, options->store_format, options->profile);
    return text_page(request, "application/json", body);
}

static struct evd_edge_reply *problem_page(struct evd_edge_request *request, enum evd_outcome_code code) {
    struct evd_buffer body;
    evd_buffer_init(&body, &request->exchange->arena, PAGE_BYTES);
    evd_problem_page(code, &body);
    struct evd_edge_reply *reply = evd_edge_reply_new(request, 200);
    evd_edge_reply_header(reply, "Cache-Control", EVD_TEXT("public, max-age=3600"));
    reply->response.content_type = "text/markdown; charset=utf-8";
    reply->response.body = evd_buffer_text(&body);
    return reply;
}

static const struct {
    struct evd_text path;
    const char *route;
    page_maker *make;
    bool admin_only;
} pages[] = {
    {EVD_TEXT_INIT("/livez"), "/livez", live_page, false},
    {EVD_TEXT_INIT("/readyz"), "/readyz", ready_page, false},
    {EVD_TEXT_INIT("/startupz"), "/startupz", startup_page, false},
    {EVD_TEXT_INIT("/metrics"), "/metrics", metrics_page, true},
    {EVD_TEXT_INIT("/version"), "/version", version_page, true},
};

static page_maker *find_page(struct evd_edge_request *request) {
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        bool here = !pages[i].admin_only || request->door == EVD_DOOR_ADMIN;
        if (!here || !evd_text_equal(pages[i].path, request->exchange->path)) continue;
        request->route = pages[i].route;
        return pages[i].make;
    }
    return NULL;
}

static enum evd_outcome_code find_problem(struct evd_edge_request *request) {
    struct evd_text path = request->exchange->path, under = EVD_TEXT("/problems/");
    if (request->door == EVD_DOOR_ADMIN || !evd_text_starts_with(path, under)) return EVD_OK;
    struct evd_text name = {path.bytes + under.size_bytes, path.size_bytes - under.size_bytes};
    enum evd_outcome_code code = evd_problem_find(name);
    if (code != EVD_OK) request->route = "/problems/{name}";
    return code;
}

static struct evd_edge_reply *other_method(struct evd_edge_request *request) {
    struct evd_edge_reply *reply = evd_edge_problem_of(request, EVD_METHOD_NOT_ALLOWED);
    evd_edge_reply_header(reply, "Allow", EVD_TEXT(PAGE_ALLOW));
    return reply;
}

struct evd_edge_reply *evd_edge_page(struct evd_edge_request *request) {
    enum evd_http_method method = request->exchange->method;
    page_maker *make = find_page(request);
    enum evd_outcome_code problem = make == NULL ? find_problem(request) : EVD_OK;
    if (make == NULL && problem == EVD_OK) return NULL;
    request->is_page = true;
    if (method == EVD_HTTP_OPTIONS) return evd_edge_options(request, PAGE_ALLOW);
    if (method != EVD_HTTP_GET && method != EVD_HTTP_HEAD) return other_method(request);
    return make == NULL ? problem_page(request, problem) : make(request);
}
