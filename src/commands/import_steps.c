/*
 * An import's steps forward: judge a batch, report what was found of it, apply it.
 */
#include "commands/import.h"
#include "evidenced/records/keys.h"

struct import_step {
    struct evd_batch_reads reads;
    struct evd_judged_row *rows; /* of the batch; given NULL: it was refused, or is empty, as it was read */
    size_t count;
};

static void want_rows(struct evd_call *call, struct import_step *state) {
    const struct evd_import_batch *batch = state->reads.batch;
    state->count = batch->rows.count;
    state->rows = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_judged_row, state->count);
    for (size_t i = 0; i < state->count; i++) {
        const struct evd_import_row *kept = &batch->rows.items[i];
        struct evd_judged_row *row = &state->rows[i];
        row->given = kept->given;
        row->result = (enum evd_row_result)kept->result.value;
        row->would_be = evd_made_id("study", call->ids.project, call->ids.operation, (uint64_t)kept->place);
        if (row->given != NULL) evd_study_row_want(call, row);
    }
}

static void judged_read(struct evd_call *call) {
    struct import_step *state = EVD_CALL_STATE(call, import_step);
    evd_batch_read(call, &state->reads, call->ids.operation);
    if (state->reads.batch == NULL) return;
    want_rows(call, state);
    evd_reader_fetch(call);
}

static struct evd_outcome step_refuse(struct evd_call *call) {
    return evd_batch_refuse(call, &((const struct import_step *)call->state)->reads);
}

/* What is found is remembered, not written. Nothing is allocated here: a jump would leave it half remembered, and the
 * batch would then match itself. */
static void judge_derive(struct evd_call *call) {
    const struct import_step *state = call->state;
    struct evd_step *step = evd_step_of(call);
    struct evd_import_memory *memory = step->driven->memory;
    struct evd_row_finding *findings = memory->findings[step->batch];
    for (size_t i = 0; i < state->count; i++) {
        struct evd_judged_row *row = &state->rows[i];
        if (row->given != NULL) evd_study_row_judge(row, &memory->taken);
        findings[i] = (struct evd_row_finding){.result = row->result};
        if (row->result == EVD_ROW_MATCHED && row->is_stored) findings[i].study = row->study;
        memory->refused += row->given != NULL && row->result == EVD_ROW_REFUSED;
    }
    memory->judged = step->batch + 1;
    step->after = step->driven->stand;
}

const struct evd_command evd_command_judge_import_batch = {
    .name = "JudgeImportBatch",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_READ,
    .scope = EVD_WRITES_NOTHING,
    .read = judged_read,
    .refuse = step_refuse,
    .derive = judge_derive,
};

/* The batch as it stays: what became of each row, and no more of what it gave. */

static struct evd_import_batch *results_of(struct evd_call *call, const struct evd_import_batch *batch) {
    struct evd_import_batch *results = EVD_CHANGE(call, import_batch, batch);
    results->rows.items =
        evd_arena_copy(evd_call_arena(call), batch->rows.items, batch->rows.count * sizeof *batch->rows.items);
    for (size_t i = 0; i < results->rows.count; i++) {
        results->rows.items[i].given = NULL;
        results->rows.items[i].labels.count = 0;
    }
    return results;
}

static void set_result(struct evd_import_row *row, enum evd_row_result result, evd_uuid study) {
    row->result = evd_name_of(result);
    row->study = study;
}

static void set_refused(struct evd_import_row *row, enum evd_error_code code) {
    set_result(row, EVD_ROW_REFUSED, evd_uuid_nil());
    row->code = evd_text_from(evd_error_code_name(code));
}

static void count_rows(struct evd_operation *operation, const struct evd_import_batch *results) {
    for (size_t i = 0; i < results->rows.count; i++) {
        int result = results->rows.items[i].result.value;
        operation->added += result == EVD_ROW_ADDED;
        operation->matched += result == EVD_ROW_MATCHED;
        operation->refused += result == EVD_ROW_REFUSED;
    }
}

/* Reporting. */

static void report_read(struct evd_call *call) {
    struct import_step *state = EVD_CALL_STATE(call, import_step);
    evd_batch_read(call, &state->reads, call->ids.operation);
}

/* A row that would have been added is one in a dry run only: otherwise nothing became of it. */
static void report_row(struct evd_import_row *row, const struct evd_row_finding *finding, bool is_dry_run) {
    switch (finding->result) {
    case EVD_ROW_ADDED:
        if (is_dry_run) set_result(row, EVD_ROW_ADDED, evd_uuid_nil());
        return;
    case EVD_ROW_MATCHED: set_result(row, EVD_ROW_MATCHED, finding->study); return;
    case EVD_ROW_REFUSED:
        if (row->code.bytes == NULL) set_refused(row, EVD_ERROR_MATCHES_TWO_STUDIES);
        return;
    case EVD_NONE_OF_row_result:
    case EVD_ROW_REMOVED:
    case EVD_ROW_STAYED:
    case EVD_ROW_EMPTY:
    case EVD_END_OF_row_result: return;
    }
}

/* From the last batch to the first: what is not reported yet can be judged again after a crash, with all above it. */
static void report_derive(struct evd_call *call) {
    const struct import_step *state = call->state;
    const struct evd_step *step = evd_step_of(call);
    const struct evd_import_memory *memory = step->driven->memory;
    struct evd_operation *operation = EVD_CHANGE(call, operation, state->reads.operation);
    struct evd_import_batch *results = results_of(call, state->reads.batch);
    bool is_refused = memory->refused > 0 && !operation->skip_refused;
    for (size_t i = 0; i < results->rows.count; i++)
        report_row(&results->rows.items[i], &memory->findings[step->batch][i], operation->dry_run);
    count_rows(operation, results);
    if (operation->phase.value == EVD_PHASE_JUDGING && is_refused)
        operation->refusal = evd_text_from(evd_outcome_entry_of(EVD_VALIDATION_FAILED)->name);
    operation->phase = evd_name_of(EVD_PHASE_REPORTING);
    operation->next_batch++;
    if (operation->next_batch == operation->batch_count)
        evd_operation_settle(call, operation,
                             operation->refusal.bytes == NULL ? EVD_OPERATION_SUCCEEDED : EVD_OPERATION_REFUSED);
    EVD_REPLACE_RECORD(call, import_batch, results);
    evd_step_write(call, &state->reads, operation);
}

const struct evd_command evd_command_report_import_batch = {
    .name = "ReportImportBatch",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_OPERATION,
    .answer = &evd_type_step_receipt,
    .read = report_read,
    .refuse = step_refuse,
    .derive = report_derive,
};

/* Applying. */

static size_t judge_all(struct evd_call *call, struct import_step *state) {
    struct evd_taken_identifiers taken = evd_taken_new(evd_call_arena(call), state->count);
    size_t refused = 0;
    for (size_t i = 0; i < state->count; i++) {
        if (state->rows[i].given == NULL) continue;
        evd_study_row_judge(&state->rows[i], &taken);
        refused += state->rows[i].result == EVD_ROW_REFUSED;
    }
    return refused;
}

/* A row that could be added when all was judged cannot any more: what was added goes away again. */
static void turn_back(struct evd_operation *operation, struct evd_import_batch *results) {
    for (size_t i = 0; i < results->rows.count; i++)
        if (results->rows.items[i].result.value == EVD_ROW_ADDED)
            set_result(&results->rows.items[i], EVD_NONE_OF_row_result, evd_uuid_nil());
    operation->phase = evd_name_of(EVD_PHASE_UNDOING);
    operation->refusal = evd_text_from(evd_outcome_entry_of(EVD_VALIDATION_FAILED)->name);
    operation->next_batch = 0;
}

static void write_rows(struct evd_call *call, const struct import_step *state) {
    for (size_t i = 0; i < state->count; i++) {
        const struct evd_import_row *kept = &state->reads.batch->rows.items[i];
        struct evd_study_origin origin = {
            .labels = kept->labels.items, .label_count = kept->labels.count, .operation = call->ids.operation};
        bool is_added = state->rows[i].given != NULL && state->rows[i].result == EVD_ROW_ADDED;
        if (is_added) evd_study_row_write(call, &state->rows[i], origin);
    }
}

static void apply_derive(struct evd_call *call) {
    struct import_step *state = call->state;
    struct evd_operation *operation = EVD_CHANGE(call, operation, state->reads.operation);
    struct evd_import_batch *results = results_of(call, state->reads.batch);
    size_t refused = judge_all(call, state);
    for (size_t i = 0; i < state->count; i++) {
        const struct evd_judged_row *row = &state->rows[i];
        if (row->given == NULL) continue;
        if (row->result == EVD_ROW_REFUSED)
            set_refused(&results->rows.items[i], row->code);
        else
            set_result(&results->rows.items[i], row->result, row->study);
    }
    if (refused > 0 && !operation->skip_refused) {
        turn_back(operation, results);
    } else {
        write_rows(call, state);
        operation->phase = evd_name_of(EVD_PHASE_APPLYING);
        operation->next_batch++;
        if (operation->next_batch == operation->batch_count)
            evd_operation_settle(call, operation, EVD_OPERATION_SUCCEEDED);
    }
    count_rows(operation, results);
    EVD_REPLACE_RECORD(call, import_batch, results);
    evd_step_write(call, &state->reads, operation);
}

const struct evd_command evd_command_apply_import_batch = {
    .name = "ApplyImportBatch",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_OPERATION,
    .answer = &evd_type_step_receipt,
    .read = judged_read,
    .refuse = step_refuse,
    .derive = apply_derive,
};
