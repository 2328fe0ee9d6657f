/*
 * Who writes a draft: the heartbeat that keeps it held, taking it over, and an administrator's release.
 *
 * None of them moves the content's etag: what is typed is not touched.
 */
#include "commands/draft.h"
#include "evidenced/base/canary.h"
#include "evidenced/commands/table.h"
#include "evidenced/domain/study.h"
#include "evidenced/records/keys.h"

/* What they all read. */
struct lease {
    const struct evd_session_draft *draft;
    const struct evd_form_session *session;
    const struct evd_study *study;
    const struct evd_form *form;
};

/* The study and the form are read for what a draft_event says of them. */
static void read_lease(struct evd_call *call, struct lease *state, evd_uuid session) {
    EVD_WANT(call, SESSION_DRAFT, session, &state->draft);
    EVD_WANT(call, FORM_SESSION, session, &state->session);
    evd_reader_fetch(call);
    if (state->session == NULL) return;
    EVD_WANT(call, STUDY, state->session->study, &state->study);
    if (!EVD_CANARY(REFERENCE_NOT_READ)) EVD_WANT(call, FORM, state->session->form, &state->form);
    evd_reader_fetch(call);
}

/* Heartbeat. A lease that has most of its time left is not written again. */

enum { RENEWED_AFTER_MS = EVD_LIMIT_DRAFT_LEASE_MS / 4 };

static void renew_read(struct evd_call *call) {
    struct lease *state = EVD_CALL_STATE(call, lease);
    EVD_WANT(call, SESSION_DRAFT, evd_own_session(call), &state->draft);
    evd_reader_fetch(call);
}

static struct evd_outcome renew_refuse(struct evd_call *call) {
    const struct evd_draft_lease_request *request = call->request;
    const struct lease *state = call->state;
    if (state->draft == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    if (evd_draft_is_held(state->draft, request->holder, call->now_ms)) return evd_draft_held(call, state->draft, NULL);
    bool own = evd_uuid_equal(state->draft->holder, request->holder);
    return own || request->etag == state->draft->etag ? evd_ok() : evd_draft_stale(call, state->draft);
}

static bool is_fresh(const struct evd_session_draft *draft, evd_uuid holder, int64_t now_ms) {
    int64_t left_ms = draft->lease_expires_at - now_ms;
    return evd_uuid_equal(draft->holder, holder) && left_ms > EVD_LIMIT_DRAFT_LEASE_MS - RENEWED_AFTER_MS;
}

static void renew_derive(struct evd_call *call) {
    const struct evd_draft_lease_request *request = call->request;
    const struct lease *state = call->state;
    struct evd_session_draft *draft = EVD_CHANGE(call, session_draft, state->draft);
    if (!is_fresh(state->draft, request->holder, call->now_ms)) {
        evd_draft_hold(draft, request->holder, call->now_ms);
        EVD_REPLACE_RECORD(call, session_draft, draft);
    }
    evd_autosave_receipt(call, draft);
}

const struct evd_command evd_command_renew_draft_lease = {
    .name = "RenewDraftLease",
    .method = EVD_COMMAND_POST,
    .path = EVD_DRAFT_PATH "/lease",
    .needs = EVD_CAN_EXTRACT,
    .commit = EVD_COMMIT_SWAP,
    .scope = EVD_WRITES_DRAFTS,
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_draft_lease_request,
    .answer = &evd_type_autosave_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_DRAFT_LEASE_HELD) | EVD_OUTCOME_BIT(EVD_STALE_BASE),
    .read = renew_read,
    .refuse = renew_refuse,
    .derive = renew_derive,
};

/* Taking over: the person says so, whoever holds it. The generation is the one they saw. */

static void take_over_read(struct evd_call *call) {
    read_lease(call, EVD_CALL_STATE(call, lease), evd_own_session(call));
}

static struct evd_outcome take_over_refuse(struct evd_call *call) {
    const struct evd_take_over_draft_request *request = call->request;
    const struct lease *state = call->state;
    if (state->draft == NULL || !evd_study_is_there(state->study)) return evd_outcome_of(EVD_NOT_FOUND);
    bool seen = request->lease_generation == state->draft->lease_generation;
    if (seen || EVD_CANARY(TAKE_OVER_ANY_GENERATION)) return evd_ok();
    struct evd_text members = evd_draft_members(call, state->draft);
    return (struct evd_outcome){.code = EVD_STALE_BASE,
                                .members = evd_text_print(evd_call_arena(call), "\"base\":\"draftLease\"," EVD_TEXT_FMT,
                                                          EVD_TEXT_ARG(members))};
}

static void take_over_derive(struct evd_call *call) {
    const struct evd_take_over_draft_request *request = call->request;
    const struct lease *state = call->state;
    struct evd_session_draft *draft = EVD_CHANGE(call, session_draft, state->draft);
    evd_draft_hold(draft, request->holder, call->now_ms);
    EVD_REPLACE_RECORD(call, session_draft, draft);
    evd_draft_note(call, EVD_DRAFT_TAKEN_OVER, state->session, draft, draft->content);
    evd_draft_receipt(call, draft, evd_uuid_nil());
}

const struct evd_command evd_command_take_over_draft = {
    EVD_DRAFT_COMMAND("TakeOverDraft", EVD_COMMAND_POST, EVD_DRAFT_PATH "/takeover"),
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_take_over_draft_request,
    .outcomes = EVD_OUTCOME_BIT(EVD_STALE_BASE),
    .read = take_over_read,
    .refuse = take_over_refuse,
    .derive = take_over_derive,
};

/* Release: nobody holds it any more. The tab that did finds out with its next autosave, and may hold it again. */

static void release_read(struct evd_call *call) {
    read_lease(call, EVD_CALL_STATE(call, lease), call->ids.session);
}

static struct evd_outcome release_refuse(struct evd_call *call) {
    const struct lease *state = call->state;
    return evd_outcome_of(state->draft == NULL || !evd_study_is_there(state->study) ? EVD_NOT_FOUND : EVD_OK);
}

static void release_derive(struct evd_call *call) {
    const struct lease *state = call->state;
    struct evd_session_draft *draft = EVD_CHANGE(call, session_draft, state->draft);
    evd_draft_note(call, EVD_DRAFT_RELEASED, state->session, state->draft, draft->content);
    draft->holder = evd_uuid_nil();
    draft->lease_generation++;
    draft->lease_expires_at = 0;
    draft->write_seq = 0;
    draft->write_digest = (struct evd_text){0};
    EVD_REPLACE_RECORD(call, session_draft, draft);
    evd_draft_receipt(call, draft, evd_uuid_nil());
}

const struct evd_command evd_command_release_draft = {
    .name = "ReleaseDraft",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/sessions/{session}/draft/release",
    .needs = EVD_CAN_ADMINISTER,
    .operator_may = true,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_DRAFTS,
    .answer = &evd_type_draft_receipt,
    .read = release_read,
    .refuse = release_refuse,
    .derive = release_derive,
};
