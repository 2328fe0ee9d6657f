/*
 * After every commit: stamps, once only, a refusal that changed nothing, and what the other files look at. After every
 * answer: that what it says is so.
 */
#include "oracle.h"

#include "evidenced/records/bson.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 512 * 1024 * 1024 };

void sim_oracle_begin(struct sim *sim) {
    sim->oracle = calloc(1, sizeof *sim->oracle);
    if (sim->oracle == NULL) abort();
    evd_arena_init(&sim->oracle->arena, ARENA_BYTES);
    evd_arena_init(&sim->oracle->kept, ARENA_BYTES);
}

void sim_oracle_end(struct sim *sim) {
    evd_arena_done(&sim->oracle->arena);
    evd_arena_done(&sim->oracle->kept);
    free(sim->oracle->decoded);
    free(sim->oracle->records);
    free(sim->oracle->by_key);
    free(sim->oracle->acknowledged);
    free(sim->oracle->memberships);
    free(sim->oracle->revocations);
    free(sim->oracle->steps);
    free(sim->oracle);
}

/* Commits. */

static bool is_only_copies(const struct simulated_commit *commit) {
    for (size_t i = 0; i < commit->count; i++)
        if (commit->writes[i].key.in != EVD_IN_DRAFT_COPY) return false;
    return true;
}

/* One stamp for all of it, larger than everything it was decided on and than what it replaces. */
static void check_stamps(struct sim *sim, const struct simulated_commit *commit) {
    evd_stamp stamp = 0;
    for (size_t i = 0; i < commit->count && !sim->failed; i++) {
        const struct evd_write *write = &commit->writes[i];
        const struct evd_record *after = sim_after(sim, write);
        if (write->kind == EVD_DELETE) continue;
        if (after == NULL) return;
        if (stamp != 0 && after->stamp != stamp) sim_fail(sim, "one commit has two stamps");
        stamp = after->stamp;
        const struct evd_record *before = write->kind == EVD_REPLACE ? sim_before(sim, write) : NULL;
        if (before != NULL && before->stamp >= stamp) sim_fail(sim, "a stamp does not grow");
        if (before != NULL && before->version + 1 != after->version) sim_fail(sim, "a version is left out");
    }
    if ((int64_t)stamp <= commit->largest_read) sim_fail(sim, "a stamp is not larger than what was read");
}

static void digest_commit(struct sim *sim, const struct simulated_commit *commit) {
    for (size_t i = 0; i < commit->count; i++) {
        const struct evd_write *write = &commit->writes[i];
        sim_digest(sim, &write->key.id, sizeof write->key.id);
        sim_digest(sim, write->after.bson, write->after.size_bytes);
    }
}

static void take_effect(struct sim *sim, struct sim_intent *intent, uint64_t snapshot) {
    if (intent->landed++ == 0) {
        intent->landed_at = simulated_store_now(sim->store);
        intent->decided_at = snapshot;
    }
    intent->root->effects++;
    if (intent->landed > 1) sim_fail(sim, "%s took effect %u times", intent->command->name, intent->landed);
    if (intent->root->effects > 1) sim_fail(sim, "one command id took effect %u times", intent->root->effects);
}

/* A driver's step: once for each command id, whichever driver ran it, and nothing that is typed. */
static void check_step(struct sim *sim, const struct sim_attempt *attempt, const struct simulated_commit *commit) {
    struct sim_oracle *oracle = sim->oracle;
    if (sim_written(commit, EVD_IN_SESSION_DRAFT) != NULL || sim_written(commit, EVD_IN_FORM_SESSION) != NULL)
        sim_fail(sim, "%s touched a session", attempt->command->name);
    if (!evd_command_is_ledgered(attempt->command)) return;
    for (size_t i = 0; i < oracle->step_count; i++)
        if (evd_uuid_equal(oracle->steps[i], attempt->command_id))
            sim_fail(sim, "a step took effect twice: %s", attempt->command->name);
    evd_uuid *step = sim_list_add(&oracle->steps, &oracle->step_count, &oracle->step_capacity, sizeof *step);
    *step = attempt->command_id;
}

void sim_oracle_committed(struct sim *sim, const struct simulated_commit *commit) {
    const struct sim_attempt *attempt = commit->tag;
    struct sim_intent *intent = attempt->intent;
    evd_arena_reset(&sim->oracle->arena);
    sim_say(sim, "a commit of %u %s lands%s: %zu records", intent == NULL ? 0 : intent->number, attempt->command->name,
            commit->late ? " late" : "", commit->count);
    sim->oracle->late += commit->late;
    digest_commit(sim, commit);
    check_stamps(sim, commit);
    sim_oracle_member(sim, attempt, commit);
    if (intent == NULL) {
        check_step(sim, attempt, commit);
        return;
    }
    if (!sim->failed) sim_oracle_text(sim, intent, commit);
    if (is_only_copies(commit) || sim->failed) return;
    sim_oracle_draft(sim, attempt, commit);
    if (!sim->failed) sim_oracle_version(sim, attempt, commit);
    if (intent->command != &evd_command_renew_draft_lease)
        take_effect(sim, intent, commit->snapshot); /* a heartbeat may come twice */
}

/* Answers. */

static bool is_refusal(enum evd_outcome_code code) {
    return code != EVD_OK && !evd_outcome_entry_of(code)->retryable;
}

static void acknowledge(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    struct sim_oracle *oracle = sim->oracle;
    evd_uuid version = sim_uuid_in(answer->body, "versionId");
    if (evd_uuid_is_nil(version) || !sim_makes_version(intent->command)) return;
    struct sim_acknowledged *acknowledged = sim_list_add(&oracle->acknowledged, &oracle->acknowledged_count,
                                                         &oracle->acknowledged_capacity, sizeof *acknowledged);
    *acknowledged = (struct sim_acknowledged){version, intent};
}

static void check_success(struct sim *sim, struct sim_intent *intent, const struct sim_answer *answer,
                          const char *receipt) {
    const struct evd_command *command = intent->command;
    if (command->commit == EVD_COMMIT_READ) return;
    bool written = intent->landed > 0 || command == &evd_command_renew_draft_lease ||
                   (sim_autosaves(command) && sim_is_written(sim, intent));
    if (!written) sim_fail(sim, "%s says it took effect and did not", command->name);
    acknowledge(sim, intent, answer);
    if (!evd_command_is_ledgered(command)) return;
    if (intent->receipt == NULL)
        intent->receipt = strdup(receipt);
    else if (strcmp(intent->receipt, receipt) != 0)
        sim_fail(sim, "%s was answered with two receipts", command->name);
}

/* Two of one request may race: one is refused as things were, the other takes effect as they are then. But once it has
 * taken effect, whoever asks again is told so; unless they are no member any more. */
static void check_code(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    enum evd_outcome_code code = answer->code;
    const char *name = evd_outcome_entry_of(code)->name;
    bool before = intent->landed > 0 && intent->landed_at <= answer->begun;
    if (evd_command_is_ledgered(intent->command) && is_refusal(code) && before && code != EVD_NOT_FOUND)
        sim_fail(sim, "%s took effect and was refused with %s", intent->command->name, name);
    if (code == EVD_COMMAND_DIGEST_MISMATCH && (intent->landed > 0 || intent->root->effects == 0))
        sim_fail(sim, "%s was told of another request under its command id", intent->command->name);
    uint64_t may = intent->command->outcomes | evd_command_common_outcomes(intent->command) | EVD_OUTCOME_BIT(EVD_OK);
    bool broken = code == EVD_STORE_IS_CORRUPT || code == EVD_MALFORMED || code == EVD_OUT_OF_MEMORY;
    if (broken || (may & EVD_OUTCOME_BIT(code)) == 0) sim_fail(sim, "%s answered %s", intent->command->name, name);
}

void sim_oracle_answered(struct sim *sim, struct sim_intent *intent, const struct sim_answer *answer,
                         const char *receipt) {
    evd_arena_reset(&sim->oracle->arena);
    sim_digest(sim, &intent->number, sizeof intent->number);
    sim_digest(sim, &answer->code, sizeof answer->code);
    if (receipt != NULL) sim_digest(sim, receipt, strlen(receipt));
    if (answer->code == EVD_OK) check_success(sim, intent, answer, receipt);
    check_code(sim, intent, answer);
    sim_oracle_member_answered(sim, intent, answer);
    sim_oracle_copy(sim, intent, answer);
    sim_oracle_deserved(sim, intent, answer);
    sim_oracle_read(sim, intent, answer);
    if (!sim->failed) sim_oracle_receipt(sim, intent, answer);
}
