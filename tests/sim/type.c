/*
 * Typing: answers, elements and what stands under them; and taking back.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN_QUESTIONS = 3, PLACES_ENOUGH = 14, TOKEN_BYTES = 16 };

static bool is_named(const json_t *list, const char *name, bool remove) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        char other[SIM_SAID_BYTES];
        sim_place_name_of(json_array_get(list, i), other);
        if (strcmp(name, other) != 0) continue;
        if (remove) (void)json_array_remove((json_t *)(uintptr_t)list, i);
        return true;
    }
    return false;
}

static void learn_said(struct sim_tab *tab, const struct sim_place *place, const json_t *value) {
    char said[SIM_SAID_BYTES];
    json_t *entry = sim_place_json(place);
    sim_said(entry, value, said);
    sim_tab_learn(tab, said);
    json_decref(entry);
}

static void give(struct sim_tab *tab, struct sim_place *place, json_t *value) {
    char name[SIM_SAID_BYTES];
    sim_place_name(place, name);
    (void)is_named(tab->reverted, name, true);
    learn_said(tab, place, value);
    json_decref(place->given);
    place->given = value;
    place->change = SIM_GIVEN;
    place->stored = false;
}

/* As the version has it again; the next PATCH says so. */
static void revert(struct sim_tab *tab, struct sim_place *place) {
    char name[SIM_SAID_BYTES];
    if (place->change == SIM_UNCHANGED) return;
    sim_place_name(place, name);
    if (!is_named(tab->reverted, name, false)) (void)json_array_append_new(tab->reverted, sim_place_json(place));
    json_decref(place->given);
    place->given = NULL;
    place->change = SIM_UNCHANGED;
    place->stored = false;
}

static void take_back(struct sim_tab *tab, struct sim_place *place) {
    revert(tab, place);
    if (place->saved == NULL) return;
    char name[SIM_SAID_BYTES];
    sim_place_name(place, name);
    (void)is_named(tab->reverted, name, true);
    learn_said(tab, place, NULL);
    place->change = SIM_TAKEN_BACK;
}

static json_t *token(struct sim_tab *tab) {
    char text[TOKEN_BYTES];
    (void)snprintf(text, sizeof text, "t%u", ++tab->sim->tokens);
    return json_string(text);
}

/* An element of this question that is there, under these; NULL: none. */
static struct sim_place *some_element(struct sim_tab *tab, const char *question, const struct sim_place *under) {
    size_t count = tab->place_count, first = count == 0 ? 0 : sim_below(tab->sim, (unsigned)count);
    for (size_t i = 0; i < count; i++) {
        struct sim_place *place = tab->places[(first + i) % count];
        if (strcmp(place->question->id, question) != 0 || !sim_element_is_there(tab, place)) continue;
        if (under == NULL || sim_place_is_under(place, under)) return place;
    }
    return NULL;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Elements of the target that are there, in order; but: without those under this one; only: of these. NULL: none. */
static json_t *elements_to_refer_to(struct sim_tab *tab, const char *target, const json_t *only) {
    const char *found[64];
    size_t count = 0;
    for (size_t i = 0, places = tab->place_count; i < places && count < 64; i++) {
        const struct sim_place *place = tab->places[i];
        if (strcmp(place->question->id, target) != 0 || !sim_element_is_there(tab, place)) continue;
        const char *own = place->elements[sim_place_steps(place) - 1];
        bool wanted = only == NULL ? sim_below(tab->sim, 3) > 0 : false;
        for (size_t at = 0; only != NULL && at < json_array_size(only); at++)
            wanted |= strcmp(json_string_value(json_array_get(only, at)), own) == 0;
        if (wanted) found[count++] = own;
    }
    if (count == 0) return NULL;
    qsort(found, count, sizeof *found, by_text);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(list, json_string(found[i]));
    return list;
}

static json_t *some_points(struct sim_tab *tab) {
    static const char *const times[] = {"0", "1"};
    json_t *points = json_array();
    for (unsigned i = 0, count = 1 + sim_below(tab->sim, 2); i < count; i++) {
        char average[TOKEN_BYTES];
        (void)snprintf(average, sizeof average, "%u", ++tab->sim->tokens);
        (void)json_array_append_new(points, json_pack("{s:s, s:s}", "time", times[i], "average", average));
    }
    return points;
}

static void give_element(struct sim_tab *tab, struct sim_place *element) {
    bool option = strcmp(element->question->kind, "multichoice") == 0;
    give(tab, element, option ? json_true() : token(tab));
}

/* A new element, or another name for one that is there. */
static void type_element(struct sim_tab *tab, const struct sim_question *question, const struct sim_place *above) {
    char own[SIM_TEXT_BYTES];
    const char(*steps)[SIM_TEXT_BYTES] = above == NULL ? NULL : above->elements;
    if (strcmp(question->kind, "multichoice") == 0)
        (void)snprintf(own, sizeof own, "%s", sim_below(tab->sim, 2) == 0 ? "x" : "y");
    else
        evd_uuid_format(sim_made_up("instance", ++tab->sim->tokens), own);
    struct sim_place *there = some_element(tab, question->id, above);
    bool another = there != NULL && (sim_below(tab->sim, 2) == 0 || tab->place_count > PLACES_ENOUGH);
    give_element(tab, another ? there : sim_place_at(tab, question, steps, own));
}

/* The element a new answer to this question stands under; false: it is made first. */
static bool find_above(struct sim_tab *tab, const struct sim_question *question, struct sim_place **ret_above) {
    *ret_above = NULL;
    for (unsigned i = 0; i < SIM_DEPTH - 1 && question->above[i] != NULL; i++) {
        struct sim_place *next = some_element(tab, question->above[i], *ret_above);
        if (next == NULL) {
            type_element(tab, sim_question(tab->form, question->above[i]), *ret_above);
            return false;
        }
        *ret_above = next;
    }
    return true;
}

void sim_tab_type(struct sim_tab *tab) {
    unsigned count;
    const struct sim_question *questions = sim_form(tab->form, &count), *question;
    struct sim_place *above;
    bool plain = tab->sim->plain || sim_below(tab->sim, 2) == 0;
    question = &questions[sim_below(tab->sim, plain ? PLAIN_QUESTIONS : count)];
    if (!find_above(tab, question, &above)) return;
    if (question->makes_elements) {
        type_element(tab, question, above);
        return;
    }
    json_t *value = NULL;
    if (strcmp(question->kind, "text") == 0) value = token(tab);
    if (strcmp(question->kind, "series") == 0) value = some_points(tab);
    if (question->target != NULL) value = elements_to_refer_to(tab, question->target, NULL);
    if (value != NULL) give(tab, sim_place_at(tab, question, above == NULL ? NULL : above->elements, NULL), value);
}

/* What does not fit together any more after something was taken back: elements come back for what stands under them,
 * references lose what they pointed at. */
static void mend_elements(struct sim_tab *tab) {
    for (size_t i = 0; i < tab->place_count; i++) {
        const struct sim_place *place = tab->places[i];
        for (unsigned step = 0; place->change == SIM_GIVEN && step < SIM_DEPTH - 1; step++) {
            if (place->question->above[step] == NULL) break;
            struct sim_place *element = sim_element_above(tab, place, step);
            if (sim_place_value(element) != NULL) continue;
            if (element->saved != NULL)
                revert(tab, element);
            else
                give_element(tab, element);
        }
    }
}

static bool stands(struct sim_tab *tab, const struct sim_place *place) {
    for (unsigned step = 0; step < SIM_DEPTH - 1 && place->question->above[step] != NULL; step++)
        if (sim_place_value(sim_element_above(tab, place, step)) == NULL) return false;
    return true;
}

static void mend_references(struct sim_tab *tab) {
    for (size_t i = 0, count = tab->place_count; i < count; i++) {
        struct sim_place *place = tab->places[i];
        json_t *value = sim_place_value(place);
        if (place->question->target == NULL || value == NULL || !stands(tab, place)) continue;
        json_t *left = elements_to_refer_to(tab, place->question->target, value);
        if (left == NULL)
            take_back(tab, place);
        else if (json_array_size(left) != json_array_size(value))
            give(tab, place, json_incref(left));
        json_decref(left);
    }
}

void sim_tab_mend(struct sim_tab *tab) {
    mend_elements(tab);
    mend_references(tab);
}

/* Something is taken back; an element with all that was typed under it. */
void sim_tab_take_something_back(struct sim_tab *tab) {
    if (tab->place_count == 0) return;
    struct sim_place *place = tab->places[sim_below(tab->sim, (unsigned)tab->place_count)];
    if (sim_place_value(place) == NULL) return;
    if (place->change == SIM_GIVEN && sim_below(tab->sim, 2) == 0)
        revert(tab, place);
    else
        take_back(tab, place);
    if (sim_place_value(place) != NULL || !place->question->makes_elements) return;
    bool named = sim_below(tab->sim, 2) == 0;
    bool forgotten = sim_below(tab->sim, 4) == 0; /* then it is refused, and mended */
    for (size_t i = 0; i < tab->place_count; i++) {
        struct sim_place *under = tab->places[i];
        if (!sim_place_is_under(under, place)) continue;
        if (named)
            take_back(tab, under);
        else if (!forgotten)
            revert(tab, under);
    }
    if (!forgotten) mend_references(tab);
}
