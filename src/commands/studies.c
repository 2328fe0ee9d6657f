/*
 * Studies, in batches: each row is added, matched to a study that holds one of its identifiers, or refused.
 *
 * A match is reported and never merged. All or nothing, unless refused rows are to be skipped.
 */
#include "commands/study_rows.h"
#include "evidenced/records/keys.h"

struct add_studies {
    struct evd_judged_row *rows;
    size_t count;
    struct evd_errors errors;
};

static void add_read(struct evd_call *call) {
    const struct evd_add_studies_request *request = call->request;
    struct add_studies *state = EVD_CALL_STATE(call, add_studies);
    state->count = request->studies.count;
    state->rows = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_judged_row, state->count);
    for (size_t i = 0; i < state->count; i++) {
        struct evd_judged_row *row = &state->rows[i];
        row->given = &request->studies.items[i];
        row->would_be = evd_made_id("study", call->ids.project, call->command_id, i);
        evd_study_row_want(call, row);
    }
    evd_reader_fetch(call);
}

static void judge(struct evd_call *call, struct add_studies *state) {
    struct evd_taken_identifiers taken = evd_taken_new(evd_call_arena(call), state->count);
    for (size_t i = 0; i < state->count; i++)
        evd_study_row_judge(&state->rows[i], &taken);
}

static void note_refused(struct evd_call *call, struct add_studies *state, size_t at) {
    const struct evd_judged_row *row = &state->rows[at];
    const char *member = evd_study_row_member(row);
    struct evd_text pointer = member == NULL ? evd_text_print(evd_call_arena(call), "/studies/%zu", at)
                                             : evd_text_print(evd_call_arena(call), "/studies/%zu/%s", at, member);
    (void)evd_errors_note(&state->errors, pointer, row->code);
}

static struct evd_outcome add_refuse(struct evd_call *call) {
    const struct evd_add_studies_request *request = call->request;
    struct add_studies *state = call->state;
    evd_errors_init(&state->errors, evd_call_arena(call));
    if (state->count == 0) return evd_invalid(call, "/studies", EVD_ERROR_EMPTY);
    judge(call, state);
    for (size_t i = 0; i < state->count; i++)
        if (state->rows[i].result == EVD_ROW_REFUSED) note_refused(call, state, i);
    return request->skip_refused ? evd_ok() : evd_errors_outcome(&state->errors);
}

static void add_derive(struct evd_call *call) {
    const struct add_studies *state = call->state;
    struct evd_batch_receipt receipt = {.command_id = call->command_id, .stamp = call->stamp};
    receipt.rows.items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_row_receipt, state->count);
    receipt.rows.count = state->count;
    for (size_t i = 0; i < state->count; i++) {
        const struct evd_judged_row *row = &state->rows[i];
        receipt.added += row->result == EVD_ROW_ADDED;
        receipt.matched += row->result == EVD_ROW_MATCHED;
        receipt.refused += row->result == EVD_ROW_REFUSED;
        struct evd_row_receipt *shown = &receipt.rows.items[i];
        shown->index = (int64_t)i;
        shown->result = evd_name_of(row->result);
        shown->study = row->study;
        if (row->result == EVD_ROW_REFUSED) shown->code = evd_text_from(evd_error_code_name(row->code));
        if (row->result == EVD_ROW_ADDED) evd_study_row_write(call, row, (struct evd_study_origin){0});
    }
    evd_call_receipt(call, &evd_type_batch_receipt, &receipt);
}

const struct evd_command evd_command_add_studies = {
    .name = "AddStudies",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/studies/batch",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_STUDY,
    .body_limit_bytes = EVD_LIMIT_STUDY_BATCH_BODY_BYTES,
    .request = &evd_type_add_studies_request,
    .answer = &evd_type_batch_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),
    .read = add_read,
    .refuse = add_refuse,
    .derive = add_derive,
};
