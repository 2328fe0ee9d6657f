/*
 * Operations: one, all of a project, and what became of the rows.
 */
#include "evidenced/read/operation.h"

#include "read/support.h"

/* Rows of the file that were dealt with; of an undo, studies. */
static struct evd_operation_progress progress_of(const struct evd_operation *operation) {
    bool is_import = operation->kind.value == EVD_OPERATION_IMPORT;
    struct evd_operation_progress progress = {.total = operation->row_count};
    if (operation->status.value != EVD_OPERATION_RUNNING)
        progress.done = operation->row_count;
    else if (operation->phase.value == EVD_PHASE_UNDOING)
        progress.done = operation->removed + operation->stayed;
    else
        progress.done = operation->added + operation->matched + operation->refused;
    if (is_import && operation->phase.value == EVD_PHASE_UNDOING) progress.total = operation->added;
    return progress;
}

struct evd_operation_view evd_operation_view_of(struct evd_call *call, const struct evd_operation *operation) {
    struct evd_operation_view view = {.id = operation->base.id,
                                      .kind = operation->kind,
                                      .status = operation->status,
                                      .phase = operation->phase,
                                      .requested_by = operation->requested_by,
                                      .requested_at = operation->requested_at,
                                      .finished_at = operation->finished_at,
                                      .dry_run = operation->dry_run,
                                      .skip_refused = operation->skip_refused,
                                      .undoes = operation->undoes,
                                      .undone_by = operation->undone_by,
                                      .refusal = operation->refusal};
    view.progress = EVD_NEW(evd_call_arena(call), struct evd_operation_progress);
    *view.progress = progress_of(operation);
    view.counts = EVD_NEW(evd_call_arena(call), struct evd_operation_counts);
    *view.counts = (struct evd_operation_counts){.rows = operation->row_count,
                                                 .added = operation->added,
                                                 .matched = operation->matched,
                                                 .refused = operation->refused,
                                                 .removed = operation->removed,
                                                 .stayed = operation->stayed};
    return view;
}

struct get_operation {
    const struct evd_operation *operation;
};

static void get_read(struct evd_call *call) {
    struct get_operation *state = EVD_CALL_STATE(call, get_operation);
    EVD_WANT(call, OPERATION, call->ids.operation, &state->operation);
    evd_reader_fetch(call);
}

static void get_derive(struct evd_call *call) {
    const struct evd_operation *operation = ((const struct get_operation *)call->state)->operation;
    struct evd_operation_view view = evd_operation_view_of(call, operation);
    bool is_running = operation->status.value == EVD_OPERATION_RUNNING;
    call->progress = is_running ? EVD_PROGRESS_UNDER_WAY : EVD_PROGRESS_SETTLED;
    evd_call_receipt(call, &evd_type_operation_view, &view);
}

const struct evd_command evd_command_get_operation = {
    EVD_VIEW("GetOperation", "/v1/projects/{project}/operations/{operation}", EVD_CAN_ADMINISTER),
    .answer = &evd_type_operation_view,
    .read = get_read,
    .refuse = evd_view_refuse_missing,
    .derive = get_derive,
};

/* Newest first. */

static void show(struct evd_call *call, const struct evd_record *record, size_t at, void *ret_item) {
    (void)at;
    *(struct evd_operation_view *)ret_item = evd_operation_view_of(call, (const struct evd_operation *)record);
}

static const struct evd_list_view by_time = {
    .index = EVD_INDEX_operations, .descending = true, .answer = &evd_type_operation_page, .show = show};

struct list_operations {
    struct evd_page_scan page;
};

static struct evd_outcome list_parse(struct evd_call *call) {
    return evd_list_check(call, &by_time);
}

static void list_read(struct evd_call *call) {
    struct list_operations *state = EVD_CALL_STATE(call, list_operations);
    evd_reader_fetch(call);
    evd_list_read(call, &by_time, NULL, 0, &state->page);
}

static void list_derive(struct evd_call *call) {
    evd_list_answer(call, &by_time, &((const struct list_operations *)call->state)->page);
}

const struct evd_command evd_command_list_operations = {
    EVD_VIEW("ListOperations", "/v1/projects/{project}/operations", EVD_CAN_ADMINISTER),
    .answer = &evd_type_operation_page,
    .query = EVD_QUERY_PAGE,
    .parse = list_parse,
    .read = list_read,
    .derive = list_derive,
};
