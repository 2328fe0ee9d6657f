/*
 * One operation: what is asked for it, and what an answer means.
 */
#include "evidenced/base/clock.h"
#include "evidenced/base/crash.h"
#include "evidenced/base/limits.h"
#include "evidenced/records/keys.h"
#include "evidenced/runtime/runtime.h"
#include "operation/private.h"

enum { FIRST_PAUSE_MS = 50, LONGEST_PAUSE_MS = 30000, MOST_DOUBLINGS = 10 };

static int64_t now_ms(const struct evd_driver *driver) {
    return evd_clock_monotonic_ms(driver->options.clock);
}

void evd_hand_run(struct evd_hand *hand, const struct evd_command *command, struct evd_ids ids, evd_uuid caller,
                  evd_uuid command_id, void *request) {
    hand->call = (struct evd_call){.command = command,
                                   .arena = &hand->arena,
                                   .ids = ids,
                                   .caller = caller,
                                   .command_id = command_id,
                                   .request = request,
                                   .deadline_ms = now_ms(hand->driver) + EVD_LIMIT_DEADLINE_MS,
                                   .done = evd_hand_done,
                                   .owner = hand};
    evd_arena_init(&hand->arena, EVD_LIMIT_CALL_ARENA_BYTES);
    evd_arena_init(&hand->call.attempt_arena, EVD_LIMIT_CALL_ARENA_BYTES);
    evd_runtime_run(hand->driver->options.runtime, &hand->call);
}

void evd_hand_free(struct evd_hand *hand) {
    evd_arena_done(&hand->call.attempt_arena);
    evd_arena_done(&hand->arena);
}

void evd_hand_pause(struct evd_hand *hand) {
    unsigned doublings = hand->pauses < MOST_DOUBLINGS ? hand->pauses : MOST_DOUBLINGS;
    int64_t pause_ms = (int64_t)FIRST_PAUSE_MS << doublings;
    hand->pauses++;
    hand->due_ms = now_ms(hand->driver) + (pause_ms < LONGEST_PAUSE_MS ? pause_ms : LONGEST_PAUSE_MS);
}

/* What to ask. */

static void ask(struct evd_running *running, evd_uuid caller, evd_uuid command_id) {
    struct evd_ids ids = {.project = running->driven.project, .operation = running->driven.operation};
    evd_hand_run(&running->hand, running->step.command, ids, caller, command_id, &running->step);
}

/* False: there is no memory for it now. */
static bool plan_step(struct evd_running *running) {
    jmp_buf escape;
    running->driven.arena.escape = &escape;
    volatile bool planned = false;
    if (setjmp(escape) == 0) {
        running->plan->next(&running->driven, &running->step);
        planned = true;
    }
    running->driven.arena.escape = NULL;
    return planned;
}

void evd_running_begin(struct evd_running *running) {
    struct evd_driven *driven = &running->driven;
    running->step = (struct evd_step){.driven = driven, .after = driven->stand};
    switch (running->need) {
    case EVD_RUNNING_NEEDS_TAKE_OVER:
        running->step.command = &evd_command_take_over_operation;
        ask(running, evd_uuid_nil(), evd_uuid_nil());
        return;
    case EVD_RUNNING_NEEDS_LOOK:
        running->step.command = &evd_command_look_at_operation;
        ask(running, evd_uuid_nil(), evd_uuid_nil());
        return;
    case EVD_RUNNING_NEEDS_STEP: break;
    }
    if (!plan_step(running)) {
        running->hand.call = (struct evd_call){.outcome = evd_outcome_of(EVD_OUT_OF_MEMORY), .owner = &running->hand};
        evd_hand_done(&running->hand.call);
        return;
    }
    EVD_CRASH_POINT(STEP_CHOSEN);
    ask(running, driven->stand.requested_by,
        evd_operation_step_id(driven->operation, running->step.name, running->step.number));
}

/* What an answer means. */

static const struct evd_operation_plan *plan_of(const struct evd_driver *driver, enum evd_operation_kind kind) {
    for (size_t i = 0; i < driver->options.plan_count; i++)
        if (driver->options.plans[i]->kind == kind) return driver->options.plans[i];
    return NULL;
}

static bool get_stuck(struct evd_running *running, enum evd_outcome_code code) {
    const struct evd_driver_observer *observer = &running->hand.driver->options.observer;
    running->is_stuck = true;
    if (observer->stuck != NULL) observer->stuck(observer->self, &running->driven, running->step.command, code);
    return false;
}

/* The record was read. */
static bool take_note(struct evd_running *running) {
    const struct evd_driver_observer *observer = &running->hand.driver->options.observer;
    const struct evd_operation_stand *seen = &running->step.after;
    bool is_lost = running->is_known && running->need == EVD_RUNNING_NEEDS_LOOK &&
                   seen->generation != running->driven.stand.generation;
    if (is_lost) return true; /* whoever took it over brings it to its end */
    bool is_new = !running->is_known;
    running->is_known = true;
    running->driven.stand = *seen;
    if (seen->status != EVD_OPERATION_RUNNING) return true;
    running->plan = plan_of(running->hand.driver, seen->kind);
    if (running->plan == NULL) return get_stuck(running, EVD_OK);
    if (running->need == EVD_RUNNING_NEEDS_TAKE_OVER) EVD_CRASH_POINT(TAKEN_OVER);
    running->was_taken_over = running->need == EVD_RUNNING_NEEDS_TAKE_OVER;
    if (is_new && observer->begun != NULL) observer->begun(observer->self, &running->driven, running->was_taken_over);
    running->need = EVD_RUNNING_NEEDS_STEP;
    return false;
}

static bool go_on(struct evd_running *running) {
    running->hand.pauses = 0;
    running->hand.due_ms = 0;
    if (running->need != EVD_RUNNING_NEEDS_STEP) return take_note(running);
    EVD_CRASH_POINT(STEP_ANSWERED);
    running->driven.stopped_by = EVD_OK;
    if (running->hand.call.replayed) /* it took effect before, so what it left is in the record only */
        running->need = EVD_RUNNING_NEEDS_LOOK;
    else
        running->driven.stand = running->step.after;
    return running->driven.stand.status != EVD_OPERATION_RUNNING;
}

/* Records a newer version wrote are not a reason to end what it will know how to go on with. */
static bool refused(struct evd_running *running, enum evd_outcome_code code) {
    bool is_too_old = running->hand.call.outcome.reason == EVD_REASON_WRITER_FLOOR;
    bool can_be_ended = running->need == EVD_RUNNING_NEEDS_STEP && !running->step.command->of_service && !is_too_old;
    if (!can_be_ended) return get_stuck(running, code);
    running->driven.stopped_by = code;
    return false;
}

bool evd_running_settle(struct evd_running *running) {
    enum evd_outcome_code code = running->hand.call.outcome.code;
    const struct evd_driver_observer *observer = &running->hand.driver->options.observer;
    if (running->need == EVD_RUNNING_NEEDS_STEP && observer->stepped != NULL)
        observer->stepped(observer->self, &running->driven, running->step.command, code);
    if (code == EVD_OK) return go_on(running);
    if (code == EVD_STALE_BASE && running->need == EVD_RUNNING_NEEDS_STEP)
        running->need = EVD_RUNNING_NEEDS_LOOK;
    else if (!evd_outcome_entry_of(code)->retryable)
        return refused(running, code);
    evd_hand_pause(&running->hand);
    return false;
}
