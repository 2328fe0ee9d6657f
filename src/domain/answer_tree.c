/*
 * Sorted by their paths, all answers below an element come right behind it: the tree is then read off in one pass, with
 * the elements one is under on a stack.
 */
#include "domain/answer_tree.h"

#include "evidenced/base/arena.h"

struct growth {
    struct evd_answer_tree *tree;
    const struct evd_definition *definition;
    uint32_t under[EVD_LIMIT_QUESTION_DEPTH + 1]; /* nodes from the form inwards */
    size_t depth;                                 /* of the innermost: as many steps has its path */
    struct evd_errors *errors;
};

static int by_place(const void *a, const void *b) {
    const struct evd_placed_answer *left = a, *right = b;
    int order =
        evd_path_compare(left->answer->path, left->answer->path_count, right->answer->path, right->answer->path_count);
    return order != 0 ? order : right->is_element - left->is_element;
}

static size_t place(struct evd_placed_answer *placed, const struct evd_definition *definition,
                    const struct evd_answer *answers, size_t count, struct evd_errors *errors) {
    size_t placed_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct evd_answer_subject subject = {.definition = definition, .answer = &answers[i], .errors = errors};
        if (!evd_answer_find_question(&subject)) continue;
        if (!evd_answer_check_place(&subject)) {
            evd_answer_check_value(&subject);
            continue;
        }
        placed[placed_count++] = (struct evd_placed_answer){
            .answer = &answers[i],
            .question = subject.at,
            .is_element = evd_question_makes_elements(evd_answer_question(&subject)),
        };
    }
    if (placed_count > 1) qsort(placed, placed_count, sizeof *placed, by_place);
    return placed_count;
}

static struct evd_answer_node *innermost(const struct growth *growth) {
    return &growth->tree->nodes[growth->under[growth->depth]];
}

/* Is the innermost element the beginning of this path? */
static bool is_under(const struct growth *growth, const struct evd_path_step *path, size_t path_count) {
    size_t depth = growth->depth;
    if (depth > path_count) return false;
    return depth == 0 || evd_path_compare(innermost(growth)->element->path, depth, path, depth) == 0;
}

static void add_element(struct growth *growth, const struct evd_placed_answer *placed) {
    struct evd_answer_tree *tree = growth->tree;
    struct evd_answer_node *above = innermost(growth);
    uint32_t number = tree->node_count++;
    tree->nodes[number] = (struct evd_answer_node){.element = placed->answer,
                                                   .question = placed->question,
                                                   .first_child = EVD_NOT_THERE,
                                                   .last_child = EVD_NOT_THERE,
                                                   .next = EVD_NOT_THERE};
    if (above->last_child == EVD_NOT_THERE)
        above->first_child = number;
    else
        tree->nodes[above->last_child].next = number;
    above->last_child = number;
    growth->under[++growth->depth] = number;
}

static void add_answer(struct growth *growth, uint32_t at) {
    struct evd_answer_node *node = innermost(growth);
    if (node->answer_count == 0) node->first_answer = at;
    node->answer_count++;
}

/* What is wrong with its value is told here: nobody will look at it again. */
static void leave_out(const struct growth *growth, const struct evd_placed_answer *placed) {
    struct evd_answer_subject subject = {growth->definition, placed->answer, placed->question, growth->errors};
    evd_answer_note_unknown_element(placed->answer, growth->depth, growth->errors);
    evd_answer_check_value(&subject);
}

static void add(struct growth *growth, uint32_t at) {
    const struct evd_placed_answer *placed = &growth->tree->answers[at];
    size_t steps_above = placed->answer->path_count - placed->is_element;
    while (!is_under(growth, placed->answer->path, steps_above))
        growth->depth--;
    if (growth->depth < steps_above)
        leave_out(growth, placed);
    else if (placed->is_element)
        add_element(growth, placed);
    else
        add_answer(growth, at);
}

void evd_answer_tree_init(struct evd_answer_tree *tree, const struct evd_definition *definition,
                          const struct evd_answer *answers, size_t count, struct evd_errors *errors) {
    struct growth growth = {.tree = tree, .definition = definition, .errors = errors};
    *tree = (struct evd_answer_tree){.answers = EVD_NEW_ARRAY(errors->arena, struct evd_placed_answer, count),
                                     .nodes = EVD_NEW_ARRAY(errors->arena, struct evd_answer_node, count + 1),
                                     .node_count = 1};
    tree->nodes[0] = (struct evd_answer_node){.question = definition->index.count,
                                              .first_child = EVD_NOT_THERE,
                                              .last_child = EVD_NOT_THERE,
                                              .next = EVD_NOT_THERE};
    size_t placed_count = place(tree->answers, definition, answers, count, errors);
    for (uint32_t i = 0; i < placed_count; i++)
        add(&growth, i);
}
