/*
 * Versions, in the order their study saw them: each hangs on the one before, has its pins, its answers and the command
 * that made it. Of the pins only those are followed that the base version does not have: the base was looked at too.
 */
#include "evidenced/domain/answer.h"
#include "evidenced/records/keys.h"
#include "read/verify.h"

enum { VERSIONS = 16, MOST_CHANGED = 2000 }; /* of a page; one version's whatever they are */
_Static_assert(EVD_LIMIT_PINS * 2 <= EVD_LIMIT_READ_KEYS, "the heads and predecessors of a page's answers");

struct revision_parts {
    struct evd_pin pin;
    const struct evd_annotation_revision *revision, *previous, *current;
    const struct evd_annotation_head *head;
};

struct version_parts {
    const struct evd_form_session *session;
    const struct evd_form *form;
    const struct evd_form_session_version *base;
    const struct evd_command_ledger *ledger;
    const struct evd_pin_map *map, *base_map;
    struct evd_pins pins;
    bool unpacked;
    struct revision_parts *changed;
    size_t changed_count;
};

static const struct evd_form_session_version *version_at(const struct evd_verify_page *page, size_t at) {
    return page->records[at];
}

/* Not more pins than a version may have: then all they lead to can be read at once. */
static int64_t bounded(int64_t count) {
    return count < 0 || count > EVD_LIMIT_PINS ? EVD_LIMIT_PINS : count;
}

static void cut(struct evd_verify_page *page) {
    int64_t pins = 0, changed = 0;
    for (size_t i = 0; i < page->count; i++) {
        pins += bounded(version_at(page, i)->pin_count);
        changed += bounded(version_at(page, i)->changed_count);
        if (i == 0 || (pins <= EVD_LIMIT_PINS && changed <= MOST_CHANGED)) continue;
        page->count = i;
        page->ends = false;
        return;
    }
}

static void want_version_parts(struct evd_call *call, const struct evd_form_session_version *version,
                               struct version_parts *found) {
    EVD_WANT(call, FORM_SESSION, version->session, &found->session);
    EVD_WANT(call, FORM, version->form, &found->form);
    EVD_WANT(call, FORM_SESSION_VERSION, version->base_version, &found->base);
    EVD_WANT(call, COMMAND_LEDGER, evd_ledger_id(call->ids.project, version->command_id), &found->ledger);
    EVD_WANT(call, PIN_MAP, version->base.id, &found->map);
    EVD_WANT(call, PIN_MAP, version->base_version, &found->base_map);
}

static void want_changed(struct evd_call *call, const struct evd_form_session_version *version,
                         struct version_parts *found) {
    struct evd_pins base = {0};
    found->unpacked = found->map != NULL && evd_pins_unpack(found->map->pins, &found->pins);
    if (!found->unpacked || (int64_t)found->pins.count != version->pin_count) return; /* told, and not followed */
    if (found->base_map != NULL && !evd_pins_unpack(found->base_map->pins, &base)) base.count = 0;
    found->changed = EVD_NEW_ARRAY(evd_call_arena(call), struct revision_parts, found->pins.count);
    for (size_t i = 0; i < found->pins.count; i++) {
        const struct evd_pin *pin = &found->pins.items[i], *before = evd_pins_find(base, pin->context);
        if (before != NULL && evd_uuid_equal(before->revision, pin->revision)) continue;
        struct revision_parts *changed = &found->changed[found->changed_count++];
        changed->pin = *pin;
        EVD_WANT(call, ANNOTATION_REVISION, pin->revision, &changed->revision);
    }
}

static void want_heads(struct evd_call *call, struct version_parts *found) {
    for (size_t i = 0; i < found->changed_count; i++) {
        struct revision_parts *changed = &found->changed[i];
        if (changed->revision == NULL) continue;
        EVD_WANT(call, ANNOTATION_HEAD, changed->revision->head, &changed->head);
        EVD_WANT(call, ANNOTATION_REVISION, changed->revision->previous, &changed->previous);
    }
}

static void want_current(struct evd_call *call, struct version_parts *found) {
    for (size_t i = 0; i < found->changed_count; i++) {
        struct revision_parts *changed = &found->changed[i];
        if (changed->head != NULL)
            EVD_WANT(call, ANNOTATION_REVISION, changed->head->current_revision, &changed->current);
    }
}

static void versions_read(struct evd_call *call, struct evd_verification *verification) {
    size_t limit = call->page.limit < VERSIONS ? call->page.limit : VERSIONS;
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_versions_of_study, limit);
    cut(page);
    struct version_parts *found = page->extra = EVD_NEW_ARRAY(evd_call_arena(call), struct version_parts, page->count);
    for (size_t i = 0; i < page->count; i++)
        want_version_parts(call, version_at(page, i), &found[i]);
    evd_reader_fetch(call);
    for (size_t i = 0; i < page->count; i++)
        want_changed(call, version_at(page, i), &found[i]);
    evd_reader_fetch(call);
    for (size_t i = 0; i < page->count; i++)
        want_heads(call, &found[i]);
    evd_reader_fetch(call);
    for (size_t i = 0; i < page->count; i++)
        want_current(call, &found[i]);
    evd_reader_fetch(call);
}

/* The version itself. */

static void judge_chain(struct evd_call *call, const struct evd_form_session_version *version,
                        const struct version_parts *found) {
    evd_uuid id = version->base.id;
    evd_uuid before = version->seq > 1 ? evd_session_version_id(version->session, version->seq - 1) : evd_uuid_nil();
    (void)evd_verify_same(call, EVD_CHECK_VERSION, EVD_IN_FORM_SESSION_VERSION, id,
                          evd_session_version_id(version->session, version->seq), id);
    (void)evd_verify_same(call, EVD_CHECK_VERSION, EVD_IN_FORM_SESSION_VERSION, id, before, version->base_version);
    if (!evd_uuid_is_nil(version->base_version) &&
        evd_verify_there(call, EVD_CHECK_VERSION, EVD_IN_FORM_SESSION_VERSION, version->base_version, found->base) &&
        found->base->base.stamp >= version->base.stamp)
        evd_verify_note(call, EVD_CHECK_STAMP, EVD_IN_FORM_SESSION_VERSION, id,
                        EVD_TEXT("a stamp after its base version's"), EVD_TEXT("none after it"));
}

static void judge_owner(struct evd_call *call, const struct evd_form_session_version *version,
                        const struct version_parts *found) {
    evd_uuid id = version->base.id;
    if (evd_verify_there(call, EVD_CHECK_VERSION, EVD_IN_FORM_SESSION, version->session, found->session)) {
        const struct evd_form_session *session = found->session;
        bool same = evd_uuid_equal(session->study, version->study) && evd_uuid_equal(session->form, version->form) &&
                    evd_uuid_equal(session->author, version->author) && session->version_seq >= version->seq;
        if (!same)
            evd_verify_note(call, EVD_CHECK_VERSION, EVD_IN_FORM_SESSION_VERSION, id,
                            EVD_TEXT("study, form, author and number of its session"), EVD_TEXT("others"));
    }
    if (!evd_verify_there(call, EVD_CHECK_VERSION, EVD_IN_FORM, version->form, found->form)) return;
    bool published = version->form_version_seq >= 1 && version->form_version_seq <= found->form->published_seq;
    evd_uuid pinned = evd_form_version_id(call->ids.project, version->form, version->form_version_seq);
    if (!published || !evd_uuid_equal(pinned, version->form_version))
        evd_verify_note(call, EVD_CHECK_VERSION, EVD_IN_FORM_SESSION_VERSION, id,
                        EVD_TEXT("a published version of its form"), EVD_TEXT("another"));
}

static void judge_ledger(struct evd_call *call, const struct evd_form_session_version *version,
                         const struct version_parts *found) {
    evd_uuid id = evd_ledger_id(call->ids.project, version->command_id);
    if (!evd_verify_there(call, EVD_CHECK_LEDGER, EVD_IN_COMMAND_LEDGER, id, found->ledger)) return;
    (void)evd_verify_same(call, EVD_CHECK_LEDGER, EVD_IN_COMMAND_LEDGER, id, version->command_id,
                          found->ledger->command_id);
    if (found->ledger->base.stamp != version->base.stamp)
        evd_verify_note(call, EVD_CHECK_STAMP, EVD_IN_COMMAND_LEDGER, id, EVD_TEXT("the stamp of what it wrote"),
                        EVD_TEXT("another"));
}

/* Its study wrote with each of them, so their stamps rise. The index is in the order of stamps: equal ones are left. */
static void judge_order(struct evd_call *call, struct evd_verification *verification,
                        const struct evd_form_session_version *version) {
    bool same_study = evd_uuid_equal(verification->last_study, version->study);
    if (same_study && version->base.stamp <= verification->last_stamp)
        evd_verify_note(call, EVD_CHECK_STAMP, EVD_IN_FORM_SESSION_VERSION, version->base.id,
                        EVD_TEXT("a stamp after the study's version before it"), EVD_TEXT("the same"));
    verification->last_study = version->study;
    verification->last_stamp = version->base.stamp;
}

/* Its answers. */

static bool has_digest(const struct evd_annotation_revision *revision, struct evd_text digest) {
    struct evd_sha256 computed = evd_answer_digest(&revision->value, revision->notes);
    return evd_text_equal(digest, (struct evd_text){(const char *)computed.bytes, sizeof computed.bytes});
}

static void judge_revision(struct evd_call *call, const struct evd_form_session_version *version,
                           const struct revision_parts *found) {
    const struct evd_annotation_revision *revision = found->revision;
    evd_uuid id = revision->base.id;
    bool in_place = revision->path.count <= EVD_LIMIT_QUESTION_DEPTH &&
                    evd_uuid_equal(found->pin.context,
                                   evd_answer_context(revision->question, revision->path.items, revision->path.count));
    if (!in_place)
        evd_verify_note(call, EVD_CHECK_REVISION, EVD_IN_ANNOTATION_REVISION, id,
                        EVD_TEXT("an answer at the place it is pinned at"), EVD_TEXT("at another"));
    if (!has_digest(revision, revision->digest))
        evd_verify_note(call, EVD_CHECK_REVISION, EVD_IN_ANNOTATION_REVISION, id,
                        EVD_TEXT("the value it was written with"), EVD_TEXT("another"));
    (void)evd_verify_same(call, EVD_CHECK_REVISION, EVD_IN_ANNOTATION_REVISION, id,
                          evd_revision_id(revision->head, revision->seq), id);
    if (revision->base.stamp > version->base.stamp)
        evd_verify_note(call, EVD_CHECK_STAMP, EVD_IN_ANNOTATION_REVISION, id,
                        EVD_TEXT("a stamp not after the version's that pins it"), EVD_TEXT("a later one"));
}

static void judge_previous(struct evd_call *call, const struct revision_parts *found) {
    const struct evd_annotation_revision *revision = found->revision;
    evd_uuid id = revision->base.id;
    evd_uuid before = revision->seq > 1 ? evd_revision_id(revision->head, revision->seq - 1) : evd_uuid_nil();
    (void)evd_verify_same(call, EVD_CHECK_REVISION, EVD_IN_ANNOTATION_REVISION, id, before, revision->previous);
    if (evd_uuid_is_nil(revision->previous)) return;
    if (evd_verify_there(call, EVD_CHECK_REVISION, EVD_IN_ANNOTATION_REVISION, revision->previous, found->previous) &&
        found->previous->base.stamp >= revision->base.stamp)
        evd_verify_note(call, EVD_CHECK_STAMP, EVD_IN_ANNOTATION_REVISION, id,
                        EVD_TEXT("a stamp after the revision's before it"), EVD_TEXT("none after it"));
}

static void judge_head(struct evd_call *call, const struct evd_form_session_version *version,
                       const struct revision_parts *found) {
    const struct evd_annotation_head *head = found->head;
    evd_uuid id = found->revision->head;
    if (!evd_verify_there(call, EVD_CHECK_HEAD, EVD_IN_ANNOTATION_HEAD, id, head)) return;
    if (head->scope.value == EVD_SCOPE_AUTHOR)
        (void)evd_verify_same(call, EVD_CHECK_HEAD, EVD_IN_ANNOTATION_HEAD, id,
                              evd_author_head_id(call->ids.project, version->study, head->author, found->pin.context),
                              id);
    (void)evd_verify_same(call, EVD_CHECK_HEAD, EVD_IN_ANNOTATION_HEAD, id, evd_revision_id(id, head->revision_seq),
                          head->current_revision);
    if (!evd_verify_there(call, EVD_CHECK_HEAD, EVD_IN_ANNOTATION_REVISION, head->current_revision, found->current))
        return;
    if (head->revision_seq < found->revision->seq || !has_digest(found->current, head->digest))
        evd_verify_note(call, EVD_CHECK_HEAD, EVD_IN_ANNOTATION_HEAD, id,
                        EVD_TEXT("its newest revision, and its digest"), EVD_TEXT("another's"));
    if (head->base.stamp < found->current->base.stamp)
        evd_verify_note(call, EVD_CHECK_STAMP, EVD_IN_ANNOTATION_HEAD, id,
                        EVD_TEXT("a stamp not before its revision's"), EVD_TEXT("an earlier one"));
}

static void judge_pins(struct evd_call *call, struct evd_verification *verification,
                       const struct evd_form_session_version *version, const struct version_parts *found) {
    evd_uuid id = version->base.id;
    if (!evd_verify_there(call, EVD_CHECK_PINS, EVD_IN_PIN_MAP, id, found->map)) return;
    if (!found->unpacked) {
        evd_verify_note(call, EVD_CHECK_PINS, EVD_IN_PIN_MAP, id, EVD_TEXT("pins in order"),
                        EVD_TEXT("something else"));
        return;
    }
    (void)evd_verify_number(call, EVD_CHECK_PINS, EVD_IN_PIN_MAP, id, version->pin_count, (int64_t)found->pins.count);
    for (size_t i = 0; i < found->changed_count; i++) {
        const struct revision_parts *changed = &found->changed[i];
        if (!evd_verify_there(call, EVD_CHECK_REVISION, EVD_IN_ANNOTATION_REVISION, changed->pin.revision,
                              changed->revision))
            continue;
        verification->sum.revisions += changed->revision->base.stamp == version->base.stamp; /* written with it */
        judge_revision(call, version, changed);
        judge_previous(call, changed);
        judge_head(call, version, changed);
    }
}

static void versions_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct version_parts *found = page->extra;
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_form_session_version *version = version_at(page, i);
        struct evd_value values[] = {{.kind = EVD_VALUE_UUID, .uuid = version->study},
                                     {.kind = EVD_VALUE_I64, .i64 = (int64_t)version->base.stamp}};
        judge_chain(call, version, &found[i]);
        judge_owner(call, version, &found[i]);
        judge_ledger(call, version, &found[i]);
        judge_order(call, verification, version);
        judge_pins(call, verification, version, &found[i]);
        evd_verify_pass(verification, values, 2, version->base.id);
        verification->sum.versions++;
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_versions = {versions_read, versions_judge};
