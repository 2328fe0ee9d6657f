/*
 * Answers: where one stands, what it may be, and when a set of them is complete.
 *
 * Pure. Save is tolerant (evd_answer_check): types, options, lengths and places must be right. Complete is strict
 * (evd_answers_check_complete): nothing required is missing, everything within its range and asked where it stands.
 * Source: domain page §1.
 */
#ifndef EVIDENCED_DOMAIN_ANSWER_H
#define EVIDENCED_DOMAIN_ANSWER_H

#include "evidenced/base/sha256.h"
#include "evidenced/domain/definition.h"

struct evd_answer {
    struct evd_text question;
    const struct evd_path_step *path;
    size_t path_count;
    const struct evd_answer_value *value;
    struct evd_text notes;
};

/** The place of an answer as an id: the same question at the same path has the same context, for ever. */
evd_uuid evd_answer_context(struct evd_text question, const struct evd_path_step *path, size_t path_count);

/** SHA-256 over value and notes: two answers are equal exactly when these are. */
struct evd_sha256 evd_answer_digest(const struct evd_answer_value *value, struct evd_text notes);

/**
 * May this answer be saved? Its question exists; its value is of the question's kind; options exist and do not
 * repeat; a text is within maxLength; a decimal has at most 34 digits, a date exists. Kinds and paths that need unit
 * instances or split options answer `notYetAvailable` as a code. Errors are noted under `pointer`, each with members
 * question, path, rule, expected, found.
 */
void evd_answer_check(const struct evd_definition *definition, const struct evd_answer *answer,
                      struct evd_text pointer, struct evd_errors *errors);

/**
 * Is the whole set of a session's answers complete? All errors at once, required questions in the form's order.
 * Checked as above, and: a required question whose parent asks for it has an answer; every answer's parent is
 * answered with one of `anyOf` (a withdrawn or unmet parent makes the answer `notApplicable`); min and max hold,
 * decimals compared digit for digit, dates by day. Pointers are empty: an answer that is missing has no place in the
 * body; the members name question and path.
 */
void evd_answers_check_complete(const struct evd_definition *definition, const struct evd_answer *answers, size_t count,
                                struct evd_errors *errors);

#endif
