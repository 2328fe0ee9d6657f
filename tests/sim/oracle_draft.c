/*
 * What was done to a draft: an autosave deserved it and wrote what it said, a lease passes on only as it may, and
 * whatever is no typing leaves what is typed as it is.
 */
#include "oracle.h"

#include <string.h>

struct change {
    const struct sim_intent *intent;
    const struct evd_session_draft *before, *after; /* before NULL: the first */
    int64_t now_ms;
};

static bool same_content(const struct evd_draft_content *a, const struct evd_draft_content *b) {
    struct sim_saying saying;
    for (size_t i = 0; sim_saying_at(a, i, &saying); i++)
        if (!sim_content_says(b, saying.said)) return false;
    for (size_t i = 0; sim_saying_at(b, i, &saying); i++)
        if (!sim_content_says(a, saying.said)) return false;
    return true;
}

static size_t sayings(const struct evd_draft_content *content) {
    return content == NULL ? 0 : content->answers.count + content->withdrawn.count;
}

/* Autosaves. */

static size_t check_said(struct sim *sim, const struct change *change, const char *list, bool withdrawn) {
    const json_t *entries = json_object_get(json_object_get(change->intent->asked_for, "content"), list);
    for (size_t i = 0; i < json_array_size(entries) && !sim->failed; i++) {
        char said[SIM_SAID_BYTES];
        const json_t *entry = json_array_get(entries, i);
        sim_said(entry, withdrawn ? NULL : json_object_get(entry, "value"), said);
        if (!sim_content_says(change->after->content, said)) sim_fail(sim, "an autosave lacks what it said: %s", said);
    }
    return json_array_size(entries);
}

/* A PATCH leaves what it does not name. */
static size_t check_left(struct sim *sim, const struct change *change) {
    struct sim_saying saying;
    size_t left = 0;
    const struct evd_draft_content *before = change->before == NULL ? NULL : change->before->content;
    if (change->intent->command == &evd_command_put_draft) return 0;
    for (size_t i = 0; sim_saying_at(before, i, &saying) && !sim->failed; i++) {
        if (sim_body_names(change->intent, saying.name)) continue;
        left++;
        if (!sim_content_says(change->after->content, saying.said))
            sim_fail(sim, "PatchDraft dropped what it did not name: %s", saying.said);
    }
    return left;
}

static void check_autosave(struct sim *sim, const struct change *change) {
    const json_t *body = change->intent->asked_for;
    int64_t etag = change->before == NULL ? 0 : change->before->etag;
    bool fits = evd_uuid_equal(change->after->holder, sim_uuid_in(body, "holder")) &&
                change->after->write_seq == sim_number_in(body, "writeSeq") && change->after->etag == etag + 1 &&
                evd_uuid_equal(change->after->base_version, sim_uuid_in(body, "baseVersion"));
    if (!fits) sim_fail(sim, "a draft is not of the autosave that wrote it");
    size_t expected = check_said(sim, change, "answers", false) + check_said(sim, change, "withdrawn", true);
    expected += check_left(sim, change);
    if (!sim->failed && sayings(change->after->content) != expected)
        sim_fail(sim, "an autosave left something in the draft that it does not say");
}

/* The rest. */

static void check_untouched(struct sim *sim, const struct change *change) {
    bool same = change->before != NULL && change->before->etag == change->after->etag &&
                same_content(change->before->content, change->after->content);
    if (!same) sim_fail(sim, "%s touched what is typed", change->intent->command->name);
}

static void check_adopted(struct sim *sim, const struct change *change, const struct evd_draft_copy *copy) {
    struct sim_saying saying;
    for (size_t i = 0; copy != NULL && sim_saying_at(copy->content, i, &saying); i++)
        if (!sim_content_says(change->after->content, saying.said))
            sim_fail(sim, "an adopted copy is not in the draft");
    for (size_t i = 0; copy != NULL && sim_saying_at(change->before->content, i, &saying); i++)
        if (!sim_content_names(copy->content, saying.name) && !sim_content_says(change->after->content, saying.said))
            sim_fail(sim, "adopting a copy dropped what it does not name");
}

/* Who asks for it must be who holds it, or nobody does any more; and it is the draft they looked at. */
static void check_held(struct sim *sim, const struct change *change) {
    const struct evd_session_draft *before = change->before;
    evd_uuid holder = sim_uuid_in(change->intent->asked_for, "holder");
    bool another = !evd_uuid_is_nil(before->holder) && !evd_uuid_equal(before->holder, holder);
    if (another && before->lease_expires_at > change->now_ms)
        sim_fail(sim, "%s changed a draft that another tab holds", change->intent->command->name);
    if (change->intent->command != &evd_command_renew_draft_lease &&
        before->etag != sim_number_in(change->intent->asked_for, "etag"))
        sim_fail(sim, "%s changed a draft nobody had looked at", change->intent->command->name);
}

static void check_taken_over(struct sim *sim, const struct change *change) {
    if (sim_number_in(change->intent->asked_for, "leaseGeneration") != change->before->lease_generation)
        sim_fail(sim, "a draft was taken over from somebody who was not seen holding it");
    if (!evd_uuid_equal(change->after->holder, sim_uuid_in(change->intent->asked_for, "holder")))
        sim_fail(sim, "a draft that was taken over is somebody else's");
    check_untouched(sim, change);
}

static void check_lease(struct sim *sim, const struct change *change) {
    if (change->before == NULL) return;
    bool passed_on = !evd_uuid_equal(change->before->holder, change->after->holder);
    int64_t before = change->before->lease_generation, after = change->after->lease_generation;
    if (passed_on ? after <= before : after < before) sim_fail(sim, "a draft changes hands without a generation");
}

static void check_change(struct sim *sim, const struct change *change, const struct simulated_commit *commit) {
    const struct evd_command *command = change->intent->command;
    check_lease(sim, change);
    if (sim_autosaves(command)) check_autosave(sim, change);
    if (change->before == NULL) return;
    if (command == &evd_command_take_over_draft) check_taken_over(sim, change);
    bool released = command == &evd_command_release_draft, renewed = command == &evd_command_renew_draft_lease;
    if (released || renewed) check_untouched(sim, change);
    bool adopts = command == &evd_command_adopt_draft_copy;
    if (renewed || adopts || command == &evd_command_discard_draft) check_held(sim, change);
    if (!adopts) return;
    for (size_t i = 0; i < commit->count && !sim->failed; i++)
        if (commit->writes[i].key.in == EVD_IN_DRAFT_COPY &&
            evd_uuid_equal(commit->writes[i].key.id, change->intent->ids.copy))
            check_adopted(sim, change, sim_before(sim, &commit->writes[i]));
}

void sim_oracle_draft(struct sim *sim, const struct sim_attempt *attempt, const struct simulated_commit *commit) {
    const struct evd_write *write = sim_written(commit, EVD_IN_SESSION_DRAFT);
    if (write == NULL) return;
    if (sim_autosaves(attempt->intent->command)) {
        struct sim_verdict verdict = sim_judge_autosave(sim, attempt->intent, commit->snapshot, attempt->now_ms);
        if (verdict.code != EVD_OK)
            sim_fail(sim, "%s was written and deserved %s", attempt->intent->command->name,
                     evd_outcome_entry_of(verdict.code)->name);
    }
    struct change change = {attempt->intent, sim_before(sim, write), sim_after(sim, write), attempt->now_ms};
    if (change.after != NULL && !sim->failed) check_change(sim, &change, commit);
}
