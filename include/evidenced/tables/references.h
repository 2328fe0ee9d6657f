/*
 * Files of references (CSV, TSV, RIS) as studies' rows, one at a time.
 *
 * Pure: the content is borrowed and may be a mapped file; memory comes from two arenas, so a jump out of either leaves
 * nothing behind. Nothing is held but one row.
 *
 * A file is refused whole where reading on would be guessing; a row is refused alone where only it is in doubt. Rows
 * come as they are read, so a file may turn out refused after some of them: who must not act on a part of a file reads
 * it once to judge, and again to act. The same content and options always give the same.
 *
 * CSV and TSV are RFC 4180, strictly: a quotation mark inside a cell is doubled and the cell quoted. UTF-8, a byte
 * order mark in front is fine; lines end in LF, CR or CR LF. The header is the first row that is not empty, and it
 * alone decides what separates the columns: the one of `,` `;` and tab that makes two columns or more of which one has
 * a name that is known. Two that do are ambiguous. Rows are not looked at, so semicolons between authors decide
 * nothing. A single column: `,`. A first line `sep=;` is obeyed and not counted, as spreadsheets do. TSV: always a tab.
 *
 * Column names count without case, spaces and punctuation; those that are known are what reference managers and
 * databases write (src/tables/columns.def). Where a column of a better name is there, one of a weaker name for the same
 * field stays unread; two equally good ones are refused. White space around a cell never counts. Digits stay text: no
 * leading zero is lost. Empty rows at the end are ignored, those in the middle reported. A row of more cells than names
 * is refused even if the last are empty, for a comma that lacks its quotation marks may have moved them all; of fewer,
 * those missing are empty.
 *
 * RIS: a record begins with TY and ends with ER, or before the next TY (nothing is lost then); at the end of the file a
 * missing ER is refused, since the file may be cut off. A line that does not begin with `XX  - ` goes on with the one
 * before; the first TY may have one space less, and then all tags do. Unknown tags are skipped, and so are lines
 * without a tag between records, where providers put theirs. All AU and A1 are joined by "; "; otherwise the first that
 * is not empty counts. Which tag is which field: src/tables/ris_fields.c.
 *
 * Identifiers are judged by evidenced/domain/study_identity.h and given as they stand. customId is identity within a
 * project, so it is taken only from what cannot mean two studies: a column of that name, or an accession number that
 * carries its database's mark (WOS:…, 2-s2.0-…, CN-…). Bare `id`, `record_id` and RIS's ID count from 1 in every file:
 * they would match studies that are not the same. They are customId only when the caller says so (options.custom_id).
 *
 * Year: `2019`, `2019.0`, or a date that begins or ends with a year of four digits (`2019/10//`, `May 2019`,
 * `20190503`). What says that there is none (`n.d.`, `in press`, `NA`, 0, …) is no year; anything else is refused.
 */
#ifndef EVIDENCED_TABLES_REFERENCES_H
#define EVIDENCED_TABLES_REFERENCES_H

#include "evidenced/base/text.h"
#include "evidenced/domain/error_codes.h"
#include "evidenced/records/dictionary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_arena;

/* Which of them a file is. */
enum evd_reference_format { EVD_REFERENCE_CSV, EVD_REFERENCE_TSV, EVD_REFERENCE_RIS };

/* 0 in any member: the house's bound (EVD_LIMIT_IMPORT_…), which is also the most that can be asked for. */
struct evd_reference_limits {
    size_t bytes, rows, columns, cell_bytes;
};

struct evd_reference_options {
    enum evd_reference_format format;
    char delimiter; /* CSV: 0 lets the header decide; or ',' ';' '\t' */
    /* The column (RIS: the tag) to take customId from, and no other. Without bytes: by name, see above. */
    struct evd_text custom_id;
    /*
     * Columns to carry, by distinct names, at most EVD_LIMIT_STUDY_LABELS. RIS: a tag (`KW`, `N1`), or the name in
     * front of a note: `ASReview` carries "relevant" of `N1  - ASReview_relevant`, `Exclusion reason` what stands
     * behind `N1  - Exclusion reason:`. Several values are joined by "; ".
     */
    const struct evd_text *labels;
    size_t label_count;
    struct evd_reference_limits limits;
};

/* Why, and where. Texts are in the arena of what was refused: the reader's for a file, the row's for a row. */
struct evd_table_refusal {
    enum evd_error_code code;
    struct evd_text message; /* a sentence for the person: what, where, and what to do */
    int64_t row;             /* as evd_reference_row.number; 0: no row in particular */
    size_t column;           /* from 1; 0: none in particular, or RIS */
    struct evd_text name;    /* of the column or tag as the file spells it; the one asked for when it is missing */
    struct evd_text other;   /* SAME_FIELD_TWICE: the other column's name */
    /* AMBIGUOUS_DELIMITER: those that would do, a byte each, in the order `,` `;` tab. */
    struct evd_text candidates;
};

/* What came of a row. */
enum evd_reference_result {
    EVD_REFERENCE_READ,    /* `study` and `labels` are what it says */
    EVD_REFERENCE_REFUSED, /* `refusal` says why */
    EVD_REFERENCE_EMPTY    /* rows `number` to `last_number` are empty; not counted as rows */
};

struct evd_reference_row {
    enum evd_reference_result result;
    /*
     * CSV, TSV: the row as a spreadsheet numbers it, the header's included; a cell of several lines is in one row.
     * RIS: the line the record begins on, from 1.
     */
    int64_t number, last_number; /* the same but for EVD_REFERENCE_EMPTY and RIS: its last line */
    /* A text without bytes and a year of 0 were not given. Of a refused row: what could be read of it. */
    struct evd_study_row study;
    /* Unscreened metadata: what the columns asked for say, as it stands; in the order of the options, none empty. */
    struct evd_study_label *labels;
    size_t label_count;
    struct evd_table_refusal refusal;
};

struct evd_references;

/**
 * Begin to read a file: its first bytes and its header are judged.
 *
 * content  borrowed as long as rows are read
 * options  copied, what it points to is not
 * arena    the reader's own memory, at most EVD_LIMIT_IMPORT_READER_BYTES of it
 * rows     for the rows alone: reset at every evd_references_next. One row takes at most EVD_LIMIT_IMPORT_ROW_BYTES
 *
 * True and *ret_references, in the arena, with nothing to close. False and *ret_refusal when the file is refused whole.
 */
bool evd_references_open(struct evd_text content, const struct evd_reference_options *options, struct evd_arena *arena,
                         struct evd_arena *rows, struct evd_references **ret_references,
                         struct evd_table_refusal *ret_refusal) __attribute__((warn_unused_result));

enum evd_references_next {
    EVD_REFERENCES_ROW,    /* *ret_row is set; its memory lives until the next call */
    EVD_REFERENCES_END,    /* there are no more */
    EVD_REFERENCES_REFUSED /* *ret_refusal is set: the whole file, whatever was read of it before */
};

/**
 * The next row. After the end and after a refusal: the same again.
 */
enum evd_references_next evd_references_next(struct evd_references *references, struct evd_reference_row *ret_row,
                                             struct evd_table_refusal *ret_refusal) __attribute__((warn_unused_result));

/** How far the content has been read, in bytes: for whoever shows progress. */
size_t evd_references_offset(const struct evd_references *references);

/** What separates the columns; 0 for RIS. */
char evd_references_delimiter(const struct evd_references *references);

#endif
