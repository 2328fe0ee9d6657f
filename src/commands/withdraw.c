/*
 * Withdraw: a version of its own that frees the place. Nothing is deleted; its pins are its base's.
 */
#include "commands/session.h"

struct withdraw {
    struct evd_session_reads read;
};

static struct evd_session_bases bases_of(const struct evd_call *call) {
    const struct evd_withdraw_request *request = call->request;
    return (struct evd_session_bases){
        .stage = request->stage, .base_version = request->base_version, .draft = request->draft};
}

/* The form version the session is pinned to is named only by the session. */
static void want_definition(struct evd_call *call) {
    struct withdraw *state = call->state;
    if (state->read.base_version != NULL)
        evd_reader_want_definition(call, state->read.base_version->form_version, &state->read.definition);
}

static void withdraw_read(struct evd_call *call) {
    struct withdraw *state = EVD_CALL_STATE(call, withdraw);
    evd_session_read(call, &state->read, bases_of(call), NULL, want_definition);
}

static struct evd_outcome withdraw_refuse(struct evd_call *call) {
    struct withdraw *state = call->state;
    struct evd_outcome outcome = evd_session_refuse(call, &state->read, bases_of(call));
    if (outcome.code == EVD_OK) outcome = evd_session_refuse_held(call, &state->read, bases_of(call));
    if (outcome.code != EVD_OK) return outcome;
    if (!evd_session_has_place(state->read.session))
        return evd_invalid(call, "/baseVersion", EVD_ERROR_ALREADY_WITHDRAWN);
    return evd_ok();
}

static void withdraw_derive(struct evd_call *call) {
    const struct evd_withdraw_request *request = call->request;
    const struct withdraw *state = call->state;
    struct evd_session_outcome outcome = {.kind = EVD_VERSION_WITHDRAW,
                                          .state = EVD_SESSION_WITHDRAWN,
                                          .stage = request->stage,
                                          .form_version = state->read.session->pinned_form_version,
                                          .pins = state->read.base_pins};
    evd_session_write(call, &state->read, &outcome, NULL, 0);
}

const struct evd_command evd_command_withdraw = {
    .name = "Withdraw",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/studies/{study}/forms/{form}/session/withdraw",
    .needs = EVD_CAN_EXTRACT,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_STUDY,
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_withdraw_request,
    .answer = &evd_type_session_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_STALE_BASE) | EVD_OUTCOME_BIT(EVD_FENCED) | EVD_OUTCOME_BIT(EVD_STAGE_COMPLETED) |
                EVD_OUTCOME_BIT(EVD_SIZE_LIMIT_EXCEEDED) | EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED) |
                EVD_OUTCOME_BIT(EVD_DRAFT_LEASE_HELD),
    .lanes = evd_lane_of_study,
    .read = withdraw_read,
    .refuse = withdraw_refuse,
    .derive = withdraw_derive,
};
