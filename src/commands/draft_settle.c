/*
 * What a person decides about typed text: discard the draft, adopt a copy into it, discard a copy. Each is noted.
 */
#include "commands/draft.h"
#include "evidenced/base/canary.h"
#include "evidenced/commands/table.h"
#include "evidenced/records/keys.h"

struct settle {
    const struct evd_session_draft *draft;
    const struct evd_form_session *session;
    const struct evd_study *study;
    const struct evd_form *form;
    const struct evd_draft_copy *copy;
    struct evd_draft_keeping keeping;        /* of what adopting a copy would overwrite */
    const struct evd_draft_content *content; /* as it will be */
};

static void read_settle(struct evd_call *call, struct settle *state) {
    evd_uuid session = evd_own_session(call);
    EVD_WANT(call, SESSION_DRAFT, session, &state->draft);
    EVD_WANT(call, FORM_SESSION, session, &state->session);
    EVD_WANT(call, STUDY, call->ids.study, &state->study);
    EVD_WANT(call, FORM, call->ids.form, &state->form);
    EVD_WANT(call, DRAFT_COPY, call->ids.copy, &state->copy);
    evd_reader_fetch(call);
    bool own = state->copy != NULL && evd_uuid_equal(state->copy->session, session);
    if (!own || state->copy->state.value != EVD_COPY_KEPT) state->copy = NULL;
}

/* The draft is the caller's to change, and the one they looked at. */
static struct evd_outcome refuse_draft(struct evd_call *call, const struct settle *state) {
    const struct evd_held_draft_request *request = call->request;
    if (state->draft == NULL || state->session == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    bool held = !EVD_CANARY(SETTLED_WHILE_HELD) && evd_draft_is_held(state->draft, request->holder, call->now_ms);
    if (held) return evd_draft_held(call, state->draft, NULL);
    return request->etag == state->draft->etag ? evd_ok() : evd_draft_stale(call, state->draft);
}

/* Discard the draft. */

static void discard_read(struct evd_call *call) {
    read_settle(call, EVD_CALL_STATE(call, settle));
}

static struct evd_outcome discard_refuse(struct evd_call *call) {
    return refuse_draft(call, call->state);
}

static void discard_derive(struct evd_call *call) {
    const struct settle *state = call->state;
    struct evd_session_draft *draft = EVD_CHANGE(call, session_draft, state->draft);
    if (!EVD_CANARY(DISCARD_NOT_NOTED))
        evd_draft_note(call, EVD_DRAFT_DISCARDED, state->session, draft, draft->content);
    draft->content = NULL;
    if (!EVD_CANARY(REPETITION_OF_WHAT_IS_GONE))
        draft->write_digest = (struct evd_text){0}; /* what the last autosave wrote is not there: no repetition of it */
    draft->etag++;
    draft->last_activity = call->now_ms;
    EVD_REPLACE_RECORD(call, session_draft, draft);
    evd_draft_receipt(call, draft, evd_uuid_nil());
}

const struct evd_command evd_command_discard_draft = {
    EVD_DRAFT_COMMAND("DiscardDraft", EVD_COMMAND_DELETE, EVD_DRAFT_PATH),
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_held_draft_request,
    .outcomes = EVD_OUTCOME_BIT(EVD_DRAFT_LEASE_HELD) | EVD_OUTCOME_BIT(EVD_STALE_BASE),
    .read = discard_read,
    .refuse = discard_refuse,
    .derive = discard_derive,
};

/* Adopt a copy: what it says is laid over the draft. Where the draft says something else, the draft as it was becomes a
 * copy in its turn. */

static void adopt_read(struct evd_call *call) {
    struct settle *state = EVD_CALL_STATE(call, settle);
    read_settle(call, state);
    if (state->draft == NULL || state->copy == NULL) return;
    const struct evd_session_draft *draft = state->draft;
    state->content = evd_draft_overlay(draft->content, state->copy->content, NULL, 0, evd_call_arena(call));
    if (!evd_draft_overwrites(state->copy->content, draft->content, evd_call_arena(call))) return;
    state->keeping = (struct evd_draft_keeping){.content = draft->content,
                                                .reason = EVD_COPY_LEFT_OUT,
                                                .session = draft->session,
                                                .holder = draft->holder,
                                                .base_version = draft->base_version,
                                                .form_version = draft->form_version,
                                                .write_seq = draft->write_seq};
    evd_draft_keeping_want(call, &state->keeping);
    evd_reader_fetch(call);
}

static struct evd_outcome adopt_refuse(struct evd_call *call) {
    const struct settle *state = call->state;
    if (state->copy == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    struct evd_outcome outcome = refuse_draft(call, state);
    return outcome.code == EVD_OK ? evd_draft_refuse_size(call, state->content) : outcome;
}

static void settle_copy(struct evd_call *call, const struct settle *state, enum evd_copy_state how) {
    struct evd_draft_copy *copy = EVD_CHANGE(call, draft_copy, state->copy);
    copy->state = evd_name_of(how);
    copy->content = NULL;
    EVD_REPLACE_RECORD(call, draft_copy, copy);
}

static void adopt_derive(struct evd_call *call) {
    const struct evd_held_draft_request *request = call->request;
    const struct settle *state = call->state;
    struct evd_session_draft *draft = EVD_CHANGE(call, session_draft, state->draft);
    evd_draft_hold(draft, request->holder, call->now_ms);
    draft->content = evd_arena_copy(evd_call_arena(call), state->content, sizeof *state->content);
    if (!EVD_CANARY(REPETITION_OF_WHAT_IS_GONE))
        draft->write_digest = (struct evd_text){0}; /* it is not what the last autosave wrote: no repetition of that */
    draft->etag++;
    draft->last_activity = call->now_ms;
    EVD_REPLACE_RECORD(call, session_draft, draft);
    settle_copy(call, state, EVD_COPY_ADOPTED);
    if (!EVD_CANARY(ADOPTING_FORGETS)) evd_draft_keeping_write(call, &state->keeping);
    evd_draft_note(call, EVD_DRAFT_COPY_ADOPTED, state->session, draft, state->copy->content);
    evd_draft_receipt(call, draft, state->keeping.content == NULL ? evd_uuid_nil() : state->keeping.id);
}

const struct evd_command evd_command_adopt_draft_copy = {
    EVD_DRAFT_COMMAND("AdoptDraftCopy", EVD_COMMAND_POST, EVD_DRAFT_PATH "/conflicts/{copy}/adopt"),
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_held_draft_request,
    .outcomes = EVD_OUTCOME_BIT(EVD_DRAFT_LEASE_HELD) | EVD_OUTCOME_BIT(EVD_STALE_BASE) |
                EVD_OUTCOME_BIT(EVD_SIZE_LIMIT_EXCEEDED),
    .read = adopt_read,
    .refuse = adopt_refuse,
    .derive = adopt_derive,
};

/* Discard a copy. */

static void discard_copy_read(struct evd_call *call) {
    read_settle(call, EVD_CALL_STATE(call, settle));
}

static struct evd_outcome discard_copy_refuse(struct evd_call *call) {
    const struct settle *state = call->state;
    bool there = state->copy != NULL && state->session != NULL && state->draft != NULL;
    return evd_outcome_of(there ? EVD_OK : EVD_NOT_FOUND);
}

static void discard_copy_derive(struct evd_call *call) {
    const struct settle *state = call->state;
    settle_copy(call, state, EVD_COPY_DISCARDED);
    evd_draft_note(call, EVD_DRAFT_COPY_DISCARDED, state->session, state->draft, state->copy->content);
    evd_draft_receipt(call, state->draft, state->copy->base.id);
}

const struct evd_command evd_command_discard_draft_copy = {
    EVD_DRAFT_COMMAND("DiscardDraftCopy", EVD_COMMAND_POST, EVD_DRAFT_PATH "/conflicts/{copy}/discard"),
    .read = discard_copy_read,
    .refuse = discard_copy_refuse,
    .derive = discard_copy_derive,
};
