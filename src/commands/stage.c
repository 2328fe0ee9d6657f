/*
 * Stages: made with their first settings, which may bind a form that is not published yet.
 */
#include "commands/support.h"
#include "evidenced/records/keys.h"

enum { DEFAULT_TIMEOUT_MINUTES = 120, DEFAULT_GRACE_MINUTES = 120 };

struct create_stage {
    const struct evd_form *form;
};

static void create_read(struct evd_call *call) {
    const struct evd_create_stage_request *request = call->request;
    struct create_stage *state = EVD_CALL_STATE(call, create_stage);
    EVD_WANT(call, FORM, request->form, &state->form);
    evd_reader_fetch(call);
}

static struct evd_outcome create_refuse(struct evd_call *call) {
    const struct evd_create_stage_request *request = call->request;
    const struct evd_form *form = ((struct create_stage *)call->state)->form;
    bool binds = !evd_uuid_is_nil(request->form);
    if (binds && form != NULL && form->published_seq > 0)
        return evd_refused(EVD_REASON_NOT_YET_AVAILABLE,
                           EVD_TEXT("Bindings are fixed once a form is published: make the stage first."));
    if (form != NULL && form->fence != NULL) return evd_outcome_of(EVD_FENCED);
    if (evd_text_is_blank(request->name)) return evd_invalid(call, "/name", EVD_ERROR_BLANK);
    if (binds && form == NULL) return evd_invalid(call, "/formId", EVD_ERROR_UNKNOWN_FORM);
    if (binds && form->bound_stages.count >= EVD_LIMIT_BOUND_STAGES) return evd_outcome_of(EVD_SIZE_LIMIT_EXCEEDED);
    return evd_ok();
}

static void bind(struct evd_call *call, const struct evd_form *before, evd_uuid stage) {
    struct evd_form *form = EVD_CHANGE(call, form, before);
    size_t count = before->bound_stages.count;
    evd_uuid *stages = EVD_NEW_ARRAY(evd_call_arena(call), evd_uuid, count + 1);
    if (count > 0) memcpy(stages, before->bound_stages.items, count * sizeof *stages);
    stages[count] = stage;
    form->bound_stages.items = stages;
    form->bound_stages.count = count + 1;
    form->binding_seq++;
    EVD_REPLACE_RECORD(call, form, form);
}

static void create_derive(struct evd_call *call) {
    const struct evd_create_stage_request *request = call->request;
    const struct evd_form *form = ((struct create_stage *)call->state)->form;
    struct evd_stage *stage = EVD_NEW(evd_call_arena(call), struct evd_stage);
    struct evd_settings_version *settings = EVD_NEW(evd_call_arena(call), struct evd_settings_version);
    stage->base.id = evd_made_id("stage", call->ids.project, call->command_id, 0);
    stage->name = request->name;
    stage->status = evd_name_of(EVD_STAGE_STATUS_ACTIVE);
    stage->settings_seq = 1;
    settings->base.id = evd_settings_version_id(call->ids.project, stage->base.id, stage->settings_seq);
    settings->stage = stage->base.id;
    settings->seq = stage->settings_seq;
    settings->form = request->form;
    settings->session_timeout_minutes =
        request->session_timeout_minutes == 0 ? DEFAULT_TIMEOUT_MINUTES : request->session_timeout_minutes;
    settings->suspended_grace_minutes =
        request->suspended_grace_minutes == 0 ? DEFAULT_GRACE_MINUTES : request->suspended_grace_minutes;
    EVD_INSERT_RECORD(call, stage, stage);
    EVD_INSERT_RECORD(call, settings_version, settings);
    if (form != NULL) bind(call, form, stage->base.id);
    evd_receipt_of_record(call, &stage->base);
}

const struct evd_command evd_command_create_stage = {
    .name = "CreateStage",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/stages",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_DEFINITIONS,
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_create_stage_request,
    .answer = &evd_type_record_receipt,
    .outcomes =
        EVD_OUTCOME_BIT(EVD_FENCED) | EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED) | EVD_OUTCOME_BIT(EVD_SIZE_LIMIT_EXCEEDED),
    .read = create_read,
    .refuse = create_refuse,
    .derive = create_derive,
};
