#include "inside.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/random.h"
#include "evidenced/commands/table.h"
#include "evidenced/records/dictionary.h"
#include "evidenced/records/json_load.h"
#include "evidenced/store/embedded.h"

#include <jansson.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 32, QUEUE = 256 }; /* the daemon's defaults */

struct bench_inside *bench_inside_open(const char *directory) {
    struct bench_inside *inside = bench_alloc(sizeof *inside);
    char error[EVD_EMBEDDED_ERROR_BYTES];
    struct evd_embedded_options store = {
        .directory = directory, .catalogue = evd_catalogue_stored(), .clock = evd_clock_system()};
    inside->store = evd_embedded_open(&store, error);
    if (inside->store == NULL) bench_fail("%s", error);
    struct evd_runtime_options runtime = {.store = inside->store,
                                          .clock = evd_clock_system(),
                                          .random = evd_random_system(),
                                          .workers = WORKERS,
                                          .queue = QUEUE};
    inside->runtime = evd_runtime_open(&runtime);
    size_t count;
    const struct evd_command *const *commands = evd_command_table(&count);
    inside->router = evd_router_new(commands, count);
    return inside;
}

void bench_inside_close(struct bench_inside *inside) {
    evd_router_free(inside->router);
    evd_runtime_close(inside->runtime);
    evd_store_close(inside->store);
    free(inside);
}

/* One call after the other. */

static void run(struct evd_task *task) {
    struct bench_asked *asked = (struct bench_asked *)((char *)task - offsetof(struct bench_asked, task));
    evd_runtime_run(asked->inside->runtime, &asked->call);
}

void bench_asked_init(struct bench_asked *asked, struct bench_inside *inside, const char *path, unsigned who,
                      void (*done)(struct evd_call *)) {
    struct evd_route route;
    *asked = (struct bench_asked){.inside = inside, .task.run = run, .caller = bench_person(who), .done = done};
    if (!evd_router_find(inside->router, evd_text_from(path), &route)) bench_fail("there is no %s", path);
    asked->command = route.commands[route.commands[EVD_COMMAND_PATCH] != NULL ? EVD_COMMAND_PATCH : EVD_COMMAND_POST];
    asked->ids = route.ids;
}

void bench_asked_go(struct bench_asked *asked, const char *condition, struct evd_text body) {
    asked->asked_ns = bench_now_ns();
    evd_arena_init(&asked->arena, EVD_LIMIT_CALL_ARENA_BYTES);
    asked->call = (struct evd_call){.command = asked->command,
                                    .arena = &asked->arena,
                                    .ids = asked->ids,
                                    .caller = asked->caller,
                                    .command_id = bench_key(),
                                    .may_create_projects = true,
                                    .body = body,
                                    .page.limit = EVD_LIMIT_PAGE_DEFAULT,
                                    .deadline_ms = evd_clock_monotonic_ms(evd_clock_system()) + EVD_LIMIT_DEADLINE_MS,
                                    .done = asked->done,
                                    .owner = asked};
    evd_arena_init(&asked->call.attempt_arena, EVD_LIMIT_CALL_ARENA_BYTES);
    if (condition != NULL) {
        (void)snprintf(asked->condition, sizeof asked->condition, "%s", condition);
        asked->call.conditions.if_match = evd_text_from(asked->condition);
    }
    if (!evd_runtime_post(asked->inside->runtime, &asked->task)) bench_fail("the queue is full");
}

void bench_asked_release(struct bench_asked *asked) {
    evd_arena_done(&asked->call.attempt_arena);
    evd_arena_done(&asked->arena);
}

struct waiting {
    struct bench_asked asked;
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    bool done;
};

static void wake(struct evd_call *call) {
    struct waiting *waiting = call->owner; /* its first member */
    (void)pthread_mutex_lock(&waiting->mutex);
    waiting->done = true;
    (void)pthread_cond_signal(&waiting->answered);
    (void)pthread_mutex_unlock(&waiting->mutex);
}

/* The call's memory is still held when this returns. */
static void ask_and_wait(struct waiting *waiting, const char *condition, struct evd_text body) {
    (void)pthread_mutex_init(&waiting->mutex, NULL);
    (void)pthread_cond_init(&waiting->answered, NULL);
    waiting->done = false;
    bench_asked_go(&waiting->asked, condition, body);
    (void)pthread_mutex_lock(&waiting->mutex);
    while (!waiting->done)
        (void)pthread_cond_wait(&waiting->answered, &waiting->mutex);
    (void)pthread_mutex_unlock(&waiting->mutex);
    (void)pthread_cond_destroy(&waiting->answered);
    (void)pthread_mutex_destroy(&waiting->mutex);
    enum evd_outcome_code code = waiting->asked.call.outcome.code;
    if (code != EVD_OK) bench_fail("%s: %s", waiting->asked.command->name, evd_outcome_entry_of(code)->name);
}

static void ask(void *self, unsigned who, const char *path, const char *condition, const char *body,
                char **ret_answer) {
    struct waiting waiting;
    bench_asked_init(&waiting.asked, self, path, who, wake);
    ask_and_wait(&waiting, condition, evd_text_from(body));
    struct evd_text receipt = waiting.asked.call.receipt;
    *ret_answer = strndup(receipt.bytes, receipt.size_bytes);
    if (*ret_answer == NULL) bench_fail("out of memory");
    bench_asked_release(&waiting.asked);
}

struct bench_asker bench_inside_asker(struct bench_inside *inside) {
    return (struct bench_asker){.self = inside, .ask = ask};
}

/* Memory. Parsed JSON is the one thing of a call that is outside its arenas. */

static size_t json_held_bytes, json_most_bytes;

static void *json_take(size_t size_bytes) {
    void *memory = malloc(size_bytes);
    if (memory == NULL) return NULL;
    json_held_bytes += malloc_usable_size(memory);
    if (json_held_bytes > json_most_bytes) json_most_bytes = json_held_bytes;
    return memory;
}

static void json_give_back(void *memory) {
    json_held_bytes -= malloc_usable_size(memory);
    free(memory);
}

struct bench_memory bench_inside_memory(struct bench_inside *inside, const struct bench_project *project,
                                        struct bench_author *author, const char *study, enum bench_verb verb) {
    char path[BENCH_PATH_BYTES], etag[BENCH_ETAG_BYTES];
    struct waiting waiting;
    bench_session_path(project, study, verb, path);
    bench_author_write(author);
    bench_asked_init(&waiting.asked, inside, path, author->number, wake);
    json_held_bytes = json_most_bytes = 0;
    evd_json_memory(json_take, json_give_back);
    ask_and_wait(&waiting, bench_author_condition(author, etag), (struct evd_text){author->body, author->body_bytes});
    evd_json_memory(NULL, NULL);
    bench_author_keep(author, waiting.asked.call.receipt);
    struct bench_memory memory = {.body_bytes = author->body_bytes,
                                  .call_bytes = waiting.asked.arena.held_bytes,
                                  .attempt_bytes = waiting.asked.call.attempt_arena.held_bytes,
                                  .json_bytes = json_most_bytes};
    bench_asked_release(&waiting.asked);
    return memory;
}
