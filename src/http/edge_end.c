/*
 * The end of a request: one line in the log. Nothing of a person but opaque ids gets into it, and nothing of a path
 * but its template.
 */
#include "edge_private.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/log.h"

enum { FIELDS = 16 };

static const char *method_name(enum evd_http_method method) {
    switch (method) {
    case EVD_HTTP_GET: return "GET";
    case EVD_HTTP_HEAD: return "HEAD";
    case EVD_HTTP_POST: return "POST";
    case EVD_HTTP_PUT: return "PUT";
    case EVD_HTTP_PATCH: return "PATCH";
    case EVD_HTTP_DELETE: return "DELETE";
    case EVD_HTTP_OPTIONS: return "OPTIONS";
    case EVD_HTTP_METHOD_OTHER: return "other";
    }
    return "other";
}

static const char *door_name(enum evd_edge_door door) {
    switch (door) {
    case EVD_DOOR_API: return "api";
    case EVD_DOOR_CONTROL: return "control";
    case EVD_DOOR_ADMIN:
    case EVD_DOOR_COUNT: break;
    }
    return "admin";
}

static size_t call_fields(const struct evd_edge_request *request, struct evd_log_field *fields) {
    const struct evd_call *call = &request->call;
    size_t count = 0;
    if (call->command != NULL) fields[count++] = EVD_LOG_FIELD_TEXT("command", evd_text_from(call->command->name));
    if (request->is_known) fields[count++] = EVD_LOG_FIELD_UUID("caller", call->caller);
    if (!evd_uuid_is_nil(call->ids.project)) fields[count++] = EVD_LOG_FIELD_UUID("project", call->ids.project);
    if (!evd_uuid_is_nil(call->command_id)) fields[count++] = EVD_LOG_FIELD_UUID("command_id", call->command_id);
    if (call->attempts_charged > 0) fields[count++] = EVD_LOG_FIELD_U64("retries_charged", call->attempts_charged);
    if (call->attempts_free > 0) fields[count++] = EVD_LOG_FIELD_U64("retries_free", call->attempts_free);
    if (call->replayed) fields[count++] = EVD_LOG_FIELD_U64("replayed", 1);
    return count;
}

/* Until its answer; of one whose client went away before there was any, until now. */
static int64_t duration_of(const struct evd_edge_request *request) {
    int64_t end_us = request->answered_us;
    if (end_us == 0) end_us = evd_clock_monotonic_us(request->edge->options.clock);
    return end_us - request->exchange->begun_us;
}

void evd_edge_log_end(const struct evd_edge_request *request, bool sent) {
    const struct evd_http_exchange *exchange = request->exchange;
    enum evd_log_level level = exchange->status >= 500 && exchange->status != 503 ? EVD_LOG_ERROR : EVD_LOG_INFO;
    if (request->is_page) level = EVD_LOG_DEBUG;
    if (!evd_log_wants(request->edge->options.log, level)) return;
    struct evd_log_field fields[FIELDS] = {
        EVD_LOG_FIELD_TEXT("request_id", exchange->request_id),
        EVD_LOG_FIELD_TEXT("door", evd_text_from(door_name(request->door))),
        EVD_LOG_FIELD_TEXT("method", evd_text_from(method_name(exchange->method))),
        EVD_LOG_FIELD_TEXT("route", evd_text_from(request->route)),
        EVD_LOG_FIELD_U64("status", exchange->status),
        EVD_LOG_FIELD_TEXT("outcome", evd_text_from(evd_outcome_entry_of(request->outcome)->name)),
        EVD_LOG_FIELD_MS("duration_ms", (double)duration_of(request) / 1000),
        EVD_LOG_FIELD_U64("bytes", request->body_bytes),
    };
    size_t count = 8;
    count += call_fields(request, fields + count);
    if (request->is_cut) fields[count++] = EVD_LOG_FIELD_U64("cut", 1);
    if (!sent && !request->is_cut) fields[count++] = EVD_LOG_FIELD_U64("client_gone", 1);
    evd_log_event(request->edge->options.log, level, "request-ended", fields, count);
}
