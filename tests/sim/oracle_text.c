/*
 * Nothing typed is lost. Whenever something said leaves a draft or a copy, it is in a version, in a copy or in the
 * draft afterwards; or whoever replaced it had seen it; or its author asked for it to be discarded, and that is noted.
 */
#include "oracle.h"

#include <string.h>

static bool is_text(const struct evd_write *write) {
    return write->key.in == EVD_IN_SESSION_DRAFT || write->key.in == EVD_IN_DRAFT_COPY;
}

static const struct evd_draft_content *content_of(const struct evd_write *write, const void *record) {
    if (record == NULL) return NULL;
    return write->key.in == EVD_IN_SESSION_DRAFT ? ((const struct evd_session_draft *)record)->content
                                                 : ((const struct evd_draft_copy *)record)->content;
}

static evd_uuid session_of(const struct evd_write *write, const void *record) {
    return write->key.in == EVD_IN_SESSION_DRAFT ? ((const struct evd_session_draft *)record)->session
                                                 : ((const struct evd_draft_copy *)record)->session;
}

static bool says(const struct evd_annotation_revision *revision, evd_uuid author, const char *said) {
    char other[SIM_SAID_BYTES];
    if (!evd_uuid_equal(revision->author, author)) return false;
    sim_said_of(revision->question, revision->path.items, revision->path.count, &revision->value, other);
    return strcmp(said, other) == 0;
}

/* In a draft, a copy or a revision of its author that this commit writes. */
static bool is_written(struct sim *sim, const struct simulated_commit *commit, evd_uuid author, const char *said) {
    for (size_t i = 0; i < commit->count; i++) {
        const struct evd_write *write = &commit->writes[i];
        if (!is_text(write) && write->key.in != EVD_IN_ANNOTATION_REVISION) continue;
        const void *after = sim_after(sim, write);
        if (after == NULL) return true; /* it was told already */
        if (is_text(write) ? sim_content_says(content_of(write, after), said) : says(after, author, said)) return true;
    }
    return false;
}

static bool was_seen(const struct sim_intent *intent, const char *said) {
    return intent->tab != NULL && sim_tab_knows(intent->tab, said);
}

/* May this command let go of something that is nowhere else afterwards? */
static bool may_drop(const struct sim_intent *intent, const struct simulated_commit *commit, const char *name,
                     const char *said) {
    const struct evd_command *command = intent->command;
    if (command == &evd_command_discard_draft || command == &evd_command_discard_draft_copy)
        return sim_written(commit, EVD_IN_DRAFT_EVENT) != NULL;
    if (sim_autosaves(command)) return was_seen(intent, said);
    if (!sim_saves(command)) return false;
    return sim_body_names(intent, name) && was_seen(intent, said); /* it says something else of that place */
}

/* In a revision of its author or in a copy that waits to be looked at, whenever that was made. */
static bool is_somewhere(const struct sim *sim, evd_uuid session, evd_uuid author, const char *said) {
    SIM_EACH(sim, ANNOTATION_REVISION, annotation_revision, revision) {
        if (says(revision, author, said)) return true;
    }
    SIM_EACH(sim, DRAFT_COPY, draft_copy, copy) {
        if (evd_uuid_equal(copy->session, session) && sim_content_says(copy->content, said)) return true;
    }
    return false;
}

static void check_kept(struct sim *sim, const struct sim_intent *intent, const struct simulated_commit *commit,
                       const struct evd_write *write) {
    struct sim_saying saying;
    const void *record = sim_before(sim, write);
    const struct evd_draft_content *before = content_of(write, record);
    if (before == NULL) return;
    evd_uuid of = session_of(write, record);
    const struct evd_form_session *session = sim_at(sim, SIM_NOW, EVD_IN_FORM_SESSION, of);
    evd_uuid author = session == NULL ? evd_uuid_nil() : session->author;
    for (size_t i = 0; sim_saying_at(before, i, &saying) && !sim->failed; i++) {
        if (is_written(sim, commit, author, saying.said) || may_drop(intent, commit, saying.name, saying.said))
            continue;
        sim_look(sim);
        if (is_somewhere(sim, of, author, saying.said)) continue;
        sim_fail(sim, "%s lost what was typed: %s", intent->command->name, saying.said);
    }
}

void sim_oracle_text(struct sim *sim, const struct sim_intent *intent, const struct simulated_commit *commit) {
    for (size_t i = 0; i < commit->count && !sim->failed; i++)
        if (is_text(&commit->writes[i]) && commit->writes[i].kind == EVD_REPLACE)
            check_kept(sim, intent, commit, &commit->writes[i]);
}

/* What came too late was kept, whole. */
static void check_list(struct sim *sim, const struct sim_intent *intent, const struct evd_draft_copy *copy,
                       const char *list, bool withdrawn) {
    const json_t *body = intent->asked_for, *content = json_object_get(body, "content");
    const json_t *entries = json_object_get(content != NULL ? content : body, list);
    for (size_t i = 0; i < json_array_size(entries) && !sim->failed; i++) {
        char said[SIM_SAID_BYTES];
        const json_t *entry = json_array_get(entries, i);
        sim_said(entry, withdrawn ? NULL : json_object_get(entry, "value"), said);
        if (!sim_content_says(copy->content, said))
            sim_fail(sim, "%s: the copy that was kept lacks %s", intent->command->name, said);
    }
}

static void check_copy(struct sim *sim, const struct sim_intent *intent, evd_uuid id) {
    const struct evd_draft_copy *copy = sim_at(sim, SIM_NOW, EVD_IN_DRAFT_COPY, id);
    if (copy == NULL) sim_fail(sim, "%s names a copy that is not there", intent->command->name);
    if (copy == NULL || copy->state.value != EVD_COPY_KEPT) return; /* settled meanwhile */
    check_list(sim, intent, copy, "answers", false);
    check_list(sim, intent, copy, "withdrawn", true);
}

static bool says_something(const struct sim_intent *intent) {
    const json_t *body = intent->asked_for, *content = json_object_get(body, "content");
    const json_t *from = content != NULL ? content : body;
    return json_array_size(json_object_get(from, "answers")) + json_array_size(json_object_get(from, "withdrawn")) > 0;
}

void sim_oracle_copy(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer) {
    bool autosaves = sim_autosaves(intent->command), saves = sim_saves(intent->command);
    if (answer->code == EVD_OK || !(autosaves || saves)) return;
    evd_uuid id = sim_uuid_in(answer->body, "copyId");
    bool late = answer->code == EVD_STALE_AUTOSAVE ||
                (answer->code == EVD_PRECONDITION_FAILED && json_object_size(answer->body) > 0);
    bool must_keep = says_something(intent) && (answer->code == EVD_DRAFT_LEASE_HELD || (autosaves && late));
    if (must_keep && evd_uuid_is_nil(id)) sim_fail(sim, "%s was refused and not kept", intent->command->name);
    if (!evd_uuid_is_nil(id)) check_copy(sim, intent, id);
}
