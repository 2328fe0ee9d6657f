/*
 * What the driver asks of an operation's record, whatever its kind.
 */
#include "evidenced/base/limits.h"
#include "evidenced/runtime/reader.h"
#include "evidenced/runtime/writes.h"
#include "operation/private.h"

struct evd_operation_stand evd_operation_stand_of(const struct evd_operation *operation) {
    return (struct evd_operation_stand){.kind = (enum evd_operation_kind)operation->kind.value,
                                        .status = (enum evd_operation_status)operation->status.value,
                                        .phase = (enum evd_operation_phase)operation->phase.value,
                                        .requested_by = operation->requested_by,
                                        .undoes = operation->undoes,
                                        .requested_at = operation->requested_at,
                                        .generation = operation->generation,
                                        .batch_count = operation->batch_count,
                                        .next_batch = operation->next_batch,
                                        .row_count = operation->row_count,
                                        .refused = operation->refused,
                                        .dry_run = operation->dry_run,
                                        .skip_refused = operation->skip_refused};
}

struct evd_outcome evd_step_refuse_moved(const struct evd_call *call, const struct evd_operation *operation) {
    if (operation == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    const struct evd_operation_stand *made_for = &evd_step_of(call)->driven->stand;
    struct evd_operation_stand now = evd_operation_stand_of(operation);
    bool same = now.generation == made_for->generation && now.status == EVD_OPERATION_RUNNING &&
                now.phase == made_for->phase && now.next_batch == made_for->next_batch;
    return evd_outcome_of(same ? EVD_OK : EVD_STALE_BASE);
}

struct one_operation {
    const struct evd_operation *operation;
};

static void one_read(struct evd_call *call) {
    struct one_operation *state = EVD_CALL_STATE(call, one_operation);
    EVD_WANT(call, OPERATION, call->ids.operation, &state->operation);
    evd_reader_fetch(call);
}

static struct evd_outcome one_refuse(struct evd_call *call) {
    const struct one_operation *state = call->state;
    return evd_outcome_of(state->operation == NULL ? EVD_NOT_FOUND : EVD_OK);
}

static void look_derive(struct evd_call *call) {
    evd_step_of(call)->after = evd_operation_stand_of(((const struct one_operation *)call->state)->operation);
}

const struct evd_command evd_command_look_at_operation = {
    .name = "LookAtOperation",
    .commit = EVD_COMMIT_READ,
    .scope = EVD_WRITES_NOTHING,
    .of_service = true,
    .read = one_read,
    .refuse = one_refuse,
    .derive = look_derive,
};

/* Whoever drove it before finds another generation, and lets go. */
static void take_over_derive(struct evd_call *call) {
    const struct one_operation *state = call->state;
    struct evd_operation *operation = EVD_CHANGE(call, operation, state->operation);
    if (operation->status.value == EVD_OPERATION_RUNNING) {
        operation->generation++;
        EVD_REPLACE_RECORD(call, operation, operation);
    }
    evd_step_of(call)->after = evd_operation_stand_of(operation);
}

const struct evd_command evd_command_take_over_operation = {
    .name = "TakeOverOperation",
    .commit = EVD_COMMIT_SWAP,
    .scope = EVD_WRITES_OPERATION,
    .of_service = true,
    .read = one_read,
    .refuse = one_refuse,
    .derive = take_over_derive,
};

struct list_open {
    const struct evd_open_operation *const *found;
    size_t count;
};

static void list_read(struct evd_call *call) {
    const struct evd_open_page *page = call->request;
    struct list_open *state = EVD_CALL_STATE(call, list_open);
    struct evd_value after = {.kind = EVD_VALUE_UUID, .uuid = page->after};
    struct evd_scan scan = {.index = EVD_INDEX_open_operations, .limit = EVD_OPEN_PAGE};
    if (!evd_uuid_is_nil(page->after)) {
        scan.after = &after;
        scan.after_id = page->after; /* an entry's key is the operation's */
    }
    evd_reader_fetch(call);
    evd_reader_scan(call, &scan, &state->found, &state->count);
}

static void list_derive(struct evd_call *call) {
    const struct list_open *state = call->state;
    struct evd_open_page *page = call->request;
    page->count = state->count;
    for (size_t i = 0; i < state->count; i++)
        page->entries[i] =
            (struct evd_open_entry){.project = state->found[i]->project, .operation = state->found[i]->operation};
}

const struct evd_command evd_command_list_open_operations = {
    .name = "ListOpenOperations",
    .commit = EVD_COMMIT_READ,
    .scope = EVD_WRITES_NOTHING,
    .of_service = true,
    .read = list_read,
    .derive = list_derive,
};
