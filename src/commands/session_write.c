#include "commands/session.h"
#include "evidenced/base/canary.h"
#include "evidenced/domain/summary.h"
#include "evidenced/records/keys.h"

/* The new head of the session: made by the first version, replaced by later ones. */
static struct evd_form_session *write_session(struct evd_call *call, const struct evd_session_reads *read,
                                              const struct evd_session_outcome *outcome, evd_uuid version_id) {
    struct evd_form_session *session = read->session != NULL ? EVD_CHANGE(call, form_session, read->session)
                                                             : EVD_NEW(evd_call_arena(call), struct evd_form_session);
    session->base.id = read->session_id;
    session->study = call->ids.study;
    session->form = call->ids.form;
    session->author = call->caller;
    session->route_stage = outcome->stage;
    session->current_version = version_id;
    session->version_seq++;
    session->state = evd_name_of(evd_session_state_after(outcome->kind));
    session->pinned_form_version = outcome->form_version;
    if (read->session != NULL)
        EVD_REPLACE_RECORD(call, form_session, session);
    else
        EVD_INSERT_RECORD(call, form_session, session);
    return session;
}

static void write_version(struct evd_call *call, const struct evd_session_reads *read,
                          const struct evd_session_outcome *outcome, const struct evd_form_session *session) {
    bool declared = outcome->exposed->asked != NULL;
    struct evd_form_session_version version = {
        .base.id = session->current_version,
        .session = read->session_id,
        .study = call->ids.study,
        .form = call->ids.form,
        .author = call->caller,
        .seq = session->version_seq,
        .kind = evd_name_of(outcome->kind),
        .command_id = call->command_id,
        .base_version = read->session == NULL ? evd_uuid_nil() : read->session->current_version,
        .form_version = evd_form_version_id(call->ids.project, call->ids.form, outcome->form_version),
        .form_version_seq = outcome->form_version,
        .route_stage = outcome->stage,
        .draft_etag = read->draft == NULL ? 0 : read->draft->etag,
        .pin_count = (int64_t)outcome->pins.count,
        .changed_count = (int64_t)evd_pins_changed(read->base_pins, outcome->pins),
        .exposures_declared = declared,
        .exposures_declared_so_far =
            declared && (read->base_version == NULL || read->base_version->exposures_declared_so_far),
        .saved_at = call->now_ms};
    struct evd_pin_map map = {.base.id = session->current_version, .pins = evd_pins_pack(outcome->pins)};
    EVD_INSERT_RECORD(call, form_session_version, &version);
    EVD_INSERT_RECORD(call, pin_map, &map);
    if (EVD_CANARY(PINS_WRITTEN_TWICE)) EVD_INSERT_RECORD(call, pin_map, &map);
}

/* Every version writes the draft, so that an autosave racing it conflicts; the holder and the sequence it consumed
 * stay. What it held and the request left out is kept beside it. */
static int64_t write_draft(struct evd_call *call, const struct evd_session_reads *read, evd_uuid version_id) {
    struct evd_session_draft *draft = read->draft != NULL ? EVD_CHANGE(call, session_draft, read->draft)
                                                          : EVD_NEW(evd_call_arena(call), struct evd_session_draft);
    draft->base.id = draft->session = read->session_id;
    draft->base_version = version_id;
    if (!EVD_CANARY(DRAFT_NOT_EMPTIED)) draft->content = NULL;
    if (!EVD_CANARY(LEFT_OUT_NOT_KEPT)) evd_draft_keeping_write(call, &read->keeping);
    draft->etag++;
    if (EVD_CANARY(DRAFT_NOT_WRITTEN) && read->draft != NULL) return draft->etag;
    if (read->draft != NULL)
        EVD_REPLACE_RECORD(call, session_draft, draft);
    else
        EVD_INSERT_RECORD(call, session_draft, draft);
    return draft->etag;
}

/* The form's entry is computed from all session heads of the study, this one as it will be. */
static int64_t write_study(struct evd_call *call, const struct evd_session_reads *read,
                           const struct evd_form_session *session) {
    struct evd_arena *arena = evd_call_arena(call);
    const struct evd_form_session **heads =
        EVD_NEW_ARRAY(arena, const struct evd_form_session *, read->session_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < read->session_count; i++)
        if (!evd_uuid_equal(read->sessions[i]->base.id, session->base.id)) heads[count++] = read->sessions[i];
    heads[count++] = session;
    struct evd_study *study = EVD_CHANGE(call, study, read->study);
    struct evd_form_summary *entry = evd_summary_of_form(read->form, heads, count, arena);
    study->summary = evd_summary_with(read->study->summary, read->form, entry, arena);
    if (EVD_CANARY(FORM_WRITTEN)) EVD_REPLACE_RECORD(call, form, EVD_CHANGE(call, form, read->form));
    if (!EVD_CANARY(STUDY_NOT_WRITTEN)) EVD_REPLACE_RECORD(call, study, study);
    return study->base.version;
}

static void answer(struct evd_call *call, struct evd_session_receipt *receipt, const struct evd_changed_answer *changed,
                   size_t changed_count) {
    receipt->answers.items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_answer_receipt, changed_count);
    receipt->answers.count = changed_count;
    for (size_t i = 0; i < changed_count; i++) {
        struct evd_answer_receipt *row = &receipt->answers.items[i];
        row->question = changed[i].asked->question;
        row->path.items = changed[i].asked->path.items;
        row->path.count = changed[i].asked->path.count;
        row->revision = changed[i].pinned;
    }
    evd_call_receipt(call, &evd_type_session_receipt, receipt);
}

void evd_session_write(struct evd_call *call, const struct evd_session_reads *read,
                       const struct evd_session_outcome *outcome, const struct evd_changed_answer *changed,
                       size_t changed_count) {
    int64_t seq = read->session == NULL ? 1 : read->session->version_seq + 1;
    evd_uuid version_id = evd_session_version_id(read->session_id, seq);
    const struct evd_form_session *session = write_session(call, read, outcome, version_id);
    write_version(call, read, outcome, session);
    if (!EVD_CANARY(EXPOSURES_NOT_KEPT))
        (void)evd_exposed_write(call, outcome->exposed, session->base.id, version_id, seq, false);
    struct evd_session_receipt receipt = {.command_id = call->command_id,
                                          .stamp = call->stamp,
                                          .session = session->base.id,
                                          .version = version_id,
                                          .version_seq = seq,
                                          .state = session->state,
                                          .form_version = outcome->form_version,
                                          .answer_count = (int64_t)outcome->pins.count};
    receipt.draft_etag = write_draft(call, read, version_id) - EVD_CANARY(RECEIPT_OF_OLD_DRAFT);
    receipt.study_version = write_study(call, read, session);
    answer(call, &receipt, changed, changed_count);
}
