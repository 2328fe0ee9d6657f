/*
 * A store that does what a test tells it to: it forwards to a real store, except where its script says otherwise.
 *
 * The script may be changed from any thread while calls run. Reads and commits that the script does not mention are
 * the inner store's.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_SCRIPTED_STORE_H
#define EVIDENCED_TESTS_SUPPORT_SCRIPTED_STORE_H

#include "evidenced/store/store.h"

#include <limits.h>

struct scripted_store;

/** Wraps a store and takes it: closing what is returned closes the inner one. *ret_script lives as long. */
struct evd_store *scripted_store_new(struct evd_store *inner, struct scripted_store **ret_script);

/** The real store, for what a test reads and writes behind the runtime's back. */
struct evd_store *scripted_inner(struct scripted_store *script);

enum scripted_call { SCRIPTED_OPEN, SCRIPTED_GET, SCRIPTED_SCAN, SCRIPTED_COMMIT, SCRIPTED_CALLS };

#define SCRIPTED_FOR_EVER UINT_MAX

/** The next `times` calls of that kind do nothing and answer `status`. times 0: as the inner store again. */
void scripted_answer(struct scripted_store *script, enum scripted_call call, enum evd_store_status status,
                     unsigned times);

/* What becomes of a commit that answers UNKNOWN. */
enum scripted_fate {
    SCRIPTED_LANDED,             /* it did land; asked again, it says OK */
    SCRIPTED_LOST,               /* it did not; asked again, it says CONFLICT */
    SCRIPTED_LANDS_WHEN_ASKED,   /* it lands when it is asked again */
    SCRIPTED_LANDED_IN_THE_DARK, /* it did land, and stays UNKNOWN */
    SCRIPTED_LOST_IN_THE_DARK    /* it did not, and stays UNKNOWN */
};

/** The next `times` commits answer UNKNOWN. */
void scripted_unknown(struct scripted_store *script, enum scripted_fate fate, unsigned times);

/** Commits that write this study wait, before anything is written, until it is released. At most four studies at once.
 */
void scripted_block(struct scripted_store *script, evd_uuid study);
void scripted_release(struct scripted_store *script, evd_uuid study);

/** Wait until `count` commits are waiting. */
void scripted_await_blocked(struct scripted_store *script, unsigned count);

/** Called on the committing thread before each commit, but not for those it makes itself. NULL: none. */
typedef void scripted_hook(void *self, const struct evd_write *writes, size_t count);
void scripted_before_commit(struct scripted_store *script, scripted_hook *hook, void *self);

struct scripted_counts {
    unsigned calls[SCRIPTED_CALLS]; /* asked for, whatever was answered */
    unsigned asked_again;           /* commit_again */
    unsigned landed;                /* commits the inner store made */
};
struct scripted_counts scripted_counts(struct scripted_store *script);

#endif
