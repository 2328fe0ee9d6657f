/*
 * A finding: one thing wrong with a definition or an answer, with all its error entry tells.
 */
#ifndef DOMAIN_FINDING_H
#define DOMAIN_FINDING_H

#include "evidenced/domain/error_codes.h"
#include "evidenced/domain/outcome.h"

struct evd_path_step;

struct evd_finding {
    enum evd_error_code code;
    struct evd_text question; /* its id */
    const struct evd_path_step *path;
    size_t path_count;
    const char *rule;                /* the member of the definition that asks for it: `maxLength`, `options`, … */
    struct evd_text expected, found; /* bytes NULL: nothing to tell, nothing found */
};

/**
 * Note it under `pointer` (in the arena of `errors`, or static). Its members are always question, path, rule, expected
 * and found, the last two a string or null. What was found is cut to 200 bytes: a list of errors stays readable, and
 * smaller than what it is about.
 */
void evd_finding_note(const struct evd_finding *finding, struct evd_text pointer, struct evd_errors *errors);

#endif
