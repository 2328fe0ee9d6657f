/*
 * A receipt says what was written, as it was written: whoever has it has read their own write.
 */
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_stamp(const json_t *receipt, evd_stamp stamp) {
    const char *text = json_string_value(json_object_get(receipt, "stamp"));
    return text != NULL && strtoull(text, NULL, 10) == stamp;
}

/* Sessions. */

static bool is_pinned(struct sim *sim, const struct evd_pin_map *map, const json_t *row) {
    char name[SIM_SAID_BYTES], other[SIM_SAID_BYTES];
    evd_uuid revision_id = sim_uuid_in(row, "revision");
    const struct evd_annotation_revision *revision = sim_at(sim, SIM_NOW, EVD_IN_ANNOTATION_REVISION, revision_id);
    const evd_uuid *pins = (const evd_uuid *)(const void *)map->pins.bytes;
    if (revision == NULL) return false;
    sim_place_name_of(row, name);
    sim_name_of(revision->question, revision->path.items, revision->path.count, other);
    for (size_t i = 1; i < map->pins.size_bytes / sizeof *pins; i += 2)
        if (evd_uuid_equal(pins[i], revision_id)) return strcmp(name, other) == 0;
    return false;
}

static bool tells_answers(struct sim *sim, const struct sim_intent *intent, const json_t *receipt) {
    const struct evd_pin_map *map = sim_at(sim, SIM_NOW, EVD_IN_PIN_MAP, sim_uuid_in(receipt, "versionId"));
    const json_t *rows = json_object_get(receipt, "answers");
    size_t named = json_array_size(json_object_get(intent->asked_for, "answers"));
    for (size_t i = 0; map != NULL && i < json_array_size(rows); i++)
        if (!is_pinned(sim, map, json_array_get(rows, i))) return false;
    return map != NULL && json_array_size(rows) == named;
}

static bool tells_version(struct sim *sim, const struct sim_intent *intent, const json_t *receipt) {
    uint64_t then = intent->landed_at;
    evd_uuid of = sim_session_of(intent);
    const struct evd_form_session_version *version =
        sim_at(sim, then, EVD_IN_FORM_SESSION_VERSION, sim_uuid_in(receipt, "versionId"));
    const struct evd_form_session *session = sim_at(sim, then, EVD_IN_FORM_SESSION, of);
    const struct evd_session_draft *draft = sim_at(sim, then, EVD_IN_SESSION_DRAFT, of);
    const struct evd_study *study = sim_at(sim, then, EVD_IN_STUDY, intent->ids.study);
    const char *state = json_string_value(json_object_get(receipt, "state"));
    if (version == NULL || session == NULL || draft == NULL || study == NULL || state == NULL) return false;
    struct evd_text stored = evd_name_text(&evd_names_session_state, session->state);
    return evd_uuid_equal(session->current_version, version->base.id) && is_stamp(receipt, version->base.stamp) &&
           evd_uuid_equal(of, sim_uuid_in(receipt, "sessionId")) &&
           evd_uuid_equal(intent->key, sim_uuid_in(receipt, "commandId")) &&
           evd_text_equal(stored, evd_text_from(state)) && version->seq == sim_number_in(receipt, "versionSeq") &&
           version->form_version_seq == sim_number_in(receipt, "formVersion") &&
           version->pin_count == sim_number_in(receipt, "answerCount") &&
           draft->etag == sim_number_in(receipt, "draftEtag") &&
           study->base.version == sim_number_in(receipt, "studyVersion") && tells_answers(sim, intent, receipt);
}

/* Drafts. */

static bool tells_draft(struct sim *sim, evd_uuid session, const json_t *receipt, uint64_t at) {
    const struct evd_session_draft *draft = sim_at(sim, at, EVD_IN_SESSION_DRAFT, session);
    return draft != NULL && draft->etag == sim_number_in(receipt, "etag") &&
           draft->write_seq == sim_number_in(receipt, "writeSeq") &&
           draft->lease_generation == sim_number_in(receipt, "leaseGeneration") &&
           evd_uuid_equal(draft->holder, sim_uuid_in(receipt, "holder")) &&
           evd_uuid_equal(draft->base_version, sim_uuid_in(receipt, "baseVersion"));
}

static bool is_on_draft(const struct evd_command *command) {
    return sim_autosaves(command) || command == &evd_command_renew_draft_lease ||
           command == &evd_command_take_over_draft || command == &evd_command_discard_draft ||
           command == &evd_command_adopt_draft_copy || command == &evd_command_discard_draft_copy ||
           command == &evd_command_release_draft;
}

/* An autosave that is sent again is told of the draft as it is by then. */
static bool tells_draft_then(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    bool ledgered = evd_command_is_ledgered(intent->command);
    evd_uuid session = sim_uuid_in(answer->body, "sessionId");
    bool writes_draft = intent->command != &evd_command_discard_draft_copy;
    uint64_t then = writes_draft ? intent->landed_at : intent->decided_at;
    if (ledgered) return tells_draft(sim, session, answer->body, then);
    for (uint64_t at = answer->begun; at <= simulated_store_now(sim->store); at++)
        if (tells_draft(sim, session, answer->body, at)) return true;
    return false;
}

void sim_oracle_receipt(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    if (answer->code != EVD_OK) return;
    bool makes_version = sim_makes_version(intent->command);
    bool fits = true;
    if (makes_version) fits = tells_version(sim, intent, answer->body);
    if (is_on_draft(intent->command)) fits = tells_draft_then(sim, intent, answer);
    if (!fits) sim_fail(sim, "%s's receipt is not what was written", intent->command->name);
}
