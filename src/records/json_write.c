/*
 * Struct → JSON text, straight into a buffer of the arena: no tree is built for an answer.
 */
#include "evidenced/base/buffer.h"
#include "evidenced/base/clock.h"
#include "evidenced/records/dictionary.h"
#include "evidenced/records/json.h"
#include "records/bson_private.h"

#include <inttypes.h>

void evd_json_write_string(struct evd_text text, struct evd_buffer *to) {
    static const char hex[] = "0123456789abcdef";
    evd_buffer_add_byte(to, '"');
    size_t plain = 0;
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = (uint8_t)text.bytes[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        evd_buffer_add(to, text.bytes + plain, i - plain);
        plain = i + 1;
        if (c == '"' || c == '\\') {
            uint8_t escaped[] = {'\\', c};
            evd_buffer_add(to, escaped, sizeof escaped);
        } else {
            uint8_t escaped[] = {'\\', 'u', '0', '0', (uint8_t)hex[c >> 4], (uint8_t)hex[c & 15]};
            evd_buffer_add(to, escaped, sizeof escaped);
        }
    }
    if (plain < text.size_bytes) evd_buffer_add(to, text.bytes + plain, text.size_bytes - plain);
    evd_buffer_add_byte(to, '"');
}

static void write_uuid(evd_uuid uuid, struct evd_buffer *to) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(uuid, text);
    evd_json_write_string(evd_text_from(text), to);
}

static void write_strings(const struct evd_texts *texts, struct evd_buffer *to) {
    evd_buffer_add_byte(to, '[');
    for (size_t i = 0; i < texts->count; i++) {
        if (i > 0) evd_buffer_add_byte(to, ',');
        evd_json_write_string(texts->items[i], to);
    }
    evd_buffer_add_byte(to, ']');
}

static void write_uuids(const struct evd_list *list, struct evd_buffer *to) {
    const evd_uuid *items = list->items;
    evd_buffer_add_byte(to, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0) evd_buffer_add_byte(to, ',');
        write_uuid(items[i], to);
    }
    evd_buffer_add_byte(to, ']');
}

static void write_list(const struct evd_type *type, const void *items, size_t count, struct evd_buffer *to) {
    evd_buffer_add_byte(to, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) evd_buffer_add_byte(to, ',');
        evd_json_write(type, (const uint8_t *)items + i * type->size_bytes, to);
    }
    evd_buffer_add_byte(to, ']');
}

void evd_json_write_value(const struct evd_answer_value *value, struct evd_buffer *to) {
    switch (value->kind) {
    case EVD_ANSWER_NONE: evd_buffer_add_text(to, EVD_TEXT("null")); return;
    case EVD_ANSWER_TEXT: evd_json_write_string(value->text, to); return;
    case EVD_ANSWER_INTEGER: evd_buffer_print(to, "%" PRId64, value->integer); return;
    case EVD_ANSWER_BOOLEAN: evd_buffer_print(to, "%s", value->boolean ? "true" : "false"); return;
    case EVD_ANSWER_TEXTS: write_strings(&value->texts, to); return;
    case EVD_ANSWER_POINTS: write_list(&evd_type_answer_point, value->points.items, value->points.count, to); return;
    }
}

static void write_time(int64_t wall_ms, struct evd_buffer *to) {
    char text[EVD_TIME_TEXT_BYTES + 1];
    evd_time_format(wall_ms, text);
    evd_json_write_string(evd_text_from(text), to);
}

static bool is_zero(const struct evd_field *field, union evd_member at) {
    switch (field->kind) {
    case EVD_KIND_UUID: return evd_uuid_is_nil(*at.uuid);
    case EVD_KIND_BOOLEAN: return !*at.boolean;
    case EVD_KIND_STAMP: return *at.stamp == 0;
    case EVD_KIND_TIME:
    case EVD_KIND_NUMBER: return *at.number == 0;
    case EVD_KIND_STRING: return at.text->bytes == NULL;
    case EVD_KIND_BYTES:
    case EVD_KIND_MEMBERS: return true;
    case EVD_KIND_ENUM: return at.name->value == 0 && at.name->text.bytes == NULL;
    case EVD_KIND_NEST: return *at.nest == NULL;
    case EVD_KIND_LIST:
    case EVD_KIND_STRINGS:
    case EVD_KIND_UUIDS: return at.list->count == 0;
    case EVD_KIND_VALUE: return at.value->kind == EVD_ANSWER_NONE;
    }
    return true;
}

static bool is_list(enum evd_kind kind) {
    return kind == EVD_KIND_LIST || kind == EVD_KIND_STRINGS || kind == EVD_KIND_UUIDS;
}

static void write_present(const struct evd_field *field, union evd_member at, struct evd_buffer *to) {
    switch (field->kind) {
    case EVD_KIND_UUID: write_uuid(*at.uuid, to); return;
    case EVD_KIND_BOOLEAN: evd_buffer_print(to, "%s", *at.boolean ? "true" : "false"); return;
    case EVD_KIND_STAMP: evd_buffer_print(to, "\"%" PRIu64 "\"", *at.stamp); return;
    case EVD_KIND_TIME: write_time(*at.number, to); return;
    case EVD_KIND_NUMBER: evd_buffer_print(to, "%" PRId64, *at.number); return;
    case EVD_KIND_STRING: evd_json_write_string(*at.text, to); return;
    case EVD_KIND_ENUM: evd_json_write_string(evd_name_text(field->names, *at.name), to); return;
    case EVD_KIND_NEST: evd_json_write(field->of, *at.nest, to); return;
    case EVD_KIND_LIST: write_list(field->of, at.list->items, at.list->count, to); return;
    case EVD_KIND_STRINGS: write_strings(at.texts, to); return;
    case EVD_KIND_UUIDS: write_uuids(at.list, to); return;
    case EVD_KIND_VALUE: evd_json_write_value(at.value, to); return;
    case EVD_KIND_BYTES:
    case EVD_KIND_MEMBERS: return;
    }
}

static void write_comma(bool *first, struct evd_buffer *to) {
    if (!*first) evd_buffer_add_byte(to, ',');
    *first = false;
}

void evd_json_write_members(const struct evd_type *type, const void *from, struct evd_buffer *to) {
    bool first = true;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct evd_field *field = &type->fields[i];
        union evd_member at = {.any = (const uint8_t *)from + field->offset};
        if (field->kind == EVD_KIND_MEMBERS) {
            if (at.text->size_bytes == 0) continue;
            write_comma(&first, to);
            evd_buffer_add_text(to, *at.text);
            continue;
        }
        bool absent = is_zero(field, at) && !is_list(field->kind) && field->need != EVD_REQUIRED;
        if (field->kind == EVD_KIND_BYTES || (absent && field->need == EVD_OPTIONAL)) continue;
        if (is_list(field->kind) && at.list->count == 0 && field->need == EVD_OPTIONAL) continue;
        write_comma(&first, to);
        evd_buffer_print(to, "\"%s\":", field->key);
        if (absent || (field->kind == EVD_KIND_NEST && *at.nest == NULL))
            evd_buffer_add_text(to, EVD_TEXT("null"));
        else
            write_present(field, at, to);
    }
}

void evd_json_write(const struct evd_type *type, const void *from, struct evd_buffer *to) {
    evd_buffer_add_byte(to, '{');
    evd_json_write_members(type, from, to);
    evd_buffer_add_byte(to, '}');
}
