/*
 * Answers: where one stands, what it may be, and when a set of them is complete.
 *
 * Places. The path of an answer has one step (question, element) for each question of its question's frame
 * (definition.h), in that order: an instance's id or an option's. The answer of a question that makes elements is
 * itself an element, and has its own step behind those: an instance is (U, [… (U, id)]) and its value the instance's
 * name; a chosen option of a split question is (M, [… (M, option)]) and its value true. So all that stands below an
 * element has the element's path as the beginning of its own, and an element is taken away by withdrawing its own
 * place. An instance's id is a UUID in lower case that the client makes up, of one instance only in a whole session.
 *
 * Pure. Save is tolerant (evd_answer_check): types, options, lengths, places and elements must be right. Complete is
 * strict (evd_answers_check_complete): nothing required is missing, everything within its range and asked where it
 * stands. An empty text, an empty list and null are no answers: what is taken back is withdrawn. A text of spaces is
 * one. Source: domain page §1.
 *
 * Errors have the codes of error_codes.h and always these members: question (its id), path (steps), rule (the member of
 * the question's definition that asks for it, or `path`), expected and found (a text or null; what was found is cut
 * short). Scratch memory comes from the errors' arena. Nothing walks a list for each element of another: time grows
 * with questions, options and answers, by n log n at most; that of evd_answers_check_complete also with the elements
 * times the questions asked under each.
 */
#ifndef EVIDENCED_DOMAIN_ANSWER_H
#define EVIDENCED_DOMAIN_ANSWER_H

#include "evidenced/base/sha256.h"
#include "evidenced/domain/definition.h"
#include "evidenced/domain/pins.h"

struct evd_answer {
    struct evd_text question;
    const struct evd_path_step *path;
    size_t path_count;                    /* at most EVD_LIMIT_QUESTION_DEPTH */
    const struct evd_answer_value *value; /* never NULL */
    struct evd_text notes;
    struct evd_text pointer; /* of the answer in the body, before `/value`; empty: it has no place there */
};

/**
 * The place of an answer as an id: the same question at the same path has the same context, for ever.
 *
 * path    from the outermost step inwards; at most EVD_LIMIT_QUESTION_DEPTH steps
 */
evd_uuid evd_answer_context(struct evd_text question, const struct evd_path_step *path, size_t path_count);

/** Is this the place of an element: is the last step the question's own? */
bool evd_answer_is_element(struct evd_text question, const struct evd_path_step *path, size_t path_count);

/**
 * SHA-256 over kind, value and notes: two answers are equal exactly when these are. What options, instances or points
 * there are counts, not their order; decimals are texts, so 1.50 is not 1.5; absent notes are empty ones.
 */
struct evd_sha256 evd_answer_digest(const struct evd_answer_value *value, struct evd_text notes);

/**
 * May this answer be saved? All that can be said of one answer alone:
 *   - its question exists; its path has the shape of the question's frame (`wrongPath`), of known options
 *     (`unknownOption`) and well formed instance ids (`malformedElement`); its elements exist (`unknownElement`, of the
 *     outermost that does not), its own excepted;
 *   - its value is of the question's kind and not empty; options exist and do not repeat; a text is within maxLength; a
 *     decimal is `-?digits(.digits)?` with at most 34 digits, a date exists; a reference has well formed ids, none
 * twice; a series has decimals, one point for each time by its value, and no negative error. Whether an instance's id
 * is its alone, and what a reference points at exists, takes all answers: evd_answers_check_instances.
 *
 * pins    as they will be: base and all changes of the request, also what is withdrawn with an element
 *
 * Errors are noted below the answer's pointer (`/question`, `/path`, `/path/<n>/element`, `/value`, `/value/<n>`, …).
 */
void evd_answer_check(const struct evd_definition *definition, const struct evd_answer *answer, struct evd_pins pins,
                      struct evd_errors *errors);

/**
 * Which answers stand below elements that are withdrawn, at whatever depth, and are to be withdrawn with them?
 *
 * answers      of the base, all of them; no definition is needed
 * withdrawn    places the request withdraws; those that are no elements have nothing below them
 *
 * Needed only when one of `withdrawn` is an element (evd_answer_is_element). Returns a list in the arena, of each
 * answer whether it stands below; the withdrawn elements themselves do not.
 */
const bool *evd_answers_below(const struct evd_answer *answers, size_t count, const struct evd_answer_place *withdrawn,
                              size_t withdrawn_count, struct evd_arena *arena);

/**
 * What one answer alone cannot tell: every instance's id is its alone in the set (`repeatedElement`, at each instance
 * behind the first), and every reference points at instances of its target (`brokenReference`: expected the target's
 * id, found the instance's; one that is no id is evd_answer_check's to tell). So for a Save that takes an instance
 * away, it lists all that would break.
 *
 * answers    the whole set as it will be, in whatever order: a repeated id is told at the later instance. Questions
 * that are not in the form are passed over
 *
 * Needed only when the request withdraws an element, gives an answer to a unit question at a place that is not pinned
 * yet, or gives one to a reference question.
 */
void evd_answers_check_instances(const struct evd_definition *definition, const struct evd_answer *answers,
                                 size_t count, struct evd_errors *errors);

/**
 * Is the whole set of a session's answers complete? All errors at once: answers the form has no place for; then the
 * form itself, and under it each element, before those below it, in the order of their ids: in each, question by
 * question in the form's order; then what evd_answers_check_instances says.
 *
 * A question is asked once under each combination of elements of its frame that is asked itself. It is asked there when
 * it has no parent, or the parent is asked and answered there, with one of `anyOf` where there are any; under a split
 * parent, when the option it stands under is one of `anyOf`. Each answer is checked as for Save, and: a required
 * question that is asked has an answer, or at least one element (`required`); one that is not asked has none
 * (`notApplicable`); min and max hold, decimals compared digit for digit, dates by day. The pointer about an answer
 * that is missing is empty; the members name question and path.
 *
 * answers    at most one for each context, in whatever order
 */
void evd_answers_check_complete(const struct evd_definition *definition, const struct evd_answer *answers, size_t count,
                                struct evd_errors *errors);

#endif
