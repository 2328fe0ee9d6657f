/*
 * What people want, the messages it travels in, and the calls a host makes of them.
 */
#include "sim.h"

#include "evidenced/base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_ARENA_BYTES = 8 * 1024 * 1024, REORDERED = 8 };

struct sim_message {
    struct sim_message *next;
    struct sim_intent *intent;
    bool is_answer;
    struct sim_answer answer;
};

/* A call on a host. */
struct sim_call {
    struct evd_call call;
    struct evd_arena arena;
    struct sim_host *host;
    struct sim_intent *intent;
    uint64_t begun;
    struct sim_call *next;
};

/* Intents. */

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
    intent->root = intent;
    if (evd_command_is_ledgered(command)) intent->key = sim_made_up("command", ++sim->keys);
    if (json_is_string(body)) /* a file */
        intent->body = strdup(json_string_value(body));
    else if (body != NULL)
        intent->body = json_dumps(body, JSON_COMPACT);
    intent->asked_for = body;
    return intent;
}

static void intent_free(struct sim_intent *intent) {
    free(intent->body);
    json_decref(intent->asked_for);
    free(intent->receipt);
    free(intent);
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

/* The oldest come first, but not in order. */
static struct sim_message *take_some(struct sim *sim, bool requests_only) {
    unsigned suitable[REORDERED], count = 0, at = 0;
    for (const struct sim_message *each = sim->first_message; each != NULL && count < REORDERED; each = each->next) {
        if (!requests_only || !each->is_answer) suitable[count++] = at;
        at++;
    }
    return count == 0 ? NULL : take_message(sim, suitable[sim_below(sim, count)]);
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

static void tell(struct sim_call *done, const struct sim_answer *answer, const char *receipt) {
    struct sim_host *host = done->host;
    struct sim *sim = host->sim;
    if (host->dying) return;
    sim->answers++;
    sim_say(sim, "host %u answers %u %s: %s%s", host->number, done->intent->number, done->intent->command->name,
            evd_outcome_entry_of(answer->code)->name, answer->replayed ? " (replayed)" : "");
    sim_oracle_answered(sim, done->intent, answer, receipt);
    if (!sim_chance(sim, sim->faults.drop, 1000)) post(sim, done->intent, answer);
}

static void on_done(struct evd_call *call) {
    struct sim_call *done = call->owner;
    struct sim *sim = done->host->sim;
    struct sim_answer answer = {.code = call->outcome.code,
                                .replayed = call->replayed,
                                .host = done->host->number,
                                .begun = done->begun,
                                .now_ms = call->now_ms};
    char *receipt = NULL;
    done->host->calls--;
    done->next = sim->finished;
    sim->finished = done;
    if (answer.code == EVD_OK) {
        receipt = strndup(call->receipt.size_bytes == 0 ? "" : call->receipt.bytes, call->receipt.size_bytes);
        answer.body = json_loads(receipt, JSON_REJECT_DUPLICATES, NULL);
    } else {
        answer.body = members_of(&call->outcome);
    }
    tell(done, &answer, receipt);
    json_decref(answer.body);
    free(receipt);
}

void sim_calls_free(struct sim *sim) {
    while (sim->finished != NULL) {
        struct sim_call *call = sim->finished;
        sim->finished = call->next;
        evd_arena_done(&call->call.attempt_arena);
        evd_arena_done(&call->arena);
        free(call);
    }
}

static void begin_call(struct sim_host *host, struct sim_intent *intent) {
    struct sim_call *begun = calloc(1, sizeof *begun);
    if (begun == NULL) abort();
    begun->host = host;
    begun->intent = intent;
    begun->begun = simulated_store_now(host->sim->store);
    evd_arena_init(&begun->arena, CALL_ARENA_BYTES);
    struct evd_call *call = &begun->call;
    *call = (struct evd_call){.command = intent->command,
                              .arena = &begun->arena,
                              .ids = intent->ids,
                              .caller = intent->caller,
                              .command_id = intent->key,
                              .may_create_projects = true,
                              .body = evd_text_from(intent->body),
                              .media = intent->command->references ? EVD_MEDIA_CSV : EVD_MEDIA_JSON,
                              .options = intent->options,
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

/* Whose attempt a transaction is: its arena is the call's own. */
void *sim_attempt_of(void *self, struct evd_arena *arena) {
    struct evd_call *call = (struct evd_call *)((char *)arena - offsetof(struct evd_call, attempt_arena));
    struct sim *sim = self;
    struct sim_attempt *attempt = calloc(1, sizeof *attempt);
    if (attempt == NULL) abort();
    *attempt = (struct sim_attempt){.next = sim->attempts,
                                    .command = call->command,
                                    .caller = call->caller,
                                    .command_id = call->command_id,
                                    .now_ms = call->now_ms};
    if (call->done == on_done) attempt->intent = ((const struct sim_call *)call->owner)->intent;
    while (sim->hosts[attempt->host].runtime != call->runtime)
        attempt->host++;
    return sim->attempts = attempt;
}

void sim_deliver(struct sim *sim, bool requests_only) {
    struct sim_message *message = take_some(sim, requests_only);
    if (message == NULL) return;
    struct sim_intent *intent = message->intent;
    struct sim_host *host = message->is_answer ? NULL : sim_host_that_is_up(sim);
    if (message->is_answer && intent->tab != NULL)
        sim_tab_answer(intent->tab, intent, &message->answer);
    else if (message->is_answer)
        sim_admin_answer(sim, intent, &message->answer);
    else if (host != NULL)
        begin_call(host, intent);
    message_free(message);
}

json_t *sim_ask(struct sim *sim, const struct evd_command *command, struct evd_ids ids, evd_uuid caller, json_t *body) {
    struct sim_intent *intent = sim_intent_new(sim, command, ids, caller, body);
    begin_call(&sim->hosts[0], intent);
    while (sim->hosts[0].calls > 0) {
        sim_pass(sim, 1);
        sim_host_run(&sim->hosts[0]);
    }
    sim_calls_free(sim);
    struct sim_message *message = take_message(sim, 0);
    json_t *answer = json_incref(message->answer.body);
    if (message->answer.code != EVD_OK)
        sim_fail(sim, "set-up: %s: %s", command->name, evd_outcome_entry_of(message->answer.code)->name);
    message_free(message);
    return answer;
}

void sim_wire_close(struct sim *sim) {
    while (sim->first_message != NULL)
        message_free(take_message(sim, 0));
    for (size_t i = 0; i < sim->intent_count; i++)
        intent_free(sim->intents[i]);
    free(sim->intents);
    while (sim->attempts != NULL) {
        struct sim_attempt *next = sim->attempts->next;
        free(sim->attempts);
        sim->attempts = next;
    }
}
