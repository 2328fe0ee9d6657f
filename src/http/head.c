/*
 * Taking a complete head from the library, and not believing that it read it as everybody else would.
 *
 * libmicrohttpd 0.9.75 forgives too much: a bare line feed ends a line, a line that begins with a space is glued to the
 * NAME of the header before it, a NUL cuts off what follows, blanks around the target are skipped. A proxy in front
 * that reads such a head differently can be made to see another request than this server. The library parses in place,
 * overwriting colons and line ends with NULs; so where names and values lie proves how the head was written, and
 * every head that was not written in the one plain way is refused.
 */
#include "internal.h"

#include "evidenced/base/arena.h"

struct taking {
    struct evd_http_private *exchange;
    struct evd_guard_refusal refusal;
};

static enum MHD_Result take_field(void *self, enum MHD_ValueKind kind, const char *name, size_t name_bytes,
                                  const char *value, size_t value_bytes) {
    struct evd_http_private *exchange = self;
    (void)kind;
    if (exchange->field_count == EVD_HTTP_FIELDS) return MHD_NO;
    exchange->fields[exchange->field_count++] = (struct evd_http_field){
        {name, name_bytes}, value == NULL ? EVD_TEXT("") : (struct evd_text){value, value_bytes}};
    return MHD_YES;
}

/* `name NUL blanks value` in one piece? */
static bool field_is_plain(const struct evd_http_field *field) {
    uintptr_t name_end = (uintptr_t)field->name.bytes + field->name.size_bytes, value = (uintptr_t)field->value.bytes;
    if (value <= name_end || value - name_end > EVD_HTTP_MEMORY_BYTES) return false;
    size_t between = value - name_end;
    const char *at = field->name.bytes + field->name.size_bytes;
    for (size_t i = 1; i < between; i++)
        if (at[i] != ' ' && at[i] != '\t') return false;
    return at[0] == '\0';
}

/* Is the head `METHOD SP target SP version CRLF *(name ":" OWS value CRLF) CRLF`, without a byte more? */
static bool head_is_plain(const struct evd_http_private *exchange, const char *method, const char *version,
                          size_t head_bytes) {
    const char *at = method + strlen(method) + 1 + exchange->raw_bytes + 1;
    if (at != version) return false;
    at += strlen("HTTP/1.1") + strlen("\r\n");
    for (size_t i = 0; i < exchange->field_count; i++) {
        const struct evd_http_field *field = &exchange->fields[i];
        if (field->name.bytes != at || !field_is_plain(field)) return false;
        at = field->value.bytes + field->value.size_bytes + strlen("\r\n");
    }
    return at + strlen("\r\n") == method + head_bytes;
}

bool evd_http_layout_is_known(void) {
    return strcmp(MHD_get_version(), "0.9.75") == 0;
}

static size_t head_bytes_of(struct MHD_Connection *mhd) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? SIZE_MAX : info->header_size;
}

static void take_fields(void *self) {
    struct taking *taking = self;
    struct evd_http_private *exchange = taking->exchange;
    int count = MHD_get_connection_values(exchange->mhd, MHD_HEADER_KIND, NULL, NULL);
    if (count > EVD_HTTP_FIELDS || head_bytes_of(exchange->mhd) > EVD_HTTP_HEAD_BYTES)
        taking->refusal = (struct evd_guard_refusal){431, "The request's headers are too large."};
    exchange->fields = EVD_NEW_ARRAY(&exchange->shown.arena, struct evd_http_field, EVD_HTTP_FIELDS);
    (void)MHD_get_connection_values_n(exchange->mhd, MHD_HEADER_KIND, take_field, exchange);
}

static void take_target(void *self) {
    struct taking *taking = self;
    struct evd_http_private *exchange = taking->exchange;
    struct evd_text raw = {exchange->raw.bytes, exchange->raw_bytes};
    taking->refusal = evd_target_decode(&exchange->shown.arena, raw, &exchange->target);
}

static struct evd_guard_refusal judge(struct evd_http_private *exchange, const char *method, const char *version) {
    struct evd_guard_head head = {.method = evd_text_from(method),
                                  .version = evd_text_from(version),
                                  .fields = exchange->fields,
                                  .field_count = exchange->field_count};
    if (evd_http_layout_is_known() && !head_is_plain(exchange, method, version, head_bytes_of(exchange->mhd)))
        return (struct evd_guard_refusal){400, "The request's head is not well formed."};
    struct evd_guard_refusal refusal = evd_guard_check(&head, &exchange->shown.content_length);
    exchange->shown.method = evd_guard_method(head.method);
    return refusal;
}

struct evd_guard_refusal evd_http_head_take(struct evd_http_private *exchange, const char *method,
                                            const char *version) {
    static const struct evd_guard_refusal no_memory = {503, "The server is out of memory."};
    struct taking taking = {.exchange = exchange, .refusal = EVD_GUARD_PASS};
    struct evd_arena *arena = &exchange->shown.arena;
    bool taken = evd_http_within_arena(arena, take_fields, &taking);
    evd_trace_id(evd_http_exchange_header(&exchange->shown, "traceparent"), exchange->id);
    exchange->shown.request_id = (struct evd_text){exchange->id, EVD_TRACE_ID_BYTES};
    exchange->shown.method = evd_guard_method(evd_text_from(method));
    exchange->shown.is_old = evd_text_equal(evd_text_from(version), EVD_TEXT("HTTP/1.0"));
    if (!taken) return no_memory;
    if (taking.refusal.status == 0) taking.refusal = judge(exchange, method, version);
    if (taking.refusal.status == 0 && !evd_http_within_arena(arena, take_target, &taking)) return no_memory;
    exchange->shown.path = exchange->target.path;
    return taking.refusal;
}
