/*
 * The simulator: the real commands, rules and runtime, several hosts of them, on a store, a network and clocks that one
 * seed decides. One thread; the same seed runs the same way, bit for bit.
 *
 *   world     the store, the hosts with their clocks, what is on its way between them and the clients
 *   fault     which faults a seed has, and when they strike
 *   tab       a reviewer's tab: types, autosaves, saves, times out, asks again
 *   oracle    what must be true after every commit and at the end; shares nothing with what it judges but the records
 *   run       one seed, two phases: safety under faults; then no faults, and everybody gets an answer
 *   main      many seeds, canaries, the shortest run that still fails
 */
#ifndef EVIDENCED_TESTS_SIM_SIM_H
#define EVIDENCED_TESTS_SIM_SIM_H

#include "../support/simulated_store.h"
#include "../support/test.h"

#include "evidenced/commands/table.h"
#include "evidenced/records/dictionary.h"
#include "evidenced/runtime/runtime.h"

#include <jansson.h>
#include <stdbool.h>

enum {
    SIM_HOSTS = 3,
    SIM_REVIEWERS = 4,
    SIM_TABS = 2, /* of each reviewer */
    SIM_STUDIES = 2,
    SIM_FORMS = 2, /* which share their first questions */
    SIM_QUESTIONS = 5,
    SIM_SHARED = 2,
    SIM_TARGET = 2,
    SIM_TOKEN_BYTES = 16,
    SIM_TEXT_BYTES = EVD_UUID_TEXT_BYTES + 1
};

struct sim;

/* One thing somebody wants, under one command id or autosave sequence, however often it is asked. */
struct sim_intent {
    unsigned number;
    const struct evd_command *command;
    struct evd_ids ids;
    evd_uuid caller, key; /* key nil: no command id */
    char *body;           /* NULL: none */
    char condition[40];   /* If-Match's value; "*": If-None-Match */
    struct sim_tab *tab;  /* NULL: an administrator's or the world's own */
    unsigned asked;       /* copies sent */
    unsigned landed;      /* commits of it that did more than keep a copy */
    bool answered;        /* its tab has an answer that ends it */
    char *receipt;        /* of the first success; every other must be the same bytes */
};

struct sim_answer {
    enum evd_outcome_code code;
    bool replayed, broken; /* broken: the connection did, nothing is known */
    json_t *body;
    int64_t etag;
};

/* Intents. */

/** A new intent with a fresh key, when its command has one. body: taken. */
struct sim_intent *sim_intent_new(struct sim *sim, const struct evd_command *command, struct evd_ids ids,
                                  evd_uuid caller, json_t *body);

/** Send it to some host; the answer, if one comes back, is given to the tab. */
void sim_send(struct sim *sim, struct sim_intent *intent);

/** Ask on the first host and wait, without faults: for setting up. The body of the answer. */
json_t *sim_ask(struct sim *sim, const struct evd_command *command, struct evd_ids ids, evd_uuid caller, json_t *body);

/* Tabs. */

enum sim_tab_state { SIM_IDLE, SIM_WAITING, SIM_GONE };

/* What a tab has in one place. */
struct sim_place {
    char typed[SIM_TOKEN_BYTES];   /* changed and not saved; empty: as saved */
    char revision[SIM_TEXT_BYTES]; /* the saved answer's; empty: none */
};

struct sim_tab {
    struct sim *sim;
    unsigned reviewer, number, study, form;
    evd_uuid person, holder;
    enum sim_tab_state state;
    struct sim_intent *intent;
    int64_t patience;                   /* steps until it asks again */
    bool loaded, due;                   /* due: it must load before it does anything else */
    bool read_only, is_holder, blocked; /* blocked: there is no place for it */
    char version[SIM_TEXT_BYTES];       /* the base; empty: none */
    long long etag, write_seq, generation;
    struct sim_place places[SIM_QUESTIONS];
    char **known; /* tokens it typed or was shown */
    size_t known_count, known_capacity;
    char copy[SIM_TEXT_BYTES]; /* one that waits to be settled; empty: none known */
};

void sim_tab_init(struct sim_tab *tab, struct sim *sim, unsigned reviewer, unsigned number);
void sim_tab_done(struct sim_tab *tab);

/** Do the next thing. calm: type nothing new, only bring what is there to an end. */
void sim_tab_step(struct sim_tab *tab, bool calm);

/** The answer to its intent arrived. */
void sim_tab_answer(struct sim_tab *tab, struct sim_intent *intent, const struct sim_answer *answer);

bool sim_tab_knows(const struct sim_tab *tab, const char *token);
bool sim_tab_is_settled(const struct sim_tab *tab);

/** The id of question n of a form: the first SIM_SHARED stand in both. */
void sim_question(unsigned form, unsigned question, char ret_id[8]);

/* Faults. */

struct sim_faults {
    unsigned conflict, unavailable, lost_answer, lost_request, delayed, stays_unknown; /* of 1,000 calls */
    unsigned drop, duplicate;                                                          /* of 1,000 messages */
    unsigned crash, skew, jump;                                                        /* of 10,000 steps */
    bool frozen_clock;
};

void sim_faults_draw(struct sim_faults *faults, struct evd_test_random *random);
void sim_faults_clear(struct sim_faults *faults);

/* Oracles. A fault they find ends the run: sim_fail. */

void sim_oracle_begin(struct sim *sim);
void sim_oracle_end(struct sim *sim);

/** After a commit that landed; its tag is the intent. */
void sim_oracle_committed(struct sim *sim, const struct simulated_commit *commit);

/** After an answer was made, before anybody has it. */
void sim_oracle_answered(struct sim *sim, struct sim_intent *intent, const struct sim_answer *answer,
                         const char *receipt);

/** Everything that is stored, as it is now. */
void sim_oracle_whole(struct sim *sim);

/* Run. */

struct sim_host {
    struct sim *sim;
    unsigned number;
    struct evd_test_clock clock;
    struct evd_test_random random;
    struct evd_runtime *runtime; /* NULL: down */
    bool dying, frozen;
    size_t calls; /* begun and not done */
};

struct sim_message {
    struct sim_message *next;
    struct sim_intent *intent;
    bool is_answer;
    struct sim_answer answer;
};

struct sim {
    uint64_t seed;
    unsigned steps, step;
    struct evd_test_random random;
    struct sim_faults faults;
    struct evd_store *store;
    struct sim_host hosts[SIM_HOSTS];
    unsigned host_count;
    struct sim_message *first_message, *last_message;
    struct sim_intent **intents;
    size_t intent_count, intent_capacity;
    struct sim_call *finished; /* to be freed after the step */
    evd_uuid admin, project, stage, stages[SIM_FORMS], forms[SIM_FORMS], studies[SIM_STUDIES];
    struct sim_tab tabs[SIM_REVIEWERS * SIM_TABS];
    unsigned tab_count, tokens, keys;
    struct sim_oracle *oracle;
    bool failed, verbose;
    char failure[512];
    unsigned answers, commits, crashes;
};

/** A number below bound, of the seed. */
unsigned sim_below(struct sim *sim, unsigned bound);

/** True in `of` out of `in`. */
bool sim_chance(struct sim *sim, unsigned of, unsigned in);

void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_say(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

void sim_world_open(struct sim *sim);
void sim_world_close(struct sim *sim);
void sim_world_step(struct sim *sim, bool calm);
bool sim_world_is_quiet(const struct sim *sim);
void sim_host_start(struct sim_host *host);

/** Run one seed. False: it failed, and sim->failure says how. */
bool sim_run(struct sim *sim, uint64_t seed, unsigned steps, bool verbose);

#endif
