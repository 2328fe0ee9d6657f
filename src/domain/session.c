#include "evidenced/domain/session.h"

enum evd_answer_effect evd_answer_effect_of(const struct evd_annotation_head *head, evd_uuid base_revision,
                                            const struct evd_sha256 *digest) {
    if (head == NULL) return evd_uuid_is_nil(base_revision) ? EVD_ANSWER_FIRST : EVD_ANSWER_STALE;
    struct evd_text given = {(const char *)digest->bytes, sizeof digest->bytes};
    if (evd_text_equal(head->digest, given)) return EVD_ANSWER_SAME;
    return evd_uuid_equal(head->current_revision, base_revision) ? EVD_ANSWER_REVISE : EVD_ANSWER_STALE;
}

struct evd_outcome evd_session_scopes_open(const struct evd_form *form, const struct evd_stage *const *stages,
                                           size_t count) {
    if (form->fence != NULL) return evd_outcome_of(EVD_FENCED);
    for (size_t i = 0; i < count; i++)
        if (stages[i]->fence != NULL || stages[i]->status.value == EVD_STAGE_STATUS_COMPLETING)
            return evd_outcome_of(EVD_FENCED);
    for (size_t i = 0; i < count; i++)
        if (stages[i]->status.value != EVD_STAGE_STATUS_ACTIVE) return evd_outcome_of(EVD_STAGE_COMPLETED);
    return evd_ok();
}

enum evd_session_state evd_session_state_after(enum evd_version_kind kind) {
    switch (kind) {
    case EVD_VERSION_SAVE:
    case EVD_VERSION_FIX:
    case EVD_VERSION_UPGRADE: return EVD_SESSION_SAVED_INCOMPLETE;
    case EVD_VERSION_COMPLETE: return EVD_SESSION_COMPLETED;
    case EVD_VERSION_WITHDRAW: return EVD_SESSION_WITHDRAWN;
    case EVD_NONE_OF_version_kind:
    case EVD_END_OF_version_kind: break;
    }
    return EVD_NONE_OF_session_state;
}

bool evd_session_has_place(const struct evd_form_session *session) {
    return session != NULL && session->version_seq > 0 && session->state.value != EVD_SESSION_WITHDRAWN;
}
