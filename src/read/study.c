/*
 * Studies: bibliographic fields, and for each form the counts and the caller's own entry. What other reviewers did is
 * shown only to who may see it.
 */
#include "read/support.h"

static struct evd_member_entry_view entry_of(const struct evd_summary_member *member) {
    return (struct evd_member_entry_view){.reviewer = member->reviewer,
                                          .state = member->state,
                                          .standing = member->standing,
                                          .version_seq = member->version_seq};
}

static void show_members(struct evd_call *call, const struct evd_form_summary *entry, struct evd_form_entry_view *view) {
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
                                  .pdf_relative_path = study->pdf_relative_path};
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
}

static struct evd_outcome get_refuse(struct evd_call *call) {
    const struct get_study *state = call->state;
    return evd_outcome_of(state->study == NULL ? EVD_NOT_FOUND : EVD_OK);
}

static void get_derive(struct evd_call *call) {
    struct evd_study_view view = view_of(call, ((struct get_study *)call->state)->study);
    evd_call_receipt(call, &evd_type_study_view, &view);
}

const struct evd_command evd_command_get_study = {
    EVD_VIEW("GetStudy", "/v1/projects/{project}/studies/{study}", EVD_CAN_READ),
    .read = get_read,
    .refuse = get_refuse,
    .derive = get_derive,
};

struct list_studies {
    struct evd_page_scan page;
};

static const enum evd_value_kind key_position[] = {EVD_VALUE_I64};

static void list_read(struct evd_call *call) {
    struct list_studies *state = EVD_CALL_STATE(call, list_studies);
    evd_reader_fetch(call);
    state->page.scan.index = EVD_INDEX_studies;
    evd_page_read(call, &state->page, key_position, 1);
}

static const struct evd_study *study_at(const struct evd_page_scan *page, size_t at) {
    return (const struct evd_study *)page->records[at];
}

static void list_derive(struct evd_call *call) {
    const struct evd_page_scan *page = &((struct list_studies *)call->state)->page;
    struct evd_study_view *items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_study_view, page->count);
    struct evd_text next = {0};
    for (size_t i = 0; i < page->count; i++)
        items[i] = view_of(call, study_at(page, i));
    if (page->more) {
        struct evd_value last = {.kind = EVD_VALUE_I64, .i64 = study_at(page, page->count - 1)->random_key};
        next = evd_page_next(call, page, &last, 1);
    }
    evd_view_page(call, &evd_type_study_page, items, page->count, next);
}

const struct evd_command evd_command_list_studies = {
    EVD_VIEW("ListStudies", "/v1/projects/{project}/studies", EVD_CAN_READ),
    .parse = evd_page_parse,
    .read = list_read,
    .derive = list_derive,
};
