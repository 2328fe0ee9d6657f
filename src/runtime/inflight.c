#include "runtime/inflight.h"

#include <assert.h>
#include <pthread.h>

enum { STRIPES = 64 }; /* by project; projects that share one share a mutex and a list, no more */

struct stripe {
    pthread_mutex_t mutex;
    struct evd_inflight_entry *newest;
    struct evd_inflight_barrier *barriers;
    uint64_t next_ticket;
    size_t count;
};

struct evd_inflight {
    struct stripe stripes[STRIPES];
};

static struct evd_call *call_of_entry(struct evd_inflight_entry *entry) {
    return (struct evd_call *)((char *)entry - offsetof(struct evd_call, in_flight));
}

static struct evd_call *call_of_barrier(struct evd_inflight_barrier *barrier) {
    return (struct evd_call *)((char *)barrier - offsetof(struct evd_call, barrier));
}

struct evd_inflight *evd_inflight_new(void) {
    struct evd_inflight *registry = calloc(1, sizeof *registry);
    if (registry == NULL) abort();
    for (size_t i = 0; i < STRIPES; i++)
        (void)pthread_mutex_init(&registry->stripes[i].mutex, NULL);
    return registry;
}

void evd_inflight_free(struct evd_inflight *registry) {
    if (registry == NULL) return;
    for (size_t i = 0; i < STRIPES; i++) {
        assert(registry->stripes[i].count == 0 && registry->stripes[i].barriers == NULL);
        (void)pthread_mutex_destroy(&registry->stripes[i].mutex);
    }
    free(registry);
}

static struct stripe *stripe_of(struct evd_inflight *registry, const struct evd_call *call) {
    return &registry->stripes[(call->ids.project.bytes[0] ^ call->ids.project.bytes[15]) % STRIPES];
}

static bool same_project(const struct evd_call *a, const struct evd_call *b) {
    return evd_uuid_equal(a->ids.project, b->ids.project);
}

void evd_inflight_enter(struct evd_inflight *registry, struct evd_call *call) {
    struct stripe *stripe = stripe_of(registry, call);
    (void)pthread_mutex_lock(&stripe->mutex);
    call->in_flight = (struct evd_inflight_entry){.previous = stripe->newest, .ticket = stripe->next_ticket++};
    if (stripe->newest != NULL) stripe->newest->next = &call->in_flight;
    stripe->newest = &call->in_flight;
    stripe->count++;
    (void)pthread_mutex_unlock(&stripe->mutex);
}

static void unlink_entry(struct stripe *stripe, struct evd_inflight_entry *entry) {
    if (entry->previous != NULL) entry->previous->next = entry->next;
    if (entry->next != NULL)
        entry->next->previous = entry->previous;
    else
        stripe->newest = entry->previous;
    stripe->count--;
}

struct evd_call *evd_inflight_leave(struct evd_inflight *registry, struct evd_call *call) {
    struct stripe *stripe = stripe_of(registry, call);
    struct evd_call *drained = NULL;
    (void)pthread_mutex_lock(&stripe->mutex);
    unlink_entry(stripe, &call->in_flight);
    for (struct evd_inflight_barrier **at = &stripe->barriers; *at != NULL;) {
        struct evd_inflight_barrier *barrier = *at;
        struct evd_call *waiting = call_of_barrier(barrier);
        bool counted = call->in_flight.ticket < barrier->before_ticket && same_project(waiting, call);
        if (!counted || --barrier->remaining > 0) {
            at = &barrier->next;
            continue;
        }
        *at = barrier->next;
        waiting->next_waiting = drained;
        drained = waiting;
    }
    (void)pthread_mutex_unlock(&stripe->mutex);
    return drained;
}

bool evd_inflight_drained(struct evd_inflight *registry, struct evd_call *call) {
    struct stripe *stripe = stripe_of(registry, call);
    size_t remaining = 0;
    (void)pthread_mutex_lock(&stripe->mutex);
    for (struct evd_inflight_entry *entry = stripe->newest; entry != NULL; entry = entry->previous)
        remaining += same_project(call_of_entry(entry), call);
    if (remaining > 0) {
        call->barrier = (struct evd_inflight_barrier){
            .next = stripe->barriers, .before_ticket = stripe->next_ticket, .remaining = remaining};
        stripe->barriers = &call->barrier;
    }
    (void)pthread_mutex_unlock(&stripe->mutex);
    return remaining == 0;
}

size_t evd_inflight_count(struct evd_inflight *registry) {
    size_t count = 0;
    for (size_t i = 0; i < STRIPES; i++) {
        (void)pthread_mutex_lock(&registry->stripes[i].mutex);
        count += registry->stripes[i].count;
        (void)pthread_mutex_unlock(&registry->stripes[i].mutex);
    }
    return count;
}
