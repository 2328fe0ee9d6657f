/*
 * What the commands on drafts share, and Save with them: one's own draft, copies that are kept, the refusals.
 */
#ifndef EVIDENCED_SRC_COMMANDS_DRAFT_H
#define EVIDENCED_SRC_COMMANDS_DRAFT_H

#include "commands/support.h"
#include "evidenced/base/sha256.h"
#include "evidenced/domain/draft.h"

#define EVD_DRAFT_PATH "/v1/projects/{project}/studies/{study}/forms/{form}/session/draft"

/* A ledgered command on a draft. */
#define EVD_DRAFT_COMMAND(command_name, command_method, command_path)                                                  \
    .name = (command_name), .method = (command_method), .path = (command_path), .needs = EVD_CAN_EXTRACT,              \
    .commit = EVD_COMMIT_TXN, .scope = EVD_WRITES_DRAFTS, .answer = &evd_type_draft_receipt

/** The id of the caller's own session on the path's study and form; its draft has the same. */
evd_uuid evd_own_session(const struct evd_call *call);

/* Something typed that is to be kept as a copy: named in read, so that what is there already is known. */
struct evd_draft_keeping {
    const struct evd_draft_content *content; /* NULL: there is nothing to keep */
    enum evd_copy_reason reason;
    evd_uuid session, id, holder, base_version;
    int64_t form_version, write_seq;
    struct evd_sha256 digest;
    const struct evd_draft_copy *stored; /* after the fetch: the same content, kept or settled before */
};

/** Name the copy's record. The other members must be set. */
void evd_draft_keeping_want(struct evd_call *call, struct evd_draft_keeping *keeping);

/** Write it; one that is kept already is written as it is where the command takes the text out of the draft, so that
 * nobody discards it at the same time, and not at all in a refusal. */
void evd_draft_keeping_write(struct evd_call *call, const struct evd_draft_keeping *keeping);

/** "copyId" of what is kept, for a refusal's members; null when nothing is. */
struct evd_text evd_draft_keeping_member(struct evd_call *call, const struct evd_draft_keeping *keeping);

/** How many copies of the session are kept; counted up to one beyond the limit. */
size_t evd_draft_copies_count(struct evd_call *call, evd_uuid session);

/** "etag", "writeSeq", "holder", "leaseGeneration", "leaseExpiresAt" of the draft as it is stored. */
struct evd_text evd_draft_members(struct evd_call *call, const struct evd_session_draft *draft);

/** StaleBase of the draft: it is not the one the request names. */
struct evd_outcome evd_draft_stale(struct evd_call *call, const struct evd_session_draft *draft);

/** DraftLeaseHeld. keeping: NULL when nothing was sent that could be kept. */
struct evd_outcome evd_draft_held(struct evd_call *call, const struct evd_session_draft *draft,
                                  const struct evd_draft_keeping *keeping);

/** SizeLimitExceeded when the content could not be saved as one request any more. */
struct evd_outcome evd_draft_refuse_size(struct evd_call *call, const struct evd_draft_content *content);

/** Let `holder` hold the draft from now on: a new holder counts its writes anew. */
void evd_draft_hold(struct evd_session_draft *draft, evd_uuid holder, int64_t now_ms);

/** Note what was done to the draft of this session. */
void evd_draft_note(struct evd_call *call, enum evd_draft_event_kind kind, const struct evd_form_session *session,
                    const struct evd_session_draft *draft, const struct evd_draft_content *content);

/** The receipt of an autosave or a heartbeat, and its ETag. */
void evd_autosave_receipt(struct evd_call *call, const struct evd_session_draft *draft);

/** The receipt of a ledgered command on a draft. copy: nil, none. */
void evd_draft_receipt(struct evd_call *call, const struct evd_session_draft *draft, evd_uuid copy);

#endif
