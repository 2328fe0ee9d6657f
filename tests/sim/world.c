/*
 * Hosts, messages, time. A host that crashes answers nothing any more: the attempts it had under way find a store they
 * cannot reach, as a dead process reaches none, and their answers are dropped.
 */
#include "sim.h"

#include "evidenced/base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE = 1000, CALL_ARENA_BYTES = 8 * 1024 * 1024 };

static const int64_t started_ms = INT64_C(1800000000000);

/* A call on a host. */
struct sim_call {
    struct evd_call call;
    struct evd_arena arena;
    struct sim_host *host;
    struct sim_intent *intent;
    struct sim_call *next;
};

unsigned sim_below(struct sim *sim, unsigned bound) {
    return (unsigned)evd_random_below(&sim->random.random, bound);
}

bool sim_chance(struct sim *sim, unsigned of, unsigned in) {
    return of > 0 && sim_below(sim, in) < of;
}

void sim_fail(struct sim *sim, const char *format, ...) {
    va_list arguments;
    if (sim->failed) return; /* the first one is the cause */
    sim->failed = true;
    va_start(arguments, format);
    (void)vsnprintf(sim->failure, sizeof sim->failure, format, arguments);
    va_end(arguments);
}

void sim_say(struct sim *sim, const char *format, ...) {
    va_list arguments;
    if (!sim->verbose) return;
    (void)printf("%6u  ", sim->step);
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    (void)printf("\n");
}

/* Intents. */

static evd_uuid numbered_key(struct sim *sim) {
    unsigned number = ++sim->keys;
    struct evd_text part = {(const char *)&number, sizeof number};
    evd_uuid id = evd_uuid_derive("simulated", &part, 1);
    id.bytes[6] = (uint8_t)(0x40 | (id.bytes[6] & 0x0F)); /* a random one's version: derived ids are refused */
    return id;
}

struct sim_intent *sim_intent_new(struct sim *sim, const struct evd_command *command, struct evd_ids ids,
                                  evd_uuid caller, json_t *body) {
    struct sim_intent *intent = calloc(1, sizeof *intent);
    if (intent == NULL) abort();
    if (sim->intent_count == sim->intent_capacity) {
        sim->intent_capacity = sim->intent_capacity == 0 ? 256 : sim->intent_capacity * 2;
        sim->intents = realloc(sim->intents, sim->intent_capacity * sizeof(struct sim_intent *));
        if (sim->intents == NULL) abort();
    }
    intent->number = (unsigned)sim->intent_count;
    sim->intents[sim->intent_count++] = intent;
    intent->command = command;
    intent->ids = ids;
    intent->caller = caller;
    if (evd_command_is_ledgered(command)) intent->key = numbered_key(sim);
    if (body != NULL) intent->body = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    return intent;
}

/* Messages. */

static void post(struct sim *sim, struct sim_intent *intent, const struct sim_answer *answer) {
    struct sim_message *message = calloc(1, sizeof *message);
    if (message == NULL) abort();
    message->intent = intent;
    if (answer != NULL) {
        message->is_answer = true;
        message->answer = *answer;
        json_incref(answer->body);
    }
    if (sim->last_message == NULL)
        sim->first_message = message;
    else
        sim->last_message->next = message;
    sim->last_message = message;
}

void sim_send(struct sim *sim, struct sim_intent *intent) {
    intent->asked++;
    if (sim_chance(sim, sim->faults.drop, 1000)) return;
    post(sim, intent, NULL);
    if (sim_chance(sim, sim->faults.duplicate, 1000)) post(sim, intent, NULL);
}

static struct sim_message *take_message(struct sim *sim, unsigned at) {
    struct sim_message **link = &sim->first_message, *before = NULL;
    while (at-- > 0) {
        before = *link;
        link = &(*link)->next;
    }
    struct sim_message *message = *link;
    *link = message->next;
    if (sim->last_message == message) sim->last_message = before;
    return message;
}

static unsigned messages(const struct sim *sim) {
    unsigned count = 0;
    for (const struct sim_message *at = sim->first_message; at != NULL; at = at->next)
        count++;
    return count;
}

static void message_free(struct sim_message *message) {
    json_decref(message->answer.body);
    free(message);
}

/* Calls. */

static json_t *members_of(const struct evd_outcome *outcome) {
    char *text = NULL;
    if (asprintf(&text, "{" EVD_TEXT_FMT "}", EVD_TEXT_ARG(outcome->members)) < 0) abort();
    json_t *members = json_loads(text, 0, NULL);
    free(text);
    return members == NULL ? json_object() : members;
}

static void on_done(struct evd_call *call) {
    struct sim_call *done = call->owner;
    struct sim_host *host = done->host;
    struct sim *sim = host->sim;
    struct sim_answer answer = {.code = call->outcome.code, .replayed = call->replayed, .etag = call->etag};
    char *receipt = NULL;
    host->calls--;
    done->next = sim->finished;
    sim->finished = done;
    if (answer.code == EVD_OK) {
        receipt = strndup(call->receipt.bytes, call->receipt.size_bytes);
        answer.body = json_loads(receipt, JSON_REJECT_DUPLICATES, NULL);
    } else {
        answer.body = members_of(&call->outcome);
    }
    if (!host->dying) {
        sim->answers++;
        sim_say(sim, "host %u answers %u %s: %s%s", host->number, done->intent->number, done->intent->command->name,
                evd_outcome_entry_of(answer.code)->name, answer.replayed ? " (replayed)" : "");
        sim_oracle_answered(sim, done->intent, &answer, receipt);
        if (!sim_chance(sim, sim->faults.drop, 1000)) post(sim, done->intent, &answer);
    }
    json_decref(answer.body);
    free(receipt);
}

static void call_free(struct sim_call *call) {
    evd_arena_done(&call->call.attempt_arena);
    evd_arena_done(&call->arena);
    free(call);
}

static void free_finished(struct sim *sim) {
    while (sim->finished != NULL) {
        struct sim_call *next = sim->finished->next;
        call_free(sim->finished);
        sim->finished = next;
    }
}

static void begin_call(struct sim_host *host, struct sim_intent *intent) {
    struct sim_call *begun = calloc(1, sizeof *begun);
    if (begun == NULL) abort();
    begun->host = host;
    begun->intent = intent;
    evd_arena_init(&begun->arena, CALL_ARENA_BYTES);
    struct evd_call *call = &begun->call;
    *call = (struct evd_call){.command = intent->command,
                              .arena = &begun->arena,
                              .ids = intent->ids,
                              .caller = intent->caller,
                              .command_id = intent->key,
                              .may_create_projects = true,
                              .body = evd_text_from(intent->body),
                              .page.limit = EVD_LIMIT_PAGE_DEFAULT,
                              .deadline_ms = evd_clock_monotonic_ms(&host->clock.clock) + EVD_LIMIT_DEADLINE_MS,
                              .done = on_done,
                              .owner = begun};
    evd_arena_init(&call->attempt_arena, CALL_ARENA_BYTES);
    if (strcmp(intent->condition, "*") == 0)
        call->conditions.if_none_match = EVD_TEXT("*");
    else if (intent->condition[0] != '\0')
        call->conditions.if_match = evd_text_from(intent->condition);
    host->calls++;
    evd_runtime_run(host->runtime, call);
}

/* Time passes for everybody, on each host as its clock has it. */

static void pass(struct sim *sim, int64_t by_ms) {
    for (unsigned i = 0; i < sim->host_count; i++) {
        struct sim_host *host = &sim->hosts[i];
        atomic_fetch_add(&host->clock.monotonic_us, by_ms * 1000);
        if (!host->frozen) atomic_fetch_add(&host->clock.wall_ms, by_ms);
    }
}

static void run_host(struct sim_host *host) {
    if (host->runtime == NULL) return;
    evd_runtime_tick(host->runtime);
    while (evd_runtime_work(host->runtime)) {
    }
}

/* Hosts. */

void sim_host_start(struct sim_host *host) {
    struct evd_runtime_options options = {.store = host->sim->store,
                                          .clock = &host->clock.clock,
                                          .random = &host->random.random,
                                          .queue = QUEUE,
                                          .conformance = true};
    host->runtime = evd_runtime_open(&options);
    host->dying = false;
}

static void host_stop(struct sim_host *host) {
    host->dying = true;
    while (host->calls > 0) {
        atomic_fetch_add(&host->clock.monotonic_us, 1000);
        run_host(host);
    }
    free_finished(host->sim);
    evd_runtime_close(host->runtime);
    host->runtime = NULL;
}

static void crash(struct sim_host *host) {
    sim_say(host->sim, "host %u crashes with %zu calls under way", host->number, host->calls);
    host->sim->crashes++;
    host_stop(host);
}

static struct sim_host *host_that_is_up(struct sim *sim) {
    unsigned first = sim_below(sim, sim->host_count);
    for (unsigned i = 0; i < sim->host_count; i++) {
        struct sim_host *host = &sim->hosts[(first + i) % sim->host_count];
        if (host->runtime != NULL) return host;
    }
    return NULL;
}

static void deliver(struct sim *sim) {
    unsigned waiting = messages(sim);
    if (waiting == 0) return;
    struct sim_message *message = take_message(sim, sim_below(sim, waiting < 8 ? waiting : 8));
    struct sim_intent *intent = message->intent;
    struct sim_host *host = message->is_answer ? NULL : host_that_is_up(sim);
    if (message->is_answer && intent->tab != NULL)
        sim_tab_answer(intent->tab, intent, &message->answer);
    else if (host != NULL)
        begin_call(host, intent);
    message_free(message);
}

/* What the store does. */

static enum simulated_fate decide(void *self, enum simulated_call call) {
    struct sim *sim = self;
    const struct sim_faults *faults = &sim->faults;
    bool dying = false;
    for (unsigned i = 0; i < sim->host_count; i++)
        dying |= sim->hosts[i].dying;
    if (dying) return call == SIMULATED_COMMIT_AGAIN ? SIMULATED_STAYS_UNKNOWN : SIMULATED_UNAVAILABLE;
    if (call == SIMULATED_COMMIT_AGAIN)
        return sim_chance(sim, faults->stays_unknown, 1000) ? SIMULATED_STAYS_UNKNOWN : SIMULATED_AS_IT_IS;
    if (sim_chance(sim, faults->unavailable, 1000)) return SIMULATED_UNAVAILABLE;
    if (call != SIMULATED_COMMIT) return SIMULATED_AS_IT_IS;
    if (sim_chance(sim, faults->conflict, 1000)) return SIMULATED_CONFLICT;
    if (sim_chance(sim, faults->lost_answer, 1000)) return SIMULATED_ANSWER_LOST;
    if (sim_chance(sim, faults->lost_request, 1000)) return SIMULATED_REQUEST_LOST;
    return sim_chance(sim, faults->delayed, 1000) ? SIMULATED_DELAYED : SIMULATED_AS_IT_IS;
}

/* Whose attempt a transaction is: its arena is the call's own. */
static void *whose(void *self, struct evd_arena *arena) {
    struct evd_call *call = (struct evd_call *)((char *)arena - offsetof(struct evd_call, attempt_arena));
    (void)self;
    return ((struct sim_call *)call->owner)->intent;
}

static void witness(void *self, const struct simulated_commit *commit) {
    struct sim *sim = self;
    sim->commits++;
    sim_oracle_committed(sim, commit);
}

/* One step: usually a message arrives or time passes. */
void sim_world_step(struct sim *sim, bool calm) {
    unsigned what = sim_below(sim, 100);
    if (what < 45) {
        deliver(sim);
    } else if (what < 70) {
        pass(sim, 1 + sim_below(sim, 40));
        struct sim_host *host = &sim->hosts[sim_below(sim, sim->host_count)];
        run_host(host);
    } else if (what < 95) {
        sim_tab_step(&sim->tabs[sim_below(sim, sim->tab_count)], calm);
    } else if (what < 97) {
        pass(sim, calm ? 1000 : 1 + sim_below(sim, EVD_LIMIT_DRAFT_LEASE_MS));
    } else {
        (void)simulated_store_deliver(sim->store);
    }
    struct sim_host *host = &sim->hosts[sim_below(sim, sim->host_count)];
    if (host->runtime == NULL) {
        if (calm || sim_chance(sim, 1, 20)) sim_host_start(host);
    } else if (sim_chance(sim, sim->faults.crash, 10000)) {
        crash(host);
    }
    if (sim_chance(sim, sim->faults.jump, 10000))
        atomic_fetch_add(&host->clock.wall_ms, (int64_t)sim_below(sim, 40000) - 20000);
    free_finished(sim);
}

bool sim_world_is_quiet(const struct sim *sim) {
    bool quiet = sim->first_message == NULL && simulated_store_delayed(sim->store) == 0;
    for (unsigned i = 0; i < sim->host_count; i++)
        quiet &= sim->hosts[i].runtime != NULL && sim->hosts[i].calls == 0;
    for (unsigned i = 0; i < sim->tab_count; i++)
        quiet &= sim_tab_is_settled(&sim->tabs[i]);
    return quiet;
}

/* Setting up. */

json_t *sim_ask(struct sim *sim, const struct evd_command *command, struct evd_ids ids, evd_uuid caller, json_t *body) {
    struct sim_intent *intent = sim_intent_new(sim, command, ids, caller, body);
    begin_call(&sim->hosts[0], intent);
    while (sim->hosts[0].calls > 0) {
        pass(sim, 1);
        run_host(&sim->hosts[0]);
    }
    free_finished(sim);
    struct sim_message *message = take_message(sim, 0);
    json_t *answer = json_incref(message->answer.body);
    if (message->answer.code != EVD_OK)
        sim_fail(sim, "set-up: %s: %s", command->name, evd_outcome_entry_of(message->answer.code)->name);
    message_free(message);
    return answer;
}

static evd_uuid id_in(json_t *answer, const char *member) {
    evd_uuid id = evd_uuid_nil();
    const char *text = json_string_value(json_object_get(answer, member));
    if (text == NULL || !evd_uuid_parse(evd_text_from(text), &id)) abort();
    json_decref(answer);
    return id;
}

static evd_uuid person(unsigned number) {
    struct evd_text part = {(const char *)&number, sizeof number};
    evd_uuid id = evd_uuid_derive("person", &part, 1);
    id.bytes[6] = (uint8_t)(0x40 | (id.bytes[6] & 0x0F));
    return id;
}

static void add_member(struct sim *sim, evd_uuid who) {
    char text[SIM_TEXT_BYTES];
    struct evd_ids ids = {.project = sim->project};
    evd_uuid_format(who, text);
    json_decref(sim_ask(sim, &evd_command_set_member, ids, sim->admin,
                        json_pack("{s:s, s:[s]}", "investigatorId", text, "roles", "reviewer")));
}

static evd_uuid add_form(struct sim *sim, unsigned number) {
    char form[SIM_TEXT_BYTES], id[8];
    struct evd_ids ids = {.project = sim->project};
    json_t *questions = json_array();
    for (unsigned i = 0; i < SIM_QUESTIONS; i++) {
        sim_question(number, i, id);
        (void)json_array_append_new(questions, json_pack("{s:s, s:s, s:s}", "id", id, "label", id, "kind", "text"));
    }
    ids.form = id_in(sim_ask(sim, &evd_command_create_form, ids, sim->admin,
                             json_pack("{s:s, s:{s:i}, s:o}", "name", number == 0 ? "F" : "G", "capacity", "target",
                                       SIM_TARGET, "questions", questions)),
                     "id");
    evd_uuid_format(ids.form, form);
    sim->stage = id_in(sim_ask(sim, &evd_command_create_stage, ids, sim->admin,
                               json_pack("{s:s, s:s}", "name", "Stage", "formId", form)),
                       "id");
    json_decref(sim_ask(sim, &evd_command_publish_form, ids, sim->admin, json_pack("{s:i}", "baseVersion", 2)));
    return ids.form;
}

static void furnish(struct sim *sim) {
    static const struct evd_ids none;
    sim->admin = person(1000);
    sim->project =
        id_in(sim_ask(sim, &evd_command_create_project, none, sim->admin, json_pack("{s:s}", "name", "P")), "id");
    for (unsigned i = 0; i < SIM_FORMS; i++) {
        sim->forms[i] = add_form(sim, i);
        sim->stages[i] = sim->stage;
    }
    for (unsigned i = 0; i < SIM_REVIEWERS; i++)
        add_member(sim, person(i));
    struct evd_ids ids = {.project = sim->project};
    json_t *rows = json_array();
    for (unsigned i = 0; i < SIM_STUDIES; i++)
        (void)json_array_append_new(rows, json_pack("{s:s}", "title", "T"));
    json_t *added = sim_ask(sim, &evd_command_add_studies, ids, sim->admin, json_pack("{s:o}", "studies", rows));
    for (unsigned i = 0; i < SIM_STUDIES; i++)
        sim->studies[i] = id_in(json_incref(json_array_get(json_object_get(added, "rows"), i)), "studyId");
    json_decref(added);
    for (unsigned i = 0; i < SIM_REVIEWERS * SIM_TABS; i++) {
        sim_tab_init(&sim->tabs[i], sim, i / SIM_TABS, i % SIM_TABS);
        sim->tabs[i].person = person(i / SIM_TABS);
        sim->tab_count++;
    }
}

static void host_init(struct sim *sim, unsigned number) {
    struct sim_host *host = &sim->hosts[number];
    host->sim = sim;
    host->number = number;
    evd_test_clock_init(&host->clock, started_ms);
    evd_test_random_init(&host->random, sim->seed * 31 + number);
    sim_host_start(host);
}

/* What a seed's clocks are like: some are off, one may stand still. */
static void set_clocks(struct sim *sim) {
    for (unsigned i = 0; i < sim->host_count; i++) {
        struct sim_host *host = &sim->hosts[i];
        if (sim_chance(sim, sim->faults.skew, 10000))
            atomic_fetch_add(&host->clock.wall_ms, (int64_t)sim_below(sim, 30000) - 15000);
        host->frozen = sim->faults.frozen_clock && i == 0;
    }
}

void sim_world_open(struct sim *sim) {
    struct sim_faults faults;
    sim_faults_draw(&faults, &sim->random);
    sim->store = simulated_store_new(evd_catalogue_stored());
    sim->host_count = 1 + sim_below(sim, SIM_HOSTS);
    for (unsigned i = 0; i < sim->host_count; i++)
        host_init(sim, i);
    sim_oracle_begin(sim);
    simulated_store_watch(sim->store, witness, whose, sim);
    furnish(sim);
    sim->faults = faults;
    set_clocks(sim);
    simulated_store_decide(sim->store, decide, sim);
}

void sim_world_close(struct sim *sim) {
    simulated_store_decide(sim->store, NULL, NULL);
    for (unsigned i = 0; i < sim->host_count; i++)
        if (sim->hosts[i].runtime != NULL) host_stop(&sim->hosts[i]);
    while (sim->first_message != NULL)
        message_free(take_message(sim, 0));
    for (unsigned i = 0; i < sim->tab_count; i++)
        sim_tab_done(&sim->tabs[i]);
    for (size_t i = 0; i < sim->intent_count; i++) {
        free(sim->intents[i]->body);
        free(sim->intents[i]->receipt);
        free(sim->intents[i]);
    }
    free(sim->intents);
    sim_oracle_end(sim);
    evd_store_close(sim->store);
}
