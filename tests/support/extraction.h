/*
 * Extraction in several forms: what tests of sessions need beside the house's own form.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_EXTRACTION_H
#define EVIDENCED_TESTS_SUPPORT_EXTRACTION_H

#include "house.h"

/* A published form of the house's project and the one stage that shows it. */
struct extraction {
    evd_uuid form, stage;
};

/** The house's own form. */
struct extraction extraction_of_house(const struct house *house);

/** Another form, published. questions: their JSON, with ' for ". number: of the commands that make it, below 100. */
struct extraction extraction_add(struct house *house, unsigned number, const char *questions);

/** Plant one more published version of the form, with the questions of the one before: publishing twice is no command
 * yet. */
void extraction_publish_again(struct house *house, evd_uuid form);

/** Ids of a reviewer's session on the house's first study. */
struct evd_ids extraction_ids(const struct house *house, struct extraction where);

/** Text with ' for ". To be freed. */
char *json_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * The body of a command on a session: `stage`, `baseVersion` (base, an id or NULL), `draft` null, then `members` (with
 * ' for ", none when empty). To be freed.
 */
char *extraction_body(struct extraction where, const char *base, const char *members);

/** Ask a command on a session that way. */
struct reply extraction_ask(struct house *house, const struct evd_command *command, struct extraction where,
                            unsigned who, unsigned id, const char *base, const char *members);

/** Save one answer under form version 1; it must succeed. base and base_revision: ids or NULL. */
struct reply extraction_save(struct house *house, struct extraction where, unsigned who, unsigned id, const char *base,
                             const char *question, const char *value, const char *base_revision);

/** Read one's own session; it must be there. */
struct reply extraction_read(struct house *house, struct extraction where, unsigned who);

/** The answer to that question in a reply's `answers`, which must have it. Borrowed. */
json_t *extraction_answer(const struct reply *reply, const char *question);

/** A string member of any object, NULL when it is null or not there. */
const char *member_of(const json_t *object, const char *member);

#endif
