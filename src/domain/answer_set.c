/*
 * What only all answers together tell: what hangs below an element, whose an instance's id is, what a reference finds.
 */
#include "domain/answer_private.h"
#include "evidenced/base/arena.h"

static const struct evd_text nothing = {NULL, 0};

/* Below withdrawn elements: each beginning of a path is looked up among theirs. */

struct element {
    const struct evd_path_step *path;
    size_t path_count;
};

static int by_path(const void *a, const void *b) {
    const struct element *left = a, *right = b;
    return evd_path_compare(left->path, left->path_count, right->path, right->path_count);
}

static bool stands_below(const struct evd_answer *answer, const struct element *elements, size_t count) {
    size_t above = answer->path_count;
    if (evd_answer_is_element(answer->question, answer->path, answer->path_count)) above--;
    for (size_t steps = 1; steps <= above; steps++) {
        struct element wanted = {answer->path, steps};
        if (bsearch(&wanted, elements, count, sizeof wanted, by_path) != NULL) return true;
    }
    return false;
}

const bool *evd_answers_below(const struct evd_answer *answers, size_t count, const struct evd_answer_place *withdrawn,
                              size_t withdrawn_count, struct evd_arena *arena) {
    bool *below = EVD_NEW_ARRAY(arena, bool, count);
    struct element *elements = EVD_NEW_ARRAY(arena, struct element, withdrawn_count);
    size_t element_count = 0;
    for (size_t i = 0; i < withdrawn_count; i++) {
        struct element element = {withdrawn[i].path.items, withdrawn[i].path.count};
        if (evd_answer_is_element(withdrawn[i].question, element.path, element.path_count))
            elements[element_count++] = element;
    }
    if (element_count == 0) return below;
    qsort(elements, element_count, sizeof *elements, by_path);
    for (size_t i = 0; i < count; i++)
        below[i] = stands_below(&answers[i], elements, element_count);
    return below;
}

/* Instances and references. */

struct instance {
    struct evd_text id;
    const struct evd_answer *answer;
};

static int by_id_only(const void *a, const void *b) {
    return evd_text_compare(((const struct instance *)a)->id, ((const struct instance *)b)->id);
}

/* Of two with one id, the one that comes first in the set comes first. */
static int by_id(const void *a, const void *b) {
    const struct instance *left = a, *right = b;
    int order = by_id_only(a, b);
    return order != 0 ? order : (left->answer > right->answer) - (left->answer < right->answer);
}

static enum evd_question_kind kind_of(const struct evd_definition *definition, const struct evd_answer *answer) {
    const struct evd_question *question = evd_definition_question(definition, answer->question);
    return question == NULL ? EVD_NONE_OF_question_kind : (enum evd_question_kind)question->kind.value;
}

static struct instance *instances_of(const struct evd_definition *definition, const struct evd_answer *answers,
                                     size_t count, struct evd_arena *arena, size_t *ret_count) {
    struct instance *instances = EVD_NEW_ARRAY(arena, struct instance, count);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct evd_answer *answer = &answers[i];
        if (kind_of(definition, answer) == EVD_QUESTION_UNIT &&
            evd_answer_is_element(answer->question, answer->path, answer->path_count))
            instances[found++] = (struct instance){answer->path[answer->path_count - 1].element, answer};
    }
    if (found > 1) qsort(instances, found, sizeof *instances, by_id);
    *ret_count = found;
    return instances;
}

/* Leaves one of each id. */
static size_t refuse_repeated(struct instance *instances, size_t count, struct evd_errors *errors) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || by_id_only(&instances[kept - 1], &instances[i]) != 0) {
            instances[kept++] = instances[i];
            continue;
        }
        const struct evd_answer *answer = instances[i].answer;
        evd_answer_note(answer, evd_answer_pointer(answer, errors->arena, "/path/%zu/element", answer->path_count - 1),
                        EVD_ERROR_REPEATED_ELEMENT, "path", nothing, instances[i].id, errors);
    }
    return kept;
}

static void check_reference(const struct evd_answer *answer, struct evd_text target, const struct instance *instances,
                            size_t count, struct evd_errors *errors) {
    const struct evd_texts *ids = &answer->value->texts;
    if (answer->value->kind != EVD_ANSWER_TEXTS) return;
    for (size_t i = 0; i < ids->count; i++) {
        struct instance wanted = {.id = ids->items[i]};
        if (!evd_instance_id_is_valid(wanted.id)) continue; /* evd_answer_check tells it */
        const struct instance *found =
            count == 0 ? NULL : bsearch(&wanted, instances, count, sizeof wanted, by_id_only);
        if (found != NULL && evd_text_equal(found->answer->question, target)) continue;
        evd_answer_note(answer, evd_answer_pointer(answer, errors->arena, "/value/%zu", i), EVD_ERROR_BROKEN_REFERENCE,
                        "target", target, ids->items[i], errors);
    }
}

void evd_answers_check_instances(const struct evd_definition *definition, const struct evd_answer *answers,
                                 size_t count, struct evd_errors *errors) {
    size_t instance_count;
    struct instance *instances = instances_of(definition, answers, count, errors->arena, &instance_count);
    instance_count = refuse_repeated(instances, instance_count, errors);
    for (size_t i = 0; i < count; i++)
        if (kind_of(definition, &answers[i]) == EVD_QUESTION_REFERENCE)
            check_reference(&answers[i], evd_definition_question(definition, answers[i].question)->target, instances,
                            instance_count, errors);
}
