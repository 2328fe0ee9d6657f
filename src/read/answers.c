#include "read/answers.h"

#include "evidenced/domain/answer.h"
#include "evidenced/records/keys.h"

static bool want_revisions(struct evd_call *call, struct evd_answers *answers) {
    if (answers->map == NULL) return false;
    answers->corrupt = !evd_pins_unpack(answers->map->pins, &answers->pins);
    if (answers->corrupt) return false;
    answers->revisions =
        EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_annotation_revision *, answers->pins.count);
    for (size_t i = 0; i < answers->pins.count; i++)
        EVD_WANT(call, ANNOTATION_REVISION, answers->pins.items[i].revision, &answers->revisions[i]);
    return true;
}

void evd_answers_read(struct evd_call *call, struct evd_answers *answers) {
    if (want_revisions(call, answers)) evd_reader_fetch(call);
}

static bool has_moved(const struct evd_answers *answers, size_t at) {
    const struct evd_annotation_head *head = answers->heads[at];
    return head != NULL && !evd_uuid_equal(head->current_revision, answers->pins.items[at].revision);
}

void evd_answers_read_current(struct evd_call *call, struct evd_answers *answers, evd_uuid study, evd_uuid author) {
    struct evd_arena *arena = evd_call_arena(call);
    if (!want_revisions(call, answers)) return;
    size_t count = answers->pins.count;
    answers->heads = EVD_NEW_ARRAY(arena, const struct evd_annotation_head *, count);
    answers->current = EVD_NEW_ARRAY(arena, const struct evd_annotation_revision *, count);
    for (size_t i = 0; i < count; i++)
        EVD_WANT(call, ANNOTATION_HEAD,
                 evd_author_head_id(call->ids.project, study, author, answers->pins.items[i].context),
                 &answers->heads[i]);
    evd_reader_fetch(call);
    for (size_t i = 0; i < count; i++)
        if (has_moved(answers, i))
            EVD_WANT(call, ANNOTATION_REVISION, answers->heads[i]->current_revision, &answers->current[i]);
    evd_reader_fetch(call);
}

bool evd_revision_is_whole(const struct evd_annotation_revision *revision) {
    if (revision == NULL) return false;
    struct evd_sha256 digest = evd_answer_digest(&revision->value, revision->notes);
    struct evd_text computed = {(const char *)digest.bytes, sizeof digest.bytes};
    return evd_text_equal(revision->digest, computed);
}

bool evd_answers_are_whole(const struct evd_answers *answers) {
    for (size_t i = 0; i < answers->pins.count; i++) {
        if (!evd_revision_is_whole(answers->revisions[i])) return false;
        if (answers->heads == NULL) continue;
        if (answers->heads[i] == NULL) return false;
        if (has_moved(answers, i) && !evd_revision_is_whole(answers->current[i])) return false;
    }
    return !answers->corrupt;
}

struct evd_answer_revision_view *evd_revision_show(struct evd_call *call,
                                                   const struct evd_annotation_revision *revision) {
    struct evd_answer_revision_view *view = EVD_NEW(evd_call_arena(call), struct evd_answer_revision_view);
    *view = (struct evd_answer_revision_view){
        .revision = revision->base.id, .value = revision->value, .notes = revision->notes};
    return view;
}

struct evd_answer_view *evd_answers_show(struct evd_call *call, const struct evd_answers *answers) {
    struct evd_answer_view *views = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_answer_view, answers->pins.count);
    for (size_t i = 0; i < answers->pins.count; i++) {
        const struct evd_annotation_revision *revision = answers->revisions[i];
        views[i] = (struct evd_answer_view){.question = revision->question,
                                            .value = revision->value,
                                            .notes = revision->notes,
                                            .revision = revision->base.id};
        views[i].path.items = revision->path.items;
        views[i].path.count = revision->path.count;
        if (answers->heads == NULL || !has_moved(answers, i)) continue;
        views[i].outdated = true;
        views[i].current = evd_revision_show(call, answers->current[i]);
    }
    return views;
}
