/*
 * Everything that is stored, at one instant: what refers to what, what each session's versions are, who has a place,
 * what the summary says. Counted here in its own way; only the records' definitions are shared.
 */
#include "oracle.h"

#include "evidenced/records/keys.h"

#include <string.h>

/* References. */

static void check_fields(struct sim *sim, const struct evd_type *type, const void *from) {
    for (size_t i = 0; i < type->field_count && !sim->failed; i++) {
        const struct evd_field *field = &type->fields[i];
        const void *at = (const char *)from + field->offset;
        const evd_uuid *ids = at;
        size_t count = 1;
        if (field->kind == EVD_KIND_UUIDS) {
            const struct evd_list *list = at;
            ids = list->items;
            count = list->count;
        }
        if (field->kind != EVD_KIND_UUID && field->kind != EVD_KIND_UUIDS) continue;
        for (size_t each = 0; field->refers != 0 && each < count; each++)
            if (!evd_uuid_is_nil(ids[each]) && sim_find(sim, field->refers, ids[each]) == NULL)
                sim_fail(sim, "a %s refers by %s to what is not there", type->name, field->key);
    }
}

static void check_references(struct sim *sim) {
    for (size_t i = 0; i < sim->oracle->count && !sim->failed; i++)
        check_fields(sim, sim->oracle->records[i].type, sim->oracle->records[i].record);
}

/* Sessions. */

struct pin {
    evd_uuid context, revision;
};

/* A version answers for one study and one author: so must every answer it pins. */
static void check_pin(struct sim *sim, const struct evd_form_session_version *version, const struct pin *pin) {
    const struct evd_annotation_revision *revision = sim_find(sim, EVD_IN_ANNOTATION_REVISION, pin->revision);
    if (revision == NULL) {
        sim_fail(sim, "a pin leads nowhere");
        return;
    }
    const struct evd_annotation_head *head = sim_find(sim, EVD_IN_ANNOTATION_HEAD, revision->head);
    bool own = head != NULL && evd_uuid_equal(head->study, version->study) &&
               evd_uuid_equal(head->author, version->author) && evd_uuid_equal(revision->author, version->author);
    if (!own) sim_fail(sim, "a version pins an answer of another study or author");
}

static void check_pins(struct sim *sim, const struct evd_form_session_version *version) {
    const struct evd_pin_map *map = sim_find(sim, EVD_IN_PIN_MAP, version->base.id);
    if (map == NULL) {
        sim_fail(sim, "a version has no pins");
        return;
    }
    if (map->pins.size_bytes != (size_t)version->pin_count * sizeof(struct pin)) sim_fail(sim, "pins are miscounted");
    for (size_t at = 0; at + sizeof(struct pin) <= map->pins.size_bytes && !sim->failed; at += sizeof(struct pin)) {
        struct pin pin;
        memcpy(&pin, map->pins.bytes + at, sizeof pin);
        check_pin(sim, version, &pin);
    }
}

static enum evd_session_state state_after(int kind) {
    if (kind == EVD_VERSION_COMPLETE) return EVD_SESSION_COMPLETED;
    return kind == EVD_VERSION_WITHDRAW ? EVD_SESSION_WITHDRAWN : EVD_SESSION_SAVED_INCOMPLETE;
}

static void check_session(struct sim *sim, const struct evd_form_session *session) {
    int64_t newest = 0, count = 0;
    SIM_EACH(sim, FORM_SESSION_VERSION, form_session_version, version) {
        if (!evd_uuid_equal(version->session, session->base.id)) continue;
        count++;
        check_pins(sim, version);
        if (version->seq > newest) newest = version->seq;
        if (!evd_uuid_equal(version->base.id, session->current_version)) continue;
        if (version->seq != session->version_seq) sim_fail(sim, "a session's version is not its newest");
        if (session->state.value != (int)state_after(version->kind.value)) sim_fail(sim, "a session's state is wrong");
    }
    if (newest != session->version_seq || count != newest) sim_fail(sim, "a session's versions have a gap");
    const struct evd_session_draft *draft = sim_find(sim, EVD_IN_SESSION_DRAFT, session->base.id);
    if (draft == NULL)
        sim_fail(sim, "a session has no draft");
    else if (!evd_uuid_equal(draft->base_version, session->current_version))
        sim_fail(sim, "a draft is not of the current version");
}

static void check_heads(struct sim *sim) {
    SIM_EACH(sim, ANNOTATION_HEAD, annotation_head, head) {
        const struct evd_annotation_revision *revision =
            sim_find(sim, EVD_IN_ANNOTATION_REVISION, head->current_revision);
        bool fits = revision != NULL && revision->seq == head->revision_seq &&
                    evd_uuid_equal(revision->head, head->base.id) && evd_uuid_equal(revision->author, head->author);
        if (!fits) sim_fail(sim, "an answer's head is not at its newest revision");
    }
}

/* Places and summaries. */

struct count {
    int64_t members, places, completed, incomplete, withdrawn;
};

static struct count count_form(struct sim *sim, evd_uuid study, evd_uuid form) {
    struct count count = {0};
    SIM_EACH(sim, FORM_SESSION, form_session, session) {
        bool here = evd_uuid_equal(session->study, study) && evd_uuid_equal(session->form, form);
        if (!here || session->version_seq == 0) continue;
        count.members++;
        count.completed += session->state.value == EVD_SESSION_COMPLETED;
        count.incomplete += session->state.value == EVD_SESSION_SAVED_INCOMPLETE;
        count.withdrawn += session->state.value == EVD_SESSION_WITHDRAWN;
    }
    count.places = count.completed + count.incomplete;
    return count;
}

static const struct evd_form_summary *entry_of(const struct evd_study *study, evd_uuid form) {
    for (size_t i = 0; study->summary != NULL && i < study->summary->forms.count; i++)
        if (evd_uuid_equal(study->summary->forms.items[i].form, form)) return &study->summary->forms.items[i];
    return NULL;
}

static const struct evd_stage_projection *projection_of(const struct evd_study *study, evd_uuid stage) {
    for (size_t i = 0; study->summary != NULL && i < study->summary->stages.count; i++)
        if (evd_uuid_equal(study->summary->stages.items[i].stage, stage)) return &study->summary->stages.items[i];
    return NULL;
}

static void check_summary(struct sim *sim, const struct evd_study *study, unsigned form) {
    struct count count = count_form(sim, study->base.id, sim->forms[form]);
    const struct evd_form_summary *entry = entry_of(study, sim->forms[form]);
    const struct evd_stage_projection *projection = projection_of(study, sim->stages[form]);
    if (count.places > SIM_TARGET) sim_fail(sim, "%lld have a place where %d may", (long long)count.places, SIM_TARGET);
    if (count.members == 0 && entry == NULL) return;
    bool equal = entry != NULL && entry->places == count.places && entry->completed == count.completed &&
                 entry->saved_incomplete == count.incomplete && entry->withdrawn == count.withdrawn &&
                 entry->qualifying == count.completed && (int64_t)entry->members.count == count.members &&
                 entry->ready == (count.completed >= SIM_TARGET);
    if (!equal) sim_fail(sim, "a summary is not what its sessions are");
    bool shown = projection != NULL && projection->candidates == count.places &&
                 projection->completed == count.completed && projection->ready == (count.completed >= SIM_TARGET);
    if (!shown) sim_fail(sim, "a stage's projection is not what its sessions are");
}

/* What was said. */

static void check_acknowledged(struct sim *sim) {
    const struct sim_oracle *oracle = sim->oracle;
    for (size_t i = 0; i < oracle->acknowledged_count && !sim->failed; i++) {
        const struct evd_form_session_version *version =
            sim_find(sim, EVD_IN_FORM_SESSION_VERSION, oracle->acknowledged[i].version);
        if (version == NULL)
            sim_fail(sim, "a version that was acknowledged is not there");
        else if (!evd_uuid_equal(version->command_id, oracle->acknowledged[i].intent->key))
            sim_fail(sim, "a version that was acknowledged is somebody else's");
    }
}

/* What took effect is in the ledger, with the receipt everybody was given. */
static void check_ledger(struct sim *sim) {
    for (size_t i = 0; i < sim->intent_count && !sim->failed; i++) {
        const struct sim_intent *intent = sim->intents[i];
        if (intent->landed == 0 || !evd_command_is_ledgered(intent->command) || intent->command->makes_project)
            continue;
        const struct evd_command_ledger *ledger =
            sim_find(sim, EVD_IN_COMMAND_LEDGER, evd_ledger_id(sim->project, intent->key));
        if (ledger == NULL || !evd_uuid_equal(ledger->caller, intent->caller))
            sim_fail(sim, "%s took effect and is not in the ledger", intent->command->name);
        else if (intent->receipt != NULL && !evd_text_equal(ledger->receipt, evd_text_from(intent->receipt)))
            sim_fail(sim, "%s was answered another receipt than the ledger's", intent->command->name);
    }
}

static void check_copies(struct sim *sim) {
    SIM_EACH(sim, DRAFT_COPY, draft_copy, copy) {
        bool kept = copy->state.value == EVD_COPY_KEPT;
        if (kept != (copy->content != NULL))
            sim_fail(sim, "a copy is %s content", kept ? "kept without" : "settled with");
    }
}

void sim_oracle_whole(struct sim *sim) {
    evd_arena_reset(&sim->oracle->arena);
    sim_look(sim);
    check_references(sim);
    check_heads(sim);
    check_copies(sim);
    check_acknowledged(sim);
    check_ledger(sim);
    sim_oracle_operations(sim);
    SIM_EACH(sim, FORM_SESSION, form_session, session) {
        check_session(sim, session);
    }
    SIM_EACH(sim, STUDY, study, study) {
        for (unsigned form = 0; form < SIM_FORMS && !sim->failed; form++)
            check_summary(sim, study, form);
    }
}
