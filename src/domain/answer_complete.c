/*
 * What is complete: all answers of a session against the whole form.
 *
 * The form and each element are judged one after the other, an element behind the one it stands under. What is known of
 * a question is kept by its number: it belongs to one frame, so while the elements below an element are judged, the
 * questions of that element, and of those above it, still say what holds there.
 */
#include "domain/answer_bound.h"
#include "domain/answer_tree.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/canary.h"

#include <assert.h>
#include <inttypes.h>

/* A question in the element that is judged, or in the one above it in the question's frame. */
struct asking {
    const struct evd_answer *answer; /* NULL: none, or elements instead */
    uint32_t first_element;          /* the first of its elements there; EVD_NOT_THERE: none */
    bool asked;
};

struct judging {
    const struct evd_definition *definition;
    struct evd_answer_tree tree;
    struct asking *askings; /* each question */
    uint64_t *chosen;       /* choices of each question: what is chosen, or the option one is under */
    struct evd_errors *errors;
};

static const struct evd_text nothing = {NULL, 0};

static const struct evd_question *question_of(const struct judging *judging, uint32_t at) {
    return &judging->definition->index.questions[at];
}

static enum evd_question_kind kind_of(const struct judging *judging, uint32_t at) {
    return (enum evd_question_kind)question_of(judging, at)->kind.value;
}

/* Choices. */

static uint64_t *choices_of(const struct judging *judging, uint32_t at) {
    return judging->chosen + judging->definition->choices.first_word[at];
}

static void choose_none(const struct judging *judging, uint32_t at) {
    const uint32_t *first_word = judging->definition->choices.first_word;
    memset(choices_of(judging, at), 0, (first_word[at + 1] - first_word[at]) * sizeof *judging->chosen);
}

static void choose_option(const struct judging *judging, uint32_t at, struct evd_text id) {
    const struct evd_question_index *index = &judging->definition->index;
    uint32_t option = evd_question_index_find_option(index, at, id);
    if (option != EVD_NOT_THERE) evd_choice_set(choices_of(judging, at), option - index->first_option[at]);
}

/* An answer that is not of its question's kind chooses nothing. */
static void choose(const struct judging *judging, uint32_t at, const struct evd_answer_value *value) {
    enum evd_question_kind kind = kind_of(judging, at);
    if (kind == EVD_QUESTION_BOOLEAN && value->kind == EVD_ANSWER_BOOLEAN)
        evd_choice_set(choices_of(judging, at), value->boolean ? EVD_CHOICE_TRUE : EVD_CHOICE_FALSE);
    if (kind == EVD_QUESTION_CHOICE && value->kind == EVD_ANSWER_TEXT) choose_option(judging, at, value->text);
    if (kind == EVD_QUESTION_MULTICHOICE && value->kind == EVD_ANSWER_TEXTS)
        for (size_t i = 0; i < value->texts.count; i++)
            choose_option(judging, at, value->texts.items[i]);
}

/* Is one of the parent's choices among those that ask this question? */
static bool is_chosen(const struct judging *judging, uint32_t at, uint32_t parent) {
    const struct evd_question_choices *choices = &judging->definition->choices;
    if (choices->first_asking[at] == EVD_NOT_THERE) return true;
    const uint64_t *asking = choices->asking + choices->first_asking[at], *chosen = choices_of(judging, parent);
    for (uint32_t word = 0; word < choices->first_word[parent + 1] - choices->first_word[parent]; word++)
        if (asking[word] & chosen[word]) return true;
    return false;
}

/* Who is asked. */

/* Does the parent, where it stands above this element or in it, ask the question? */
static bool parent_asks(const struct judging *judging, uint32_t at) {
    uint32_t parent = judging->definition->tree.parent[at];
    if (question_of(judging, at)->parent == NULL) return true;
    if (parent == EVD_NOT_THERE) return false;
    /* One is under an element of it, and in one that is asked. */
    if (evd_question_makes_elements(question_of(judging, parent))) return is_chosen(judging, at, parent);
    const struct asking *above = &judging->askings[parent];
    return above->asked && above->answer != NULL && is_chosen(judging, at, parent);
}

static bool is_node_asked(const struct judging *judging, const struct evd_answer_node *node) {
    return node->element == NULL || judging->askings[node->question].asked;
}

/* The questions of the element: where they stand in the groups' lists. */
struct members {
    uint32_t first, end;
};

static struct members members_of(const struct judging *judging, const struct evd_answer_node *node) {
    const uint32_t *first = judging->definition->groups.first;
    return (struct members){first[node->question], first[node->question + 1]};
}

static void enter(const struct judging *judging, const struct evd_answer_node *node, struct members members) {
    const struct evd_definition *definition = judging->definition;
    if (node->element != NULL && kind_of(judging, node->question) == EVD_QUESTION_MULTICHOICE) {
        choose_none(judging, node->question);
        choose_option(judging, node->question, node->element->path[node->element->path_count - 1].element);
    }
    for (uint32_t i = members.first; i < members.end; i++) {
        uint32_t at = definition->groups.in_form_order[i];
        judging->askings[at] = (struct asking){.first_element = EVD_NOT_THERE};
        choose_none(judging, at);
    }
    for (uint32_t i = node->first_answer; i < node->first_answer + node->answer_count; i++) {
        const struct evd_placed_answer *placed = &judging->tree.answers[i];
        assert(judging->askings[placed->question].answer == NULL); /* one answer a context */
        judging->askings[placed->question].answer = placed->answer;
        choose(judging, placed->question, placed->answer->value);
    }
    for (uint32_t child = node->first_child; child != EVD_NOT_THERE; child = judging->tree.nodes[child].next) {
        struct asking *asking = &judging->askings[judging->tree.nodes[child].question];
        if (asking->first_element == EVD_NOT_THERE) asking->first_element = child;
    }
    bool asked = is_node_asked(judging, node);
    for (uint32_t i = members.first; i < members.end; i++) {
        uint32_t at = definition->groups.in_tree_order[i];
        bool reached = definition->frames.reach[at] == EVD_REACHED;
        judging->askings[at].asked = asked && reached && parent_asks(judging, at);
    }
}

/* What is wrong. */

static void note(const struct judging *judging, const struct evd_answer *answer, const char *member,
                 enum evd_error_code code, const char *rule, struct evd_text expected, struct evd_text found) {
    struct evd_text pointer = evd_answer_pointer(answer, judging->errors->arena, "%s", member);
    evd_answer_note(answer, pointer, code, rule, expected, found, judging->errors);
}

static void check_range(const struct judging *judging, uint32_t at, const struct evd_answer *answer) {
    const struct evd_question *question = question_of(judging, at);
    enum evd_question_kind kind = kind_of(judging, at);
    if (question->min.bytes == NULL && question->max.bytes == NULL) return;
    if (!evd_bound_is_allowed(kind)) return;
    struct evd_text given = answer->value->text;
    if (kind == EVD_QUESTION_INTEGER)
        given = evd_text_print(judging->errors->arena, "%" PRId64, answer->value->integer);
    bool has_min = question->min.bytes != NULL && evd_bound_is_valid(kind, question->min);
    bool has_max = question->max.bytes != NULL && evd_bound_is_valid(kind, question->max);
    if (has_min && evd_bound_compare(kind, given, question->min) < 0)
        note(judging, answer, "/value", EVD_ERROR_BELOW_MIN, "min", question->min, given);
    if (has_max && evd_bound_compare(kind, given, question->max) > 0)
        note(judging, answer, "/value", EVD_ERROR_ABOVE_MAX, "max", question->max, given);
}

/* The parent says why; or it does ask, and the element the answer stands under is not asked itself. */
static void note_not_applicable(const struct judging *judging, uint32_t at, const struct evd_answer *answer) {
    const struct evd_question *question = question_of(judging, at);
    uint32_t within = judging->definition->frames.within[at];
    struct evd_text above = within == EVD_NOT_THERE ? nothing : question_of(judging, within)->id;
    bool by_parent = question->parent != NULL && !parent_asks(judging, at);
    if (by_parent) above = question->parent->question;
    note(judging, answer, "", EVD_ERROR_NOT_APPLICABLE, by_parent || question->unit.bytes == NULL ? "parent" : "unit",
         nothing, above);
}

static void check_answer(const struct judging *judging, uint32_t at, const struct evd_answer *answer) {
    struct evd_answer_subject subject = {judging->definition, answer, at, judging->errors};
    size_t found_before = judging->errors->total;
    evd_answer_check_value(&subject);
    bool may_be_saved = judging->errors->total == found_before;
    if (!judging->askings[at].asked)
        note_not_applicable(judging, at, answer);
    else if (may_be_saved)
        check_range(judging, at, answer);
}

static void check_required(const struct judging *judging, uint32_t at, const struct evd_answer_node *node) {
    const struct evd_question *question = question_of(judging, at);
    if (EVD_CANARY(REQUIRED_NOT_ASKED) || !question->required || !judging->askings[at].asked) return;
    struct evd_answer missing = {.question = question->id};
    if (node->element != NULL) {
        missing.path = node->element->path;
        missing.path_count = node->element->path_count;
    }
    note(judging, &missing, "", EVD_ERROR_REQUIRED, "required", evd_name_text(&evd_names_question_kind, question->kind),
         nothing);
}

static void check_question(const struct judging *judging, uint32_t at, const struct evd_answer_node *node) {
    const struct asking *asking = &judging->askings[at];
    if (asking->answer != NULL) check_answer(judging, at, asking->answer);
    for (uint32_t element = asking->first_element; element != EVD_NOT_THERE;
         element = judging->tree.nodes[element].next) {
        if (judging->tree.nodes[element].question != at) break; /* those of one question are together */
        check_answer(judging, at, judging->tree.nodes[element].element);
    }
    if (asking->answer == NULL && asking->first_element == EVD_NOT_THERE) check_required(judging, at, node);
}

static void judge(const struct judging *judging, const struct evd_answer_node *node) {
    struct members members = members_of(judging, node);
    enter(judging, node, members);
    for (uint32_t i = members.first; i < members.end; i++)
        check_question(judging, judging->definition->groups.in_form_order[i], node);
}

void evd_answers_check_complete(const struct evd_definition *definition, const struct evd_answer *answers, size_t count,
                                struct evd_errors *errors) {
    uint32_t question_count = definition->index.count;
    struct judging judging = {
        .definition = definition,
        .askings = EVD_NEW_ARRAY(errors->arena, struct asking, question_count),
        .chosen = EVD_NEW_ARRAY(errors->arena, uint64_t, definition->choices.first_word[question_count]),
        .errors = errors};
    evd_answer_tree_init(&judging.tree, definition, answers, count, errors);
    for (uint32_t i = 0; i < judging.tree.node_count; i++)
        judge(&judging, &judging.tree.nodes[i]);
    evd_answers_check_instances(definition, answers, count, errors);
}
