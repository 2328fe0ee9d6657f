/*
 * Answers that are lists: chosen options, instances referred to, points of a series. What comes twice is found by
 * sorting.
 */
#include "domain/answer_bound.h"
#include "domain/answer_private.h"
#include "evidenced/base/arena.h"

static const struct evd_text nothing = {NULL, 0};

/* pointer: below `/value`. */
static void note(const struct evd_answer_subject *subject, size_t at, const char *member, enum evd_error_code code,
                 const char *rule, struct evd_text found) {
    struct evd_text pointer = evd_answer_pointer(subject->answer, subject->errors->arena, "/value/%zu%s", at, member);
    evd_answer_note(subject->answer, pointer, code, rule, nothing, found, subject->errors);
}

static void check_chosen(const struct evd_answer_subject *subject, const struct evd_texts *chosen) {
    enum { WORD_BITS = 64 };
    const struct evd_question_index *index = &subject->definition->index;
    uint64_t seen[EVD_LIMIT_OPTIONS / WORD_BITS + 1] = {0};
    for (size_t i = 0; i < chosen->count; i++) {
        uint32_t option = evd_question_index_find_option(index, subject->at, chosen->items[i]);
        if (option == EVD_NOT_THERE) {
            note(subject, i, "", EVD_ERROR_UNKNOWN_OPTION, "options", chosen->items[i]);
            continue;
        }
        option -= index->first_option[subject->at];
        uint64_t bit = UINT64_C(1) << option % WORD_BITS;
        if (seen[option / WORD_BITS] & bit)
            note(subject, i, "", EVD_ERROR_REPEATED_OPTION, "options", chosen->items[i]);
        seen[option / WORD_BITS] |= bit;
    }
}

/* One of a list, and where it stands there. */
struct numbered {
    struct evd_text text;
    size_t at;
};

static int by_place(const struct numbered *a, const struct numbered *b) {
    return (a->at > b->at) - (a->at < b->at);
}

static int by_bytes(const void *a, const void *b) {
    const struct numbered *left = a, *right = b;
    int order = evd_text_compare(left->text, right->text);
    return order != 0 ? order : by_place(left, right);
}

static int by_value(const void *a, const void *b) {
    const struct numbered *left = a, *right = b;
    int order = evd_decimal_compare(left->text, right->text);
    return order != 0 ? order : by_place(left, right);
}

/* Marks, of `of` places, those where something stands that stood before. `list` is sorted. */
static const bool *find_repeated(struct numbered *list, size_t count, int (*compare)(const void *, const void *),
                                 int (*same)(struct evd_text, struct evd_text), size_t of, struct evd_arena *arena) {
    bool *repeated = EVD_NEW_ARRAY(arena, bool, of);
    if (count > 1) qsort(list, count, sizeof *list, compare);
    for (size_t i = 1; i < count; i++)
        repeated[list[i].at] = same(list[i - 1].text, list[i].text) == 0;
    return repeated;
}

static void check_references(const struct evd_answer_subject *subject, const struct evd_texts *ids) {
    struct evd_arena *arena = subject->errors->arena;
    struct numbered *list = EVD_NEW_ARRAY(arena, struct numbered, ids->count);
    for (size_t i = 0; i < ids->count; i++)
        list[i] = (struct numbered){ids->items[i], i};
    const bool *repeated = find_repeated(list, ids->count, by_bytes, evd_text_compare, ids->count, arena);
    for (size_t i = 0; i < ids->count; i++) {
        if (!evd_instance_id_is_valid(ids->items[i]))
            note(subject, i, "", EVD_ERROR_MALFORMED_ELEMENT, "target", ids->items[i]);
        if (repeated[i]) note(subject, i, "", EVD_ERROR_REPEATED_REFERENCE, "target", ids->items[i]);
    }
}

static void check_point(const struct evd_answer_subject *subject, const struct evd_answer_point *point, size_t at) {
    if (!evd_decimal_is_valid(point->time)) note(subject, at, "/time", EVD_ERROR_NOT_A_DECIMAL, "kind", point->time);
    if (!evd_decimal_is_valid(point->average))
        note(subject, at, "/average", EVD_ERROR_NOT_A_DECIMAL, "kind", point->average);
    if (point->error.bytes == NULL) return;
    if (!evd_decimal_is_valid(point->error))
        note(subject, at, "/error", EVD_ERROR_NOT_A_DECIMAL, "kind", point->error);
    else if (evd_decimal_compare(point->error, EVD_TEXT("0")) < 0)
        note(subject, at, "/error", EVD_ERROR_NEGATIVE_ERROR, "kind", point->error);
}

static void check_points(const struct evd_answer_subject *subject, const struct evd_answer_points *points) {
    struct evd_arena *arena = subject->errors->arena;
    struct numbered *list = EVD_NEW_ARRAY(arena, struct numbered, points->count);
    size_t count = 0; /* of times that can be compared */
    for (size_t i = 0; i < points->count; i++)
        if (evd_decimal_is_valid(points->items[i].time)) list[count++] = (struct numbered){points->items[i].time, i};
    const bool *repeated = find_repeated(list, count, by_value, evd_decimal_compare, points->count, arena);
    for (size_t i = 0; i < points->count; i++) {
        check_point(subject, &points->items[i], i);
        if (repeated[i]) note(subject, i, "/time", EVD_ERROR_REPEATED_TIME, "kind", points->items[i].time);
    }
}

void evd_answer_check_list(const struct evd_answer_subject *subject) {
    const struct evd_answer_value *value = subject->answer->value;
    if (value->kind == EVD_ANSWER_POINTS)
        check_points(subject, &value->points);
    else if (evd_answer_question_kind(subject) == EVD_QUESTION_REFERENCE)
        check_references(subject, &value->texts);
    else
        check_chosen(subject, &value->texts);
}
