/*
 * Imports: what beginning one, its steps and its undoing share.
 *
 *   judging    each batch is looked at, nothing is written (dry runs, and imports that are all or nothing)
 *   reporting  what was found is written into the batches: of a dry run, and when a row is refused
 *   applying   a batch in one transaction: studies, identifiers, what became of each row
 *   undoing    a batch in one transaction: what it added is taken away again; then, when no call is under way any
 *              more that could still see the studies, a second look whether somebody has worked on them meanwhile
 *
 * An import is undone by an operation of its own. One that cannot go on undoes itself: same steps, own batches.
 */
#ifndef EVIDENCED_SRC_COMMANDS_IMPORT_H
#define EVIDENCED_SRC_COMMANDS_IMPORT_H

#include "commands/study_rows.h"
#include "evidenced/operation/plan.h"

/* The steps. Those that go on for whoever asked, and may find that they may not any more: */
extern const struct evd_command evd_command_judge_import_batch;
extern const struct evd_command evd_command_report_import_batch;
extern const struct evd_command evd_command_apply_import_batch;
extern const struct evd_command evd_command_undo_import_batch;

/* Those the service sees to in any case: */
extern const struct evd_command evd_command_stop_import; /* what was applied is taken away from here on */
extern const struct evd_command evd_command_stop_undo;   /* what was not undone stays */
extern const struct evd_command evd_command_take_back_batch;
extern const struct evd_command evd_command_check_taken_back;

/* What judging found of one row. */
struct evd_row_finding {
    evd_uuid study; /* matched, and stored; nil otherwise */
    enum evd_row_result result;
};

/* What an import remembers while it is judged: nothing is written until all of it was. In the driven's arena. */
struct evd_import_memory {
    struct evd_taken_identifiers taken;
    struct evd_row_finding **findings; /* of each batch, EVD_LIMIT_IMPORT_BATCH rows; NULL: not judged yet */
    uint64_t judged;                   /* batches, from the first on */
    int64_t refused;
};

/* What a step on one batch reads. */
struct evd_batch_reads {
    const struct evd_operation *operation;
    const struct evd_import_batch *batch;
    const struct evd_open_operation *open;
};

/** Name them, and fetch. batch_of: whose batch. */
void evd_batch_read(struct evd_call *call, struct evd_batch_reads *reads, evd_uuid batch_of);

/** The refusals all steps share. */
struct evd_outcome evd_batch_refuse(const struct evd_call *call, const struct evd_batch_reads *reads);

/** Replace the operation by `changed`, and say so to the driver; when it is settled, it is open no more. */
void evd_step_write(struct evd_call *call, const struct evd_batch_reads *reads, struct evd_operation *changed);

/** The operation is at its end, with this status. */
void evd_operation_settle(const struct evd_call *call, struct evd_operation *operation,
                          enum evd_operation_status status);

#endif
