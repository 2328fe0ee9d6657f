#include "read/page.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"

/*
 * A cursor is hexadecimal: the last record's id, then each index value: a stamp or number as eight bytes, a text as
 * two bytes of length and its bytes.
 */
enum { MOST_CURSOR_BYTES = 2400 };

static void add_hex(struct evd_buffer *out, const void *bytes, size_t size_bytes) {
    static const char digits[] = "0123456789abcdef";
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size_bytes; i++) {
        evd_buffer_add_byte(out, (uint8_t)digits[at[i] >> 4]);
        evd_buffer_add_byte(out, (uint8_t)digits[at[i] & 15]);
    }
}

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of the request's cursor; false when it is none of ours. */
static bool decode(struct evd_call *call, struct evd_text *ret_bytes) {
    struct evd_text cursor = call->page.cursor;
    if (cursor.size_bytes % 2 != 0 || cursor.size_bytes > MOST_CURSOR_BYTES) return false;
    if (cursor.size_bytes < 2 * sizeof(evd_uuid)) return false;
    uint8_t *bytes = evd_arena_alloc(call->arena, cursor.size_bytes / 2);
    for (size_t i = 0; i < cursor.size_bytes; i += 2) {
        int high = digit_of(cursor.bytes[i]), low = digit_of(cursor.bytes[i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    *ret_bytes = (struct evd_text){(const char *)bytes, cursor.size_bytes / 2};
    return true;
}

static bool take(struct evd_text *from, void *to, size_t size_bytes) {
    if (from->size_bytes < size_bytes) return false;
    memcpy(to, from->bytes, size_bytes);
    *from = (struct evd_text){from->bytes + size_bytes, from->size_bytes - size_bytes};
    return true;
}

static bool take_value(struct evd_text *from, enum evd_value_kind kind, struct evd_value *ret_value) {
    uint16_t size_bytes;
    ret_value->kind = kind;
    switch (kind) {
    case EVD_VALUE_UUID: return take(from, &ret_value->uuid, sizeof ret_value->uuid);
    case EVD_VALUE_I64: return take(from, &ret_value->i64, sizeof ret_value->i64);
    case EVD_VALUE_BOOL: return take(from, &ret_value->boolean, sizeof ret_value->boolean);
    case EVD_VALUE_TEXT:
        if (!take(from, &size_bytes, sizeof size_bytes) || from->size_bytes < size_bytes) return false;
        ret_value->text = (struct evd_text){from->bytes, size_bytes};
        *from = (struct evd_text){from->bytes + size_bytes, from->size_bytes - size_bytes};
        return true;
    }
    return false;
}

static bool position_of(struct evd_call *call, const struct evd_page_order *order,
                        struct evd_page_position *ret_position) {
    struct evd_text bytes;
    if (!decode(call, &bytes) || !take(&bytes, &ret_position->id, sizeof ret_position->id)) return false;
    for (size_t i = 0; i < order->count; i++)
        if (!take_value(&bytes, order->kinds[i], &ret_position->values[i])) return false;
    return bytes.size_bytes == 0;
}

struct evd_outcome evd_page_check(struct evd_call *call, const struct evd_page_order *order) {
    struct evd_page_position position;
    if (call->page.cursor.bytes == NULL || position_of(call, order, &position)) return evd_ok();
    return (struct evd_outcome){.code = EVD_MALFORMED,
                                .detail = EVD_TEXT("`cursor` is not one this list gave."),
                                .members = EVD_TEXT("\"parameter\":\"cursor\"")};
}

bool evd_page_position(struct evd_call *call, const struct evd_page_order *order,
                       struct evd_page_position *ret_position) {
    return call->page.cursor.bytes != NULL && position_of(call, order, ret_position);
}

void evd_page_read(struct evd_call *call, struct evd_page_scan *page) {
    struct evd_page_position position;
    struct evd_scan scan = {.index = page->order->index,
                            .equal = page->equal,
                            .equal_count = page->equal_count,
                            .descending = page->descending,
                            .limit = page->limit + 1}; /* one more tells whether there is a next page */
    if (evd_page_position(call, page->order, &position)) {
        scan.after = position.values;
        scan.after_id = position.id;
    }
    evd_reader_scan(call, &scan, &page->records, &page->count);
    page->more = page->count > page->limit;
    if (page->more) page->count = page->limit;
}

static void add_value(struct evd_buffer *out, const struct evd_value *value) {
    uint16_t size_bytes;
    switch (value->kind) {
    case EVD_VALUE_UUID: add_hex(out, &value->uuid, sizeof value->uuid); return;
    case EVD_VALUE_I64: add_hex(out, &value->i64, sizeof value->i64); return;
    case EVD_VALUE_BOOL: add_hex(out, &value->boolean, sizeof value->boolean); return;
    case EVD_VALUE_TEXT:
        size_bytes = (uint16_t)value->text.size_bytes;
        add_hex(out, &size_bytes, sizeof size_bytes);
        add_hex(out, value->text.bytes, value->text.size_bytes);
        return;
    }
}

struct evd_text evd_page_next(struct evd_call *call, const struct evd_page_scan *page,
                              const struct evd_value *position) {
    struct evd_buffer out;
    if (!page->more) return (struct evd_text){0};
    evd_buffer_init(&out, evd_call_arena(call), 128);
    add_hex(&out, &page->records[page->count - 1]->id, sizeof(evd_uuid));
    for (size_t i = 0; i < page->order->count; i++)
        add_value(&out, &position[i]);
    return evd_buffer_text(&out);
}
