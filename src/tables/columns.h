/*
 * Which column of a table is which field, by its name.
 */
#ifndef TABLES_COLUMNS_H
#define TABLES_COLUMNS_H

#include "tables/given.h"

struct evd_column {
    struct evd_text name; /* as the file spells it, trimmed, cut to EVD_LIMIT_NAME_BYTES */
    /* What its cells are; set by evd_columns_assign. */
    bool has_field, guessed;
    enum evd_reference_field field;
    bool is_custom_id; /* asked for by name, besides what it is */
    size_t label;      /* of the options, from 1; 0: none */
};

struct evd_columns {
    struct evd_column *items;
    size_t count;
};

/** How many of them have a name that is known, or was asked for. Guesses do not count. */
size_t evd_columns_known(const struct evd_columns *columns, const struct evd_reference_options *options);

/**
 * Give every field its column. False and *ret_refusal, its texts in the arena, when a field has two, a column that was
 * asked for is missing, or none is known. row: of the header.
 */
bool evd_columns_assign(struct evd_columns *columns, const struct evd_reference_options *options, int64_t row,
                        struct evd_arena *arena, struct evd_table_refusal *ret_refusal);

#endif
