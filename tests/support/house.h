/*
 * The house in one process: the embedded store, the runtime and the command table, without HTTP; without workers the
 * clock belongs to the test. Conformance is on: a command that breaks a rule of the house ends the test.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_HOUSE_H
#define EVIDENCED_TESTS_SUPPORT_HOUSE_H

#include "test.h"

#include "evidenced/commands/table.h"
#include "evidenced/runtime/runtime.h"
#include "evidenced/store/store.h"

#include <jansson.h>

struct scripted_store;
struct asked;

struct house {
    struct evd_test_clock clock;  /* the house's without workers */
    const struct evd_clock *time; /* the house's: with workers the host's, since nobody else moves it for them */
    struct evd_test_random random;
    const char *directory;
    struct evd_store *store;
    struct scripted_store *script; /* NULL: the store is the real one alone */
    struct evd_runtime *runtime;
    unsigned workers;
    void (*before)(struct asked *asked); /* called with what is asked, before it is; NULL: nobody is */
    atomic_uint answered;                /* calls so far */
    evd_uuid admin, project, form, form_version, stage, other_stage, study, other_study;
};

/* What a call answered. */
struct reply {
    enum evd_outcome_code code;
    enum evd_reason reason;
    bool replayed;
    unsigned charged, free;
    json_t *body; /* the receipt or view; of a refusal: its members, with `errors`. Freed by reply_done */
    char *text;   /* the receipt as it was answered */
};

void reply_done(struct reply *reply);

/** A fresh store and runtime. workers 0: everything runs on the asking thread. */
void house_open(struct house *house, unsigned workers);
void house_close(struct house *house);

/** As house_open, with a store that does what house->script says (scripted_store.h). */
void house_open_scripted(struct house *house, unsigned workers);

/** Stop and start again on what the store holds. */
void house_restart(struct house *house);

/** A person's or command's id, by number: the same number gives the same id. */
evd_uuid person(unsigned number);
evd_uuid command_id(unsigned number);

/** Ask, and wait for the answer. body: JSON, NULL for none. */
struct reply ask(struct house *house, const struct evd_command *command, struct evd_ids ids, evd_uuid caller,
                 evd_uuid id, const char *body);

/** As above, and it must succeed. */
struct reply ask_ok(struct house *house, const struct evd_command *command, struct evd_ids ids, evd_uuid caller,
                    evd_uuid id, const char *body);

/* A call that is asked step by step, so that others can come in between: struct asked. */

/** Not given to the runtime yet. body: copied, NULL for none. */
struct asked *asked_new(struct house *house, const struct evd_command *command, struct evd_ids ids, evd_uuid caller,
                        evd_uuid id, const char *body);

/** Another one that asks the same, while that one is there. */
struct asked *asked_twin(struct asked *asked);

/** The call, to be changed before asked_go and looked at after the answer. */
struct evd_call *asked_call(struct asked *asked);

/** Give it to the workers; without any, run it on this thread until it is answered or parked. */
void asked_go(struct asked *asked);

/** Its place among the answers of this house, from 1; 0: not answered yet. */
unsigned asked_order(struct asked *asked);

/** Wait for the answer; without workers by moving the clock, a millisecond at a time. */
void asked_await(struct asked *asked);

/** Wait for the answer, take it, free. */
struct reply asked_end(struct asked *asked);

/* What a view in pieces gave, the pieces one behind the other. */
struct streamed {
    enum evd_outcome_code code; /* of the last run */
    enum evd_reason reason;
    char *bytes; /* NUL behind them; freed by streamed_done */
    size_t size_bytes, pieces, largest_bytes;
};

void streamed_done(struct streamed *streamed);

/** The test ends when they differ in a byte. */
void streamed_equal(const struct streamed *a, const struct streamed *b);

/** Ask for the next piece of a call from asked_new, and add it. True when there is another. */
bool asked_piece(struct asked *asked, struct streamed *streamed);

/** Free a call whose pieces were taken, at its end or before. */
void asked_drop(struct asked *asked);

/** All pieces, to the end or the refusal that comes instead of it. page: records a run reads at most. */
struct streamed ask_streamed(struct house *house, const struct evd_command *command, struct evd_ids ids,
                             evd_uuid caller, size_t page);

/** Without workers: run what can run now, without moving the clock. */
void house_run(struct house *house);

/**
 * A project to work in: administrator person(0), reviewers person(1) to person(9), a form of `questions` text
 * questions q1, q2, … (q1 required) with this target, bound to two stages and published, and two studies.
 */
void house_furnish(struct house *house, unsigned questions, unsigned target);

/** The same with these questions, a JSON list. */
void house_furnish_with(struct house *house, const char *questions, unsigned target);

/** Ids of the session's routes on the first study. */
struct evd_ids session_ids(const struct house *house);

/** The body of a Save: answers q<first> … q<last> with `value`; base NULL: the first. To be freed. */
char *save_body(const struct house *house, const char *base, unsigned first, unsigned last, const char *value);

/** A string member of a reply, which must be there. */
const char *text_of(const struct reply *reply, const char *member);
long long number_of(const struct reply *reply, const char *member);

#endif
