/*
 * What checking, compiling and answering share: the index of a question tree, and the tree itself.
 *
 * Questions are numbered by their place in the list, options through all questions.
 */
#ifndef DOMAIN_DEFINITION_PRIVATE_H
#define DOMAIN_DEFINITION_PRIVATE_H

#include "evidenced/domain/definition.h"

#define EVD_NOT_THERE UINT32_MAX

struct evd_arena;
struct evd_id_slot;

/* Finds questions and options by their ids. Any list can be indexed; of two with one id, the first is found. */
struct evd_question_index {
    const struct evd_question *questions; /* borrowed */
    uint32_t count;
    uint32_t *first_option; /* of each question, its first option's number; one more entry closes the last */
    struct evd_id_slot *slots;
    uint32_t mask;
    uint64_t key[2];
};

void evd_question_index_init(struct evd_question_index *index, const struct evd_question *questions, size_t count,
                             struct evd_arena *arena);

/** The question's number, or EVD_NOT_THERE. Constant time. */
uint32_t evd_question_index_find(const struct evd_question_index *index, struct evd_text id);

/** The number of that option of that question, or EVD_NOT_THERE. Constant time. */
uint32_t evd_question_index_find_option(const struct evd_question_index *index, uint32_t question, struct evd_text id);

/* Who hangs under whom: every question leads up to its parent and to its unit. Any list gives a tree; where going up
 * would not end, the edge that leads back is marked. */
struct evd_question_tree {
    uint32_t *parent, *unit; /* EVD_NOT_THERE when it has none, or none that is in the list */
    uint32_t *order;         /* every question, after those it hangs under; but for marked edges */
    uint32_t *depth;         /* questions on the longest way up, itself included */
    uint8_t *leads_back;     /* EVD_EDGE_* that close a cycle */
    bool has_cycle;
};

enum { EVD_EDGE_PARENT, EVD_EDGE_UNIT, EVD_EDGE_COUNT };

void evd_question_tree_init(struct evd_question_tree *tree, const struct evd_question_index *index,
                            struct evd_arena *arena);

struct evd_definition {
    const struct evd_form_version *version;
    struct evd_question_index index;
    struct evd_question_tree tree;
    bool renderable;
};

#endif
