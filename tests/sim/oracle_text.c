/*
 * Nothing typed is lost. Whenever a text leaves a draft or a copy, it is in a version, in a copy or in the draft
 * afterwards; or whoever replaced it had seen it; or its author asked for it to be discarded.
 */
#include "oracle.h"

#include <string.h>

static bool holds(const struct evd_draft_content *content, struct evd_text question, struct evd_text token) {
    for (size_t i = 0; content != NULL && i < content->answers.count; i++) {
        const struct evd_answer_change *answer = &content->answers.items[i];
        if (evd_text_equal(answer->question, question) && evd_text_equal(answer->value.text, token)) return true;
    }
    return false;
}

static const struct evd_draft_content *content_of(struct sim *sim, const struct evd_write *write, bool before) {
    const struct evd_image *image = before ? &write->before : &write->after;
    if (image->size_bytes == 0 || write->kind == EVD_DELETE) return NULL;
    const void *record = sim_decode(sim, &write->key, image, &sim->oracle->arena);
    if (record == NULL) return NULL;
    return write->key.in == EVD_IN_SESSION_DRAFT ? ((const struct evd_session_draft *)record)->content
                                                 : ((const struct evd_draft_copy *)record)->content;
}

/* In a draft, a copy or a revision that this commit writes. */
static bool is_written(struct sim *sim, const struct simulated_commit *commit, struct evd_text question,
                       struct evd_text token) {
    for (size_t i = 0; i < commit->count; i++) {
        const struct evd_write *write = &commit->writes[i];
        bool text = write->key.in == EVD_IN_SESSION_DRAFT || write->key.in == EVD_IN_DRAFT_COPY;
        if (text && holds(content_of(sim, write, false), question, token)) return true;
        if (write->key.in != EVD_IN_ANNOTATION_REVISION) continue;
        const struct evd_annotation_revision *revision =
            sim_decode(sim, &write->key, &write->after, &sim->oracle->arena);
        if (revision == NULL) return true;
        if (evd_text_equal(revision->question, question) && evd_text_equal(revision->value.text, token)) return true;
    }
    return false;
}

static bool answers(const struct sim_intent *intent, struct evd_text question) {
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "\"question\":\"" EVD_TEXT_FMT "\"", EVD_TEXT_ARG(question));
    return intent->body != NULL && strstr(intent->body, wanted) != NULL;
}

static bool was_seen(const struct sim_intent *intent, struct evd_text token) {
    char text[SIM_TOKEN_BYTES + 1];
    (void)snprintf(text, sizeof text, EVD_TEXT_FMT, EVD_TEXT_ARG(token));
    return intent->tab != NULL && sim_tab_knows(intent->tab, text);
}

/* May this command let go of a text that is nowhere else afterwards? */
static bool may_drop(const struct sim_intent *intent, struct evd_text question, struct evd_text token) {
    const struct evd_command *command = intent->command;
    if (command == &evd_command_discard_draft || command == &evd_command_discard_draft_copy) return true;
    bool autosaves = command == &evd_command_put_draft || command == &evd_command_patch_draft;
    if (autosaves) return was_seen(intent, token);
    return answers(intent, question) && was_seen(intent, token); /* it says something else of that place */
}

/* In a copy that waits to be looked at, whenever that was made. */
static bool is_kept(const struct sim *sim, struct evd_text question, struct evd_text token) {
    for (size_t i = 0; i < sim->oracle->count; i++) {
        const struct sim_record *at = &sim->oracle->records[i];
        if (at->key.in != EVD_IN_DRAFT_COPY) continue;
        if (holds(((const struct evd_draft_copy *)at->record)->content, question, token)) return true;
    }
    return false;
}

static void check_kept(struct sim *sim, const struct sim_intent *intent, const struct simulated_commit *commit,
                       const struct evd_write *write) {
    const struct evd_draft_content *before = content_of(sim, write, true);
    for (size_t i = 0; before != NULL && i < before->answers.count && !sim->failed; i++) {
        struct evd_text question = before->answers.items[i].question, token = before->answers.items[i].value.text;
        if (is_written(sim, commit, question, token) || may_drop(intent, question, token)) continue;
        sim_look(sim);
        if (sim_is_revised(sim, question, token) || is_kept(sim, question, token)) continue;
        sim_fail(sim, "%s of tab %u.%u lost a text: " EVD_TEXT_FMT, intent->command->name,
                 intent->tab == NULL ? 0 : intent->tab->reviewer, intent->tab == NULL ? 0 : intent->tab->number,
                 EVD_TEXT_ARG(token));
    }
}

void sim_oracle_text(struct sim *sim, const struct sim_intent *intent, const struct simulated_commit *commit) {
    for (size_t i = 0; i < commit->count && !sim->failed; i++) {
        const struct evd_write *write = &commit->writes[i];
        bool text = write->key.in == EVD_IN_SESSION_DRAFT || write->key.in == EVD_IN_DRAFT_COPY;
        if (text && write->kind == EVD_REPLACE) check_kept(sim, intent, commit, write);
    }
}

/* What came too late was kept, whole. */
static void check_copy(struct sim *sim, const struct sim_intent *intent, evd_uuid id) {
    sim_look(sim);
    const struct evd_draft_copy *copy = sim_find(sim, EVD_IN_DRAFT_COPY, id);
    json_t *body = json_loads(intent->body, 0, NULL), *content = json_object_get(body, "content"), *answer;
    size_t i;
    if (copy == NULL) sim_fail(sim, "%s names a copy that is not there", intent->command->name);
    bool whole = copy == NULL || copy->state.value != EVD_COPY_KEPT;
    json_array_foreach(json_object_get(content != NULL ? content : body, "answers"), i, answer) {
        struct evd_text question = evd_text_from(json_string_value(json_object_get(answer, "question")));
        struct evd_text token = evd_text_from(json_string_value(json_object_get(answer, "value")));
        if (!whole && !holds(copy->content, question, token))
            sim_fail(sim, "%s: the copy lacks a text", intent->command->name);
    }
    json_decref(body);
}

void sim_oracle_copy(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    bool autosaves = intent->command == &evd_command_put_draft || intent->command == &evd_command_patch_draft;
    const char *text = json_string_value(json_object_get(answer->body, "copyId"));
    evd_uuid id;
    bool must_keep = autosaves && (answer->code == EVD_DRAFT_LEASE_HELD || answer->code == EVD_STALE_AUTOSAVE ||
                                   (answer->code == EVD_PRECONDITION_FAILED && json_object_size(answer->body) > 0));
    if (must_keep && text == NULL) sim_fail(sim, "%s was refused and not kept", intent->command->name);
    bool saves = intent->command == &evd_command_save || intent->command == &evd_command_complete;
    if (text == NULL || answer->code == EVD_OK || !(autosaves || saves)) return;
    if (evd_uuid_parse(evd_text_from(text), &id)) check_copy(sim, intent, id);
}
