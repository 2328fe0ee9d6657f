#include "evidenced/base/text.h"

#include "evidenced/base/arena.h"

#include <stdarg.h>

struct evd_text evd_text_from(const char *terminated) {
    return terminated == NULL ? EVD_TEXT("") : (struct evd_text){terminated, strlen(terminated)};
}

bool evd_text_equal(struct evd_text a, struct evd_text b) {
    return a.size_bytes == b.size_bytes && (a.size_bytes == 0 || memcmp(a.bytes, b.bytes, a.size_bytes) == 0);
}

static char lower(char c) {
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

bool evd_text_equal_ignoring_case(struct evd_text a, struct evd_text b) {
    if (a.size_bytes != b.size_bytes) return false;
    for (size_t i = 0; i < a.size_bytes; i++)
        if (lower(a.bytes[i]) != lower(b.bytes[i])) return false;
    return true;
}

bool evd_text_starts_with(struct evd_text text, struct evd_text prefix) {
    return text.size_bytes >= prefix.size_bytes &&
           evd_text_equal((struct evd_text){text.bytes, prefix.size_bytes}, prefix);
}

int evd_text_compare(struct evd_text a, struct evd_text b) {
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common == 0 ? 0 : memcmp(a.bytes, b.bytes, common);
    return order != 0 ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct evd_text evd_text_trim(struct evd_text text) {
    while (text.size_bytes > 0 && is_space(text.bytes[0]))
        text = (struct evd_text){text.bytes + 1, text.size_bytes - 1};
    while (text.size_bytes > 0 && is_space(text.bytes[text.size_bytes - 1]))
        text.size_bytes--;
    return text;
}

struct evd_text evd_text_copy(struct evd_arena *arena, struct evd_text text) {
    char *copy = evd_arena_alloc(arena, text.size_bytes + 1);
    if (text.size_bytes > 0) memcpy(copy, text.bytes, text.size_bytes);
    return (struct evd_text){copy, text.size_bytes};
}

struct evd_text evd_text_print(struct evd_arena *arena, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0) abort(); /* only a wrong format does this */
    char *bytes = evd_arena_alloc(arena, (size_t)size + 1);
    (void)vsnprintf(bytes, (size_t)size + 1, format, again);
    va_end(again);
    return (struct evd_text){bytes, (size_t)size};
}

/* The number of bytes of the sequence that starts with `first` and the range its second byte must be in (RFC 3629 §4).
 */
static size_t sequence_of(uint8_t first, uint8_t *ret_low, uint8_t *ret_high) {
    *ret_low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    *ret_high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    if (first >= 0xF0 && first <= 0xF4) return 4;
    return 0;
}

bool evd_text_is_utf8(struct evd_text text) {
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    for (size_t at = 0; at < text.size_bytes;) {
        uint8_t low, high;
        size_t size = sequence_of(bytes[at], &low, &high);
        if (size == 0 || size > text.size_bytes - at) return false;
        for (size_t i = 1; i < size; i++, low = 0x80, high = 0xBF)
            if (bytes[at + i] < low || bytes[at + i] > high) return false;
        at += size;
    }
    return true;
}

struct evd_text evd_text_cut(struct evd_text text, size_t most_bytes) {
    if (text.size_bytes <= most_bytes) return text;
    while (most_bytes > 0 && ((uint8_t)text.bytes[most_bytes] & 0xC0) == 0x80)
        most_bytes--;
    return (struct evd_text){text.bytes, most_bytes};
}

size_t evd_text_length(struct evd_text text) {
    size_t length = 0;
    for (size_t i = 0; i < text.size_bytes; i++)
        length += ((uint8_t)text.bytes[i] & 0xC0) != 0x80;
    return length;
}

bool evd_text_to_u64(struct evd_text text, uint64_t *ret_number) {
    uint64_t number = 0;
    if (text.size_bytes == 0) return false;
    for (size_t i = 0; i < text.size_bytes; i++) {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') return false;
        if (__builtin_mul_overflow(number, 10, &number)) return false;
        if (__builtin_add_overflow(number, (uint64_t)(text.bytes[i] - '0'), &number)) return false;
    }
    *ret_number = number;
    return true;
}

bool evd_text_to_i64(struct evd_text text, int64_t *ret_number) {
    bool negative = text.size_bytes > 0 && text.bytes[0] == '-';
    uint64_t magnitude;
    if (negative) text = (struct evd_text){text.bytes + 1, text.size_bytes - 1};
    if (!evd_text_to_u64(text, &magnitude)) return false;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
    *ret_number = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}
