/*
 * A typist: one tab of one reviewer that autosaves into the house's first study, and knows what a client would.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_TYPIST_H
#define EVIDENCED_TESTS_SUPPORT_TYPIST_H

#include "house.h"

struct typist {
    struct house *house;
    unsigned who;
    evd_uuid holder;
    struct evd_ids ids; /* of the session */
    evd_uuid stage;
    char base[EVD_UUID_TEXT_BYTES + 1]; /* of the version it types on; empty: none yet */
    long long etag, write_seq;          /* as the last answer told; etag 0: none yet */
    long long lease_generation;
};

/** A tab of person(who): the same tab number has the same holder id. */
struct typist typist_new(struct house *house, unsigned who, unsigned tab);

/** Content with one answer; to be freed. */
char *typed(const char *question, const char *value);

/** Autosave as the next write, with the etag it knows. The reply is the caller's; on success what it told is kept. */
struct reply typist_put(struct typist *typist, const char *content);
struct reply typist_patch(struct typist *typist, const char *content);

/** The same, and it must succeed. */
void typist_put_ok(struct typist *typist, const char *content);

/** What a Save of this tab names as its draft: an object, to be freed. */
char *typist_draft(const struct typist *typist);

/** Save or Complete q<n> with a value, naming this draft (draft NULL: null). On success base and etag are kept. */
struct reply typist_save(struct typist *typist, const struct evd_command *command, unsigned id, const char *question,
                         const char *value, const char *draft);

/** A command on the draft: {holder, etag} as the body. */
struct reply typist_ask(struct typist *typist, const struct evd_command *command, unsigned id);

/** The draft as the caller reads it. */
struct reply typist_read(const struct typist *typist);

/** Copies that are kept. */
size_t typist_copies(const struct typist *typist);

/** One copy, whole. */
struct reply typist_copy(const struct typist *typist, const char *copy);

#endif
