#include "evidenced/base/uuid.h"

#include "evidenced/base/random.h"
#include "evidenced/base/sha256.h"

#include <assert.h>

enum { MOST_PARTS = 15, VERSION_DERIVED = 8, VERSION_RANDOM = 4 };

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool is_hyphen_place(size_t at) {
    return at == 8 || at == 13 || at == 18 || at == 23;
}

bool evd_uuid_parse(struct evd_text text, evd_uuid *ret_uuid) {
    evd_uuid uuid;
    if (text.size_bytes != EVD_UUID_TEXT_BYTES) return false;
    for (size_t at = 0, byte = 0; at < EVD_UUID_TEXT_BYTES;) {
        if (is_hyphen_place(at)) {
            if (text.bytes[at++] != '-') return false;
            continue;
        }
        int high = hex_digit(text.bytes[at]), low = hex_digit(text.bytes[at + 1]);
        if (high < 0 || low < 0) return false;
        uuid.bytes[byte++] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    *ret_uuid = uuid;
    return true;
}

void evd_uuid_format(evd_uuid uuid, char ret_text[EVD_UUID_TEXT_BYTES + 1]) {
    static const char digits[] = "0123456789abcdef";
    char *out = ret_text;
    for (size_t byte = 0; byte < sizeof uuid.bytes; byte++) {
        if (byte == 4 || byte == 6 || byte == 8 || byte == 10) *out++ = '-';
        *out++ = digits[uuid.bytes[byte] >> 4];
        *out++ = digits[uuid.bytes[byte] & 15];
    }
    *out = '\0';
}

bool evd_uuid_equal(evd_uuid a, evd_uuid b) {
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

bool evd_uuid_is_nil(evd_uuid uuid) {
    return evd_uuid_equal(uuid, evd_uuid_nil());
}

int evd_uuid_compare(evd_uuid a, evd_uuid b) {
    return memcmp(a.bytes, b.bytes, sizeof a.bytes);
}

unsigned evd_uuid_version(evd_uuid uuid) {
    return uuid.bytes[6] >> 4;
}

static evd_uuid marked(evd_uuid uuid, unsigned version) {
    uuid.bytes[6] = (uint8_t)((uuid.bytes[6] & 0x0F) | version << 4);
    uuid.bytes[8] = (uint8_t)((uuid.bytes[8] & 0x3F) | 0x80);
    return uuid;
}

evd_uuid evd_uuid_random(const struct evd_random *random) {
    evd_uuid uuid;
    random->fill(random->self, uuid.bytes, sizeof uuid.bytes);
    return marked(uuid, VERSION_RANDOM);
}

evd_uuid evd_uuid_derive(const char *type, const struct evd_text *parts, size_t count) {
    struct evd_text all[MOST_PARTS + 1];
    assert(count <= MOST_PARTS);
    all[0] = evd_text_from(type);
    for (size_t i = 0; i < count; i++)
        all[i + 1] = parts[i];
    struct evd_sha256 digest = evd_sha256_of_parts(all, count + 1);
    evd_uuid uuid;
    memcpy(uuid.bytes, digest.bytes, sizeof uuid.bytes);
    return marked(uuid, VERSION_DERIVED);
}

struct evd_text evd_uuid_part(const evd_uuid *uuid) {
    return (struct evd_text){(const char *)uuid->bytes, sizeof uuid->bytes};
}
