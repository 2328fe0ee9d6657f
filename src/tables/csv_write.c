#include "evidenced/tables/csv_write.h"

#include "evidenced/base/buffer.h"

void evd_csv_writer_init(struct evd_csv_writer *writer, struct evd_buffer *buffer, bool as_shown) {
    *writer = (struct evd_csv_writer){.buffer = buffer, .as_shown = as_shown};
}

/* Digits, at most one point among them, a sign in front or none. */
static bool is_plain_number(struct evd_text cell) {
    size_t at = cell.bytes[0] == '-' || cell.bytes[0] == '+', digits = 0, points = 0;
    for (; at < cell.size_bytes; at++) {
        bool is_digit = cell.bytes[at] >= '0' && cell.bytes[at] <= '9';
        if (!is_digit && cell.bytes[at] != '.') return false;
        digits += is_digit;
        points += !is_digit;
    }
    return digits > 0 && points <= 1;
}

/* Would a spreadsheet take it for a formula? */
static bool begins_a_formula(struct evd_text cell) {
    static const struct evd_text signs[] = {EVD_TEXT_INIT("="),
                                            EVD_TEXT_INIT("+"),
                                            EVD_TEXT_INIT("-"),
                                            EVD_TEXT_INIT("@"),
                                            EVD_TEXT_INIT("\t"),
                                            EVD_TEXT_INIT("\r"),
                                            EVD_TEXT_INIT("\n"),
                                            EVD_TEXT_INIT("\xEF\xBC\x9D"), /* full-width = + - @ */
                                            EVD_TEXT_INIT("\xEF\xBC\x8B"),
                                            EVD_TEXT_INIT("\xEF\xBC\x8D"),
                                            EVD_TEXT_INIT("\xEF\xBC\xA0")};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (evd_text_starts_with(cell, signs[i])) return !is_plain_number(cell);
    return false;
}

static bool is_special(char c) {
    return c == ',' || c == '"' || c == '\r' || c == '\n';
}

static bool needs_quotes(struct evd_text cell) {
    if (evd_text_trim(cell).size_bytes != cell.size_bytes) return true;
    for (size_t i = 0; i < cell.size_bytes; i++)
        if (is_special(cell.bytes[i])) return true;
    return false;
}

/* With each quotation mark doubled, run by run. */
static void add_doubled(struct evd_buffer *out, struct evd_text cell) {
    while (cell.size_bytes > 0) {
        const char *quote = memchr(cell.bytes, '"', cell.size_bytes);
        size_t run = quote == NULL ? cell.size_bytes : (size_t)(quote - cell.bytes) + 1;
        evd_buffer_add(out, cell.bytes, run);
        if (quote != NULL) evd_buffer_add_byte(out, '"');
        cell = (struct evd_text){cell.bytes + run, cell.size_bytes - run};
    }
}

void evd_csv_write_cell(struct evd_csv_writer *writer, struct evd_text cell) {
    struct evd_buffer *out = writer->buffer;
    if (writer->cells > 0) evd_buffer_add_byte(out, ',');
    writer->only_empty = writer->cells++ == 0 && cell.size_bytes == 0;
    bool is_guarded = writer->as_shown && begins_a_formula(cell), is_quoted = needs_quotes(cell);
    if (is_quoted) evd_buffer_add_byte(out, '"');
    if (is_guarded) evd_buffer_add_byte(out, '\'');
    add_doubled(out, cell);
    if (is_quoted) evd_buffer_add_byte(out, '"');
}

void evd_csv_write_end(struct evd_csv_writer *writer) {
    if (writer->only_empty) evd_buffer_add_text(writer->buffer, EVD_TEXT("\"\""));
    evd_buffer_add_text(writer->buffer, EVD_TEXT("\r\n"));
    writer->cells = 0;
    writer->only_empty = false;
}
