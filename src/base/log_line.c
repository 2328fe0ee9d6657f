#include "log_line.h"

#include "evidenced/base/clock.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#define CUT_MARK ",\"truncated\":true"

/* What a line may hold before its end, so that the mark and the end always fit. */
enum { ROOM_BYTES = EVD_LOG_LINE_BYTES - sizeof(CUT_MARK) - sizeof("}\n"), NUMBER_BYTES = 48, ESCAPE_BYTES = 8 };

static bool add(struct evd_log_line *line, const char *bytes, size_t size_bytes) {
    if (size_bytes > ROOM_BYTES - line->size_bytes) return false;
    memcpy(line->bytes + line->size_bytes, bytes, size_bytes);
    line->size_bytes += size_bytes;
    return true;
}

static bool add_terminated(struct evd_log_line *line, const char *terminated) {
    return add(line, terminated, strlen(terminated));
}

/* The size of the character at the text's start; 0: its first byte is no part of well-formed UTF-8. */
static size_t character_size(struct evd_text text) {
    uint8_t first = (uint8_t)text.bytes[0];
    size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return size <= text.size_bytes && evd_text_is_utf8((struct evd_text){text.bytes, size}) ? size : 0;
}

/* C0, DEL and C1 controls: a log that is read on a terminal must not be able to steer it. 0: no control character. */
static unsigned control_of(const char *bytes, size_t size) {
    uint8_t first = (uint8_t)bytes[0];
    if (size == 1 && (first < 0x20 || first == 0x7F)) return first | 0x100U;
    if (size == 2 && first == 0xC2 && (uint8_t)bytes[1] < 0xA0) return (uint8_t)bytes[1] | 0x100U;
    return 0;
}

/* One character as it stands in a JSON string. Returns the size of the escape in ret_escape, 0: stands for itself. */
static size_t escape(const char *bytes, size_t size, char ret_escape[ESCAPE_BYTES]) {
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *special = size == 1 && *bytes != '\0' ? strchr(from, *bytes) : NULL;
    if (size == 0) return (size_t)snprintf(ret_escape, ESCAPE_BYTES, "\xEF\xBF\xBD");
    if (special != NULL) return (size_t)snprintf(ret_escape, ESCAPE_BYTES, "\\%c", to[special - from]);
    unsigned control = control_of(bytes, size);
    return control == 0 ? 0 : (size_t)snprintf(ret_escape, ESCAPE_BYTES, "\\u00%02x", control & 0xFFU);
}

/* A JSON string of the text, cut at a character's border when it is too long. False: not even its quotes fit. */
static bool add_string(struct evd_log_line *line, struct evd_text text) {
    if (ROOM_BYTES - line->size_bytes < 2 || !add(line, "\"", 1)) return false;
    while (text.size_bytes > 0) {
        char escaped[ESCAPE_BYTES];
        size_t size = character_size(text), escaped_size = escape(text.bytes, size, escaped);
        size_t needs = escaped_size == 0 ? size : escaped_size;
        if (needs + 1 > ROOM_BYTES - line->size_bytes) {
            line->is_cut = true;
            break;
        }
        (void)add(line, escaped_size == 0 ? text.bytes : escaped, needs);
        size_t taken = size == 0 ? 1 : size;
        text = (struct evd_text){text.bytes + taken, text.size_bytes - taken};
    }
    return add(line, "\"", 1);
}

static bool add_ms(struct evd_log_line *line, double ms) {
    char number[NUMBER_BYTES];
    if (!isfinite(ms)) return add_terminated(line, "null");
    (void)snprintf(number, sizeof number, fabs(ms) < 1e15 ? "%.3f" : "%.17g", ms);
    return add_terminated(line, number);
}

static bool add_value(struct evd_log_line *line, const struct evd_log_field *field) {
    char number[NUMBER_BYTES];
    switch (field->kind) {
    case EVD_LOG_TEXT: return add_string(line, field->value.text);
    case EVD_LOG_I64: (void)snprintf(number, sizeof number, "%" PRId64, field->value.i64); break;
    case EVD_LOG_U64: (void)snprintf(number, sizeof number, "%" PRIu64, field->value.u64); break;
    case EVD_LOG_UUID:
        number[0] = '"';
        evd_uuid_format(field->value.uuid, number + 1);
        number[EVD_UUID_TEXT_BYTES + 1] = '"';
        number[EVD_UUID_TEXT_BYTES + 2] = '\0';
        break;
    case EVD_LOG_MS: return add_ms(line, field->value.ms);
    }
    return add_terminated(line, number);
}

/* Keys come from the program, never from outside: one that would need escaping is a programmer error. */
static bool is_plain(const char *name) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return *name != '\0' && name[strspn(name, plain)] == '\0';
}

static void add_field(struct evd_log_line *line, const struct evd_log_field *field) {
    size_t before = line->size_bytes;
    assert(is_plain(field->key));
    if (add(line, ",\"", 2) && add_terminated(line, field->key) && add(line, "\":", 2) && add_value(line, field))
        return;
    line->size_bytes = before;
    line->is_cut = true;
}

void evd_log_line_format(struct evd_log_line *line, int64_t wall_ms, enum evd_log_level level, const char *event,
                         const struct evd_log_field *fields, size_t count) {
    char time_text[EVD_TIME_TEXT_BYTES + 1];
    assert(is_plain(event) && strlen(event) < EVD_LOG_LINE_BYTES / 4);
    evd_time_format(wall_ms, time_text);
    line->is_cut = false;
    line->size_bytes = (size_t)snprintf(line->bytes, ROOM_BYTES, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\"",
                                        time_text, evd_log_level_name(level), event);
    for (size_t i = 0; i < count; i++)
        add_field(line, &fields[i]);
    const char *end = line->is_cut ? CUT_MARK "}\n" : "}\n";
    memcpy(line->bytes + line->size_bytes, end, strlen(end));
    line->size_bytes += strlen(end);
    assert(line->size_bytes <= EVD_LOG_LINE_BYTES);
}
