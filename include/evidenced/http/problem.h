/*
 * Problems: every answer that is not a success, as `application/problem+json` (RFC 9457).
 *
 * Pure. Members: type, title, status, detail, instance, outcome, reason where there is one, retryable, commandId where
 * there is one, then what the outcome brings along, and for a list of errors `errors` and `errorCount`, the whole
 * count.
 */
#ifndef EVIDENCED_HTTP_PROBLEM_H
#define EVIDENCED_HTTP_PROBLEM_H

#include "evidenced/base/uuid.h"
#include "evidenced/domain/outcome.h"

#include <stdbool.h>
#include <stddef.h>

struct evd_buffer;

#define EVD_PROBLEM_CONTENT_TYPE "application/problem+json"

struct evd_problem {
    struct evd_outcome outcome; /* not EVD_OK */
    unsigned status;            /* 0: the outcome's own */
    struct evd_text request_id; /* becomes `instance`; empty: none */
    const evd_uuid *command_id; /* NULL: none */
};

/** Render. The text goes to the buffer's arena. */
void evd_problem_render(const struct evd_problem *problem, struct evd_buffer *buffer);

/** A problem that needs no memory: out of it. Static. */
struct evd_text evd_problem_out_of_memory(void);

/** When to try again, for `Retry-After`; 0 for what is not retryable. */
unsigned evd_problem_retry_seconds(enum evd_outcome_code code);

/** The outcome of a request the server refused with this status by itself. */
enum evd_outcome_code evd_problem_of_status(unsigned status);

/** The outcome with this kebab-case name; EVD_OK when there is none. */
enum evd_outcome_code evd_problem_find(struct evd_text kebab);

/** The page that explains an outcome, in Markdown. */
void evd_problem_page(enum evd_outcome_code code, struct evd_buffer *buffer);

#endif
