/*
 * A session's answers as the tree of elements they make: the form itself, and under it each element with the answers
 * that stand directly below it.
 */
#ifndef DOMAIN_ANSWER_TREE_H
#define DOMAIN_ANSWER_TREE_H

#include "domain/answer_private.h"

/* An answer that has a place in the form, and its question's number. */
struct evd_placed_answer {
    const struct evd_answer *answer;
    uint32_t question;
    bool is_element;
};

/* An element; the first of all is the form itself. */
struct evd_answer_node {
    const struct evd_answer *element;    /* NULL: the form */
    uint32_t question;                   /* the one that makes it; the number of questions: the form */
    uint32_t first_answer, answer_count; /* directly below, in the tree's answers; elements are nodes of their own */
    uint32_t first_child, next; /* elements directly below, those of one question together; EVD_NOT_THERE: no more */
    uint32_t last_child;        /* while it grows */
};

struct evd_answer_tree {
    struct evd_placed_answer *answers;
    struct evd_answer_node *nodes; /* each behind the one it stands below, and before that one's next */
    uint32_t node_count;
};

/**
 * Place the answers. Those of questions the form does not have, at places of another shape, or below elements that are
 * not there, are noted and left out. Borrows; made in the errors' arena.
 */
void evd_answer_tree_init(struct evd_answer_tree *tree, const struct evd_definition *definition,
                          const struct evd_answer *answers, size_t count, struct evd_errors *errors);

#endif
