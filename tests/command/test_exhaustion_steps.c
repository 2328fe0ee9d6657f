/*
 * Memory that runs out in the steps of an operation: at each allocation, of the plan that chooses a step and of the
 * step itself, the step takes no effect, is tried again, and the import comes to the same end.
 */
#include "../support/imports.h"
#include "../support/scripted_store.h"

#include "evidenced/commands/plans.h"

enum { PLANS_MOST = 8 };

static struct house house;
static struct imports imports;

/* The step at hand, as the driver knows it: the command itself, but without memory at its nth allocation. */
static struct {
    struct evd_command command;
    const struct evd_command *real;
    int64_t plan_fails_at, step_fails_at;
    unsigned landed, steps, plan_failures, step_failures;
} at_hand = {.plan_fails_at = 1, .step_fails_at = 1};

static struct evd_outcome parse(struct evd_call *call) {
    at_hand.landed = scripted_counts(house.script).landed;
    call->attempt_arena.fail_at = at_hand.step_fails_at++;
    return at_hand.real->parse == NULL ? evd_ok() : at_hand.real->parse(call);
}

static const struct evd_operation_plan *const *real_plans;
static size_t plan_count;

static void next(struct evd_driven *driven, struct evd_step *ret_step) {
    driven->arena.fail_at = at_hand.plan_fails_at++;
    for (size_t i = 0; i < plan_count; i++)
        if (real_plans[i]->kind == driven->stand.kind) real_plans[i]->next(driven, ret_step);
    driven->arena.fail_at = 0;
    at_hand.real = ret_step->command;
    at_hand.command = *ret_step->command;
    at_hand.command.parse = parse;
    ret_step->command = &at_hand.command;
}

static void note_step(void *self, const struct evd_driven *driven, const struct evd_command *command,
                      enum evd_outcome_code code) {
    (void)self;
    (void)driven;
    if (code == EVD_OK) {
        at_hand.steps++;
        at_hand.plan_fails_at = at_hand.step_fails_at = 1;
        return;
    }
    ck_assert_msg(code == EVD_OUT_OF_MEMORY, "%s: %s", command->name, evd_outcome_entry_of(code)->name);
    bool planned = command == &at_hand.command;
    *(planned ? &at_hand.step_failures : &at_hand.plan_failures) += 1;
    if (planned) ck_assert_uint_eq(scripted_counts(house.script).landed, at_hand.landed);
}

static void note_stuck(void *self, const struct evd_driven *driven, const struct evd_command *command,
                       enum evd_outcome_code code) {
    (void)self;
    (void)driven;
    (void)command;
    ck_abort_msg("stuck: %s", evd_outcome_entry_of(code)->name);
}

static void open_all(void) {
    static struct evd_operation_plan plans[PLANS_MOST];
    static const struct evd_operation_plan *listed[PLANS_MOST];
    house_open_scripted(&house, 0);
    house_furnish(&house, 3, 9);
    imports_open(&imports, &house);
    evd_driver_close(imports.driver);
    real_plans = evd_operation_plans(&plan_count);
    ck_assert_uint_le(plan_count, PLANS_MOST);
    for (size_t i = 0; i < plan_count; i++) {
        plans[i] = (struct evd_operation_plan){.kind = real_plans[i]->kind, .next = next};
        listed[i] = &plans[i];
    }
    struct evd_driver_options options = {.runtime = house.runtime,
                                         .clock = house.time,
                                         .plans = listed,
                                         .plan_count = plan_count,
                                         .observer = {.stepped = note_step, .stuck = note_stuck}};
    imports.driver = evd_driver_open(&options);
}

static void expect_succeeded(evd_uuid operation, unsigned long long rows) {
    struct reply shown = imports_look(&imports, operation);
    ck_assert_str_eq(text_of(&shown, "status"), "succeeded");
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(shown.body, "counts"), "added")),
                     (long long)rows);
    reply_done(&shown);
}

START_TEST(an_operation_without_memory_at_any_allocation_of_any_step_comes_to_the_same_end) {
    open_all();
    char *csv = imports_csv(1, 20);
    struct import_file file = {.content = csv};
    evd_uuid import = imports_begin(&imports, 1, &file);
    imports_run(&imports);
    expect_succeeded(import, 20);
    unsigned steps = at_hand.steps;
    struct reply undone = imports_undo(&imports, house.admin, 2, import);
    ck_assert_int_eq(undone.code, EVD_OK);
    imports_run(&imports);
    ck_assert(steps > 0 && at_hand.steps > steps);
    imports_expect_sound(&imports);
    (void)printf("memory: %u steps, %u times without while planned, %u times while run\n", at_hand.steps,
                 at_hand.plan_failures, at_hand.step_failures);
    ck_assert_uint_gt(at_hand.step_failures, 50);
    reply_done(&undone);
    imports_close(&imports);
    house_close(&house);
    free(csv);
}
END_TEST

EVD_TEST_MAIN("commands: memory that runs out in operations",
              an_operation_without_memory_at_any_allocation_of_any_step_comes_to_the_same_end)
