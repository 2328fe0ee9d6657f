/*
 * Problems with any text in them: what is rendered is one JSON object that says the same texts.
 *
 * Input: the outcome, the reason, how many errors, flags (below), one byte each; then texts, separated by 0xFF. Texts
 * are UTF-8, as everything a problem is made of is by contract; what is not is left out.
 */
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/http/problem.h"
#include "evidenced/records/json.h"

#include <jansson.h>

#include "expect.h"

enum { ARENA_BYTES = 64 << 20, HEAD = 4, WITH_STATUS = 1, WITH_COMMAND = 2, WITH_MEMBERS = 4, WITH_DETAIL = 8 };

#define REQUEST_ID "0af7651916cd43dd8448eb211c80319c"

static struct evd_text next_text(struct evd_text *rest) {
    const char *end = rest->size_bytes == 0 ? NULL : memchr(rest->bytes, 0xFF, rest->size_bytes);
    size_t size_bytes = end == NULL ? rest->size_bytes : (size_t)(end - rest->bytes);
    struct evd_text text = {rest->bytes, size_bytes};
    size_t used = size_bytes + (end != NULL);
    *rest = (struct evd_text){rest->bytes + used, rest->size_bytes - used};
    return evd_text_is_utf8(text) ? text : EVD_TEXT("");
}

static struct evd_text member(struct evd_arena *arena, const char *name, struct evd_text value) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 64);
    evd_buffer_print(&out, "\"%s\":", name);
    evd_json_write_string(value, &out);
    return evd_buffer_text(&out);
}

static void expect_text(const json_t *in, const char *name, struct evd_text wanted) {
    const json_t *found = json_object_get(in, name);
    EXPECT(json_is_string(found) && json_string_length(found) == wanted.size_bytes);
    EXPECT(wanted.size_bytes == 0 || memcmp(json_string_value(found), wanted.bytes, wanted.size_bytes) == 0);
}

static void expect_errors(const json_t *json, const struct evd_errors *errors, struct evd_text found) {
    const json_t *list = json_object_get(json, "errors");
    EXPECT(json_array_size(list) == errors->count);
    EXPECT(json_integer_value(json_object_get(json, "errorCount")) == (json_int_t)errors->total);
    for (size_t i = 0; i < errors->count; i++) {
        const json_t *item = json_array_get(list, i);
        expect_text(item, "pointer", errors->items[i].pointer);
        expect_text(item, "code", evd_text_from(errors->items[i].code));
        expect_text(item, "message", errors->items[i].message);
        if (errors->items[i].members.size_bytes > 0) expect_text(item, "found", found);
    }
}

static void expect_problem(const struct evd_problem *problem, const json_t *json) {
    const struct evd_outcome_entry *entry = evd_outcome_entry_of(problem->outcome.code);
    struct evd_text detail = problem->outcome.detail;
    expect_text(json, "title", evd_text_from(entry->title));
    expect_text(json, "outcome", evd_text_from(entry->name));
    expect_text(json, "detail", detail.bytes == NULL ? evd_text_from(entry->detail) : detail);
    expect_text(json, "instance", EVD_TEXT("urn:evidenced:request:" REQUEST_ID));
    EXPECT(json_integer_value(json_object_get(json, "status")) ==
           (json_int_t)(problem->status == 0 ? entry->status : problem->status));
    EXPECT(json_is_true(json_object_get(json, "retryable")) == entry->retryable);
    EXPECT((json_object_get(json, "reason") != NULL) == (problem->outcome.reason != EVD_NO_REASON));
    EXPECT((json_object_get(json, "commandId") != NULL) == (problem->command_id != NULL));
    EXPECT((json_object_get(json, "errors") != NULL) == (problem->outcome.errors != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const evd_uuid command = {{0x01, 0x8f}};
    struct evd_arena arena;
    struct evd_buffer out;
    struct evd_errors errors;
    if (size < HEAD) return 0;
    struct evd_text rest = {(const char *)data + HEAD, size - HEAD};
    const uint8_t flags = data[3];
    evd_arena_init(&arena, ARENA_BYTES);
    struct evd_problem problem = {
        .outcome = evd_outcome_of((enum evd_outcome_code)(EVD_OK + 1 + data[0] % (EVD_OUTCOME_COUNT - 1)))};
    problem.outcome.reason = (enum evd_reason)(data[1] % (EVD_REASON_NOT_YET_AVAILABLE + 1));
    problem.request_id = EVD_TEXT(REQUEST_ID);
    problem.status = flags & WITH_STATUS ? 418 : 0;
    problem.command_id = flags & WITH_COMMAND ? &command : NULL;
    if (flags & WITH_DETAIL) problem.outcome.detail = next_text(&rest);
    const struct evd_text shown = next_text(&rest), found = next_text(&rest);
    if (flags & WITH_MEMBERS) problem.outcome.members = member(&arena, "shown", shown);
    evd_errors_init(&errors, &arena);
    for (unsigned i = 0; i < data[2]; i++) {
        struct evd_text pointer = next_text(&rest), message = next_text(&rest);
        struct evd_error *error = evd_errors_add(&errors, pointer, "tooLong", message);
        EXPECT((error != NULL) == (errors.total == errors.count));
        if (error != NULL && i % 2 == 0) error->members = member(&arena, "found", found);
    }
    if (data[2] > 0) problem.outcome.errors = &errors;

    evd_buffer_init(&out, &arena, 64);
    evd_problem_render(&problem, &out);
    json_t *json = json_loadb((const char *)out.bytes, out.size_bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    EXPECT(json_is_object(json));
    expect_problem(&problem, json);
    if (flags & WITH_MEMBERS) expect_text(json, "shown", shown);
    if (data[2] > 0) expect_errors(json, &errors, found);
    json_decref(json);
    evd_arena_done(&arena);
    return 0;
}
