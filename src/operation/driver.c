#include "evidenced/operation/driver.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/limits.h"
#include "evidenced/runtime/operations.h"
#include "operation/private.h"

#include <assert.h>

static int64_t now_ms(const struct evd_driver *driver) {
    return evd_clock_monotonic_ms(driver->options.clock);
}

static void lock(struct evd_driver *driver) {
    (void)pthread_mutex_lock(&driver->mutex);
}

static void unlock(struct evd_driver *driver) {
    (void)pthread_mutex_unlock(&driver->mutex);
}

static void tell_locked(struct evd_driver *driver) {
    driver->news = true;
    (void)pthread_cond_signal(&driver->changed);
}

void evd_hand_done(struct evd_call *call) {
    struct evd_hand *hand = call->owner;
    struct evd_driver *driver = hand->driver;
    lock(driver);
    hand->answered = true;
    tell_locked(driver);
    unlock(driver);
}

/* The list. */

static void append_locked(struct evd_driver *driver, struct evd_running *running) {
    running->next = NULL;
    if (driver->last == NULL)
        driver->first = running;
    else
        driver->last->next = running;
    driver->last = running;
}

static void unlink_locked(struct evd_driver *driver, struct evd_running *running) {
    struct evd_running *before = NULL;
    for (struct evd_running *each = driver->first; each != running; each = each->next)
        before = each;
    if (before == NULL)
        driver->first = running->next;
    else
        before->next = running->next;
    if (driver->last == running) driver->last = before;
}

static bool is_listed(const struct evd_driver *driver, evd_uuid project, evd_uuid operation) {
    for (const struct evd_running *each = driver->first; each != NULL; each = each->next)
        if (evd_uuid_equal(each->driven.operation, operation) && evd_uuid_equal(each->driven.project, project))
            return true;
    return false;
}

static void add_locked(struct evd_driver *driver, evd_uuid project, evd_uuid operation, enum evd_running_need need) {
    if (is_listed(driver, project, operation)) return;
    struct evd_running *running = calloc(1, sizeof *running);
    if (running == NULL) abort();
    running->hand.driver = driver;
    running->driven.project = project;
    running->driven.operation = operation;
    running->need = need;
    evd_arena_init(&running->driven.arena, EVD_LIMIT_DRIVEN_ARENA_BYTES);
    append_locked(driver, running);
    tell_locked(driver);
}

static void running_free(struct evd_running *running) {
    evd_arena_done(&running->driven.arena);
    free(running);
}

void evd_driver_poke(struct evd_driver *driver, evd_uuid project, evd_uuid operation) {
    lock(driver);
    add_locked(driver, project, operation, EVD_RUNNING_NEEDS_LOOK);
    unlock(driver);
}

/* Whose turn it is. */

static bool comes_before(const struct evd_running *a, const struct evd_running *b) {
    if (a->driven.stand.requested_at != b->driven.stand.requested_at)
        return a->driven.stand.requested_at < b->driven.stand.requested_at;
    return evd_uuid_compare(a->driven.operation, b->driven.operation) < 0;
}

/* One whose record was not seen yet may have been asked for before. */
static bool is_first_of_its_project(const struct evd_driver *driver, const struct evd_running *running) {
    for (const struct evd_running *each = driver->first; each != NULL; each = each->next) {
        if (each == running || each->is_stuck || !evd_uuid_equal(each->driven.project, running->driven.project))
            continue;
        if (!each->is_known || comes_before(each, running)) return false;
    }
    return true;
}

static bool can_begin(const struct evd_driver *driver, const struct evd_running *running, int64_t now) {
    if (running->hand.busy || running->is_stuck || running->hand.due_ms > now) return false;
    return running->need != EVD_RUNNING_NEEDS_STEP || is_first_of_its_project(driver, running);
}

static void take_in_hand(struct evd_driver *driver, struct evd_hand *hand) {
    hand->busy = true;
    hand->answered = false;
    driver->in_hand++;
}

/* The one whose project had its last turn longest ago. */
static struct evd_running *choose_locked(struct evd_driver *driver) {
    int64_t now = now_ms(driver);
    struct evd_running *chosen = NULL;
    for (struct evd_running *each = driver->first; each != NULL; each = each->next)
        if ((chosen == NULL || each->last_turn < chosen->last_turn) && can_begin(driver, each, now)) chosen = each;
    if (chosen == NULL) return NULL;
    driver->turn++;
    for (struct evd_running *each = driver->first; each != NULL; each = each->next)
        if (evd_uuid_equal(each->driven.project, chosen->driven.project)) each->last_turn = driver->turn;
    take_in_hand(driver, &chosen->hand);
    return chosen;
}

static struct evd_running *answered_locked(struct evd_driver *driver) {
    for (struct evd_running *each = driver->first; each != NULL; each = each->next)
        if (each->hand.answered) return each;
    return NULL;
}

/* What was open when the driver was opened. */

static void list_begin(struct evd_driver *driver) {
    struct evd_listing *listing = &driver->listing;
    const struct evd_ids none = {.project = evd_uuid_nil()};
    evd_hand_run(&listing->hand, &evd_command_list_open_operations, none, evd_uuid_nil(), evd_uuid_nil(),
                 &listing->page);
}

static void list_settle(struct evd_driver *driver) {
    struct evd_listing *listing = &driver->listing;
    enum evd_outcome_code code = listing->hand.call.outcome.code;
    evd_hand_free(&listing->hand);
    lock(driver);
    listing->hand.busy = listing->hand.answered = false;
    driver->in_hand--;
    if (code == EVD_OK) {
        for (size_t i = 0; i < listing->page.count; i++)
            add_locked(driver, listing->page.entries[i].project, listing->page.entries[i].operation,
                       EVD_RUNNING_NEEDS_TAKE_OVER);
        listing->over = listing->page.count < EVD_OPEN_PAGE;
        if (!listing->over) listing->page.after = listing->page.entries[EVD_OPEN_PAGE - 1].operation;
        listing->hand.pauses = 0;
    } else {
        evd_hand_pause(&listing->hand); /* whatever it is: nothing is more important than what was begun */
        driver->pauses++;
    }
    unlock(driver);
}

/* The next thing. */

static void settled(struct evd_driver *driver, struct evd_running *running) {
    const struct evd_driver_observer *observer = &driver->options.observer;
    bool is_over = running->driven.stand.status != EVD_OPERATION_RUNNING;
    if (is_over && observer->settled != NULL) observer->settled(observer->self, &running->driven);
    if (is_over) evd_operations_settled(driver->options.operations, running->driven.project, running->driven.operation);
    running_free(running);
}

static void take_up(struct evd_driver *driver, struct evd_running *running) {
    unsigned pauses = running->hand.pauses;
    bool took_effect = running->need == EVD_RUNNING_NEEDS_STEP && running->hand.call.outcome.code == EVD_OK;
    bool leaves = evd_running_settle(running);
    evd_hand_free(&running->hand);
    lock(driver);
    running->hand.busy = running->hand.answered = false;
    driver->in_hand--;
    driver->steps += took_effect;
    driver->pauses += running->hand.pauses > pauses;
    if (leaves) unlink_locked(driver, running);
    unlock(driver);
    if (leaves) settled(driver, running);
}

bool evd_driver_step(struct evd_driver *driver) {
    struct evd_listing *listing = &driver->listing;
    struct evd_running *chosen = NULL;
    lock(driver);
    struct evd_running *answered = answered_locked(driver);
    bool listed = listing->hand.answered;
    bool lists = answered == NULL && !listed && !driver->stopping && !listing->over && !listing->hand.busy &&
                 listing->hand.due_ms <= now_ms(driver);
    if (lists)
        take_in_hand(driver, &listing->hand);
    else if (answered == NULL && !listed && !driver->stopping)
        chosen = choose_locked(driver);
    unlock(driver);
    if (answered != NULL)
        take_up(driver, answered);
    else if (listed)
        list_settle(driver);
    else if (lists)
        list_begin(driver);
    else if (chosen != NULL)
        evd_running_begin(chosen);
    return answered != NULL || listed || lists || chosen != NULL;
}

/* The thread. */

/* When something may be begun that cannot now; INT64_MAX: not by time alone. */
static int64_t next_due_locked(const struct evd_driver *driver) {
    int64_t now = now_ms(driver), due = INT64_MAX;
    if (driver->stopping) return due;
    if (!driver->listing.over && !driver->listing.hand.busy && driver->listing.hand.due_ms > now)
        due = driver->listing.hand.due_ms;
    for (const struct evd_running *each = driver->first; each != NULL; each = each->next)
        if (!each->hand.busy && !each->is_stuck && each->hand.due_ms > now && each->hand.due_ms < due)
            due = each->hand.due_ms;
    return due;
}

static void wait_locked(struct evd_driver *driver) {
    int64_t due = next_due_locked(driver);
    if (due == INT64_MAX) {
        (void)pthread_cond_wait(&driver->changed, &driver->mutex);
        return;
    }
    int64_t wait_ms = due - now_ms(driver);
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&driver->changed, &driver->mutex, &until);
}

static void *thread_main(void *self) {
    struct evd_driver *driver = self;
    lock(driver);
    while (!driver->closing || driver->in_hand > 0) {
        driver->news = false;
        unlock(driver);
        bool did_something = evd_driver_step(driver);
        lock(driver);
        bool waits = !did_something && !driver->news && !(driver->closing && driver->in_hand == 0);
        if (waits) wait_locked(driver);
    }
    unlock(driver);
    return NULL;
}

struct evd_driver *evd_driver_open(const struct evd_driver_options *options) {
    struct evd_driver *driver = calloc(1, sizeof *driver);
    pthread_condattr_t monotonic;
    if (driver == NULL) abort();
    driver->options = *options;
    driver->listing.hand.driver = driver;
    (void)pthread_mutex_init(&driver->mutex, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&driver->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    if (options->has_thread && pthread_create(&driver->thread, NULL, thread_main, driver) != 0) abort();
    return driver;
}

void evd_driver_stop(struct evd_driver *driver) {
    lock(driver);
    driver->stopping = true;
    tell_locked(driver);
    unlock(driver);
}

void evd_driver_figures(struct evd_driver *driver, struct evd_driver_figures *ret_figures) {
    struct evd_driver_figures figures = {0};
    lock(driver);
    for (const struct evd_running *each = driver->first; each != NULL; each = each->next) {
        figures.open++;
        figures.stuck += each->is_stuck;
    }
    figures.in_hand = driver->in_hand;
    figures.steps = driver->steps;
    figures.pauses = driver->pauses;
    unlock(driver);
    *ret_figures = figures;
}

void evd_driver_close(struct evd_driver *driver) {
    if (driver == NULL) return;
    lock(driver);
    driver->stopping = driver->closing = true;
    tell_locked(driver);
    unlock(driver);
    if (driver->options.has_thread) (void)pthread_join(driver->thread, NULL);
    while (!driver->options.has_thread && evd_driver_step(driver)) {
    }
    assert(driver->in_hand == 0);
    while (driver->first != NULL) {
        struct evd_running *next = driver->first->next;
        running_free(driver->first);
        driver->first = next;
    }
    (void)pthread_cond_destroy(&driver->changed);
    (void)pthread_mutex_destroy(&driver->mutex);
    free(driver);
}
