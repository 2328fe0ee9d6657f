/*
 * describe: the tables the API is made of, as JSON on standard output. api/generate.mjs makes the description of the
 * API from it, so what clients read cannot differ from what the service does.
 */
#include "evidenced/base/limits.h"
#include "evidenced/commands/bodies.h"
#include "evidenced/commands/table.h"
#include "evidenced/domain/error_codes.h"
#include "evidenced/http/problem.h"
#include "evidenced/read/views.h"

#include <jansson.h>

static const struct evd_names *const name_sets[] = {
#define EVD_NAMES(set) &evd_names_##set,
#define EVD_NAME(set, enumerator, name)
#define EVD_NAMES_END(set)
#include "records/names.def"
#undef EVD_NAMES
#undef EVD_NAME
#undef EVD_NAMES_END
};

static json_t *string_or_null(const char *text) {
    return text == NULL ? json_null() : json_string(text);
}

/* Types: each once, in the order they are met. */

static const char *kind_name(enum evd_kind kind) {
    switch (kind) {
    case EVD_KIND_UUID: return "uuid";
    case EVD_KIND_BOOLEAN: return "boolean";
    case EVD_KIND_STAMP: return "stamp";
    case EVD_KIND_TIME: return "time";
    case EVD_KIND_NUMBER: return "number";
    case EVD_KIND_STRING: return "string";
    case EVD_KIND_BYTES: return "bytes";
    case EVD_KIND_ENUM: return "enum";
    case EVD_KIND_NEST: return "nest";
    case EVD_KIND_LIST: return "list";
    case EVD_KIND_STRINGS: return "strings";
    case EVD_KIND_UUIDS: return "uuids";
    case EVD_KIND_VALUE: return "value";
    case EVD_KIND_MEMBERS: return "members";
    }
    abort();
}

static const char *need_name(enum evd_need need) {
    switch (need) {
    case EVD_REQUIRED: return "required";
    case EVD_NULLABLE: return "nullable";
    case EVD_OPTIONAL: return "optional";
    }
    abort();
}

/* A bound no JSON reader could hold exactly is none. */
static json_t *bound(int64_t number) {
    return number == INT64_MAX || number == INT64_MIN ? json_null() : json_integer(number);
}

static json_t *field_of(const struct evd_field *field) {
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "key", field->key, "kind", kind_name(field->kind),
                     "need", need_name(field->need), "max", (json_int_t)field->max, "maxBytes",
                     (json_int_t)field->max_bytes, "least", bound(field->least), "most", bound(field->most), "of",
                     string_or_null(field->of == NULL ? NULL : field->of->name), "names",
                     string_or_null(field->names == NULL ? NULL : field->names->set));
}

static void add_type(json_t *types, const struct evd_type *type) { // NOLINT(misc-no-recursion): types nest a few deep
    if (type == NULL || json_object_get(types, type->name) != NULL) return;
    json_t *fields = json_array();
    json_object_set_new(types, type->name, fields);
    for (size_t i = 0; i < type->field_count; i++)
        json_array_append_new(fields, field_of(&type->fields[i]));
    for (size_t i = 0; i < type->field_count; i++)
        add_type(types, type->fields[i].kind == EVD_KIND_VALUE ? &evd_type_answer_point : type->fields[i].of);
}

/* Commands. */

static const char *capability_name(enum evd_capability needs) {
    switch (needs) {
    case EVD_CAN_NOTHING: return "nothing";
    case EVD_CAN_READ: return "read";
    case EVD_CAN_EXTRACT: return "extract";
    case EVD_CAN_SEE_OTHERS: return "seeOthers";
    case EVD_CAN_ADMINISTER: return "administer";
    case EVD_CAN_EXPORT: return "export";
    }
    abort();
}

static json_t *outcomes_of(uint64_t set) {
    json_t *names = json_array();
    for (int code = EVD_OK + 1; code < EVD_OUTCOME_COUNT; code++)
        if ((set & EVD_OUTCOME_BIT(code)) != 0)
            json_array_append_new(names, json_string(evd_outcome_entry_of((enum evd_outcome_code)code)->name));
    return names;
}

/* What the edge answers before a call is a command's (src/http), for any path. Late requests are only cut off. */
static const uint64_t of_the_edge = EVD_OUTCOME_BIT(EVD_MALFORMED) | EVD_OUTCOME_BIT(EVD_UNAUTHENTICATED) |
                                    EVD_OUTCOME_BIT(EVD_NOT_FOUND) | EVD_OUTCOME_BIT(EVD_METHOD_NOT_ALLOWED) |
                                    EVD_OUTCOME_BIT(EVD_LENGTH_REQUIRED) | EVD_OUTCOME_BIT(EVD_BODY_TOO_LARGE) |
                                    EVD_OUTCOME_BIT(EVD_PATH_TOO_LONG) | EVD_OUTCOME_BIT(EVD_UNSUPPORTED_MEDIA_TYPE) |
                                    EVD_OUTCOME_BIT(EVD_BUSY) | EVD_OUTCOME_BIT(EVD_HEADERS_TOO_LARGE) |
                                    EVD_OUTCOME_BIT(EVD_NOT_IMPLEMENTED) | EVD_OUTCOME_BIT(EVD_STORE_IS_UNAVAILABLE) |
                                    EVD_OUTCOME_BIT(EVD_DRAINING) | EVD_OUTCOME_BIT(EVD_OUT_OF_MEMORY);

static const char *type_name(const struct evd_type *type) {
    return type == NULL ? NULL : type->name;
}

/* A command that says neither cannot be described. */
static bool is_describable(const struct evd_command *command) {
    if (command->answer != NULL || command->content_type != NULL) return true;
    (void)fprintf(stderr, "describe: %s has no answer type.\n", command->name);
    return false;
}

static json_t *query_of(const struct evd_command *command) {
    json_t *names = json_array();
    for (int parameter = 0; parameter < EVD_PARAMETER_COUNT; parameter++)
        if ((command->query & EVD_PARAMETER_BIT(parameter)) != 0)
            json_array_append_new(names, json_string(evd_parameter_name((enum evd_parameter)parameter)));
    return names;
}

static const char *method_name(enum evd_command_method method) {
    switch (method) {
    case EVD_COMMAND_GET: return "get";
    case EVD_COMMAND_POST: return "post";
    case EVD_COMMAND_PUT: return "put";
    case EVD_COMMAND_PATCH: return "patch";
    case EVD_COMMAND_DELETE: return "delete";
    }
    abort();
}

static json_t *command_of(const struct evd_command *command) {
    json_t *made = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:s, s:I, s:b, s:o, s:b, s:b, s:o}", "name", command->name, "method",
        method_name(command->method), "path", command->path, "request", string_or_null(type_name(command->request)),
        "answer", string_or_null(type_name(command->answer)), "needs", capability_name(command->needs),
        "bodyLimitBytes", (json_int_t)command->body_limit_bytes, "idempotencyKey", evd_command_is_ledgered(command),
        "query", query_of(command), "immutable", command->immutable, "makesProject", command->makes_project, "outcomes",
        outcomes_of(evd_command_outcomes(command)));
    json_object_set_new(made, "writes", json_boolean(command->commit != EVD_COMMIT_READ));
    json_object_set_new(made, "beginsOperation", json_boolean(command->commit == EVD_COMMIT_OPERATION));
    json_object_set_new(made, "conditional", json_boolean(command->conditional));
    json_object_set_new(made, "references", json_boolean(command->references));
    json_object_set_new(made, "contentType", string_or_null(command->content_type));
    json_object_set_new(made, "streamed", json_boolean(command->streamed));
    return made;
}

static json_t *values_of(enum evd_parameter parameter) {
    const char *const *values = evd_parameter_values(parameter);
    if (values == NULL) return json_null();
    json_t *list = json_array();
    for (size_t i = 0; values[i] != NULL; i++)
        json_array_append_new(list, json_string(values[i]));
    return list;
}

/* Query parameters, whoever takes them. `most`: how often one may be there. */
static json_t *parameters(void) {
    json_t *list = json_array();
    for (int i = 0; i < EVD_PARAMETER_COUNT; i++) {
        enum evd_parameter parameter = (enum evd_parameter)i;
        json_int_t most = parameter == EVD_PARAMETER_LABEL ? EVD_LIMIT_STUDY_LABELS : 1;
        json_array_append_new(list, json_pack("{s:s, s:o, s:I}", "name", evd_parameter_name(parameter), "values",
                                              values_of(parameter), "most", most));
    }
    return list;
}

static bool describe_commands(json_t *ret_commands, json_t *ret_types) {
    size_t count;
    const struct evd_command *const *table = evd_command_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (table[i]->path == NULL) continue; /* not to be called from outside */
        if (!is_describable(table[i])) return false;
        json_array_append_new(ret_commands, command_of(table[i]));
        add_type(ret_types, table[i]->request);
        add_type(ret_types, table[i]->answer);
    }
    return true;
}

/* Outcomes, reasons, names, codes, limits. */

static json_t *outcomes(void) {
    json_t *list = json_array();
    for (int code = EVD_OK + 1; code < EVD_OUTCOME_COUNT; code++) {
        const struct evd_outcome_entry *entry = evd_outcome_entry_of((enum evd_outcome_code)code);
        json_int_t seconds = (json_int_t)evd_problem_retry_seconds((enum evd_outcome_code)code);
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:b, s:I, s:s, s:s}", "name", entry->name, "kebab",
                                              entry->kebab, "status", (int)entry->status, "retryable", entry->retryable,
                                              "retrySeconds", seconds, "title", entry->title, "detail", entry->detail));
    }
    return list;
}

static json_t *reasons(void) {
    json_t *list = json_array();
    for (int reason = EVD_NO_REASON + 1; evd_reason_name((enum evd_reason)reason) != NULL; reason++)
        json_array_append_new(list, json_string(evd_reason_name((enum evd_reason)reason)));
    return list;
}

static json_t *error_codes(void) {
    json_t *list = json_array();
    for (int code = 0; code < EVD_ERROR_CODE_COUNT; code++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "code", evd_error_code_name((enum evd_error_code)code),
                                              "sentence", evd_error_code_sentence((enum evd_error_code)code)));
    return list;
}

static json_t *names(void) {
    json_t *sets = json_object();
    for (size_t i = 0; i < sizeof name_sets / sizeof *name_sets; i++) {
        json_t *list = json_array();
        for (size_t value = 1; value < name_sets[i]->count; value++)
            json_array_append_new(list, json_string(name_sets[i]->names[value]));
        json_object_set_new(sets, name_sets[i]->set, list);
    }
    return sets;
}

static json_t *limits(void) {
    const struct {
        const char *name;
        json_int_t most;
    } all[] = {{"page", EVD_LIMIT_PAGE},
               {"pageDefault", EVD_LIMIT_PAGE_DEFAULT},
               {"jsonDepth", EVD_LIMIT_JSON_DEPTH},
               {"jsonValues", EVD_LIMIT_JSON_VALUES},
               {"nameBytes", EVD_LIMIT_NAME_BYTES},
               {"answerTextBytes", EVD_ANSWER_TEXT_BYTES},
               {"answerTexts", EVD_ANSWER_TEXTS_MOST},
               {"answerPoints", EVD_ANSWER_POINTS_MOST},
               {"waitSeconds", EVD_LIMIT_WAIT_MS / 1000}};
    json_t *made = json_object();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_object_set_new(made, all[i].name, json_integer(all[i].most));
    return made;
}

int main(void) {
    json_t *commands = json_array(), *types = json_object();
    if (!describe_commands(commands, types)) return 1;
    json_t *all =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version", EVD_VERSION, "limits", limits(),
                  "parameters", parameters(), "commands", commands, "types", types, "names", names(), "outcomes",
                  outcomes(), "reasons", reasons(), "errorCodes", error_codes(), "edge", outcomes_of(of_the_edge));
    if (all == NULL || json_dumpf(all, stdout, JSON_INDENT(1)) != 0 || fputc('\n', stdout) == EOF) return 1;
    json_decref(all);
    return fflush(stdout) == 0 ? 0 : 1;
}
