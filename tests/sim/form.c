/*
 * Two forms, which share their first questions: one flat, with a unit, a split choice, a reference and a series; one
 * with a unit in a unit. Only the first question is required.
 */
#include "sim.h"

#include <string.h>

#define SHARED                                                                                                         \
    {.id = "q0", .kind = "text", .required = true}, {                                                                  \
        .id = "q1", .kind = "text"                                                                                     \
    }

static const struct sim_question first[] = {
    SHARED,
    {.id = "f2", .kind = "text"},
    {.id = "fu", .kind = "unit", .makes_elements = true},
    {.id = "fd", .kind = "text", .unit = "fu", .above = {"fu"}},
    {.id = "fr", .kind = "reference", .target = "fu"},
    {.id = "fm", .kind = "multichoice", .makes_elements = true},
    {.id = "fn", .kind = "text", .parent = "fm", .above = {"fm"}},
    {.id = "fs", .kind = "series"},
};

static const struct sim_question second[] = {
    SHARED,
    {.id = "g2", .kind = "text"},
    {.id = "gu", .kind = "unit", .makes_elements = true},
    {.id = "gv", .kind = "unit", .unit = "gu", .above = {"gu"}, .makes_elements = true},
    {.id = "gt", .kind = "text", .unit = "gv", .above = {"gu", "gv"}},
    {.id = "gs", .kind = "series", .unit = "gv", .above = {"gu", "gv"}},
    {.id = "gr", .kind = "reference", .unit = "gu", .target = "gv", .above = {"gu"}},
};

const struct sim_question *sim_form(unsigned form, unsigned *ret_count) {
    *ret_count = form == 0 ? sizeof first / sizeof *first : sizeof second / sizeof *second;
    return form == 0 ? first : second;
}

const struct sim_question *sim_question(unsigned form, const char *id) {
    unsigned count;
    const struct sim_question *questions = sim_form(form, &count);
    for (unsigned i = 0; id != NULL && i < count; i++)
        if (strcmp(questions[i].id, id) == 0) return &questions[i];
    return NULL;
}

static json_t *question_json(const struct sim_question *question) {
    json_t *made =
        json_pack("{s:s, s:s, s:s, s:b, s:s*, s:s*}", "id", question->id, "label", question->id, "kind", question->kind,
                  "required", question->required, "unit", question->unit, "target", question->target);
    if (question->parent != NULL)
        (void)json_object_set_new(made, "parent", json_pack("{s:s}", "questionId", question->parent));
    if (strcmp(question->kind, "multichoice") != 0) return made;
    (void)json_object_set_new(made, "split", json_true());
    (void)json_object_set_new(made, "options",
                              json_pack("[{s:s, s:s}, {s:s, s:s}]", "id", "x", "label", "X", "id", "y", "label", "Y"));
    return made;
}

json_t *sim_form_json(unsigned form) {
    unsigned count;
    const struct sim_question *questions = sim_form(form, &count);
    json_t *list = json_array();
    for (unsigned i = 0; i < count; i++)
        (void)json_array_append_new(list, question_json(&questions[i]));
    return list;
}
