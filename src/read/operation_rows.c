/*
 * What became of an operation's rows: those somebody may want to look at, or those of one result.
 */
#include "evidenced/domain/error_codes.h"
#include "evidenced/records/keys.h"
#include "read/support.h"

enum { BATCHES_A_PAGE = 8 }; /* examined at most: a batch whose rows wait to be applied is large */

struct list_rows {
    const struct evd_operation *operation;
    struct evd_operation_row_view *items;
    size_t count;
    int64_t batch, row; /* where it is */
    bool more;
};

/* Batch and row, behind the batch's id. */
static const struct evd_page_order by_place = {.count = 2, .kinds = {EVD_VALUE_I64, EVD_VALUE_I64}};

static struct evd_outcome rows_parse(struct evd_call *call) {
    struct evd_text result = call->page.result;
    if (result.bytes != NULL && evd_names_find(&evd_names_row_result, result) == 0)
        return (struct evd_outcome){.code = EVD_MALFORMED,
                                    .detail =
                                        EVD_TEXT("`result` is added, matched, refused, removed, stayed or empty."),
                                    .members = EVD_TEXT("\"parameter\":\"result\"")};
    return evd_page_check(call, &by_place);
}

/* Without being asked: whatever did not go as the file said. */
static bool is_wanted(const struct evd_call *call, const struct evd_import_row *row) {
    if (call->page.result.bytes != NULL)
        return row->result.value == evd_names_find(&evd_names_row_result, call->page.result);
    return row->result.value == EVD_ROW_REFUSED || row->result.value == EVD_ROW_MATCHED ||
           row->result.value == EVD_ROW_STAYED || row->result.value == EVD_ROW_EMPTY;
}

/* What the reader of the file said of it, or what its code says of any. */
static struct evd_text sentence_of(const struct evd_import_row *row) {
    if (row->message.bytes != NULL || row->code.bytes == NULL) return row->message;
    for (int code = 0; code < EVD_ERROR_CODE_COUNT; code++)
        if (evd_text_equal(row->code, evd_text_from(evd_error_code_name((enum evd_error_code)code))))
            return evd_text_from(evd_error_code_sentence((enum evd_error_code)code));
    return (struct evd_text){0};
}

static void take(struct list_rows *state, const struct evd_import_row *row) {
    state->items[state->count++] = (struct evd_operation_row_view){.place = row->place,
                                                                   .last_place = row->last_place,
                                                                   .result = row->result,
                                                                   .study = row->study,
                                                                   .code = row->code,
                                                                   .column = row->column,
                                                                   .sentence = sentence_of(row)};
}

/* False: the page is full. */
static bool take_batch(struct evd_call *call, struct list_rows *state, const struct evd_import_batch *batch) {
    for (; state->row < (int64_t)batch->rows.count; state->row++) {
        const struct evd_import_row *row = &batch->rows.items[state->row];
        if (!is_wanted(call, row)) continue;
        if (state->count == call->page.limit) return false;
        take(state, row);
    }
    return true;
}

static evd_uuid batch_id(const struct evd_call *call, int64_t number) {
    return evd_import_batch_id(call->ids.operation, (uint64_t)number);
}

/* An undo has the batches it has come to only. */
static void read_batches(struct evd_call *call, struct list_rows *state) {
    for (int examined = 0; state->batch < state->operation->batch_count; examined++) {
        const struct evd_import_batch *batch;
        state->more = true;
        if (examined == BATCHES_A_PAGE) return;
        EVD_WANT(call, IMPORT_BATCH, batch_id(call, state->batch), &batch);
        evd_reader_fetch(call);
        if (batch != NULL && !take_batch(call, state, batch)) return;
        state->batch++;
        state->row = 0;
    }
    state->more = false;
}

static void rows_read(struct evd_call *call) {
    struct list_rows *state = EVD_CALL_STATE(call, list_rows);
    struct evd_page_position position;
    EVD_WANT(call, OPERATION, call->ids.operation, &state->operation);
    evd_reader_fetch(call);
    if (state->operation == NULL) return;
    state->items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_operation_row_view, call->page.limit);
    if (evd_page_position(call, &by_place, &position) && position.values[0].i64 >= 0 && position.values[1].i64 >= 0) {
        state->batch = position.values[0].i64;
        state->row = position.values[1].i64;
    }
    read_batches(call, state);
}

static void rows_derive(struct evd_call *call) {
    const struct list_rows *state = call->state;
    const struct evd_record here = {.id = batch_id(call, state->batch)}, *const last[] = {&here};
    struct evd_page_scan page = {.order = &by_place, .records = last, .count = 1, .more = state->more};
    struct evd_value position[] = {{.kind = EVD_VALUE_I64, .i64 = state->batch},
                                   {.kind = EVD_VALUE_I64, .i64 = state->row}};
    evd_view_page(call, &evd_type_operation_row_page, state->items, state->count, evd_page_next(call, &page, position));
}

const struct evd_command evd_command_list_operation_rows = {
    EVD_VIEW("ListOperationRows", "/v1/projects/{project}/operations/{operation}/rows", EVD_CAN_ADMINISTER),
    .answer = &evd_type_operation_row_page,
    .query = EVD_QUERY_PAGE | EVD_PARAMETER_BIT(EVD_PARAMETER_RESULT),
    .parse = rows_parse,
    .read = rows_read,
    .refuse = evd_view_refuse_missing,
    .derive = rows_derive,
};
