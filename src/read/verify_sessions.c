/*
 * Sessions, a study's form at a time: the head points at its newest version, and the study's summary is what the heads
 * say. Drafts: each session has one, and it is a change of a version that is there.
 */
#include "evidenced/domain/summary.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/keys.h"
#include "read/verify.h"

/* All heads of a study's form are judged together: more are read than there may be of one. */
enum { HEADS = 500, DRAFTS = 8 };
_Static_assert(EVD_LIMIT_SESSION_HEADS < HEADS, "a study's form fits a page");

struct session_parts {
    const struct evd_study *study;
    const struct evd_form *form;
    const struct evd_form_session_version *version;
};

static const struct evd_form_session *head_at(const struct evd_verify_page *page, size_t at) {
    return page->records[at];
}

static bool same_group(const struct evd_form_session *a, const struct evd_form_session *b) {
    return evd_uuid_equal(a->study, b->study) && evd_uuid_equal(a->form, b->form);
}

static size_t group_end(const struct evd_verify_page *page, size_t first) {
    size_t end = first + 1;
    while (end < page->count && same_group(head_at(page, first), head_at(page, end)))
        end++;
    return end;
}

/* The last study's form of a page may go on behind it: it is left for the next. */
static void drop_last_group(struct evd_verify_page *page) {
    if (page->ends || page->count == 0) return;
    size_t first = page->count - 1;
    while (first > 0 && same_group(head_at(page, first - 1), head_at(page, page->count - 1)))
        first--;
    if (first > 0) page->count = first;
}

static void sessions_read(struct evd_call *call, struct evd_verification *verification) {
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_sessions_of_study, HEADS);
    drop_last_group(page);
    struct session_parts *found = page->extra = EVD_NEW_ARRAY(evd_call_arena(call), struct session_parts, page->count);
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_form_session *head = head_at(page, i);
        EVD_WANT(call, STUDY, head->study, &found[i].study);
        EVD_WANT(call, FORM, head->form, &found[i].form);
        EVD_WANT(call, FORM_SESSION_VERSION, head->current_version, &found[i].version);
    }
    evd_reader_fetch(call);
}

static void judge_head(struct evd_call *call, const struct evd_form_session *head, const struct session_parts *found) {
    evd_uuid id = head->base.id;
    (void)evd_verify_same(call, EVD_CHECK_SESSION, EVD_IN_FORM_SESSION, id,
                          evd_form_session_id(call->ids.project, head->study, head->form, head->author), id);
    if (head->version_seq == 0) {
        (void)evd_verify_same(call, EVD_CHECK_SESSION, EVD_IN_FORM_SESSION, id, evd_uuid_nil(), head->current_version);
        return;
    }
    (void)evd_verify_same(call, EVD_CHECK_SESSION, EVD_IN_FORM_SESSION, id,
                          evd_session_version_id(id, head->version_seq), head->current_version);
    if (!evd_verify_there(call, EVD_CHECK_SESSION, EVD_IN_FORM_SESSION_VERSION, head->current_version, found->version))
        return;
    (void)evd_verify_number(call, EVD_CHECK_SESSION, EVD_IN_FORM_SESSION, id, found->version->form_version_seq,
                            head->pinned_form_version);
    if (found->study != NULL && found->version->base.stamp > found->study->base.stamp)
        evd_verify_note(call, EVD_CHECK_STAMP, EVD_IN_STUDY, found->study->base.id,
                        EVD_TEXT("a stamp not before its sessions' versions"), EVD_TEXT("an earlier one"));
}

/* The entry as it would be under the definitions the stored one was evaluated under, if they ever were in force. */
static const struct evd_form_summary *recompute(struct evd_call *call, const struct evd_form *form,
                                                const struct evd_form_summary *stored,
                                                const struct evd_form_session *const *heads, size_t count) {
    struct evd_form then = *form;
    const struct evd_definition_vector *under = stored == NULL ? NULL : stored->evaluated_under;
    if (under != NULL && under->form_seq <= form->published_seq) then.published_seq = under->form_seq;
    if (under != NULL && under->binding_seq <= form->binding_seq) then.binding_seq = under->binding_seq;
    return evd_summary_of_form(&then, heads, count, evd_call_arena(call));
}

static bool same_struct(struct evd_call *call, const struct evd_type *type, const void *a, const void *b) {
    struct evd_image left = evd_bson_encode(type, a, evd_call_arena(call));
    struct evd_image right = evd_bson_encode(type, b, evd_call_arena(call));
    return left.size_bytes == right.size_bytes && memcmp(left.bson, right.bson, left.size_bytes) == 0;
}

/* The next projection of that form, from `at` on; the list's count when there is none. */
static size_t next_projection(const struct evd_canonical_summary *summary, evd_uuid form, size_t at) {
    while (at < summary->stages.count && !evd_uuid_equal(summary->stages.items[at].form, form))
        at++;
    return at;
}

static bool same_projections(struct evd_call *call, evd_uuid form, const struct evd_canonical_summary *a,
                             const struct evd_canonical_summary *b) {
    size_t left = next_projection(a, form, 0), right = next_projection(b, form, 0);
    while (left < a->stages.count && right < b->stages.count) {
        if (!same_struct(call, &evd_type_stage_projection, &a->stages.items[left], &b->stages.items[right]))
            return false;
        left = next_projection(a, form, left + 1);
        right = next_projection(b, form, right + 1);
    }
    return left == a->stages.count && right == b->stages.count;
}

static void judge_summary(struct evd_call *call, const struct evd_form_session *const *heads, size_t count,
                          const struct session_parts *found) {
    const struct evd_study *study = found->study;
    bool parts_are_there = evd_verify_there(call, EVD_CHECK_SESSION, EVD_IN_STUDY, heads[0]->study, study);
    parts_are_there &= evd_verify_there(call, EVD_CHECK_SESSION, EVD_IN_FORM, heads[0]->form, found->form);
    if (!parts_are_there) return;
    const struct evd_form_summary *stored = evd_summary_find(study->summary, heads[0]->form);
    const struct evd_form_summary *computed = recompute(call, found->form, stored, heads, count);
    if (stored == NULL && computed->members.count == 0) return; /* nothing but drafts */
    if (stored == NULL || !same_struct(call, &evd_type_form_summary, stored, computed)) {
        evd_verify_note(call, EVD_CHECK_SUMMARY, EVD_IN_STUDY, study->base.id,
                        evd_verify_id_text(call, "what the sessions say of form", heads[0]->form),
                        stored == NULL ? EVD_TEXT("nothing") : EVD_TEXT("something else"));
        return;
    }
    const struct evd_canonical_summary *whole =
        evd_summary_with(study->summary, found->form, computed, evd_call_arena(call));
    if (!same_projections(call, heads[0]->form, study->summary, whole))
        evd_verify_note(call, EVD_CHECK_SUMMARY, EVD_IN_STUDY, study->base.id,
                        evd_verify_id_text(call, "the stages of form", heads[0]->form), EVD_TEXT("something else"));
}

static void sessions_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct session_parts *found = page->extra;
    for (size_t first = 0, end; first < page->count; first = end) {
        end = group_end(page, first);
        judge_summary(call, (const struct evd_form_session *const *)page->records + first, end - first, &found[first]);
        for (size_t i = first; i < end; i++) {
            const struct evd_form_session *head = head_at(page, i);
            struct evd_value values[] = {{.kind = EVD_VALUE_UUID, .uuid = head->study},
                                         {.kind = EVD_VALUE_UUID, .uuid = head->form}};
            judge_head(call, head, &found[i]);
            evd_verify_pass(verification, values, 2, head->base.id);
            verification->sum.sessions++;
        }
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_sessions = {sessions_read, sessions_judge};

/* Drafts: a page of their own, since one may be large. */

struct draft_parts {
    const struct evd_session_draft *draft;
    const struct evd_form_session_version *base;
};

static void drafts_read(struct evd_call *call, struct evd_verification *verification) {
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_sessions_of_study, DRAFTS);
    struct draft_parts *found = page->extra = EVD_NEW_ARRAY(evd_call_arena(call), struct draft_parts, page->count);
    for (size_t i = 0; i < page->count; i++)
        EVD_WANT(call, SESSION_DRAFT, head_at(page, i)->base.id, &found[i].draft);
    evd_reader_fetch(call);
    for (size_t i = 0; i < page->count; i++)
        if (found[i].draft != NULL) EVD_WANT(call, FORM_SESSION_VERSION, found[i].draft->base_version, &found[i].base);
    evd_reader_fetch(call);
}

static void judge_draft(struct evd_call *call, evd_uuid session, const struct draft_parts *found) {
    if (!evd_verify_there(call, EVD_CHECK_DRAFT, EVD_IN_SESSION_DRAFT, session, found->draft)) return;
    (void)evd_verify_same(call, EVD_CHECK_DRAFT, EVD_IN_SESSION_DRAFT, session, session, found->draft->session);
    evd_uuid base = found->draft->base_version;
    if (evd_uuid_is_nil(base)) return;
    if (!evd_verify_there(call, EVD_CHECK_DRAFT, EVD_IN_FORM_SESSION_VERSION, base, found->base)) return;
    (void)evd_verify_same(call, EVD_CHECK_DRAFT, EVD_IN_FORM_SESSION_VERSION, base, session, found->base->session);
}

static void drafts_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct draft_parts *found = page->extra;
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_form_session *head = head_at(page, i);
        struct evd_value values[] = {{.kind = EVD_VALUE_UUID, .uuid = head->study},
                                     {.kind = EVD_VALUE_UUID, .uuid = head->form}};
        judge_draft(call, head->base.id, &found[i]);
        evd_verify_pass(verification, values, 2, head->base.id);
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_drafts = {drafts_read, drafts_judge};
