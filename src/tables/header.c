/*
 * The header of a table: what separates its columns, and what they are.
 */
#include "evidenced/base/arena.h"
#include "tables/private.h"

#include <assert.h>

/* What may separate columns, in the order candidates are told. */
static const char delimiters[] = {',', ';', '\t'};
enum { DELIMITERS = sizeof delimiters, SEP_LINE_BYTES = 64 };

/* What the header is when this separates its columns. */
struct reading {
    char delimiter;
    size_t columns, known;
    bool is_refused;
    struct evd_table_refusal refusal;
};

static bool take_header(struct evd_references *references, char delimiter) {
    struct evd_table *table = &references->table;
    evd_table_init(references, delimiter);
    table->in_header = true;
    while (evd_table_take_row(references)) {
        if (!table->has_text) continue;
        struct evd_table_place place = {.row = table->row};
        table->in_header = false;
        table->columns.count = table->cells;
        if (table->cells <= references->options.limits.columns) return true;
        evd_references_refuse(references, EVD_ERROR_TOO_MANY_COLUMNS, place, references->options.limits.columns);
        return false;
    }
    evd_references_refuse(references, EVD_ERROR_NO_HEADER, (struct evd_table_place){0}, 0);
    return false;
}

/* A refusal is the reading's, not yet the file's. */
static struct reading read_header(struct evd_references *references, char delimiter) {
    struct reading reading = {.delimiter = delimiter};
    if (take_header(references, delimiter)) {
        reading.columns = references->table.columns.count;
        reading.known = evd_columns_known(&references->table.columns, &references->options);
    }
    reading.is_refused = references->is_refused;
    reading.refusal = references->refusal;
    references->is_refused = false;
    return reading;
}

static bool refuse_ambiguous(struct evd_references *references, const struct reading *readings, size_t count) {
    static const char *const words[DELIMITERS] = {"comma", "semicolon", "tab"};
    struct evd_buffer candidates, message;
    evd_buffer_init(&candidates, references->arena, DELIMITERS);
    evd_buffer_init(&message, references->arena, 256);
    evd_buffer_add_text(&message, evd_text_from(evd_error_code_sentence(EVD_ERROR_AMBIGUOUS_DELIMITER)));
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)((const char *)memchr(delimiters, readings[i].delimiter, DELIMITERS) - delimiters);
        evd_buffer_print(&message, "%s%s", candidates.size_bytes == 0 ? " It may be: " : ", ", words[at]);
        evd_buffer_add_byte(&candidates, (uint8_t)readings[i].delimiter);
    }
    evd_buffer_add_text(&message, EVD_TEXT("."));
    evd_references_refuse(references, EVD_ERROR_AMBIGUOUS_DELIMITER,
                          (struct evd_table_place){.row = references->table.row}, 0);
    references->refusal.message = evd_buffer_text(&message);
    references->refusal.candidates = evd_buffer_text(&candidates);
    return false;
}

/* The one reading that makes columns with known names; the first when none does. */
static bool decide(struct evd_references *references, char *ret_delimiter) {
    struct reading good[DELIMITERS], first = {0};
    size_t count = 0;
    for (size_t i = 0; i < DELIMITERS; i++) {
        struct reading reading = read_header(references, delimiters[i]);
        if (i == 0) first = reading;
        if (!reading.is_refused && reading.columns > 1 && reading.known > 0) good[count++] = reading;
    }
    if (count > 1) return refuse_ambiguous(references, good, count);
    if (count == 0 && first.is_refused) {
        references->is_refused = true;
        references->refusal = first.refusal;
        return false;
    }
    *ret_delimiter = first.delimiter;
    if (count == 1) *ret_delimiter = good[0].delimiter;
    return true;
}

/* `sep=;` alone on the first line is for spreadsheets, which obey and do not show it. The delimiter, or 0. */
static char take_sep_line(struct evd_references *references) {
    static const struct evd_text sep = EVD_TEXT_INIT("sep=");
    struct evd_lines lines = references->lines;
    struct evd_text line;
    if (!evd_lines_take(&lines, SEP_LINE_BYTES, &line) || !evd_begins_ignoring_case(line, sep)) return 0;
    struct evd_text behind = {line.bytes + sep.size_bytes, line.size_bytes - sep.size_bytes};
    if (behind.size_bytes == 0 || memchr(delimiters, behind.bytes[0], DELIMITERS) == NULL) return 0;
    if (evd_text_trim((struct evd_text){behind.bytes + 1, behind.size_bytes - 1}).size_bytes > 0) return 0;
    references->begin = lines.at;
    return behind.bytes[0];
}

bool evd_table_open(struct evd_references *references) {
    const struct evd_reference_options *options = &references->options;
    struct evd_table *table = &references->table;
    struct evd_table_refusal refusal;
    char told = take_sep_line(references), delimiter = options->delimiter;
    if (options->format == EVD_REFERENCE_TSV) delimiter = '\t';
    if (delimiter == 0) delimiter = told;
    assert(delimiter == 0 || memchr(delimiters, delimiter, DELIMITERS) != NULL);
    if (delimiter == 0 && !decide(references, &delimiter)) return false;
    if (!take_header(references, delimiter)) return false;
    if (evd_columns_assign(&table->columns, options, table->row, references->arena, &refusal)) return true;
    references->is_refused = true;
    references->refusal = refusal;
    return false;
}
