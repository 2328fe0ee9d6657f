/*
 * Outcomes: the typed answers a call can have, and what a person or a client needs to go on from each.
 */
#ifndef EVIDENCED_DOMAIN_OUTCOME_H
#define EVIDENCED_DOMAIN_OUTCOME_H

#include "evidenced/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_arena;

enum evd_outcome_code {
    EVD_OK,
#define EVD_OUTCOME(enumerator, ...) enumerator,
#include "evidenced/domain/outcome.def"
#undef EVD_OUTCOME
    EVD_OUTCOME_COUNT
};

_Static_assert(EVD_OUTCOME_COUNT <= 64, "a command's outcomes are a set of 64 bits");
#define EVD_OUTCOME_BIT(code) (UINT64_C(1) << (code))

/* Why something is Refused. */
enum evd_reason {
    EVD_NO_REASON,
    EVD_REASON_OWNERSHIP,
    EVD_REASON_ENROLMENT,
    EVD_REASON_PERMISSION,
    EVD_REASON_ADMISSION,
    EVD_REASON_STATISTICS_MODE,
    EVD_REASON_NOT_ASSIGNED,
    EVD_REASON_REVIEWED_THE_STUDY,
    EVD_REASON_WRITER_FLOOR,
    EVD_REASON_NOT_YET_AVAILABLE
};

/* One thing wrong with a request's content. `code` is one of a closed set, in api/openapi.yaml. */
struct evd_error {
    struct evd_text pointer; /* JSON pointer into the body; empty: the whole */
    const char *code;
    struct evd_text message;
    struct evd_text members; /* more rendered JSON members (question, path, expected, found), or empty */
};

/* All that is wrong, in the order it was found; the list is bounded, the count is whole. */
struct evd_errors {
    struct evd_arena *arena;
    struct evd_error *items;
    size_t count, capacity, total;
};

struct evd_outcome {
    enum evd_outcome_code code;
    enum evd_reason reason;
    struct evd_text detail;          /* instead of the outcome's own; bytes NULL: its own */
    struct evd_text members;         /* rendered JSON members the client needs to go on, or empty */
    const struct evd_errors *errors; /* ValidationFailed; NULL otherwise */
};

struct evd_outcome_entry {
    const char *name, *kebab;
    unsigned status;
    bool retryable;
    const char *title, *detail;
};

/** The catalogue's entry. EVD_OK: name "OK", status 200. */
const struct evd_outcome_entry *evd_outcome_entry_of(enum evd_outcome_code code);

/** `permission`, `writerFloor`, …; NULL for EVD_NO_REASON. */
const char *evd_reason_name(enum evd_reason reason);

static inline struct evd_outcome evd_ok(void) {
    return (struct evd_outcome){.code = EVD_OK};
}

static inline struct evd_outcome evd_outcome_of(enum evd_outcome_code code) {
    return (struct evd_outcome){.code = code};
}

/** Refused, for a reason, with a sentence for the person (a literal; bytes NULL: the outcome's own). */
static inline struct evd_outcome evd_refused(enum evd_reason reason, struct evd_text detail) {
    return (struct evd_outcome){.code = EVD_REFUSED, .reason = reason, .detail = detail};
}

void evd_errors_init(struct evd_errors *errors, struct evd_arena *arena);

/** Note one more. pointer and message must live in the arena or be static. Past EVD_LIMIT_VALIDATION_ERRORS only the
 * total grows. Returns the noted error for `members`, or NULL. */
struct evd_error *evd_errors_add(struct evd_errors *errors, struct evd_text pointer, const char *code,
                                 struct evd_text message);

/** EVD_OK when there are none, else ValidationFailed with them. Borrows. */
struct evd_outcome evd_errors_outcome(const struct evd_errors *errors);

#endif
