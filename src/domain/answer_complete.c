/*
 * What is complete: all answers of a session against the whole form.
 *
 * Three passes, each over a list once: answers find their questions; questions learn, those above before those below,
 * whether they are asked; then errors are noted in the form's order.
 */
#include "domain/answer_bound.h"
#include "domain/answer_private.h"
#include "domain/definition_private.h"
#include "evidenced/base/arena.h"

#include <assert.h>
#include <inttypes.h>

struct set {
    const struct evd_definition *definition;
    const struct evd_answer **answer_of; /* of each question, NULL: none */
    bool *asked;                         /* each question */
    bool *chosen;                        /* each option of each question */
    struct evd_errors *errors;
};

static enum evd_question_kind kind_of(const struct set *set, uint32_t question) {
    return (enum evd_question_kind)set->definition->index.questions[question].kind.value;
}

static void choose(const struct set *set, uint32_t question, struct evd_text id) {
    uint32_t option = evd_question_index_find_option(&set->definition->index, question, id);
    if (option != EVD_NOT_THERE) set->chosen[option] = true;
}

static void place(const struct set *set, uint32_t question, const struct evd_answer *answer) {
    const struct evd_answer_value *value = answer->value;
    assert(set->answer_of[question] == NULL); /* one answer a context */
    set->answer_of[question] = answer;
    if (kind_of(set, question) == EVD_QUESTION_CHOICE && value->kind == EVD_ANSWER_TEXT)
        choose(set, question, value->text);
    if (kind_of(set, question) == EVD_QUESTION_MULTICHOICE && value->kind == EVD_ANSWER_TEXTS)
        for (size_t i = 0; i < value->texts.count; i++)
            choose(set, question, value->texts.items[i]);
}

/* Does the parent's answer give this one of `anyOf`? */
static bool gives(const struct set *set, uint32_t parent, struct evd_text one) {
    const struct evd_answer_value *value = set->answer_of[parent]->value;
    if (kind_of(set, parent) == EVD_QUESTION_BOOLEAN)
        return value->kind == EVD_ANSWER_BOOLEAN &&
               evd_text_equal(one, value->boolean ? EVD_TEXT("true") : EVD_TEXT("false"));
    uint32_t option = evd_question_index_find_option(&set->definition->index, parent, one);
    return option != EVD_NOT_THERE && set->chosen[option];
}

static bool is_asked(const struct set *set, uint32_t at) {
    const struct evd_question *question = &set->definition->index.questions[at];
    if (question->unit.bytes != NULL) return false; /* there are no instances yet under which it could be */
    if (question->parent == NULL) return true;
    uint32_t parent = set->definition->tree.parent[at];
    if (parent == EVD_NOT_THERE || !set->asked[parent] || set->answer_of[parent] == NULL) return false;
    const struct evd_texts *any_of = &question->parent->any_of;
    for (size_t i = 0; i < any_of->count; i++)
        if (gives(set, parent, any_of->items[i])) return true;
    return any_of->count == 0;
}

static void note(const struct set *set, const struct evd_answer *answer, enum evd_error_code code, const char *rule,
                 struct evd_text expected, struct evd_text found) {
    struct evd_finding finding = evd_finding_about(answer, code, rule);
    finding.expected = expected;
    finding.found = found;
    evd_finding_note(&finding, EVD_TEXT(""), set->errors);
}

static void check_range(const struct set *set, uint32_t at, const struct evd_answer *answer) {
    const struct evd_question *question = &set->definition->index.questions[at];
    enum evd_question_kind kind = kind_of(set, at);
    if (question->min.bytes == NULL && question->max.bytes == NULL) return;
    if (!evd_bound_is_allowed(kind)) return;
    struct evd_text given = answer->value->text;
    if (kind == EVD_QUESTION_INTEGER) given = evd_text_print(set->errors->arena, "%" PRId64, answer->value->integer);
    bool has_min = question->min.bytes != NULL && evd_bound_is_valid(kind, question->min);
    bool has_max = question->max.bytes != NULL && evd_bound_is_valid(kind, question->max);
    if (has_min && evd_bound_compare(kind, given, question->min) < 0)
        note(set, answer, EVD_ERROR_BELOW_MIN, "min", question->min, given);
    if (has_max && evd_bound_compare(kind, given, question->max) > 0)
        note(set, answer, EVD_ERROR_ABOVE_MAX, "max", question->max, given);
}

static void check_question(const struct set *set, uint32_t at) {
    const struct evd_question *question = &set->definition->index.questions[at];
    const struct evd_answer *answer = set->answer_of[at];
    if (answer == NULL) {
        struct evd_answer missing = {.question = question->id};
        if (question->required && set->asked[at])
            note(set, &missing, EVD_ERROR_REQUIRED, "required", evd_name_text(&evd_names_question_kind, question->kind),
                 (struct evd_text){NULL, 0});
        return;
    }
    size_t found_before = set->errors->total;
    evd_answer_check(set->definition, answer, EVD_TEXT(""), set->errors);
    bool may_be_saved = set->errors->total == found_before;
    if (set->asked[at]) {
        if (may_be_saved) check_range(set, at, answer);
    } else if (question->unit.bytes == NULL) {
        assert(question->parent != NULL);
        note(set, answer, EVD_ERROR_NOT_APPLICABLE, "parent", (struct evd_text){NULL, 0}, question->parent->question);
    }
}

void evd_answers_check_complete(const struct evd_definition *definition, const struct evd_answer *answers, size_t count,
                                struct evd_errors *errors) {
    const struct evd_question_index *index = &definition->index;
    struct set set = {.definition = definition,
                      .answer_of = EVD_NEW_ARRAY(errors->arena, const struct evd_answer *, index->count),
                      .asked = EVD_NEW_ARRAY(errors->arena, bool, index->count),
                      .chosen = EVD_NEW_ARRAY(errors->arena, bool, index->first_option[index->count]),
                      .errors = errors};
    for (size_t i = 0; i < count; i++) {
        uint32_t question = evd_question_index_find(index, answers[i].question);
        if (question != EVD_NOT_THERE && answers[i].path_count == 0)
            place(&set, question, &answers[i]);
        else
            evd_answer_check(definition, &answers[i], EVD_TEXT(""), errors);
    }
    for (uint32_t i = 0; i < index->count; i++)
        set.asked[definition->tree.order[i]] = is_asked(&set, definition->tree.order[i]);
    for (uint32_t at = 0; at < index->count; at++)
        check_question(&set, at);
}
