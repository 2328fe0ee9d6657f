#include "csv_rows.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

/* Check notes every assertion that holds, and reads the notes in time that grows with their square: what is asked of
 * each character is an `if`. */
struct reading {
    const char *at, *end;
};

/* Where the quoted cell that begins here ends: at its closing mark. */
static const char *closing_mark(const struct reading *reading) {
    const char *at = reading->at + 1;
    for (;; at++) {
        if (at == reading->end) ck_abort_msg("a quotation mark is missing at the end");
        if (*at != '"') continue;
        if (at + 1 == reading->end || at[1] != '"') return at;
        at++;
    }
}

static char *quoted_cell(struct reading *reading) {
    const char *end = closing_mark(reading);
    char *cell = malloc((size_t)(end - reading->at) + 1), *to = cell;
    if (cell == NULL) abort();
    for (reading->at++; reading->at < end; reading->at++) {
        if (*reading->at == '"') reading->at++;
        *to++ = *reading->at;
    }
    reading->at++;
    *to = '\0';
    return cell;
}

static char *plain_cell(struct reading *reading) {
    const char *first = reading->at;
    while (reading->at < reading->end && strchr(",\r\n", *reading->at) == NULL) {
        if (*reading->at == '"') ck_abort_msg("a quotation mark in a plain cell");
        reading->at++;
    }
    return strndup(first, (size_t)(reading->at - first));
}

/* The cell and what ends it; true when that is the line's end. */
static bool next_cell(struct reading *reading, char **ret_cell) {
    bool quoted = reading->at < reading->end && *reading->at == '"';
    *ret_cell = quoted ? quoted_cell(reading) : plain_cell(reading);
    if (reading->at == reading->end) ck_abort_msg("the last line is not ended");
    if (*reading->at == ',') {
        reading->at++;
        return false;
    }
    bool ends = reading->end - reading->at >= 2 && memcmp(reading->at, "\r\n", 2) == 0;
    if (!ends) ck_abort_msg("a line without CR LF");
    reading->at += 2;
    return true;
}

struct csv_rows csv_rows_of(const char *bytes, size_t size_bytes) {
    struct reading reading = {bytes, bytes + size_bytes};
    struct csv_rows rows = {0};
    size_t count = 0, capacity = 0, in_row = 0;
    while (reading.at < reading.end || in_row > 0) {
        if (count == capacity) {
            capacity = capacity == 0 ? 256 : 2 * capacity;
            rows.cells = realloc(rows.cells, capacity * sizeof *rows.cells);
            if (rows.cells == NULL) abort();
        }
        bool ends = next_cell(&reading, &rows.cells[count++]);
        in_row++;
        if (!ends) continue;
        if (rows.columns == 0) rows.columns = in_row;
        ck_assert_msg(in_row == rows.columns, "row %zu has %zu cells instead of %zu", rows.count, in_row, rows.columns);
        rows.count++;
        in_row = 0;
    }
    return rows;
}

const char *csv_cell(const struct csv_rows *rows, size_t row, const char *column) {
    ck_assert_uint_lt(row, rows->count);
    for (size_t i = 0; i < rows->columns; i++)
        if (strcmp(rows->cells[i], column) == 0) return rows->cells[row * rows->columns + i];
    ck_abort_msg("no column %s", column);
}

void csv_rows_done(struct csv_rows *rows) {
    for (size_t i = 0; i < rows->count * rows->columns; i++)
        free(rows->cells[i]);
    free(rows->cells);
    *rows = (struct csv_rows){0};
}
