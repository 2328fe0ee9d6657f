/*
 * What a request asks beside its body: headers and query become members of the call, or a 400 that names them.
 */
#include "edge_private.h"

#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "evidenced/records/json.h"

#include <assert.h>

/* Under which id. Version 8 is what derived ids have: nobody may take one of those. */

static bool parse_key(struct evd_text header, evd_uuid *ret_key) {
    bool quoted = header.size_bytes >= 2 && header.bytes[0] == '"' && header.bytes[header.size_bytes - 1] == '"';
    if (quoted) header = (struct evd_text){header.bytes + 1, header.size_bytes - 2};
    return evd_uuid_parse(header, ret_key);
}

static struct evd_edge_reply *take_key(struct evd_edge_request *request) {
    static const struct evd_text member = EVD_TEXT_INIT("\"header\":\"Idempotency-Key\"");
    if (!evd_command_is_ledgered(request->call.command)) return NULL;
    struct evd_text header = evd_http_exchange_header(request->exchange, "Idempotency-Key");
    evd_uuid key;
    if (header.bytes == NULL)
        return evd_edge_malformed(request,
                                  EVD_TEXT("The header Idempotency-Key is missing: it holds a UUID that is new for "
                                           "each command and the same when a command is sent again."),
                                  member);
    if (!parse_key(evd_text_trim(header), &key) || evd_uuid_is_nil(key))
        return evd_edge_malformed(
            request, EVD_TEXT("The header Idempotency-Key must hold a UUID, bare or in double quotes."), member);
    if (evd_uuid_version(key) == 8)
        return evd_edge_malformed(request, EVD_TEXT("The header Idempotency-Key must not hold a UUID of version 8."),
                                  member);
    request->call.command_id = key;
    return NULL;
}

/* On what condition. */

static struct evd_edge_reply *refuse_condition(struct evd_edge_request *request, const char *name, const char *why) {
    struct evd_arena *arena = &request->exchange->arena;
    return evd_edge_malformed(request, evd_text_print(arena, "The header %s %s.", name, why),
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
    return evd_edge_malformed(request, detail, evd_buffer_text(&members));
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

/* Which of its values a parameter has; -1 when it is not there. What is none of them ends in a refusal. */
static struct evd_edge_reply *take_choice(struct evd_edge_request *request, enum evd_parameter parameter,
                                          int *ret_choice) {
    const char *const *values = evd_parameter_values(parameter), *name = evd_parameter_name(parameter);
    struct evd_text asked = value_of(request, parameter);
    struct evd_buffer sentence;
    *ret_choice = -1;
    if (asked.bytes == NULL) return NULL;
    for (int i = 0; values[i] != NULL; i++) {
        if (!evd_text_equal(asked, evd_text_from(values[i]))) continue;
        *ret_choice = i;
        return NULL;
    }
    evd_buffer_init(&sentence, &request->exchange->arena, 128);
    evd_buffer_print(&sentence, "The parameter %s must be %s", name, values[0]);
    for (int i = 1; values[i] != NULL; i++)
        evd_buffer_print(&sentence, "%s%s", values[i + 1] == NULL ? " or " : ", ", values[i]);
    evd_buffer_add_byte(&sentence, '.');
    return refuse_parameter(request, evd_text_from(name), evd_buffer_text(&sentence));
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
    static const char delimiters[] = {'\0', ',', ';', '\t'}; /* none, then as evd_parameter_values has them */
    struct evd_options *options = &request->call.options;
    int dry_run, skip_refused, delimiter, spreadsheet;
    struct evd_edge_reply *refusal = take_choice(request, EVD_PARAMETER_DRY_RUN, &dry_run);
    if (refusal == NULL) refusal = take_choice(request, EVD_PARAMETER_SKIP_REFUSED, &skip_refused);
    if (refusal == NULL) refusal = take_choice(request, EVD_PARAMETER_DELIMITER, &delimiter);
    if (refusal == NULL) refusal = take_choice(request, EVD_PARAMETER_SPREADSHEET, &spreadsheet);
    if (refusal != NULL) return refusal;
    if (!take_labels(request, options))
        return refuse_parameter(
            request, EVD_TEXT("label"),
            EVD_TEXT("The parameter label must be the name of a column, and given at most 50 times."));
    options->dry_run = dry_run == 1;
    options->skip_refused = skip_refused == 1;
    assert(delimiter + 1 < (int)sizeof delimiters);
    options->delimiter = delimiters[delimiter + 1];
    options->spreadsheet_safe = spreadsheet == 0;
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
