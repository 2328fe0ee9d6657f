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

/* Under whose elements a question is asked: its frame (definition.h). Any list gives frames; that of a question which
 * cannot be reached is empty. */
struct evd_question_frames {
    uint32_t *within; /* the innermost question of the frame, whose own frame is the rest; EVD_NOT_THERE: it is empty */
    uint8_t *length;
    uint8_t *reach; /* enum evd_question_reach */
};

enum evd_question_reach {
    EVD_REACHED,
    EVD_NOT_REACHED, /* what it hangs under is not in the list, too deep, not reached itself, or leads back to it */
    EVD_OUT_OF_REACH /* its parent and its unit are under different elements */
};

/** tree: of that index. */
void evd_question_frames_init(struct evd_question_frames *frames, const struct evd_question_index *index,
                              const struct evd_question_tree *tree, struct evd_arena *arena);

/* The questions that are asked together, once under each element: those with the same innermost question in their
 * frames. Groups are numbered by that question; the last group is asked once in the form. */
struct evd_question_groups {
    uint32_t *first; /* of each group, in the lists; one more entry closes the last */
    uint32_t *in_form_order;
    uint32_t *in_tree_order; /* after those they hang under */
};

void evd_question_groups_init(struct evd_question_groups *groups, const struct evd_question_index *index,
                              const struct evd_question_tree *tree, const struct evd_question_frames *frames,
                              struct evd_arena *arena);

/* Which answers of its parent ask a question, as bits: of choice and multichoice the options, of boolean false and
 * true; other kinds have none. */
struct evd_question_choices {
    uint32_t *first_word; /* of each question, where words of its own answers begin; one more entry closes the last */
    uint32_t
        *first_asking; /* of each question, in `asking`: as many words as its parent has; EVD_NOT_THERE: any asks */
    uint64_t *asking;
};

enum { EVD_CHOICE_WORD_BITS = 64, EVD_CHOICE_FALSE = 0, EVD_CHOICE_TRUE = 1 };

void evd_question_choices_init(struct evd_question_choices *choices, const struct evd_question_index *index,
                               const struct evd_question_tree *tree, struct evd_arena *arena);

static inline void evd_choice_set(uint64_t *words, uint32_t choice) {
    words[choice / EVD_CHOICE_WORD_BITS] |= UINT64_C(1) << choice % EVD_CHOICE_WORD_BITS;
}

struct evd_definition {
    const struct evd_form_version *version;
    struct evd_question_index index;
    struct evd_question_tree tree;
    struct evd_question_frames frames;
    struct evd_question_groups groups;
    struct evd_question_choices choices;
    bool renderable;
};

#endif
