/*
 * The daemon's driver of operations: begun when there is a runtime, told of what calls begin, stopped with the step in
 * hand done. What an operation is about is never logged, nor who asked for it.
 */
#include "daemon_private.h"

#include "evidenced/base/clock.h"
#include "evidenced/commands/plans.h"

static struct evd_text kind_of(const struct evd_driven *driven) {
    return evd_text_from(evd_names_operation_kind.names[driven->stand.kind]);
}

static void on_begun(void *self, const struct evd_driven *driven, bool taken_over) {
    const struct evd_daemon *daemon = self;
    const struct evd_log_field fields[] = {
        EVD_LOG_FIELD_UUID("project", driven->project), EVD_LOG_FIELD_UUID("operation", driven->operation),
        EVD_LOG_FIELD_TEXT("kind", kind_of(driven)), EVD_LOG_FIELD_I64("rows", driven->stand.row_count),
        EVD_LOG_FIELD_I64("generation", driven->stand.generation)};
    evd_log_event(daemon->log, EVD_LOG_INFO, taken_over ? "operation-taken-over" : "operation-begun", fields,
                  sizeof fields / sizeof *fields);
}

static void on_settled(void *self, const struct evd_driven *driven) {
    const struct evd_daemon *daemon = self;
    int64_t since_ms = evd_clock_wall_ms(daemon->clock) - driven->stand.requested_at;
    const struct evd_log_field fields[] = {
        EVD_LOG_FIELD_UUID("project", driven->project), EVD_LOG_FIELD_UUID("operation", driven->operation),
        EVD_LOG_FIELD_TEXT("kind", kind_of(driven)),
        EVD_LOG_FIELD_TEXT("status", evd_text_from(evd_names_operation_status.names[driven->stand.status])),
        EVD_LOG_FIELD_I64("since_ms", since_ms)};
    evd_log_event(daemon->log, EVD_LOG_INFO, "operation-settled", fields, sizeof fields / sizeof *fields);
}

static void on_stuck(void *self, const struct evd_driven *driven, const struct evd_command *command,
                     enum evd_outcome_code code) {
    const struct evd_daemon *daemon = self;
    const struct evd_log_field fields[] = {
        EVD_LOG_FIELD_UUID("project", driven->project), EVD_LOG_FIELD_UUID("operation", driven->operation),
        EVD_LOG_FIELD_TEXT("step", evd_text_from(command->name)),
        EVD_LOG_FIELD_TEXT("outcome", evd_text_from(evd_outcome_entry_of(code)->name))};
    evd_log_event(daemon->log, EVD_LOG_ERROR, "operation-stuck", fields, sizeof fields / sizeof *fields);
}

void evd_daemon_began(void *self, evd_uuid project, evd_uuid operation) {
    const struct evd_daemon *daemon = self;
    evd_driver_poke(daemon->driver, project, operation);
}

void evd_daemon_drive(struct evd_daemon *daemon) {
    struct evd_driver_options options = {
        .runtime = daemon->runtime,
        .clock = daemon->clock,
        .operations = daemon->operations,
        .has_thread = true,
        .observer = {.self = daemon, .begun = on_begun, .settled = on_settled, .stuck = on_stuck}};
    options.plans = evd_operation_plans(&options.plan_count);
    daemon->driver = evd_driver_open(&options);
}

size_t evd_daemon_steps_in_hand(const struct evd_daemon *daemon) {
    struct evd_driver_figures figures;
    evd_driver_figures(daemon->driver, &figures);
    return figures.in_hand;
}
