#include "trace.h"

#include "evidenced/base/random.h"

enum { VERSION_AT = 0, TRACE_AT = 3, PARENT_AT = 36, FLAGS_AT = 53, FIRST_VERSION_BYTES = 55 };

static bool is_hex(const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!((bytes[i] >= '0' && bytes[i] <= '9') || (bytes[i] >= 'a' && bytes[i] <= 'f'))) return false;
    return true;
}

static bool is_zero(const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != '0') return false;
    return true;
}

static bool is_well_formed(struct evd_text parent) {
    const char *at = parent.bytes;
    if (parent.size_bytes < FIRST_VERSION_BYTES) return false;
    if (at[TRACE_AT - 1] != '-' || at[PARENT_AT - 1] != '-' || at[FLAGS_AT - 1] != '-') return false;
    if (!is_hex(at + VERSION_AT, 2) || !is_hex(at + TRACE_AT, 32) || !is_hex(at + PARENT_AT, 16)) return false;
    if (!is_hex(at + FLAGS_AT, 2) || is_zero(at + TRACE_AT, 32) || is_zero(at + PARENT_AT, 16)) return false;
    if (at[0] == 'f' && at[1] == 'f') return false;
    if (parent.size_bytes == FIRST_VERSION_BYTES) return true;
    return !is_zero(at, 2) && at[FIRST_VERSION_BYTES] == '-';
}

void evd_trace_id(struct evd_text traceparent, char ret_id[EVD_TRACE_ID_BYTES + 1]) {
    static const char digits[] = "0123456789abcdef";
    const struct evd_random *random = evd_random_system();
    uint8_t bytes[EVD_TRACE_ID_BYTES / 2];
    ret_id[EVD_TRACE_ID_BYTES] = '\0';
    if (is_well_formed(traceparent)) {
        memcpy(ret_id, traceparent.bytes + TRACE_AT, EVD_TRACE_ID_BYTES);
        return;
    }
    random->fill(random->self, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        ret_id[2 * i] = digits[bytes[i] >> 4];
        ret_id[2 * i + 1] = digits[bytes[i] & 15];
    }
}
