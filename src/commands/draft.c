#include "commands/draft.h"

#include "evidenced/base/buffer.h"
#include "evidenced/base/canary.h"
#include "evidenced/base/clock.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/json.h"
#include "evidenced/records/keys.h"

evd_uuid evd_own_session(const struct evd_call *call) {
    return evd_form_session_id(call->ids.project, call->ids.study, call->ids.form, call->caller);
}

/* Copies. */

static struct evd_text digest_text(const struct evd_sha256 *digest) {
    return (struct evd_text){(const char *)digest->bytes, sizeof digest->bytes};
}

void evd_draft_keeping_want(struct evd_call *call, struct evd_draft_keeping *keeping) {
    keeping->digest = evd_draft_digest(keeping->content, evd_call_arena(call));
    keeping->id = evd_draft_copy_id(keeping->session, digest_text(&keeping->digest));
    EVD_WANT(call, DRAFT_COPY, keeping->id, &keeping->stored);
}

void evd_draft_keeping_write(struct evd_call *call, const struct evd_draft_keeping *keeping) {
    const struct evd_draft_copy *stored = keeping->stored;
    if (keeping->content == NULL) return;
    if (stored != NULL && stored->state.value == EVD_COPY_KEPT) {
        /* Written all the same where the text is nowhere else afterwards: nobody may discard it meanwhile. */
        if (call->outcome.code == EVD_OK) EVD_REPLACE_RECORD(call, draft_copy, EVD_CHANGE(call, draft_copy, stored));
        return;
    }
    struct evd_draft_copy copy = {.base.id = keeping->id,
                                  .session = keeping->session,
                                  .state = evd_name_of(EVD_COPY_KEPT),
                                  .reason = evd_name_of(keeping->reason),
                                  .base_version = keeping->base_version,
                                  .form_version = keeping->form_version,
                                  .holder = keeping->holder,
                                  .write_seq = keeping->write_seq,
                                  .digest = digest_text(&keeping->digest),
                                  .content =
                                      evd_arena_copy(evd_call_arena(call), keeping->content, sizeof *keeping->content),
                                  .kept_at = call->now_ms};
    if (stored == NULL)
        EVD_INSERT_RECORD(call, draft_copy, &copy);
    else
        EVD_REPLACE_RECORD(call, draft_copy, &copy);
}

static void add_uuid(struct evd_buffer *out, const char *name, evd_uuid id) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(id, text);
    evd_buffer_print(out, "\"%s\":", name);
    evd_buffer_print(out, evd_uuid_is_nil(id) ? "null" : "\"%s\"", text);
}

struct evd_text evd_draft_keeping_member(struct evd_call *call, const struct evd_draft_keeping *keeping) {
    struct evd_buffer *out = EVD_NEW(evd_call_arena(call), struct evd_buffer);
    evd_buffer_init(out, evd_call_arena(call), 64);
    add_uuid(out, "copyId", keeping == NULL || keeping->content == NULL ? evd_uuid_nil() : keeping->id);
    return evd_buffer_text(out);
}

size_t evd_draft_copies_count(struct evd_call *call, evd_uuid session) {
    struct evd_value equal[] = {
        {.kind = EVD_VALUE_UUID, .uuid = session},
        {.kind = EVD_VALUE_TEXT, .text = evd_name_text(&evd_names_copy_state, evd_name_of(EVD_COPY_KEPT))}};
    struct evd_scan scan = {
        .index = EVD_INDEX_draft_copies, .equal = equal, .equal_count = 2, .limit = EVD_LIMIT_DRAFT_COPIES + 1};
    const struct evd_draft_copy *const *copies;
    size_t count;
    evd_reader_scan(call, &scan, &copies, &count);
    return count;
}

/* Refusals. */

struct evd_text evd_draft_members(struct evd_call *call, const struct evd_session_draft *draft) {
    struct evd_buffer *out = EVD_NEW(evd_call_arena(call), struct evd_buffer);
    char until[EVD_TIME_TEXT_BYTES + 1];
    evd_time_format(draft->lease_expires_at, until);
    evd_buffer_init(out, evd_call_arena(call), 256);
    evd_buffer_print(out, "\"etag\":%lld,\"writeSeq\":%lld,\"leaseGeneration\":%lld,", (long long)draft->etag,
                     (long long)draft->write_seq, (long long)draft->lease_generation);
    add_uuid(out, "holder", draft->holder);
    evd_buffer_print(out, draft->lease_expires_at == 0 ? ",\"leaseExpiresAt\":null" : ",\"leaseExpiresAt\":\"%s\"",
                     until);
    return evd_buffer_text(out);
}

struct evd_outcome evd_draft_stale(struct evd_call *call, const struct evd_session_draft *draft) {
    struct evd_outcome stale = {.code = EVD_STALE_BASE, .members = EVD_TEXT("\"base\":\"draft\"")};
    if (draft == NULL) return stale;
    struct evd_text members = evd_draft_members(call, draft);
    stale.members = evd_text_print(evd_call_arena(call), "\"base\":\"draft\"," EVD_TEXT_FMT, EVD_TEXT_ARG(members));
    return stale;
}

struct evd_outcome evd_draft_held(struct evd_call *call, const struct evd_session_draft *draft,
                                  const struct evd_draft_keeping *keeping) {
    struct evd_text copy = evd_draft_keeping_member(call, keeping), members = evd_draft_members(call, draft);
    return (struct evd_outcome){.code = EVD_DRAFT_LEASE_HELD,
                                .members = evd_text_print(evd_call_arena(call), EVD_TEXT_FMT "," EVD_TEXT_FMT,
                                                          EVD_TEXT_ARG(copy), EVD_TEXT_ARG(members))};
}

/* JSON takes at most six bytes for one of a document's. */
enum { JSON_PER_BSON = 6, VALUES_AN_ANSWER = 5, VALUES_A_STEP = 3, VALUES_A_POINT = 4, VALUES_OF_A_SAVE = 100 };

static size_t values_of_value(const struct evd_answer_value *value) {
    if (value->kind == EVD_ANSWER_POINTS) return 1 + VALUES_A_POINT * value->points.count;
    return value->kind == EVD_ANSWER_TEXTS ? 1 + value->texts.count : 1;
}

static size_t json_values(const struct evd_draft_content *content) {
    size_t values = VALUES_OF_A_SAVE;
    for (size_t i = 0; i < content->answers.count; i++) {
        const struct evd_answer_change *answer = &content->answers.items[i];
        values += VALUES_AN_ANSWER + VALUES_A_STEP * answer->path.count + values_of_value(&answer->value);
    }
    for (size_t i = 0; i < content->withdrawn.count; i++)
        values += VALUES_AN_ANSWER + VALUES_A_STEP * content->withdrawn.items[i].path.count;
    return values;
}

static bool fits_bytes(struct evd_call *call, const struct evd_draft_content *content) {
    struct evd_image image = evd_bson_encode(&evd_type_draft_content, content, evd_call_arena(call));
    if (image.size_bytes * JSON_PER_BSON <= EVD_LIMIT_DRAFT_CONTENT_BYTES) return true;
    struct evd_buffer out;
    evd_buffer_init(&out, evd_call_arena(call), image.size_bytes);
    evd_json_write(&evd_type_draft_content, content, &out);
    return evd_buffer_text(&out).size_bytes <= EVD_LIMIT_DRAFT_CONTENT_BYTES;
}

struct evd_outcome evd_draft_refuse_size(struct evd_call *call, const struct evd_draft_content *content) {
    bool fits = content->answers.count <= EVD_LIMIT_PINS && content->withdrawn.count <= EVD_LIMIT_PINS &&
                json_values(content) <= EVD_LIMIT_JSON_VALUES && fits_bytes(call, content);
    if (fits) return evd_ok();
    return (struct evd_outcome){
        .code = EVD_SIZE_LIMIT_EXCEEDED,
        .detail = EVD_TEXT("This is more than one Save can carry. Nothing was stored: save what there is, then go on."),
        .members = EVD_TEXT("\"limit\":\"draftContent\"")};
}

/* Changes. */

void evd_draft_hold(struct evd_session_draft *draft, evd_uuid holder, int64_t now_ms) {
    if (!evd_uuid_equal(draft->holder, holder)) {
        draft->holder = holder;
        if (!EVD_CANARY(GENERATION_NOT_RAISED)) draft->lease_generation++;
        draft->write_seq = 0;
        draft->write_digest = (struct evd_text){0};
    }
    draft->lease_expires_at = now_ms + EVD_LIMIT_DRAFT_LEASE_MS;
}

void evd_draft_note(struct evd_call *call, enum evd_draft_event_kind kind, const struct evd_form_session *session,
                    const struct evd_session_draft *draft, const struct evd_draft_content *content) {
    struct evd_draft_event event = {.base.id = evd_made_id("draftEvent", call->ids.project, call->command_id, 0),
                                    .kind = evd_name_of(kind),
                                    .session = session->base.id,
                                    .study = session->study,
                                    .form = session->form,
                                    .author = session->author,
                                    .actor = call->caller,
                                    .command_id = call->command_id,
                                    .holder = draft->holder,
                                    .answer_count = (int64_t)evd_draft_places(content),
                                    .done_at = call->now_ms};
    struct evd_sha256 digest;
    if (content != NULL) {
        digest = evd_draft_digest(content, evd_call_arena(call));
        event.digest = digest_text(&digest);
    }
    EVD_INSERT_RECORD(call, draft_event, &event);
}

void evd_draft_receipt(struct evd_call *call, const struct evd_session_draft *draft, evd_uuid copy) {
    struct evd_draft_receipt receipt = {.command_id = call->command_id,
                                        .session = draft->session,
                                        .stamp = call->stamp,
                                        .etag = draft->etag,
                                        .base_version = draft->base_version,
                                        .holder = draft->holder,
                                        .write_seq = draft->write_seq,
                                        .lease_generation = draft->lease_generation,
                                        .lease_expires_at = draft->lease_expires_at,
                                        .copy = copy};
    evd_call_receipt(call, &evd_type_draft_receipt, &receipt);
}

void evd_autosave_receipt(struct evd_call *call, const struct evd_session_draft *draft) {
    struct evd_autosave_receipt receipt = {.session = draft->session,
                                           .stamp = draft->base.stamp,
                                           .etag = draft->etag,
                                           .base_version = draft->base_version,
                                           .holder = draft->holder,
                                           .write_seq = draft->write_seq,
                                           .lease_generation = draft->lease_generation,
                                           .lease_expires_at = draft->lease_expires_at};
    call->etag = draft->etag;
    evd_call_receipt(call, &evd_type_autosave_receipt, &receipt);
}
