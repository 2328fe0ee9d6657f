/*
 * Exposures told late: revisions of others the reviewer was shown before a version that is saved by now.
 *
 * It writes no Study. What it decides on never changes (the version, the revisions), and what it writes is keyed by
 * both, so nothing can race it; the class of the version is derived on read and counts it from then on. The version is
 * the draft etag and the base version the client showed them under: each base has one version made from it. So it is
 * taken whatever the state of the study, the form and the stages. Consistency model §8.5, §15.
 */
#include "commands/draft.h"
#include "commands/exposed.h"

struct record_exposures {
    const struct evd_form_session *session;
    const struct evd_form_session_version *version;
    struct evd_exposed exposed;
    struct evd_errors errors;
};

static void exposures_read(struct evd_call *call) {
    const struct evd_record_exposures_request *request = call->request;
    struct record_exposures *state = EVD_CALL_STATE(call, record_exposures);
    EVD_WANT(call, FORM_SESSION, evd_own_session(call), &state->session);
    EVD_WANT(call, FORM_SESSION_VERSION, request->version, &state->version);
    evd_exposed_want(call, &state->exposed, request->revisions.items, request->revisions.count);
    evd_reader_fetch(call);
    evd_exposed_want_heads(call, &state->exposed);
    evd_reader_fetch(call);
}

static struct evd_outcome exposures_refuse(struct evd_call *call) {
    struct record_exposures *state = call->state;
    if (state->session == NULL || state->version == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    if (!evd_uuid_equal(state->version->session, state->session->base.id)) return evd_outcome_of(EVD_NOT_FOUND);
    if (state->exposed.count == 0) return evd_invalid(call, "/revisions", EVD_ERROR_EMPTY);
    evd_errors_init(&state->errors, evd_call_arena(call));
    evd_exposed_check(call, &state->exposed, "revisions", &state->errors);
    return evd_errors_outcome(&state->errors);
}

static void exposures_derive(struct evd_call *call) {
    struct record_exposures *state = call->state;
    const struct evd_form_session_version *version = state->version;
    size_t recorded = evd_exposed_write(call, &state->exposed, version->session, version->base.id, version->seq, true);
    struct evd_exposures_receipt receipt = {.command_id = call->command_id,
                                            .stamp = call->stamp,
                                            .version = version->base.id,
                                            .recorded = (int64_t)recorded};
    evd_call_receipt(call, &evd_type_exposures_receipt, &receipt);
}

const struct evd_command evd_command_record_exposures = {
    .name = "RecordExposures",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/studies/{study}/forms/{form}/session/exposures",
    .needs = EVD_CAN_EXTRACT,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_EXPOSURES,
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_record_exposures_request,
    .answer = &evd_type_exposures_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),
    .read = exposures_read,
    .refuse = exposures_refuse,
    .derive = exposures_derive,
};
