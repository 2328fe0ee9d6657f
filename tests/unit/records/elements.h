/*
 * BSON written by hand: one element of every type there is, and a writer that shares nothing with the codec.
 */
#ifndef EVIDENCED_TESTS_RECORDS_ELEMENTS_H
#define EVIDENCED_TESTS_RECORDS_ELEMENTS_H

#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/records/schema.h"

enum {
    TYPE_TEXT = 0x02,
    TYPE_DOCUMENT = 0x03,
    TYPE_ARRAY = 0x04,
    TYPE_BINARY = 0x05,
    TYPE_BOOLEAN = 0x08,
    TYPE_TIME = 0x09,
    TYPE_I32 = 0x10,
    TYPE_I64 = 0x12
};

struct element {
    const char *label;
    uint8_t type, subtype; /* subtype: of a binary */
    struct evd_text value; /* the bytes behind the key */
};

#define ELEMENT(what, code, literal)                                                                                   \
    { .label = (what), .type = (code), .value = EVD_TEXT_INIT(literal) }
#define BINARY(what, code, literal)                                                                                    \
    { .label = (what), .type = TYPE_BINARY, .subtype = (code), .value = EVD_TEXT_INIT(literal) }

static const struct element elements[] = {
    ELEMENT("a double", 0x01, "\x00\x00\x00\x00\x00\x00\xF0\x3F"),
    ELEMENT("a signalling NaN", 0x01, "\x01\x02\x03\x04\x05\x06\xF4\x7F"),
    ELEMENT("a text", TYPE_TEXT, "\x03\x00\x00\x00hi\x00"),
    ELEMENT("a document", TYPE_DOCUMENT, "\x0E\x00\x00\x00\x10zzz\x00\x01\x00\x00\x00\x00"),
    ELEMENT("an array of numbers", TYPE_ARRAY,
            "\x0C\x00\x00\x00\x10"
            "0\x00\x01\x00\x00\x00\x00"),
    ELEMENT("an empty array", TYPE_ARRAY, "\x05\x00\x00\x00\x00"),
    BINARY("plain bytes", 0x00, "\x03\x00\x00\x00\x00yes"),
    BINARY("a function", 0x01, "\x03\x00\x00\x00\x01yes"),
    BINARY("old bytes", 0x02, "\x07\x00\x00\x00\x02\x03\x00\x00\x00yes"),
    BINARY("an old uuid", 0x03, "\x10\x00\x00\x00\x03qwertyuiopasdfgh"),
    BINARY("a uuid", 0x04, "\x10\x00\x00\x00\x04qwertyuiopasdfgh"),
    BINARY("an md5", 0x05, "\x10\x00\x00\x00\x05qwertyuiopasdfgh"),
    BINARY("an encrypted value", 0x06, "\x02\x00\x00\x00\x06ye"),
    BINARY("a column", 0x07, "\x02\x00\x00\x00\x07ye"),
    BINARY("a user's bytes", 0x80, "\x00\x00\x00\x00\x80"),
    ELEMENT("undefined", 0x06, ""),
    ELEMENT("an object id", 0x07, "qwertyuiopas"),
    ELEMENT("false", TYPE_BOOLEAN, "\x00"),
    ELEMENT("true", TYPE_BOOLEAN, "\x01"),
    ELEMENT("a time", TYPE_TIME, "\x01\x00\x00\x00\x00\x00\x00\x00"),
    ELEMENT("null", 0x0A, ""),
    ELEMENT("a regular expression", 0x0B, "^a.*\x00ix\x00"),
    ELEMENT("a pointer into a database", 0x0C,
            "\x03\x00\x00\x00"
            "db\x00qwertyuiopas"),
    ELEMENT("code", 0x0D, "\x05\x00\x00\x00x=1;\x00"),
    ELEMENT("a symbol", 0x0E, "\x02\x00\x00\x00s\x00"),
    ELEMENT("code with a scope", 0x0F, "\x0F\x00\x00\x00\x02\x00\x00\x00x\x00\x05\x00\x00\x00\x00"),
    ELEMENT("a 32-bit number", TYPE_I32, "\x01\x00\x00\x00"),
    ELEMENT("a replication timestamp", 0x11, "\x01\x00\x00\x00\x02\x00\x00\x00"),
    ELEMENT("a 64-bit number", TYPE_I64, "\x01\x00\x00\x00\x00\x00\x00\x00"),
    ELEMENT("a decimal", 0x13, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D\x0E\x0F\x7C"),
    ELEMENT("the largest key", 0x7F, ""),
    ELEMENT("the smallest key", 0xFF, ""),
};

enum { ELEMENT_COUNT = sizeof elements / sizeof *elements };

static inline void put_head(struct evd_buffer *out, uint8_t type, const char *key) {
    evd_buffer_add_byte(out, type);
    evd_buffer_add(out, key, strlen(key) + 1);
}

static inline void put_little(struct evd_buffer *out, uint64_t number, size_t size_bytes) {
    for (size_t i = 0; i < size_bytes; i++)
        evd_buffer_add_byte(out, (uint8_t)(number >> (8 * i)));
}

static inline void put_element(struct evd_buffer *out, const char *key, const struct element *element) {
    put_head(out, element->type, key);
    evd_buffer_add_text(out, element->value);
}

static inline void put_text(struct evd_buffer *out, const char *key, struct evd_text text) {
    put_head(out, TYPE_TEXT, key);
    put_little(out, text.size_bytes + 1, 4);
    evd_buffer_add_text(out, text);
    evd_buffer_add_byte(out, 0);
}

static inline void put_binary(struct evd_buffer *out, const char *key, uint8_t subtype, struct evd_text bytes) {
    put_head(out, TYPE_BINARY, key);
    put_little(out, bytes.size_bytes, 4);
    evd_buffer_add_byte(out, subtype);
    evd_buffer_add_text(out, bytes);
}

static inline void put_number(struct evd_buffer *out, uint8_t type, const char *key, int64_t number) {
    put_head(out, type, key);
    put_little(out, (uint64_t)number, type == TYPE_I32 ? 4 : 8);
}

static inline void put_boolean(struct evd_buffer *out, const char *key, bool boolean) {
    put_head(out, TYPE_BOOLEAN, key);
    evd_buffer_add_byte(out, boolean);
}

/* The length of a document stands before it: begin leaves room, end fills it in. */
static inline size_t put_begin(struct evd_buffer *out) {
    size_t at = out->size_bytes;
    put_little(out, 0, 4);
    return at;
}

static inline void put_end(struct evd_buffer *out, size_t at) {
    evd_buffer_add_byte(out, 0);
    size_t size_bytes = out->size_bytes - at;
    for (size_t i = 0; i < 4; i++)
        out->bytes[at + i] = (uint8_t)(size_bytes >> (8 * i));
}

/* A whole document of one element. */
static inline struct evd_text document_of(struct evd_arena *arena, const char *key, const struct element *element) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 64);
    size_t begun = put_begin(&out);
    put_element(&out, key, element);
    put_end(&out, begun);
    return evd_buffer_text(&out);
}

#endif
