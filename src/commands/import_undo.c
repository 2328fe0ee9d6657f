/*
 * Undo an import: begin the operation; and the steps back, which an import that cannot go on takes too.
 *
 * A study is taken away when it is as it was added: version 1, and nobody has a session on it. A first autosave makes a
 * session without writing the Study, so a batch is looked at again when every call that began before it was taken away
 * has ended: a study that got a session meanwhile comes back. Steps alternate, from the last batch to the first: take
 * away, look again.
 */
#include "commands/import.h"
#include "evidenced/base/canary.h"
#include "evidenced/domain/study.h"
#include "evidenced/read/operation.h"
#include "evidenced/records/keys.h"

struct begin_undo {
    const struct evd_operation *import;
};

static void begin_read(struct evd_call *call) {
    struct begin_undo *state = EVD_CALL_STATE(call, begin_undo);
    EVD_WANT(call, OPERATION, call->ids.operation, &state->import);
    evd_reader_fetch(call);
}

static struct evd_outcome begin_refuse(struct evd_call *call) {
    const struct evd_operation *import = ((const struct begin_undo *)call->state)->import;
    if (import == NULL || import->kind.value != EVD_OPERATION_IMPORT) return evd_outcome_of(EVD_NOT_FOUND);
    if (import->status.value == EVD_OPERATION_RUNNING) return evd_invalid(call, "", EVD_ERROR_NOT_SETTLED);
    if (import->status.value != EVD_OPERATION_SUCCEEDED || import->dry_run)
        return evd_invalid(call, "", EVD_ERROR_NOTHING_TO_UNDO);
    if (!evd_uuid_is_nil(import->undone_by)) return evd_invalid(call, "", EVD_ERROR_ALREADY_UNDONE);
    return evd_ok();
}

static void begin_derive(struct evd_call *call) {
    struct evd_operation *import = EVD_CHANGE(call, operation, ((const struct begin_undo *)call->state)->import);
    struct evd_operation undo = {.base.id = call->made,
                                 .kind = evd_name_of(EVD_OPERATION_IMPORT_UNDO),
                                 .status = evd_name_of(EVD_OPERATION_RUNNING),
                                 .phase = evd_name_of(EVD_PHASE_UNDOING),
                                 .requested_by = call->caller,
                                 .command_id = call->command_id,
                                 .requested_at = call->now_ms,
                                 .generation = 1,
                                 .batch_count = import->batch_count,
                                 .row_count = import->added,
                                 .undoes = import->base.id};
    struct evd_open_operation open = {.base.id = call->made, .operation = call->made, .project = call->ids.project};
    import->undone_by = call->made;
    EVD_INSERT_RECORD(call, operation, &undo);
    EVD_INSERT_RECORD(call, open_operation, &open);
    EVD_REPLACE_RECORD(call, operation, import);
    struct evd_operation_view view = evd_operation_view_of(call, &undo);
    evd_call_receipt(call, &evd_type_operation_view, &view);
}

const struct evd_command evd_command_undo_import = {
    .name = "UndoImport",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/imports/{operation}/undo",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_OPERATION,
    .scope = EVD_WRITES_OPERATION,
    .answer = &evd_type_operation_view,
    .outcomes = EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),
    .read = begin_read,
    .refuse = begin_refuse,
    .derive = begin_derive,
};

/* A study a batch added, as both looks need it. */
struct added_study {
    size_t row; /* of the batch */
    const struct evd_study *study;
    struct evd_row_identifier identifiers[EVD_ROW_IDENTIFIERS];
    bool has_session;
};

struct undo_step {
    struct evd_batch_reads reads;
    struct added_study *studies;
    size_t count;
};

static bool is_undo(const struct evd_step *step) {
    return !evd_uuid_is_nil(step->driven->stand.undoes);
}

/* Name the studies of the rows with this result, and fetch. */
static void read_studies(struct evd_call *call, struct undo_step *state, enum evd_row_result result) {
    const struct evd_import_batch *batch = state->reads.batch;
    state->studies = EVD_NEW_ARRAY(evd_call_arena(call), struct added_study, batch->rows.count);
    for (size_t i = 0; i < batch->rows.count; i++) {
        if (batch->rows.items[i].result.value != (int)result) continue;
        struct added_study *added = &state->studies[state->count++];
        added->row = i;
        EVD_WANT(call, STUDY, batch->rows.items[i].study, &added->study);
    }
    evd_reader_fetch(call);
}

static void read_identifiers(struct evd_call *call, struct undo_step *state, bool of_all) {
    for (size_t i = 0; i < state->count; i++)
        if (state->studies[i].study != NULL && (of_all || state->studies[i].has_session))
            evd_study_identifiers_want(call, state->studies[i].study, state->studies[i].identifiers);
    evd_reader_fetch(call);
}

/* One scan a study, in its own few entries of the index. */
static void read_sessions(struct evd_call *call, struct undo_step *state) {
    for (size_t i = 0; i < state->count; i++) {
        const struct evd_form_session *const *found;
        size_t count;
        if (state->studies[i].study == NULL) continue;
        struct evd_value study = {.kind = EVD_VALUE_UUID, .uuid = state->studies[i].study->base.id};
        struct evd_scan scan = {.index = EVD_INDEX_sessions_of_study, .equal = &study, .equal_count = 1, .limit = 1};
        evd_reader_scan(call, &scan, &found, &count);
        state->studies[i].has_session = count > 0;
    }
}

static struct evd_outcome step_refuse(struct evd_call *call) {
    return evd_batch_refuse(call, &((const struct undo_step *)call->state)->reads);
}

/* Take away. */

static void take_read(struct evd_call *call) {
    struct undo_step *state = EVD_CALL_STATE(call, undo_step);
    const struct evd_step *step = evd_step_of(call);
    evd_batch_read(call, &state->reads, is_undo(step) ? step->driven->stand.undoes : call->ids.operation);
    if (state->reads.batch == NULL) return;
    read_studies(call, state, EVD_ROW_ADDED);
    read_identifiers(call, state, true);
    read_sessions(call, state);
}

static void take_away(struct evd_call *call, const struct added_study *added) {
    struct evd_study *study = EVD_CHANGE(call, study, added->study);
    study->removed = EVD_NEW(evd_call_arena(call), struct evd_study_removal);
    *study->removed = (struct evd_study_removal){.operation = call->ids.operation, .at = call->now_ms};
    study->random_key = 0; /* in no list */
    EVD_REPLACE_RECORD(call, study, study);
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++) {
        const struct evd_study_identity *held = added->identifiers[at].held;
        if (held != NULL && evd_uuid_equal(held->study, study->base.id)) EVD_DELETE_RECORD(call, study_identity, held);
    }
}

/* True: it is gone, or was gone before. */
static bool take_one(struct evd_call *call, const struct added_study *added) {
    if (!evd_study_is_there(added->study)) return true;
    if (added->study->base.version != 1 || added->has_session) return false;
    take_away(call, added);
    return true;
}

/* What becomes of the batch: an undo keeps its own, of the studies alone; an import's stays, without what rows gave. */
static struct evd_import_batch *begin_results(struct evd_call *call, const struct undo_step *state) {
    const struct evd_import_batch *batch = state->reads.batch;
    struct evd_import_batch *results = EVD_CHANGE(call, import_batch, batch);
    size_t count = is_undo(evd_step_of(call)) ? state->count : batch->rows.count;
    results->rows.items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_import_row, count);
    results->rows.count = count;
    for (size_t i = 0; i < count; i++) {
        size_t from = is_undo(evd_step_of(call)) ? state->studies[i].row : i;
        results->rows.items[i] = batch->rows.items[from];
        results->rows.items[i].given = NULL;
        results->rows.items[i].labels.count = 0;
    }
    return results;
}

static void write_results(struct evd_call *call, struct evd_import_batch *results) {
    if (!is_undo(evd_step_of(call))) {
        EVD_REPLACE_RECORD(call, import_batch, results);
        return;
    }
    struct evd_import_batch own = {.base.id = evd_import_batch_id(call->ids.operation, (uint64_t)results->number),
                                   .operation = call->ids.operation,
                                   .number = results->number};
    own.rows.items = results->rows.items;
    own.rows.count = results->rows.count;
    EVD_INSERT_RECORD(call, import_batch, &own);
}

static void settle_if_last(const struct evd_call *call, struct evd_operation *operation) {
    if (operation->next_batch < 2 * operation->batch_count) return;
    evd_operation_settle(call, operation,
                         operation->refusal.bytes == NULL ? EVD_OPERATION_SUCCEEDED : EVD_OPERATION_REFUSED);
}

static void take_derive(struct evd_call *call) {
    const struct undo_step *state = call->state;
    struct evd_operation *operation = EVD_CHANGE(call, operation, state->reads.operation);
    struct evd_import_batch *results = begin_results(call, state);
    int64_t gone = 0;
    for (size_t i = 0; i < state->count; i++) {
        struct evd_import_row *row = &results->rows.items[is_undo(evd_step_of(call)) ? i : state->studies[i].row];
        bool is_gone = take_one(call, &state->studies[i]);
        row->result = evd_name_of(is_gone ? EVD_ROW_REMOVED : EVD_ROW_STAYED);
        if (!is_gone) row->code = evd_text_from(evd_error_code_name(EVD_ERROR_TOUCHED));
        gone += is_gone;
    }
    operation->removed += gone;
    operation->stayed += (int64_t)state->count - gone;
    operation->next_batch += gone > 0 ? 1 : 2; /* nothing was taken away: nothing to look at again */
    settle_if_last(call, operation);
    write_results(call, results);
    evd_step_write(call, &state->reads, operation);
}

#define TAKE_BACK                                                                                                      \
    .commit = EVD_COMMIT_TXN, .scope = EVD_WRITES_OPERATION, .awaits_earlier_attempts = true,                          \
    .answer = &evd_type_step_receipt, .read = take_read, .refuse = step_refuse, .derive = take_derive

const struct evd_command evd_command_undo_import_batch = {
    .name = "UndoImportBatch", .needs = EVD_CAN_ADMINISTER, TAKE_BACK};

const struct evd_command evd_command_take_back_batch = {.name = "TakeBackBatch", .of_service = true, TAKE_BACK};

/* Look again. */

static void check_read(struct evd_call *call) {
    struct undo_step *state = EVD_CALL_STATE(call, undo_step);
    evd_batch_read(call, &state->reads, call->ids.operation);
    if (state->reads.batch == NULL) return;
    read_studies(call, state, EVD_ROW_REMOVED);
    read_sessions(call, state);
    read_identifiers(call, state, false);
}

/* An identifier that another study took meanwhile is that one's. */
static void bring_back(struct evd_call *call, const struct added_study *added) {
    struct evd_study *study = EVD_CHANGE(call, study, added->study);
    struct evd_text *kept[EVD_ROW_IDENTIFIERS] = {&study->custom_id, &study->doi, &study->pmid, &study->open_alex_id};
    study->removed = NULL;
    study->random_key = evd_study_random_key(study->base.id);
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++) {
        const struct evd_row_identifier *identifier = &added->identifiers[at];
        if (identifier->normal.bytes == NULL) continue;
        if (identifier->held == NULL)
            evd_row_identifier_insert(call, identifier, study->base.id);
        else
            *kept[at] = (struct evd_text){0};
    }
    EVD_REPLACE_RECORD(call, study, study);
}

static void check_derive(struct evd_call *call) {
    const struct undo_step *state = call->state;
    struct evd_operation *operation = EVD_CHANGE(call, operation, state->reads.operation);
    struct evd_import_batch *results = EVD_CHANGE(call, import_batch, state->reads.batch);
    int64_t back = 0;
    results->rows.items = evd_arena_copy(evd_call_arena(call), state->reads.batch->rows.items,
                                         results->rows.count * sizeof *results->rows.items);
    for (size_t i = 0; i < state->count; i++) {
        struct added_study *added = &state->studies[i];
        bool worked_on = added->has_session && !EVD_CANARY(UNDO_NOT_LOOKED_AGAIN);
        if (!worked_on || evd_study_is_there(added->study)) continue;
        bring_back(call, added);
        results->rows.items[added->row].result = evd_name_of(EVD_ROW_STAYED);
        results->rows.items[added->row].code = evd_text_from(evd_error_code_name(EVD_ERROR_TOUCHED));
        back++;
    }
    operation->removed -= back;
    operation->stayed += back;
    operation->next_batch++;
    settle_if_last(call, operation);
    if (back > 0) EVD_REPLACE_RECORD(call, import_batch, results);
    evd_step_write(call, &state->reads, operation);
}

const struct evd_command evd_command_check_taken_back = {
    .name = "CheckTakenBack",
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_OPERATION,
    .of_service = true,
    .answer = &evd_type_step_receipt,
    .read = check_read,
    .refuse = step_refuse,
    .derive = check_derive,
};
