/*
 * A tab does what a good client does: it sends the same thing again until it is answered, keeps what was typed on every
 * refusal, loads what changed and goes on. What it types is a token nobody else types, so that every one can be found.
 */
#include "sim.h"

#include "evidenced/base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 60 };

void sim_question(unsigned form, unsigned question, char ret_id[8]) {
    (void)snprintf(ret_id, 8, "%c%u", question < SIM_SHARED ? 'q' : form == 0 ? 'f' : 'g', question);
}

static void question_id(const struct sim_tab *tab, unsigned at, char ret_id[8]) {
    sim_question(tab->form, at, ret_id);
}

static int place_of(const struct sim_tab *tab, const char *question) {
    char id[8];
    for (int at = 0; at < SIM_QUESTIONS; at++) {
        question_id(tab, (unsigned)at, id);
        if (question != NULL && strcmp(id, question) == 0) return at;
    }
    return -1;
}

void sim_tab_init(struct sim_tab *tab, struct sim *sim, unsigned reviewer, unsigned number) {
    unsigned holder[2] = {reviewer + 1, number};
    struct evd_text part = {(const char *)holder, sizeof holder};
    *tab = (struct sim_tab){.sim = sim, .reviewer = reviewer, .number = number};
    tab->holder = evd_uuid_derive("tab", &part, 1);
    tab->study = sim_below(sim, SIM_STUDIES);
    tab->form = sim_below(sim, 4) == 0 ? 1 : 0;
    if (number > 0 && sim_below(sim, 4) > 0) { /* most second tabs show the same as the first */
        tab->study = sim->tabs[reviewer * SIM_TABS].study;
        tab->form = sim->tabs[reviewer * SIM_TABS].form;
    }
}

void sim_tab_done(struct sim_tab *tab) {
    for (size_t i = 0; i < tab->known_count; i++)
        free(tab->known[i]);
    free(tab->known);
}

bool sim_tab_knows(const struct sim_tab *tab, const char *token) {
    for (size_t i = 0; i < tab->known_count; i++)
        if (strcmp(tab->known[i], token) == 0) return true;
    return false;
}

static void learn(struct sim_tab *tab, const char *token) {
    if (token == NULL || sim_tab_knows(tab, token)) return;
    if (tab->known_count == tab->known_capacity) {
        tab->known_capacity = tab->known_capacity == 0 ? 64 : tab->known_capacity * 2;
        tab->known = realloc(tab->known, tab->known_capacity * sizeof(char *));
        if (tab->known == NULL) abort();
    }
    tab->known[tab->known_count++] = strdup(token);
}

static bool has_typed(const struct sim_tab *tab) {
    for (int at = 0; at < SIM_QUESTIONS; at++)
        if (tab->places[at].typed[0] != '\0') return true;
    return false;
}

bool sim_tab_is_settled(const struct sim_tab *tab) {
    return tab->state == SIM_GONE ||
           (tab->state == SIM_IDLE && tab->loaded && !tab->due && (tab->blocked || !has_typed(tab)));
}

static struct evd_ids ids_of(const struct sim_tab *tab) {
    return (struct evd_ids){
        .project = tab->sim->project, .study = tab->sim->studies[tab->study], .form = tab->sim->forms[tab->form]};
}

static json_t *uuid_json(evd_uuid id) {
    char text[SIM_TEXT_BYTES];
    evd_uuid_format(id, text);
    return json_string(text);
}

static json_t *text_or_null(const char *text) {
    return text[0] == '\0' ? json_null() : json_string(text);
}

/* Asking. */

static void ask_with(struct sim_tab *tab, const struct evd_command *command, struct evd_ids ids, json_t *body,
                     const char *condition) {
    tab->intent = sim_intent_new(tab->sim, command, ids, tab->person, body);
    tab->intent->tab = tab;
    if (condition != NULL) (void)snprintf(tab->intent->condition, sizeof tab->intent->condition, "%s", condition);
    tab->state = SIM_WAITING;
    tab->patience = PATIENCE;
    sim_say(tab->sim, "tab %u.%u asks %u %s %s", tab->reviewer, tab->number, tab->intent->number, command->name,
            tab->intent->body == NULL ? "" : tab->intent->body);
    sim_send(tab->sim, tab->intent);
}

static void ask(struct sim_tab *tab, const struct evd_command *command, json_t *body) {
    ask_with(tab, command, ids_of(tab), body, NULL);
}

static json_t *typed_answers(const struct sim_tab *tab) {
    json_t *answers = json_array();
    char id[8];
    for (unsigned at = 0; at < SIM_QUESTIONS; at++) {
        const struct sim_place *place = &tab->places[at];
        if (place->typed[0] == '\0') continue;
        question_id(tab, at, id);
        (void)json_array_append_new(answers, json_pack("{s:s, s:s, s:o}", "question", id, "value", place->typed,
                                                       "baseRevision", text_or_null(place->revision)));
    }
    return answers;
}

static void autosave(struct sim_tab *tab, bool whole) {
    char condition[40];
    json_t *body = json_pack("{s:o, s:o, s:I, s:{s:o}}", "baseVersion", text_or_null(tab->version), "holder",
                             uuid_json(tab->holder), "writeSeq", (json_int_t)tab->write_seq + 1, "content", "answers",
                             typed_answers(tab));
    if (whole) {
        (void)json_object_set_new(body, "stage", uuid_json(tab->sim->stages[tab->form]));
        (void)json_object_set_new(body, "formVersion", json_integer(1));
    }
    (void)snprintf(condition, sizeof condition, tab->etag == 0 ? "*" : "\"%lld\"", tab->etag);
    ask_with(tab, whole ? &evd_command_put_draft : &evd_command_patch_draft, ids_of(tab), body, condition);
}

static json_t *draft_base(const struct sim_tab *tab) {
    if (!tab->is_holder) return json_null();
    return json_pack("{s:I, s:o, s:I}", "etag", (json_int_t)tab->etag, "holder", uuid_json(tab->holder), "writeSeq",
                     (json_int_t)tab->write_seq);
}

static void save(struct sim_tab *tab, const struct evd_command *command) {
    ask(tab, command,
        json_pack("{s:o, s:i, s:o, s:o, s:o}", "stage", uuid_json(tab->sim->stages[tab->form]), "formVersion", 1,
                  "baseVersion", text_or_null(tab->version), "draft", draft_base(tab), "answers", typed_answers(tab)));
}

static void withdraw(struct sim_tab *tab) {
    ask(tab, &evd_command_withdraw,
        json_pack("{s:o, s:o, s:o}", "stage", uuid_json(tab->sim->stages[tab->form]), "baseVersion",
                  text_or_null(tab->version), "draft", draft_base(tab)));
}

static void ask_held(struct sim_tab *tab, const struct evd_command *command, bool of_copy) {
    struct evd_ids ids = ids_of(tab);
    if (of_copy && !evd_uuid_parse(evd_text_from(tab->copy), &ids.copy)) return;
    json_t *body = command == &evd_command_discard_draft_copy
                       ? NULL
                       : json_pack("{s:o, s:I}", "holder", uuid_json(tab->holder), "etag", (json_int_t)tab->etag);
    ask_with(tab, command, ids, body, NULL);
}

static void take_over(struct sim_tab *tab) {
    ask(tab, &evd_command_take_over_draft,
        json_pack("{s:o, s:I}", "holder", uuid_json(tab->holder), "leaseGeneration", (json_int_t)tab->generation));
}

static void load(struct sim_tab *tab) {
    ask(tab, &evd_command_get_session, NULL);
}

static void type(struct sim_tab *tab) {
    struct sim_place *place = &tab->places[sim_below(tab->sim, SIM_QUESTIONS)];
    (void)snprintf(place->typed, sizeof place->typed, "t%u", ++tab->sim->tokens);
    learn(tab, place->typed);
}

static void do_something(struct sim_tab *tab) {
    struct sim *sim = tab->sim;
    unsigned what = sim_below(sim, 100);
    if (what < 30)
        type(tab);
    else if (what < 60 && has_typed(tab))
        autosave(tab, tab->etag == 0 || sim_below(sim, 2) == 0);
    else if (what < 72 && has_typed(tab))
        save(tab, &evd_command_save);
    else if (what < 79)
        save(tab, &evd_command_complete);
    else if (what < 81 && tab->version[0] != '\0')
        withdraw(tab);
    else if (what < 85 && tab->read_only)
        take_over(tab);
    else if (what < 88 && tab->copy[0] != '\0' && tab->is_holder)
        ask_held(tab, &evd_command_adopt_draft_copy, true);
    else if (what < 89 && tab->copy[0] != '\0')
        ask_held(tab, &evd_command_discard_draft_copy, true);
    else if (what < 90 && tab->is_holder)
        ask_held(tab, &evd_command_discard_draft, false);
    else if (what < 92)
        tab->due = true;
}

/* No new text: what is there is saved, or at least stored where a person finds it. */
static void settle(struct sim_tab *tab) {
    if (!has_typed(tab) || tab->blocked) return;
    if (tab->read_only)
        take_over(tab);
    else
        save(tab, &evd_command_save);
}

void sim_tab_step(struct sim_tab *tab, bool calm) {
    if (tab->state == SIM_GONE) return;
    if (tab->state == SIM_WAITING) {
        if (--tab->patience > 0) return;
        tab->patience = PATIENCE;
        sim_send(tab->sim, tab->intent);
        return;
    }
    if (!tab->loaded || tab->due)
        load(tab);
    else if (calm)
        settle(tab);
    else
        do_something(tab);
}

/* Answers. */

static const char *text_in(const json_t *body, const char *member) {
    return json_string_value(json_object_get(body, member));
}

static void take_text(char to[SIM_TEXT_BYTES], const json_t *body, const char *member) {
    const char *text = text_in(body, member);
    (void)snprintf(to, SIM_TEXT_BYTES, "%s", text == NULL ? "" : text);
}

static void take_number(long long *to, const json_t *body, const char *member) {
    const json_t *number = json_object_get(body, member);
    if (json_is_integer(number)) *to = json_integer_value(number);
}

static bool is_mine(const struct sim_tab *tab, const json_t *body) {
    char own[SIM_TEXT_BYTES];
    const char *holder = text_in(body, "holder");
    evd_uuid_format(tab->holder, own);
    return holder != NULL && strcmp(holder, own) == 0;
}

/* What the draft says of itself, in an answer or a refusal. */
static void take_draft(struct sim_tab *tab, const json_t *body) {
    take_number(&tab->etag, body, "etag");
    take_number(&tab->generation, body, "leaseGeneration");
    tab->is_holder = is_mine(tab, body);
    if (tab->is_holder)
        take_number(&tab->write_seq, body, "writeSeq");
    else
        tab->write_seq = 0;
}

static void take_session(struct sim_tab *tab, const json_t *body) {
    size_t i;
    json_t *answer;
    take_text(tab->version, body, "versionId");
    for (int at = 0; at < SIM_QUESTIONS; at++)
        tab->places[at].revision[0] = '\0';
    json_array_foreach(json_object_get(body, "answers"), i, answer) {
        int at = place_of(tab, text_in(answer, "question"));
        if (at < 0) continue;
        take_text(tab->places[at].revision, answer, "revision");
        learn(tab, text_in(answer, "value"));
    }
}

/* What the draft holds is shown, where this tab has nothing typed of its own. */
static void take_content(struct sim_tab *tab, const json_t *body) {
    size_t i;
    json_t *answer, *content = json_object_get(body, "content");
    json_array_foreach(json_object_get(content, "answers"), i, answer) {
        int at = place_of(tab, text_in(answer, "question"));
        learn(tab, text_in(answer, "value"));
        if (at < 0 || tab->places[at].typed[0] != '\0') continue;
        (void)snprintf(tab->places[at].typed, SIM_TOKEN_BYTES, "%s", text_in(answer, "value"));
    }
}

static void loaded(struct sim_tab *tab, const struct sim_answer *answer) {
    if (tab->intent->command == &evd_command_get_session) {
        if (answer->code == EVD_OK) {
            take_session(tab, answer->body);
            ask(tab, &evd_command_get_draft, NULL);
            return;
        }
        tab->version[0] = '\0'; /* nothing is there yet */
        tab->etag = tab->write_seq = tab->generation = 0;
        tab->is_holder = tab->read_only = false;
    } else if (answer->code == EVD_OK) {
        char base[SIM_TEXT_BYTES];
        take_text(base, answer->body, "baseVersion");
        take_draft(tab, answer->body);
        take_content(tab, answer->body);
        tab->read_only = !tab->is_holder && !json_is_null(json_object_get(answer->body, "holder"));
        if (strcmp(base, tab->version) != 0) { /* the two were read apart */
            tab->state = SIM_IDLE;
            return;
        }
    }
    tab->loaded = true;
    tab->due = false;
    tab->blocked = false;
    tab->state = SIM_IDLE;
}

static void saved(struct sim_tab *tab, const struct sim_answer *answer) {
    size_t i;
    json_t *row;
    take_text(tab->version, answer->body, "versionId");
    take_number(&tab->etag, answer->body, "draftEtag");
    json_array_foreach(json_object_get(answer->body, "answers"), i, row) {
        int at = place_of(tab, text_in(row, "question"));
        if (at < 0) continue;
        take_text(tab->places[at].revision, row, "revision");
        tab->places[at].typed[0] = '\0';
    }
}

static void took_effect(struct sim_tab *tab, const struct sim_answer *answer) {
    const struct evd_command *command = tab->intent->command;
    if (command == &evd_command_save || command == &evd_command_complete || command == &evd_command_withdraw) {
        saved(tab, answer);
        if (!tab->is_holder) tab->due = true; /* whose the draft is now is not in the receipt */
    } else {
        take_draft(tab, answer->body);
        tab->read_only = !tab->is_holder;
        bool settled_copy = command == &evd_command_adopt_draft_copy || command == &evd_command_discard_draft_copy;
        if (settled_copy) tab->copy[0] = '\0';
        if (command == &evd_command_take_over_draft || settled_copy) tab->due = true;
        if (command == &evd_command_discard_draft)
            for (int at = 0; at < SIM_QUESTIONS; at++)
                tab->places[at].typed[0] = '\0';
    }
    tab->state = SIM_IDLE;
}

/* Both values are shown; this person wants their own. */
static void take_stale_answers(struct sim_tab *tab, const json_t *body) {
    size_t i;
    json_t *answer;
    json_array_foreach(json_object_get(body, "answers"), i, answer) {
        int at = place_of(tab, text_in(answer, "question"));
        const json_t *current = json_object_get(answer, "current");
        if (at < 0) continue;
        take_text(tab->places[at].revision, current, "revision");
        learn(tab, text_in(current, "value"));
    }
}

static void refused(struct sim_tab *tab, const struct sim_answer *answer) {
    const char *base = text_in(answer->body, "base");
    if (text_in(answer->body, "copyId") != NULL) take_text(tab->copy, answer->body, "copyId");
    tab->state = SIM_IDLE;
    if (answer->code == EVD_STALE_BASE && base != NULL && strcmp(base, "answers") == 0) {
        take_stale_answers(tab, answer->body);
        return;
    }
    if (answer->code == EVD_DRAFT_LEASE_HELD) {
        tab->read_only = true;
        take_number(&tab->generation, answer->body, "leaseGeneration");
    }
    if (answer->code == EVD_NOT_FOUND && tab->intent->command == &evd_command_adopt_draft_copy) tab->copy[0] = '\0';
    if (answer->code == EVD_NOT_FOUND && tab->intent->command == &evd_command_discard_draft_copy) tab->copy[0] = '\0';
    if (answer->code == EVD_AT_CAPACITY || answer->code == EVD_ENOUGH_REVIEWERS) tab->blocked = true;
    if (!tab->blocked) tab->due = true;
}

static bool asks_again(enum evd_outcome_code code) {
    return evd_outcome_entry_of(code)->retryable || code == EVD_BUSY;
}

void sim_tab_answer(struct sim_tab *tab, struct sim_intent *intent, const struct sim_answer *answer) {
    if (tab->intent != intent || intent->answered || tab->state != SIM_WAITING) return; /* an answer once more */
    if (asks_again(answer->code)) {
        tab->patience = 1 + sim_below(tab->sim, 10);
        return;
    }
    intent->answered = true;
    bool loads = intent->command == &evd_command_get_session || intent->command == &evd_command_get_draft;
    if (loads)
        loaded(tab, answer);
    else if (answer->code == EVD_OK)
        took_effect(tab, answer);
    else
        refused(tab, answer);
}
