/*
 * What a row gives, before it is judged: the text found for each field and label, and where.
 */
#ifndef TABLES_GIVEN_H
#define TABLES_GIVEN_H

#include "evidenced/tables/references.h"

/* The members of study_row, in its order. */
enum evd_reference_field {
    EVD_REFERENCE_TITLE,
    EVD_REFERENCE_ABSTRACT,
    EVD_REFERENCE_AUTHORS,
    EVD_REFERENCE_YEAR,
    EVD_REFERENCE_JOURNAL,
    EVD_REFERENCE_CUSTOM_ID,
    EVD_REFERENCE_DOI,
    EVD_REFERENCE_PMID,
    EVD_REFERENCE_OPEN_ALEX_ID,
    EVD_REFERENCE_URL,
    EVD_REFERENCE_PDF_RELATIVE_PATH,
    EVD_REFERENCE_FIELDS
};

struct evd_given {
    struct evd_text text; /* bytes NULL: nothing, or too long to be kept */
    struct evd_text name; /* of the column or tag it stands under */
    size_t column;        /* from 1; 0 in RIS */
    bool too_long;
};

struct evd_given_row {
    struct evd_given fields[EVD_REFERENCE_FIELDS];
    struct evd_given *labels; /* one for each of the options' */
    size_t label_count;
    bool too_many_cells, is_unterminated;
};

/** The most bytes a field takes. */
size_t evd_reference_field_bytes(enum evd_reference_field field);

/** Nothing given. */
void evd_given_clear(struct evd_given_row *given);

/**
 * Judge it: fills in row->study and row->labels (room for given->label_count), and decides between read and refused.
 * The first reason counts: the number of cells, then the fields in the order of study_row, the labels, then the whole.
 *
 * in_lines  the row's place is a line (RIS)
 * arena     of the row
 */
void evd_given_judge(const struct evd_given_row *given, const struct evd_reference_options *options, bool in_lines,
                     struct evd_arena *arena, struct evd_reference_row *row);

/**
 * Does a text hold what a field needs, found where something else may stand as well? Years, and identifiers with a
 * mark: a DOI, `PMID: 1` or a PubMed address, an OpenAlex address, an accession number that names its database.
 */
bool evd_reference_guess(enum evd_reference_field field, struct evd_text text, struct evd_arena *arena);

static inline bool evd_begins_ignoring_case(struct evd_text text, struct evd_text with) {
    return text.size_bytes >= with.size_bytes &&
           evd_text_equal_ignoring_case((struct evd_text){text.bytes, with.size_bytes}, with);
}

enum evd_year { EVD_YEAR_GIVEN, EVD_YEAR_NONE, EVD_YEAR_MALFORMED };

/** The year a cell means; *ret_year is 1 to 9999 with EVD_YEAR_GIVEN, 0 otherwise. See evidenced/tables/references.h.
 */
enum evd_year evd_year_read(struct evd_text text, int64_t *ret_year);

#endif
