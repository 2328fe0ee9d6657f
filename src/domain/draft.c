#include "evidenced/domain/draft.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/canary.h"
#include "evidenced/domain/answer.h"
#include "evidenced/domain/error_codes.h"
#include "evidenced/records/bson.h"

#include <stdlib.h>

bool evd_draft_is_held(const struct evd_session_draft *draft, evd_uuid holder, int64_t now_ms) {
    if (draft == NULL || evd_uuid_is_nil(draft->holder) || evd_uuid_equal(draft->holder, holder)) return false;
    return draft->lease_expires_at > now_ms;
}

static bool is_stored(const struct evd_session_draft *stored, const struct evd_sha256 *digest) {
    struct evd_text given = {(const char *)digest->bytes, sizeof digest->bytes};
    return evd_text_equal(stored->write_digest, given);
}

/* Each holder counts its own writes: the sequence says nothing about another one's. */
static enum evd_autosave_verdict judge_sequence(const struct evd_session_draft *stored,
                                                const struct evd_autosave *autosave) {
    if (!evd_uuid_equal(stored->holder, autosave->holder)) return EVD_AUTOSAVE_APPLIES;
    if (autosave->write_seq == stored->write_seq && is_stored(stored, &autosave->digest)) return EVD_AUTOSAVE_REPEATED;
    if (autosave->write_seq == stored->write_seq) return EVD_AUTOSAVE_SEQUENCE_REUSED;
    bool follows = autosave->write_seq == stored->write_seq + 1, later = autosave->write_seq > stored->write_seq;
    return follows || (autosave->whole && later) ? EVD_AUTOSAVE_APPLIES : EVD_AUTOSAVE_OUT_OF_SEQUENCE;
}

enum evd_autosave_verdict evd_autosave_judge(const struct evd_session_draft *stored,
                                             const struct evd_autosave *autosave, int64_t now_ms) {
    bool held = evd_draft_is_held(stored, autosave->holder, now_ms);
    if (held && !EVD_CANARY(AUTOSAVE_HOLDER_IGNORED)) return EVD_AUTOSAVE_HELD;
    bool stale = !evd_uuid_equal(stored->base_version, autosave->base_version);
    if (stale && !EVD_CANARY(AUTOSAVE_BASE_IGNORED)) return EVD_AUTOSAVE_STALE;
    if (EVD_CANARY(AUTOSAVE_ETAG_FIRST) && autosave->etag != stored->etag) return EVD_AUTOSAVE_PRECONDITION;
    enum evd_autosave_verdict verdict = judge_sequence(stored, autosave);
    if (verdict != EVD_AUTOSAVE_APPLIES && !EVD_CANARY(AUTOSAVE_SEQUENCE_IGNORED)) return verdict;
    bool same = !autosave->only_if_none && autosave->etag == stored->etag;
    if (EVD_CANARY(AUTOSAVE_ETAG_IGNORED)) same = true;
    return same ? EVD_AUTOSAVE_APPLIES : EVD_AUTOSAVE_PRECONDITION;
}

/* Places, to be found by their context. */

struct place {
    evd_uuid context;
    const struct evd_answer_change *answer; /* NULL: withdrawn */
    size_t at;                              /* in its list */
};

struct places {
    struct place *items; /* ascending by context */
    size_t count;
};

static int by_context(const void *a, const void *b) {
    return evd_uuid_compare(((const struct place *)a)->context, ((const struct place *)b)->context);
}

static evd_uuid context_of(const struct evd_answer_place *place) {
    return evd_answer_context(place->question, place->path.items, place->path.count);
}

static evd_uuid context_of_answer(const struct evd_answer_change *answer) {
    return evd_answer_context(answer->question, answer->path.items, answer->path.count);
}

size_t evd_draft_places(const struct evd_draft_content *content) {
    return content == NULL ? 0 : content->answers.count + content->withdrawn.count;
}

static struct places places_of(const struct evd_draft_content *content, const struct evd_answer_place *more,
                               size_t more_count, struct evd_arena *arena) {
    struct places places = {.items = EVD_NEW_ARRAY(arena, struct place, evd_draft_places(content) + more_count)};
    for (size_t i = 0; content != NULL && i < content->answers.count; i++)
        places.items[places.count++] =
            (struct place){context_of_answer(&content->answers.items[i]), &content->answers.items[i], i};
    for (size_t i = 0; content != NULL && i < content->withdrawn.count; i++)
        places.items[places.count++] = (struct place){context_of(&content->withdrawn.items[i]), NULL, i};
    for (size_t i = 0; i < more_count; i++)
        places.items[places.count++] = (struct place){context_of(&more[i]), NULL, i};
    if (places.count > 1) qsort(places.items, places.count, sizeof *places.items, by_context);
    return places;
}

static const struct place *find(struct places places, evd_uuid context) {
    struct place key = {.context = context};
    if (places.count == 0) return NULL;
    return bsearch(&key, places.items, places.count, sizeof *places.items, by_context);
}

void evd_draft_check_places(const struct evd_draft_content *content, struct evd_text pointer,
                            struct evd_errors *errors) {
    struct places places = places_of(content, NULL, 0, errors->arena);
    for (size_t i = 1; i < places.count; i++) {
        if (by_context(&places.items[i - 1], &places.items[i]) != 0) continue;
        const struct place *second = &places.items[i];
        struct evd_text at = evd_text_print(errors->arena, EVD_TEXT_FMT "/%s/%zu", EVD_TEXT_ARG(pointer),
                                            second->answer == NULL ? "withdrawn" : "answers", second->at);
        (void)evd_errors_note(errors, at, EVD_ERROR_REPEATED_PLACE);
    }
}

const struct evd_draft_content *evd_draft_overlay(const struct evd_draft_content *content,
                                                  const struct evd_draft_content *changes,
                                                  const struct evd_answer_place *reverted, size_t reverted_count,
                                                  struct evd_arena *arena) {
    struct places over = places_of(changes, reverted, reverted_count, arena);
    struct evd_draft_content *made = EVD_NEW(arena, struct evd_draft_content);
    size_t answers = (content == NULL ? 0 : content->answers.count) + changes->answers.count;
    size_t withdrawn = (content == NULL ? 0 : content->withdrawn.count) + changes->withdrawn.count;
    if (content != NULL) made->unknown = content->unknown;
    made->answers.items = EVD_NEW_ARRAY(arena, struct evd_answer_change, answers);
    made->withdrawn.items = EVD_NEW_ARRAY(arena, struct evd_answer_place, withdrawn);
    for (size_t i = 0; content != NULL && i < content->answers.count; i++)
        if (find(over, context_of_answer(&content->answers.items[i])) == NULL)
            made->answers.items[made->answers.count++] = content->answers.items[i];
    for (size_t i = 0; content != NULL && i < content->withdrawn.count; i++)
        if (find(over, context_of(&content->withdrawn.items[i])) == NULL)
            made->withdrawn.items[made->withdrawn.count++] = content->withdrawn.items[i];
    for (size_t i = 0; i < changes->answers.count; i++)
        made->answers.items[made->answers.count++] = changes->answers.items[i];
    for (size_t i = 0; i < changes->withdrawn.count; i++)
        made->withdrawn.items[made->withdrawn.count++] = changes->withdrawn.items[i];
    return made;
}

bool evd_draft_goes_beyond(const struct evd_draft_content *content, const struct evd_draft_content *by,
                           struct evd_arena *arena) {
    struct places places = places_of(content, NULL, 0, arena), covered = places_of(by, NULL, 0, arena);
    for (size_t i = 0; i < places.count; i++)
        if (find(covered, places.items[i].context) == NULL) return true;
    return false;
}

static bool says_the_same(const struct place *a, const struct place *b) {
    if (a->answer == NULL || b->answer == NULL) return a->answer == b->answer;
    return evd_text_equal(a->answer->notes, b->answer->notes) &&
           evd_answer_value_equal(&a->answer->value, &b->answer->value);
}

bool evd_draft_overwrites(const struct evd_draft_content *over, const struct evd_draft_content *content,
                          struct evd_arena *arena) {
    struct places places = places_of(content, NULL, 0, arena), upper = places_of(over, NULL, 0, arena);
    for (size_t i = 0; i < places.count; i++) {
        const struct place *other = find(upper, places.items[i].context);
        if (other != NULL && !says_the_same(&places.items[i], other)) return true;
    }
    return false;
}

struct evd_sha256 evd_draft_digest(const struct evd_draft_content *content, struct evd_arena *arena) {
    struct evd_image image = evd_bson_encode(&evd_type_draft_content, content, arena);
    return evd_sha256_of((const char *)image.bson, image.size_bytes);
}
