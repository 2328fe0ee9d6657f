/*
 * The simulated store: all versions of every document in memory, plain snapshot isolation and nothing more, on one
 * thread. It is the weakest of the adapters on purpose: what holds on it rests on no lock a real one happens to have.
 *
 * Whoever made it decides the fate of each call: a spurious conflict, a store that cannot be reached, a commit whose
 * answer is lost and that landed, did not, or lands when others have come in between.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_SIMULATED_STORE_H
#define EVIDENCED_TESTS_SUPPORT_SIMULATED_STORE_H

#include "evidenced/store/store.h"

enum simulated_call { SIMULATED_OPEN, SIMULATED_GET, SIMULATED_SCAN, SIMULATED_COMMIT, SIMULATED_COMMIT_AGAIN };

enum simulated_fate {
    SIMULATED_AS_IT_IS,     /* what the data says */
    SIMULATED_UNAVAILABLE,  /* nothing happens */
    SIMULATED_FULL,         /* commit only */
    SIMULATED_CONFLICT,     /* commit only: nothing happens, as if another commit had come first */
    SIMULATED_ANSWER_LOST,  /* commit only: it happens, the answer is UNKNOWN */
    SIMULATED_REQUEST_LOST, /* commit only: it never happens, the answer is UNKNOWN */
    SIMULATED_DELAYED,      /* commit only: UNKNOWN; it happens, or fails, when simulated_store_deliver is called */
    SIMULATED_STAYS_UNKNOWN /* commit_again only */
};

/** Asked before each call. NULL: everything as it is. */
typedef enum simulated_fate simulated_decider(void *self, enum simulated_call call);

struct evd_store *simulated_store_new(const struct evd_catalogue *catalogue);
void simulated_store_decide(struct evd_store *store, simulated_decider *decider, void *self);

/** Let the commits that are on their way arrive, oldest first. How many landed. */
size_t simulated_store_deliver(struct evd_store *store);

/** How many are on their way. */
size_t simulated_store_delayed(const struct evd_store *store);

/** Commits so far; each is an instant of the store. */
uint64_t simulated_store_now(const struct evd_store *store);

/* A commit that landed. */
struct simulated_commit {
    const struct evd_write *writes; /* with the images before */
    size_t count;
    int64_t largest_read; /* the largest `stamp` among what its transaction had read */
    uint64_t snapshot;    /* the instant it was decided on; of a swap: the one before it */
    bool late;            /* it was on its way, and its transaction was closed, when it landed */
    void *tag;            /* whose it is */
};

/** Called after every commit that landed. tag: called when a transaction commits, with the arena it was opened with:
 * the commit may land long after both are gone. NULL: none. */
typedef void simulated_witness(void *self, const struct simulated_commit *commit);
typedef void *simulated_tagger(void *self, struct evd_arena *arena);
void simulated_store_watch(struct evd_store *store, simulated_witness *witness, simulated_tagger *tag, void *self);

/** Every document as it was at an instant (UINT64_MAX: as it is now), in an order that depends on what was committed
 * alone. in: of this collection only; 0: of all. The images live as long as the store. */
typedef void simulated_visitor(void *self, const struct evd_key *key, const struct evd_image *image);
void simulated_store_visit(struct evd_store *store, uint64_t instant, evd_collection in, simulated_visitor *visitor,
                           void *self);

/** One document as it was at an instant; false: there was none. The image lives as long as the store. */
bool simulated_store_read(struct evd_store *store, uint64_t instant, const struct evd_key *key,
                          struct evd_image *ret_image);

#endif
