/*
 * Forms and stages: published versions are there and unchanged, bindings hold from both ends.
 */
#include "evidenced/base/sha256.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/keys.h"
#include "read/verify.h"

/* Forms: one a page, since a version may be large; a version a run. */

struct bound_stage {
    const struct evd_stage *stage;
    const struct evd_settings_version *settings;
};

struct form_parts {
    const struct evd_form_version *version;
    struct bound_stage *stages;
};

static int64_t next_seq(const struct evd_verification *verification, const struct evd_form *form) {
    return verification->form_seq < form->published_seq ? verification->form_seq + 1 : 0;
}

static void forms_read(struct evd_call *call, struct evd_verification *verification) {
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_forms, 1);
    struct form_parts *found = page->extra = EVD_NEW(evd_call_arena(call), struct form_parts);
    if (page->count == 0) return;
    const struct evd_form *form = page->records[0];
    int64_t seq = next_seq(verification, form);
    if (seq > 0)
        EVD_WANT(call, FORM_VERSION, evd_form_version_id(call->ids.project, form->base.id, seq), &found->version);
    found->stages = EVD_NEW_ARRAY(evd_call_arena(call), struct bound_stage, form->bound_stages.count);
    for (size_t i = 0; i < form->bound_stages.count; i++)
        EVD_WANT(call, STAGE, form->bound_stages.items[i], &found->stages[i].stage);
    evd_reader_fetch(call);
    for (size_t i = 0; i < form->bound_stages.count; i++) {
        const struct evd_stage *stage = found->stages[i].stage;
        if (stage != NULL)
            EVD_WANT(call, SETTINGS_VERSION,
                     evd_settings_version_id(call->ids.project, stage->base.id, stage->settings_seq),
                     &found->stages[i].settings);
    }
    evd_reader_fetch(call);
}

/* As it was when it was digested: not stored yet, and without its digest. */
static struct evd_sha256 digest_of(struct evd_call *call, const struct evd_form_version *version) {
    struct evd_form_version bare = *version;
    bare.base.project_id = evd_uuid_nil();
    bare.base.version = 0;
    bare.base.stamp = 0;
    bare.digest = (struct evd_text){0};
    struct evd_image encoded = evd_bson_encode(&evd_type_form_version, &bare, evd_call_arena(call));
    return evd_sha256_of(encoded.bson, encoded.size_bytes);
}

static void judge_version(struct evd_call *call, const struct evd_form *form, int64_t seq,
                          const struct evd_form_version *version) {
    evd_uuid id = evd_form_version_id(call->ids.project, form->base.id, seq);
    if (!evd_verify_there(call, EVD_CHECK_FORM_VERSION, EVD_IN_FORM_VERSION, id, version)) return;
    struct evd_sha256 digest = digest_of(call, version);
    bool of_form = evd_uuid_equal(version->form, form->base.id) && version->seq == seq;
    if (!of_form || !evd_text_equal(version->digest, (struct evd_text){(const char *)digest.bytes, EVD_SHA256_BYTES}))
        evd_verify_note(call, EVD_CHECK_FORM_VERSION, EVD_IN_FORM_VERSION, id, EVD_TEXT("what was published"),
                        EVD_TEXT("something else"));
}

static void judge_bindings(struct evd_call *call, const struct evd_form *form, const struct bound_stage *stages) {
    for (size_t i = 0; i < form->bound_stages.count; i++) {
        evd_uuid stage = form->bound_stages.items[i];
        evd_uuid bound = stages[i].settings == NULL ? evd_uuid_nil() : stages[i].settings->form;
        if (evd_uuid_equal(bound, form->base.id)) continue;
        evd_verify_note(
            call, EVD_CHECK_BINDING, EVD_IN_FORM, form->base.id, evd_verify_id_text(call, "bound stage", stage),
            stages[i].stage == NULL ? EVD_TEXT("no such stage") : EVD_TEXT("a stage that binds another form"));
    }
}

static void forms_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct form_parts *found = page->extra;
    if (page->count > 0) {
        const struct evd_form *form = page->records[0];
        int64_t seq = next_seq(verification, form);
        if (verification->form_seq == 0) judge_bindings(call, form, found->stages);
        if (seq > 0) judge_version(call, form, seq, found->version);
        verification->form_seq = seq;
        if (seq > 0 && seq < form->published_seq) return;
        struct evd_value name = {.kind = EVD_VALUE_TEXT, .text = form->name};
        evd_verify_pass(verification, &name, 1, form->base.id);
        verification->form_seq = 0;
        verification->sum.forms++;
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_forms = {forms_read, forms_judge};

/* Stages. */

struct stage_parts {
    const struct evd_settings_version *settings;
    const struct evd_form *form;
};

static evd_uuid settings_id(const struct evd_call *call, const struct evd_stage *stage) {
    return evd_settings_version_id(call->ids.project, stage->base.id, stage->settings_seq);
}

static void stages_read(struct evd_call *call, struct evd_verification *verification) {
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_stages, call->page.limit);
    struct stage_parts *found = page->extra = EVD_NEW_ARRAY(evd_call_arena(call), struct stage_parts, page->count);
    for (size_t i = 0; i < page->count; i++)
        EVD_WANT(call, SETTINGS_VERSION, settings_id(call, page->records[i]), &found[i].settings);
    evd_reader_fetch(call);
    for (size_t i = 0; i < page->count; i++)
        if (found[i].settings != NULL) EVD_WANT(call, FORM, found[i].settings->form, &found[i].form);
    evd_reader_fetch(call);
}

static bool binds(const struct evd_form *form, evd_uuid stage) {
    for (size_t i = 0; i < form->bound_stages.count; i++)
        if (evd_uuid_equal(form->bound_stages.items[i], stage)) return true;
    return false;
}

static void judge_stage(struct evd_call *call, const struct evd_stage *stage, const struct stage_parts *found) {
    evd_uuid id = settings_id(call, stage);
    if (!evd_verify_there(call, EVD_CHECK_BINDING, EVD_IN_SETTINGS_VERSION, id, found->settings)) return;
    (void)evd_verify_same(call, EVD_CHECK_BINDING, EVD_IN_SETTINGS_VERSION, id, stage->base.id, found->settings->stage);
    if (evd_uuid_is_nil(found->settings->form)) return;
    if (!evd_verify_there(call, EVD_CHECK_BINDING, EVD_IN_FORM, found->settings->form, found->form)) return;
    if (!binds(found->form, stage->base.id))
        evd_verify_note(call, EVD_CHECK_BINDING, EVD_IN_FORM, found->form->base.id,
                        evd_verify_id_text(call, "bound stage", stage->base.id), EVD_TEXT("not bound"));
}

static void stages_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct stage_parts *found = page->extra;
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_stage *stage = page->records[i];
        struct evd_value name = {.kind = EVD_VALUE_TEXT, .text = stage->name};
        judge_stage(call, stage, &found[i]);
        evd_verify_pass(verification, &name, 1, stage->base.id);
        verification->sum.stages++;
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_stages = {stages_read, stages_judge};
