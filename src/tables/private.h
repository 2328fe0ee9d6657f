/*
 * The reader, as its parts see it: references.c begins and ends, table.c and header.c read CSV and TSV, ris.c RIS.
 */
#ifndef TABLES_PRIVATE_H
#define TABLES_PRIVATE_H

#include "evidenced/base/buffer.h"
#include "tables/columns.h"
#include "tables/lines.h"
#include "tables/refusal.h"

#include <csv.h>

/* CSV and TSV. */
struct evd_table {
    struct csv_parser parser;
    unsigned char *cell; /* the parser's buffer: the arena's, and it never grows */
    size_t cell_bytes;
    struct evd_columns columns;
    char delimiter;
    bool in_header; /* cells are names */
    bool at_end;
    int64_t row;         /* the last that ended, as a spreadsheet counts */
    size_t cells;        /* so far, of the row after it */
    bool has_text;       /* one of them is not empty */
    bool row_ended;      /* the row is whole and waits to be taken */
    bool is_held;        /* it waits until the empty ones in front of it are told */
    int64_t first_empty; /* of the empty rows since the last one with text; 0: none */
};

enum { EVD_RIS_TAG_BYTES = 2 };

/* RIS. */
struct evd_ris {
    size_t gap;   /* spaces between tag and dash, as the first TY has them; 0: none seen yet */
    int64_t line; /* the last one taken, from 1 */
    struct evd_text held;
    bool is_held; /* that line is a TY that ended what came before it, and is still to be read */
    bool in_record;
    int64_t first_line; /* of the record, or of the lines outside one; 0: none */
    int64_t last_line;  /* of those */
    /* The tag being read: what stands behind it, and what further lines added. */
    struct evd_text tag, value;
    struct evd_buffer joined; /* the value when it has more lines than one; bytes NULL: no record joined any yet */
    bool is_joined;
    /* Of the record. */
    uint8_t ranks[EVD_REFERENCE_FIELDS]; /* of what is in given.fields; 0: nothing */
    struct evd_buffer authors;
    struct evd_buffer *labels; /* one for each of the options' */
    struct evd_text accession; /* a number whose database is told elsewhere */
    bool is_pubmed;
    size_t guesses;
};

struct evd_references {
    struct evd_reference_options options; /* limits resolved */
    struct evd_arena *arena, *rows;       /* borrowed */
    struct evd_lines lines;
    size_t begin; /* of the content, behind a byte order mark */
    struct evd_given_row given;
    struct evd_study_label *labels; /* room for those of one row */
    size_t row_count;
    bool is_refused;
    struct evd_table_refusal refusal;
    struct evd_table table;
    struct evd_ris ris;
};

/** The file is refused, if it was not before. */
void evd_references_refuse(struct evd_references *references, enum evd_error_code code, struct evd_table_place place,
                           size_t limit);

/** Is it text, in UTF-8 and without NUL? If not, the file is refused at `place`. */
bool evd_references_is_text(struct evd_references *references, struct evd_text text, struct evd_table_place place);

/** One more row: false, and the file refused, when there are too many. */
bool evd_references_count_row(struct evd_references *references, int64_t number);

/** A clean row, its memory reset. */
void evd_references_begin_row(struct evd_references *references);

/* table.c: from the content's beginning, rows of cells between this delimiter · the next row's cells, false at the end
 * and when the file is refused · the next row, judged. */
void evd_table_init(struct evd_references *references, char delimiter);
bool evd_table_take_row(struct evd_references *references);
enum evd_references_next evd_table_next(struct evd_references *references, struct evd_reference_row *ret_row);

/* header.c: judge the header; false when the file is refused. */
bool evd_table_open(struct evd_references *references);

/* ris.c: the options judged, false when the file is refused · the next record, judged. */
bool evd_ris_open(struct evd_references *references);
enum evd_references_next evd_ris_next(struct evd_references *references, struct evd_reference_row *ret_row);

/* ris_fields.c: forget the record · one more tag of it · all its tags were read. */
void evd_ris_begin_record(struct evd_references *references);
void evd_ris_add(struct evd_references *references, struct evd_text tag, struct evd_text value);
void evd_ris_end_record(struct evd_references *references);

#endif
