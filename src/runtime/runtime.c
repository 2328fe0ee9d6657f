/*
 * Scheduling: workers, lanes, the waiting list.
 *
 * A call moves  posted → (worker) prepared → in its lanes → attempts → done.  Where it cannot go on it is parked in a
 * list and its thread goes on to other work; whoever makes it able to go on posts its task again. The mutex guards
 * the queue and the waiting list only; lanes and the registry have their own; none is held while another is taken.
 */
#include "evidenced/runtime/runtime.h"

#include "evidenced/base/buffer.h"
#include "evidenced/base/canary.h"
#include "evidenced/base/clock.h"
#include "evidenced/base/crash.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/random.h"
#include "evidenced/records/json.h"
#include "runtime/private.h"

#include <assert.h>

enum { TICK_MS = 20 };

static void enter_lanes(struct evd_runtime *runtime, struct evd_call *call);
static void run_attempt(struct evd_runtime *runtime, struct evd_call *call);

size_t evd_lane_of_study(const struct evd_call *call, evd_uuid ret_studies[EVD_COMMAND_LANES]) {
    ret_studies[0] = call->ids.study;
    return 1;
}

const char *evd_parameter_name(enum evd_parameter parameter) {
    static const char *const names[EVD_PARAMETER_COUNT] = {[EVD_PARAMETER_LIMIT] = "limit",
                                                           [EVD_PARAMETER_CURSOR] = "cursor",
                                                           [EVD_PARAMETER_STAGE] = "stage",
                                                           [EVD_PARAMETER_STATE] = "state",
                                                           [EVD_PARAMETER_DRY_RUN] = "dryRun",
                                                           [EVD_PARAMETER_SKIP_REFUSED] = "skipRefused",
                                                           [EVD_PARAMETER_DELIMITER] = "delimiter",
                                                           [EVD_PARAMETER_LABEL] = "label",
                                                           [EVD_PARAMETER_SPREADSHEET] = "spreadsheet",
                                                           [EVD_PARAMETER_RESULT] = "result"};
    return names[parameter];
}

const char *const *evd_parameter_values(enum evd_parameter parameter) {
    static const char *const flag[] = {"false", "true", NULL}, *const delimiter[] = {"comma", "semicolon", "tab", NULL},
                             *const spreadsheet[] = {"safe", NULL};
    static const char *const *const values[EVD_PARAMETER_COUNT] = {[EVD_PARAMETER_DRY_RUN] = flag,
                                                                   [EVD_PARAMETER_SKIP_REFUSED] = flag,
                                                                   [EVD_PARAMETER_DELIMITER] = delimiter,
                                                                   [EVD_PARAMETER_SPREADSHEET] = spreadsheet};
    return values[parameter];
}

bool evd_command_is_ledgered(const struct evd_command *command) {
    return command->commit == EVD_COMMIT_TXN || command->commit == EVD_COMMIT_OPERATION;
}

uint64_t evd_command_common_outcomes(const struct evd_command *command) {
    uint64_t any = EVD_OUTCOME_BIT(EVD_MALFORMED) | EVD_OUTCOME_BIT(EVD_NOT_FOUND) | EVD_OUTCOME_BIT(EVD_REFUSED) |
                   EVD_OUTCOME_BIT(EVD_STORE_IS_UNAVAILABLE) | EVD_OUTCOME_BIT(EVD_STORE_IS_CORRUPT) |
                   EVD_OUTCOME_BIT(EVD_OUT_OF_MEMORY) | EVD_OUTCOME_BIT(EVD_RETRYABLE_CONFLICT);
    if (command->commit == EVD_COMMIT_READ) return any;
    any |= EVD_OUTCOME_BIT(EVD_OUTCOME_UNKNOWN) | EVD_OUTCOME_BIT(EVD_STORE_IS_FULL) | EVD_OUTCOME_BIT(EVD_CLOCK_DRIFT);
    if (evd_command_is_ledgered(command)) any |= EVD_OUTCOME_BIT(EVD_COMMAND_DIGEST_MISMATCH);
    if (command->conditional)
        any |= EVD_OUTCOME_BIT(EVD_PRECONDITION_FAILED) | EVD_OUTCOME_BIT(EVD_PRECONDITION_REQUIRED);
    if (command->lanes != NULL) any |= EVD_OUTCOME_BIT(EVD_LOCKED) | EVD_OUTCOME_BIT(EVD_BUSY);
    return any;
}

void evd_call_receipt(struct evd_call *call, const struct evd_type *type, const void *view) {
    struct evd_buffer out;
    assert(type == call->command->answer); /* api/openapi.yaml says so */
    evd_buffer_init(&out, evd_call_arena(call), 1024);
    evd_json_write(type, view, &out);
    call->receipt = evd_buffer_text(&out);
}

static int64_t now_ms(const struct evd_runtime *runtime) {
    return evd_clock_monotonic_ms(runtime->options.clock);
}

/* The queue. */

static void enqueue_locked(struct evd_runtime *runtime, struct evd_task *task) {
    task->next = NULL;
    if (runtime->last_task == NULL)
        runtime->first_task = task;
    else
        runtime->last_task->next = task;
    runtime->last_task = task;
    runtime->queued++;
}

/* After the mutex is let go: a worker woken before would only wait for it. */
static void wake_worker(struct evd_runtime *runtime) {
    (void)pthread_cond_signal(&runtime->work);
}

bool evd_runtime_post(struct evd_runtime *runtime, struct evd_task *task) {
    (void)pthread_mutex_lock(&runtime->mutex);
    bool room = runtime->queued < runtime->options.queue;
    if (room) enqueue_locked(runtime, task);
    (void)pthread_mutex_unlock(&runtime->mutex);
    if (room) wake_worker(runtime);
    return room;
}

void evd_runtime_go_on(struct evd_runtime *runtime, struct evd_task *task) {
    (void)pthread_mutex_lock(&runtime->mutex);
    enqueue_locked(runtime, task);
    (void)pthread_mutex_unlock(&runtime->mutex);
    wake_worker(runtime);
}

/* What was admitted once is never turned away: it holds its place in a lane. */
static void post_again(struct evd_runtime *runtime, struct evd_call *call, void (*run)(struct evd_task *)) {
    call->task.run = run;
    evd_runtime_go_on(runtime, &call->task);
}

static struct evd_task *dequeue_locked(struct evd_runtime *runtime) {
    struct evd_task *task = runtime->first_task;
    if (task == NULL) return NULL;
    runtime->first_task = task->next;
    if (runtime->first_task == NULL) runtime->last_task = NULL;
    runtime->queued--;
    runtime->running++;
    return task;
}

static struct evd_call *call_of_task(struct evd_task *task) {
    return (struct evd_call *)((char *)task - offsetof(struct evd_call, task));
}

static void task_is_head(struct evd_task *task) {
    struct evd_call *call = call_of_task(task);
    call->lanes_held++;
    enter_lanes(call->runtime, call);
}

static void task_tries_again(struct evd_task *task) {
    struct evd_call *call = call_of_task(task);
    run_attempt(call->runtime, call);
}

/* The end of a call. */

static void leave_lanes(struct evd_runtime *runtime, struct evd_call *call) {
    while (call->lanes_held > 0) {
        struct evd_call *next = evd_lanes_leave(runtime->lanes, call, call->lane_studies[--call->lanes_held]);
        if (next != NULL && !EVD_CANARY(LANE_NOT_HANDED_ON)) post_again(runtime, next, task_is_head);
    }
}

static void answer(struct evd_call *call) {
    EVD_CALL_CRASH_POINT(call, ANSWER_BEFORE);
    call->done(call);
}

static void finish(struct evd_runtime *runtime, struct evd_call *call) {
    leave_lanes(runtime, call);
    const struct evd_runtime_observer *observer = &runtime->options.observer;
    bool done = call->outcome.code == EVD_OK, began = done && call->command->commit == EVD_COMMIT_OPERATION;
    if (began && observer->began != NULL) observer->began(observer->self, call->ids.project, call->made);
    bool awaits = done && call->command->awaits_earlier_attempts;
    if (EVD_CANARY(REVOCATION_NOT_AWAITED)) awaits = false;
    if (awaits && !evd_inflight_drained(runtime->in_flight, call)) return; /* the last attempt's leave answers it */
    answer(call);
}

static void finish_with(struct evd_runtime *runtime, struct evd_call *call, enum evd_outcome_code code) {
    call->outcome = evd_outcome_of(code);
    finish(runtime, call);
}

/* Attempts. */

/* Full jitter: anything up to a bound that doubles with each charged attempt. */
static int64_t backoff_ms(const struct evd_runtime *runtime, unsigned attempts) {
    int64_t bound_ms = EVD_LIMIT_BACKOFF_FIRST_MS;
    while (--attempts > 0 && bound_ms < EVD_LIMIT_BACKOFF_LARGEST_MS)
        bound_ms *= 2;
    if (bound_ms > EVD_LIMIT_BACKOFF_LARGEST_MS) bound_ms = EVD_LIMIT_BACKOFF_LARGEST_MS;
    return (int64_t)evd_random_below(runtime->options.random, (uint64_t)bound_ms + 1);
}

static void wait_for_due(struct evd_runtime *runtime, struct evd_call *call) {
    (void)pthread_mutex_lock(&runtime->mutex);
    struct evd_call **at = &runtime->waiting;
    while (*at != NULL && (*at)->due_ms <= call->due_ms)
        at = &(*at)->next_waiting;
    call->next_waiting = *at;
    *at = call;
    (void)pthread_cond_signal(&runtime->timer);
    (void)pthread_mutex_unlock(&runtime->mutex);
}

static void retry(struct evd_runtime *runtime, struct evd_call *call) {
    const struct evd_runtime_observer *observer = &runtime->options.observer;
    call->attempts_charged++; /* until the next attempt finds that it was free */
    if (observer->retried != NULL) observer->retried(observer->self, call->command, true);
    call->due_ms = now_ms(runtime) + backoff_ms(runtime, call->attempts_charged);
    bool spent = call->attempts_charged >= EVD_LIMIT_ATTEMPTS || call->attempts_free >= EVD_LIMIT_FREE_ATTEMPTS;
    if (spent || call->due_ms >= call->deadline_ms) {
        finish_with(runtime, call, EVD_RETRYABLE_CONFLICT);
        return;
    }
    wait_for_due(runtime, call);
}

static void leave_registry(struct evd_runtime *runtime, struct evd_call *call) {
    struct evd_call *drained = evd_inflight_leave(runtime->in_flight, call);
    while (drained != NULL) {
        struct evd_call *next = drained->next_waiting;
        answer(drained);
        drained = next;
    }
}

static void run_attempt(struct evd_runtime *runtime, struct evd_call *call) {
    if (now_ms(runtime) >= call->deadline_ms) {
        finish_with(runtime, call, EVD_RETRYABLE_CONFLICT);
        return;
    }
    evd_inflight_enter(runtime->in_flight, call);
    EVD_CALL_CRASH_POINT(call, ATTEMPT_REGISTERED);
    bool again = evd_attempt_run(runtime, call);
    leave_registry(runtime, call);
    if (again)
        retry(runtime, call);
    else
        finish(runtime, call);
}

/* Lanes, in ascending order, so that no two calls wait for each other. */
static void enter_lanes(struct evd_runtime *runtime, struct evd_call *call) {
    while (call->lanes_held < call->lane_count) {
        switch (evd_lanes_enter(runtime->lanes, call, call->lane_studies[call->lanes_held])) {
        case EVD_LANE_HEAD: call->lanes_held++; break;
        case EVD_LANE_PARKED: return; /* the head before it posts it */
        case EVD_LANE_FULL: finish_with(runtime, call, EVD_BUSY); return;
        }
    }
    run_attempt(runtime, call);
}

void evd_runtime_run(struct evd_runtime *runtime, struct evd_call *call) {
    call->runtime = runtime;
    if (!evd_call_prepare(call)) {
        answer(call);
        return;
    }
    if (call->command->lanes != NULL) call->lane_count = call->command->lanes(call, call->lane_studies);
    assert(call->lane_count < EVD_COMMAND_LANES || evd_uuid_compare(call->lane_studies[0], call->lane_studies[1]) < 0);
    enter_lanes(runtime, call);
}

void evd_runtime_run_again(struct evd_runtime *runtime, struct evd_call *call) {
    assert(call->command->streamed && call->lane_count == 0 && call->stream.more);
    call->stream.more = false;
    run_attempt(runtime, call);
}

/* Time. */

static void post_due(struct evd_runtime *runtime, int64_t now) {
    (void)pthread_mutex_lock(&runtime->mutex);
    while (runtime->waiting != NULL && runtime->waiting->due_ms <= now) {
        struct evd_call *call = runtime->waiting;
        runtime->waiting = call->next_waiting;
        call->task.run = task_tries_again;
        enqueue_locked(runtime, &call->task);
        wake_worker(runtime);
    }
    (void)pthread_mutex_unlock(&runtime->mutex);
}

void evd_runtime_tick(struct evd_runtime *runtime) {
    int64_t now = now_ms(runtime);
    post_due(runtime, now);
    struct evd_call *expired = evd_lanes_expire(runtime->lanes, now);
    while (expired != NULL) {
        struct evd_call *next = expired->next_waiting;
        finish_with(runtime, expired, EVD_RETRYABLE_CONFLICT);
        expired = next;
    }
}

static void *timer_main(void *self) {
    struct evd_runtime *runtime = self;
    (void)pthread_mutex_lock(&runtime->mutex);
    while (!runtime->closing) {
        int64_t wait_ms = TICK_MS;
        if (runtime->waiting != NULL && runtime->waiting->due_ms - now_ms(runtime) < wait_ms)
            wait_ms = runtime->waiting->due_ms - now_ms(runtime);
        if (wait_ms > 0) {
            struct timespec until;
            (void)clock_gettime(CLOCK_MONOTONIC, &until);
            until.tv_nsec += wait_ms * 1000000;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            (void)pthread_cond_timedwait(&runtime->timer, &runtime->mutex, &until);
        }
        (void)pthread_mutex_unlock(&runtime->mutex);
        evd_runtime_tick(runtime);
        (void)pthread_mutex_lock(&runtime->mutex);
    }
    (void)pthread_mutex_unlock(&runtime->mutex);
    return NULL;
}

/* Workers. */

static void run_task(struct evd_runtime *runtime, struct evd_task *task) {
    task->run(task);
    (void)pthread_mutex_lock(&runtime->mutex);
    runtime->running--;
    (void)pthread_mutex_unlock(&runtime->mutex);
}

bool evd_runtime_work(struct evd_runtime *runtime) {
    (void)pthread_mutex_lock(&runtime->mutex);
    struct evd_task *task = dequeue_locked(runtime);
    (void)pthread_mutex_unlock(&runtime->mutex);
    if (task == NULL) return false;
    run_task(runtime, task);
    return true;
}

static void *worker_main(void *self) {
    struct evd_runtime *runtime = self;
    (void)pthread_mutex_lock(&runtime->mutex);
    for (;;) {
        while (runtime->first_task == NULL && !runtime->closing)
            (void)pthread_cond_wait(&runtime->work, &runtime->mutex);
        struct evd_task *task = dequeue_locked(runtime);
        (void)pthread_mutex_unlock(&runtime->mutex);
        if (task == NULL) return NULL;
        task->run(task);
        (void)pthread_mutex_lock(&runtime->mutex);
        runtime->running--;
    }
}

static void start_threads(struct evd_runtime *runtime) {
    unsigned count = runtime->options.workers;
    if (count == 0) return;
    runtime->workers = calloc(count, sizeof *runtime->workers);
    if (runtime->workers == NULL) abort();
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&runtime->workers[i], NULL, worker_main, runtime) != 0) abort();
    if (pthread_create(&runtime->timer_thread, NULL, timer_main, runtime) != 0) abort();
}

struct evd_runtime *evd_runtime_open(const struct evd_runtime_options *options) {
    struct evd_runtime *runtime = calloc(1, sizeof *runtime);
    if (runtime == NULL) abort();
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    runtime->options = *options;
    runtime->lanes = evd_lanes_new();
    runtime->in_flight = evd_inflight_new();
    runtime->definitions = evd_definition_cache_new(EVD_DEFINITION_CACHE_BYTES);
    (void)pthread_mutex_init(&runtime->mutex, NULL);
    (void)pthread_cond_init(&runtime->work, NULL);
    (void)pthread_cond_init(&runtime->timer, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    start_threads(runtime);
    return runtime;
}

void evd_runtime_figures(struct evd_runtime *runtime, struct evd_runtime_figures *ret_figures) {
    (void)pthread_mutex_lock(&runtime->mutex);
    *ret_figures = (struct evd_runtime_figures){.queued = runtime->queued, .running = runtime->running};
    (void)pthread_mutex_unlock(&runtime->mutex);
    evd_lanes_figures(runtime->lanes, &ret_figures->lanes, &ret_figures->parked);
    ret_figures->in_flight = evd_inflight_count(runtime->in_flight);
}

static void stop_threads(struct evd_runtime *runtime) {
    (void)pthread_mutex_lock(&runtime->mutex);
    runtime->closing = true;
    (void)pthread_cond_broadcast(&runtime->work);
    (void)pthread_cond_broadcast(&runtime->timer);
    (void)pthread_mutex_unlock(&runtime->mutex);
    for (unsigned i = 0; runtime->workers != NULL && i < runtime->options.workers; i++)
        (void)pthread_join(runtime->workers[i], NULL);
    if (runtime->workers != NULL) (void)pthread_join(runtime->timer_thread, NULL);
    free(runtime->workers);
}

void evd_runtime_close(struct evd_runtime *runtime) {
    if (runtime == NULL) return;
    stop_threads(runtime);
    assert(runtime->waiting == NULL && runtime->first_task == NULL);
    evd_definition_cache_free(runtime->definitions);
    evd_inflight_free(runtime->in_flight);
    evd_lanes_free(runtime->lanes);
    (void)pthread_cond_destroy(&runtime->timer);
    (void)pthread_cond_destroy(&runtime->work);
    (void)pthread_mutex_destroy(&runtime->mutex);
    free(runtime);
}
