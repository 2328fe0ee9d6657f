/*
 * What Save, Complete and Withdraw share: the same reads, the same refusals in the same order, the same writes.
 */
#ifndef EVIDENCED_SRC_COMMANDS_SESSION_H
#define EVIDENCED_SRC_COMMANDS_SESSION_H

#include "commands/draft.h"
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

/** Those that come behind each command's own bases: DraftLeaseHeld, then whether the study has room for a member. */
struct evd_outcome evd_session_refuse_held(struct evd_call *call, const struct evd_session_reads *read,
                                           struct evd_session_bases bases);

/** What a refusal keeps: of DraftLeaseHeld what the request itself brought. For a command's keep. */
void evd_session_keep(struct evd_call *call, const struct evd_session_reads *read);

/* What derivation leaves to be written. */
struct evd_session_outcome {
    enum evd_version_kind kind;
    enum evd_session_state state;
    evd_uuid stage;
    int64_t form_version;
    struct evd_pins pins;
    const evd_uuid *exposures; /* revisions of others the reviewer was shown; NULL: the client did not say */
    size_t exposure_count;
};

/** Write version, pin map, session head, draft, study; answer with the receipt. */
void evd_session_write(struct evd_call *call, const struct evd_session_reads *read,
                       const struct evd_session_outcome *outcome, const struct evd_changed_answer *changed,
                       size_t changed_count);

#endif
