#include "scripted_store.h"

#include "evidenced/base/arena.h"
#include "evidenced/records/dictionary.h"
#include "evidenced/store/adapter.h"

#include <pthread.h>

enum { MOST_BLOCKED = 4 };

struct scripted_store {
    struct evd_store base;
    struct evd_store *inner;
    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    struct {
        enum evd_store_status status;
        unsigned times;
    } answers[SCRIPTED_CALLS];
    enum scripted_fate fate;
    unsigned unknown_times;
    evd_uuid blocked_studies[MOST_BLOCKED]; /* nil: a free place */
    unsigned blocked;
    scripted_hook *hook;
    void *hook_self;
    struct scripted_counts counts;
};

struct scripted_txn {
    struct evd_txn base;
    struct evd_txn *inner;
    enum scripted_fate fate; /* of the commit that answered UNKNOWN */
    const struct evd_write *writes;
    size_t write_count;
};

static _Thread_local bool in_hook;

static struct scripted_store *script_of(struct evd_store *store) {
    return (struct scripted_store *)store;
}

static struct evd_store_result result_of(enum evd_store_status status) {
    return (struct evd_store_result){.status = status};
}

/* Counts the call; true when the script answers it. */
static bool answers(struct scripted_store *script, enum scripted_call call, enum evd_store_status *ret_status) {
    (void)pthread_mutex_lock(&script->mutex);
    script->counts.calls[call]++;
    bool scripted = script->answers[call].times > 0;
    if (scripted) *ret_status = script->answers[call].status;
    if (scripted && script->answers[call].times != SCRIPTED_FOR_EVER) script->answers[call].times--;
    (void)pthread_mutex_unlock(&script->mutex);
    return scripted;
}

static struct evd_store_result scripted_txn_open(struct evd_store *store, enum evd_read_kind kind, int64_t deadline_ms,
                                                 struct evd_arena *arena, struct evd_txn **ret_txn) {
    struct scripted_store *script = script_of(store);
    enum evd_store_status status;
    if (answers(script, SCRIPTED_OPEN, &status)) return result_of(status);
    struct scripted_txn *txn = EVD_NEW(arena, struct scripted_txn); /* before anything is held: it may jump */
    struct evd_store_result result = evd_txn_open(script->inner, kind, deadline_ms, arena, &txn->inner);
    if (result.status == EVD_STORE_OK) *ret_txn = &txn->base;
    return result;
}

static struct evd_store_result scripted_get(struct evd_txn *base, const struct evd_key *keys, size_t count,
                                            struct evd_image *ret_images) {
    enum evd_store_status status;
    if (answers(script_of(base->store), SCRIPTED_GET, &status)) return result_of(status);
    return evd_txn_get(((struct scripted_txn *)base)->inner, keys, count, ret_images);
}

static struct evd_store_result scripted_scan(struct evd_txn *base, const struct evd_range *range,
                                             struct evd_key *ret_keys, struct evd_image *ret_images,
                                             size_t *ret_count) {
    enum evd_store_status status;
    if (answers(script_of(base->store), SCRIPTED_SCAN, &status)) return result_of(status);
    return evd_txn_scan(((struct scripted_txn *)base)->inner, range, ret_keys, ret_images, ret_count);
}

/* Commit. */

static bool writes_study(const struct evd_write *writes, size_t count, evd_uuid study) {
    for (size_t i = 0; i < count; i++)
        if (writes[i].key.in == EVD_IN_STUDY && evd_uuid_equal(writes[i].key.id, study)) return true;
    return false;
}

static bool is_blocked_locked(const struct scripted_store *script, const struct evd_write *writes, size_t count) {
    for (size_t i = 0; i < MOST_BLOCKED; i++)
        if (!evd_uuid_is_nil(script->blocked_studies[i]) && writes_study(writes, count, script->blocked_studies[i]))
            return true;
    return false;
}

static void wait_while_blocked(struct scripted_store *script, const struct evd_write *writes, size_t count) {
    (void)pthread_mutex_lock(&script->mutex);
    bool blocked = is_blocked_locked(script, writes, count);
    script->blocked += blocked;
    (void)pthread_cond_broadcast(&script->changed);
    while (is_blocked_locked(script, writes, count))
        (void)pthread_cond_wait(&script->changed, &script->mutex);
    script->blocked -= blocked;
    (void)pthread_mutex_unlock(&script->mutex);
}

static void run_hook(struct scripted_store *script, const struct evd_write *writes, size_t count) {
    (void)pthread_mutex_lock(&script->mutex);
    scripted_hook *hook = script->hook;
    void *self = script->hook_self;
    (void)pthread_mutex_unlock(&script->mutex);
    if (hook == NULL || in_hook) return;
    in_hook = true;
    hook(self, writes, count);
    in_hook = false;
}

static struct evd_store_result land(struct scripted_txn *txn) {
    struct scripted_store *script = script_of(txn->base.store);
    struct evd_store_result result = evd_txn_commit(txn->inner, txn->writes, txn->write_count);
    (void)pthread_mutex_lock(&script->mutex);
    script->counts.landed += result.status == EVD_STORE_OK;
    (void)pthread_mutex_unlock(&script->mutex);
    return result;
}

static bool becomes_unknown(struct scripted_store *script, enum scripted_fate *ret_fate) {
    (void)pthread_mutex_lock(&script->mutex);
    bool unknown = script->unknown_times > 0;
    if (unknown) *ret_fate = script->fate;
    if (unknown && script->unknown_times != SCRIPTED_FOR_EVER) script->unknown_times--;
    (void)pthread_mutex_unlock(&script->mutex);
    return unknown;
}

static struct evd_store_result scripted_commit(struct evd_txn *base, const struct evd_write *writes, size_t count) {
    struct scripted_store *script = script_of(base->store);
    struct scripted_txn *txn = (struct scripted_txn *)base;
    enum evd_store_status status;
    txn->writes = writes;
    txn->write_count = count;
    run_hook(script, writes, count);
    wait_while_blocked(script, writes, count);
    if (answers(script, SCRIPTED_COMMIT, &status)) return result_of(status);
    if (!becomes_unknown(script, &txn->fate)) return land(txn);
    if (txn->fate == SCRIPTED_LANDED || txn->fate == SCRIPTED_LANDED_IN_THE_DARK) {
        struct evd_store_result result = land(txn);
        if (result.status != EVD_STORE_OK) return result; /* a commit that failed is not unknown */
    }
    return result_of(EVD_STORE_UNKNOWN);
}

static struct evd_store_result scripted_commit_again(struct evd_txn *base, int64_t deadline_ms) {
    struct scripted_store *script = script_of(base->store);
    struct scripted_txn *txn = (struct scripted_txn *)base;
    (void)deadline_ms;
    (void)pthread_mutex_lock(&script->mutex);
    script->counts.asked_again++;
    (void)pthread_mutex_unlock(&script->mutex);
    switch (txn->fate) {
    case SCRIPTED_LANDED: return result_of(EVD_STORE_OK);
    case SCRIPTED_LOST: return result_of(EVD_STORE_CONFLICT);
    case SCRIPTED_LANDS_WHEN_ASKED: return land(txn);
    case SCRIPTED_LANDED_IN_THE_DARK:
    case SCRIPTED_LOST_IN_THE_DARK: break;
    }
    return result_of(EVD_STORE_UNKNOWN);
}

static void scripted_txn_close(struct evd_txn *base) {
    evd_txn_close(((struct scripted_txn *)base)->inner);
}

/* What the script has no say in. */

static struct evd_store_result scripted_swap(struct evd_store *store, const struct evd_write *write,
                                             int64_t deadline_ms) {
    return evd_store_swap(script_of(store)->inner, write, deadline_ms);
}

static struct evd_store_result scripted_probe(struct evd_store *store, int64_t deadline_ms) {
    return evd_store_probe(script_of(store)->inner, deadline_ms);
}

static struct evd_store_result scripted_backup(struct evd_store *store, const char *directory) {
    return evd_store_backup(script_of(store)->inner, directory);
}

static void scripted_figures(struct evd_store *store, struct evd_store_figures *ret_figures) {
    evd_store_figures(script_of(store)->inner, ret_figures);
}

static void scripted_close(struct evd_store *store) {
    struct scripted_store *script = script_of(store);
    evd_store_close(script->inner);
    (void)pthread_cond_destroy(&script->changed);
    (void)pthread_mutex_destroy(&script->mutex);
    free(script);
}

static const struct evd_store_adapter scripted_adapter = {
    .txn_open = scripted_txn_open,
    .txn_get = scripted_get,
    .txn_scan = scripted_scan,
    .txn_commit = scripted_commit,
    .txn_commit_again = scripted_commit_again,
    .txn_close = scripted_txn_close,
    .swap = scripted_swap,
    .probe = scripted_probe,
    .backup = scripted_backup,
    .figures = scripted_figures,
    .close = scripted_close,
};

struct evd_store *scripted_store_new(struct evd_store *inner, struct scripted_store **ret_script) {
    struct scripted_store *script = calloc(1, sizeof *script);
    if (script == NULL) abort();
    script->base = (struct evd_store){.adapter = &scripted_adapter, .catalogue = inner->catalogue};
    script->inner = inner;
    (void)pthread_mutex_init(&script->mutex, NULL);
    (void)pthread_cond_init(&script->changed, NULL);
    *ret_script = script;
    return &script->base;
}

struct evd_store *scripted_inner(struct scripted_store *script) {
    return script->inner;
}

/* The script. */

void scripted_answer(struct scripted_store *script, enum scripted_call call, enum evd_store_status status,
                     unsigned times) {
    (void)pthread_mutex_lock(&script->mutex);
    script->answers[call].status = status;
    script->answers[call].times = times;
    (void)pthread_mutex_unlock(&script->mutex);
}

void scripted_unknown(struct scripted_store *script, enum scripted_fate fate, unsigned times) {
    (void)pthread_mutex_lock(&script->mutex);
    script->fate = fate;
    script->unknown_times = times;
    (void)pthread_mutex_unlock(&script->mutex);
}

/* Puts `to` where `from` is. */
static void change_blocked(struct scripted_store *script, evd_uuid from, evd_uuid to) {
    (void)pthread_mutex_lock(&script->mutex);
    size_t at = 0;
    while (at < MOST_BLOCKED && !evd_uuid_equal(script->blocked_studies[at], from))
        at++;
    if (at == MOST_BLOCKED) abort();
    script->blocked_studies[at] = to;
    (void)pthread_cond_broadcast(&script->changed);
    (void)pthread_mutex_unlock(&script->mutex);
}

void scripted_block(struct scripted_store *script, evd_uuid study) {
    change_blocked(script, evd_uuid_nil(), study);
}

void scripted_release(struct scripted_store *script, evd_uuid study) {
    change_blocked(script, study, evd_uuid_nil());
}

void scripted_await_blocked(struct scripted_store *script, unsigned count) {
    (void)pthread_mutex_lock(&script->mutex);
    while (script->blocked < count)
        (void)pthread_cond_wait(&script->changed, &script->mutex);
    (void)pthread_mutex_unlock(&script->mutex);
}

void scripted_before_commit(struct scripted_store *script, scripted_hook *hook, void *self) {
    (void)pthread_mutex_lock(&script->mutex);
    script->hook = hook;
    script->hook_self = self;
    (void)pthread_mutex_unlock(&script->mutex);
}

struct scripted_counts scripted_counts(struct scripted_store *script) {
    (void)pthread_mutex_lock(&script->mutex);
    struct scripted_counts counts = script->counts;
    (void)pthread_mutex_unlock(&script->mutex);
    return counts;
}
