/*
 * Drafts: one's own and its copies, with what is in them; for administrators, that there is one and who holds it.
 */
#include "evidenced/domain/draft.h"
#include "evidenced/records/keys.h"
#include "read/support.h"

#define DRAFT_PATH "/v1/projects/{project}/studies/{study}/forms/{form}/session/draft"

static evd_uuid own_session(const struct evd_call *call) {
    return evd_form_session_id(call->ids.project, call->ids.study, call->ids.form, call->caller);
}

struct get_draft {
    const struct evd_session_draft *draft;
};

static void draft_read(struct evd_call *call) {
    struct get_draft *state = EVD_CALL_STATE(call, get_draft);
    EVD_WANT(call, SESSION_DRAFT, own_session(call), &state->draft);
    evd_reader_fetch(call);
}

static struct evd_outcome draft_refuse(struct evd_call *call) {
    const struct get_draft *state = call->state;
    return evd_outcome_of(state->draft == NULL ? EVD_NOT_FOUND : EVD_OK);
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
    evd_call_receipt(call, &evd_type_draft_view, &view);
}

const struct evd_command evd_command_get_draft = {
    EVD_VIEW("GetDraft", DRAFT_PATH, EVD_CAN_EXTRACT),
    .answer = &evd_type_draft_view,
    .read = draft_read,
    .refuse = draft_refuse,
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

struct list_copies {
    struct evd_page_scan page;
};

static const struct evd_page_order by_id = {.index = EVD_INDEX_draft_copies, .count = 0};

static struct evd_outcome copies_parse(struct evd_call *call) {
    return evd_page_check(call, &by_id);
}

static void copies_read(struct evd_call *call) {
    struct list_copies *state = EVD_CALL_STATE(call, list_copies);
    struct evd_value *equal = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_value, 2);
    equal[0] = (struct evd_value){.kind = EVD_VALUE_UUID, .uuid = own_session(call)};
    equal[1] = (struct evd_value){.kind = EVD_VALUE_TEXT,
                                  .text = evd_name_text(&evd_names_copy_state, evd_name_of(EVD_COPY_KEPT))};
    evd_reader_fetch(call);
    state->page = (struct evd_page_scan){.order = &by_id, .equal = equal, .equal_count = 2, .limit = call->page.limit};
    evd_page_read(call, &state->page);
}

static void copies_derive(struct evd_call *call) {
    const struct evd_page_scan *page = &((struct list_copies *)call->state)->page;
    struct evd_draft_copy_view *items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_draft_copy_view, page->count);
    struct evd_text next = {0};
    for (size_t i = 0; i < page->count; i++)
        items[i] = view_of((const struct evd_draft_copy *)page->records[i]);
    if (page->more) {
        struct evd_value none = {0};
        next = evd_page_next(call, page, &none);
    }
    evd_view_page(call, &evd_type_draft_copy_page, items, page->count, next);
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
    bool own = copy != NULL && evd_uuid_equal(copy->session, own_session(call));
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
