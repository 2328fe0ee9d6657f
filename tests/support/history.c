#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void history_init(struct history *history) {
    *history = (struct history){.clock = 0};
    (void)pthread_mutex_init(&history->mutex, NULL);
}

void history_done(struct history *history) {
    for (size_t i = 0; i < history->count; i++)
        free(history->events[i].receipt);
    free(history->events);
    (void)pthread_mutex_destroy(&history->mutex);
}

uint64_t history_now(struct history *history) {
    (void)pthread_mutex_lock(&history->mutex);
    uint64_t now = ++history->clock;
    (void)pthread_mutex_unlock(&history->mutex);
    return now;
}

void history_add(struct history *history, const struct history_event *event) {
    (void)pthread_mutex_lock(&history->mutex);
    if (history->count == history->room) {
        history->room = history->room == 0 ? 256 : history->room * 2;
        history->events = realloc(history->events, history->room * sizeof *history->events);
        if (history->events == NULL) abort();
    }
    history->events[history->count++] = *event;
    (void)pthread_mutex_unlock(&history->mutex);
}

void history_copy(const struct history *from, struct history *ret_copy) {
    history_init(ret_copy);
    for (size_t i = 0; i < from->count; i++) {
        struct history_event event = from->events[i];
        if (event.receipt != NULL) event.receipt = strdup(event.receipt);
        history_add(ret_copy, &event);
    }
}

/* A command: all that was asked and answered under its key. */
struct effect {
    const struct history_event *is; /* one of its accepted answers */
    uint64_t asked_at, answered_at; /* the first of each */
};

struct checking {
    const struct history *history;
    struct effect *effects; /* of commands that were accepted */
    size_t count;
    const char *wrong;
};

static bool is_same(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static void wrong(struct checking *checking, const char *what) {
    if (checking->wrong == NULL) checking->wrong = what;
}

/* One key: its answers agree, and it took effect once or not at all. */
static void gather(struct checking *checking, size_t first) {
    const struct history_event *events = checking->history->events;
    struct effect effect = {.asked_at = events[first].asked_at, .answered_at = UINT64_MAX};
    bool refused = false;
    for (size_t i = 0; i < checking->history->count; i++) {
        const struct history_event *event = &events[i];
        if (event->kind != HISTORY_COMMAND || !is_same(event->key, events[first].key)) continue;
        if (event->asked_at < effect.asked_at) effect.asked_at = event->asked_at;
        refused |= event->answer == HISTORY_REFUSED;
        if (event->answer != HISTORY_OK) continue;
        if (event->answered_at < effect.answered_at) effect.answered_at = event->answered_at;
        if (effect.is != NULL && !is_same(effect.is->receipt, event->receipt))
            wrong(checking, "a retry was given another receipt");
        effect.is = event;
    }
    if (effect.is == NULL) return;
    if (refused) wrong(checking, "a command was refused and accepted");
    checking->effects[checking->count++] = effect;
}

static void gather_all(struct checking *checking) {
    const struct history *history = checking->history;
    for (size_t i = 0; i < history->count; i++) {
        bool seen = history->events[i].kind != HISTORY_COMMAND;
        for (size_t j = 0; j < i && !seen; j++)
            seen =
                history->events[j].kind == HISTORY_COMMAND && is_same(history->events[j].key, history->events[i].key);
        if (!seen) gather(checking, i);
    }
}

/* Two commands of one study: which was first is told by version and stamp alike, and by the clock where it can. */
static void check_pair(struct checking *checking, const struct effect *a, const struct effect *b) {
    bool before = a->is->study_version < b->is->study_version;
    if ((before && a->is->stamp >= b->is->stamp) || (!before && a->is->stamp <= b->is->stamp))
        wrong(checking, "stamps and versions of a study disagree");
    if (a->answered_at < b->asked_at && !before)
        wrong(checking, "a command comes before one answered before it was asked");
    if (b->answered_at < a->asked_at && before)
        wrong(checking, "a command comes before one answered before it was asked");
}

static void check_unique(struct checking *checking) {
    for (size_t i = 0; i < checking->count; i++)
        for (size_t j = 0; j < i; j++) {
            const struct history_event *a = checking->effects[i].is, *b = checking->effects[j].is;
            if (a->study == b->study && a->study_version == b->study_version)
                wrong(checking, "two commands made the same version of a study");
        }
}

static const struct effect *numbered(const struct checking *checking, unsigned session, int64_t seq) {
    for (size_t i = 0; i < checking->count; i++)
        if (checking->effects[i].is->session == session && checking->effects[i].is->seq == seq)
            return &checking->effects[i];
    return NULL;
}

static void check_base(struct checking *checking, const struct effect *effect) {
    const struct history_event *is = effect->is;
    const struct effect *before = numbered(checking, is->session, is->seq - 1);
    if (is->seq == 1 && is->base[0] != '\0') wrong(checking, "a first version has a base");
    if (is->seq == 1) return;
    if (before == NULL)
        wrong(checking, "a session has a gap");
    else if (!is_same(before->is->version, is->base))
        wrong(checking, "a version was not made on the one before");
}

static bool is_listed(const struct checking *checking, const struct history_event *is) {
    for (size_t i = 0; i < checking->history->count; i++) {
        const struct history_event *final = &checking->history->events[i];
        if (final->kind == HISTORY_FINAL && final->session == is->session && is_same(final->version, is->version))
            return is_same(final->key, is->key) && final->stamp == is->stamp && final->seq == is->seq;
    }
    return false;
}

static bool is_explained(const struct checking *checking, const struct history_event *final) {
    for (size_t i = 0; i < checking->count; i++)
        if (is_same(checking->effects[i].is->version, final->version)) return true;
    return false;
}

static void check_effects(struct checking *checking) {
    for (size_t i = 0; i < checking->count; i++) {
        const struct effect *effect = &checking->effects[i];
        check_base(checking, effect);
        if (!is_listed(checking, effect->is)) wrong(checking, "an accepted version is missing or another");
        for (size_t j = 0; j < i; j++)
            if (checking->effects[j].is->study == effect->is->study)
                check_pair(checking, &checking->effects[j], effect);
    }
}

/* The newest version a read may not miss; and it may not see what was asked only after it was answered. */
static void check_read(struct checking *checking, const struct history_event *read) {
    for (size_t i = 0; i < checking->count; i++) {
        const struct effect *effect = &checking->effects[i];
        if (effect->is->session != read->session) continue;
        if (effect->answered_at < read->asked_at && effect->is->seq > read->seq)
            wrong(checking, "a read misses what was accepted before");
        if (is_same(effect->is->version, read->version) && effect->asked_at > read->answered_at)
            wrong(checking, "a read shows what was asked later");
    }
}

static void check_autosave(struct checking *checking, const struct history_event *later) {
    for (size_t i = 0; i < checking->history->count; i++) {
        const struct history_event *event = &checking->history->events[i];
        bool before = event->kind == HISTORY_AUTOSAVE && event->answer == HISTORY_OK &&
                      event->session == later->session && event->answered_at < later->asked_at;
        if (before && (event->seq > later->seq || event->stamp > later->stamp)) wrong(checking, "a draft went back");
    }
}

static void check_others(struct checking *checking) {
    for (size_t i = 0; i < checking->history->count; i++) {
        const struct history_event *event = &checking->history->events[i];
        if (event->answer != HISTORY_OK) continue;
        if (event->kind == HISTORY_READ) check_read(checking, event);
        if (event->kind == HISTORY_AUTOSAVE) check_autosave(checking, event);
        if (event->kind == HISTORY_FINAL && !is_explained(checking, event))
            wrong(checking, "a version is there that nobody was told of");
    }
}

const char *history_check(const struct history *history) {
    struct checking checking = {.history = history};
    checking.effects = calloc(history->count + 1, sizeof *checking.effects);
    if (checking.effects == NULL) abort();
    gather_all(&checking);
    check_unique(&checking);
    check_effects(&checking);
    check_others(&checking);
    free(checking.effects);
    return checking.wrong;
}
