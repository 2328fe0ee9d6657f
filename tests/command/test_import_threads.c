/*
 * The driver on a thread of its own, beside workers: several projects at once, and being closed in the middle.
 */
#include "../support/house.h"
#include "../support/imports.h"

#include "evidenced/commands/plans.h"
#include "evidenced/runtime/operations.h"

#include <pthread.h>

enum { WORKERS = 4, ROWS = 2500, PROJECTS = 3 };

static struct house house;
static struct evd_operations *operations;

/* Steps that were answered, by any driver. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stepped = PTHREAD_COND_INITIALIZER;
static unsigned steps;

static void note_step(void *self, const struct evd_driven *driven, const struct evd_command *command,
                      enum evd_outcome_code code) {
    (void)self;
    (void)driven;
    (void)command;
    if (code != EVD_OK) return;
    (void)pthread_mutex_lock(&mutex);
    steps++;
    (void)pthread_cond_signal(&stepped);
    (void)pthread_mutex_unlock(&mutex);
}

static void await_steps(unsigned wanted) {
    (void)pthread_mutex_lock(&mutex);
    while (steps < wanted)
        (void)pthread_cond_wait(&stepped, &mutex);
    (void)pthread_mutex_unlock(&mutex);
}

static struct evd_driver *open_driver(void) {
    struct evd_driver_options options = {.runtime = house.runtime,
                                         .clock = house.time,
                                         .operations = operations,
                                         .has_thread = true,
                                         .observer.stepped = note_step};
    options.plans = evd_operation_plans(&options.plan_count);
    return evd_driver_open(&options);
}

static void begin(void) {
    house_open(&house, WORKERS);
    house_furnish(&house, 1, 2);
    operations = evd_operations_new(house.time);
}

static void end(struct evd_driver *driver) {
    evd_driver_close(driver);
    evd_operations_free(operations);
    house_close(&house);
}

/* Begun, and waited for: the wait begins before the driver hears of it. */
struct waited {
    struct evd_operation_waiter waiter;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool over;
};

static void on_over(struct evd_operation_waiter *waiter) {
    struct waited *waited = (struct waited *)(void *)((char *)waiter - offsetof(struct waited, waiter));
    (void)pthread_mutex_lock(&waited->mutex);
    waited->over = true;
    (void)pthread_cond_signal(&waited->changed);
    (void)pthread_mutex_unlock(&waited->mutex);
}

static evd_uuid begun(struct waited *waited, evd_uuid project, unsigned id, const char *csv, bool skips) {
    struct asked *asked = asked_new(&house, &evd_command_create_import, (struct evd_ids){.project = project},
                                    house.admin, command_id(id), NULL);
    struct evd_call *call = asked_call(asked);
    call->body = evd_text_from(csv);
    call->media = EVD_MEDIA_CSV;
    call->options.skip_refused = skips;
    asked_go(asked);
    asked_await(asked);
    ck_assert_int_eq(call->outcome.code, EVD_OK);
    evd_uuid operation = call->made;
    (void)pthread_mutex_init(&waited->mutex, NULL);
    (void)pthread_cond_init(&waited->changed, NULL);
    waited->over = false;
    waited->waiter = (struct evd_operation_waiter){
        .project = project, .operation = operation, .deadline_ms = INT64_MAX, .over = on_over};
    evd_operations_wait(operations, &waited->waiter);
    struct reply reply = asked_end(asked);
    reply_done(&reply);
    return operation;
}

static void await_over(struct waited *waited) {
    (void)pthread_mutex_lock(&waited->mutex);
    while (!waited->over)
        (void)pthread_cond_wait(&waited->changed, &waited->mutex);
    (void)pthread_mutex_unlock(&waited->mutex);
    (void)pthread_cond_destroy(&waited->changed);
    (void)pthread_mutex_destroy(&waited->mutex);
}

static long long added_by(evd_uuid project, evd_uuid operation) {
    struct evd_ids ids = {.project = project, .operation = operation};
    struct reply seen = ask_ok(&house, &evd_command_get_operation, ids, house.admin, command_id(0), NULL);
    ck_assert_str_eq(text_of(&seen, "status"), "succeeded");
    long long added = json_integer_value(json_object_get(json_object_get(seen.body, "counts"), "added"));
    reply_done(&seen);
    return added;
}

START_TEST(operations_of_several_projects_are_brought_to_their_end_side_by_side) {
    static const struct evd_ids none;
    struct waited waited[2 * PROJECTS];
    evd_uuid projects[PROJECTS], ids[2 * PROJECTS];
    begin();
    struct evd_driver *driver = open_driver();
    char *csv = imports_csv(0, ROWS);
    for (unsigned i = 0; i < PROJECTS; i++) {
        struct reply made =
            ask_ok(&house, &evd_command_create_project, none, house.admin, command_id(1 + i), "{\"name\":\"P\"}");
        projects[i] = imports_id(&made, "id");
        reply_done(&made);
    }
    for (unsigned i = 0; i < 2 * PROJECTS; i++) {
        ids[i] = begun(&waited[i], projects[i % PROJECTS], 100 + i, csv, false);
        evd_driver_poke(driver, projects[i % PROJECTS], ids[i]);
    }
    for (unsigned i = 0; i < 2 * PROJECTS; i++)
        await_over(&waited[i]);
    for (unsigned i = 0; i < PROJECTS; i++)
        ck_assert_int_eq(added_by(projects[i], ids[i]) + added_by(projects[i], ids[i + PROJECTS]), ROWS);
    free(csv);
    end(driver);
}
END_TEST

START_TEST(a_driver_that_is_closed_in_the_middle_leaves_the_rest_to_the_next) {
    struct waited waited;
    begin();
    char *csv = imports_csv(0, 4 * ROWS);
    evd_uuid operation = begun(&waited, house.project, 100, csv, true);
    for (unsigned i = 0; i < 5; i++) { /* each applies a batch of the ten, perhaps another */
        struct evd_driver *driver = open_driver();
        evd_driver_poke(driver, house.project, operation);
        await_steps(i + 1);
        evd_driver_stop(driver);
        evd_driver_close(driver);
    }
    struct evd_driver *driver = open_driver();
    evd_driver_poke(driver, house.project, operation);
    await_over(&waited);
    ck_assert_int_eq(added_by(house.project, operation), 4 * ROWS);
    free(csv);
    end(driver);
}
END_TEST

EVD_TEST_MAIN("commands: import threads", operations_of_several_projects_are_brought_to_their_end_side_by_side,
              a_driver_that_is_closed_in_the_middle_leaves_the_rest_to_the_next)
