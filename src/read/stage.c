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

static void get_derive(struct evd_call *call) {
    const struct get_stage *state = call->state;
    struct evd_stage_view view = view_of(state->stage, state->settings);
    evd_call_receipt(call, &evd_type_stage_view, &view);
}

const struct evd_command evd_command_get_stage = {
    EVD_VIEW("GetStage", "/v1/projects/{project}/stages/{stage}", EVD_CAN_READ),
    .answer = &evd_type_stage_view,
    .read = get_read,
    .refuse = evd_view_refuse_missing,
    .derive = get_derive,
};

struct list_stages {
    struct evd_page_scan page;
    const struct evd_settings_version **settings;
};

static void show_stage(struct evd_call *call, const struct evd_record *record, size_t at, void *ret_item) {
    const struct list_stages *state = call->state;
    *(struct evd_stage_view *)ret_item = view_of((const struct evd_stage *)record, state->settings[at]);
}

static const struct evd_list_view by_name = {
    .index = EVD_INDEX_stages, .answer = &evd_type_stage_page, .show = show_stage};

static struct evd_outcome list_parse(struct evd_call *call) {
    return evd_list_check(call, &by_name);
}

static void list_read(struct evd_call *call) {
    struct list_stages *state = EVD_CALL_STATE(call, list_stages);
    evd_reader_fetch(call);
    evd_list_read(call, &by_name, NULL, 0, &state->page);
    state->settings = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_settings_version *, state->page.count);
    for (size_t i = 0; i < state->page.count; i++)
        want_settings(call, (const struct evd_stage *)state->page.records[i], &state->settings[i]);
    evd_reader_fetch(call);
}

static void list_derive(struct evd_call *call) {
    evd_list_answer(call, &by_name, &((struct list_stages *)call->state)->page);
}

const struct evd_command evd_command_list_stages = {
    EVD_VIEW("ListStages", "/v1/projects/{project}/stages", EVD_CAN_READ),
    .answer = &evd_type_stage_page,
    .query = EVD_QUERY_PAGE,
    .parse = list_parse,
    .read = list_read,
    .derive = list_derive,
};
