/*
 * What the checks of answers share.
 */
#ifndef DOMAIN_ANSWER_PRIVATE_H
#define DOMAIN_ANSWER_PRIVATE_H

#include "domain/definition_private.h"
#include "domain/finding.h"
#include "evidenced/domain/answer.h"

/* An answer that is checked against its question. */
struct evd_answer_subject {
    const struct evd_definition *definition;
    const struct evd_answer *answer;
    uint32_t at; /* the question's number */
    struct evd_errors *errors;
};

static inline const struct evd_question *evd_answer_question(const struct evd_answer_subject *subject) {
    return &subject->definition->index.questions[subject->at];
}

static inline enum evd_question_kind evd_answer_question_kind(const struct evd_answer_subject *subject) {
    return (enum evd_question_kind)evd_answer_question(subject)->kind.value;
}

/** The place of an error about an answer: its pointer and `member` (printf), or empty when it has none. */
struct evd_text evd_answer_pointer(const struct evd_answer *answer, struct evd_arena *arena, const char *member, ...)
    __attribute__((format(printf, 3, 4)));

/** Note something wrong with the answer. pointer: of evd_answer_pointer. */
void evd_answer_note(const struct evd_answer *answer, struct evd_text pointer, enum evd_error_code code,
                     const char *rule, struct evd_text expected, struct evd_text found, struct evd_errors *errors);

/** Find the answer's question; false, and noted, when the form has none. */
bool evd_answer_find_question(struct evd_answer_subject *subject);

/** Is its path of the shape of the question's frame, with elements that can be? Notes what is wrong. */
bool evd_answer_check_place(const struct evd_answer_subject *subject);

/** Note that the element of this step is not there. */
void evd_answer_note_unknown_element(const struct evd_answer *answer, size_t step, struct evd_errors *errors);

/** Is its value one its question takes? Notes what is wrong; the place is not looked at. */
void evd_answer_check_value(const struct evd_answer_subject *subject);

/** The part of it for values that are lists: chosen options, references, points. */
void evd_answer_check_list(const struct evd_answer_subject *subject);

/** The id of an instance in the one form it is written in: a UUID, lower case. */
bool evd_instance_id_is_valid(struct evd_text id);

/** Paths step by step, by the bytes of question and element; one that is the beginning of the other comes first. */
int evd_path_compare(const struct evd_path_step *a, size_t a_count, const struct evd_path_step *b, size_t b_count);

#endif
