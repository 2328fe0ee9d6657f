/*
 * Who is no member any more. Two promises, and no more than these:
 *
 *   - On whatever host, what is written was decided at an instant at which its caller was a member, and nobody is
 *     answered anything else than NotFound who was none during the whole call.
 *   - Once a host has answered a revocation, nothing of that person's is written from that host any more that was
 *     decided on before: it has waited for the attempts under way. Attempts of other hosts may still be on their way,
 *     and so may a commit whose fate its host does not know, which is no attempt any more: both were decided on before.
 */
#include "oracle.h"

static const struct sim_membership *membership_at(const struct sim *sim, evd_uuid person, uint64_t instant) {
    const struct sim_oracle *oracle = sim->oracle;
    for (size_t i = oracle->membership_count; i-- > 0;) {
        const struct sim_membership *membership = &oracle->memberships[i];
        if (membership->since <= instant && evd_uuid_equal(membership->person, person)) return membership;
    }
    return NULL;
}

bool sim_was_member(const struct sim *sim, evd_uuid person, uint64_t instant) {
    const struct sim_membership *membership = membership_at(sim, person, instant);
    return membership != NULL && membership->member;
}

static void note(struct sim *sim, const struct simulated_commit *commit) {
    struct sim_oracle *oracle = sim->oracle;
    const struct evd_write *write = sim_written(commit, EVD_IN_MEMBERSHIP);
    const struct evd_membership *after = write == NULL ? NULL : sim_after(sim, write);
    if (after == NULL) return;
    struct sim_membership *membership =
        sim_list_add(&oracle->memberships, &oracle->membership_count, &oracle->membership_capacity, sizeof *membership);
    *membership = (struct sim_membership){after->investigator, simulated_store_now(sim->store), after->roles.count > 0};
}

static void check_revoked(struct sim *sim, const struct sim_attempt *attempt, const struct simulated_commit *commit) {
    const struct sim_oracle *oracle = sim->oracle;
    for (size_t i = 0; i < oracle->revocation_count; i++) {
        const struct sim_revocation *revocation = &oracle->revocations[i];
        bool same = revocation->host == attempt->host && evd_uuid_equal(revocation->person, attempt->caller);
        if (same && revocation->at > commit->snapshot && !commit->late)
            sim_fail(sim, "%s was written after its caller's revocation was answered", attempt->command->name);
    }
}

void sim_oracle_member(struct sim *sim, const struct sim_attempt *attempt, const struct simulated_commit *commit) {
    note(sim, commit);
    if (attempt->command->makes_project || attempt->command->of_service) return;
    if (!sim_was_member(sim, attempt->caller, commit->snapshot))
        sim_fail(sim, "%s was written for somebody who is no member", attempt->command->name);
    check_revoked(sim, attempt, commit);
}

static bool revokes(const struct sim_intent *intent) {
    return intent->command == &evd_command_set_member &&
           json_array_size(json_object_get(intent->asked_for, "roles")) == 0;
}

static bool was_member(const struct sim *sim, evd_uuid person, uint64_t first, bool always) {
    for (uint64_t at = first; at <= simulated_store_now(sim->store); at++)
        if (sim_was_member(sim, person, at) != always) return !always;
    return always;
}

void sim_oracle_member_answered(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    struct sim_oracle *oracle = sim->oracle;
    if (answer->code == EVD_OK && revokes(intent)) {
        struct sim_revocation *revocation = sim_list_add(&oracle->revocations, &oracle->revocation_count,
                                                         &oracle->revocation_capacity, sizeof *revocation);
        *revocation =
            (struct sim_revocation){sim_uuid_in(intent->asked_for, "investigatorId"), intent->landed_at, answer->host};
    }
    if (intent->command->makes_project || sim_asks_again(answer->code)) return;
    bool tells_nothing = answer->code == EVD_NOT_FOUND || answer->code == EVD_PRECONDITION_REQUIRED;
    if (!tells_nothing && !was_member(sim, intent->caller, answer->begun, false))
        sim_fail(sim, "%s answered %s to somebody who is no member", intent->command->name,
                 evd_outcome_entry_of(answer->code)->name);
    bool always_there = (sim_saves(intent->command) || sim_autosaves(intent->command)) &&
                        sim_study_number(sim, intent->ids.study) < SIM_STUDIES;
    if (answer->code == EVD_NOT_FOUND && always_there && was_member(sim, intent->caller, answer->begun, true))
        sim_fail(sim, "%s answered NotFound to a member", intent->command->name);
}
