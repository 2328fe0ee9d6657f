/*
 * Studies and their identities: each points at the other; whoever stands in a study's summary has a session.
 */
#include "evidenced/domain/study_identity.h"
#include "evidenced/records/keys.h"
#include "read/verify.h"

enum { IDENTIFIERS = 4, MOST_MEMBERS = 10000 }; /* of a page; one study's whatever they are */

_Static_assert(EVD_LIMIT_SUMMARY_FORMS *EVD_LIMIT_SUMMARY_MEMBERS + IDENTIFIERS <= EVD_LIMIT_READ_KEYS,
               "one study's members can be read at once");
_Static_assert(MOST_MEMBERS + (IDENTIFIERS + 1) * EVD_LIMIT_PAGE <= EVD_LIMIT_READ_KEYS, "and a page's");

static struct evd_text identifier_of(const struct evd_study *study, enum evd_identity_kind kind) {
    switch (kind) {
    case EVD_IDENTITY_CUSTOM: return study->custom_id;
    case EVD_IDENTITY_DOI: return study->doi;
    case EVD_IDENTITY_PMID: return study->pmid;
    case EVD_IDENTITY_OPENALEX: return study->open_alex_id;
    case EVD_NONE_OF_identity_kind:
    case EVD_END_OF_identity_kind: break;
    }
    return (struct evd_text){0};
}

static enum evd_identity_kind kind_at(size_t at) {
    return (enum evd_identity_kind)(EVD_IDENTITY_CUSTOM + (int)at);
}

/* Studies. */

struct study_parts {
    evd_uuid identity_ids[IDENTIFIERS]; /* nil: it has none of that kind */
    const struct evd_study_identity *identities[IDENTIFIERS];
    const struct evd_form_session **members; /* of all forms, in the summary's order */
};

static size_t members_of(const struct evd_study *study) {
    size_t count = 0;
    for (size_t i = 0; study->summary != NULL && i < study->summary->forms.count; i++)
        count += study->summary->forms.items[i].members.count;
    return count;
}

static void want_identities(struct evd_call *call, const struct evd_study *study, struct study_parts *found) {
    for (size_t at = 0; at < IDENTIFIERS; at++) {
        struct evd_text value = identifier_of(study, kind_at(at));
        if (value.size_bytes == 0) continue;
        found->identity_ids[at] = evd_study_identity_id(call->ids.project, kind_at(at), value);
        EVD_WANT(call, STUDY_IDENTITY, found->identity_ids[at], &found->identities[at]);
    }
}

static void want_members(struct evd_call *call, const struct evd_study *study, struct study_parts *found) {
    size_t at = 0;
    found->members = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_form_session *, members_of(study));
    for (size_t f = 0; study->summary != NULL && f < study->summary->forms.count; f++) {
        const struct evd_form_summary *entry = &study->summary->forms.items[f];
        for (size_t i = 0; i < entry->members.count; i++) {
            evd_uuid reviewer = entry->members.items[i].reviewer;
            evd_uuid session = evd_form_session_id(call->ids.project, study->base.id, entry->form, reviewer);
            EVD_WANT(call, FORM_SESSION, session, &found->members[at++]);
        }
    }
}

static void studies_read(struct evd_call *call, struct evd_verification *verification) {
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_studies, call->page.limit);
    struct study_parts *found = page->extra = EVD_NEW_ARRAY(evd_call_arena(call), struct study_parts, page->count);
    size_t members = 0;
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_study *study = page->records[i];
        members += members_of(study);
        if (i > 0 && members > MOST_MEMBERS) {
            page->count = i;
            page->ends = false;
            break;
        }
        want_identities(call, study, &found[i]);
        want_members(call, study, &found[i]);
    }
    evd_reader_fetch(call);
}

static void judge_identities(struct evd_call *call, const struct evd_study *study, const struct study_parts *found) {
    for (size_t at = 0; at < IDENTIFIERS; at++) {
        evd_uuid id = found->identity_ids[at];
        if (evd_uuid_is_nil(id)) continue;
        if (evd_verify_there(call, EVD_CHECK_IDENTITY, EVD_IN_STUDY_IDENTITY, id, found->identities[at]))
            (void)evd_verify_same(call, EVD_CHECK_IDENTITY, EVD_IN_STUDY_IDENTITY, id, study->base.id,
                                  found->identities[at]->study);
    }
}

/* That they are all there, and what is said of them, is looked at from the sessions' side. */
static void judge_members(struct evd_call *call, const struct evd_study *study, const struct study_parts *found) {
    size_t missing = 0, count = members_of(study);
    for (size_t i = 0; i < count; i++)
        missing += found->members[i] == NULL;
    if (missing > 0)
        (void)evd_verify_number(call, EVD_CHECK_SUMMARY, EVD_IN_STUDY, study->base.id, (int64_t)(count - missing),
                                (int64_t)count);
}

static void studies_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct study_parts *found = page->extra;
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_study *study = page->records[i];
        struct evd_value key = {.kind = EVD_VALUE_I64, .i64 = study->random_key};
        judge_identities(call, study, &found[i]);
        judge_members(call, study, &found[i]);
        if (study->removed != NULL)
            evd_verify_note(call, EVD_CHECK_IDENTITY, EVD_IN_STUDY, study->base.id,
                            EVD_TEXT("in no list: it was removed"), EVD_TEXT("a place in lists"));
        evd_verify_pass(verification, &key, 1, study->base.id);
        verification->sum.studies++;
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_studies = {studies_read, studies_judge};

/* Identities. */

static void identities_read(struct evd_call *call, struct evd_verification *verification) {
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_identities, call->page.limit);
    const struct evd_study **studies = page->extra =
        EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_study *, page->count);
    for (size_t i = 0; i < page->count; i++)
        EVD_WANT(call, STUDY, ((const struct evd_study_identity *)page->records[i])->study, &studies[i]);
    evd_reader_fetch(call);
}

static void judge_identity(struct evd_call *call, const struct evd_study_identity *identity,
                           const struct evd_study *study) {
    enum evd_identity_kind kind = (enum evd_identity_kind)identity->kind.value;
    evd_uuid id = identity->base.id;
    if (kind == EVD_NONE_OF_identity_kind) return; /* of a newer version: not ours to judge */
    (void)evd_verify_same(call, EVD_CHECK_IDENTITY, EVD_IN_STUDY_IDENTITY, id,
                          evd_study_identity_id(call->ids.project, kind, identity->value), id);
    bool held = study != NULL && study->removed == NULL && evd_text_equal(identifier_of(study, kind), identity->value);
    if (held) return;
    evd_verify_note(call, EVD_CHECK_IDENTITY, EVD_IN_STUDY_IDENTITY, id,
                    evd_verify_id_text(call, "an identifier of study", identity->study),
                    study == NULL            ? EVD_TEXT("no such study")
                    : study->removed != NULL ? EVD_TEXT("a study that was removed")
                                             : EVD_TEXT("a study with another identifier"));
}

static void identities_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct evd_study *const *studies = page->extra;
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_study_identity *identity = page->records[i];
        struct evd_value study = {.kind = EVD_VALUE_UUID, .uuid = identity->study};
        judge_identity(call, identity, studies[i]);
        evd_verify_pass(verification, &study, 1, identity->base.id);
        verification->sum.identities++;
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_identities = {identities_read, identities_judge};
