/*
 * CSV and TSV by libcsv, a line at a time: a row is taken when its line has been given to the parser and the parser
 * says that the row ended.
 *
 * libcsv allocates for one thing only, the cell it is reading. That buffer is given to it once, from the arena, as
 * large as a cell may be, and it is told that there is no more: so nothing has to be released when an arena ends the
 * attempt, and a cell that does not end stops the parser instead of filling the memory.
 */
#include "evidenced/base/arena.h"
#include "tables/private.h"

#include <assert.h>

enum {
    PIECE_BYTES = 64 * 1024, /* given to the parser at once: it cannot be stopped within */
    BESIDES_CELL_BYTES = 3,  /* a closing quotation mark, the terminator, and room to look at the byte behind */
    MIGHT_HAVE_ENDED = 3     /* libcsv's state behind a quotation mark in a quoted cell; its header does not name it */
};

static void *no_more(void *cell, size_t size_bytes) {
    (void)cell;
    (void)size_bytes;
    return NULL;
}

static void take_memory(struct evd_references *references) {
    struct evd_table *table = &references->table;
    size_t most = references->options.limits.cell_bytes;
    size_t left = references->lines.content.size_bytes - references->begin;
    table->cell_bytes = (left < most ? left : most) + BESIDES_CELL_BYTES;
    table->cell = evd_arena_alloc(references->arena, table->cell_bytes);
    table->columns.items = EVD_NEW_ARRAY(references->arena, struct evd_column, references->options.limits.columns);
}

void evd_table_init(struct evd_references *references, char delimiter) {
    struct evd_table *table = &references->table;
    if (table->cell == NULL) take_memory(references);
    *table = (struct evd_table){.delimiter = delimiter,
                                .cell = table->cell,
                                .cell_bytes = table->cell_bytes,
                                .columns = {.items = table->columns.items}};
    memset(table->columns.items, 0, references->options.limits.columns * sizeof *table->columns.items);
    (void)csv_init(&table->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL | CSV_REPALL_NL);
    csv_set_delim(&table->parser, (unsigned char)delimiter);
    csv_set_realloc_func(&table->parser, no_more);
    table->parser.entry_buf = table->cell;
    table->parser.entry_size = table->cell_bytes;
    evd_lines_init(&references->lines, references->lines.content, references->begin);
}

/* The cell that is being read, or was just read: of the row after the last that ended. */
static struct evd_table_place place_of(const struct evd_table *table, size_t column) {
    struct evd_table_place place = {.row = table->row + 1, .column = column + 1};
    if (!table->in_header && column < table->columns.count) place.name = table->columns.items[column].name;
    return place;
}

static void keep(struct evd_references *references, struct evd_given *given, struct evd_text cell, size_t most_bytes,
                 size_t column) {
    given->name = references->table.columns.items[column].name;
    given->column = column + 1;
    given->too_long = cell.size_bytes > most_bytes;
    if (!given->too_long) given->text = evd_text_copy(references->rows, cell);
}

static void keep_cell(struct evd_references *references, struct evd_text cell, size_t column) {
    const struct evd_column *as = &references->table.columns.items[column];
    struct evd_given_row *given = &references->given;
    if (as->has_field && (!as->guessed || evd_reference_guess(as->field, cell, references->rows)))
        keep(references, &given->fields[as->field], cell, evd_reference_field_bytes(as->field), column);
    if (as->is_custom_id)
        keep(references, &given->fields[EVD_REFERENCE_CUSTOM_ID], cell,
             evd_reference_field_bytes(EVD_REFERENCE_CUSTOM_ID), column);
    if (as->label != 0) keep(references, &given->labels[as->label - 1], cell, EVD_LIMIT_NAME_BYTES, column);
}

static void refuse_large(struct evd_references *references, size_t column) {
    evd_references_refuse(references, EVD_ERROR_CELL_TOO_LARGE, place_of(&references->table, column),
                          references->options.limits.cell_bytes);
}

static void on_cell(void *bytes, size_t size_bytes, void *context) {
    struct evd_references *references = context;
    struct evd_table *table = &references->table;
    struct evd_text cell = {bytes, size_bytes};
    size_t column = table->cells++;
    if (size_bytes == 0 || references->is_refused) return;
    if (size_bytes > references->options.limits.cell_bytes) refuse_large(references, column);
    if (!evd_references_is_text(references, cell, place_of(table, column))) return;
    cell = evd_text_trim(cell);
    if (cell.size_bytes == 0) return;
    table->has_text = true;
    if (!table->in_header) {
        if (column < table->columns.count) keep_cell(references, cell, column);
    } else if (column < references->options.limits.columns) {
        table->columns.items[column].name = evd_text_copy(references->arena, evd_table_cut(cell, EVD_LIMIT_NAME_BYTES));
    }
}

/* Also called for the LF of a CR LF, whose CR has ended the row: both are given to the parser together. */
static void on_row(int ended_by, void *context) {
    struct evd_table *table = &((struct evd_references *)context)->table;
    (void)ended_by;
    if (table->row_ended) return;
    table->row_ended = true;
    table->row++;
}

/* Is the quoted cell that is being read never closed? Its end is a run of an odd number of quotation marks. */
static bool is_never_closed(const struct evd_references *references, size_t from) {
    struct evd_text content = references->lines.content;
    bool is_odd = references->table.parser.pstate == MIGHT_HAVE_ENDED;
    for (size_t at = from; at < content.size_bytes; at++) {
        if (content.bytes[at] == '"')
            is_odd = !is_odd;
        else if (is_odd)
            return false;
    }
    return !is_odd;
}

/* The parser stopped before the byte at `at`. */
static void refuse_syntax(struct evd_references *references, size_t at) {
    struct evd_table *table = &references->table;
    struct evd_table_place place = place_of(table, table->cells);
    if (csv_error(&table->parser) == CSV_EPARSE)
        evd_references_refuse(references, EVD_ERROR_STRAY_QUOTE, place, 0);
    else if (table->parser.quoted && is_never_closed(references, at))
        evd_references_refuse(references, EVD_ERROR_UNTERMINATED_QUOTE, place, 0);
    else
        refuse_large(references, table->cells);
}

/* The last row may lack its end; the last cell must not. */
static void finish(struct evd_references *references) {
    struct evd_table *table = &references->table;
    if (table->at_end) return;
    table->at_end = true;
    if (csv_fini(&table->parser, on_cell, on_row, references) != 0)
        evd_references_refuse(references, EVD_ERROR_UNTERMINATED_QUOTE, place_of(table, table->cells), 0);
}

/* Read until a row has ended: false at the end and when the file is refused. */
bool evd_table_take_row(struct evd_references *references) {
    struct evd_table *table = &references->table;
    struct evd_text piece;
    table->row_ended = table->has_text = false;
    table->cells = 0;
    while (!table->row_ended && !references->is_refused && !table->at_end) {
        if (!evd_lines_take(&references->lines, PIECE_BYTES, &piece)) {
            finish(references);
            break;
        }
        size_t taken = csv_parse(&table->parser, piece.bytes, piece.size_bytes, on_cell, on_row, references);
        if (taken != piece.size_bytes) refuse_syntax(references, references->lines.at - piece.size_bytes + taken);
    }
    return table->row_ended && !references->is_refused;
}

/* The next row with text, those without it noted. */
static bool take_text(struct evd_references *references) {
    struct evd_table *table = &references->table;
    for (;;) {
        evd_references_begin_row(references);
        if (!evd_table_take_row(references)) return false;
        if (table->has_text) return true;
        if (table->first_empty == 0) table->first_empty = table->row;
    }
}

static void tell_empty(struct evd_references *references, struct evd_reference_row *ret_row) {
    struct evd_table *table = &references->table;
    *ret_row = (struct evd_reference_row){
        .result = EVD_REFERENCE_EMPTY, .number = table->first_empty, .last_number = table->row - 1};
    table->first_empty = 0;
    table->is_held = true;
}

enum evd_references_next evd_table_next(struct evd_references *references, struct evd_reference_row *ret_row) {
    struct evd_table *table = &references->table;
    if (!table->is_held && !take_text(references))
        return references->is_refused ? EVD_REFERENCES_REFUSED : EVD_REFERENCES_END;
    if (table->first_empty != 0) {
        tell_empty(references, ret_row);
        return EVD_REFERENCES_ROW;
    }
    table->is_held = false;
    if (!evd_references_count_row(references, table->row)) return EVD_REFERENCES_REFUSED;
    references->given.too_many_cells = table->cells > table->columns.count;
    *ret_row =
        (struct evd_reference_row){.number = table->row, .last_number = table->row, .labels = references->labels};
    evd_given_judge(&references->given, &references->options, false, references->rows, ret_row);
    return EVD_REFERENCES_ROW;
}
