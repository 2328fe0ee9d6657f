/*
 * What a request asks beside its body: headers and query become members of the call, or a 400 that names them.
 */
#include "edge_private.h"

#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "evidenced/records/json.h"

/* Under which id. Version 8 is what derived ids have: nobody may take one of those. */

static bool parse_key(struct evd_text header, evd_uuid *ret_key) {
    bool quoted = header.size_bytes >= 2 && header.bytes[0] == '"' && header.bytes[header.size_bytes - 1] == '"';
    if (quoted) header = (struct evd_text){header.bytes + 1, header.size_bytes - 2};
    return evd_uuid_parse(header, ret_key);
}

static struct evd_edge_reply *malformed(struct evd_edge_request *request, struct evd_text detail,
                                        struct evd_text members) {
    struct evd_outcome outcome = {.code = EVD_MALFORMED, .detail = detail, .members = members};
    return evd_edge_problem(request, &outcome, 0);
}

static struct evd_edge_reply *take_key(struct evd_edge_request *request) {
    static const struct evd_text member = EVD_TEXT_INIT("\"header\":\"Idempotency-Key\"");
    if (!evd_command_is_ledgered(request->call.command)) return NULL;
    struct evd_text header = evd_http_exchange_header(request->exchange, "Idempotency-Key");
    evd_uuid key;
    if (header.bytes == NULL)
        return malformed(request,
                         EVD_TEXT("The header Idempotency-Key is missing: it holds a UUID that is new for "
                                  "each command and the same when a command is sent again."),
                         member);
    if (!parse_key(evd_text_trim(header), &key) || evd_uuid_is_nil(key))
        return malformed(request, EVD_TEXT("The header Idempotency-Key must hold a UUID, bare or in double quotes."),
                         member);
    if (evd_uuid_version(key) == 8)
        return malformed(request, EVD_TEXT("The header Idempotency-Key must not hold a UUID of version 8."), member);
    request->call.command_id = key;
    return NULL;
}

/* On what condition. */

static struct evd_edge_reply *refuse_condition(struct evd_edge_request *request, const char *name, const char *why) {
    struct evd_arena *arena = &request->exchange->arena;
    return malformed(request, evd_text_print(arena, "The header %s %s.", name, why),
                     evd_text_print(arena, "\"header\":\"%s\"", name));
}

static struct evd_edge_reply *take_condition(struct evd_edge_request *request, const char *name,
                                             struct evd_text *ret_condition) {
    struct evd_text header = evd_http_exchange_header(request->exchange, name);
    if (header.bytes == NULL) return NULL;
    if (evd_http_exchange_header_count(request->exchange, name) > 1)
        return refuse_condition(request, name, "is given more than once");
    if (header.size_bytes > EVD_LIMIT_CONDITION_BYTES) return refuse_condition(request, name, "is too long");
    if (!evd_text_is_utf8(header)) return refuse_condition(request, name, "is not UTF-8");
    *ret_condition = evd_text_trim(header);
    return NULL;
}

static struct evd_edge_reply *take_conditions(struct evd_edge_request *request) {
    struct evd_conditions *conditions = &request->call.conditions;
    if (!request->call.command->conditional) return NULL;
    struct evd_edge_reply *refusal = take_condition(request, "If-Match", &conditions->if_match);
    return refusal != NULL ? refusal : take_condition(request, "If-None-Match", &conditions->if_none_match);
}

/* Which page. */

/* A misspelt parameter must never be ignored: a list would silently be another one. */
static struct evd_edge_reply *refuse_unknown_parameter(struct evd_edge_request *request) {
    const char *names[EVD_PARAMETER_COUNT];
    size_t count = 0;
    for (int parameter = 0; parameter < EVD_PARAMETER_COUNT; parameter++)
        if ((request->call.command->query & EVD_PARAMETER_BIT(parameter)) != 0)
            names[count++] = evd_parameter_name((enum evd_parameter)parameter);
    struct evd_text unknown = evd_http_exchange_query_beyond(request->exchange, names, count);
    if (unknown.bytes == NULL) return NULL;
    struct evd_buffer members;
    evd_buffer_init(&members, &request->exchange->arena, 128);
    evd_buffer_add_text(&members, EVD_TEXT("\"parameter\":"));
    evd_json_write_string(unknown, &members);
    return malformed(request, EVD_TEXT("This resource does not take that query parameter."), evd_buffer_text(&members));
}

static struct evd_edge_reply *take_page(struct evd_edge_request *request) {
    struct evd_page *page = &request->call.page;
    struct evd_edge_reply *refusal = refuse_unknown_parameter(request);
    if (refusal != NULL) return refusal;
    uint64_t limit = EVD_LIMIT_PAGE_DEFAULT;
    struct evd_text asked = evd_http_exchange_query(request->exchange, "limit");
    bool fits = asked.bytes == NULL || (evd_text_to_u64(asked, &limit) && limit >= 1 && limit <= EVD_LIMIT_PAGE);
    if (!fits)
        return malformed(request, EVD_TEXT("The parameter limit must be a number from 1 to 500."),
                         EVD_TEXT("\"parameter\":\"limit\""));
    page->limit = (size_t)limit;
    page->cursor = evd_http_exchange_query(request->exchange, "cursor");
    page->state = evd_http_exchange_query(request->exchange, "state");
    struct evd_text stage = evd_http_exchange_query(request->exchange, "stage");
    if (stage.bytes != NULL && !evd_uuid_parse(stage, &page->stage))
        return malformed(request, EVD_TEXT("The parameter stage must be a UUID."), EVD_TEXT("\"parameter\":\"stage\""));
    return NULL;
}

_Static_assert(EVD_LIMIT_PAGE == 500, "the sentence says so");

struct evd_edge_reply *evd_edge_take(struct evd_edge_request *request) {
    struct evd_edge_reply *refusal = take_key(request);
    if (refusal == NULL) refusal = take_conditions(request);
    if (refusal == NULL) refusal = take_page(request);
    return refusal;
}
