#include "target.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"

_Static_assert(EVD_LIMIT_PATH_BYTES * 3 < EVD_TARGET_BYTES, "a path of nothing but escapes fits");

static const struct evd_guard_refusal malformed = {400, "The request's target is not well formed."};

/* Visible ASCII without '#': what RFC 3986 lets through, and nothing a parser between could cut at. */
static bool is_plain(struct evd_text raw) {
    for (size_t i = 0; i < raw.size_bytes; i++)
        if (raw.bytes[i] <= ' ' || raw.bytes[i] >= 0x7F || raw.bytes[i] == '#') return false;
    return true;
}

static struct evd_text cut(struct evd_text *rest, char at) {
    const char *found = rest->size_bytes == 0 ? NULL : memchr(rest->bytes, at, rest->size_bytes);
    if (found == NULL) {
        struct evd_text all = *rest;
        *rest = (struct evd_text){NULL, 0};
        return all;
    }
    struct evd_text head = {rest->bytes, (size_t)(found - rest->bytes)};
    *rest = (struct evd_text){found + 1, rest->size_bytes - head.size_bytes - 1};
    return head;
}

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

/* Is the byte an escape stands for one that would be read differently before and after decoding? */
static bool escape_is_refused(uint8_t byte, bool in_path) {
    return byte == 0 || (in_path && (byte < 0x20 || byte == 0x7F || byte == '/' || byte == '\\'));
}

static bool decode(struct evd_arena *arena, struct evd_text raw, bool in_path, struct evd_text *ret_text) {
    char *bytes = evd_arena_alloc(arena, raw.size_bytes + 1);
    size_t size = 0;
    for (size_t i = 0; i < raw.size_bytes; i++) {
        char c = raw.bytes[i];
        if (c == '%') {
            if (raw.size_bytes - i < 3) return false;
            int high = digit(raw.bytes[i + 1]), low = digit(raw.bytes[i + 2]);
            if (high < 0 || low < 0 || escape_is_refused((uint8_t)(high * 16 + low), in_path)) return false;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && !in_path) {
            c = ' ';
        }
        bytes[size++] = c;
    }
    struct evd_text text = {bytes, size};
    if (!evd_text_is_utf8(text)) return false;
    *ret_text = text;
    return true;
}

static bool has_dot_segment(struct evd_text path) {
    while (path.bytes != NULL) {
        struct evd_text segment = cut(&path, '/');
        if (evd_text_equal(segment, EVD_TEXT(".")) || evd_text_equal(segment, EVD_TEXT(".."))) return true;
    }
    return false;
}

static struct evd_guard_refusal decode_query(struct evd_arena *arena, struct evd_text raw, struct evd_target *target) {
    if (raw.size_bytes == 0) return EVD_GUARD_PASS;
    target->parameters = EVD_NEW_ARRAY(arena, struct evd_http_field, EVD_LIMIT_QUERY_PARAMETERS);
    while (raw.bytes != NULL) {
        struct evd_text value = cut(&raw, '&'), name = cut(&value, '=');
        if (name.size_bytes == 0 && value.bytes == NULL) continue;
        if (target->parameter_count == EVD_LIMIT_QUERY_PARAMETERS)
            return (struct evd_guard_refusal){400, "The request has too many query parameters."};
        struct evd_http_field *parameter = &target->parameters[target->parameter_count++];
        if (!decode(arena, name, false, &parameter->name) || !decode(arena, value, false, &parameter->value))
            return malformed;
    }
    return EVD_GUARD_PASS;
}

struct evd_guard_refusal evd_target_decode(struct evd_arena *arena, struct evd_text raw,
                                           struct evd_target *ret_target) {
    struct evd_target target = {.parameter_count = 0};
    if (raw.size_bytes > EVD_TARGET_BYTES) return (struct evd_guard_refusal){414, "The request's target is too long."};
    if (!is_plain(raw)) return malformed;
    struct evd_text query = raw, path = cut(&query, '?');
    bool absolute = path.size_bytes > 0 && path.bytes[0] == '/';
    if (!absolute && !evd_text_equal(raw, EVD_TEXT("*"))) return malformed;
    if (path.size_bytes / 3 > EVD_LIMIT_PATH_BYTES) return (struct evd_guard_refusal){414, "The path is too long."};
    if (!decode(arena, path, true, &target.path) || has_dot_segment(target.path)) return malformed;
    if (target.path.size_bytes > EVD_LIMIT_PATH_BYTES) return (struct evd_guard_refusal){414, "The path is too long."};
    struct evd_guard_refusal refusal = decode_query(arena, query, &target);
    if (refusal.status == 0) *ret_target = target;
    return refusal;
}
