/*
 * One's own session on a study's form: as it stands, its versions, one version whole.
 */
#include "evidenced/domain/answer.h"
#include "evidenced/records/keys.h"
#include "read/support.h"

struct answers {
    const struct evd_pin_map *map;
    struct evd_pins pins;
    const struct evd_annotation_revision **revisions;
    bool corrupt;
};

static void want_revisions(struct evd_call *call, struct answers *answers) {
    if (answers->map == NULL) return;
    answers->corrupt = !evd_pins_unpack(answers->map->pins, &answers->pins);
    if (answers->corrupt) return;
    answers->revisions =
        EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_annotation_revision *, answers->pins.count);
    for (size_t i = 0; i < answers->pins.count; i++)
        EVD_WANT(call, ANNOTATION_REVISION, answers->pins.items[i].revision, &answers->revisions[i]);
}

/* A revision is shown only when it is what was written: its digest is verified on every read. */
static bool verify(struct answers *answers) {
    for (size_t i = 0; i < answers->pins.count; i++) {
        const struct evd_annotation_revision *revision = answers->revisions[i];
        if (revision == NULL) return false;
        struct evd_sha256 digest = evd_answer_digest(&revision->value, revision->notes);
        struct evd_text computed = {(const char *)digest.bytes, sizeof digest.bytes};
        if (!evd_text_equal(revision->digest, computed)) return false;
    }
    return !answers->corrupt;
}

static struct evd_answer_view *show(struct evd_call *call, const struct answers *answers) {
    struct evd_answer_view *views = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_answer_view, answers->pins.count);
    for (size_t i = 0; i < answers->pins.count; i++) {
        const struct evd_annotation_revision *revision = answers->revisions[i];
        views[i] = (struct evd_answer_view){.question = revision->question,
                                            .value = revision->value,
                                            .notes = revision->notes,
                                            .revision = revision->base.id};
        views[i].path.items = revision->path.items;
        views[i].path.count = revision->path.count;
    }
    return views;
}

static evd_uuid own_session(const struct evd_call *call) {
    return evd_form_session_id(call->ids.project, call->ids.study, call->ids.form, call->caller);
}

/* As it stands. */
struct get_session {
    const struct evd_form_session *session;
    const struct evd_session_draft *draft;
    struct answers answers;
};

static void get_read(struct evd_call *call) {
    struct get_session *state = EVD_CALL_STATE(call, get_session);
    EVD_WANT(call, FORM_SESSION, own_session(call), &state->session);
    EVD_WANT(call, SESSION_DRAFT, own_session(call), &state->draft);
    evd_reader_fetch(call);
    if (state->session == NULL) return;
    EVD_WANT(call, PIN_MAP, state->session->current_version, &state->answers.map);
    evd_reader_fetch(call);
    want_revisions(call, &state->answers);
    evd_reader_fetch(call);
}

static struct evd_outcome get_refuse(struct evd_call *call) {
    struct get_session *state = call->state;
    if (state->session == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    return evd_outcome_of(verify(&state->answers) ? EVD_OK : EVD_STORE_IS_CORRUPT);
}

static void get_derive(struct evd_call *call) {
    const struct get_session *state = call->state;
    const struct evd_form_session *session = state->session;
    struct evd_session_view view = {.id = session->base.id,
                                    .version_id = session->current_version,
                                    .version_seq = session->version_seq,
                                    .state = session->state,
                                    .form_version = session->pinned_form_version,
                                    .stamp = session->base.stamp,
                                    .draft_etag = state->draft == NULL ? 0 : state->draft->etag};
    view.answers.items = show(call, &state->answers);
    view.answers.count = state->answers.pins.count;
    evd_call_receipt(call, &evd_type_session_view, &view);
}

#define SESSION_PATH "/v1/projects/{project}/studies/{study}/forms/{form}/session"

const struct evd_command evd_command_get_session = {
    EVD_VIEW("GetSession", SESSION_PATH, EVD_CAN_READ),
    .answer = &evd_type_session_view,
    .read = get_read,
    .refuse = get_refuse,
    .derive = get_derive,
};

/* Its versions, oldest first. */
struct list_versions {
    struct evd_page_scan page;
};

static const struct evd_page_order by_seq = {
    .index = EVD_INDEX_versions_of_session, .count = 1, .kinds = {EVD_VALUE_I64}};

static struct evd_outcome list_parse(struct evd_call *call) {
    return evd_page_check(call, &by_seq);
}

static void list_read(struct evd_call *call) {
    struct list_versions *state = EVD_CALL_STATE(call, list_versions);
    struct evd_value *session = EVD_NEW(evd_call_arena(call), struct evd_value);
    *session = (struct evd_value){.kind = EVD_VALUE_UUID, .uuid = own_session(call)};
    evd_reader_fetch(call);
    state->page =
        (struct evd_page_scan){.order = &by_seq, .equal = session, .equal_count = 1, .limit = call->page.limit};
    evd_page_read(call, &state->page);
}

static const struct evd_form_session_version *version_at(const struct evd_page_scan *page, size_t at) {
    return (const struct evd_form_session_version *)page->records[at];
}

static struct evd_session_version_row row_of(const struct evd_form_session_version *version) {
    return (struct evd_session_version_row){.id = version->base.id,
                                            .seq = version->seq,
                                            .kind = version->kind,
                                            .form_version = version->form_version_seq,
                                            .command_id = version->command_id,
                                            .stamp = version->base.stamp,
                                            .saved_at = version->saved_at,
                                            .answer_count = version->pin_count};
}

static void list_derive(struct evd_call *call) {
    const struct evd_page_scan *page = &((struct list_versions *)call->state)->page;
    struct evd_session_version_row *items =
        EVD_NEW_ARRAY(evd_call_arena(call), struct evd_session_version_row, page->count);
    struct evd_text next = {0};
    for (size_t i = 0; i < page->count; i++)
        items[i] = row_of(version_at(page, i));
    if (page->more) {
        struct evd_value last = {.kind = EVD_VALUE_I64, .i64 = version_at(page, page->count - 1)->seq};
        next = evd_page_next(call, page, &last);
    }
    evd_view_page(call, &evd_type_session_version_page, items, page->count, next);
}

const struct evd_command evd_command_list_session_versions = {
    EVD_VIEW("ListSessionVersions", SESSION_PATH "/versions", EVD_CAN_READ),
    .answer = &evd_type_session_version_page,
    .query = EVD_QUERY_PAGE,
    .parse = list_parse,
    .read = list_read,
    .derive = list_derive,
};

/* One version, whole; it never changes. */
struct get_version {
    const struct evd_form_session_version *version;
    struct answers answers;
};

static void version_read(struct evd_call *call) {
    struct get_version *state = EVD_CALL_STATE(call, get_version);
    EVD_WANT(call, FORM_SESSION_VERSION, call->ids.version, &state->version);
    EVD_WANT(call, PIN_MAP, call->ids.version, &state->answers.map);
    evd_reader_fetch(call);
    bool own = state->version != NULL && evd_uuid_equal(state->version->session, own_session(call));
    if (!own) {
        state->version = NULL;
        return;
    }
    want_revisions(call, &state->answers);
    evd_reader_fetch(call);
}

static struct evd_outcome version_refuse(struct evd_call *call) {
    struct get_version *state = call->state;
    if (state->version == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    return evd_outcome_of(verify(&state->answers) ? EVD_OK : EVD_STORE_IS_CORRUPT);
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
    view.answers.items = show(call, &state->answers);
    view.answers.count = state->answers.pins.count;
    evd_call_receipt(call, &evd_type_session_version_view, &view);
}

const struct evd_command evd_command_get_session_version = {
    EVD_VIEW("GetSessionVersion", SESSION_PATH "/versions/{version}", EVD_CAN_READ),
    .answer = &evd_type_session_version_view,
    .immutable = true,
    .read = version_read,
    .refuse = version_refuse,
    .derive = version_derive,
};
