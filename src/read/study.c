/*
 * Studies: bibliographic fields, and for each form the counts and the caller's own entry. What other reviewers did is
 * shown only to who may see it.
 */
#include "evidenced/domain/study.h"
#include "read/support.h"

static struct evd_member_entry_view entry_of(const struct evd_summary_member *member) {
    return (struct evd_member_entry_view){.reviewer = member->reviewer,
                                          .state = member->state,
                                          .standing = member->standing,
                                          .version_seq = member->version_seq};
}

static void show_members(struct evd_call *call, const struct evd_form_summary *entry,
                         struct evd_form_entry_view *view) {
    bool all = evd_view_sees_others(call);
    struct evd_member_entry_view *entries =
        EVD_NEW_ARRAY(evd_call_arena(call), struct evd_member_entry_view, entry->members.count);
    for (size_t i = 0; i < entry->members.count; i++) {
        entries[i] = entry_of(&entry->members.items[i]);
        if (evd_uuid_equal(entries[i].reviewer, call->caller)) view->own = &entries[i];
    }
    if (!all) return;
    view->members.items = entries;
    view->members.count = entry->members.count;
}

static struct evd_form_entry_view form_view_of(struct evd_call *call, const struct evd_form_summary *entry) {
    struct evd_form_entry_view view = {.form = entry->form,
                                       .evaluated_under = entry->evaluated_under,
                                       .places = entry->places,
                                       .saved_incomplete = entry->saved_incomplete,
                                       .completed = entry->completed,
                                       .qualifying = entry->qualifying,
                                       .ready = entry->ready};
    show_members(call, entry, &view);
    return view;
}

static struct evd_study_view view_of(struct evd_call *call, const struct evd_study *study) {
    struct evd_study_view view = {.id = study->base.id,
                                  .version = study->base.version,
                                  .stamp = study->base.stamp,
                                  .title = study->title,
                                  .abstract = study->abstract,
                                  .authors = study->authors,
                                  .year = study->year,
                                  .journal = study->journal,
                                  .custom_id = study->custom_id,
                                  .doi = study->doi,
                                  .pmid = study->pmid,
                                  .open_alex_id = study->open_alex_id,
                                  .url = study->url,
                                  .pdf_relative_path = study->pdf_relative_path,
                                  .metadata_version = study->metadata_seq};
    view.labels.items = study->labels.items;
    view.labels.count = study->labels.count;
    if (study->summary == NULL) return view;
    view.forms.count = study->summary->forms.count;
    view.forms.items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_form_entry_view, view.forms.count);
    for (size_t i = 0; i < view.forms.count; i++)
        view.forms.items[i] = form_view_of(call, &study->summary->forms.items[i]);
    return view;
}

struct get_study {
    const struct evd_study *study;
};

static void get_read(struct evd_call *call) {
    struct get_study *state = EVD_CALL_STATE(call, get_study);
    EVD_WANT(call, STUDY, call->ids.study, &state->study);
    evd_reader_fetch(call);
    if (!evd_study_is_there(state->study)) state->study = NULL;
}

static void get_derive(struct evd_call *call) {
    struct evd_study_view view = view_of(call, ((struct get_study *)call->state)->study);
    evd_call_receipt(call, &evd_type_study_view, &view);
}

const struct evd_command evd_command_get_study = {
    EVD_VIEW("GetStudy", "/v1/projects/{project}/studies/{study}", EVD_CAN_READ),
    .answer = &evd_type_study_view,
    .read = get_read,
    .refuse = evd_view_refuse_missing,
    .derive = get_derive,
};

/*
 * Studies, by their random key, which never changes; with `stage` and `state`, those of that state in the stage's pool.
 * A filtered page examines a bounded number of studies, so it may hold fewer than `limit` and still have a next.
 */
struct list_studies {
    struct evd_page_scan page;
    const struct evd_stage *stage;
};

static const struct evd_list_view by_random_key = {.index = EVD_INDEX_studies, .answer = &evd_type_study_page};

static struct evd_outcome bad_parameter(const char *name, struct evd_call *call, const char *why) {
    return (struct evd_outcome){.code = EVD_MALFORMED,
                                .detail = evd_text_print(call->arena, "`%s` %s.", name, why),
                                .members = evd_text_print(call->arena, "\"parameter\":\"%s\"", name)};
}

static struct evd_outcome list_parse(struct evd_call *call) {
    bool by_stage = !evd_uuid_is_nil(call->page.stage), by_state = call->page.state.bytes != NULL;
    if (by_stage != by_state) return bad_parameter("state", call, "goes with `stage`, and the other way round");
    if (by_state && evd_names_find(&evd_names_pool_state, call->page.state) == 0)
        return bad_parameter("state", call, "is untouched, inProgress or ready");
    return evd_list_check(call, &by_random_key);
}

static void list_read(struct evd_call *call) {
    struct list_studies *state = EVD_CALL_STATE(call, list_studies);
    bool filtered = call->page.state.bytes != NULL;
    EVD_WANT(call, STAGE, call->page.stage, &state->stage);
    evd_reader_fetch(call);
    evd_list_read(call, &by_random_key, NULL, filtered ? EVD_LIMIT_PAGE : 0, &state->page);
}

static struct evd_outcome list_refuse(struct evd_call *call) {
    const struct list_studies *state = call->state;
    return evd_outcome_of(call->page.state.bytes != NULL && state->stage == NULL ? EVD_NOT_FOUND : EVD_OK);
}

static const struct evd_study *study_at(const struct evd_page_scan *page, size_t at) {
    return (const struct evd_study *)page->records[at];
}

/* Without opened batches every study is in every stage's pool, untouched until somebody saves. */
static enum evd_pool_state pool_state_of(const struct evd_study *study, evd_uuid stage) {
    for (size_t i = 0; study->summary != NULL && i < study->summary->stages.count; i++) {
        const struct evd_stage_projection *projection = &study->summary->stages.items[i];
        if (!evd_uuid_equal(projection->stage, stage) || (projection->candidates == 0 && !projection->ready)) continue;
        return projection->ready ? EVD_POOL_READY : EVD_POOL_IN_PROGRESS;
    }
    return EVD_POOL_UNTOUCHED;
}

static void list_derive(struct evd_call *call) {
    struct evd_page_scan *page = &((struct list_studies *)call->state)->page;
    struct evd_study_view *items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_study_view, page->count);
    int wanted = evd_names_find(&evd_names_pool_state, call->page.state);
    size_t shown = 0, examined = 0;
    while (examined < page->count && shown < call->page.limit) {
        const struct evd_study *study = study_at(page, examined++);
        if (wanted == 0 || pool_state_of(study, call->page.stage) == (enum evd_pool_state)wanted)
            items[shown++] = view_of(call, study);
    }
    page->more |= examined < page->count;
    page->count = examined;
    evd_view_page(call, &evd_type_study_page, items, shown, evd_list_next(call, &by_random_key, page));
}

const struct evd_command evd_command_list_studies = {
    EVD_VIEW("ListStudies", "/v1/projects/{project}/studies", EVD_CAN_READ),
    .answer = &evd_type_study_page,
    .query = EVD_QUERY_STUDIES,
    .parse = list_parse,
    .read = list_read,
    .refuse = list_refuse,
    .derive = list_derive,
};
