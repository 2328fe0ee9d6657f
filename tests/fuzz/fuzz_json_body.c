/*
 * Any bytes as a request's body: refused with a place and a sentence, or read, written and read again without a
 * difference. What is parsed is what jansson alone parses, within the bounds of depth and number of values.
 *
 * Input: a command's name, a line end and its body; or one byte and a body: below 128 of the types every kind of member
 * is in, above of the commands' as they stand in the table.
 */
#include "../unit/records/fixture.h"
#include "../unit/records/specimen.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "evidenced/commands/table.h"
#include "evidenced/records/json.h"

#include "expect.h"

#include <jansson.h>

/* All that can be read: no times, no bytes. */
static const struct evd_type *const wanted[] = {
    &evd_type_sample,   &evd_type_sample_branch, &evd_type_sample_leaf, &evd_type_sample_view,
    &evd_type_question, &evd_type_capacity,      &evd_type_path_step,   &evd_type_canonical_summary,
};

enum { SAMPLES = sizeof wanted / sizeof *wanted, OF_COMMANDS = 128 };

/* The commands' of this table that take a body. Cuts the name off the input. */
static const struct evd_type *named(struct evd_text *input) {
    size_t count;
    const struct evd_command *const *table = evd_command_table(&count);
    for (size_t i = 0; i < count; i++) {
        struct evd_text name = evd_text_from(table[i]->name);
        bool is_it = table[i]->request != NULL && input->size_bytes > name.size_bytes &&
                     evd_text_starts_with(*input, name) && input->bytes[name.size_bytes] == '\n';
        if (!is_it) continue;
        *input = (struct evd_text){input->bytes + name.size_bytes + 1, input->size_bytes - name.size_bytes - 1};
        return table[i]->request;
    }
    return NULL;
}

static const struct evd_type *numbered(struct evd_text *input) {
    size_t count, taken = 0;
    const struct evd_command *const *table = evd_command_table(&count);
    size_t number = (unsigned char)input->bytes[0];
    *input = (struct evd_text){input->bytes + 1, input->size_bytes - 1};
    if (number < OF_COMMANDS) return wanted[number % SAMPLES];
    const struct evd_type *requests[OF_COMMANDS];
    for (size_t i = 0; i < count && taken < OF_COMMANDS; i++)
        if (table[i]->request != NULL) requests[taken++] = table[i]->request;
    return requests[(number - OF_COMMANDS) % taken];
}

/* Values in a tree, and how deep it is. */
static size_t values_in(const json_t *json, size_t *ret_depth) {
    size_t values = 1, deepest = 0, depth, i;
    const char *key;
    json_t *value;
    json_array_foreach(json, i, value) {
        values += values_in(value, &depth);
        if (depth > deepest) deepest = depth;
    }
    json_object_foreach((json_t *)(uintptr_t)json, key, value) { /* the macro only reads */
        values += values_in(value, &depth);
        if (depth > deepest) deepest = depth;
    }
    *ret_depth = deepest + (json_is_object(json) || json_is_array(json));
    return values;
}

static void expect_reason(const struct evd_json_fault *fault) {
    EXPECT(fault->message.size_bytes > 0 && evd_text_is_utf8(fault->message));
    EXPECT(fault->pointer.bytes != NULL && evd_text_is_utf8(fault->pointer));
    EXPECT(fault->pointer.size_bytes == 0 || fault->pointer.bytes[0] == '/');
}

/* evd_json_parse adds bounds to jansson and nothing else. */
static json_t *parsed(struct evd_text body, struct evd_arena *arena) {
    struct evd_json_fault fault = {.message = EVD_TEXT("")};
    json_t *json = evd_json_parse(body, arena, &fault);
    json_t *plain = json_loadb(body.bytes, body.size_bytes, JSON_REJECT_DUPLICATES, NULL);
    size_t depth = 0, values = plain == NULL ? 0 : values_in(plain, &depth);
    bool fits = plain != NULL && depth <= EVD_LIMIT_JSON_DEPTH && values <= EVD_LIMIT_JSON_VALUES;
    EXPECT((json != NULL) == fits);
    EXPECT(json == NULL || json_equal(json, plain));
    if (json == NULL) expect_reason(&fault);
    json_decref(plain);
    return json;
}

static void expect_same_when_read_again(const struct evd_type *type, const void *first, struct evd_arena *arena) {
    struct evd_json_fault fault;
    struct evd_buffer out;
    void *second = evd_arena_alloc(arena, type->size_bytes);
    evd_buffer_init(&out, arena, 256);
    evd_json_write(type, first, &out);
    json_t *json = evd_json_parse(evd_buffer_text(&out), arena, &fault);
    EXPECT(json != NULL);
    EXPECT(evd_json_read(type, json, arena, second, &fault));
    json_decref(json);
    EXPECT(specimen_difference(type, first, second) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct evd_arena arena;
    struct evd_json_fault fault = {.message = EVD_TEXT("")};
    if (size == 0) return 0;
    struct evd_text input = {(const char *)data, size};
    const struct evd_type *type = named(&input);
    if (type == NULL) type = numbered(&input);
    evd_arena_init(&arena, SPECIMEN_ARENA_BYTES);
    json_t *json = parsed(input, &arena);
    if (json != NULL) {
        void *to = evd_arena_alloc(&arena, type->size_bytes);
        bool taken = evd_json_read(type, json, &arena, to, &fault);
        json_decref(json);
        if (taken)
            expect_same_when_read_again(type, to, &arena);
        else
            expect_reason(&fault);
    }
    evd_arena_done(&arena);
    return 0;
}
