#include "evidenced/tables/csv_write.h"

#include "evidenced/base/buffer.h"

void evd_csv_writer_init(struct evd_csv_writer *writer, struct evd_buffer *buffer, bool as_shown) {
    *writer = (struct evd_csv_writer){.buffer = buffer, .as_shown = as_shown};
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool needs_quotes(struct evd_text cell) {
    if (cell.size_bytes == 0) return false;
    if (is_space(cell.bytes[0]) || is_space(cell.bytes[cell.size_bytes - 1])) return true;
    for (size_t i = 0; i < cell.size_bytes; i++)
        if (strchr(",\"\r\n", cell.bytes[i]) != NULL) return true;
    return false;
}

/* A sign with nothing but digits and one point behind it evaluates to itself. */
static bool is_number(struct evd_text cell) {
    size_t digits = 0, points = 0;
    for (size_t i = 1; i < cell.size_bytes; i++) {
        points += cell.bytes[i] == '.';
        digits += cell.bytes[i] >= '0' && cell.bytes[i] <= '9';
    }
    return digits > 0 && points <= 1 && digits + points == cell.size_bytes - 1;
}

static bool runs(struct evd_text cell) {
    static const struct evd_text wide[] = {EVD_TEXT_INIT("\xEF\xBC\x9D"), EVD_TEXT_INIT("\xEF\xBC\x8B"),
                                           EVD_TEXT_INIT("\xEF\xBC\x8D"), EVD_TEXT_INIT("\xEF\xBC\xA0")};
    if (cell.size_bytes == 0) return false;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (evd_text_starts_with(cell, wide[i])) return true;
    if (strchr("+-", cell.bytes[0]) != NULL) return !is_number(cell);
    return strchr("=@\t\r", cell.bytes[0]) != NULL;
}

void evd_csv_write_cell(struct evd_csv_writer *writer, struct evd_text cell) {
    struct evd_buffer *out = writer->buffer;
    if (writer->cells++ > 0) evd_buffer_add_byte(out, ',');
    bool quoted = needs_quotes(cell), disarmed = writer->as_shown && runs(cell);
    if (quoted) evd_buffer_add_byte(out, '"');
    if (disarmed) evd_buffer_add_byte(out, '\'');
    for (size_t i = 0; i < cell.size_bytes; i++) {
        if (cell.bytes[i] == '"') evd_buffer_add_byte(out, '"');
        evd_buffer_add_byte(out, (uint8_t)cell.bytes[i]);
    }
    if (quoted) evd_buffer_add_byte(out, '"');
}

void evd_csv_write_end(struct evd_csv_writer *writer) {
    evd_buffer_add_text(writer->buffer, EVD_TEXT("\r\n"));
    writer->cells = 0;
}
