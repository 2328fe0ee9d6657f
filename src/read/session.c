/*
 * A session: as it stands, its versions, one version whole, and what that changed. One's own by its study and form, or
 * any by its id: one's own, and others' for who may see them.
 */
#include "read/session.h"

#include "evidenced/domain/exposure.h"
#include "evidenced/domain/session.h"
#include "evidenced/records/keys.h"
#include "read/answers.h"

evd_uuid evd_session_named(const struct evd_call *call) {
    if (!evd_uuid_is_nil(call->ids.session)) return call->ids.session;
    return evd_form_session_id(call->ids.project, call->ids.study, call->ids.form, call->caller);
}

bool evd_session_may_be_seen(const struct evd_call *call, evd_uuid author) {
    return evd_uuid_equal(author, call->caller) || evd_view_sees_others(call);
}

/* The session the path names; NULL also for one the caller may not see, whose existence is not told. */
static const struct evd_form_session *seen(const struct evd_call *call, const struct evd_form_session *session) {
    return session != NULL && evd_session_may_be_seen(call, session->author) ? session : NULL;
}

/* The earliest version of the session that others' revisions were shown for; 0: none. */
static int64_t first_exposed_seq(struct evd_call *call, evd_uuid session) {
    struct evd_value equal = {.kind = EVD_VALUE_UUID, .uuid = session};
    struct evd_scan scan = {.index = EVD_INDEX_exposures_of_session, .equal = &equal, .equal_count = 1, .limit = 1};
    const struct evd_exposure *const *exposures;
    size_t count;
    evd_reader_scan(call, &scan, &exposures, &count);
    return count == 0 ? 0 : exposures[0]->version_seq;
}

static struct evd_name class_of(const struct evd_form_session_version *version, int64_t first_exposed) {
    return evd_name_of(evd_exposure_class_of(version->seq, version->exposures_declared_so_far, first_exposed));
}

/* As it stands. */
struct get_session {
    const struct evd_form_session *session;
    const struct evd_session_draft *draft;
    const struct evd_form_session_version *version; /* NULL: nothing was saved yet */
    struct evd_answers answers;
    int64_t first_exposed;
};

static void get_read(struct evd_call *call) {
    struct get_session *state = EVD_CALL_STATE(call, get_session);
    EVD_WANT(call, FORM_SESSION, evd_session_named(call), &state->session);
    EVD_WANT(call, SESSION_DRAFT, evd_session_named(call), &state->draft);
    evd_reader_fetch(call);
    state->session = seen(call, state->session);
    if (state->session == NULL) return;
    EVD_WANT(call, PIN_MAP, state->session->current_version, &state->answers.map);
    EVD_WANT(call, FORM_SESSION_VERSION, state->session->current_version, &state->version);
    evd_reader_fetch(call);
    evd_answers_read_current(call, &state->answers, state->session->study, state->session->author);
    state->first_exposed = first_exposed_seq(call, state->session->base.id);
}

static struct evd_outcome get_refuse(struct evd_call *call) {
    struct get_session *state = call->state;
    if (state->session == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    bool saved = !evd_uuid_is_nil(state->session->current_version);
    bool there = !saved || (state->version != NULL && state->answers.map != NULL);
    return evd_outcome_of(there && evd_answers_are_whole(&state->answers) ? EVD_OK : EVD_STORE_IS_CORRUPT);
}

static void get_derive(struct evd_call *call) {
    const struct get_session *state = call->state;
    const struct evd_form_session *session = state->session;
    struct evd_session_view view = {.id = session->base.id,
                                    .study = session->study,
                                    .form = session->form,
                                    .author = session->author,
                                    .version_id = session->current_version,
                                    .version_seq = session->version_seq,
                                    .state = session->state,
                                    .form_version = session->pinned_form_version,
                                    .stamp = session->base.stamp,
                                    .draft_etag = state->draft == NULL ? 0 : state->draft->etag};
    if (state->version != NULL) view.exposure_class = class_of(state->version, state->first_exposed);
    view.answers.items = evd_answers_show(call, &state->answers);
    view.answers.count = state->answers.pins.count;
    evd_call_receipt(call, &evd_type_session_view, &view);
}

#define GET_SESSION(view_name, view_path)                                                                              \
    {                                                                                                                  \
        EVD_VIEW(view_name, view_path, EVD_CAN_READ), .answer = &evd_type_session_view, .read = get_read,              \
                                                      .refuse = get_refuse, .derive = get_derive,                      \
    }

const struct evd_command evd_command_get_session = GET_SESSION("GetSession", EVD_OWN_SESSION);
const struct evd_command evd_command_get_session_by_id = GET_SESSION("GetSessionById", EVD_ANY_SESSION);

/* Its versions, oldest first. */
struct list_versions {
    const struct evd_form_session *session;
    struct evd_page_scan page;
    int64_t first_exposed;
};

static void show_row(struct evd_call *call, const struct evd_record *record, size_t at, void *ret_item) {
    const struct evd_form_session_version *version = (const struct evd_form_session_version *)record;
    const struct list_versions *state = call->state;
    (void)at;
    enum evd_session_state after = evd_session_state_after((enum evd_version_kind)version->kind.value);
    *(struct evd_session_version_row *)ret_item =
        (struct evd_session_version_row){.id = version->base.id,
                                         .seq = version->seq,
                                         .kind = version->kind,
                                         .state = evd_name_of(after),
                                         .form_version = version->form_version_seq,
                                         .command_id = version->command_id,
                                         .stamp = version->base.stamp,
                                         .saved_at = version->saved_at,
                                         .answer_count = version->pin_count,
                                         .changed_count = version->changed_count,
                                         .exposure_class = class_of(version, state->first_exposed)};
}

static const struct evd_list_view by_seq = {
    .index = EVD_INDEX_versions_of_session, .fixed = 1, .answer = &evd_type_session_version_page, .show = show_row};

static struct evd_outcome list_parse(struct evd_call *call) {
    return evd_list_check(call, &by_seq);
}

static void list_read(struct evd_call *call) {
    struct list_versions *state = EVD_CALL_STATE(call, list_versions);
    EVD_WANT(call, FORM_SESSION, evd_session_named(call), &state->session);
    evd_reader_fetch(call);
    state->session = seen(call, state->session);
    if (state->session == NULL) return;
    struct evd_value session = {.kind = EVD_VALUE_UUID, .uuid = state->session->base.id};
    evd_list_read(call, &by_seq, &session, 0, &state->page);
    state->first_exposed = first_exposed_seq(call, state->session->base.id);
}

static void list_derive(struct evd_call *call) {
    evd_list_answer(call, &by_seq, &((struct list_versions *)call->state)->page);
}

#define LIST_VERSIONS(view_name, view_path)                                                                            \
    {                                                                                                                  \
        EVD_VIEW(view_name, view_path "/versions", EVD_CAN_READ),                                                      \
            .answer = &evd_type_session_version_page, .query = EVD_QUERY_PAGE, .parse = list_parse, .read = list_read, \
            .refuse = evd_view_refuse_missing, .derive = list_derive,                                                  \
    }

const struct evd_command evd_command_list_session_versions = LIST_VERSIONS("ListSessionVersions", EVD_OWN_SESSION);
const struct evd_command evd_command_list_session_versions_by_id =
    LIST_VERSIONS("ListSessionVersionsById", EVD_ANY_SESSION);

/* One version, whole; it never changes. What is derived and may change, its exposure class, is in the list. */
struct get_version {
    const struct evd_form_session_version *version;
    struct evd_answers answers;
};

bool evd_session_version_may_be_seen(const struct evd_call *call, const struct evd_form_session_version *version) {
    return version != NULL && evd_uuid_equal(version->session, evd_session_named(call)) &&
           evd_session_may_be_seen(call, version->author);
}

static void version_read(struct evd_call *call) {
    struct get_version *state = EVD_CALL_STATE(call, get_version);
    EVD_WANT(call, FORM_SESSION_VERSION, call->ids.version, &state->version);
    EVD_WANT(call, PIN_MAP, call->ids.version, &state->answers.map);
    evd_reader_fetch(call);
    if (evd_session_version_may_be_seen(call, state->version))
        evd_answers_read(call, &state->answers);
    else
        state->version = NULL;
}

static struct evd_outcome version_refuse(struct evd_call *call) {
    struct get_version *state = call->state;
    if (state->version == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    bool whole = state->answers.map != NULL && evd_answers_are_whole(&state->answers);
    return evd_outcome_of(whole ? EVD_OK : EVD_STORE_IS_CORRUPT);
}

static void version_derive(struct evd_call *call) {
    const struct get_version *state = call->state;
    const struct evd_form_session_version *version = state->version;
    struct evd_session_version_view view = {.id = version->base.id,
                                            .base = version->base_version,
                                            .seq = version->seq,
                                            .kind = version->kind,
                                            .form_version = version->form_version_seq,
                                            .command_id = version->command_id,
                                            .stamp = version->base.stamp,
                                            .saved_at = version->saved_at};
    view.answers.items = evd_answers_show(call, &state->answers);
    view.answers.count = state->answers.pins.count;
    evd_call_receipt(call, &evd_type_session_version_view, &view);
}

#define GET_VERSION(view_name, view_path)                                                                              \
    {                                                                                                                  \
        EVD_VIEW(view_name, view_path "/versions/{version}", EVD_CAN_READ),                                            \
            .answer = &evd_type_session_version_view, .immutable = true, .read = version_read,                         \
            .refuse = version_refuse, .derive = version_derive,                                                        \
    }

const struct evd_command evd_command_get_session_version = GET_VERSION("GetSessionVersion", EVD_OWN_SESSION);
const struct evd_command evd_command_get_session_version_by_id = GET_VERSION("GetSessionVersionById", EVD_ANY_SESSION);
