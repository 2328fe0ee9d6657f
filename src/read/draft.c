/*
 * Drafts: one's own and its copies, with what is in them; for administrators, that there is one and who holds it.
 */
#include "evidenced/domain/draft.h"
#include "read/session.h"

#define DRAFT_PATH EVD_OWN_SESSION "/draft"

struct get_draft {
    const struct evd_session_draft *draft;
};

static void draft_read(struct evd_call *call) {
    struct get_draft *state = EVD_CALL_STATE(call, get_draft);
    EVD_WANT(call, SESSION_DRAFT, evd_session_named(call), &state->draft);
    evd_reader_fetch(call);
}

static void draft_derive(struct evd_call *call) {
    const struct evd_session_draft *draft = ((struct get_draft *)call->state)->draft;
    struct evd_draft_view view = {.session = draft->session,
                                  .etag = draft->etag,
                                  .base_version = draft->base_version,
                                  .form_version = draft->form_version,
                                  .holder = draft->holder,
                                  .write_seq = draft->write_seq,
                                  .lease_generation = draft->lease_generation,
                                  .lease_expires_at = draft->lease_expires_at,
                                  .last_activity = draft->last_activity,
                                  .content = draft->content};
    call->etag = draft->etag;
    evd_call_receipt(call, &evd_type_draft_view, &view);
}

const struct evd_command evd_command_get_draft = {
    EVD_VIEW("GetDraft", DRAFT_PATH, EVD_CAN_EXTRACT),
    .conditional = true,
    .answer = &evd_type_draft_view,
    .read = draft_read,
    .refuse = evd_view_refuse_missing,
    .derive = draft_derive,
};

/* Copies that are kept. There are few: at most the limit, and a Save's own. */

static struct evd_draft_copy_view view_of(const struct evd_draft_copy *copy) {
    return (struct evd_draft_copy_view){.id = copy->base.id,
                                        .state = copy->state,
                                        .reason = copy->reason,
                                        .base_version = copy->base_version,
                                        .form_version = copy->form_version,
                                        .holder = copy->holder,
                                        .places = (int64_t)evd_draft_places(copy->content),
                                        .kept_at = copy->kept_at};
}

static void show_copy(struct evd_call *call, const struct evd_record *record, size_t at, void *ret_item) {
    (void)call;
    (void)at;
    *(struct evd_draft_copy_view *)ret_item = view_of((const struct evd_draft_copy *)record);
}

static const struct evd_list_view kept_copies = {
    .index = EVD_INDEX_draft_copies, .fixed = 2, .answer = &evd_type_draft_copy_page, .show = show_copy};

static struct evd_outcome copies_parse(struct evd_call *call) {
    return evd_list_check(call, &kept_copies);
}

static void copies_read(struct evd_call *call) {
    struct evd_text kept = evd_name_text(&evd_names_copy_state, evd_name_of(EVD_COPY_KEPT));
    struct evd_value equal[] = {{.kind = EVD_VALUE_UUID, .uuid = evd_session_named(call)},
                                {.kind = EVD_VALUE_TEXT, .text = kept}};
    evd_reader_fetch(call);
    evd_list_read(call, &kept_copies, equal, 0, EVD_CALL_STATE(call, evd_page_scan));
}

static void copies_derive(struct evd_call *call) {
    evd_list_answer(call, &kept_copies, call->state);
}

const struct evd_command evd_command_list_draft_copies = {
    EVD_VIEW("ListDraftCopies", DRAFT_PATH "/conflicts", EVD_CAN_EXTRACT),
    .answer = &evd_type_draft_copy_page,
    .query = EVD_QUERY_PAGE,
    .parse = copies_parse,
    .read = copies_read,
    .derive = copies_derive,
};

struct get_copy {
    const struct evd_draft_copy *copy;
};

static void copy_read(struct evd_call *call) {
    struct get_copy *state = EVD_CALL_STATE(call, get_copy);
    EVD_WANT(call, DRAFT_COPY, call->ids.copy, &state->copy);
    evd_reader_fetch(call);
}

static struct evd_outcome copy_refuse(struct evd_call *call) {
    const struct evd_draft_copy *copy = ((struct get_copy *)call->state)->copy;
    bool own = copy != NULL && evd_uuid_equal(copy->session, evd_session_named(call));
    return evd_outcome_of(own ? EVD_OK : EVD_NOT_FOUND);
}

static void copy_derive(struct evd_call *call) {
    const struct evd_draft_copy *copy = ((struct get_copy *)call->state)->copy;
    struct evd_draft_copy_view view = view_of(copy);
    view.content = copy->content;
    evd_call_receipt(call, &evd_type_draft_copy_view, &view);
}

const struct evd_command evd_command_get_draft_copy = {
    EVD_VIEW("GetDraftCopy", DRAFT_PATH "/conflicts/{copy}", EVD_CAN_EXTRACT),
    .answer = &evd_type_draft_copy_view,
    .read = copy_read,
    .refuse = copy_refuse,
    .derive = copy_derive,
};

/* Anybody's, without what is in it. */
struct get_lease {
    const struct evd_session_draft *draft;
    const struct evd_form_session *session;
};

static void lease_read(struct evd_call *call) {
    struct get_lease *state = EVD_CALL_STATE(call, get_lease);
    EVD_WANT(call, SESSION_DRAFT, call->ids.session, &state->draft);
    EVD_WANT(call, FORM_SESSION, call->ids.session, &state->session);
    evd_reader_fetch(call);
}

static struct evd_outcome lease_refuse(struct evd_call *call) {
    const struct get_lease *state = call->state;
    return evd_outcome_of(state->draft == NULL || state->session == NULL ? EVD_NOT_FOUND : EVD_OK);
}

static void lease_derive(struct evd_call *call) {
    const struct get_lease *state = call->state;
    struct evd_draft_lease_view view = {.session = state->session->base.id,
                                        .author = state->session->author,
                                        .study = state->session->study,
                                        .form = state->session->form,
                                        .places = (int64_t)evd_draft_places(state->draft->content),
                                        .holder = state->draft->holder,
                                        .lease_generation = state->draft->lease_generation,
                                        .lease_expires_at = state->draft->lease_expires_at,
                                        .last_activity = state->draft->last_activity};
    evd_call_receipt(call, &evd_type_draft_lease_view, &view);
}

const struct evd_command evd_command_get_draft_lease = {
    EVD_VIEW("GetDraftLease", "/v1/projects/{project}/sessions/{session}/draft", EVD_CAN_ADMINISTER),
    .operator_may = true,
    .answer = &evd_type_draft_lease_view,
    .read = lease_read,
    .refuse = lease_refuse,
    .derive = lease_derive,
};
