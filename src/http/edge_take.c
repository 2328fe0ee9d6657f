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

/* What the query says. */

static struct evd_edge_reply *refuse_parameter(struct evd_edge_request *request, struct evd_text name,
                                               struct evd_text detail) {
    struct evd_buffer members;
    evd_buffer_init(&members, &request->exchange->arena, 128);
    evd_buffer_add_text(&members, EVD_TEXT("\"parameter\":"));
    evd_json_write_string(name, &members);
    return malformed(request, detail, evd_buffer_text(&members));
}

static bool takes(const struct evd_edge_request *request, enum evd_parameter parameter) {
    return (request->call.command->query & EVD_PARAMETER_BIT(parameter)) != 0;
}

/* A misspelt parameter must never be ignored: a list would silently be another one. Nor one that is there twice. */
static struct evd_edge_reply *refuse_names(struct evd_edge_request *request) {
    const char *names[EVD_PARAMETER_COUNT];
    size_t count = 0;
    for (int i = 0; i < EVD_PARAMETER_COUNT; i++) {
        enum evd_parameter parameter = (enum evd_parameter)i;
        if (!takes(request, parameter)) continue;
        const char *name = names[count++] = evd_parameter_name(parameter);
        if (parameter != EVD_PARAMETER_LABEL && evd_http_exchange_queries(request->exchange, name, NULL, 0) > 1)
            return refuse_parameter(request, evd_text_from(name), EVD_TEXT("This parameter is given more than once."));
    }
    struct evd_text unknown = evd_http_exchange_query_beyond(request->exchange, names, count);
    if (unknown.bytes == NULL) return NULL;
    return refuse_parameter(request, unknown, EVD_TEXT("This resource does not take that query parameter."));
}

/* Bytes NULL when it is not there. */
static struct evd_text value_of(const struct evd_edge_request *request, enum evd_parameter parameter) {
    return evd_http_exchange_query(request->exchange, evd_parameter_name(parameter));
}

static bool take_limit(struct evd_text asked, size_t *ret_limit) {
    uint64_t limit = EVD_LIMIT_PAGE_DEFAULT;
    bool fits = asked.bytes == NULL || (evd_text_to_u64(asked, &limit) && limit >= 1 && limit <= EVD_LIMIT_PAGE);
    *ret_limit = (size_t)limit;
    return fits;
}

static struct evd_edge_reply *take_page(struct evd_edge_request *request) {
    struct evd_page *page = &request->call.page;
    if (!take_limit(value_of(request, EVD_PARAMETER_LIMIT), &page->limit))
        return refuse_parameter(request, EVD_TEXT("limit"),
                                EVD_TEXT("The parameter limit must be a number from 1 to 500."));
    page->cursor = value_of(request, EVD_PARAMETER_CURSOR);
    page->state = value_of(request, EVD_PARAMETER_STATE);
    page->result = value_of(request, EVD_PARAMETER_RESULT);
    struct evd_text stage = value_of(request, EVD_PARAMETER_STAGE);
    if (stage.bytes != NULL && !evd_uuid_parse(stage, &page->stage))
        return refuse_parameter(request, EVD_TEXT("stage"), EVD_TEXT("The parameter stage must be a UUID."));
    return NULL;
}

_Static_assert(EVD_LIMIT_PAGE == 500, "the sentence says so");

/* Options. */

static bool take_flag(struct evd_text asked, bool *ret_flag) {
    bool yes = evd_text_equal(asked, EVD_TEXT("true"));
    *ret_flag = yes;
    return yes || asked.bytes == NULL || evd_text_equal(asked, EVD_TEXT("false"));
}

static bool take_delimiter(struct evd_text asked, char *ret_delimiter) {
    static const struct {
        struct evd_text name;
        char delimiter;
    } known[] = {{EVD_TEXT_INIT("comma"), ','}, {EVD_TEXT_INIT("semicolon"), ';'}, {EVD_TEXT_INIT("tab"), '\t'}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!evd_text_equal(asked, known[i].name)) continue;
        *ret_delimiter = known[i].delimiter;
        return true;
    }
    return asked.bytes == NULL;
}

static bool take_safety(struct evd_text asked, bool *ret_safe) {
    *ret_safe = evd_text_equal(asked, EVD_TEXT("safe"));
    return *ret_safe || asked.bytes == NULL;
}

static bool take_labels(struct evd_edge_request *request, struct evd_options *options) {
    if (!takes(request, EVD_PARAMETER_LABEL)) return true;
    struct evd_text *labels = EVD_NEW_ARRAY(&request->exchange->arena, struct evd_text, EVD_LIMIT_STUDY_LABELS);
    size_t count = evd_http_exchange_queries(request->exchange, evd_parameter_name(EVD_PARAMETER_LABEL), labels,
                                             EVD_LIMIT_STUDY_LABELS);
    if (count > EVD_LIMIT_STUDY_LABELS) return false;
    for (size_t i = 0; i < count; i++)
        if (labels[i].size_bytes == 0 || labels[i].size_bytes > EVD_LIMIT_NAME_BYTES) return false;
    options->labels = labels;
    options->label_count = count;
    return true;
}

static struct evd_edge_reply *take_options(struct evd_edge_request *request) {
    struct evd_options *options = &request->call.options;
    if (!take_flag(value_of(request, EVD_PARAMETER_DRY_RUN), &options->dry_run))
        return refuse_parameter(request, EVD_TEXT("dryRun"), EVD_TEXT("The parameter dryRun must be true or false."));
    if (!take_flag(value_of(request, EVD_PARAMETER_SKIP_REFUSED), &options->skip_refused))
        return refuse_parameter(request, EVD_TEXT("skipRefused"),
                                EVD_TEXT("The parameter skipRefused must be true or false."));
    if (!take_delimiter(value_of(request, EVD_PARAMETER_DELIMITER), &options->delimiter))
        return refuse_parameter(request, EVD_TEXT("delimiter"),
                                EVD_TEXT("The parameter delimiter must be comma, semicolon or tab."));
    if (!take_labels(request, options))
        return refuse_parameter(
            request, EVD_TEXT("label"),
            EVD_TEXT("The parameter label must be the name of a column, and given at most 50 times."));
    if (!take_safety(value_of(request, EVD_PARAMETER_SPREADSHEET), &options->spreadsheet_safe))
        return refuse_parameter(request, EVD_TEXT("spreadsheet"), EVD_TEXT("The parameter spreadsheet must be safe."));
    return NULL;
}

_Static_assert(EVD_LIMIT_STUDY_LABELS == 50, "the sentence says so");

struct evd_edge_reply *evd_edge_take(struct evd_edge_request *request) {
    struct evd_edge_reply *refusal = take_key(request);
    if (refusal == NULL) refusal = take_conditions(request);
    if (refusal == NULL) refusal = refuse_names(request);
    if (refusal == NULL) refusal = take_page(request);
    if (refusal == NULL) refusal = take_options(request);
    evd_edge_take_wait(request);
    return refusal;
}
