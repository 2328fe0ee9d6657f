#include "base64url.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int value_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '-') return 62;
    if (c == '_') return 63;
    return -1;
}

bool evd_base64url_decode(struct evd_text text, uint8_t *buffer, size_t capacity_bytes, size_t *ret_size_bytes) {
    size_t rest = text.size_bytes % 4, size_bytes = text.size_bytes / 4 * 3 + (rest == 0 ? 0 : rest - 1);
    if (rest == 1 || size_bytes > capacity_bytes) return false;
    uint32_t bits = 0;
    unsigned held = 0;
    for (size_t i = 0, out = 0; i < text.size_bytes; i++) {
        int value = value_of(text.bytes[i]);
        if (value < 0) return false;
        bits = bits << 6 | (uint32_t)value;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        buffer[out++] = (uint8_t)(bits >> held);
    }
    if ((bits & ((1U << held) - 1)) != 0) return false;
    *ret_size_bytes = size_bytes;
    return true;
}

size_t evd_base64url_encode(const void *bytes, size_t size_bytes, char *ret_text) {
    const uint8_t *from = bytes;
    uint32_t bits = 0;
    unsigned held = 0;
    size_t out = 0;
    for (size_t i = 0; i < size_bytes; i++) {
        bits = bits << 8 | from[i];
        for (held += 8; held >= 6; held -= 6)
            ret_text[out++] = letters[bits >> (held - 6) & 63];
    }
    if (held > 0) ret_text[out++] = letters[bits << (6 - held) & 63];
    ret_text[out] = '\0';
    return out;
}
