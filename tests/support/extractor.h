/*
 * An extractor: one tab of one reviewer that saves answers below units and split choices of the house's first study,
 * and knows what a client would.
 *
 * Places are written `cohort=1/signs=x/when`: a number stands for an instance's id, all else for itself; the place of
 * an element has no question behind its own step (`cohort=1`).
 */
#ifndef EVIDENCED_TESTS_SUPPORT_EXTRACTOR_H
#define EVIDENCED_TESTS_SUPPORT_EXTRACTOR_H

#include "house.h"

struct extractor {
    struct house *house;
    unsigned who;
    char base[EVD_UUID_TEXT_BYTES + 1]; /* the version it changes; empty: none yet */
    json_t *revisions;                  /* of each answer it knows, by its place */
};

struct extractor extractor_new(struct house *house, unsigned who);
void extractor_done(struct extractor *extractor);

/** The id a number stands for. */
void extractor_instance(unsigned long number, char ret_id[EVD_UUID_TEXT_BYTES + 1]);

/** The place of an answer, or of an error about one: an object with question and path. */
void extractor_place(const json_t *entry, char *ret_text, size_t size);

/**
 * Save or Complete. answers: `{'place': value, …}`, single quotes standing for double ones, and in a list of strings
 * numbers for instances. withdrawn: places divided by spaces. On success what was answered is known from then on.
 */
struct reply extractor_send(struct extractor *extractor, const struct evd_command *command, const char *answers,
                            const char *withdrawn);

/** Save, and it must succeed. */
void extractor_save(struct extractor *extractor, const char *answers, const char *withdrawn);

/** `place code` of every error of a ValidationFailed, sorted and joined by `; `. Valid until the next of these. */
const char *extractor_errors(const struct reply *reply);

/** The places of the session as it reads, sorted and joined by `; `. Valid until the next of these. */
const char *extractor_places(const struct extractor *extractor);

#endif
