/*
 * A study's history: who did what to its sessions, and when, newest first. From the records themselves: every version,
 * and what was done to drafts besides typing. A reviewer sees their own; who may see others, everybody's.
 */
#include "evidenced/domain/session.h"
#include "evidenced/domain/study.h"
#include "read/support.h"

/* Two kinds of records in one order, by stamp and then by id: each is read a page from the cursor on. */
struct history {
    const struct evd_study *study;
    struct evd_page_scan versions, events, page;
    struct evd_history_row *rows; /* of the page */
};

static const struct evd_list_view all_versions = {.index = EVD_INDEX_versions_of_study, .fixed = 1, .descending = true};
static const struct evd_list_view all_events = {
    .index = EVD_INDEX_draft_events_of_study, .fixed = 1, .descending = true};
static const struct evd_list_view own_versions = {
    .index = EVD_INDEX_versions_of_author, .fixed = 2, .descending = true};
static const struct evd_list_view own_events = {
    .index = EVD_INDEX_draft_events_of_author, .fixed = 2, .descending = true};

/* All four have the same cursors: behind what they fix there is the stamp. */
static struct evd_outcome history_parse(struct evd_call *call) {
    return evd_list_check(call, &all_versions);
}

static bool is_later(const struct evd_record *a, const struct evd_record *b) {
    return a->stamp != b->stamp ? a->stamp > b->stamp : evd_uuid_compare(a->id, b->id) > 0;
}

static struct evd_history_row row_of_version(const struct evd_form_session_version *version) {
    enum evd_session_state after = evd_session_state_after((enum evd_version_kind)version->kind.value);
    return (struct evd_history_row){.stamp = version->base.stamp,
                                    .at = version->saved_at,
                                    .actor = version->author,
                                    .reviewer = version->author,
                                    .form = version->form,
                                    .session = version->session,
                                    .command_id = version->command_id,
                                    .kind = version->kind,
                                    .version_id = version->base.id,
                                    .version_seq = version->seq,
                                    .form_version = version->form_version_seq,
                                    .state = evd_name_of(after),
                                    .answer_count = version->pin_count,
                                    .changed_count = version->changed_count};
}

static struct evd_history_row row_of_event(const struct evd_draft_event *event) {
    return (struct evd_history_row){.stamp = event->base.stamp,
                                    .at = event->done_at,
                                    .actor = event->actor,
                                    .reviewer = event->author,
                                    .form = event->form,
                                    .session = event->session,
                                    .command_id = event->command_id,
                                    .draft_event = event->kind,
                                    .answer_count = event->answer_count};
}

static void merge(struct evd_call *call, struct history *state) {
    const struct evd_page_scan *versions = &state->versions, *events = &state->events;
    size_t all = versions->count + events->count, v = 0, e = 0;
    const struct evd_record **merged = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_record *, all);
    state->rows = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_history_row, all);
    state->page = (struct evd_page_scan){.order = versions->order, .records = merged};
    for (; state->page.count < versions->limit && v + e < all; state->page.count++) {
        bool is_version =
            e == events->count || (v < versions->count && is_later(versions->records[v], events->records[e]));
        const struct evd_record *next = is_version ? versions->records[v++] : events->records[e++];
        merged[state->page.count] = next;
        state->rows[state->page.count] = is_version ? row_of_version((const struct evd_form_session_version *)next)
                                                    : row_of_event((const struct evd_draft_event *)next);
    }
    state->page.more = v + e < all || versions->more || events->more;
}

static void history_read(struct evd_call *call) {
    struct history *state = EVD_CALL_STATE(call, history);
    EVD_WANT(call, STUDY, call->ids.study, &state->study);
    evd_reader_fetch(call);
    if (!evd_study_is_there(state->study)) state->study = NULL;
    if (state->study == NULL) return;
    bool all = evd_view_sees_others(call);
    struct evd_value equal[] = {{.kind = EVD_VALUE_UUID, .uuid = call->ids.study},
                                {.kind = EVD_VALUE_UUID, .uuid = call->caller}};
    evd_list_read(call, all ? &all_versions : &own_versions, equal, 0, &state->versions);
    evd_list_read(call, all ? &all_events : &own_events, equal, 0, &state->events);
    merge(call, state);
}

static void history_derive(struct evd_call *call) {
    const struct history *state = call->state;
    evd_view_page(call, &evd_type_history_page, state->rows, state->page.count,
                  evd_list_next(call, &all_versions, &state->page));
}

const struct evd_command evd_command_get_study_history = {
    EVD_VIEW("GetStudyHistory", "/v1/projects/{project}/studies/{study}/history", EVD_CAN_READ),
    .answer = &evd_type_history_page,
    .query = EVD_QUERY_PAGE,
    .parse = history_parse,
    .read = history_read,
    .refuse = evd_view_refuse_missing,
    .derive = history_derive,
};
