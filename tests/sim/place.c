/*
 * Where a tab's answers stand, and what it has there: saved, typed and not saved, or taken back and not saved.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned steps_above(const struct sim_question *question) {
    unsigned count = 0;
    while (count < SIM_DEPTH - 1 && question->above[count] != NULL)
        count++;
    return count;
}

unsigned sim_place_steps(const struct sim_place *place) {
    return steps_above(place->question) + place->question->makes_elements;
}

static const char *step_question(const struct sim_question *question, unsigned step) {
    return step < steps_above(question) ? question->above[step] : question->id;
}

/* Names. */

static void add(char text[SIM_SAID_BYTES], const char *more) {
    size_t used = strlen(text);
    (void)snprintf(text + used, SIM_SAID_BYTES - used, "%s", more);
}

void sim_place_name(const struct sim_place *place, char ret_name[SIM_SAID_BYTES]) {
    ret_name[0] = '\0';
    for (unsigned i = 0; i < sim_place_steps(place); i++) {
        add(ret_name, step_question(place->question, i));
        add(ret_name, "=");
        add(ret_name, place->elements[i]);
        add(ret_name, "/");
    }
    add(ret_name, place->question->id);
}

static const char *text_in(const json_t *body, const char *member) {
    const char *text = json_string_value(json_object_get(body, member));
    return text == NULL ? "" : text;
}

void sim_place_name_of(const json_t *entry, char ret_name[SIM_SAID_BYTES]) {
    size_t i;
    json_t *step;
    ret_name[0] = '\0';
    json_array_foreach(json_object_get(entry, "path"), i, step) {
        add(ret_name, text_in(step, "question"));
        add(ret_name, "=");
        add(ret_name, text_in(step, "element"));
        add(ret_name, "/");
    }
    add(ret_name, text_in(entry, "question"));
}

static void add_value(char said[SIM_SAID_BYTES], const json_t *value) {
    size_t i;
    json_t *item;
    if (value == NULL) add(said, "-");
    if (json_is_string(value)) add(said, json_string_value(value));
    if (json_is_true(value)) add(said, "true");
    json_array_foreach(value, i, item) {
        add(said, json_is_string(item) ? json_string_value(item) : text_in(item, "time"));
        add(said, "=");
        add(said, text_in(item, "average"));
        add(said, ";");
    }
}

void sim_said(const json_t *entry, const json_t *value, char ret_said[SIM_SAID_BYTES]) {
    sim_place_name_of(entry, ret_said);
    add(ret_said, ":");
    add_value(ret_said, value);
}

json_t *sim_place_json(const struct sim_place *place) {
    json_t *made = json_pack("{s:s}", "question", place->question->id);
    json_t *path = json_array();
    for (unsigned i = 0; i < sim_place_steps(place); i++)
        (void)json_array_append_new(path, json_pack("{s:s, s:s}", "question", step_question(place->question, i),
                                                    "element", place->elements[i]));
    if (json_array_size(path) > 0) (void)json_object_set(made, "path", path);
    json_decref(path);
    return made;
}

/* Finding. */

static bool same_elements(const struct sim_place *place, const struct sim_place *other, unsigned steps) {
    for (unsigned i = 0; i < steps; i++)
        if (strcmp(place->elements[i], other->elements[i]) != 0) return false;
    return true;
}

static struct sim_place *find_or_make(struct sim_tab *tab, const struct sim_place *wanted) {
    for (size_t i = 0; i < tab->place_count; i++)
        if (tab->places[i]->question == wanted->question &&
            same_elements(tab->places[i], wanted, sim_place_steps(wanted)))
            return tab->places[i];
    if (tab->place_count == tab->place_capacity) {
        tab->place_capacity = tab->place_capacity == 0 ? 16 : tab->place_capacity * 2;
        tab->places = realloc(tab->places, tab->place_capacity * sizeof(struct sim_place *));
        if (tab->places == NULL) abort();
    }
    struct sim_place *made = malloc(sizeof *made);
    if (made == NULL) abort();
    *made = *wanted;
    return tab->places[tab->place_count++] = made;
}

static void take_element(char to[SIM_TEXT_BYTES], const char *element) {
    (void)snprintf(to, SIM_TEXT_BYTES, "%s", element);
}

struct sim_place *sim_place_of(struct sim_tab *tab, const json_t *entry) {
    struct sim_place wanted = {.question = sim_question(tab->form, text_in(entry, "question"))};
    const json_t *path = json_object_get(entry, "path");
    if (wanted.question == NULL || json_array_size(path) != sim_place_steps(&wanted)) return NULL;
    for (unsigned i = 0; i < sim_place_steps(&wanted); i++)
        take_element(wanted.elements[i], text_in(json_array_get(path, i), "element"));
    return find_or_make(tab, &wanted);
}

struct sim_place *sim_place_at(struct sim_tab *tab, const struct sim_question *question,
                               const char (*above)[SIM_TEXT_BYTES], const char *own) {
    struct sim_place wanted = {.question = question};
    for (unsigned i = 0; i < steps_above(question); i++)
        take_element(wanted.elements[i], above[i]);
    if (question->makes_elements) take_element(wanted.elements[steps_above(question)], own);
    return find_or_make(tab, &wanted);
}

struct sim_place *sim_element_above(struct sim_tab *tab, const struct sim_place *place, unsigned step) {
    struct sim_place wanted = {.question = sim_question(tab->form, place->question->above[step])};
    memcpy(wanted.elements, place->elements, (step + 1) * sizeof wanted.elements[0]);
    return find_or_make(tab, &wanted);
}

json_t *sim_place_value(const struct sim_place *place) {
    switch (place->change) {
    case SIM_UNCHANGED: return place->saved;
    case SIM_GIVEN: return place->given;
    case SIM_TAKEN_BACK: return NULL;
    }
    return NULL;
}

bool sim_element_is_there(struct sim_tab *tab, const struct sim_place *element) {
    for (unsigned step = 0; step < steps_above(element->question); step++)
        if (sim_place_value(sim_element_above(tab, element, step)) == NULL) return false;
    return sim_place_value(element) != NULL;
}

bool sim_place_is_under(const struct sim_place *place, const struct sim_place *element) {
    unsigned steps = sim_place_steps(element);
    return place != element && steps_above(place->question) >= steps &&
           strcmp(place->question->above[steps - 1], element->question->id) == 0 &&
           same_elements(place, element, steps);
}

/* The end. */

static void place_free(struct sim_place *place) {
    json_decref(place->saved);
    json_decref(place->given);
    free(place);
}

void sim_places_sweep(struct sim_tab *tab) {
    size_t kept = 0;
    for (size_t i = 0; i < tab->place_count; i++) {
        struct sim_place *place = tab->places[i];
        if (place->saved == NULL && place->change == SIM_UNCHANGED)
            place_free(place);
        else
            tab->places[kept++] = place;
    }
    tab->place_count = kept;
}

void sim_places_done(struct sim_tab *tab) {
    for (size_t i = 0; i < tab->place_count; i++)
        place_free(tab->places[i]);
    free(tab->places);
}
