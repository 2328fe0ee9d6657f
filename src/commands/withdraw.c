/*
 * Withdraw: a version of its own that frees the place. Nothing is deleted; its pins are its base's.
 */
#include "commands/session.h"

struct withdraw {
    struct evd_session_reads read;
    struct evd_exposed exposed;
    struct evd_errors errors;
};

static struct evd_session_bases bases_of(const struct evd_call *call) {
    const struct evd_withdraw_request *request = call->request;
    return (struct evd_session_bases){
        .stage = request->stage, .base_version = request->base_version, .draft = request->draft};
}

static void want_exposed(struct evd_call *call) {
    const struct evd_withdraw_request *request = call->request;
    struct withdraw *state = call->state;
    evd_exposed_want(call, &state->exposed, request->exposures.items, request->exposures.count);
}

/* The form version the session is pinned to is named only by the session. */
static void want_definition(struct evd_call *call) {
    struct withdraw *state = call->state;
    evd_exposed_want_heads(call, &state->exposed);
    if (state->read.base_version != NULL)
        evd_reader_want_definition(call, state->read.base_version->form_version, &state->read.definition);
}

static void withdraw_read(struct evd_call *call) {
    struct withdraw *state = EVD_CALL_STATE(call, withdraw);
    evd_session_read(call, &state->read, bases_of(call), want_exposed, want_definition);
}

static struct evd_outcome withdraw_refuse(struct evd_call *call) {
    struct withdraw *state = call->state;
    struct evd_outcome outcome = evd_session_refuse(call, &state->read, bases_of(call));
    if (outcome.code == EVD_OK) outcome = evd_session_refuse_held(call, &state->read, bases_of(call));
    if (outcome.code != EVD_OK) return outcome;
    evd_errors_init(&state->errors, evd_call_arena(call));
    if (!evd_session_has_place(state->read.session))
        (void)evd_errors_note(&state->errors, EVD_TEXT("/baseVersion"), EVD_ERROR_ALREADY_WITHDRAWN);
    evd_exposed_check(call, &state->exposed, "exposures", &state->errors);
    return evd_errors_outcome(&state->errors);
}

static void withdraw_derive(struct evd_call *call) {
    const struct evd_withdraw_request *request = call->request;
    const struct withdraw *state = call->state;
    struct evd_session_outcome outcome = {.kind = EVD_VERSION_WITHDRAW,
                                          .stage = request->stage,
                                          .form_version = state->read.session->pinned_form_version,
                                          .pins = state->read.base_pins,
                                          .exposed = &state->exposed};
    evd_session_write(call, &state->read, &outcome, NULL, 0);
}

const struct evd_command evd_command_withdraw = {
    EVD_SESSION_COMMAND("Withdraw", "withdraw", withdraw_request),
    .outcomes = EVD_OUTCOME_BIT(EVD_STALE_BASE) | EVD_OUTCOME_BIT(EVD_FENCED) | EVD_OUTCOME_BIT(EVD_STAGE_COMPLETED) |
                EVD_OUTCOME_BIT(EVD_SIZE_LIMIT_EXCEEDED) | EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED) |
                EVD_OUTCOME_BIT(EVD_DRAFT_LEASE_HELD),
    .read = withdraw_read,
    .refuse = withdraw_refuse,
    .derive = withdraw_derive,
};
