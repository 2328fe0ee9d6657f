#include "tables/refusal.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"

struct evd_text evd_table_cut(struct evd_text text, size_t most_bytes) {
    if (text.size_bytes <= most_bytes) return text;
    while (most_bytes > 0 && ((uint8_t)text.bytes[most_bytes] & 0xC0) == 0x80)
        most_bytes--;
    return (struct evd_text){text.bytes, most_bytes};
}

/* `Row 12, column 3 (doi): `, `Line 40, TI: `, `"notes": ` or nothing. */
static void print_place(struct evd_buffer *out, struct evd_table_place place) {
    struct evd_text name = evd_table_shown(place.name);
    if (place.row != 0) evd_buffer_print(out, place.in_lines ? "Line %lld" : "Row %lld", (long long)place.row);
    if (place.column != 0) evd_buffer_print(out, "%scolumn %zu", place.row != 0 ? ", " : "Column ", place.column);
    if (name.size_bytes > 0 && place.column != 0)
        evd_buffer_print(out, " (" EVD_TEXT_FMT ")", EVD_TEXT_ARG(name));
    else if (name.size_bytes > 0)
        evd_buffer_print(out, place.row != 0 ? ", " EVD_TEXT_FMT : "\"" EVD_TEXT_FMT "\"", EVD_TEXT_ARG(name));
    if (out->size_bytes > 0) evd_buffer_add_text(out, EVD_TEXT(": "));
}

struct evd_table_refusal evd_table_refuse(enum evd_error_code code, struct evd_table_place place, size_t limit,
                                          struct evd_arena *arena) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 256);
    print_place(&out, place);
    evd_buffer_add_text(&out, evd_text_from(evd_error_code_sentence(code)));
    if (limit != 0) evd_buffer_print(&out, " At most: %zu.", limit);
    return (struct evd_table_refusal){.code = code,
                                      .message = evd_buffer_text(&out),
                                      .row = place.row,
                                      .column = place.column,
                                      .name = place.name.bytes == NULL ? place.name : evd_text_copy(arena, place.name)};
}
