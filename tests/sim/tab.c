/*
 * A tab does what a good client does: it sends the same thing again until it is answered, keeps what was typed on every
 * refusal, loads what changed and goes on. What it types is a token nobody else types, so that every one can be found.
 */
#include "sim.h"

#include "evidenced/base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 12 };

struct sim_tab *sim_tab_new(struct sim *sim, unsigned reviewer, unsigned number) {
    struct sim_tab *tab = calloc(1, sizeof *tab), *first = sim->tabs[reviewer * SIM_TABS];
    if (tab == NULL) abort();
    *tab = (struct sim_tab){.sim = sim, .next = sim->all_tabs, .reviewer = reviewer, .number = number};
    sim->all_tabs = tab;
    tab->person = sim_person(reviewer);
    tab->holder = sim_made_up("holder", ++sim->holders);
    tab->reverted = json_array();
    tab->study = sim_below(sim, SIM_STUDIES);
    if (sim->study_count > SIM_STUDIES && (sim->hasty || sim_below(sim, 2) == 0)) /* the newest */
        tab->study = sim->study_count - 1 - sim_below(sim, sim->study_count - SIM_STUDIES) / 2;
    tab->form = sim_below(sim, 4) == 0 ? 1 : 0;
    if (number == 0 || sim->hasty || sim_below(sim, 4) == 0) return tab;
    tab->study = first->study; /* most second tabs show the same as the first, or its other form */
    tab->form = sim_below(sim, 3) == 0 ? 1 - first->form : first->form;
    return tab;
}

void sim_tab_free(struct sim_tab *tab) {
    sim_places_done(tab);
    json_decref(tab->reverted);
    for (size_t i = 0; i < tab->known_count; i++)
        free(tab->known[i]);
    free(tab->known);
    free(tab);
}

bool sim_tab_knows(const struct sim_tab *tab, const char *what) {
    for (size_t i = tab->known_count; i-- > 0;)
        if (strcmp(tab->known[i], what) == 0) return true;
    return false;
}

void sim_tab_learn(struct sim_tab *tab, const char *what) {
    if (what == NULL || sim_tab_knows(tab, what)) return;
    if (tab->known_count == tab->known_capacity) {
        tab->known_capacity = tab->known_capacity == 0 ? 64 : tab->known_capacity * 2;
        tab->known = realloc(tab->known, tab->known_capacity * sizeof(char *));
        if (tab->known == NULL) abort();
    }
    tab->known[tab->known_count++] = strdup(what);
}

bool sim_tab_has_typed(const struct sim_tab *tab) {
    for (size_t i = 0; i < tab->place_count; i++)
        if (tab->places[i]->change != SIM_UNCHANGED) return true;
    return false;
}

bool sim_tab_is_settled(const struct sim_tab *tab) {
    return tab->state == SIM_GONE ||
           (tab->state == SIM_IDLE && tab->loaded && !tab->due && (tab->blocked || !sim_tab_has_typed(tab)));
}

struct evd_ids sim_tab_ids(const struct sim_tab *tab) {
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
    tab->purpose = SIM_ACTS;
    tab->state = SIM_WAITING;
    tab->patience = PATIENCE;
    sim_say(tab->sim, "tab %u.%u asks %u %s %s", tab->reviewer, tab->number, tab->intent->number, command->name,
            tab->intent->body == NULL ? "" : tab->intent->body);
    sim_send(tab->sim, tab->intent);
}

static void ask(struct sim_tab *tab, const struct evd_command *command, json_t *body) {
    ask_with(tab, command, sim_tab_ids(tab), body, NULL);
}

void sim_tab_load(struct sim_tab *tab, enum sim_purpose what) {
    ask(tab, what == SIM_LOADS_DRAFT ? &evd_command_get_draft : &evd_command_get_session, NULL);
    tab->purpose = what;
}

static void glance(struct sim_tab *tab) {
    const struct evd_command *const views[] = {&evd_command_get_session, &evd_command_get_draft,
                                               &evd_command_list_draft_copies};
    ask(tab, views[sim_below(tab->sim, 3)], NULL);
    tab->purpose = SIM_GLANCES;
}

/* What is typed and taken back, as a draft has it and as a Save does; news: what the draft does not have yet. */
static json_t *content_of(const struct sim_tab *tab, bool news) {
    json_t *answers = json_array(), *withdrawn = json_array();
    for (size_t i = 0; i < tab->place_count; i++) {
        const struct sim_place *place = tab->places[i];
        json_t *entry = news && place->stored ? NULL : sim_place_json(place);
        if (entry != NULL && place->change == SIM_GIVEN) {
            (void)json_object_set(entry, "value", place->given);
            (void)json_object_set_new(entry, "baseRevision", text_or_null(place->revision));
            (void)json_array_append(answers, entry);
        } else if (entry != NULL && place->change == SIM_TAKEN_BACK) {
            (void)json_array_append(withdrawn, entry);
        }
        json_decref(entry);
    }
    return json_pack("{s:o, s:o}", "answers", answers, "withdrawn", withdrawn);
}

static void autosave(struct sim_tab *tab, bool whole) {
    char condition[40];
    json_t *body =
        json_pack("{s:o, s:o, s:I, s:o}", "baseVersion", text_or_null(tab->version), "holder", uuid_json(tab->holder),
                  "writeSeq", (json_int_t)tab->write_seq + 1, "content", content_of(tab, !whole));
    if (whole) {
        (void)json_object_set_new(body, "stage", uuid_json(tab->sim->stages[tab->form]));
        (void)json_object_set_new(body, "formVersion", json_integer(1));
    } else if (json_array_size(tab->reverted) > 0) {
        (void)json_object_set_new(body, "reverted", json_deep_copy(tab->reverted));
    }
    (void)snprintf(condition, sizeof condition, tab->etag == 0 ? "*" : "\"%lld\"", tab->etag);
    ask_with(tab, whole ? &evd_command_put_draft : &evd_command_patch_draft, sim_tab_ids(tab), body, condition);
}

static json_t *draft_base(const struct sim_tab *tab) {
    if (!tab->is_holder) return json_null();
    return json_pack("{s:I, s:o, s:I}", "etag", (json_int_t)tab->etag, "holder", uuid_json(tab->holder), "writeSeq",
                     (json_int_t)tab->write_seq);
}

/* Revisions of others that this person was shown. */
static json_t *exposures(const struct sim_tab *tab) {
    struct sim *sim = tab->sim;
    json_t *list = json_array();
    for (unsigned i = 0; i < SIM_SHOWN && i < sim->shown_count; i++) {
        const struct sim_shown *shown = &sim->shown[i];
        bool of_another = shown->study == tab->study && shown->reviewer != tab->reviewer;
        if (of_another && sim_below(sim, 4) == 0) (void)json_array_append_new(list, json_string(shown->revision));
    }
    return list;
}

static void tell_exposures(struct sim_tab *tab) {
    json_t *revisions = exposures(tab);
    if (tab->version[0] != '\0' && json_array_size(revisions) > 0)
        ask(tab, &evd_command_record_exposures,
            json_pack("{s:s, s:O}", "version", tab->version, "revisions", revisions));
    json_decref(revisions);
}

static json_t *save_body(const struct sim_tab *tab, json_t *content) {
    json_t *body = json_pack("{s:o, s:i, s:o, s:o}", "stage", uuid_json(tab->sim->stages[tab->form]), "formVersion", 1,
                             "baseVersion", text_or_null(tab->version), "draft", draft_base(tab));
    (void)json_object_update(body, content);
    json_decref(content);
    if (sim_below(tab->sim, 3) == 0) (void)json_object_set_new(body, "exposures", exposures(tab));
    return body;
}

/* A client that uses a command id twice, for another request: it has nothing to say, so that nothing of it is lost. */
static void send_twin(struct sim_tab *tab, struct sim_intent *root) {
    json_t *nothing = json_pack("{s:[]}", "answers");
    struct sim_intent *twin = sim_intent_new(tab->sim, root->command, root->ids, root->caller, save_body(tab, nothing));
    twin->key = root->key;
    twin->root = root;
    sim_send(tab->sim, twin);
}

static void save(struct sim_tab *tab, const struct evd_command *command) {
    ask(tab, command, save_body(tab, content_of(tab, false)));
    if (sim_tab_has_typed(tab) && sim_chance(tab->sim, tab->sim->faults.careless, 1000)) send_twin(tab, tab->intent);
}

static void withdraw(struct sim_tab *tab) {
    ask(tab, &evd_command_withdraw,
        json_pack("{s:o, s:o, s:o}", "stage", uuid_json(tab->sim->stages[tab->form]), "baseVersion",
                  text_or_null(tab->version), "draft", draft_base(tab)));
}

/* Answers another form of the same reviewer changed are taken over as they are there: those that are wanted. */
static void fix(struct sim_tab *tab) {
    json_t *answers = json_array();
    for (size_t i = 0; i < tab->place_count; i++) {
        const struct sim_place *place = tab->places[i];
        if (place->current[0] == '\0' || sim_below(tab->sim, 3) == 0) continue;
        json_t *entry = sim_place_json(place);
        (void)json_object_set_new(entry, "revision", json_string(place->current));
        (void)json_array_append_new(answers, entry);
    }
    if (json_array_size(answers) > 0)
        ask(tab, &evd_command_fix,
            json_pack("{s:o, s:o, s:o, s:O}", "stage", uuid_json(tab->sim->stages[tab->form]), "baseVersion",
                      text_or_null(tab->version), "draft", draft_base(tab), "answers", answers));
    json_decref(answers);
}

static void ask_held(struct sim_tab *tab, const struct evd_command *command, bool of_copy) {
    struct evd_ids ids = sim_tab_ids(tab);
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

static void renew(struct sim_tab *tab) {
    ask(tab, &evd_command_renew_draft_lease,
        json_pack("{s:o, s:o}", "holder", uuid_json(tab->holder), "etag",
                  tab->etag == 0 ? json_null() : json_integer(tab->etag)));
}

/* Steps. */

/* The browser is closed: what was not stored is gone, and the next tab knows nothing of it. */
static void reopen(struct sim_tab *tab) {
    struct sim *sim = tab->sim;
    tab->state = SIM_GONE;
    sim->tabs[tab->reviewer * SIM_TABS + tab->number] = sim_tab_new(sim, tab->reviewer, tab->number);
}

static struct sim_place *copied(const struct sim_place *place) {
    struct sim_place *copy = malloc(sizeof *copy);
    if (copy == NULL) abort();
    *copy = *place;
    copy->saved = json_incref(place->saved);
    copy->given = json_incref(place->given);
    return copy;
}

/* A browser's "duplicate tab": the other tab of this person becomes what this one is, its holder id included. */
static void duplicate(struct sim_tab *tab) {
    struct sim *sim = tab->sim;
    struct sim_tab **slot = &sim->tabs[tab->reviewer * SIM_TABS + (1 - tab->number)];
    struct sim_tab *copy = calloc(1, sizeof *copy);
    if (copy == NULL) abort();
    (*slot)->state = SIM_GONE;
    *copy = *tab;
    copy->next = sim->all_tabs;
    sim->all_tabs = *slot = copy;
    copy->number = 1 - tab->number;
    copy->reverted = json_deep_copy(tab->reverted);
    copy->known = NULL;
    copy->known_count = copy->known_capacity = 0;
    for (size_t i = 0; i < tab->known_count; i++)
        sim_tab_learn(copy, tab->known[i]);
    copy->places = calloc(tab->place_capacity == 0 ? 1 : tab->place_capacity, sizeof(struct sim_place *));
    if (copy->places == NULL) abort();
    for (size_t i = 0; i < tab->place_count; i++)
        copy->places[i] = copied(tab->places[i]);
}

static void settle_a_copy(struct sim_tab *tab, unsigned what) {
    if (tab->copy[0] == '\0') return;
    if (what > 0 && tab->is_holder)
        ask_held(tab, &evd_command_adopt_draft_copy, true);
    else if (what == 0)
        ask_held(tab, &evd_command_discard_draft_copy, true);
}

static void save_or_complete(struct sim_tab *tab, const struct evd_command *command) {
    if (tab->mends) sim_tab_mend(tab);
    save(tab, command);
}

/* Nobody stays: a word on the newest study, and on to the next. */
static void hurry(struct sim_tab *tab) {
    if (!sim_tab_has_typed(tab))
        sim_tab_type(tab);
    else if (tab->etag == 0)
        autosave(tab, true);
    else
        reopen(tab);
}

static void do_something(struct sim_tab *tab) {
    struct sim *sim = tab->sim;
    unsigned what = sim_below(sim, 117);
    if (what < 23)
        sim_tab_type(tab);
    else if (what < 30)
        sim_tab_take_something_back(tab);
    else if (what < 58 && sim_tab_has_typed(tab))
        autosave(tab, tab->etag == 0 || sim_below(sim, 2) == 0);
    else if (what < 70 && sim_tab_has_typed(tab))
        save_or_complete(tab, &evd_command_save);
    else if (what < 78)
        save_or_complete(tab, &evd_command_complete);
    else if (what < 81 && tab->version[0] != '\0')
        withdraw(tab);
    else if (what < 85 && tab->read_only)
        take_over(tab);
    else if (what < 89)
        settle_a_copy(tab, what - 85);
    else if (what < 90 && tab->is_holder)
        ask_held(tab, &evd_command_discard_draft, false);
    else if (what < 92)
        tab->due = true;
    else if (what < 98)
        glance(tab);
    else if (what < 101)
        renew(tab);
    else if (what < 102)
        reopen(tab);
    else if (what < 103)
        duplicate(tab);
    else if (what < 108)
        fix(tab);
    else if (what < 110)
        tell_exposures(tab);
}

/* No new text: what is there is saved, or at least stored where a person finds it. */
static void settle(struct sim_tab *tab) {
    if (!sim_tab_has_typed(tab) || tab->blocked) return;
    if (tab->read_only)
        take_over(tab);
    else
        save_or_complete(tab, &evd_command_save);
}

void sim_tab_step(struct sim_tab *tab, bool calm) {
    if (tab->state == SIM_GONE) return;
    if (tab->state == SIM_WAITING) {
        if (--tab->patience > 0) return;
        tab->patience = PATIENCE;
        sim_send(tab->sim, tab->intent);
        return;
    }
    sim_places_sweep(tab);
    if (!tab->loaded || tab->due)
        sim_tab_load(tab, SIM_LOADS_SESSION);
    else if (calm)
        settle(tab);
    else if (tab->sim->hasty && sim_below(tab->sim, 4) > 0)
        hurry(tab);
    else
        do_something(tab);
}
