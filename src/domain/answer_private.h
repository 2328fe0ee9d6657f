/*
 * What Save's and Complete's checks of answers share.
 */
#ifndef DOMAIN_ANSWER_PRIVATE_H
#define DOMAIN_ANSWER_PRIVATE_H

#include "domain/finding.h"
#include "evidenced/domain/answer.h"

/* A finding about this answer: its place, and the rule that asks. */
static inline struct evd_finding evd_finding_about(const struct evd_answer *answer, enum evd_error_code code,
                                                   const char *rule) {
    return (struct evd_finding){.code = code,
                                .question = answer->question,
                                .path = answer->path,
                                .path_count = answer->path_count,
                                .rule = rule};
}

#endif
