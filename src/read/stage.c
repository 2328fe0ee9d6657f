/*
 * Stages with the settings in force.
 */
#include "evidenced/records/keys.h"
#include "read/support.h"

static struct evd_stage_view view_of(const struct evd_stage *stage, const struct evd_settings_version *settings) {
    struct evd_stage_view view = {.id = stage->base.id,
                                  .name = stage->name,
                                  .version = stage->base.version,
                                  .status = stage->status,
                                  .settings_seq = stage->settings_seq};
    if (settings == NULL) return view;
    view.form = settings->form;
    view.session_timeout_minutes = settings->session_timeout_minutes;
    view.suspended_grace_minutes = settings->suspended_grace_minutes;
    return view;
}

static void want_settings(struct evd_call *call, const struct evd_stage *stage,
                          const struct evd_settings_version **slot) {
    EVD_WANT(call, SETTINGS_VERSION, evd_settings_version_id(call->ids.project, stage->base.id, stage->settings_seq),
             slot);
}

struct get_stage {
    const struct evd_stage *stage;
    const struct evd_settings_version *settings;
};

static void get_read(struct evd_call *call) {
    struct get_stage *state = EVD_CALL_STATE(call, get_stage);
    EVD_WANT(call, STAGE, call->ids.stage, &state->stage);
    evd_reader_fetch(call);
    if (state->stage == NULL) return;
    want_settings(call, state->stage, &state->settings);
    evd_reader_fetch(call);
}

static struct evd_outcome get_refuse(struct evd_call *call) {
    const struct get_stage *state = call->state;
    return evd_outcome_of(state->stage == NULL ? EVD_NOT_FOUND : EVD_OK);
}

static void get_derive(struct evd_call *call) {
    const struct get_stage *state = call->state;
    struct evd_stage_view view = view_of(state->stage, state->settings);
    evd_call_receipt(call, &evd_type_stage_view, &view);
}

const struct evd_command evd_command_get_stage = {
    EVD_VIEW("GetStage", "/v1/projects/{project}/stages/{stage}", EVD_CAN_READ),
    .answer = &evd_type_stage_view,
    .read = get_read,
    .refuse = get_refuse,
    .derive = get_derive,
};

struct list_stages {
    struct evd_page_scan page;
    const struct evd_settings_version **settings;
};

static const struct evd_page_order by_name = {.index = EVD_INDEX_stages, .count = 1, .kinds = {EVD_VALUE_TEXT}};

static struct evd_outcome list_parse(struct evd_call *call) {
    return evd_page_check(call, &by_name);
}

static void list_read(struct evd_call *call) {
    struct list_stages *state = EVD_CALL_STATE(call, list_stages);
    evd_reader_fetch(call);
    state->page = (struct evd_page_scan){.order = &by_name, .limit = call->page.limit};
    evd_page_read(call, &state->page);
    state->settings = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_settings_version *, state->page.count);
    for (size_t i = 0; i < state->page.count; i++)
        want_settings(call, (const struct evd_stage *)state->page.records[i], &state->settings[i]);
    evd_reader_fetch(call);
}

static void list_derive(struct evd_call *call) {
    const struct list_stages *state = call->state;
    const struct evd_page_scan *page = &state->page;
    struct evd_stage_view *items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_stage_view, page->count);
    struct evd_text next = {0};
    for (size_t i = 0; i < page->count; i++)
        items[i] = view_of((const struct evd_stage *)page->records[i], state->settings[i]);
    if (page->more) {
        struct evd_value last = {.kind = EVD_VALUE_TEXT, .text = items[page->count - 1].name};
        next = evd_page_next(call, page, &last);
    }
    evd_view_page(call, &evd_type_stage_page, items, page->count, next);
}

const struct evd_command evd_command_list_stages = {
    EVD_VIEW("ListStages", "/v1/projects/{project}/stages", EVD_CAN_READ),
    .answer = &evd_type_stage_page,
    .query = EVD_QUERY_PAGE,
    .parse = list_parse,
    .read = list_read,
    .derive = list_derive,
};
