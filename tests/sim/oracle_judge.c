/*
 * What a request deserves, told from what is stored at one instant: the rules of the domain page once more, in code of
 * their own. What takes effect deserved it at the instant of its snapshot; what is refused deserved the refusal at some
 * instant of its call.
 */
#include "oracle.h"

#include "evidenced/base/limits.h"

#include <string.h>

static struct sim_verdict stale(const char *base) {
    return (struct sim_verdict){EVD_STALE_BASE, base};
}

static struct sim_verdict plain(enum evd_outcome_code code) {
    return (struct sim_verdict){.code = code};
}

/* Autosaves. */

/* Two intents of one tab may be one write: the first was refused, and landed afterwards. */
static bool is_same_write(const struct sim_intent *a, const struct sim_intent *b) {
    static const char *const members[] = {"holder", "writeSeq", "content", "reverted"};
    bool same = a->command == b->command && evd_uuid_equal(sim_session_of(a), sim_session_of(b));
    for (size_t i = 0; same && i < sizeof members / sizeof *members; i++) {
        const json_t *of_a = json_object_get(a->asked_for, members[i]),
                     *of_b = json_object_get(b->asked_for, members[i]);
        same = of_a == NULL || of_b == NULL ? of_a == of_b : json_equal(of_a, of_b);
    }
    return same;
}

bool sim_is_written(const struct sim *sim, const struct sim_intent *intent) {
    for (size_t i = 0; i < sim->intent_count; i++)
        if (sim->intents[i]->landed > 0 && is_same_write(sim->intents[i], intent)) return true;
    return false;
}

/* Is what last changed the draft's content before this instant the same write? */
static bool is_last_write(const struct sim *sim, const struct sim_intent *intent, uint64_t instant) {
    const struct sim_intent *last = NULL;
    for (size_t i = 0; i < sim->intent_count; i++) {
        const struct sim_intent *each = sim->intents[i];
        bool changes = sim_autosaves(each->command) || each->command == &evd_command_adopt_draft_copy ||
                       each->command == &evd_command_discard_draft;
        bool before = changes && each->landed > 0 && each->landed_at <= instant;
        if (!before || !evd_uuid_equal(sim_session_of(each), sim_session_of(intent))) continue;
        if (last == NULL || each->landed_at > last->landed_at) last = each;
    }
    return last != NULL && is_same_write(last, intent);
}

static struct sim_verdict judge_first(const struct sim_intent *intent) {
    if (!evd_uuid_is_nil(sim_uuid_in(intent->asked_for, "baseVersion"))) return stale("session");
    return plain(strcmp(intent->condition, "*") == 0 ? EVD_OK : EVD_PRECONDITION_FAILED);
}

static bool is_held_by_another(const struct evd_session_draft *draft, evd_uuid holder, int64_t now_ms) {
    bool another = !evd_uuid_is_nil(draft->holder) && !evd_uuid_equal(draft->holder, holder);
    return another && now_ms < draft->lease_expires_at;
}

struct sim_verdict sim_judge_autosave(struct sim *sim, const struct sim_intent *intent, uint64_t instant,
                                      int64_t now_ms) {
    const struct evd_session_draft *draft = sim_at(sim, instant, EVD_IN_SESSION_DRAFT, sim_session_of(intent));
    const json_t *body = intent->asked_for;
    evd_uuid holder = sim_uuid_in(body, "holder");
    long long sequence = sim_number_in(body, "writeSeq");
    char etag[40];
    if (draft == NULL) return judge_first(intent);
    if (is_held_by_another(draft, holder, now_ms)) return plain(EVD_DRAFT_LEASE_HELD);
    if (!evd_uuid_equal(sim_uuid_in(body, "baseVersion"), draft->base_version)) return plain(EVD_STALE_AUTOSAVE);
    if (evd_uuid_equal(draft->holder, holder)) {
        if (sequence == draft->write_seq && is_last_write(sim, intent, instant)) return plain(EVD_OK);
        bool follows = sequence == draft->write_seq + 1;
        bool whole_and_later = intent->command == &evd_command_put_draft && sequence > draft->write_seq;
        if (!follows && !whole_and_later) return stale("draftSequence");
    }
    (void)snprintf(etag, sizeof etag, "\"%lld\"", (long long)draft->etag);
    return plain(strcmp(etag, intent->condition) == 0 ? EVD_OK : EVD_PRECONDITION_FAILED);
}

/* Save, Complete, Withdraw. */

static struct sim_verdict judge_draft(const struct evd_session_draft *draft, const json_t *declared, int64_t now_ms) {
    bool typed = draft != NULL && draft->content != NULL;
    if (!json_is_object(declared)) return typed && draft->lease_expires_at <= now_ms ? stale("draft") : plain(EVD_OK);
    bool same = draft != NULL && sim_number_in(declared, "etag") == draft->etag &&
                sim_number_in(declared, "writeSeq") == draft->write_seq &&
                evd_uuid_equal(sim_uuid_in(declared, "holder"), draft->holder);
    return same ? plain(EVD_OK) : stale("draft");
}

/* The author's current revision of this place on this study, whichever form it was given in. */
static const struct evd_annotation_revision *current_of(struct sim *sim, const struct sim_intent *intent,
                                                        uint64_t instant, const char *name) {
    size_t count;
    const struct evd_annotation_head *const *heads =
        (const struct evd_annotation_head *const *)sim_all(sim, instant, EVD_IN_ANNOTATION_HEAD, &count);
    for (size_t i = 0; i < count; i++) {
        char other[SIM_SAID_BYTES];
        bool own =
            evd_uuid_equal(heads[i]->study, intent->ids.study) && evd_uuid_equal(heads[i]->author, intent->caller);
        if (!own) continue;
        sim_name_of(heads[i]->question, heads[i]->path.items, heads[i]->path.count, other);
        if (strcmp(name, other) == 0)
            return sim_at(sim, instant, EVD_IN_ANNOTATION_REVISION, heads[i]->current_revision);
    }
    return NULL;
}

static bool is_stale_answer(struct sim *sim, const struct sim_intent *intent, uint64_t instant, const json_t *answer) {
    char name[SIM_SAID_BYTES], said[SIM_SAID_BYTES], current_said[SIM_SAID_BYTES];
    sim_place_name_of(answer, name);
    if (intent->command == &evd_command_fix) {
        const struct evd_annotation_revision *now = current_of(sim, intent, instant, name);
        return now != NULL && !evd_uuid_equal(sim_uuid_in(answer, "revision"), now->base.id);
    }
    sim_said(answer, json_object_get(answer, "value"), said);
    const struct evd_annotation_revision *current = current_of(sim, intent, instant, name);
    evd_uuid base = sim_uuid_in(answer, "baseRevision");
    if (current == NULL) return !evd_uuid_is_nil(base);
    sim_said_of(current->question, current->path.items, current->path.count, &current->value, current_said);
    return strcmp(said, current_said) != 0 && !evd_uuid_equal(base, current->base.id);
}

static bool has_place(const struct evd_form_session *session) {
    return session != NULL && session->version_seq > 0 && session->state.value != EVD_SESSION_WITHDRAWN;
}

static struct sim_verdict admit(struct sim *sim, const struct sim_intent *intent, uint64_t instant) {
    size_t count;
    unsigned places = 0, completed = 0;
    const struct evd_form_session *const *sessions =
        (const struct evd_form_session *const *)sim_all(sim, instant, EVD_IN_FORM_SESSION, &count);
    for (size_t i = 0; i < count; i++) {
        bool here = evd_uuid_equal(sessions[i]->study, intent->ids.study) &&
                    evd_uuid_equal(sessions[i]->form, intent->ids.form) &&
                    !evd_uuid_equal(sessions[i]->author, intent->caller);
        places += here && has_place(sessions[i]);
        completed += here && sessions[i]->state.value == EVD_SESSION_COMPLETED;
    }
    if (completed >= SIM_TARGET) return plain(EVD_ENOUGH_REVIEWERS);
    return plain(places >= SIM_TARGET ? EVD_AT_CAPACITY : EVD_OK);
}

struct sim_verdict sim_judge_session(struct sim *sim, const struct sim_intent *intent, uint64_t instant,
                                     int64_t now_ms) {
    const json_t *body = intent->asked_for, *declared = json_object_get(body, "draft");
    const struct evd_form_session *session = sim_at(sim, instant, EVD_IN_FORM_SESSION, sim_session_of(intent));
    const struct evd_session_draft *draft = sim_at(sim, instant, EVD_IN_SESSION_DRAFT, sim_session_of(intent));
    evd_uuid current = session == NULL ? evd_uuid_nil() : session->current_version;
    if (!evd_uuid_equal(sim_uuid_in(body, "baseVersion"), current)) return stale("session");
    struct sim_verdict verdict = judge_draft(draft, declared, now_ms);
    if (verdict.code != EVD_OK) return verdict;
    const json_t *answers = json_object_get(body, "answers");
    for (size_t i = 0; i < json_array_size(answers); i++)
        if (is_stale_answer(sim, intent, instant, json_array_get(answers, i))) return stale("answers");
    if (!json_is_object(declared) && draft != NULL && draft->content != NULL) return plain(EVD_DRAFT_LEASE_HELD);
    if (intent->command == &evd_command_withdraw) return plain(has_place(session) ? EVD_OK : EVD_VALIDATION_FAILED);
    return has_place(session) ? plain(EVD_OK) : admit(sim, intent, instant);
}

/* Answers. */

static bool is_copies_full(const struct sim_intent *intent, const struct sim_answer *answer) {
    const char *limit = json_string_value(json_object_get(answer->body, "limit"));
    return sim_autosaves(intent->command) && answer->code == EVD_SIZE_LIMIT_EXCEEDED && limit != NULL &&
           strcmp(limit, "draftCopies") == 0;
}

/* An autosave is a success when it applied, or repeats what stands there. A request whose answers do not fit is told so
 * before it is told that there is no place. */
static bool fits(const struct sim_intent *intent, const struct sim_answer *answer, struct sim_verdict verdict) {
    const char *base = json_string_value(json_object_get(answer->body, "base"));
    bool unplaced = verdict.code == EVD_OK || verdict.code == EVD_AT_CAPACITY || verdict.code == EVD_ENOUGH_REVIEWERS;
    bool validates = sim_saves(intent->command) || intent->command == &evd_command_fix;
    if (answer->code == EVD_VALIDATION_FAILED && validates) return unplaced;
    if (is_copies_full(intent, answer)) return verdict.code != EVD_OK;
    if (verdict.code != answer->code) return false;
    return verdict.code != EVD_STALE_BASE || (base != NULL && strcmp(base, verdict.base) == 0);
}

static bool is_judged(enum evd_outcome_code code) {
    return code == EVD_STALE_BASE || code == EVD_DRAFT_LEASE_HELD || code == EVD_STALE_AUTOSAVE ||
           code == EVD_PRECONDITION_FAILED || code == EVD_AT_CAPACITY || code == EVD_ENOUGH_REVIEWERS ||
           code == EVD_VALIDATION_FAILED || code == EVD_SIZE_LIMIT_EXCEEDED;
}

void sim_oracle_deserved(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    bool autosaves = sim_autosaves(intent->command);
    bool judged = is_judged(answer->code) || (autosaves && answer->code == EVD_OK);
    if (!judged || !(autosaves || sim_makes_version(intent->command))) return;
    struct sim_verdict verdict = {0};
    for (uint64_t at = answer->begun; at <= simulated_store_now(sim->store); at++) {
        verdict = autosaves ? sim_judge_autosave(sim, intent, at, answer->now_ms)
                            : sim_judge_session(sim, intent, at, answer->now_ms);
        if (fits(intent, answer, verdict)) return;
    }
    const char *base = json_string_value(json_object_get(answer->body, "base"));
    sim_fail(sim, "%s was answered %s %s and deserved %s %s", intent->command->name,
             evd_outcome_entry_of(answer->code)->name, base == NULL ? "" : base,
             evd_outcome_entry_of(verdict.code)->name, verdict.base == NULL ? "" : verdict.base);
}
