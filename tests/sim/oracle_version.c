/*
 * A version that was written. What it pins is what its base pinned, with what its request changed laid over and nothing
 * else; each new value replaced one that whoever wrote it had been shown; the draft it was typed in is empty.
 */
#include "oracle.h"

#include "evidenced/records/keys.h"

#include <string.h>

struct pin {
    evd_uuid context, revision;
};

struct pins {
    const struct pin *items;
    size_t count;
};

static struct pins pins_of(const struct evd_pin_map *map) {
    if (map == NULL) return (struct pins){NULL, 0};
    return (struct pins){(const struct pin *)(const void *)map->pins.bytes, map->pins.size_bytes / sizeof(struct pin)};
}

static const struct pin *find(struct pins pins, evd_uuid context) {
    for (size_t i = 0; i < pins.count; i++)
        if (evd_uuid_equal(pins.items[i].context, context)) return &pins.items[i];
    return NULL;
}

static const struct evd_annotation_revision *revision_of(struct sim *sim, const struct pin *pin) {
    const struct evd_annotation_revision *revision = sim_at(sim, SIM_NOW, EVD_IN_ANNOTATION_REVISION, pin->revision);
    if (revision == NULL) sim_fail(sim, "a pin leads nowhere");
    return revision;
}

static void name_revision(const struct evd_annotation_revision *revision, char ret[SIM_SAID_BYTES]) {
    sim_name_of(revision->question, revision->path.items, revision->path.count, ret);
}

/* What the base had and the version has not, or has otherwise, the request named. */
static void check_kept(struct sim *sim, const struct sim_intent *intent, struct pins base, struct pins pins) {
    for (size_t i = 0; i < base.count && !sim->failed; i++) {
        char name[SIM_SAID_BYTES];
        const struct pin *now = find(pins, base.items[i].context);
        if (now != NULL && evd_uuid_equal(now->revision, base.items[i].revision)) continue;
        const struct evd_annotation_revision *before = revision_of(sim, &base.items[i]);
        if (before == NULL) return;
        name_revision(before, name);
        bool named = sim_body_names(intent, name) || (now == NULL && sim_body_withdraws_above(intent, name));
        if (!named)
            sim_fail(sim, "a version %s an answer its base had and its request did not name: %s",
                     now == NULL ? "lacks" : "changes", name);
    }
}

/* What the version has and the base had not, or had otherwise, is what the request says. */
static void check_new(struct sim *sim, const struct sim_intent *intent, struct pins base, struct pins pins) {
    const json_t *answers = json_object_get(intent->asked_for, "answers");
    for (size_t i = 0; i < pins.count && !sim->failed; i++) {
        char name[SIM_SAID_BYTES], said[SIM_SAID_BYTES], asked[SIM_SAID_BYTES];
        const struct pin *before = find(base, pins.items[i].context);
        const struct evd_annotation_revision *revision = revision_of(sim, &pins.items[i]);
        if (revision == NULL) return;
        name_revision(revision, name);
        const json_t *entry = sim_entry(answers, name);
        if (entry == NULL && before != NULL && evd_uuid_equal(before->revision, pins.items[i].revision)) continue;
        if (entry == NULL) {
            sim_fail(sim, "a version has an answer nobody gave: %s", name);
            return;
        }
        if (intent->command == &evd_command_fix) {
            if (!evd_uuid_equal(pins.items[i].revision, sim_uuid_in(entry, "revision")))
                sim_fail(sim, "Fix pins something else than its request names: %s", name);
            continue;
        }
        sim_said_of(revision->question, revision->path.items, revision->path.count, &revision->value, said);
        sim_said(entry, json_object_get(entry, "value"), asked);
        if (strcmp(said, asked) != 0) sim_fail(sim, "a version says %s where its request says %s", said, asked);
    }
}

/* Everything the request names is in the version, or not, as it says. */
static void check_asked(struct sim *sim, const struct sim_intent *intent, struct pins pins) {
    size_t i, given = json_array_size(json_object_get(intent->asked_for, "answers")), found = 0;
    json_t *withdrawn = json_object_get(intent->asked_for, "withdrawn");
    for (i = 0; i < pins.count && !sim->failed; i++) {
        char name[SIM_SAID_BYTES];
        const struct evd_annotation_revision *revision = revision_of(sim, &pins.items[i]);
        if (revision == NULL) return;
        name_revision(revision, name);
        found += sim_entry(json_object_get(intent->asked_for, "answers"), name) != NULL;
        if (sim_entry(withdrawn, name) != NULL) sim_fail(sim, "a version has an answer that was taken back: %s", name);
    }
    if (!sim->failed && found != given) sim_fail(sim, "a version lacks an answer its request gave");
}

/* A new value replaces one that the tab which wrote it had been shown. */
static void check_predecessor(struct sim *sim, const struct sim_intent *intent,
                              const struct evd_annotation_revision *revision) {
    char previous[SIM_TEXT_BYTES];
    if (revision == NULL || evd_uuid_is_nil(revision->previous)) return;
    evd_uuid_format(revision->previous, previous);
    if (intent->tab == NULL || !sim_tab_knows(intent->tab, previous))
        sim_fail(sim, "%s overwrote an answer it had not been shown", intent->command->name);
}

static void check_answers(struct sim *sim, const struct evd_form_session_version *version, struct pins pins) {
    const struct evd_annotation_revision **answers =
        EVD_NEW_ARRAY(&sim->oracle->arena, const struct evd_annotation_revision *, pins.count + 1);
    for (size_t i = 0; i < pins.count; i++) {
        answers[i] = revision_of(sim, &pins.items[i]);
        if (answers[i] == NULL) return;
    }
    sim_oracle_answers(sim, answers, pins.count, sim_form_number(sim, version->form),
                       version->kind.value == EVD_VERSION_COMPLETE);
}

static enum evd_version_kind kind_of(const struct sim_intent *intent) {
    if (intent->command == &evd_command_complete) return EVD_VERSION_COMPLETE;
    if (intent->command == &evd_command_fix) return EVD_VERSION_FIX;
    return intent->command == &evd_command_withdraw ? EVD_VERSION_WITHDRAW : EVD_VERSION_SAVE;
}

static void check_version(struct sim *sim, const struct sim_intent *intent,
                          const struct evd_form_session_version *version) {
    const struct evd_form_session_version *base =
        sim_at(sim, SIM_NOW, EVD_IN_FORM_SESSION_VERSION, version->base_version);
    bool fits = evd_uuid_equal(version->session, sim_session_of(intent)) &&
                evd_uuid_equal(version->study, intent->ids.study) && evd_uuid_equal(version->form, intent->ids.form) &&
                evd_uuid_equal(version->author, intent->caller) && version->kind.value == (int)kind_of(intent) &&
                evd_uuid_equal(version->base_version, sim_uuid_in(intent->asked_for, "baseVersion")) &&
                version->seq == (base == NULL ? 0 : base->seq) + 1;
    if (!fits) sim_fail(sim, "a version is not what %s asked for", intent->command->name);
    struct pins before = pins_of(sim_at(sim, SIM_NOW, EVD_IN_PIN_MAP, version->base_version));
    struct pins pins = pins_of(sim_at(sim, SIM_NOW, EVD_IN_PIN_MAP, version->base.id));
    check_kept(sim, intent, before, pins);
    if (!sim->failed) check_new(sim, intent, before, pins);
    if (!sim->failed) check_asked(sim, intent, pins);
    if (!sim->failed) check_answers(sim, version, pins);
}

/* What its author was shown is told with it, whole. */
static void check_exposures(struct sim *sim, const struct sim_intent *intent,
                            const struct evd_form_session_version *version) {
    const json_t *exposures = json_object_get(intent->asked_for, "exposures");
    if (version->exposures_declared != json_is_array(exposures))
        sim_fail(sim, "a version says otherwise whether its author was shown something");
    for (size_t i = 0; i < json_array_size(exposures) && !sim->failed; i++) {
        evd_uuid revision;
        const char *text = json_string_value(json_array_get(exposures, i));
        if (!evd_uuid_parse(evd_text_from(text), &revision)) continue;
        const struct evd_exposure *exposure =
            sim_at(sim, SIM_NOW, EVD_IN_EXPOSURE, evd_exposure_id(version->base.id, revision));
        if (exposure == NULL || exposure->late) sim_fail(sim, "a version lacks what its author was shown");
    }
}

static void check_draft(struct sim *sim, const struct evd_form_session_version *version) {
    const struct evd_session_draft *draft = sim_at(sim, SIM_NOW, EVD_IN_SESSION_DRAFT, version->session);
    if (draft == NULL || !evd_uuid_equal(draft->base_version, version->base.id))
        sim_fail(sim, "a version was written without its draft");
    else if (draft->content != NULL)
        sim_fail(sim, "a draft still holds what was saved");
}

/* One study, one order: whatever is written of a study's evidence writes the Study, under a larger stamp. */
static void check_study(struct sim *sim, const struct simulated_commit *commit, const struct sim_intent *intent,
                        evd_stamp stamp) {
    unsigned number = sim_study_number(sim, intent->ids.study);
    if (number == SIM_STUDIES_MOST) return;
    if (stamp <= sim->oracle->study_stamps[number]) sim_fail(sim, "a study's stamps do not grow");
    sim->oracle->study_stamps[number] = stamp;
    if (sim_written(commit, EVD_IN_STUDY) == NULL) sim_fail(sim, "evidence was written without its Study");
}

void sim_oracle_version(struct sim *sim, const struct sim_attempt *attempt, const struct simulated_commit *commit) {
    const struct sim_intent *intent = attempt->intent;
    const struct evd_write *write = sim_written(commit, EVD_IN_FORM_SESSION_VERSION);
    if (write == NULL && sim_makes_version(intent->command))
        sim_fail(sim, "%s wrote no version", intent->command->name);
    const struct evd_form_session_version *version = write == NULL ? NULL : sim_after(sim, write);
    if (version == NULL) return;
    const struct evd_study *study = sim_at(sim, commit->snapshot, EVD_IN_STUDY, intent->ids.study);
    if (study == NULL || study->removed != NULL) sim_fail(sim, "a version of a study that was taken away");
    struct sim_verdict verdict = sim_judge_session(sim, intent, commit->snapshot, attempt->now_ms);
    if (verdict.code != EVD_OK)
        sim_fail(sim, "%s took effect and deserved %s %s", intent->command->name,
                 evd_outcome_entry_of(verdict.code)->name, verdict.base == NULL ? "" : verdict.base);
    for (size_t i = 0; i < commit->count && !sim->failed; i++)
        if (commit->writes[i].key.in == EVD_IN_ANNOTATION_REVISION)
            check_predecessor(sim, intent, sim_after(sim, &commit->writes[i]));
    if (!sim->failed) check_version(sim, intent, version);
    if (!sim->failed) check_draft(sim, version);
    if (!sim->failed) check_exposures(sim, intent, version);
    if (!sim->failed) check_study(sim, commit, intent, version->base.stamp);
}
