/*
 * Forms and their published versions.
 */
#include "evidenced/domain/definition.h"
#include "evidenced/records/keys.h"
#include "read/support.h"

static struct evd_form_view view_of(const struct evd_call *call, const struct evd_form *form) {
    struct evd_form_view view = {.id = form->base.id,
                                 .name = form->name,
                                 .version = form->base.version,
                                 .published = form->published_seq,
                                 .capacity = form->capacity};
    if (form->published_seq > 0)
        view.published_id = evd_form_version_id(call->ids.project, form->base.id, form->published_seq);
    view.stages.items = form->bound_stages.items;
    view.stages.count = form->bound_stages.count;
    return view;
}

struct get_form {
    const struct evd_form *form;
    const struct evd_form_draft *draft;
};

static void get_read(struct evd_call *call) {
    struct get_form *state = EVD_CALL_STATE(call, get_form);
    EVD_WANT(call, FORM, call->ids.form, &state->form);
    EVD_WANT(call, FORM_DRAFT, call->ids.form, &state->draft);
    evd_reader_fetch(call);
}

static void get_derive(struct evd_call *call) {
    const struct get_form *state = call->state;
    struct evd_form_view view = view_of(call, state->form);
    if (state->draft != NULL) {
        view.draft.items = state->draft->questions.items;
        view.draft.count = state->draft->questions.count;
    }
    evd_call_receipt(call, &evd_type_form_view, &view);
}

const struct evd_command evd_command_get_form = {
    EVD_VIEW("GetForm", "/v1/projects/{project}/forms/{form}", EVD_CAN_READ),
    .answer = &evd_type_form_view,
    .read = get_read,
    .refuse = evd_view_refuse_missing,
    .derive = get_derive,
};

static void show_form(struct evd_call *call, const struct evd_record *record, size_t at, void *ret_item) {
    (void)at;
    *(struct evd_form_view *)ret_item = view_of(call, (const struct evd_form *)record);
}

static const struct evd_list_view by_name = {
    .index = EVD_INDEX_forms, .answer = &evd_type_form_page, .show = show_form};

static struct evd_outcome list_parse(struct evd_call *call) {
    return evd_list_check(call, &by_name);
}

static void list_read(struct evd_call *call) {
    evd_reader_fetch(call);
    evd_list_read(call, &by_name, NULL, 0, EVD_CALL_STATE(call, evd_page_scan));
}

static void list_derive(struct evd_call *call) {
    evd_list_answer(call, &by_name, call->state);
}

const struct evd_command evd_command_list_forms = {
    EVD_VIEW("ListForms", "/v1/projects/{project}/forms", EVD_CAN_READ),
    .answer = &evd_type_form_page,
    .query = EVD_QUERY_PAGE,
    .parse = list_parse,
    .read = list_read,
    .derive = list_derive,
};

struct get_form_version {
    const struct evd_definition *definition;
};

static void version_read(struct evd_call *call) {
    struct get_form_version *state = EVD_CALL_STATE(call, get_form_version);
    evd_reader_want_definition(call, call->ids.version, &state->definition);
    evd_reader_fetch(call);
}

static struct evd_outcome version_refuse(struct evd_call *call) {
    const struct get_form_version *state = call->state;
    if (state->definition == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    bool of_form = evd_uuid_equal(evd_definition_version(state->definition)->form, call->ids.form);
    return evd_outcome_of(of_form ? EVD_OK : EVD_NOT_FOUND);
}

static void version_derive(struct evd_call *call) {
    const struct get_form_version *state = call->state;
    const struct evd_form_version *version = evd_definition_version(state->definition);
    struct evd_form_version_view view = {.id = version->base.id,
                                         .form = version->form,
                                         .seq = version->seq,
                                         .stamp = version->base.stamp,
                                         .published_at = version->published_at};
    view.questions.items = version->questions.items;
    view.questions.count = version->questions.count;
    evd_call_receipt(call, &evd_type_form_version_view, &view);
}

const struct evd_command evd_command_get_form_version = {
    EVD_VIEW("GetFormVersion", "/v1/projects/{project}/forms/{form}/versions/{version}", EVD_CAN_READ),
    .answer = &evd_type_form_version_view,
    .immutable = true,
    .read = version_read,
    .refuse = version_refuse,
    .derive = version_derive,
};
