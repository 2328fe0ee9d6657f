/*
 * Autosave: what is being typed, whole (PUT) or what changed since the write before (PATCH). Never a Study.
 *
 * The first one makes the session's head, without a version, and the draft; later ones replace the draft. What comes
 * too late is refused and kept beside the draft as a copy.
 */
#include "commands/draft.h"
#include "evidenced/base/canary.h"
#include "evidenced/commands/table.h"
#include "evidenced/domain/study.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/keys.h"

#include <assert.h>

struct autosave {
    struct evd_autosave declared;
    evd_uuid session_id, stage; /* stage nil: a PATCH, which can begin nothing */
    int64_t form_version;       /* 0: the draft's own */
    const struct evd_draft_content *given;
    const struct evd_session_draft *draft;
    enum evd_autosave_verdict verdict;
    struct evd_draft_keeping keeping;
    size_t copies;                           /* kept before */
    const struct evd_draft_content *content; /* as it will be */

    /* Of the first one. */
    const struct evd_study *study;
    const struct evd_form *form;
    const struct evd_form_session *session;
    const struct evd_stage *route;
    size_t heads;
};

enum { HEADS_IN_RESERVE = 64 }; /* what reviewers who begin at the same instant may take, since reads do not conflict */

static bool is_put(const struct evd_call *call) {
    return call->command == &evd_command_put_draft;
}

/* "7" in quotes, as it was told, is the draft of etag 7; anything else is none. */
static int64_t etag_of(struct evd_text header) {
    int64_t etag = 0;
    bool quoted = header.size_bytes > 2 && header.bytes[0] == '"' && header.bytes[header.size_bytes - 1] == '"';
    if (!quoted || header.bytes[1] == '0' ||
        !evd_text_to_i64((struct evd_text){header.bytes + 1, header.size_bytes - 2}, &etag))
        return 0;
    return etag;
}

static struct evd_sha256 write_digest(struct evd_call *call) {
    const struct evd_patch_draft_request *patch = call->request;
    const struct evd_put_draft_request *put = call->request;
    struct evd_patch_draft_request written = {0};
    if (is_put(call)) {
        written.content = put->content;
    } else {
        written.content = patch->content;
        written.reverted = patch->reverted;
    }
    struct evd_image image = evd_bson_encode(&evd_type_patch_draft_request, &written, evd_call_arena(call));
    struct evd_text parts[] = {evd_text_from(call->command->name), {(const char *)image.bson, image.size_bytes}};
    return evd_sha256_of_parts(parts, 2);
}

static void take_request(struct evd_call *call, struct autosave *state) {
    const struct evd_put_draft_request *put = call->request;
    const struct evd_patch_draft_request *patch = call->request;
    struct evd_autosave *declared = &state->declared;
    declared->whole = is_put(call);
    declared->holder = declared->whole ? put->holder : patch->holder;
    declared->base_version = declared->whole ? put->base_version : patch->base_version;
    declared->write_seq = declared->whole ? put->write_seq : patch->write_seq;
    declared->only_if_none = evd_text_equal(call->conditions.if_none_match, EVD_TEXT("*"));
    declared->etag = etag_of(call->conditions.if_match);
    declared->digest = write_digest(call);
    state->given = declared->whole ? put->content : patch->content;
    if (!declared->whole) return;
    state->stage = put->stage;
    state->form_version = put->form_version;
}

static struct evd_outcome autosave_parse(struct evd_call *call) {
    const struct evd_conditions *conditions = &call->conditions;
    if (conditions->if_match.bytes == NULL && conditions->if_none_match.bytes == NULL)
        return evd_outcome_of(EVD_PRECONDITION_REQUIRED);
    return evd_ok();
}

/* Read. */

static bool keeps_copy(enum evd_autosave_verdict verdict, enum evd_copy_reason *ret_reason) {
    switch (verdict) {
    case EVD_AUTOSAVE_HELD: *ret_reason = EVD_COPY_LEASE_HELD; return true;
    case EVD_AUTOSAVE_STALE: *ret_reason = EVD_COPY_STALE_AUTOSAVE; return true;
    case EVD_AUTOSAVE_SEQUENCE_REUSED: *ret_reason = EVD_COPY_SEQUENCE; return true;
    case EVD_AUTOSAVE_PRECONDITION: *ret_reason = EVD_COPY_PRECONDITION; return true;
    case EVD_AUTOSAVE_APPLIES:
    case EVD_AUTOSAVE_REPEATED:
    case EVD_AUTOSAVE_OUT_OF_SEQUENCE: return false;
    }
    return false;
}

static void read_copy(struct evd_call *call, struct autosave *state, enum evd_copy_reason reason) {
    state->keeping = (struct evd_draft_keeping){.content = state->given,
                                                .reason = reason,
                                                .session = state->session_id,
                                                .holder = state->declared.holder,
                                                .base_version = state->declared.base_version,
                                                .form_version = state->form_version == 0 ? state->draft->form_version
                                                                                         : state->form_version,
                                                .write_seq = state->declared.write_seq};
    evd_draft_keeping_want(call, &state->keeping);
    EVD_WANT(call, FORM_SESSION, state->session_id, &state->session);
    evd_reader_fetch(call);
    state->copies = evd_draft_copies_count(call, state->session_id);
}

static void read_first(struct evd_call *call, struct autosave *state) {
    struct evd_value equal[] = {{.kind = EVD_VALUE_UUID, .uuid = call->ids.study},
                                {.kind = EVD_VALUE_UUID, .uuid = call->ids.form}};
    struct evd_scan scan = {
        .index = EVD_INDEX_sessions_of_study, .equal = equal, .equal_count = 2, .limit = EVD_LIMIT_SESSION_HEADS};
    const struct evd_form_session *const *heads;
    EVD_WANT(call, STUDY, call->ids.study, &state->study);
    EVD_WANT(call, FORM, call->ids.form, &state->form);
    EVD_WANT(call, STAGE, state->stage, &state->route);
    EVD_WANT(call, FORM_SESSION, state->session_id, &state->session);
    evd_reader_fetch(call);
    evd_reader_scan(call, &scan, &heads, &state->heads);
}

static void autosave_read(struct evd_call *call) {
    struct autosave *state = EVD_CALL_STATE(call, autosave);
    enum evd_copy_reason reason;
    take_request(call, state);
    state->session_id = evd_own_session(call);
    EVD_WANT(call, SESSION_DRAFT, state->session_id, &state->draft);
    evd_reader_fetch(call);
    if (state->draft == NULL) {
        read_first(call, state);
        return;
    }
    state->verdict = evd_autosave_judge(state->draft, &state->declared, call->now_ms);
    if (keeps_copy(state->verdict, &reason)) read_copy(call, state, reason);
}

/* Refuse. */

static struct evd_outcome out_of_sequence(struct evd_call *call, const struct autosave *state) {
    struct evd_text members = evd_draft_members(call, state->draft),
                    copy = evd_draft_keeping_member(call, &state->keeping);
    return (struct evd_outcome){.code = EVD_STALE_BASE,
                                .members = evd_text_print(evd_call_arena(call),
                                                          "\"base\":\"draftSequence\"," EVD_TEXT_FMT "," EVD_TEXT_FMT,
                                                          EVD_TEXT_ARG(copy), EVD_TEXT_ARG(members))};
}

/* What could not be written says where it is kept, and what the draft is now. */
static struct evd_outcome with_copy(struct evd_call *call, const struct autosave *state, enum evd_outcome_code code) {
    struct evd_text members = evd_draft_members(call, state->draft),
                    copy = evd_draft_keeping_member(call, &state->keeping);
    char current[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(state->draft->base_version, current);
    const char *quote = evd_uuid_is_nil(state->draft->base_version) ? "" : "\"";
    return (struct evd_outcome){
        .code = code,
        .members =
            evd_text_print(evd_call_arena(call), EVD_TEXT_FMT ",\"current\":%s%s%s," EVD_TEXT_FMT, EVD_TEXT_ARG(copy),
                           quote, quote[0] == '\0' ? "null" : current, quote, EVD_TEXT_ARG(members))};
}

/* At the limit nothing more is kept for the tab: it must keep its text itself, and be told so. */
static bool has_room(const struct autosave *state) {
    bool kept = state->keeping.stored != NULL && state->keeping.stored->state.value == EVD_COPY_KEPT;
    return kept || state->copies < EVD_LIMIT_DRAFT_COPIES;
}

static struct evd_outcome too_many_copies(struct evd_call *call, const struct autosave *state) {
    struct evd_text members = evd_draft_members(call, state->draft);
    return (struct evd_outcome){
        .code = EVD_SIZE_LIMIT_EXCEEDED,
        .detail = EVD_TEXT("Too many copies of this draft are waiting to be looked at, so this one was not kept. Keep "
                           "it open, and adopt or discard some of the others."),
        .members =
            evd_text_print(evd_call_arena(call), "\"limit\":\"draftCopies\"," EVD_TEXT_FMT, EVD_TEXT_ARG(members))};
}

static struct evd_outcome refuse_verdict(struct evd_call *call, const struct autosave *state) {
    if (state->keeping.content != NULL && !has_room(state)) return too_many_copies(call, state);
    switch (state->verdict) {
    case EVD_AUTOSAVE_APPLIES:
    case EVD_AUTOSAVE_REPEATED: return evd_ok();
    case EVD_AUTOSAVE_HELD: return evd_draft_held(call, state->draft, &state->keeping);
    case EVD_AUTOSAVE_STALE: return with_copy(call, state, EVD_STALE_AUTOSAVE);
    case EVD_AUTOSAVE_SEQUENCE_REUSED:
    case EVD_AUTOSAVE_OUT_OF_SEQUENCE: return out_of_sequence(call, state);
    case EVD_AUTOSAVE_PRECONDITION: return with_copy(call, state, EVD_PRECONDITION_FAILED);
    }
    return evd_ok();
}

static bool is_bound(const struct evd_form *form, evd_uuid stage) {
    for (size_t i = 0; i < form->bound_stages.count; i++)
        if (evd_uuid_equal(form->bound_stages.items[i], stage)) return true;
    return false;
}

static struct evd_outcome refuse_first(struct evd_call *call, const struct autosave *state) {
    bool there = evd_study_is_there(state->study) && state->form != NULL && state->route != NULL;
    if (!there || !is_bound(state->form, state->stage)) return evd_outcome_of(EVD_NOT_FOUND);
    if (!evd_uuid_is_nil(state->declared.base_version))
        return (struct evd_outcome){.code = EVD_STALE_BASE,
                                    .members = EVD_TEXT("\"base\":\"session\",\"current\":null")};
    bool none_only = state->declared.only_if_none && call->conditions.if_match.bytes == NULL; /* it names what is not */
    if (!none_only) return evd_outcome_of(EVD_PRECONDITION_FAILED);
    if (state->form_version > state->form->published_seq)
        return evd_invalid(call, "/formVersion", EVD_ERROR_UNKNOWN_FORM_VERSION);
    if (state->heads >= EVD_LIMIT_SESSION_HEADS - HEADS_IN_RESERVE)
        return (struct evd_outcome){.code = EVD_SIZE_LIMIT_EXCEEDED, .members = EVD_TEXT("\"limit\":\"sessions\"")};
    return evd_ok();
}

static const struct evd_draft_content *content_after(struct evd_call *call, const struct autosave *state) {
    const struct evd_patch_draft_request *patch = call->request;
    if (state->declared.whole || EVD_CANARY(PATCH_REPLACES)) return state->given;
    assert(state->draft != NULL); /* a PATCH names no stage, so it is never the first */
    return evd_draft_overlay(state->draft->content, state->given, patch->reverted.items, patch->reverted.count,
                             evd_call_arena(call));
}

static struct evd_outcome refuse_content(struct evd_call *call, struct autosave *state) {
    struct evd_errors *errors = EVD_NEW(evd_call_arena(call), struct evd_errors);
    evd_errors_init(errors, evd_call_arena(call));
    evd_draft_check_places(state->given, EVD_TEXT("/content"), errors);
    struct evd_outcome outcome = evd_errors_outcome(errors);
    if (outcome.code != EVD_OK) return outcome;
    state->content = content_after(call, state);
    return evd_draft_refuse_size(call, state->content);
}

static struct evd_outcome autosave_refuse(struct evd_call *call) {
    struct autosave *state = call->state;
    struct evd_outcome outcome = state->draft == NULL ? refuse_first(call, state) : refuse_verdict(call, state);
    if (outcome.code != EVD_OK || state->verdict == EVD_AUTOSAVE_REPEATED) return outcome;
    return refuse_content(call, state);
}

/* Only what was judged to be too late: whoever may not write a draft may not leave a copy of one either. */
static void autosave_keep(struct evd_call *call) {
    const struct autosave *state = call->state;
    if (EVD_CANARY(REFUSED_AUTOSAVE_NOT_KEPT)) return;
    uint64_t kept = EVD_OUTCOME_BIT(EVD_DRAFT_LEASE_HELD) | EVD_OUTCOME_BIT(EVD_STALE_AUTOSAVE) |
                    EVD_OUTCOME_BIT(EVD_STALE_BASE) | EVD_OUTCOME_BIT(EVD_PRECONDITION_FAILED);
    if ((kept & EVD_OUTCOME_BIT(call->outcome.code)) != 0) evd_draft_keeping_write(call, &state->keeping);
}

/* Derive. */

static void insert_session(struct evd_call *call, const struct autosave *state) {
    struct evd_form_session session = {.base.id = state->session_id,
                                       .study = call->ids.study,
                                       .form = call->ids.form,
                                       .author = call->caller,
                                       .route_stage = state->stage,
                                       .state = evd_name_of(EVD_SESSION_DRAFT)};
    EVD_INSERT_RECORD(call, form_session, &session);
}

static struct evd_session_draft *draft_after(struct evd_call *call, struct autosave *state) {
    struct evd_session_draft *draft = state->draft != NULL ? EVD_CHANGE(call, session_draft, state->draft)
                                                           : EVD_NEW(evd_call_arena(call), struct evd_session_draft);
    draft->base.id = draft->session = state->session_id;
    evd_draft_hold(draft, state->declared.holder, call->now_ms);
    draft->etag++;
    draft->write_seq = state->declared.write_seq;
    draft->write_digest = (struct evd_text){(const char *)state->declared.digest.bytes, sizeof state->declared.digest};
    draft->content = evd_arena_copy(evd_call_arena(call), state->content, sizeof *state->content);
    if (state->form_version > 0) draft->form_version = state->form_version;
    draft->last_activity = call->now_ms;
    return draft;
}

static void autosave_derive(struct evd_call *call) {
    struct autosave *state = call->state;
    if (state->verdict == EVD_AUTOSAVE_REPEATED) {
        evd_autosave_receipt(call, state->draft);
        return;
    }
    struct evd_session_draft *draft = draft_after(call, state);
    if (state->draft == NULL) {
        insert_session(call, state);
        EVD_INSERT_RECORD(call, session_draft, draft);
    } else {
        EVD_REPLACE_RECORD(call, session_draft, draft);
    }
    evd_autosave_receipt(call, draft);
}

#define AUTOSAVE(command_name, verb, request_type)                                                                     \
    {                                                                                                                  \
        .name = (command_name), .method = (verb), .path = EVD_DRAFT_PATH, .needs = EVD_CAN_EXTRACT,                    \
        .commit = EVD_COMMIT_SWAP, .scope = EVD_WRITES_DRAFTS, .conditional = true,                                    \
        .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES, .request = (request_type),                                   \
        .answer = &evd_type_autosave_receipt,                                                                          \
        .outcomes = EVD_OUTCOME_BIT(EVD_DRAFT_LEASE_HELD) | EVD_OUTCOME_BIT(EVD_STALE_AUTOSAVE) |                      \
                    EVD_OUTCOME_BIT(EVD_STALE_BASE) | EVD_OUTCOME_BIT(EVD_SIZE_LIMIT_EXCEEDED) |                       \
                    EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),                                                            \
        .parse = autosave_parse, .read = autosave_read, .refuse = autosave_refuse, .derive = autosave_derive,          \
        .keep = autosave_keep,                                                                                         \
    }

const struct evd_command evd_command_put_draft = AUTOSAVE("PutDraft", EVD_COMMAND_PUT, &evd_type_put_draft_request);
const struct evd_command evd_command_patch_draft =
    AUTOSAVE("PatchDraft", EVD_COMMAND_PATCH, &evd_type_patch_draft_request);
