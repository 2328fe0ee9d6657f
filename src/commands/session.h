/*
 * What the commands that make a version of a session share: the same reads, the same refusals in the same order, the
 * same writes.
 */
#ifndef EVIDENCED_SRC_COMMANDS_SESSION_H
#define EVIDENCED_SRC_COMMANDS_SESSION_H

#include "commands/draft.h"
#include "commands/exposed.h"
#include "evidenced/base/sha256.h"
#include "evidenced/domain/answer.h"
#include "evidenced/domain/pins.h"
#include "evidenced/domain/session.h"

/* One answer the request changes. */
struct evd_changed_answer {
    const struct evd_answer_change *asked;
    evd_uuid context, head_id;
    struct evd_sha256 digest;
    const struct evd_annotation_head *head;        /* NULL: none yet */
    const struct evd_annotation_revision *current; /* the head's, read only when it is in the way */
    enum evd_answer_effect effect;
    evd_uuid pinned; /* the revision the new version pins */
};

/* An attempt of any command on a session. */
struct evd_session_reads {
    const struct evd_study *study;
    const struct evd_form *form;
    const struct evd_form_session *session;
    const struct evd_session_draft *draft;
    const struct evd_pin_map *base_map;
    const struct evd_form_session_version *base_version;
    const struct evd_definition *definition;
    const struct evd_stage **stages; /* bound to the form, in its order */
    size_t stage_count;
    const struct evd_form_session *const *sessions; /* of this study's form, all authors */
    size_t session_count;
    evd_uuid session_id;
    struct evd_draft_keeping keeping; /* what is typed and would be lost otherwise, in a success or in DraftLeaseHeld */
    struct evd_pins base_pins;
    bool route_is_bound;
};

/* What a request on a session declares, whichever command it is. */
struct evd_session_bases {
    evd_uuid stage, base_version;
    const struct evd_draft_base *draft;
    int64_t form_version;                    /* 0: the session's own */
    const struct evd_draft_content *content; /* what the request itself changes; NULL: nothing */
};

/**
 * Read in two store calls and a scan: what the request names (with want_first's, if any); what that depends on: the
 * bound stages (with want_then's); all sessions of this study's form.
 */
void evd_session_read(struct evd_call *call, struct evd_session_reads *read, struct evd_session_bases bases,
                      void (*want_first)(struct evd_call *), void (*want_then)(struct evd_call *));

/** The refusals all of them share, in the design's order: from NotFound to StaleBase of the session and the draft. */
struct evd_outcome evd_session_refuse(struct evd_call *call, struct evd_session_reads *read,
                                      struct evd_session_bases bases);

/** The definition the version will be pinned to, if it was read, must be one this service can judge by. */
struct evd_outcome evd_session_refuse_unrenderable(const struct evd_session_reads *read);

/** StaleBase with both values of each answer whose effect is EVD_ANSWER_STALE (its head's `current` was read). */
struct evd_outcome evd_session_refuse_stale_answers(struct evd_call *call, const struct evd_changed_answer *answers,
                                                    size_t count);

/** Those that come behind each command's own bases: DraftLeaseHeld, then whether the study has room for a member. */
struct evd_outcome evd_session_refuse_held(struct evd_call *call, const struct evd_session_reads *read,
                                           struct evd_session_bases bases);

/** Admission, the last refusal: only of a first version, or one after Withdraw. */
struct evd_outcome evd_session_admit(struct evd_call *call, const struct evd_session_reads *read);

/** What a refusal keeps: of DraftLeaseHeld what the request itself brought. For a command's keep. */
void evd_session_keep(struct evd_call *call, const struct evd_session_reads *read);

/** An answer of a revision, to be checked; it has no place in the body. Borrows. */
static inline struct evd_answer evd_session_answer_of(const struct evd_annotation_revision *revision) {
    return (struct evd_answer){.question = revision->question,
                               .path = revision->path.items,
                               .path_count = revision->path.count,
                               .value = &revision->value,
                               .notes = revision->notes};
}

/* What derivation leaves to be written. */
struct evd_session_outcome {
    enum evd_version_kind kind;
    evd_uuid stage;
    int64_t form_version;
    struct evd_pins pins;
    const struct evd_exposed *exposed;
};

/** Write version, pin map, session head, draft, study; answer with the receipt. */
void evd_session_write(struct evd_call *call, const struct evd_session_reads *read,
                       const struct evd_session_outcome *outcome, const struct evd_changed_answer *changed,
                       size_t changed_count);

/* The members all their constants share. */
#define EVD_SESSION_COMMAND(command_name, verb, request_type)                                                          \
    .name = (command_name), .method = EVD_COMMAND_POST,                                                                \
    .path = "/v1/projects/{project}/studies/{study}/forms/{form}/session/" verb, .needs = EVD_CAN_EXTRACT,             \
    .commit = EVD_COMMIT_TXN, .scope = EVD_WRITES_STUDY, .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,             \
    .request = &evd_type_##request_type, .answer = &evd_type_session_receipt, .lanes = evd_lane_of_study

#define EVD_SESSION_OUTCOMES                                                                                           \
    (EVD_OUTCOME_BIT(EVD_STALE_BASE) | EVD_OUTCOME_BIT(EVD_FENCED) | EVD_OUTCOME_BIT(EVD_STAGE_COMPLETED) |            \
     EVD_OUTCOME_BIT(EVD_SIZE_LIMIT_EXCEEDED) | EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED) |                               \
     EVD_OUTCOME_BIT(EVD_FORM_VERSION_NOT_RENDERABLE) | EVD_OUTCOME_BIT(EVD_ENOUGH_REVIEWERS) |                        \
     EVD_OUTCOME_BIT(EVD_AT_CAPACITY) | EVD_OUTCOME_BIT(EVD_DRAFT_LEASE_HELD))

#endif
