/*
 * Drafts: what is being typed, which tab may write it, and what becomes of a write that comes too late.
 *
 * Pure. Source: consistency model §4.4, domain page §2, "Drafts". A draft's content is what changed against the
 * session's current version, one entry a place. Nothing in it is judged: half a number is worth keeping.
 */
#ifndef EVIDENCED_DOMAIN_DRAFT_H
#define EVIDENCED_DOMAIN_DRAFT_H

#include "evidenced/base/sha256.h"
#include "evidenced/domain/outcome.h"
#include "evidenced/records/dictionary.h"

struct evd_arena;

/* What one autosave declares. */
struct evd_autosave {
    evd_uuid holder, base_version;
    int64_t write_seq;
    bool whole;               /* PUT: the content as it is now. Else PATCH: what changed since the write before */
    bool only_if_none;        /* If-None-Match: * */
    int64_t etag;             /* If-Match; 0: none, or none that any draft has */
    struct evd_sha256 digest; /* of all that is written */
};

enum evd_autosave_verdict {
    EVD_AUTOSAVE_APPLIES,
    EVD_AUTOSAVE_REPEATED,        /* this very write is stored: success, and nothing to write */
    EVD_AUTOSAVE_HELD,            /* another tab holds the draft */
    EVD_AUTOSAVE_STALE,           /* the session has a version that this was not typed on */
    EVD_AUTOSAVE_SEQUENCE_REUSED, /* the sequence was used for something else: two writers with one holder id */
    EVD_AUTOSAVE_OUT_OF_SEQUENCE, /* older than what this tab wrote since, or a PATCH whose predecessor is not here */
    EVD_AUTOSAVE_PRECONDITION     /* the content has changed since */
};

/** In this order: holder, base, sequence, etag; other orders lose text. stored: never NULL. */
enum evd_autosave_verdict evd_autosave_judge(const struct evd_session_draft *stored,
                                             const struct evd_autosave *autosave, int64_t now_ms);

/** Is the draft held at this instant by a tab that is not `holder`? NULL: no draft, so no. */
bool evd_draft_is_held(const struct evd_session_draft *draft, evd_uuid holder, int64_t now_ms);

/** Places in it, answers and withdrawals. NULL: 0. */
size_t evd_draft_places(const struct evd_draft_content *content);

/** Does a place occur twice? A draft says one thing of a place. The errors have pointers below `pointer`. */
void evd_draft_check_places(const struct evd_draft_content *content, struct evd_text pointer,
                            struct evd_errors *errors);

/**
 * The content with the changes laid over: what they answer or withdraw replaces what was there of that place; places
 * in `reverted` are taken out of it, so that the base's answer stands again. Order: what stays in its order, then what
 * is new. NULL content: an empty one. In the arena, sharing what both arguments point to.
 */
const struct evd_draft_content *evd_draft_overlay(const struct evd_draft_content *content,
                                                  const struct evd_draft_content *changes,
                                                  const struct evd_answer_place *reverted, size_t reverted_count,
                                                  struct evd_arena *arena);

/** Does the content say something of a place of which `by` says nothing? NULL: an empty one. */
bool evd_draft_goes_beyond(const struct evd_draft_content *content, const struct evd_draft_content *by,
                           struct evd_arena *arena);

/** Does `over` say something else than the content of a place that is in both? */
bool evd_draft_overwrites(const struct evd_draft_content *over, const struct evd_draft_content *content,
                          struct evd_arena *arena);

/** SHA-256 over it: equal exactly when the same is said in the same order. */
struct evd_sha256 evd_draft_digest(const struct evd_draft_content *content, struct evd_arena *arena);

#endif
