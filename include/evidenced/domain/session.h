/*
 * Sessions: what one changed answer does to its head, and who may change a session at all.
 *
 * Pure. Source: domain page §2, "Save".
 */
#ifndef EVIDENCED_DOMAIN_SESSION_H
#define EVIDENCED_DOMAIN_SESSION_H

#include "evidenced/base/sha256.h"
#include "evidenced/domain/outcome.h"
#include "evidenced/records/dictionary.h"

enum evd_answer_effect {
    EVD_ANSWER_FIRST,  /* no head yet: one is made, with its first revision */
    EVD_ANSWER_SAME,   /* equal to the head's value: no revision, the head's is pinned, whatever its base */
    EVD_ANSWER_REVISE, /* a new revision behind the one it was changed from */
    EVD_ANSWER_STALE   /* differs, and the head is not at the revision it was changed from */
};

/** head: NULL when there is none. base_revision: nil when the client knew of none. digest: of the new value and notes.
 */
enum evd_answer_effect evd_answer_effect_of(const struct evd_annotation_head *head, evd_uuid base_revision,
                                            const struct evd_sha256 *digest);

/**
 * Is any scope this form depends on closed? Heads of all stages bound to it; the route's stage among them.
 *
 * Fenced when the form or a stage has a fence, or a stage is Completing; then StageCompleted when the route's stage
 * is Completed, or any bound stage is: without opened batches every study is in every stage's pool.
 */
struct evd_outcome evd_session_scopes_open(const struct evd_form *form, const struct evd_stage *const *stages,
                                           size_t count);

/** Where a session stands after a version of that kind. */
enum evd_session_state evd_session_state_after(enum evd_version_kind kind);

/** Does the session hold a place (a version that is not withdrawn)? NULL: no session. */
bool evd_session_has_place(const struct evd_form_session *session);

#endif
