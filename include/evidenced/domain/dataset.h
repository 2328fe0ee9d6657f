/*
 * Datasets: a form's evidence as a table. Columns come from the form's published versions, rows from one session's
 * answers.
 *
 * Pure. Rows: the study itself first, then one for each element of an element-making question: every unit instance, and
 * every chosen option of a split question under which something is answered. An element stands behind the one it is
 * under; elements of one question are in the order of its options, instances by their ids. Columns: each question by
 * its id, behind a multichoice one for each of its options. docs/exports.md shows a table.
 */
#ifndef EVIDENCED_DOMAIN_DATASET_H
#define EVIDENCED_DOMAIN_DATASET_H

#include "evidenced/records/dictionary.h"

struct evd_arena;

struct evd_dataset_option {
    struct evd_text id, label;
};

struct evd_dataset_question {
    struct evd_text id, label;
    enum evd_question_kind kind; /* as in the newest version that has it */
    bool split;
    const struct evd_dataset_option *options; /* of all versions, the newest's first */
    size_t option_count;
    size_t column; /* a multichoice's options have the columns behind it */
};

struct evd_dataset {
    struct evd_arena *arena;                /* borrowed; all that is kept is in it */
    struct evd_dataset_question *questions; /* of all versions, the newest's first, in its order */
    size_t question_count, question_capacity;
    uint32_t *by_id; /* numbers of questions, by their ids */
    size_t column_count;
};

void evd_dataset_init(struct evd_dataset *dataset, struct evd_arena *arena);

/**
 * Add the questions of one more version that are not there yet: call it with the newest first. Copies what it keeps.
 * False when there would be more than EVD_LIMIT_EXPORT_COLUMNS.
 */
bool evd_dataset_add(struct evd_dataset *dataset, const struct evd_form_version *version);

/** The question of that id, or NULL. */
const struct evd_dataset_question *evd_dataset_question(const struct evd_dataset *dataset, struct evd_text id);

/** The name of a column: `question`, or `question[option]`. In the arena. */
struct evd_text evd_dataset_column_name(const struct evd_dataset_question *question,
                                        const struct evd_dataset_option *option, struct evd_arena *arena);

/** Does each of its options have a column? */
static inline bool evd_dataset_has_option_columns(const struct evd_dataset_question *question) {
    return question->kind == EVD_QUESTION_MULTICHOICE;
}

struct evd_dataset_answer {
    const struct evd_annotation_revision *revision;
    const struct evd_dataset_question *question;
    const uint32_t *order; /* of its path: two numbers a step */
    size_t depth;          /* of its row: steps of its path. A split option's own answer is in the row above */
    size_t option;         /* of a split option's own answer: the option's number */
};

struct evd_dataset_row {
    const struct evd_path_step *path;
    size_t depth;
    struct evd_text name;                     /* the instance's, or the option's label; of the study's own row: none */
    const struct evd_dataset_answer *answers; /* in the columns' order */
    size_t answer_count;
};

struct evd_dataset_session {
    struct evd_dataset_answer *answers; /* by row, then by column */
    size_t answer_count;
    struct evd_dataset_row *rows; /* at least the study's own */
    size_t row_count;
};

/**
 * Arrange a session's answers into rows. The same answers give the same rows, whatever order they come in.
 *
 * revisions    borrowed; of each place at most one
 *
 * False when one stands at a question, or under one, that no version added has: the session does not belong to them.
 */
bool evd_dataset_arrange(const struct evd_dataset *dataset, const struct evd_annotation_revision *const *revisions,
                         size_t count, struct evd_arena *arena, struct evd_dataset_session *ret_session);

/** The text of one answer's value: options and instances joined by `;`, a series' points by `;`, within a point time,
 * average and (if known) error by a space. */
struct evd_text evd_dataset_value_text(const struct evd_answer_value *value, struct evd_arena *arena);

/**
 * The cells of a row, one a column; texts without bytes where nothing is answered. Of a multichoice that is answered
 * (a split one: with at least one option chosen), the options' cells are `1` or `0`.
 *
 * cells    column_count of them; all are written
 */
void evd_dataset_cells(const struct evd_dataset *dataset, const struct evd_dataset_row *row, struct evd_text *cells,
                       struct evd_arena *arena);

/** The notes of a row's answers, a line each: `question: notes`. Empty when there are none. */
struct evd_text evd_dataset_notes(const struct evd_dataset_row *row, struct evd_arena *arena);

/** A path as one text: `question=element/question=element`. Empty for no steps. */
struct evd_text evd_dataset_path_text(const struct evd_path_step *path, size_t count, struct evd_arena *arena);

#endif
