/*
 * After every commit: stamps, once only, a refusal that changed nothing. After every answer: that what it says is so.
 */
#include "oracle.h"

#include "evidenced/records/bson.h"
#include "evidenced/records/keys.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 256 * 1024 * 1024 };

void sim_oracle_begin(struct sim *sim) {
    sim->oracle = calloc(1, sizeof *sim->oracle);
    if (sim->oracle == NULL) abort();
    evd_arena_init(&sim->oracle->arena, ARENA_BYTES);
}

void sim_oracle_end(struct sim *sim) {
    evd_arena_done(&sim->oracle->arena);
    free(sim->oracle->records);
    free(sim->oracle->by_key);
    free(sim->oracle->acknowledged);
    free(sim->oracle);
}

const void *sim_decode(struct sim *sim, const struct evd_key *key, const struct evd_image *image,
                       struct evd_arena *arena) {
    const struct evd_type *type = evd_type_of_collection(key->in);
    void *record = evd_arena_alloc(arena, type->size_bytes);
    if (evd_bson_decode(type, image->bson, image->size_bytes, arena, record) == EVD_DECODED) return record;
    sim_fail(sim, "a %s that was written does not decode", type->name);
    return NULL;
}

/* Commits. */

static bool is_only_copies(const struct simulated_commit *commit) {
    for (size_t i = 0; i < commit->count; i++)
        if (commit->writes[i].key.in != EVD_IN_DRAFT_COPY) return false;
    return true;
}

/* One stamp for all of it, larger than everything it was decided on and than what it replaces. */
static void check_stamps(struct sim *sim, const struct simulated_commit *commit) {
    struct evd_arena *arena = &sim->oracle->arena;
    evd_stamp stamp = 0;
    for (size_t i = 0; i < commit->count && !sim->failed; i++) {
        const struct evd_write *write = &commit->writes[i];
        if (write->kind == EVD_DELETE) continue;
        const struct evd_record *after = sim_decode(sim, &write->key, &write->after, arena);
        if (after == NULL) return;
        if (i > 0 && stamp != 0 && after->stamp != stamp) sim_fail(sim, "one commit has two stamps");
        stamp = after->stamp;
        if (write->kind != EVD_REPLACE) continue;
        const struct evd_record *before = sim_decode(sim, &write->key, &write->before, arena);
        if (before != NULL && before->stamp >= stamp) sim_fail(sim, "a stamp does not grow");
        if (before != NULL && before->version + 1 != after->version) sim_fail(sim, "a version is left out");
    }
    if ((int64_t)stamp <= commit->largest_read) sim_fail(sim, "a stamp is not larger than what was read");
}

void sim_oracle_committed(struct sim *sim, const struct simulated_commit *commit) {
    struct sim_intent *intent = commit->tag;
    evd_arena_reset(&sim->oracle->arena);
    check_stamps(sim, commit);
    if (intent == NULL) return;
    sim_say(sim, "a commit of %u %s lands: %zu records", intent->number, intent->command->name, commit->count);
    if (!is_only_copies(commit) && ++intent->landed > 1)
        sim_fail(sim, "%s took effect %u times", intent->command->name, intent->landed);
    sim_oracle_text(sim, intent, commit);
}

/* Answers. */

static bool is_refusal(enum evd_outcome_code code) {
    return code != EVD_OK && !evd_outcome_entry_of(code)->retryable;
}

static void acknowledge(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    struct sim_oracle *oracle = sim->oracle;
    const char *text = json_string_value(json_object_get(answer->body, "versionId"));
    evd_uuid version;
    if (text == NULL || intent->command->commit == EVD_COMMIT_READ || !evd_uuid_parse(evd_text_from(text), &version))
        return;
    if (oracle->acknowledged_count == oracle->acknowledged_capacity) {
        oracle->acknowledged_capacity = oracle->acknowledged_capacity == 0 ? 64 : oracle->acknowledged_capacity * 2;
        oracle->acknowledged =
            realloc(oracle->acknowledged, oracle->acknowledged_capacity * sizeof *oracle->acknowledged);
        if (oracle->acknowledged == NULL) abort();
    }
    oracle->acknowledged[oracle->acknowledged_count++] = (struct acknowledged){version, intent};
}

static void check_success(struct sim *sim, struct sim_intent *intent, const struct sim_answer *answer,
                          const char *receipt) {
    const struct evd_command *command = intent->command;
    if (command->commit == EVD_COMMIT_READ) return;
    bool writes_always = command != &evd_command_renew_draft_lease;
    if (writes_always && intent->landed == 0) sim_fail(sim, "%s says it took effect and did not", command->name);
    acknowledge(sim, intent, answer);
    if (!evd_command_is_ledgered(command)) return;
    if (intent->receipt == NULL)
        intent->receipt = strdup(receipt);
    else if (strcmp(intent->receipt, receipt) != 0)
        sim_fail(sim, "%s was answered with two receipts", command->name);
}

void sim_oracle_answered(struct sim *sim, struct sim_intent *intent, const struct sim_answer *answer,
                         const char *receipt) {
    if (answer->code == EVD_OK) check_success(sim, intent, answer, receipt);
    bool ledgered = evd_command_is_ledgered(intent->command);
    if (ledgered && is_refusal(answer->code) && intent->landed > 0)
        sim_fail(sim, "%s took effect and was refused with %s", intent->command->name,
                 evd_outcome_entry_of(answer->code)->name);
    if (answer->code == EVD_STORE_IS_CORRUPT || answer->code == EVD_MALFORMED || answer->code == EVD_OUT_OF_MEMORY)
        sim_fail(sim, "%s answered %s", intent->command->name, evd_outcome_entry_of(answer->code)->name);
    sim_oracle_copy(sim, intent, answer);
}
