/*
 * JSON → struct, by jansson. Bounds on depth and number of values are checked on the text itself, before jansson
 * allocates: a megabyte of `{}` would otherwise cost fifty.
 */
#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"
#include "evidenced/records/dictionary.h"
#include "evidenced/records/json.h"
#include "evidenced/records/json_load.h"

#include <jansson.h>

static const int64_t largest_exact = (INT64_C(1) << 53) - 1; /* what every JSON reader holds exactly */

struct reading {
    struct evd_arena *arena;
    struct evd_json_fault *fault;
};

/* Where a value stands: a chain on the stack, made into a pointer only when something is wrong. */
struct place {
    const struct place *above;
    const char *member; /* NULL: an element */
    size_t element;
};

static struct evd_text pointer_of(struct evd_arena *arena, const struct place *place) {
    if (place == NULL) return EVD_TEXT("");
    struct evd_text above = pointer_of(arena, place->above);
    if (place->member == NULL) return evd_text_print(arena, EVD_TEXT_FMT "/%zu", EVD_TEXT_ARG(above), place->element);
    return evd_text_print(arena, EVD_TEXT_FMT "/%s", EVD_TEXT_ARG(above), place->member);
}

static bool refuse(const struct reading *reading, const struct place *place, struct evd_text message) {
    *reading->fault = (struct evd_json_fault){.pointer = pointer_of(reading->arena, place), .message = message};
    return false;
}

#define REFUSE(reading, place, ...) refuse((reading), (place), evd_text_print((reading)->arena, __VA_ARGS__))

static struct evd_text string_of(const json_t *json) {
    return (struct evd_text){json_string_value(json), json_string_length(json)};
}

static bool read_string(const struct reading *reading, const struct place *place, const json_t *json, uint32_t max,
                        struct evd_text *ret_text) {
    if (!json_is_string(json)) return REFUSE(reading, place, "A string is expected here.");
    struct evd_text text = string_of(json);
    if (text.size_bytes > max)
        return REFUSE(reading, place, "This text has %zu bytes; at most %u are taken.", text.size_bytes, max);
    *ret_text = evd_text_copy(reading->arena, text);
    return true;
}

static bool read_uuid(const struct reading *reading, const struct place *place, const json_t *json, evd_uuid *ret) {
    if (!json_is_string(json) || !evd_uuid_parse(string_of(json), ret))
        return REFUSE(reading, place, "A UUID is expected here.");
    return true;
}

static bool read_number(const struct reading *reading, const struct place *place, const json_t *json,
                        const struct evd_field *field, int64_t *ret_number) {
    if (!json_is_integer(json)) return REFUSE(reading, place, "A whole number is expected here.");
    int64_t number = json_integer_value(json);
    if (number < field->least || number > field->most)
        return REFUSE(reading, place, "A number from %lld to %lld is expected here.", (long long)field->least,
                      (long long)field->most);
    *ret_number = number;
    return true;
}

static bool read_stamp(const struct reading *reading, const struct place *place, const json_t *json, evd_stamp *ret) {
    if (!json_is_string(json) || !evd_text_to_u64(string_of(json), ret))
        return REFUSE(reading, place, "A stamp, a decimal number in a string, is expected here.");
    return true;
}

static bool read_name(const struct reading *reading, const struct place *place, const json_t *json,
                      const struct evd_field *field, struct evd_name *ret_name) {
    if (!json_is_string(json)) return REFUSE(reading, place, "A name is expected here.");
    int value = evd_names_find(field->names, string_of(json));
    if (value == 0) return REFUSE(reading, place, "This is not one of the names of %s.", field->names->set);
    *ret_name = (struct evd_name){.value = value};
    return true;
}

static bool open_array(const struct reading *reading, const struct place *place, const json_t *json, uint32_t max) {
    if (!json_is_array(json)) return REFUSE(reading, place, "A list is expected here.");
    if (json_array_size(json) > max)
        return REFUSE(reading, place, "This list has %zu elements; at most %u are taken.", json_array_size(json), max);
    return true;
}

static bool read_strings(const struct reading *reading, const struct place *place, const json_t *json, uint32_t max,
                         uint32_t max_bytes, struct evd_texts *ret_texts) {
    if (!open_array(reading, place, json, max)) return false;
    size_t count = json_array_size(json);
    struct evd_text *items = EVD_NEW_ARRAY(reading->arena, struct evd_text, count);
    for (size_t i = 0; i < count; i++) {
        struct place element = {.above = place, .element = i};
        if (!read_string(reading, &element, json_array_get(json, i), max_bytes, &items[i])) return false;
    }
    *ret_texts = (struct evd_texts){items, count};
    return true;
}

static bool read_uuids(const struct reading *reading, const struct place *place, const json_t *json, uint32_t max,
                       struct evd_list *ret_list) {
    if (!open_array(reading, place, json, max)) return false;
    size_t count = json_array_size(json);
    evd_uuid *items = EVD_NEW_ARRAY(reading->arena, evd_uuid, count);
    for (size_t i = 0; i < count; i++) {
        struct place element = {.above = place, .element = i};
        if (!read_uuid(reading, &element, json_array_get(json, i), &items[i])) return false;
    }
    *ret_list = (struct evd_list){items, count};
    return true;
}

static bool read_object(const struct reading *reading, const struct place *place, const struct evd_type *type,
                        const json_t *json, void *to);

static bool read_list(const struct reading *reading, const struct place *place, const struct evd_type *of,
                      const json_t *json, uint32_t max, struct evd_list *ret_list) {
    if (!open_array(reading, place, json, max)) return false;
    size_t count = json_array_size(json);
    uint8_t *items = evd_arena_alloc_array(reading->arena, count, of->size_bytes);
    for (size_t i = 0; i < count; i++) {
        struct place element = {.above = place, .element = i};
        if (!read_object(reading, &element, of, json_array_get(json, i), items + i * of->size_bytes)) return false;
    }
    *ret_list = (struct evd_list){items, count};
    return true;
}

static bool read_points(const struct reading *reading, const struct place *place, const json_t *json,
                        struct evd_answer_points *ret_points) {
    struct evd_list list;
    if (!read_list(reading, place, &evd_type_answer_point, json, EVD_ANSWER_POINTS_MOST, &list)) return false;
    *ret_points = (struct evd_answer_points){list.items, list.count};
    return true;
}

static bool read_value(const struct reading *reading, const struct place *place, const json_t *json,
                       struct evd_answer_value *ret_value) {
    if (json_is_string(json)) {
        ret_value->kind = EVD_ANSWER_TEXT;
        return read_string(reading, place, json, EVD_ANSWER_TEXT_BYTES, &ret_value->text);
    }
    if (json_is_integer(json)) {
        int64_t number = json_integer_value(json);
        if (number > largest_exact || number < -largest_exact)
            return REFUSE(reading, place, "An integer answer lies within ±9007199254740991.");
        *ret_value = (struct evd_answer_value){.kind = EVD_ANSWER_INTEGER, .integer = number};
        return true;
    }
    if (json_is_boolean(json)) {
        *ret_value = (struct evd_answer_value){.kind = EVD_ANSWER_BOOLEAN, .boolean = json_is_true(json)};
        return true;
    }
    if (json_is_object(json_array_get(json, 0))) { /* of a list; NULL of anything else */
        ret_value->kind = EVD_ANSWER_POINTS;
        return read_points(reading, place, json, &ret_value->points);
    }
    if (json_is_array(json)) {
        ret_value->kind = EVD_ANSWER_TEXTS;
        return read_strings(reading, place, json, EVD_ANSWER_TEXTS_MOST, EVD_ANSWER_TEXT_BYTES, &ret_value->texts);
    }
    if (json_is_real(json)) return REFUSE(reading, place, "A decimal answer is given as a string, digit for digit.");
    return REFUSE(reading, place,
                  "An answer is a string, a whole number, true, false, or a list of strings or of points.");
}

static bool read_member(const struct reading *reading, const struct place *place, const struct evd_field *field,
                        const json_t *json, void *to) {
    switch (field->kind) {
    case EVD_KIND_UUID: return read_uuid(reading, place, json, to);
    case EVD_KIND_BOOLEAN:
        if (!json_is_boolean(json)) return REFUSE(reading, place, "true or false is expected here.");
        *(bool *)to = json_is_true(json);
        return true;
    case EVD_KIND_STAMP: return read_stamp(reading, place, json, to);
    case EVD_KIND_NUMBER: return read_number(reading, place, json, field, to);
    case EVD_KIND_STRING: return read_string(reading, place, json, field->max, to);
    case EVD_KIND_ENUM: return read_name(reading, place, json, field, to);
    case EVD_KIND_NEST: {
        void *nest = evd_arena_alloc(reading->arena, field->of->size_bytes);
        if (!read_object(reading, place, field->of, json, nest)) return false;
        *(void **)to = nest;
        return true;
    }
    case EVD_KIND_LIST: return read_list(reading, place, field->of, json, field->max, to);
    case EVD_KIND_STRINGS: return read_strings(reading, place, json, field->max, field->max_bytes, to);
    case EVD_KIND_UUIDS: return read_uuids(reading, place, json, field->max, to);
    case EVD_KIND_VALUE: return read_value(reading, place, json, to);
    case EVD_KIND_TIME:
    case EVD_KIND_BYTES:
    case EVD_KIND_MEMBERS: break; /* only ever shown */
    }
    return REFUSE(reading, place, "This member is not taken.");
}

static const struct evd_field *field_named(const struct evd_type *type, const char *key) {
    for (size_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].key, key) == 0) return &type->fields[i];
    return NULL;
}

/* The name comes from the client, so it is only shown when it is short and plain. */
static bool refuse_unknown(const struct reading *reading, const struct place *place, const char *key) {
    enum { SHOWN_BYTES = 60 };
    for (size_t i = 0; key[i] != '\0'; i++)
        if (i >= SHOWN_BYTES || key[i] == '~' || key[i] == '/' || key[i] < 0x20 || (uint8_t)key[i] >= 0x7F)
            return REFUSE(reading, place, "There is a member here that this request does not have.");
    struct place member = {.above = place, .member = evd_text_copy(reading->arena, evd_text_from(key)).bytes};
    return REFUSE(reading, &member, "This request has no member of that name.");
}

static bool read_object(const struct reading *reading, const struct place *place, const struct evd_type *type,
                        const json_t *json, void *to) {
    const char *key;
    json_t *value;
    size_t used = 0;
    if (!json_is_object(json)) return REFUSE(reading, place, "An object is expected here.");
    for (size_t i = 0; i < type->field_count; i++) {
        const struct evd_field *field = &type->fields[i];
        struct place member = {.above = place, .member = field->key};
        const json_t *found = json_object_get(json, field->key);
        used += found != NULL;
        if (found == NULL && field->need != EVD_OPTIONAL) return REFUSE(reading, &member, "This member is missing.");
        if (found == NULL || (json_is_null(found) && field->need != EVD_REQUIRED)) continue;
        if (!read_member(reading, &member, field, found, (uint8_t *)to + field->offset)) return false;
    }
    if (used == json_object_size(json)) return true;
    json_object_foreach((json_t *)(uintptr_t)json, key, value) { /* the macro only reads */
        if (field_named(type, key) == NULL) return refuse_unknown(reading, place, key);
    }
    return true;
}

bool evd_json_read(const struct evd_type *type, const struct json_t *from, struct evd_arena *arena, void *ret_struct,
                   struct evd_json_fault *ret_fault) {
    struct reading reading = {.arena = arena, .fault = ret_fault};
    return read_object(&reading, NULL, type, from, ret_struct);
}

static bool is_between_values(char c) {
    return c == ',' || c == ':' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*
 * Counts depth and values. Exact for JSON; what is none jansson refuses at the first wrong byte, before which the
 * count was exact, so never more is built than was counted.
 */
static bool within_bounds(const struct reading *reading, struct evd_text text) {
    size_t depth = 0, values = 0;
    bool in_string = false, in_word = false;
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = text.bytes[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
            continue;
        }
        bool opens = c == '{' || c == '[';
        depth += opens;
        if ((c == '}' || c == ']') && depth > 0) depth--;
        if (c == ':' && values > 0) values--; /* the string before it was a member's name */
        values += !in_word && !is_between_values(c);
        in_string = c == '"';
        in_word = !is_between_values(c) && !opens && !in_string;
        if (depth > EVD_LIMIT_JSON_DEPTH)
            return REFUSE(reading, NULL, "The body is nested deeper than %d levels (byte %zu).", EVD_LIMIT_JSON_DEPTH,
                          i);
        if (values > EVD_LIMIT_JSON_VALUES)
            return REFUSE(reading, NULL, "The body has more than %d values.", EVD_LIMIT_JSON_VALUES);
    }
    return true;
}

/* Where the place alone would not help: the text is JSON as its grammar has it. */
static const char *why_not(const json_error_t *error) {
    enum json_error_code code = json_error_code(error);
    if (code == json_error_duplicate_key) return " (a member occurs twice)";
    return code == json_error_numeric_overflow ? " (a number is too large)" : "";
}

struct json_t *evd_json_parse(struct evd_text text, struct evd_arena *arena, struct evd_json_fault *ret_fault) {
    struct reading reading = {.arena = arena, .fault = ret_fault};
    if (!within_bounds(&reading, text)) return NULL;
    json_error_t error;
    bool no_memory;
    json_t *json = evd_json_load(text, &error, &no_memory);
    if (json != NULL) return json;
    if (no_memory) evd_arena_exhausted(arena);
    (void)REFUSE(&reading, NULL, "The body is not valid JSON: line %d, column %d%s.", error.line, error.column,
                 why_not(&error));
    return NULL;
}
