/*
 * Forms: made with a draft definition, then published once. Later publications need fences that do not exist yet.
 */
#include "commands/support.h"
#include "evidenced/base/sha256.h"
#include "evidenced/domain/definition.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/keys.h"

static struct evd_outcome create_refuse(struct evd_call *call) {
    const struct evd_create_form_request *request = call->request;
    const struct evd_capacity *capacity = request->capacity;
    if (evd_text_is_blank(request->name)) return evd_invalid(call, "/name", EVD_ERROR_BLANK);
    if (capacity->cap != 0 && capacity->cap < capacity->target)
        return evd_invalid(call, "/capacity/cap", EVD_ERROR_OUT_OF_RANGE);
    return evd_ok();
}

static void create_derive(struct evd_call *call) {
    const struct evd_create_form_request *request = call->request;
    struct evd_form *form = EVD_NEW(evd_call_arena(call), struct evd_form);
    form->base.id = evd_made_id("form", call->ids.project, call->command_id, 0);
    form->name = request->name;
    form->capacity = request->capacity;
    struct evd_form_draft draft = {.base.id = form->base.id, .form = form->base.id};
    draft.questions.items = request->questions.items;
    draft.questions.count = request->questions.count;
    EVD_INSERT_RECORD(call, form, form);
    EVD_INSERT_RECORD(call, form_draft, &draft);
    evd_receipt_of_record(call, &form->base);
}

const struct evd_command evd_command_create_form = {
    .name = "CreateForm",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/forms",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_DEFINITIONS,
    .body_limit_bytes = EVD_LIMIT_STUDY_BATCH_BODY_BYTES, /* 5,000 questions with their texts */
    .request = &evd_type_create_form_request,
    .answer = &evd_type_record_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),
    .refuse = create_refuse,
    .derive = create_derive,
};

/* Publish the draft definition as the form's first version. */
struct publish {
    const struct evd_form *form;
    const struct evd_form_draft *draft;
    struct evd_errors errors;
};

static void publish_read(struct evd_call *call) {
    struct publish *state = EVD_CALL_STATE(call, publish);
    EVD_WANT(call, FORM, call->ids.form, &state->form);
    EVD_WANT(call, FORM_DRAFT, call->ids.form, &state->draft);
    evd_reader_fetch(call);
}

static struct evd_outcome publish_refuse(struct evd_call *call) {
    const struct evd_publish_form_request *request = call->request;
    struct publish *state = call->state;
    const struct evd_form *form = state->form;
    if (form == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    if (form->fence != NULL) return evd_outcome_of(EVD_FENCED);
    if (form->published_seq > 0)
        return evd_refused(EVD_REASON_NOT_YET_AVAILABLE, EVD_TEXT("A second publication is not available yet."));
    if (form->base.version != request->base_version)
        return (struct evd_outcome){
            .code = EVD_STALE_BASE,
            .members = evd_text_print(evd_call_arena(call), "\"base\":\"form\",\"declared\":%lld,\"current\":%lld",
                                      (long long)request->base_version, (long long)form->base.version)};
    if (state->draft == NULL || state->draft->questions.count == 0)
        return evd_invalid(call, "/questions", EVD_ERROR_EMPTY);
    evd_errors_init(&state->errors, evd_call_arena(call));
    evd_definition_check(state->draft->questions.items, state->draft->questions.count, &state->errors);
    return evd_errors_outcome(&state->errors);
}

static void publish_derive(struct evd_call *call) {
    const struct publish *state = call->state;
    struct evd_form *form = EVD_CHANGE(call, form, state->form);
    struct evd_form_version *version = EVD_NEW(evd_call_arena(call), struct evd_form_version);
    form->published_seq = 1;
    version->base.id = evd_form_version_id(call->ids.project, form->base.id, form->published_seq);
    version->form = form->base.id;
    version->seq = form->published_seq;
    version->published_by = call->caller;
    version->published_at = call->now_ms;
    version->questions.items = state->draft->questions.items;
    version->questions.count = state->draft->questions.count;
    struct evd_image encoded = evd_bson_encode(&evd_type_form_version, version, evd_call_arena(call));
    struct evd_sha256 *digest = EVD_NEW(evd_call_arena(call), struct evd_sha256);
    *digest = evd_sha256_of(encoded.bson, encoded.size_bytes);
    version->digest = (struct evd_text){(const char *)digest->bytes, sizeof digest->bytes};
    EVD_INSERT_RECORD(call, form_version, version);
    EVD_REPLACE_RECORD(call, form, form);
    struct evd_publication_receipt receipt = {.command_id = call->command_id,
                                              .stamp = call->stamp,
                                              .form = form->base.id,
                                              .id = version->base.id,
                                              .seq = version->seq,
                                              .version = form->base.version};
    evd_call_receipt(call, &evd_type_publication_receipt, &receipt);
}

const struct evd_command evd_command_publish_form = {
    .name = "PublishForm",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/forms/{form}/publications",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_DEFINITIONS,
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_publish_form_request,
    .answer = &evd_type_publication_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_STALE_BASE) | EVD_OUTCOME_BIT(EVD_FENCED) | EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),
    .read = publish_read,
    .refuse = publish_refuse,
    .derive = publish_derive,
};
