/*
 * A refusal with its sentence: where, what, and which bound.
 */
#ifndef TABLES_REFUSAL_H
#define TABLES_REFUSAL_H

#include "evidenced/tables/references.h"

/* Where: the parts that are not 0 or without bytes. */
struct evd_table_place {
    bool in_lines; /* row is a line: RIS */
    int64_t row;
    size_t column;
    struct evd_text name;
};

/** The refusal of `code` at `place`; limit: the bound that was passed, shown when it is not 0. The texts are in the
 * arena. */
struct evd_table_refusal evd_table_refuse(enum evd_error_code code, struct evd_table_place place, size_t limit,
                                          struct evd_arena *arena);

/** The first bytes of a text, cut between characters. Borrows. */
struct evd_text evd_table_cut(struct evd_text text, size_t most_bytes);

/** A name as a sentence shows it: not too long. Borrows. */
static inline struct evd_text evd_table_shown(struct evd_text name) {
    return evd_table_cut(name, 80);
}

#endif
