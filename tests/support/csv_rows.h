/*
 * RFC 4180, read by code of its own: what a table that the service wrote holds.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_CSV_ROWS_H
#define EVIDENCED_TESTS_SUPPORT_CSV_ROWS_H

#include <stddef.h>

struct csv_rows {
    char **cells; /* row by row */
    size_t columns, count;
};

/** The rows, the header's among them. The test ends where a line does not end in CR LF, a quotation mark stands where
 * none may, or a row has not as many cells as the first. No cell holds NUL. */
struct csv_rows csv_rows_of(const char *bytes, size_t size_bytes);

/** A row's cell in the column of that name, which must be there. */
const char *csv_cell(const struct csv_rows *rows, size_t row, const char *column);

void csv_rows_done(struct csv_rows *rows);

#endif
