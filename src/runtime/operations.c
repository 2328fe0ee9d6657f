#include "evidenced/runtime/operations.h"

#include "evidenced/base/clock.h"

#include <assert.h>
#include <pthread.h>

struct evd_operations {
    const struct evd_clock *clock;
    pthread_mutex_t mutex; /* of all below */
    struct evd_operation_waiter *waiters;
    size_t count;
    bool released;
};

struct evd_operations *evd_operations_new(const struct evd_clock *clock) {
    struct evd_operations *operations = calloc(1, sizeof *operations);
    if (operations == NULL) return NULL;
    operations->clock = clock;
    (void)pthread_mutex_init(&operations->mutex, NULL);
    return operations;
}

void evd_operations_free(struct evd_operations *operations) {
    if (operations == NULL) return;
    assert(operations->waiters == NULL);
    (void)pthread_mutex_destroy(&operations->mutex);
    free(operations);
}

static void unlink_locked(struct evd_operations *operations, struct evd_operation_waiter *waiter) {
    *waiter->link = waiter->next;
    if (waiter->next != NULL) waiter->next->link = waiter->link;
    waiter->next = NULL;
    waiter->link = NULL;
    operations->count--;
}

void evd_operations_wait(struct evd_operations *operations, struct evd_operation_waiter *waiter) {
    waiter->next = NULL;
    waiter->link = NULL;
    (void)pthread_mutex_lock(&operations->mutex);
    if (operations->released) {
        waiter->over(waiter);
    } else {
        waiter->next = operations->waiters;
        waiter->link = &operations->waiters;
        if (waiter->next != NULL) waiter->next->link = &waiter->next;
        operations->waiters = waiter;
        operations->count++;
    }
    (void)pthread_mutex_unlock(&operations->mutex);
}

void evd_operations_cancel(struct evd_operations *operations, struct evd_operation_waiter *waiter) {
    (void)pthread_mutex_lock(&operations->mutex);
    if (waiter->link != NULL) unlink_locked(operations, waiter);
    (void)pthread_mutex_unlock(&operations->mutex);
}

/* Whom to tell. */
struct choice {
    evd_uuid project, operation; /* of one operation, unless nil */
    int64_t before_ms;           /* or whose deadline is not after this */
};

static bool is_chosen(const struct choice *choice, const struct evd_operation_waiter *waiter) {
    if (waiter->deadline_ms <= choice->before_ms) return true;
    return evd_uuid_equal(waiter->operation, choice->operation) && evd_uuid_equal(waiter->project, choice->project);
}

static void tell(struct evd_operations *operations, const struct choice *choice) {
    struct evd_operation_waiter *next;
    for (struct evd_operation_waiter *each = operations->waiters; each != NULL; each = next) {
        next = each->next;
        if (!is_chosen(choice, each)) continue;
        unlink_locked(operations, each);
        each->over(each); /* it may be gone by now */
    }
}

void evd_operations_settled(struct evd_operations *operations, evd_uuid project, evd_uuid operation) {
    struct choice choice = {.project = project, .operation = operation, .before_ms = INT64_MIN};
    if (operations == NULL) return;
    (void)pthread_mutex_lock(&operations->mutex);
    tell(operations, &choice);
    (void)pthread_mutex_unlock(&operations->mutex);
}

void evd_operations_tick(struct evd_operations *operations) {
    struct choice choice = {.before_ms = evd_clock_monotonic_ms(operations->clock)};
    (void)pthread_mutex_lock(&operations->mutex);
    tell(operations, &choice);
    (void)pthread_mutex_unlock(&operations->mutex);
}

void evd_operations_release(struct evd_operations *operations) {
    struct choice everybody = {.before_ms = INT64_MAX};
    (void)pthread_mutex_lock(&operations->mutex);
    operations->released = true;
    tell(operations, &everybody);
    (void)pthread_mutex_unlock(&operations->mutex);
}

size_t evd_operations_waiting(struct evd_operations *operations) {
    (void)pthread_mutex_lock(&operations->mutex);
    size_t count = operations->count;
    (void)pthread_mutex_unlock(&operations->mutex);
    return count;
}
