#include "../../support/test.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "evidenced/http/problem.h"

#include <jansson.h>

#define COMMAND "018f3b1e-0000-7000-8000-000000000001"

static struct evd_arena arena;

static json_t *parsed(struct evd_text text) {
    json_error_t error;
    json_t *json = json_loadb(text.bytes, text.size_bytes, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(json != NULL, "%s in " EVD_TEXT_FMT, error.text, EVD_TEXT_ARG(text));
    return json;
}

static json_t *rendered(const struct evd_problem *problem) {
    struct evd_buffer buffer;
    evd_arena_init(&arena, 4 * EVD_MIB);
    evd_buffer_init(&buffer, &arena, 64);
    evd_problem_render(problem, &buffer);
    json_t *json = parsed(evd_buffer_text(&buffer));
    evd_arena_done(&arena);
    return json;
}

static const char *text_of(const json_t *json, const char *member) {
    const char *text = json_string_value(json_object_get(json, member));
    return text == NULL ? "" : text;
}

START_TEST(every_outcome_is_a_problem_with_all_its_members) {
    for (int code = EVD_OK + 1; code < EVD_OUTCOME_COUNT; code++) {
        const struct evd_outcome_entry *entry = evd_outcome_entry_of((enum evd_outcome_code)code);
        struct evd_problem problem = {.outcome = evd_outcome_of((enum evd_outcome_code)code),
                                      .request_id = EVD_TEXT("0af7651916cd43dd8448eb211c80319c")};
        json_t *json = rendered(&problem);
        char type[128];
        (void)snprintf(type, sizeof type, "urn:evidenced:problem:%s", entry->kebab);
        ck_assert_str_eq(text_of(json, "type"), type);
        ck_assert_str_eq(text_of(json, "title"), entry->title);
        ck_assert_str_eq(text_of(json, "detail"), entry->detail);
        ck_assert_str_eq(text_of(json, "outcome"), entry->name);
        ck_assert_str_eq(text_of(json, "instance"), "urn:evidenced:request:0af7651916cd43dd8448eb211c80319c");
        ck_assert_int_eq(json_integer_value(json_object_get(json, "status")), entry->status);
        ck_assert(json_is_boolean(json_object_get(json, "retryable")));
        ck_assert_int_eq(json_is_true(json_object_get(json, "retryable")), entry->retryable);
        ck_assert_uint_eq(json_object_size(json), 7);
        ck_assert_uint_ne(entry->status, 500);
        json_decref(json);
    }
}
END_TEST

START_TEST(retryable_outcomes_say_when_and_others_do_not) {
    for (int code = EVD_OK + 1; code < EVD_OUTCOME_COUNT; code++) {
        bool retryable = evd_outcome_entry_of((enum evd_outcome_code)code)->retryable;
        ck_assert_int_eq(evd_problem_retry_seconds((enum evd_outcome_code)code) > 0, retryable);
    }
    ck_assert_uint_eq(evd_problem_retry_seconds(EVD_LOCKED), 120);
}
END_TEST

START_TEST(what_an_outcome_brings_along_is_shown) {
    evd_uuid id;
    ck_assert(evd_uuid_parse(EVD_TEXT(COMMAND), &id));
    struct evd_problem problem = {.outcome = evd_refused(EVD_REASON_PERMISSION, EVD_TEXT("Say \"please\"\n\x01 é")),
                                  .status = 499,
                                  .command_id = &id};
    problem.outcome.members = EVD_TEXT("\"since\":\"then\",\"more\":[1,2]");
    json_t *json = rendered(&problem);
    ck_assert_str_eq(text_of(json, "reason"), "permission");
    ck_assert_str_eq(text_of(json, "detail"), "Say \"please\"\n\x01 é");
    ck_assert_str_eq(text_of(json, "commandId"), COMMAND);
    ck_assert_str_eq(text_of(json, "since"), "then");
    ck_assert_uint_eq(json_array_size(json_object_get(json, "more")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "status")), 499);
    ck_assert_ptr_null(json_object_get(json, "instance"));
    json_decref(json);
}
END_TEST

START_TEST(errors_are_listed_up_to_their_bound_and_counted_whole) {
    struct evd_arena own;
    struct evd_errors errors;
    evd_arena_init(&own, 4 * EVD_MIB);
    evd_errors_init(&errors, &own);
    for (int i = 0; i < EVD_LIMIT_VALIDATION_ERRORS + 5; i++) {
        struct evd_error *error = evd_errors_add(&errors, EVD_TEXT("/a/b"), "required", EVD_TEXT("It is needed."));
        if (i == 1) error->members = EVD_TEXT("\"question\":\"q1\"");
    }
    struct evd_problem problem = {.outcome = evd_errors_outcome(&errors)};
    json_t *json = rendered(&problem);
    const json_t *list = json_object_get(json, "errors");
    ck_assert_uint_eq(json_array_size(list), EVD_LIMIT_VALIDATION_ERRORS);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "errorCount")), EVD_LIMIT_VALIDATION_ERRORS + 5);
    ck_assert_str_eq(text_of(json_array_get(list, 0), "pointer"), "/a/b");
    ck_assert_str_eq(text_of(json_array_get(list, 0), "code"), "required");
    ck_assert_str_eq(text_of(json_array_get(list, 0), "message"), "It is needed.");
    ck_assert_str_eq(text_of(json_array_get(list, 1), "question"), "q1");
    json_decref(json);
    evd_arena_done(&own);
}
END_TEST

START_TEST(running_out_of_memory_needs_no_memory_to_be_said) {
    json_t *json = parsed(evd_problem_out_of_memory());
    ck_assert_str_eq(text_of(json, "outcome"), "OutOfMemory");
    ck_assert_str_eq(text_of(json, "type"), "urn:evidenced:problem:out-of-memory");
    ck_assert_int_eq(json_integer_value(json_object_get(json, "status")), 503);
    json_decref(json);
}
END_TEST

static const struct {
    unsigned status;
    enum evd_outcome_code code;
} statuses[] = {{400, EVD_MALFORMED},          {404, EVD_NOT_FOUND},
                {405, EVD_METHOD_NOT_ALLOWED}, {408, EVD_REQUEST_TIMEOUT},
                {411, EVD_LENGTH_REQUIRED},    {413, EVD_BODY_TOO_LARGE},
                {414, EVD_PATH_TOO_LONG},      {415, EVD_UNSUPPORTED_MEDIA_TYPE},
                {431, EVD_HEADERS_TOO_LARGE},  {501, EVD_NOT_IMPLEMENTED},
                {505, EVD_NOT_IMPLEMENTED},    {503, EVD_OUT_OF_MEMORY},
                {418, EVD_MALFORMED}};

START_TEST(what_the_server_refuses_by_itself_has_an_outcome) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        ck_assert_int_eq(evd_problem_of_status(statuses[i].status), statuses[i].code);
}
END_TEST

START_TEST(every_outcome_has_a_page_under_its_name) {
    for (int code = EVD_OK + 1; code < EVD_OUTCOME_COUNT; code++) {
        const struct evd_outcome_entry *entry = evd_outcome_entry_of((enum evd_outcome_code)code);
        struct evd_buffer buffer;
        ck_assert_int_eq(evd_problem_find(evd_text_from(entry->kebab)), code);
        evd_arena_init(&arena, EVD_MIB);
        evd_buffer_init(&buffer, &arena, 64);
        evd_problem_page((enum evd_outcome_code)code, &buffer);
        evd_buffer_add_byte(&buffer, '\0');
        const char *page = (const char *)buffer.bytes;
        ck_assert(strncmp(page, "# ", 2) == 0 && strstr(page, entry->name) != NULL);
        ck_assert(strstr(page, entry->detail) != NULL && strstr(page, "## What to do") != NULL);
        evd_arena_done(&arena);
    }
    ck_assert_int_eq(evd_problem_find(EVD_TEXT("ok")), EVD_OK);
    ck_assert_int_eq(evd_problem_find(EVD_TEXT("")), EVD_OK);
    ck_assert_int_eq(evd_problem_find(EVD_TEXT("locked.md")), EVD_OK);
}
END_TEST

EVD_TEST_MAIN("http: problems", every_outcome_is_a_problem_with_all_its_members,
              retryable_outcomes_say_when_and_others_do_not, what_an_outcome_brings_along_is_shown,
              errors_are_listed_up_to_their_bound_and_counted_whole, running_out_of_memory_needs_no_memory_to_be_said,
              what_the_server_refuses_by_itself_has_an_outcome, every_outcome_has_a_page_under_its_name)
