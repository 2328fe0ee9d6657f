/*
 * CORS: which pages of other origins may call. Origins are compared byte by byte; there are no patterns and no `null`.
 * Tokens travel in a header a page sets itself, so no answer allows credentials.
 */
#include "edge_private.h"

#define REQUEST_HEADERS "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, traceparent"
#define EXPOSED_HEADERS "ETag, Location, Retry-After, Preference-Applied, X-Request-Id, Idempotency-Replayed"

static bool is_allowed(struct evd_edge *edge, struct evd_text origin) {
    bool found = false;
    if (origin.size_bytes == 0) return false;
    (void)pthread_rwlock_rdlock(&edge->lock);
    for (size_t i = 0; i < edge->origin_count && !found; i++)
        found = evd_text_equal(edge->origins[i], origin);
    (void)pthread_rwlock_unlock(&edge->lock);
    return found;
}

void evd_edge_cors(const struct evd_edge_request *request, struct evd_edge_reply *reply) {
    if (request->door != EVD_DOOR_API) return;
    struct evd_text origin = evd_http_exchange_header(request->exchange, "Origin");
    evd_edge_reply_header(reply, "Vary", EVD_TEXT("Origin"));
    if (!is_allowed(request->edge, origin)) return;
    evd_edge_reply_header(reply, "Access-Control-Allow-Origin", origin);
    evd_edge_reply_header(reply, "Access-Control-Expose-Headers", EVD_TEXT(EXPOSED_HEADERS));
}

struct evd_edge_reply *evd_edge_options(struct evd_edge_request *request, const char *allow) {
    struct evd_edge_reply *reply = evd_edge_reply_new(request, 204);
    struct evd_text method = evd_http_exchange_header(request->exchange, "Access-Control-Request-Method");
    struct evd_text origin = evd_http_exchange_header(request->exchange, "Origin");
    evd_edge_reply_header(reply, "Allow", evd_text_from(allow));
    if (request->door != EVD_DOOR_API || method.size_bytes == 0 || !is_allowed(request->edge, origin)) return reply;
    evd_edge_reply_header(reply, "Access-Control-Allow-Methods", evd_text_from(allow));
    evd_edge_reply_header(reply, "Access-Control-Allow-Headers", EVD_TEXT(REQUEST_HEADERS));
    evd_edge_reply_header(reply, "Access-Control-Max-Age", EVD_TEXT("600"));
    return reply;
}
