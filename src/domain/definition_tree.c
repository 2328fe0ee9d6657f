/*
 * The question tree: one depth-first walk up from every question, with a stack of its own, since a hostile definition
 * may hang thousands of questions one under the other.
 */
#include "domain/definition_private.h"
#include "evidenced/base/arena.h"

#include <assert.h>

enum { NOT_SEEN, ON_THE_WAY, DONE };

struct walk {
    struct evd_question_tree *tree;
    uint32_t *stack;
    uint32_t stack_size, ordered;
    uint8_t *state;     /* of each question */
    uint8_t *next_edge; /* of each question on the stack: the edge to follow next */
};

static uint32_t above(const struct evd_question_tree *tree, uint32_t question, unsigned edge) {
    return edge == EVD_EDGE_PARENT ? tree->parent[question] : tree->unit[question];
}

static void push(struct walk *walk, uint32_t question) {
    walk->state[question] = ON_THE_WAY;
    walk->stack[walk->stack_size++] = question;
}

static void finish(struct walk *walk, uint32_t question) {
    struct evd_question_tree *tree = walk->tree;
    uint32_t deepest = 0;
    for (unsigned edge = 0; edge < EVD_EDGE_COUNT; edge++) {
        uint32_t up = above(tree, question, edge);
        if (up != EVD_NOT_THERE && tree->depth[up] > deepest) deepest = tree->depth[up];
    }
    tree->depth[question] = deepest + 1;
    tree->order[walk->ordered++] = question;
    walk->state[question] = DONE;
    walk->stack_size--;
}

static void step(struct walk *walk) {
    uint32_t question = walk->stack[walk->stack_size - 1];
    if (walk->next_edge[question] == EVD_EDGE_COUNT) {
        finish(walk, question);
        return;
    }
    unsigned edge = walk->next_edge[question]++;
    uint32_t up = above(walk->tree, question, edge);
    if (up == EVD_NOT_THERE || walk->state[up] == DONE) return;
    if (walk->state[up] == NOT_SEEN) {
        push(walk, up);
        return;
    }
    walk->tree->leads_back[question] |= (uint8_t)(1U << edge);
    walk->tree->has_cycle = true;
}

void evd_question_tree_init(struct evd_question_tree *tree, const struct evd_question_index *index,
                            struct evd_arena *arena) {
    uint32_t count = index->count;
    *tree = (struct evd_question_tree){.parent = EVD_NEW_ARRAY(arena, uint32_t, count),
                                       .unit = EVD_NEW_ARRAY(arena, uint32_t, count),
                                       .order = EVD_NEW_ARRAY(arena, uint32_t, count),
                                       .depth = EVD_NEW_ARRAY(arena, uint32_t, count),
                                       .leads_back = EVD_NEW_ARRAY(arena, uint8_t, count)};
    for (uint32_t q = 0; q < count; q++) {
        const struct evd_question *question = &index->questions[q];
        bool hangs = question->parent != NULL, repeats = question->unit.bytes != NULL;
        tree->parent[q] = hangs ? evd_question_index_find(index, question->parent->question) : EVD_NOT_THERE;
        tree->unit[q] = repeats ? evd_question_index_find(index, question->unit) : EVD_NOT_THERE;
    }
    struct walk walk = {.tree = tree,
                        .stack = EVD_NEW_ARRAY(arena, uint32_t, count),
                        .state = EVD_NEW_ARRAY(arena, uint8_t, count),
                        .next_edge = EVD_NEW_ARRAY(arena, uint8_t, count)};
    for (uint32_t q = 0; q < count; q++) {
        if (walk.state[q] == NOT_SEEN) push(&walk, q);
        while (walk.stack_size > 0)
            step(&walk);
    }
    assert(walk.ordered == count);
}
