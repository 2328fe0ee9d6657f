/*
 * Upgrade: a version of its own on the published form version. Its pins are its base's: what the new version asks
 * besides, or asks otherwise, is seen when the session is completed.
 */
#include "commands/session.h"

struct upgrade {
    struct evd_session_reads read;
    struct evd_exposed exposed;
    struct evd_errors errors;
};

static struct evd_session_bases bases_of(const struct evd_call *call) {
    const struct evd_upgrade_request *request = call->request;
    return (struct evd_session_bases){.stage = request->stage,
                                      .base_version = request->base_version,
                                      .draft = request->draft,
                                      .form_version = request->form_version};
}

static void want_exposed(struct evd_call *call) {
    const struct evd_upgrade_request *request = call->request;
    struct upgrade *state = call->state;
    evd_exposed_want(call, &state->exposed, request->exposures.items, request->exposures.count);
}

static void want_heads(struct evd_call *call) {
    evd_exposed_want_heads(call, &((struct upgrade *)call->state)->exposed);
}

static void upgrade_read(struct evd_call *call) {
    struct upgrade *state = EVD_CALL_STATE(call, upgrade);
    evd_session_read(call, &state->read, bases_of(call), want_exposed, want_heads);
}

static bool is_pinned(const struct evd_call *call, const struct upgrade *state) {
    const struct evd_upgrade_request *request = call->request;
    return request->form_version == state->read.session->pinned_form_version;
}

/* The person asked for the version that was the newest when they looked. */
static struct evd_outcome refuse_stale_form(struct evd_call *call, const struct upgrade *state) {
    const struct evd_upgrade_request *request = call->request;
    int64_t published = state->read.form->published_seq;
    if (request->form_version != published && !is_pinned(call, state))
        return (struct evd_outcome){.code = EVD_STALE_BASE,
                                    .members =
                                        evd_text_print(evd_call_arena(call),
                                                       "\"base\":\"formVersion\",\"declared\":%lld,\"current\":%lld",
                                                       (long long)request->form_version, (long long)published)};
    return evd_ok();
}

static struct evd_outcome validate(struct evd_call *call, struct upgrade *state) {
    if (state->read.definition == NULL) return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    evd_errors_init(&state->errors, evd_call_arena(call));
    if (is_pinned(call, state))
        (void)evd_errors_note(&state->errors, EVD_TEXT("/formVersion"), EVD_ERROR_ALREADY_UPGRADED);
    evd_exposed_check(call, &state->exposed, "exposures", &state->errors);
    return evd_errors_outcome(&state->errors);
}

static struct evd_outcome upgrade_refuse(struct evd_call *call) {
    struct upgrade *state = call->state;
    struct evd_outcome outcome = evd_session_refuse(call, &state->read, bases_of(call));
    if (outcome.code == EVD_OK) outcome = refuse_stale_form(call, state);
    if (outcome.code == EVD_OK) outcome = evd_session_refuse_unrenderable(&state->read);
    if (outcome.code == EVD_OK) outcome = evd_session_refuse_held(call, &state->read, bases_of(call));
    if (outcome.code == EVD_OK) outcome = validate(call, state);
    if (outcome.code == EVD_OK) outcome = evd_session_admit(call, &state->read);
    return outcome;
}

static void upgrade_derive(struct evd_call *call) {
    const struct evd_upgrade_request *request = call->request;
    const struct upgrade *state = call->state;
    struct evd_session_outcome outcome = {.kind = EVD_VERSION_UPGRADE,
                                          .stage = request->stage,
                                          .form_version = request->form_version,
                                          .pins = state->read.base_pins,
                                          .exposed = &state->exposed};
    evd_session_write(call, &state->read, &outcome, NULL, 0);
}

const struct evd_command evd_command_upgrade = {
    EVD_SESSION_COMMAND("Upgrade", "upgrade", upgrade_request),
    .outcomes = EVD_SESSION_OUTCOMES,
    .read = upgrade_read,
    .refuse = upgrade_refuse,
    .derive = upgrade_derive,
};
