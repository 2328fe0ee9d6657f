/*
 * Bytes of keys. Memory order of the bytes is the order the port promises.
 *
 * An index value is its kind, then: UUID 16 bytes · number eight bytes, big-endian, sign flipped · bool one byte ·
 * text its first EVD_STORE_INDEX_TEXT_BYTES with 0x00 written as 00 FF, closed by 00 01. The end sorts before every
 * continuation, so a text comes before those it is a prefix of, and no value is a prefix of another.
 */
#include "internal.h"

void evd_record_key_encode(const struct evd_key *key, uint8_t ret_bytes[EVD_RECORD_KEY_BYTES]) {
    memcpy(ret_bytes, key->project.bytes, 16);
    ret_bytes[16] = key->in;
    memcpy(ret_bytes + 17, key->id.bytes, 16);
}

size_t evd_index_head_encode(uint8_t number, evd_uuid project, uint8_t ret_bytes[EVD_INDEX_HEAD_BYTES]) {
    ret_bytes[0] = number;
    memcpy(ret_bytes + 1, project.bytes, 16);
    return EVD_INDEX_HEAD_BYTES;
}

static size_t number_encode(int64_t number, uint8_t *out) {
    uint64_t ordered = (uint64_t)number ^ (UINT64_C(1) << 63);
    for (int byte = 0; byte < 8; byte++)
        out[byte] = (uint8_t)(ordered >> (56 - 8 * byte));
    return 8;
}

static size_t text_encode(struct evd_text text, uint8_t *out) {
    size_t used = 0, size_bytes = text.size_bytes;
    if (size_bytes > EVD_STORE_INDEX_TEXT_BYTES) size_bytes = EVD_STORE_INDEX_TEXT_BYTES;
    for (size_t at = 0; at < size_bytes; at++) {
        out[used++] = (uint8_t)text.bytes[at];
        if (text.bytes[at] == '\0') out[used++] = 0xFF;
    }
    out[used++] = 0x00;
    out[used++] = 0x01;
    return used;
}

size_t evd_index_value_encode(const struct evd_value *value, uint8_t ret_bytes[EVD_INDEX_VALUE_BYTES]) {
    ret_bytes[0] = (uint8_t)(1 + value->kind);
    switch (value->kind) {
    case EVD_VALUE_UUID: memcpy(ret_bytes + 1, value->uuid.bytes, 16); return 1 + 16;
    case EVD_VALUE_I64: return 1 + number_encode(value->i64, ret_bytes + 1);
    case EVD_VALUE_TEXT: return 1 + text_encode(value->text, ret_bytes + 1);
    case EVD_VALUE_BOOL: ret_bytes[1] = value->boolean; return 1 + 1;
    }
    abort();
}

void evd_key_successor(uint8_t *prefix, size_t size_bytes) {
    while (size_bytes > 0 && ++prefix[size_bytes - 1] == 0)
        size_bytes--;
}
