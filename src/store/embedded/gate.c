/*
 * The gate: who may touch RocksDB's handles.
 *
 * A commit that fails with anything but a conflict poisons the handle. RocksDB then shows the write as absent, yet its
 * bytes may be in the log and come back when the database is opened again; nothing read from the handle after that
 * can be trusted to say what the disk holds. So:
 *
 *              poison                    last user left                     reopened, fates decided
 *      OPEN ───────────► DRAINING ─────────────────────────► REOPENING ─────────────────────────────► OPEN
 *   users come and go    users only go;                      nobody is inside; the recovery
 *                        their reads end UNAVAILABLE,        thread alone owns the handles
 *                        their commits are not tried
 *
 * Users are sessions (from opening a transaction until its commit or close), swaps and backups. Newcomers wait outside
 * until their own deadline. Whoever's commit failed leaves a `pending` behind — a copy of all that is needed to judge
 * it, since the caller may be gone by then — and then waits outside for its fate, until its own deadline and again with
 * commit_again.
 *
 * All pendings are known before reopening begins: a user registers its pending in the same critical section in which
 * it leaves. No other commit can have landed after a pending one: RocksDB refuses all writes behind the first failed
 * one, and nobody comes in before the fates are decided. So a witness that equals its after-image proves that the
 * whole commit landed, and one that does not proves that nothing of it did.
 *
 * Locking: `mutex` guards every field but `poisoned`, and the fields of pendings. It is held for a few instructions
 * only, never while RocksDB, the disk or an arena is used. The handles themselves (store->database) need no lock:
 * inside the gate they do not change, and the mutex orders their change against entering and leaving. `poisoned` is set
 * before the mutex is taken, so that others inside stop trying as early as possible.
 *
 * Waits: deadlines are instants of the injected clock; the time left is measured on it once, then waited for on
 * CLOCK_MONOTONIC. So a clock that stands still delays nobody for ever.
 */
#include "internal.h"

#include "evidenced/base/clock.h"

#include <assert.h>
#include <errno.h>

static const int64_t longest_wait_ms = INT64_C(1000) * 60 * 60 * 24;

static struct timespec instant_after(int64_t wait_ms) {
    struct timespec instant;
    if (wait_ms < 0) wait_ms = 0;
    if (wait_ms > longest_wait_ms) wait_ms = longest_wait_ms;
    (void)clock_gettime(CLOCK_MONOTONIC, &instant);
    instant.tv_sec += wait_ms / 1000;
    instant.tv_nsec += wait_ms % 1000 * 1000000;
    if (instant.tv_nsec >= 1000000000) {
        instant.tv_sec++;
        instant.tv_nsec -= 1000000000;
    }
    return instant;
}

static struct timespec instant_of(const struct evd_gate *gate, int64_t deadline_ms) {
    int64_t left_ms;
    if (__builtin_sub_overflow(deadline_ms, evd_clock_monotonic_ms(gate->clock), &left_ms))
        left_ms = deadline_ms < 0 ? 0 : longest_wait_ms;
    return instant_after(left_ms);
}

void evd_gate_init(struct evd_gate *gate, const struct evd_clock *clock) {
    pthread_condattr_t monotonic;
    *gate = (struct evd_gate){.clock = clock};
    if (pthread_condattr_init(&monotonic) != 0 || pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0) abort();
    if (pthread_mutex_init(&gate->mutex, NULL) != 0) abort();
    if (pthread_cond_init(&gate->changed, &monotonic) != 0 || pthread_cond_init(&gate->work, &monotonic) != 0) abort();
    (void)pthread_condattr_destroy(&monotonic);
}

static void release_locked(struct evd_pending *pending) {
    assert(pending->references > 0);
    if (--pending->references == 0) free(pending);
}

void evd_gate_done(struct evd_gate *gate) {
    assert(gate->users == 0 && gate->sessions == 0);
    while (gate->pendings != NULL) {
        struct evd_pending *next = gate->pendings->next;
        release_locked(gate->pendings);
        gate->pendings = next;
    }
    (void)pthread_cond_destroy(&gate->work);
    (void)pthread_cond_destroy(&gate->changed);
    (void)pthread_mutex_destroy(&gate->mutex);
}

bool evd_gate_enter(struct evd_gate *gate, int64_t deadline_ms) {
    (void)pthread_mutex_lock(&gate->mutex);
    if (gate->state != EVD_GATE_OPEN) {
        struct timespec until = instant_of(gate, deadline_ms);
        while (gate->state != EVD_GATE_OPEN && !gate->closing)
            if (pthread_cond_timedwait(&gate->changed, &gate->mutex, &until) == ETIMEDOUT) break;
    }
    bool inside = gate->state == EVD_GATE_OPEN && !gate->closing;
    gate->users += inside;
    (void)pthread_mutex_unlock(&gate->mutex);
    return inside;
}

static void leave_locked(struct evd_gate *gate) {
    assert(gate->users > 0);
    if (--gate->users == 0 && gate->state == EVD_GATE_DRAINING) (void)pthread_cond_signal(&gate->work);
}

void evd_gate_leave(struct evd_gate *gate) {
    (void)pthread_mutex_lock(&gate->mutex);
    leave_locked(gate);
    (void)pthread_mutex_unlock(&gate->mutex);
}

bool evd_gate_is_poisoned(struct evd_gate *gate) {
    return atomic_load(&gate->poisoned);
}

void evd_gate_poison(struct evd_gate *gate) {
    atomic_store(&gate->poisoned, true);
    (void)pthread_mutex_lock(&gate->mutex);
    assert(gate->users > 0 && gate->state != EVD_GATE_REOPENING);
    gate->state = EVD_GATE_DRAINING;
    (void)pthread_mutex_unlock(&gate->mutex);
}

void evd_gate_leave_pending(struct evd_gate *gate, struct evd_pending *pending) {
    (void)pthread_mutex_lock(&gate->mutex);
    assert(gate->state == EVD_GATE_DRAINING);
    pending->references++;
    pending->next = gate->pendings;
    gate->pendings = pending;
    leave_locked(gate);
    (void)pthread_mutex_unlock(&gate->mutex);
}

enum evd_fate evd_gate_await_fate(struct evd_gate *gate, struct evd_pending *pending, int64_t deadline_ms) {
    (void)pthread_mutex_lock(&gate->mutex);
    struct timespec until = instant_of(gate, deadline_ms);
    while (pending->fate == EVD_FATE_PENDING)
        if (pthread_cond_timedwait(&gate->changed, &gate->mutex, &until) == ETIMEDOUT) break;
    enum evd_fate fate = pending->fate;
    (void)pthread_mutex_unlock(&gate->mutex);
    return fate;
}

void evd_gate_release(struct evd_gate *gate, struct evd_pending *pending) {
    if (pending == NULL) return;
    (void)pthread_mutex_lock(&gate->mutex);
    release_locked(pending);
    (void)pthread_mutex_unlock(&gate->mutex);
}

void evd_gate_count_session(struct evd_gate *gate, int change) {
    (void)pthread_mutex_lock(&gate->mutex);
    gate->sessions += (size_t)change;
    (void)pthread_mutex_unlock(&gate->mutex);
}

bool evd_gate_await_drained(struct evd_gate *gate) {
    (void)pthread_mutex_lock(&gate->mutex);
    while (!gate->closing && !(gate->state == EVD_GATE_DRAINING && gate->users == 0))
        (void)pthread_cond_wait(&gate->work, &gate->mutex);
    bool drained = !gate->closing;
    if (drained) gate->state = EVD_GATE_REOPENING;
    (void)pthread_mutex_unlock(&gate->mutex);
    return drained;
}

bool evd_gate_pause(struct evd_gate *gate, int64_t pause_ms) {
    struct timespec until = instant_after(pause_ms);
    (void)pthread_mutex_lock(&gate->mutex);
    while (!gate->closing)
        if (pthread_cond_timedwait(&gate->work, &gate->mutex, &until) == ETIMEDOUT) break;
    bool go_on = !gate->closing;
    (void)pthread_mutex_unlock(&gate->mutex);
    return go_on;
}

void evd_gate_decide(struct evd_gate *gate, struct evd_pending *pending, enum evd_fate fate) {
    (void)pthread_mutex_lock(&gate->mutex);
    pending->fate = fate;
    (void)pthread_mutex_unlock(&gate->mutex);
}

void evd_gate_open(struct evd_gate *gate) {
    (void)pthread_mutex_lock(&gate->mutex);
    assert(gate->state == EVD_GATE_REOPENING && gate->users == 0);
    while (gate->pendings != NULL) {
        struct evd_pending *next = gate->pendings->next;
        assert(gate->pendings->fate != EVD_FATE_PENDING);
        release_locked(gate->pendings);
        gate->pendings = next;
    }
    gate->state = EVD_GATE_OPEN;
    atomic_store(&gate->poisoned, false);
    (void)pthread_cond_broadcast(&gate->changed);
    (void)pthread_mutex_unlock(&gate->mutex);
}

void evd_gate_close(struct evd_gate *gate) {
    (void)pthread_mutex_lock(&gate->mutex);
    gate->closing = true;
    (void)pthread_cond_broadcast(&gate->work);
    (void)pthread_cond_broadcast(&gate->changed);
    (void)pthread_mutex_unlock(&gate->mutex);
}
