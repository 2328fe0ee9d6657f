/*
 * Which step comes next, and the two steps that end what cannot go on.
 */
#include "commands/import.h"
#include "evidenced/commands/plans.h"

#include <assert.h>

/* What it was stopped by, as its record says. Somebody who is no member any more reads as well as somebody whose roles
 * do not allow it. */
static struct evd_text refusal_of(enum evd_outcome_code code) {
    return evd_text_from(evd_outcome_entry_of(code == EVD_NOT_FOUND ? EVD_REFUSED : code)->name);
}

struct stop {
    struct evd_batch_reads reads; /* without a batch */
    const struct evd_operation *import;
};

static void stop_read(struct evd_call *call) {
    struct stop *state = EVD_CALL_STATE(call, stop);
    EVD_WANT(call, OPERATION, call->ids.operation, &state->reads.operation);
    EVD_WANT(call, OPEN_OPERATION, call->ids.operation, &state->reads.open);
    EVD_WANT(call, OPERATION, evd_step_of(call)->driven->stand.undoes, &state->import);
    evd_reader_fetch(call);
}

static struct evd_outcome stop_refuse(struct evd_call *call) {
    return evd_step_refuse_moved(call, ((const struct stop *)call->state)->reads.operation);
}

/* Whatever was applied is taken away, and what was kept of the file is dropped. */
static void stop_import_derive(struct evd_call *call) {
    const struct stop *state = call->state;
    struct evd_operation *operation = EVD_CHANGE(call, operation, state->reads.operation);
    operation->phase = evd_name_of(EVD_PHASE_UNDOING);
    operation->next_batch = 0;
    operation->refusal = refusal_of(evd_step_of(call)->driven->stopped_by);
    evd_step_write(call, &state->reads, operation);
}

const struct evd_command evd_command_stop_import = {
    .name = "StopImport",
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_OPERATION,
    .of_service = true,
    .answer = &evd_type_step_receipt,
    .read = stop_read,
    .refuse = stop_refuse,
    .derive = stop_import_derive,
};

/* What was taken away is; somebody else may undo the rest. */
static void stop_undo_derive(struct evd_call *call) {
    const struct stop *state = call->state;
    struct evd_operation *operation = EVD_CHANGE(call, operation, state->reads.operation);
    operation->refusal = refusal_of(evd_step_of(call)->driven->stopped_by);
    evd_operation_settle(call, operation, EVD_OPERATION_REFUSED);
    if (state->import != NULL && evd_uuid_equal(state->import->undone_by, operation->base.id)) {
        struct evd_operation *import = EVD_CHANGE(call, operation, state->import);
        import->undone_by = evd_uuid_nil();
        EVD_REPLACE_RECORD(call, operation, import);
    }
    evd_step_write(call, &state->reads, operation);
}

const struct evd_command evd_command_stop_undo = {
    .name = "StopUndo",
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_OPERATION,
    .of_service = true,
    .answer = &evd_type_step_receipt,
    .read = stop_read,
    .refuse = stop_refuse,
    .derive = stop_undo_derive,
};

/* What judging needs, before it begins: in the middle of it there is no room for running out of memory. */
static struct evd_import_memory *memory_of(struct evd_driven *driven) {
    if (driven->memory != NULL) return driven->memory;
    const struct evd_operation_stand *stand = &driven->stand;
    struct evd_import_memory *memory = EVD_NEW(&driven->arena, struct evd_import_memory);
    memory->findings = EVD_NEW_ARRAY(&driven->arena, struct evd_row_finding *, (size_t)stand->batch_count);
    for (int64_t i = 0; i < stand->batch_count; i++)
        memory->findings[i] = EVD_NEW_ARRAY(&driven->arena, struct evd_row_finding, EVD_LIMIT_IMPORT_BATCH);
    memory->taken = evd_taken_new(&driven->arena, (size_t)stand->row_count);
    return driven->memory = memory;
}

static void set(struct evd_step *step, const struct evd_command *command, const char *name, int64_t number,
                int64_t batch) {
    assert(number >= 0 && batch >= 0);
    step->command = command;
    step->name = name;
    step->number = (uint64_t)number;
    step->batch = (uint64_t)batch;
}

static void apply(const struct evd_driven *driven, struct evd_step *step) {
    int64_t batch = driven->stand.next_batch;
    set(step, &evd_command_apply_import_batch, "applying", batch, batch);
}

/* From the last batch to the first: as many as are left to report have to be judged. */
static void report(struct evd_driven *driven, struct evd_step *step) {
    const struct evd_import_memory *memory = memory_of(driven);
    int64_t left = driven->stand.batch_count - driven->stand.next_batch;
    if (memory->judged < (uint64_t)left)
        set(step, &evd_command_judge_import_batch, "judging", (int64_t)memory->judged, (int64_t)memory->judged);
    else
        set(step, &evd_command_report_import_batch, "reporting", driven->stand.next_batch, left - 1);
}

static void judge(struct evd_driven *driven, struct evd_step *step) {
    const struct evd_import_memory *memory = memory_of(driven);
    bool is_judged = memory->judged == (uint64_t)driven->stand.batch_count;
    if (is_judged && memory->refused == 0 && !driven->stand.dry_run)
        apply(driven, step);
    else
        report(driven, step);
}

/* Two steps a batch, see import_undo.c. */
static int64_t batch_to_undo(const struct evd_operation_stand *stand) {
    return stand->batch_count - 1 - stand->next_batch / 2;
}

static bool looks_again(const struct evd_operation_stand *stand) {
    return stand->next_batch % 2 == 1;
}

static void forget(struct evd_driven *driven) {
    if (driven->memory == NULL) return;
    driven->memory = NULL;
    evd_arena_reset(&driven->arena);
}

static void import_next(struct evd_driven *driven, struct evd_step *step) {
    const struct evd_operation_stand *stand = &driven->stand;
    if (driven->stopped_by != EVD_OK) {
        set(step, &evd_command_stop_import, "stopping", 0, 0);
        return;
    }
    switch (stand->phase) {
    case EVD_PHASE_JUDGING: judge(driven, step); return;
    case EVD_PHASE_REPORTING: report(driven, step); return;
    case EVD_PHASE_APPLYING:
        forget(driven);
        apply(driven, step);
        return;
    case EVD_PHASE_UNDOING:
        forget(driven);
        set(step, looks_again(stand) ? &evd_command_check_taken_back : &evd_command_take_back_batch, "undoing",
            stand->next_batch, batch_to_undo(stand));
        return;
    case EVD_NONE_OF_operation_phase:
    case EVD_PHASE_SETTLED:
    case EVD_END_OF_operation_phase: break;
    }
    assert(!"a running import has a phase");
}

static void undo_next(struct evd_driven *driven, struct evd_step *step) {
    const struct evd_operation_stand *stand = &driven->stand;
    if (looks_again(stand))
        set(step, &evd_command_check_taken_back, "undoing", stand->next_batch, batch_to_undo(stand));
    else if (driven->stopped_by != EVD_OK)
        set(step, &evd_command_stop_undo, "stopping", 0, 0);
    else
        set(step, &evd_command_undo_import_batch, "undoing", stand->next_batch, batch_to_undo(stand));
}

static const struct evd_operation_plan import_plan = {.kind = EVD_OPERATION_IMPORT, .next = import_next};
static const struct evd_operation_plan undo_plan = {.kind = EVD_OPERATION_IMPORT_UNDO, .next = undo_next};

const struct evd_operation_plan *const *evd_operation_plans(size_t *ret_count) {
    static const struct evd_operation_plan *const plans[] = {&import_plan, &undo_plan};
    *ret_count = sizeof plans / sizeof plans[0];
    return plans;
}
