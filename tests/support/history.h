/*
 * A history: what clients asked of a daemon and what it answered, in the order in which both happened, and a checker
 * that says whether one serial order per study explains it. The checker shares nothing with the daemon.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_HISTORY_H
#define EVIDENCED_TESTS_SUPPORT_HISTORY_H

#include "evidenced/base/uuid.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef char history_id[EVD_UUID_TEXT_BYTES + 1]; /* empty: none */

enum history_kind {
    HISTORY_COMMAND,  /* Save, Complete, Withdraw: under a key */
    HISTORY_AUTOSAVE, /* of a draft: `seq` is its etag */
    HISTORY_READ,     /* of a session: `version` is the newest, empty for none */
    HISTORY_FINAL     /* a version as it is listed when everything is over */
};

enum history_answer {
    HISTORY_UNKNOWN, /* none came, or one that does not say: it may have taken effect and may not */
    HISTORY_OK,
    HISTORY_REFUSED /* it took no effect and never will */
};

struct history_event {
    enum history_kind kind;
    enum history_answer answer;
    unsigned session, study;        /* a session is one reviewer's on one study: its number tells both apart */
    uint64_t asked_at, answered_at; /* of one clock of the whole history, which no two events share */
    history_id key, base, version;
    uint64_t stamp;
    int64_t seq, study_version;
    char *receipt; /* as it came; NULL: none */
};

struct history {
    pthread_mutex_t mutex;
    uint64_t clock;
    struct history_event *events;
    size_t count, room;
};

void history_init(struct history *history);
void history_done(struct history *history);

/** The next moment. Any thread. */
uint64_t history_now(struct history *history);

/** Add what happened; takes its receipt. Any thread. */
void history_add(struct history *history, const struct history_event *event);

/** A copy, to be damaged. */
void history_copy(const struct history *from, struct history *ret_copy);

/**
 * The first thing wrong with it, as a sentence; NULL: nothing. Holds when
 *   every answer to one key has the same bytes, and none was refused and accepted both;
 *   the accepted commands of a study have study versions and stamps that rise together, no two the same;
 *   a command that was answered before another was asked comes before it, on the same study;
 *   the versions of a session are numbered without a gap, each made on the one before;
 *   each accepted version is there in the end, as its receipt has it, and nothing else is;
 *   no read misses what was accepted before it was asked; etags of a draft rise.
 */
const char *history_check(const struct history *history);

#endif
