/*
 * What every step of an import or an undo does with its operation and its batch.
 */
#include "commands/import.h"
#include "evidenced/base/canary.h"
#include "evidenced/records/keys.h"

void evd_batch_read(struct evd_call *call, struct evd_batch_reads *reads, evd_uuid batch_of) {
    EVD_WANT(call, OPERATION, call->ids.operation, &reads->operation);
    EVD_WANT(call, OPEN_OPERATION, call->ids.operation, &reads->open);
    EVD_WANT(call, IMPORT_BATCH, evd_import_batch_id(batch_of, evd_step_of(call)->batch), &reads->batch);
    evd_reader_fetch(call);
}

struct evd_outcome evd_batch_refuse(const struct evd_call *call, const struct evd_batch_reads *reads) {
    struct evd_outcome moved = evd_step_refuse_moved(call, reads->operation);
    if (moved.code != EVD_OK) return moved;
    return evd_outcome_of(reads->batch == NULL ? EVD_STORE_IS_CORRUPT : EVD_OK);
}

void evd_operation_settle(const struct evd_call *call, struct evd_operation *operation,
                          enum evd_operation_status status) {
    operation->status = evd_name_of(status);
    operation->phase = evd_name_of(EVD_PHASE_SETTLED);
    operation->finished_at = call->now_ms;
}

void evd_step_write(struct evd_call *call, const struct evd_batch_reads *reads, struct evd_operation *changed) {
    struct evd_step *step = evd_step_of(call);
    bool is_settled = changed->status.value != EVD_OPERATION_RUNNING;
    EVD_REPLACE_RECORD(call, operation, changed);
    if (EVD_CANARY(OPERATION_LEFT_OPEN)) is_settled = false;
    if (is_settled && reads->open != NULL) EVD_DELETE_RECORD(call, open_operation, reads->open);
    step->after = evd_operation_stand_of(changed);
    struct evd_step_receipt receipt = {.command_id = call->command_id,
                                       .stamp = call->stamp,
                                       .operation = changed->base.id,
                                       .batch = (int64_t)step->batch,
                                       .phase = changed->phase};
    evd_call_receipt(call, &evd_type_step_receipt, &receipt);
}
