/*
 * Answers that have an order: integers, decimals and dates, in their text form.
 */
#ifndef DOMAIN_ANSWER_BOUND_H
#define DOMAIN_ANSWER_BOUND_H

#include "evidenced/base/text.h"
#include "evidenced/records/names.h"

#define EVD_INTEGER_LARGEST INT64_C(9007199254740991) /* 2⁵³-1: what every JSON reader keeps exact */

/** `-?digits(.digits)?`, at most 34 digits in all. Leading and trailing zeros count and are allowed. */
bool evd_decimal_is_valid(struct evd_text text);

/** Two valid decimals by their values, exactly, digit for digit: 1.50 equals 01.5, -0 equals 0. <0, 0, >0. */
int evd_decimal_compare(struct evd_text a, struct evd_text b);

/** Have answers of this kind an order? */
bool evd_bound_is_allowed(enum evd_question_kind kind);

/** Is it written as an answer of this kind is? For kinds that have an order. */
bool evd_bound_is_valid(enum evd_question_kind kind, struct evd_text text);

/** Two valid texts of that kind. <0, 0, >0. */
int evd_bound_compare(enum evd_question_kind kind, struct evd_text a, struct evd_text b);

#endif
