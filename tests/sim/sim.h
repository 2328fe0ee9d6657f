/*
 * The simulator: the real commands, rules and runtime, several hosts of them, on a store, a network and clocks that one
 * seed decides. One thread; the same seed runs the same way, bit for bit.
 *
 *   world     the hosts with their clocks, what the store does, what a step is
 *   wire      what is on its way between clients and hosts, and the calls it becomes
 *   verify    the daemon's own verification, while everything goes on
 *   furnish   the project all of it happens in
 *   form      what its forms ask
 *   fault     which faults a seed has, and when they strike
 *   place     what a tab has where answers stand
 *   tab       a reviewer's tab: types (type), autosaves, saves, times out, asks again, and hears (tab_answer)
 *   admin     an administrator, who revokes and restores reviewers, releases drafts, imports studies and undoes that
 *   oracle    what must be true after every commit, at every answer and at the end; shares nothing with what it judges
 *             but the records (oracle.h lists its files)
 *   run       one seed, two phases: safety under faults; then no faults, and everybody gets an answer
 *   canaries  the oracles against deliberate bugs
 *   main      many seeds, the shortest run that still fails
 */
#ifndef EVIDENCED_TESTS_SIM_SIM_H
#define EVIDENCED_TESTS_SIM_SIM_H

#include "../support/simulated_store.h"
#include "../support/test.h"

#include "evidenced/commands/table.h"
#include "evidenced/operation/driver.h"
#include "evidenced/records/dictionary.h"
#include "evidenced/runtime/runtime.h"

#include <jansson.h>
#include <stdbool.h>

enum {
    SIM_HOSTS = 3,
    SIM_REVIEWERS = 4,
    SIM_TABS = 2,          /* of each reviewer */
    SIM_STUDIES = 2,       /* that are always there */
    SIM_STUDIES_MOST = 30, /* with those that are imported, and may be taken away again */
    SIM_IMPORTS = 30,
    SIM_FORMS = 2, /* which share their first questions */
    SIM_TARGET = 2,
    SIM_SHOWN = 32,
    SIM_DEPTH = 3, /* steps of a path, at most */
    SIM_TEXT_BYTES = EVD_UUID_TEXT_BYTES + 1,
    SIM_SAID_BYTES = 600
};

struct sim;
struct sim_tab;

/* Intents. */

/* One thing somebody wants, under one command id or autosave sequence, however often it is asked. */
struct sim_intent {
    unsigned number;
    const struct evd_command *command;
    struct evd_ids ids;
    evd_uuid caller, key;           /* key nil: no command id */
    char *body;                     /* NULL: none */
    json_t *asked_for;              /* the body, parsed */
    char condition[40];             /* If-Match's value; "*": If-None-Match */
    struct evd_options options;     /* of a file */
    struct sim_tab *tab;            /* NULL: an administrator's, or nobody's */
    struct sim_intent *root;        /* whose command id it has: its own but for a careless client's */
    unsigned asked;                 /* copies sent */
    unsigned landed;                /* commits of it that did more than keep a copy */
    uint64_t landed_at, decided_at; /* the instants of the first, and of its snapshot */
    unsigned effects;               /* of a root: commits under its command id */
    bool answered;                  /* whoever wants it has an answer that ends it */
    char *receipt;                  /* of the first success; every other must be the same bytes */
};

struct sim_answer {
    enum evd_outcome_code code;
    bool replayed;
    json_t *body;   /* NULL: none that is JSON */
    unsigned host;  /* where it was made */
    uint64_t begun; /* the instant the call began at */
    int64_t now_ms; /* what the host's clock said when it was decided */
};

/** A new intent with a fresh key, when its command has one. body: taken. */
struct sim_intent *sim_intent_new(struct sim *sim, const struct evd_command *command, struct evd_ids ids,
                                  evd_uuid caller, json_t *body);

/** Send it to some host; the answer, if one comes back, is given to whoever asked. */
void sim_send(struct sim *sim, struct sim_intent *intent);

/** Ask on the first host and wait, without faults: for setting up. The body of the answer. */
json_t *sim_ask(struct sim *sim, const struct evd_command *command, struct evd_ids ids, evd_uuid caller, json_t *body);

/** Let one message arrive, if there is one; requests_only: a host, not a client. */
void sim_deliver(struct sim *sim, bool requests_only);

void sim_wire_close(struct sim *sim);

/** Let the first host verify the project, so many records a page; after each piece the world goes on for so many steps.
 * What it finds fails the run. */
void sim_verify(struct sim *sim, size_t page, unsigned steps);

/** Whose attempt a transaction is, by the arena it was opened with: for simulated_store_watch. */
void *sim_attempt_of(void *sim, struct evd_arena *arena);

/** Forget the calls that are done. */
void sim_calls_free(struct sim *sim);

/** Is this answer none: is the same to be asked again? */
bool sim_asks_again(enum evd_outcome_code code);

/* Forms. */

struct sim_question {
    const char *id, *kind;
    const char *unit, *parent, *target; /* NULL: none */
    const char *above[SIM_DEPTH - 1];   /* the questions above that make elements, outermost first; NULL behind them */
    bool required, makes_elements;
};

/** The questions of a form; the first of both are the same ones. */
const struct sim_question *sim_form(unsigned form, unsigned *ret_count);

const struct sim_question *sim_question(unsigned form, const char *id);

/** How they are created. */
json_t *sim_form_json(unsigned form);

/* Places. */

enum sim_change { SIM_UNCHANGED, SIM_GIVEN, SIM_TAKEN_BACK };

/* What a tab has in one place. */
struct sim_place {
    const struct sim_question *question;
    char elements[SIM_DEPTH][SIM_TEXT_BYTES]; /* of its path's steps */
    char revision[SIM_TEXT_BYTES];            /* the answer it knows of; empty: none */
    json_t *saved;                            /* in the version it looks at; NULL: not answered there */
    enum sim_change change;                   /* not saved yet */
    json_t *given;
    bool stored;                  /* the change stands in the draft: a PATCH need not say it again */
    char current[SIM_TEXT_BYTES]; /* the revision another form made of a saved answer; empty: none */
};

/** Steps of the path: the questions above, and its own when it makes elements. */
unsigned sim_place_steps(const struct sim_place *place);

/** `fu=<id>/fd`: the steps and the question. entry: of a body, with question and path. */
void sim_place_name(const struct sim_place *place, char ret_name[SIM_SAID_BYTES]);
void sim_place_name_of(const json_t *entry, char ret_name[SIM_SAID_BYTES]);

/** `fu=<id>/fd:value`; value NULL: taken back. What the oracles make of a record is the same text. */
void sim_said(const json_t *entry, const json_t *value, char ret_said[SIM_SAID_BYTES]);

/** question and path. */
json_t *sim_place_json(const struct sim_place *place);

/** The place an entry of a body names; made when it is new; NULL when the tab's form does not have it. */
struct sim_place *sim_place_of(struct sim_tab *tab, const json_t *entry);

/** The place of `question` with these elements above it; `own` of its own: NULL for none. Made when it is new. */
struct sim_place *sim_place_at(struct sim_tab *tab, const struct sim_question *question,
                               const char (*above)[SIM_TEXT_BYTES], const char *own);

/** What is answered there, saved or not; NULL: nothing, or taken back. */
json_t *sim_place_value(const struct sim_place *place);

/** Is the element there, and are those it stands under? */
bool sim_element_is_there(struct sim_tab *tab, const struct sim_place *element);

/** The element the nth step of a place's path names; made, as a place without answer, when the tab has none. */
struct sim_place *sim_element_above(struct sim_tab *tab, const struct sim_place *place, unsigned step);

/** Does `place` stand under the element? */
bool sim_place_is_under(const struct sim_place *place, const struct sim_place *element);

/** Forget places with nothing in them. */
void sim_places_sweep(struct sim_tab *tab);
void sim_places_done(struct sim_tab *tab);

/* Tabs. */

enum sim_tab_state { SIM_IDLE, SIM_WAITING, SIM_GONE };

/* Why a tab asks. */
enum sim_purpose { SIM_ACTS, SIM_LOADS_SESSION, SIM_LOADS_DRAFT, SIM_GLANCES };

struct sim_tab {
    struct sim *sim;
    struct sim_tab *next; /* of all there ever were */
    unsigned reviewer, number, study, form;
    evd_uuid person, holder;
    enum sim_tab_state state;
    enum sim_purpose purpose;
    struct sim_intent *intent;
    int64_t patience;                   /* steps until it asks again */
    bool loaded, due;                   /* due: it must load before it does anything else */
    bool read_only, is_holder, blocked; /* blocked: there is no place for it */
    bool mends;                         /* what it sends was refused as it was */
    char version[SIM_TEXT_BYTES];       /* the base; empty: none */
    long long etag, write_seq, generation;
    struct sim_place **places;
    size_t place_count, place_capacity;
    json_t *reverted; /* places to be told with the next PATCH */
    char **known;     /* what it typed or was shown, and revisions it was shown */
    size_t known_count, known_capacity;
    char copy[SIM_TEXT_BYTES]; /* one that waits to be settled; empty: none known */
};

/** A tab that is opened; the sim has it until it ends. */
struct sim_tab *sim_tab_new(struct sim *sim, unsigned reviewer, unsigned number);
void sim_tab_free(struct sim_tab *tab);

/** Do the next thing. calm: type nothing new, only bring what is there to an end. */
void sim_tab_step(struct sim_tab *tab, bool calm);

/** The answer to its intent arrived. */
void sim_tab_answer(struct sim_tab *tab, struct sim_intent *intent, const struct sim_answer *answer);

void sim_tab_learn(struct sim_tab *tab, const char *what);
bool sim_tab_knows(const struct sim_tab *tab, const char *what);
bool sim_tab_has_typed(const struct sim_tab *tab);
bool sim_tab_is_settled(const struct sim_tab *tab);

/** The path of its session. */
struct evd_ids sim_tab_ids(const struct sim_tab *tab);

/** Ask what a load asks first, or then. */
void sim_tab_load(struct sim_tab *tab, enum sim_purpose what);

/** Type something, or take something back; nothing is asked. */
void sim_tab_type(struct sim_tab *tab);
void sim_tab_take_something_back(struct sim_tab *tab);

/** Make what is typed fit together again: elements come back for what stands under them, references lose what is no
 * more. */
void sim_tab_mend(struct sim_tab *tab);

/* A revision somebody was told of, and others may be shown. */
struct sim_shown {
    unsigned study, reviewer;
    char revision[SIM_TEXT_BYTES];
};

/* The administrator. */

struct sim_admin {
    struct sim_intent *intent; /* NULL: nothing is under way */
    int64_t patience;
    bool revoked[SIM_REVIEWERS]; /* as last asked for */
    evd_uuid imports[SIM_IMPORTS];
    unsigned import_count;
};

void sim_admin_step(struct sim *sim, bool calm);
void sim_admin_answer(struct sim *sim, struct sim_intent *intent, const struct sim_answer *answer);
bool sim_admin_is_settled(const struct sim *sim);

/* Faults. */

struct sim_faults {
    unsigned conflict, unavailable, lost_answer, lost_request, delayed, stays_unknown; /* of 1,000 calls */
    unsigned between;           /* of 1,000 calls of the store: another call runs in between */
    unsigned drop, duplicate;   /* of 1,000 messages */
    unsigned crash, skew, jump; /* of 10,000 steps */
    unsigned revoke, careless;  /* of 1,000 times */
    unsigned import;            /* of 1,000 times */
    bool frozen_clock, plain;   /* plain: only texts are typed */
    bool hasty;                 /* studies come and go, and everybody begins on the newest */
};

void sim_faults_draw(struct sim_faults *faults, struct evd_test_random *random);

/** No faults any more; what people type stays as it is. */
void sim_faults_clear(struct sim_faults *faults);

/* Oracles. What they find ends the run: sim_fail. */

/* Whose a commit is. */
struct sim_attempt {
    struct sim_attempt *next;
    struct sim_intent *intent; /* NULL: a driver's step */
    const struct evd_command *command;
    evd_uuid caller, command_id;
    unsigned host;
    int64_t now_ms;
};

void sim_oracle_begin(struct sim *sim);
void sim_oracle_end(struct sim *sim);

/** After a commit that landed; its tag is the attempt. */
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
    struct evd_driver *driver;
    bool dying, frozen;
    size_t calls; /* begun and not done */
};

struct sim {
    uint64_t seed, digest; /* digest: of everything stored and answered */
    unsigned steps, step, depth;
    struct evd_test_random random;
    struct sim_faults faults;
    struct evd_store *store;
    struct sim_host hosts[SIM_HOSTS];
    unsigned host_count;
    struct sim_message *first_message, *last_message;
    struct sim_intent **intents;
    size_t intent_count, intent_capacity;
    struct sim_attempt *attempts;
    struct sim_call *finished; /* to be freed after the step */
    evd_uuid admin_id, project, stages[SIM_FORMS], forms[SIM_FORMS], studies[SIM_STUDIES_MOST];
    struct sim_tab *tabs[SIM_REVIEWERS * SIM_TABS], *all_tabs;
    unsigned study_count, tab_count, tokens, keys, holders;
    struct sim_admin admin;
    struct sim_shown shown[SIM_SHOWN];
    unsigned shown_count; /* ever; the last SIM_SHOWN are kept */
    struct sim_oracle *oracle;
    bool failed, verbose, conformance, plain, hasty;
    char failure[512];
    unsigned answers, commits, crashes;
};

/** A number below bound, of the seed. */
unsigned sim_below(struct sim *sim, unsigned bound);

/** True in `of` out of `in`. */
bool sim_chance(struct sim *sim, unsigned of, unsigned in);

void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sim_say(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Into the digest. */
void sim_digest(struct sim *sim, const void *bytes, size_t size_bytes);

void sim_world_open(struct sim *sim);
void sim_world_close(struct sim *sim);
void sim_world_step(struct sim *sim, bool calm);

/** What there is still to wait for; NULL: nothing. */
const char *sim_world_waits_for(const struct sim *sim);

void sim_pass(struct sim *sim, int64_t by_ms);

/** Put all clocks right: they go, and say the same. */
void sim_clocks_set(struct sim *sim);

void sim_host_run(struct sim_host *host);
struct sim_host *sim_host_that_is_up(struct sim *sim);
evd_uuid sim_person(unsigned number);
void sim_furnish(struct sim *sim);

/** A UUID of a random one's version, of a number: ids a client makes up. */
evd_uuid sim_made_up(const char *of, unsigned number);

/** Run one seed. False: it failed, and sim->failure says how. */
bool sim_run(struct sim *sim, uint64_t seed, unsigned steps, bool verbose, bool conformance);

/** The oracles against every canary, the seeds from `seed` on. The exit status. */
int sim_canaries(uint64_t seed, unsigned schedules, unsigned steps, unsigned jobs);

#endif
