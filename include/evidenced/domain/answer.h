/*
 * Answers: where one stands, what it may be, and when a set of them is complete.
 *
 * Pure. Save is tolerant (evd_answer_check): types, options, lengths and places must be right. Complete is strict
 * (evd_answers_check_complete): nothing required is missing, everything within its range and asked where it stands.
 * An empty text, an empty list and null are no answers: what is taken back is withdrawn. A text of spaces is one.
 * Source: domain page §1.
 *
 * Errors have the codes of error_codes.h and always these members: question (its id), path (steps), rule (the member of
 * the question's definition that asks for it), expected and found (a text or null; what was found is cut short).
 * Scratch memory comes from the errors' arena. Lists are walked once: time grows with questions, options and answers.
 */
#ifndef EVIDENCED_DOMAIN_ANSWER_H
#define EVIDENCED_DOMAIN_ANSWER_H

#include "evidenced/base/sha256.h"
#include "evidenced/domain/definition.h"

struct evd_answer {
    struct evd_text question;
    const struct evd_path_step *path;
    size_t path_count;
    const struct evd_answer_value *value; /* never NULL */
    struct evd_text notes;
};

/**
 * The place of an answer as an id: the same question at the same path has the same context, for ever.
 *
 * path    from the outermost step inwards; at most EVD_LIMIT_QUESTION_DEPTH steps
 */
evd_uuid evd_answer_context(struct evd_text question, const struct evd_path_step *path, size_t path_count);

/**
 * SHA-256 over kind, value and notes: two answers are equal exactly when these are. What options were chosen counts,
 * not their order; decimals are texts, so 1.50 is not 1.5; absent notes are empty ones.
 */
struct evd_sha256 evd_answer_digest(const struct evd_answer_value *value, struct evd_text notes);

/**
 * May this answer be saved? Its question exists; its value is of the question's kind and not empty; options exist and
 * do not repeat; a text is within maxLength; a decimal is `-?digits(.digits)?` with at most 34 digits, a date exists.
 * Kinds and paths that need unit instances or split options have the error `notYetAvailable`.
 *
 * pointer    of the answer in the body; errors are noted below it (`/question`, `/path`, `/value`, `/value/<n>`).
 *            Empty: it has no place there, and all pointers are empty
 */
void evd_answer_check(const struct evd_definition *definition, const struct evd_answer *answer, struct evd_text pointer,
                      struct evd_errors *errors);

/**
 * Is the whole set of a session's answers complete? All errors at once: answers the form has no place for, then
 * question by question in the form's order. A question is asked when it has no parent, or its parent is asked and
 * answered, with one of `anyOf` where there are any. Each answer is checked as above, and: a required question that is
 * asked has an answer (`required`); one that is not asked has none (`notApplicable`); min and max hold, decimals
 * compared digit for digit, dates by day. Pointers are empty: an answer that is missing has no place in the body; the
 * members name question and path.
 *
 * answers    at most one for each context
 */
void evd_answers_check_complete(const struct evd_definition *definition, const struct evd_answer *answers, size_t count,
                                struct evd_errors *errors);

#endif
