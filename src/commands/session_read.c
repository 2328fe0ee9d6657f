#include "commands/session.h"
#include "evidenced/base/canary.h"
#include "evidenced/domain/capacity.h"
#include "evidenced/domain/study.h"
#include "evidenced/domain/summary.h"
#include "evidenced/records/keys.h"

static const struct evd_uuid *bound_stages(const struct evd_form *form, size_t *ret_count) {
    *ret_count = form == NULL ? 0 : form->bound_stages.count;
    return form == NULL ? NULL : form->bound_stages.items;
}

/* Every bound stage's head: what closes one of them closes the form. */
static void want_stages(struct evd_call *call, struct evd_session_reads *read, evd_uuid route) {
    const evd_uuid *stages = bound_stages(read->form, &read->stage_count);
    read->stages = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_stage *, read->stage_count);
    for (size_t i = 0; i < read->stage_count; i++) {
        read->route_is_bound |= evd_uuid_equal(stages[i], route);
        EVD_WANT(call, STAGE, stages[i], &read->stages[i]);
    }
}

static void scan_sessions(struct evd_call *call, struct evd_session_reads *read) {
    struct evd_value equal[] = {{.kind = EVD_VALUE_UUID, .uuid = call->ids.study},
                                {.kind = EVD_VALUE_UUID, .uuid = call->ids.form}};
    struct evd_scan scan = {
        .index = EVD_INDEX_sessions_of_study, .equal = equal, .equal_count = 2, .limit = EVD_LIMIT_SESSION_HEADS};
    evd_reader_scan(call, &scan, &read->sessions, &read->session_count);
}

static bool holds_text(const struct evd_session_draft *draft) {
    return draft != NULL && draft->content != NULL;
}

/* Another tab is typing: the request names no draft, although one is there and held. */
static bool is_held(const struct evd_call *call, const struct evd_session_reads *read, struct evd_session_bases bases) {
    return bases.draft == NULL && holds_text(read->draft) && read->draft->lease_expires_at > call->now_ms;
}

/* What is typed and would be gone after this: what the request brings, when the draft is held; what the draft holds and
 * the request says nothing of, when it consumes it. */
static void want_keeping(struct evd_call *call, struct evd_session_reads *read, struct evd_session_bases bases) {
    struct evd_draft_keeping *keeping = &read->keeping;
    keeping->session = read->session_id;
    keeping->base_version = bases.base_version;
    keeping->form_version = bases.form_version;
    if (is_held(call, read, bases)) {
        keeping->content = evd_draft_places(bases.content) == 0 ? NULL : bases.content;
        keeping->reason = EVD_COPY_LEASE_HELD;
    } else if (holds_text(read->draft) &&
               evd_draft_goes_beyond(read->draft->content, bases.content, evd_call_arena(call))) {
        keeping->content = read->draft->content;
        keeping->reason = EVD_COPY_LEFT_OUT;
        keeping->form_version = read->draft->form_version;
        keeping->holder = read->draft->holder;
        keeping->write_seq = read->draft->write_seq;
    }
    if (keeping->content != NULL) evd_draft_keeping_want(call, keeping);
}

void evd_session_read(struct evd_call *call, struct evd_session_reads *read, struct evd_session_bases bases,
                      void (*want_first)(struct evd_call *), void (*want_then)(struct evd_call *)) {
    const struct evd_stage *route;
    read->session_id = evd_form_session_id(call->ids.project, call->ids.study, call->ids.form, call->caller);
    EVD_WANT(call, STUDY, call->ids.study, &read->study);
    EVD_WANT(call, FORM, call->ids.form, &read->form);
    EVD_WANT(call, STAGE, bases.stage, &route);
    EVD_WANT(call, FORM_SESSION, read->session_id, &read->session);
    EVD_WANT(call, SESSION_DRAFT, read->session_id, &read->draft);
    EVD_WANT(call, PIN_MAP, bases.base_version, &read->base_map);
    EVD_WANT(call, FORM_SESSION_VERSION, bases.base_version, &read->base_version);
    if (bases.form_version > 0)
        evd_reader_want_definition(call, evd_form_version_id(call->ids.project, call->ids.form, bases.form_version),
                                   &read->definition);
    if (want_first != NULL) want_first(call);
    evd_reader_fetch(call);
    want_stages(call, read, bases.stage);
    want_keeping(call, read, bases);
    if (want_then != NULL) want_then(call);
    evd_reader_fetch(call);
    scan_sessions(call, read);
}

static struct evd_text uuid_or_null(struct evd_call *call, evd_uuid id) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    if (evd_uuid_is_nil(id)) return EVD_TEXT("null");
    evd_uuid_format(id, text);
    return evd_text_print(evd_call_arena(call), "\"%s\"", text);
}

static struct evd_outcome stale_session(struct evd_call *call, evd_uuid declared, evd_uuid current) {
    struct evd_text a = uuid_or_null(call, declared), b = uuid_or_null(call, current);
    return (struct evd_outcome){.code = EVD_STALE_BASE,
                                .members = evd_text_print(evd_call_arena(call),
                                                          "\"base\":\"session\",\"declared\":" EVD_TEXT_FMT
                                                          ",\"current\":" EVD_TEXT_FMT,
                                                          EVD_TEXT_ARG(a), EVD_TEXT_ARG(b))};
}

/* What a request consumes must be what is stored; without one, nothing typed may be there that nobody holds. */
static struct evd_outcome refuse_draft(struct evd_call *call, const struct evd_session_reads *read,
                                       struct evd_session_bases bases) {
    const struct evd_session_draft *stored = read->draft;
    const struct evd_draft_base *declared = bases.draft;
    if (declared == NULL) {
        bool lapsed = holds_text(stored) && !is_held(call, read, bases);
        return lapsed ? evd_draft_stale(call, stored) : evd_ok();
    }
    bool same = stored != NULL && declared->etag == stored->etag && declared->write_seq == stored->write_seq &&
                evd_uuid_equal(declared->holder, stored->holder);
    if (EVD_CANARY(DRAFT_BASE_IGNORED)) return evd_ok();
    return same ? evd_ok() : evd_draft_stale(call, stored);
}

/* The study's summary has room for one more member of this form. */
static bool fits_summary(const struct evd_session_reads *read) {
    const struct evd_canonical_summary *summary = read->study->summary;
    bool new_form = evd_summary_find(summary, read->form->base.id) == NULL;
    if (new_form && summary != NULL && summary->forms.count >= EVD_LIMIT_SUMMARY_FORMS) return false;
    if (read->session_count >= EVD_LIMIT_SESSION_HEADS) return false; /* there may be more than were read */
    size_t members = 0;
    for (size_t i = 0; i < read->session_count; i++)
        members += read->sessions[i]->version_seq > 0;
    bool is_member = read->session != NULL && read->session->version_seq > 0;
    return is_member || members < EVD_LIMIT_SUMMARY_MEMBERS;
}

struct evd_outcome evd_session_refuse_unrenderable(const struct evd_session_reads *read) {
    bool unrenderable = read->definition != NULL && !evd_definition_is_renderable(read->definition);
    return evd_outcome_of(unrenderable ? EVD_FORM_VERSION_NOT_RENDERABLE : EVD_OK);
}

struct evd_outcome evd_session_admit(struct evd_call *call, const struct evd_session_reads *read) {
    if (evd_session_has_place(read->session) || EVD_CANARY(ADMISSION_SKIPPED)) return evd_ok();
    const struct evd_form_summary *entry =
        evd_summary_of_form(read->form, read->sessions, read->session_count, evd_call_arena(call));
    return evd_capacity_admit(entry, read->form->capacity, call->caller);
}

struct evd_outcome evd_session_refuse(struct evd_call *call, struct evd_session_reads *read,
                                      struct evd_session_bases bases) {
    evd_uuid current = read->session == NULL ? evd_uuid_nil() : read->session->current_version;
    if (!evd_study_is_there(read->study) || read->form == NULL || !read->route_is_bound)
        return evd_outcome_of(EVD_NOT_FOUND);
    struct evd_outcome outcome = evd_session_scopes_open(read->form, read->stages, read->stage_count);
    if (outcome.code != EVD_OK) return outcome;
    bool fits = EVD_CANARY(SESSION_BASE_IGNORED) || evd_uuid_equal(bases.base_version, current);
    if (!fits) return stale_session(call, bases.base_version, current);
    bool pinned = read->base_map != NULL && evd_pins_unpack(read->base_map->pins, &read->base_pins);
    if (!evd_uuid_is_nil(current) && !pinned) return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    return refuse_draft(call, read, bases);
}

struct evd_outcome evd_session_refuse_held(struct evd_call *call, const struct evd_session_reads *read,
                                           struct evd_session_bases bases) {
    bool held = !EVD_CANARY(DRAFT_HELD_IGNORED) && is_held(call, read, bases);
    if (held) return evd_draft_held(call, read->draft, &read->keeping);
    return fits_summary(read) ? evd_ok() : evd_outcome_of(EVD_SIZE_LIMIT_EXCEEDED);
}

void evd_session_keep(struct evd_call *call, const struct evd_session_reads *read) {
    if (call->outcome.code == EVD_DRAFT_LEASE_HELD) evd_draft_keeping_write(call, &read->keeping);
}
