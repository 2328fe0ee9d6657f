#include "domain/definition_private.h"
#include "evidenced/base/arena.h"

static uint32_t words_of(const struct evd_question *question) {
    if (question->kind.value == EVD_QUESTION_BOOLEAN) return 1;
    if (question->kind.value != EVD_QUESTION_CHOICE && question->kind.value != EVD_QUESTION_MULTICHOICE) return 0;
    return ((uint32_t)question->options.count + EVD_CHOICE_WORD_BITS - 1) / EVD_CHOICE_WORD_BITS;
}

/* The number of one of `anyOf` among the parent's choices, or EVD_NOT_THERE. */
static uint32_t choice_of(const struct evd_question_index *index, uint32_t parent, struct evd_text one) {
    if (index->questions[parent].kind.value == EVD_QUESTION_BOOLEAN) {
        if (evd_text_equal(one, EVD_TEXT("true"))) return EVD_CHOICE_TRUE;
        return evd_text_equal(one, EVD_TEXT("false")) ? EVD_CHOICE_FALSE : EVD_NOT_THERE;
    }
    uint32_t option = evd_question_index_find_option(index, parent, one);
    return option == EVD_NOT_THERE ? EVD_NOT_THERE : option - index->first_option[parent];
}

static uint32_t words_of_parent(const struct evd_question_choices *choices, const struct evd_question_tree *tree,
                                uint32_t question) {
    uint32_t parent = tree->parent[question];
    return parent == EVD_NOT_THERE ? 0 : choices->first_word[parent + 1] - choices->first_word[parent];
}

static bool any_asks(const struct evd_question *question) {
    return question->parent == NULL || question->parent->any_of.count == 0;
}

static void mark(const struct evd_question_choices *choices, const struct evd_question_index *index,
                 const struct evd_question_tree *tree, uint32_t question) {
    const struct evd_question *asked = &index->questions[question];
    if (any_asks(asked) || words_of_parent(choices, tree, question) == 0) return;
    for (size_t i = 0; i < asked->parent->any_of.count; i++) {
        uint32_t choice = choice_of(index, tree->parent[question], asked->parent->any_of.items[i]);
        if (choice != EVD_NOT_THERE) evd_choice_set(choices->asking + choices->first_asking[question], choice);
    }
}

void evd_question_choices_init(struct evd_question_choices *choices, const struct evd_question_index *index,
                               const struct evd_question_tree *tree, struct evd_arena *arena) {
    choices->first_word = EVD_NEW_ARRAY(arena, uint32_t, (size_t)index->count + 1);
    choices->first_asking = EVD_NEW_ARRAY(arena, uint32_t, index->count);
    for (uint32_t q = 0; q < index->count; q++)
        choices->first_word[q + 1] = choices->first_word[q] + words_of(&index->questions[q]);
    uint32_t asking_count = 0;
    for (uint32_t q = 0; q < index->count; q++) {
        bool any = any_asks(&index->questions[q]);
        choices->first_asking[q] = any ? EVD_NOT_THERE : asking_count;
        if (!any) asking_count += words_of_parent(choices, tree, q);
    }
    choices->asking = EVD_NEW_ARRAY(arena, uint64_t, asking_count);
    for (uint32_t q = 0; q < index->count; q++)
        mark(choices, index, tree, q);
}
