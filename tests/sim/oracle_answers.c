/*
 * The answers of one version among each other: nothing stands under an element that is not there, no reference points
 * at an instance that is not there, each instance's id is its own, and what is complete has what is required.
 */
#include "oracle.h"

#include <string.h>

struct answers {
    const struct evd_annotation_revision *const *items;
    size_t count;
};

static bool is_element(const struct evd_annotation_revision *answer) {
    return answer->path.count > 0 &&
           evd_text_equal(answer->path.items[answer->path.count - 1].question, answer->question);
}

static bool is_there(struct answers answers, const char *name) {
    for (size_t i = 0; i < answers.count; i++) {
        char other[SIM_SAID_BYTES];
        sim_name_of(answers.items[i]->question, answers.items[i]->path.items, answers.items[i]->path.count, other);
        if (strcmp(name, other) == 0) return true;
    }
    return false;
}

static void check_elements(struct sim *sim, struct answers answers, const struct evd_annotation_revision *answer) {
    size_t above = answer->path.count - is_element(answer);
    for (size_t step = 0; step < above && !sim->failed; step++) {
        char name[SIM_SAID_BYTES];
        sim_name_of(answer->path.items[step].question, answer->path.items, step + 1, name);
        if (!is_there(answers, name)) sim_fail(sim, "an answer stands under an element that is not there: %s", name);
    }
}

/* How many instances of this question have this id, wherever they stand. */
static unsigned instances(struct answers answers, struct evd_text question, struct evd_text id) {
    unsigned count = 0;
    for (size_t i = 0; i < answers.count; i++) {
        const struct evd_annotation_revision *answer = answers.items[i];
        count += evd_text_equal(answer->question, question) && is_element(answer) &&
                 evd_text_equal(answer->path.items[answer->path.count - 1].element, id);
    }
    return count;
}

static void check_instance(struct sim *sim, struct answers answers, const struct sim_question *question,
                           const struct evd_annotation_revision *answer) {
    if (question == NULL || strcmp(question->kind, "unit") != 0) return;
    if (!is_element(answer) ||
        instances(answers, answer->question, answer->path.items[answer->path.count - 1].element) != 1)
        sim_fail(sim, "an instance's id is not its own");
}

static void check_reference(struct sim *sim, struct answers answers, const struct sim_question *question,
                            const struct evd_annotation_revision *answer) {
    if (question == NULL || question->target == NULL) return;
    for (size_t i = 0; i < answer->value.texts.count && !sim->failed; i++)
        if (instances(answers, evd_text_from(question->target), answer->value.texts.items[i]) == 0)
            sim_fail(sim, "a reference points at an instance that is not there");
}

static const struct sim_question *question_of(unsigned form, struct evd_text id) {
    char text[16];
    (void)snprintf(text, sizeof text, EVD_TEXT_FMT, EVD_TEXT_ARG(id));
    return sim_question(form, text);
}

static void check_required(struct sim *sim, struct answers answers, unsigned form) {
    unsigned count;
    const struct sim_question *questions = sim_form(form, &count);
    for (unsigned i = 0; i < count && !sim->failed; i++)
        if (questions[i].required && !is_there(answers, questions[i].id))
            sim_fail(sim, "a completed version lacks what is required");
}

void sim_oracle_answers(struct sim *sim, const struct evd_annotation_revision *const *items, size_t count,
                        unsigned form, bool complete) {
    struct answers answers = {items, count};
    for (size_t i = 0; i < count && !sim->failed; i++) {
        const struct sim_question *question = question_of(form, items[i]->question);
        if (question == NULL) sim_fail(sim, "a version answers what its form does not ask");
        check_elements(sim, answers, items[i]);
        if (!sim->failed) check_instance(sim, answers, question, items[i]);
        if (!sim->failed) check_reference(sim, answers, question, items[i]);
    }
    if (complete) check_required(sim, answers, form);
}
