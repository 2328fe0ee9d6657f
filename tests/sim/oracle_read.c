/*
 * A view shows one instant of its call: one's own session, one's draft and its copies, as they all were then.
 */
#include "oracle.h"

#include <string.h>

/* Does the view say exactly this content? */
static bool shows_content(const json_t *shown, const struct evd_draft_content *content) {
    size_t count = content == NULL ? 0 : content->answers.count + content->withdrawn.count, i;
    json_t *entry;
    if (json_array_size(json_object_get(shown, "answers")) + json_array_size(json_object_get(shown, "withdrawn")) !=
        count)
        return false;
    json_array_foreach(json_object_get(shown, "answers"), i, entry) {
        char said[SIM_SAID_BYTES];
        sim_said(entry, json_object_get(entry, "value"), said);
        if (!sim_content_says(content, said)) return false;
    }
    json_array_foreach(json_object_get(shown, "withdrawn"), i, entry) {
        char said[SIM_SAID_BYTES];
        sim_said(entry, NULL, said);
        if (!sim_content_says(content, said)) return false;
    }
    return true;
}

static bool shows_draft(struct sim *sim, const struct sim_intent *intent, const json_t *shown, uint64_t at) {
    const struct evd_session_draft *draft = sim_at(sim, at, EVD_IN_SESSION_DRAFT, sim_session_of(intent));
    return draft != NULL && draft->etag == sim_number_in(shown, "etag") &&
           draft->write_seq == sim_number_in(shown, "writeSeq") &&
           draft->lease_generation == sim_number_in(shown, "leaseGeneration") &&
           evd_uuid_equal(draft->holder, sim_uuid_in(shown, "holder")) &&
           evd_uuid_equal(draft->base_version, sim_uuid_in(shown, "baseVersion")) &&
           shows_content(json_object_get(shown, "content"), draft->content);
}

static bool shows_answer(struct sim *sim, const json_t *answers, evd_uuid revision_id, uint64_t at) {
    const struct evd_annotation_revision *revision = sim_at(sim, at, EVD_IN_ANNOTATION_REVISION, revision_id);
    char name[SIM_SAID_BYTES], said[SIM_SAID_BYTES], stored[SIM_SAID_BYTES];
    if (revision == NULL) return false;
    sim_name_of(revision->question, revision->path.items, revision->path.count, name);
    const json_t *entry = sim_entry(answers, name);
    if (entry == NULL || !evd_uuid_equal(sim_uuid_in(entry, "revision"), revision_id)) return false;
    sim_said(entry, json_object_get(entry, "value"), said);
    sim_said_of(revision->question, revision->path.items, revision->path.count, &revision->value, stored);
    const struct evd_annotation_head *head = sim_at(sim, at, EVD_IN_ANNOTATION_HEAD, revision->head);
    if (head == NULL || strcmp(said, stored) != 0) return false;
    bool moved = !evd_uuid_equal(head->current_revision, revision_id);
    evd_uuid current = moved ? head->current_revision : evd_uuid_nil();
    return json_is_true(json_object_get(entry, "outdated")) == moved &&
           evd_uuid_equal(sim_uuid_in(json_object_get(entry, "current"), "revision"), current);
}

static bool shows_session(struct sim *sim, const struct sim_intent *intent, const json_t *shown, uint64_t at) {
    const struct evd_form_session *session = sim_at(sim, at, EVD_IN_FORM_SESSION, sim_session_of(intent));
    const struct evd_session_draft *draft = sim_at(sim, at, EVD_IN_SESSION_DRAFT, sim_session_of(intent));
    const json_t *answers = json_object_get(shown, "answers");
    bool same = session != NULL && draft != NULL && session->version_seq == sim_number_in(shown, "versionSeq") &&
                draft->etag == sim_number_in(shown, "draftEtag") &&
                evd_uuid_equal(session->current_version, sim_uuid_in(shown, "versionId"));
    if (!same) return false;
    const struct evd_pin_map *map = sim_at(sim, at, EVD_IN_PIN_MAP, session->current_version);
    size_t count = map == NULL ? 0 : map->pins.size_bytes / (2 * sizeof(evd_uuid));
    const evd_uuid *pins = map == NULL ? NULL : (const evd_uuid *)(const void *)map->pins.bytes;
    if (json_array_size(answers) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!shows_answer(sim, answers, pins[2 * i + 1], at)) return false;
    return true;
}

static bool shows_copies(struct sim *sim, const struct sim_intent *intent, const json_t *shown, uint64_t at) {
    size_t count, kept = 0;
    const json_t *items = json_object_get(shown, "items");
    const struct evd_draft_copy *const *copies =
        (const struct evd_draft_copy *const *)sim_all(sim, at, EVD_IN_DRAFT_COPY, &count);
    for (size_t i = 0; i < count; i++) {
        bool own = evd_uuid_equal(copies[i]->session, sim_session_of(intent));
        if (!own || copies[i]->state.value != EVD_COPY_KEPT) continue;
        bool found = false;
        kept++;
        for (size_t item = 0; item < json_array_size(items) && !found; item++)
            found = evd_uuid_equal(sim_uuid_in(json_array_get(items, item), "id"), copies[i]->base.id);
        if (!found) return false;
    }
    return kept == json_array_size(items);
}

static bool shows(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer, uint64_t at) {
    const struct evd_command *command = intent->command;
    if (answer->code == EVD_NOT_FOUND) {
        bool member = sim_was_member(sim, intent->caller, at);
        return !member || sim_at(sim, at, EVD_IN_FORM_SESSION, sim_session_of(intent)) == NULL;
    }
    if (!sim_was_member(sim, intent->caller, at)) return false;
    if (command == &evd_command_get_draft) return shows_draft(sim, intent, answer->body, at);
    if (command == &evd_command_list_draft_copies) return shows_copies(sim, intent, answer->body, at);
    return shows_session(sim, intent, answer->body, at);
}

void sim_oracle_read(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    const struct evd_command *command = intent->command;
    bool judged = command == &evd_command_get_session || command == &evd_command_get_draft ||
                  command == &evd_command_list_draft_copies;
    if (!judged || (answer->code != EVD_OK && answer->code != EVD_NOT_FOUND)) return;
    for (uint64_t at = answer->begun; at <= simulated_store_now(sim->store); at++)
        if (shows(sim, intent, answer, at)) return;
    sim_fail(sim, "%s answered %s, which was so at no instant of its call", command->name,
             evd_outcome_entry_of(answer->code)->name);
}
