/*
 * What the oracles' files share.
 *
 *   oracle          after every commit and at every answer: which of the others is asked; stamps, once only, receipts
 *   oracle_look     what is stored, now or at an instant before, decoded
 *   oracle_judge    what a request on a session or a draft must be answered, at one instant
 *   oracle_version  a version that was written: its base with the changes laid over, nothing silently overwritten
 *   oracle_answers  a version's answers among each other: elements, references, what is required
 *   oracle_draft    what was done to a draft
 *   oracle_text     nothing typed is lost
 *   oracle_member   who is no member any more writes nothing
 *   oracle_receipt  a receipt says what was written
 *   oracle_read     a view shows one instant
 *   oracle_operation  imports: identifiers, what became of each row, undoing
 *   oracle_whole    everything that is stored, against itself
 */
#ifndef EVIDENCED_TESTS_SIM_ORACLE_H
#define EVIDENCED_TESTS_SIM_ORACLE_H

#include "sim.h"

#include "evidenced/base/arena.h"

#define SIM_NOW UINT64_MAX

/* A record of one instant, decoded. */
struct sim_record {
    struct evd_key key;
    const struct evd_type *type;
    const void *record; /* begins with struct evd_record */
};

/* Since this instant, this person is a member, or is none. */
struct sim_membership {
    evd_uuid person;
    uint64_t since;
    bool member;
};

/* This host has answered that a revocation took effect at this instant. */
struct sim_revocation {
    evd_uuid person;
    uint64_t at;
    unsigned host;
};

/* A version somebody was told of. */
struct sim_acknowledged {
    evd_uuid version;
    const struct sim_intent *intent;
};

struct sim_oracle {
    struct evd_arena arena; /* of one look */
    struct evd_arena kept;  /* of the run: images in the store never change, so each is decoded once */
    struct sim_kept {
        const uint8_t *bson;
        const void *record;
    } * decoded; /* open addressing by the image's address */
    size_t decoded_count, decoded_size;
    struct sim_record *records;
    size_t count, capacity;
    struct sim_record **by_key; /* sorted */
    struct sim_acknowledged *acknowledged;
    size_t acknowledged_count, acknowledged_capacity;
    struct sim_membership *memberships; /* in the order of their instants */
    size_t membership_count, membership_capacity;
    struct sim_revocation *revocations;
    size_t revocation_count, revocation_capacity;
    evd_uuid *steps; /* command ids of drivers that took effect */
    size_t step_count, step_capacity;
    unsigned late;                            /* commits that landed when their attempts had ended */
    evd_stamp study_stamps[SIM_STUDIES_MOST]; /* the largest under which evidence of the study was written */
};

/** Make room for one more; returns where it goes. */
void *sim_list_add(void *items, size_t *count, size_t *capacity, size_t size_bytes);

/* oracle_look.c */

/** Decode; a document that does not is a fault. */
const void *sim_decode(struct sim *sim, const struct evd_key *key, const struct evd_image *image);

/** Of a write: the record before it and behind it; NULL: none. */
const void *sim_before(struct sim *sim, const struct evd_write *write);
const void *sim_after(struct sim *sim, const struct evd_write *write);

/** The write of this collection in a commit, the first one; NULL: none. */
const struct evd_write *sim_written(const struct simulated_commit *commit, evd_collection in);

/** Take a look at everything that is stored. */
void sim_look(struct sim *sim);

/** The record as it is now, of those that were looked at last; NULL: there is none. */
const void *sim_find(const struct sim *sim, evd_collection in, evd_uuid id);

/** The record as it was at an instant, without a look; NULL: there was none. */
const void *sim_at(struct sim *sim, uint64_t instant, evd_collection in, evd_uuid id);

/** All records of a collection at an instant, an array in the arena. */
const void **sim_all(struct sim *sim, uint64_t instant, evd_collection in, size_t *ret_count);

#define SIM_EACH(sim, COLLECTION, T, name)                                                                             \
    for (size_t at_##name = 0; at_##name < (sim)->oracle->count; at_##name++)                                          \
        for (const struct evd_##T *name = (sim)->oracle->records[at_##name].key.in == EVD_IN_##COLLECTION              \
                                              ? (sim)->oracle->records[at_##name].record                               \
                                              : NULL;                                                                  \
             name != NULL; name = NULL)

/** The place and the answer as sim_place_name_of and sim_said have them. value NULL: taken back. */
void sim_name_of(struct evd_text question, const struct evd_path_step *path, size_t count, char ret[SIM_SAID_BYTES]);
void sim_said_of(struct evd_text question, const struct evd_path_step *path, size_t count,
                 const struct evd_answer_value *value, char ret[SIM_SAID_BYTES]);

/* The nth thing a draft's content says; its place and whole. False: there are no more. */
struct sim_saying {
    char name[SIM_SAID_BYTES], said[SIM_SAID_BYTES];
};
bool sim_saying_at(const struct evd_draft_content *content, size_t at, struct sim_saying *ret);
bool sim_content_says(const struct evd_draft_content *content, const char *said);
bool sim_content_names(const struct evd_draft_content *content, const char *name);

/* A list of a body: its entry for a place; NULL: none. */
const json_t *sim_entry(const json_t *list, const char *name);

/** Does the request name this place, whatever it says of it? */
bool sim_body_names(const struct sim_intent *intent, const char *name);

/** Does it withdraw an element this place stands under? */
bool sim_body_withdraws_above(const struct sim_intent *intent, const char *name);

evd_uuid sim_uuid_in(const json_t *body, const char *member);
long long sim_number_in(const json_t *body, const char *member);

/** Which study; SIM_STUDIES_MOST: none of the known. */
unsigned sim_study_number(const struct sim *sim, evd_uuid study);
unsigned sim_form_number(const struct sim *sim, evd_uuid form);

/** The session, and so the draft, a request's path names. */
evd_uuid sim_session_of(const struct sim_intent *intent);

static inline bool sim_autosaves(const struct evd_command *command) {
    return command == &evd_command_put_draft || command == &evd_command_patch_draft;
}

static inline bool sim_saves(const struct evd_command *command) {
    return command == &evd_command_save || command == &evd_command_complete;
}

/* Does it make a version of a session? */
static inline bool sim_makes_version(const struct evd_command *command) {
    return sim_saves(command) || command == &evd_command_withdraw || command == &evd_command_fix;
}

/* oracle_judge.c */

/* What a request deserves: base says which StaleBase. */
struct sim_verdict {
    enum evd_outcome_code code;
    const char *base;
};

struct sim_verdict sim_judge_session(struct sim *sim, const struct sim_intent *intent, uint64_t instant,
                                     int64_t now_ms);
struct sim_verdict sim_judge_autosave(struct sim *sim, const struct sim_intent *intent, uint64_t instant,
                                      int64_t now_ms);

/** Has this autosave landed, or one that is the same write? */
bool sim_is_written(const struct sim *sim, const struct sim_intent *intent);

/** A refusal, and the success of an autosave, must be deserved at some instant of its call. */
void sim_oracle_deserved(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer);

/* The others. */

void sim_oracle_version(struct sim *sim, const struct sim_attempt *attempt, const struct simulated_commit *commit);
void sim_oracle_answers(struct sim *sim, const struct evd_annotation_revision *const *answers, size_t count,
                        unsigned form, bool complete);
void sim_oracle_draft(struct sim *sim, const struct sim_attempt *attempt, const struct simulated_commit *commit);
void sim_oracle_text(struct sim *sim, const struct sim_intent *intent, const struct simulated_commit *commit);
void sim_oracle_copy(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer);
void sim_oracle_member(struct sim *sim, const struct sim_attempt *attempt, const struct simulated_commit *commit);
void sim_oracle_member_answered(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer);
bool sim_was_member(const struct sim *sim, evd_uuid person, uint64_t instant);
void sim_oracle_receipt(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer);

/** Of what was looked at last. */
void sim_oracle_operations(struct sim *sim);

void sim_oracle_read(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer);

#endif
