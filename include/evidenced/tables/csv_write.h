/*
 * CSV, written: RFC 4180 (`,`, CR LF, quotation marks only where needed and doubled inside).
 *
 * Pure, constant in memory but for the buffer. A cell is quoted when it holds a comma, a quotation mark, CR or LF, or
 * begins or ends with white space, which readers drop otherwise; and an only cell of a row when it is empty, since the
 * line would be no row.
 */
#ifndef EVIDENCED_TABLES_CSV_WRITE_H
#define EVIDENCED_TABLES_CSV_WRITE_H

#include "evidenced/base/text.h"

#include <stdbool.h>

struct evd_buffer;

struct evd_csv_writer {
    struct evd_buffer *buffer; /* borrowed */
    /*
     * As shown in a spreadsheet: a cell that begins with = + - @ TAB or CR (or their full-width forms, which
     * some turn into them) gets an apostrophe in front, so that opening the file runs no formula. The file then no
     * longer holds the answers byte for byte: never the default. A plain decimal number (`-12.50`, `+3`) stays: it has
     * nothing but digits and one point behind the sign, which evaluates to itself.
     */
    bool as_shown;
    size_t cells;    /* of the row being written */
    bool only_empty; /* it has one, without bytes */
};

void evd_csv_writer_init(struct evd_csv_writer *writer, struct evd_buffer *buffer, bool as_shown);

/** One more cell of the row; UTF-8. */
void evd_csv_write_cell(struct evd_csv_writer *writer, struct evd_text cell);

/** The row ends. One without cells is an empty line. */
void evd_csv_write_end(struct evd_csv_writer *writer);

#endif
