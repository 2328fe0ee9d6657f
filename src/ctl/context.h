/*
 * One run of evidencectl: what the command line said, and what the verbs work with.
 */
#ifndef EVIDENCED_SRC_CTL_CONTEXT_H
#define EVIDENCED_SRC_CTL_CONTEXT_H

#include "verb.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"

struct evd_ctl_wire;

enum { EVD_CTL_GIVEN = 128 }; /* options on one command line */

struct evd_ctl_given {
    enum evd_ctl_option option;
    const char *value; /* "" of a switch */
};

struct evd_ctl {
    struct evd_arena arena; /* of the whole run */
    const struct evd_ctl_verb *verb;
    struct evd_ctl_given given[EVD_CTL_GIVEN];
    size_t given_count;
    const char *operands[EVD_CTL_OPERANDS];
    size_t operand_count;
    struct evd_ctl_wire *wire; /* NULL until something is asked */
    evd_uuid key;              /* nil until something is asked that needs one */
    const char *place;         /* where it is asked, for people: a path or a URL; NULL before it is known */
    const char *repeat;        /* what a repetition must say besides --key; "" */
};

/**
 * Read the command line into *ret_ctl, whose arena is initialised already. Checks all that can be checked without
 * asking anybody: the verb, its options, their values, the operands.
 *
 * Returns DONE; or MISUSED, and standard error says why. --help and --version win over everything else: then `verb` may
 * be NULL, and evd_ctl_has tells.
 */
enum evd_ctl_exit evd_ctl_parse(int argc, char *const argv[], struct evd_ctl *ret_ctl);

/** Was the option given on the command line? */
bool evd_ctl_has(const struct evd_ctl *ctl, enum evd_ctl_option option);

/** The last value given, else that of the option's variable, else NULL. An empty variable counts as none. */
const char *evd_ctl_value(const struct evd_ctl *ctl, enum evd_ctl_option option);

/** The at-th value given of a LIST, from 0; NULL behind the last. */
const char *evd_ctl_value_at(const struct evd_ctl *ctl, enum evd_ctl_option option, size_t at);

/** The value of a NUMBER, `fallback` when it was not given. */
uint64_t evd_ctl_number(const struct evd_ctl *ctl, enum evd_ctl_option option, uint64_t fallback);

/** The value of an ID option in canonical form, NUL behind it; NULL when it was not given. */
const char *evd_ctl_id(struct evd_ctl *ctl, enum evd_ctl_option option);

/** Say on standard error what is wrong with the command line, and where its use is explained. Returns MISUSED. */
enum evd_ctl_exit evd_ctl_misuse(struct evd_ctl *ctl, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Print how evidencectl, a family of its verbs, or a verb is used. `words`: what stood where the verb should. */
enum evd_ctl_exit evd_ctl_help(struct evd_ctl *ctl);

#endif
