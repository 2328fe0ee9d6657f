/*
 * What answers do to a tab.
 */
#include "sim.h"

#include <stdio.h>
#include <string.h>

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

static void learn(struct sim_tab *tab, const json_t *entry, const json_t *value) {
    char said[SIM_SAID_BYTES];
    sim_said(entry, value, said);
    sim_tab_learn(tab, said);
}

/* A revision it was shown: what replaces it was decided on by somebody who knew it. */
static void take_revision(struct sim_tab *tab, struct sim_place *place, const json_t *of) {
    take_text(place->revision, of, "revision");
    sim_tab_learn(tab, place->revision);
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

static void set_saved(struct sim_place *place, json_t *value) {
    json_decref(place->saved);
    place->saved = json_incref(value);
}

static void take_session(struct sim_tab *tab, const json_t *body) {
    size_t i;
    json_t *answer;
    take_text(tab->version, body, "versionId");
    for (i = 0; i < tab->place_count; i++) {
        set_saved(tab->places[i], NULL);
        tab->places[i]->revision[0] = tab->places[i]->current[0] = '\0';
    }
    json_array_foreach(json_object_get(body, "answers"), i, answer) {
        struct sim_place *place = sim_place_of(tab, answer);
        learn(tab, answer, json_object_get(answer, "value"));
        if (place == NULL) continue;
        set_saved(place, json_object_get(answer, "value"));
        take_revision(tab, place, answer);
        take_text(place->current, json_object_get(answer, "current"), "revision");
    }
}

/* Is what this tab has typed there what the draft says of it? */
static void compare(struct sim_place *place, const json_t *value) {
    place->stored =
        value == NULL ? place->change == SIM_TAKEN_BACK : place->change == SIM_GIVEN && json_equal(place->given, value);
}

/* What the draft holds is shown, where this tab has nothing typed of its own. */
static void take_content(struct sim_tab *tab, const json_t *body) {
    size_t i;
    json_t *entry, *content = json_object_get(body, "content");
    for (i = 0; i < tab->place_count; i++)
        tab->places[i]->stored = false;
    json_array_foreach(json_object_get(content, "answers"), i, entry) {
        struct sim_place *place = sim_place_of(tab, entry);
        json_t *value = json_object_get(entry, "value");
        learn(tab, entry, value);
        if (place == NULL) continue;
        if (place->change == SIM_UNCHANGED) {
            place->change = SIM_GIVEN;
            place->given = json_incref(value);
        }
        compare(place, value);
    }
    json_array_foreach(json_object_get(content, "withdrawn"), i, entry) {
        struct sim_place *place = sim_place_of(tab, entry);
        learn(tab, entry, NULL);
        if (place == NULL) continue;
        if (place->change == SIM_UNCHANGED) place->change = SIM_TAKEN_BACK;
        compare(place, NULL);
    }
}

static void is_loaded(struct sim_tab *tab) {
    tab->loaded = true;
    tab->due = tab->blocked = false;
    tab->state = SIM_IDLE;
}

/* It knows of no draft: whatever it was told of one, it may not name what it has not seen. */
static void knows_no_draft(struct sim_tab *tab) {
    tab->etag = tab->write_seq = tab->generation = 0;
    tab->is_holder = tab->read_only = false;
}

static void session_loaded(struct sim_tab *tab, const struct sim_answer *answer) {
    if (answer->code == EVD_OK) {
        take_session(tab, answer->body);
        sim_tab_load(tab, SIM_LOADS_DRAFT);
        return;
    }
    take_session(tab, NULL); /* nothing is there yet */
    knows_no_draft(tab);
    is_loaded(tab);
}

static void draft_loaded(struct sim_tab *tab, const struct sim_answer *answer) {
    char base[SIM_TEXT_BYTES];
    if (answer->code == EVD_OK) {
        take_text(base, answer->body, "baseVersion");
        take_draft(tab, answer->body);
        take_content(tab, answer->body);
        bool held = !json_is_null(json_object_get(answer->body, "holder"));
        bool typed = !json_is_null(json_object_get(answer->body, "content")); /* nobody's, when it was released */
        tab->read_only = !tab->is_holder && (held || typed);
        if (strcmp(base, tab->version) != 0) { /* the two were read apart */
            tab->state = SIM_IDLE;
            return;
        }
    } else {
        knows_no_draft(tab);
    }
    (void)json_array_clear(tab->reverted);
    is_loaded(tab);
}

/* Something is looked at and not taken over: but for copies, which wait to be settled. */
static void glanced(struct sim_tab *tab, const struct sim_answer *answer) {
    const json_t *items = json_object_get(answer->body, "items");
    size_t count = json_array_size(items);
    if (count > 0) take_text(tab->copy, json_array_get(items, sim_below(tab->sim, (unsigned)count)), "id");
    tab->state = SIM_IDLE;
}

/* A version was made: by a Save of all that is typed; otherwise what is typed stays typed, and is in no draft. */
static void saved(struct sim_tab *tab, const struct sim_answer *answer, bool saves) {
    size_t i;
    json_t *row;
    take_text(tab->version, answer->body, "versionId");
    take_number(&tab->etag, answer->body, "draftEtag");
    for (i = 0; i < tab->place_count; i++) {
        struct sim_place *place = tab->places[i];
        place->stored = false;
        if (place->change == SIM_UNCHANGED || !saves) continue;
        set_saved(place, sim_place_value(place));
        json_decref(place->given);
        place->given = NULL;
        place->change = SIM_UNCHANGED;
    }
    json_array_foreach(json_object_get(answer->body, "answers"), i, row) {
        struct sim_place *place = sim_place_of(tab, row);
        if (place == NULL) continue;
        take_revision(tab, place, row);
        struct sim_shown *shown = &tab->sim->shown[tab->sim->shown_count++ % SIM_SHOWN];
        *shown = (struct sim_shown){.study = tab->study, .reviewer = tab->reviewer};
        take_text(shown->revision, row, "revision");
    }
    for (i = 0; i < tab->place_count; i++) /* what stood under an element that was taken back went with it */
        for (unsigned step = 0; step < SIM_DEPTH - 1 && tab->places[i]->question->above[step] != NULL; step++)
            if (sim_element_above(tab, tab->places[i], step)->saved == NULL) set_saved(tab->places[i], NULL);
    (void)json_array_clear(tab->reverted);
    tab->mends = false;
    if (!saves || !tab->is_holder) tab->due = true; /* whose the draft is now is not in the receipt */
}

static void forget_typed(struct sim_tab *tab) {
    for (size_t i = 0; i < tab->place_count; i++) {
        json_decref(tab->places[i]->given);
        tab->places[i]->given = NULL;
        tab->places[i]->change = SIM_UNCHANGED;
    }
    (void)json_array_clear(tab->reverted);
}

static void is_stored(struct sim_tab *tab) {
    for (size_t i = 0; i < tab->place_count; i++)
        tab->places[i]->stored = tab->places[i]->change != SIM_UNCHANGED;
    (void)json_array_clear(tab->reverted);
}

static void took_effect(struct sim_tab *tab, const struct sim_answer *answer) {
    const struct evd_command *command = tab->intent->command;
    tab->state = SIM_IDLE;
    bool saves = command == &evd_command_save || command == &evd_command_complete;
    if (saves || command == &evd_command_withdraw || command == &evd_command_fix) {
        saved(tab, answer, saves);
        return;
    }
    if (command == &evd_command_record_exposures) return;
    bool heartbeat = command == &evd_command_renew_draft_lease;
    if (heartbeat && json_integer_value(json_object_get(answer->body, "etag")) !=
                         tab->etag) { /* somebody has written: it looks first */
        tab->due = true;
        return;
    }
    take_draft(tab, answer->body);
    tab->read_only = !tab->is_holder;
    bool settled_copy = command == &evd_command_adopt_draft_copy || command == &evd_command_discard_draft_copy;
    if (settled_copy) tab->copy[0] = '\0';
    if (command == &evd_command_take_over_draft || settled_copy) tab->due = true;
    if (command == &evd_command_discard_draft) forget_typed(tab);
    if (command == &evd_command_put_draft || command == &evd_command_patch_draft) is_stored(tab);
}

/* Both values are shown; this person wants their own. */
static void take_stale_answers(struct sim_tab *tab, const json_t *body) {
    size_t i;
    json_t *answer;
    json_array_foreach(json_object_get(body, "answers"), i, answer) {
        struct sim_place *place = sim_place_of(tab, answer);
        const json_t *current = json_object_get(answer, "current");
        if (place == NULL) continue;
        take_revision(tab, place, current);
        if (json_is_object(current)) learn(tab, answer, json_object_get(current, "value"));
    }
}

static bool settles_a_copy(const struct evd_command *command) {
    return command == &evd_command_adopt_draft_copy || command == &evd_command_discard_draft_copy;
}

static void refused(struct sim_tab *tab, const struct sim_answer *answer) {
    const char *base = text_in(answer->body, "base");
    if (text_in(answer->body, "copyId") != NULL) take_text(tab->copy, answer->body, "copyId");
    tab->state = SIM_IDLE;
    if (answer->code == EVD_STALE_BASE && base != NULL && strcmp(base, "answers") == 0) {
        take_stale_answers(tab, answer->body);
        return;
    }
    if (base != NULL && strcmp(base, "draftSequence") == 0) /* somebody else writes under this holder id */
        tab->holder = sim_made_up("holder", ++tab->sim->holders);
    if (answer->code == EVD_DRAFT_LEASE_HELD) {
        tab->read_only = true;
        take_number(&tab->generation, answer->body, "leaseGeneration");
    }
    if (answer->code == EVD_NOT_FOUND && settles_a_copy(tab->intent->command)) tab->copy[0] = '\0';
    if (answer->code == EVD_VALIDATION_FAILED) tab->mends = true;
    if (answer->code == EVD_AT_CAPACITY || answer->code == EVD_ENOUGH_REVIEWERS) tab->blocked = true;
    if (answer->code == EVD_NOT_FOUND && tab->study >= SIM_STUDIES) tab->blocked = true; /* it was taken away */
    if (!tab->blocked) tab->due = true;
}

bool sim_asks_again(enum evd_outcome_code code) {
    return evd_outcome_entry_of(code)->retryable || code == EVD_BUSY;
}

void sim_tab_answer(struct sim_tab *tab, struct sim_intent *intent, const struct sim_answer *answer) {
    if (tab->intent != intent || intent->answered || tab->state != SIM_WAITING) return; /* an answer once more */
    if (sim_asks_again(answer->code)) {
        tab->patience = 1 + sim_below(tab->sim, 10);
        return;
    }
    intent->answered = true;
    switch (tab->purpose) {
    case SIM_LOADS_SESSION: session_loaded(tab, answer); return;
    case SIM_LOADS_DRAFT: draft_loaded(tab, answer); return;
    case SIM_GLANCES: glanced(tab, answer); return;
    case SIM_ACTS: break;
    }
    if (answer->code == EVD_OK)
        took_effect(tab, answer);
    else
        refused(tab, answer);
}
