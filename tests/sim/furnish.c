/*
 * The project everything happens in: two forms with a stage each, two studies, reviewers.
 */
#include "sim.h"

#include <stdlib.h>

enum { ADMINISTRATOR = 1000 };

evd_uuid sim_made_up(const char *of, unsigned number) {
    struct evd_text part = {(const char *)&number, sizeof number};
    evd_uuid id = evd_uuid_derive(of, &part, 1);
    id.bytes[6] = (uint8_t)(0x40 | (id.bytes[6] & 0x0F)); /* a random one's version: derived ids are refused */
    return id;
}

evd_uuid sim_person(unsigned number) {
    return sim_made_up("person", number);
}

static evd_uuid id_in(json_t *answer, const char *member) {
    evd_uuid id = evd_uuid_nil();
    const char *text = json_string_value(json_object_get(answer, member));
    if (text == NULL || !evd_uuid_parse(evd_text_from(text), &id)) abort();
    json_decref(answer);
    return id;
}

static void add_member(struct sim *sim, evd_uuid who) {
    char text[SIM_TEXT_BYTES];
    struct evd_ids ids = {.project = sim->project};
    evd_uuid_format(who, text);
    json_decref(sim_ask(sim, &evd_command_set_member, ids, sim->admin_id,
                        json_pack("{s:s, s:[s]}", "investigatorId", text, "roles", "reviewer")));
}

static void add_form(struct sim *sim, unsigned number) {
    char form[SIM_TEXT_BYTES];
    struct evd_ids ids = {.project = sim->project};
    ids.form = id_in(sim_ask(sim, &evd_command_create_form, ids, sim->admin_id,
                             json_pack("{s:s, s:{s:i}, s:o}", "name", number == 0 ? "F" : "G", "capacity", "target",
                                       SIM_TARGET, "questions", sim_form_json(number))),
                     "id");
    evd_uuid_format(ids.form, form);
    sim->forms[number] = ids.form;
    sim->stages[number] = id_in(sim_ask(sim, &evd_command_create_stage, ids, sim->admin_id,
                                        json_pack("{s:s, s:s}", "name", "Stage", "formId", form)),
                                "id");
    json_decref(sim_ask(sim, &evd_command_publish_form, ids, sim->admin_id, json_pack("{s:i}", "baseVersion", 2)));
}

static void add_studies(struct sim *sim) {
    struct evd_ids ids = {.project = sim->project};
    json_t *rows = json_array();
    for (unsigned i = 0; i < SIM_STUDIES; i++)
        (void)json_array_append_new(rows, json_pack("{s:s}", "title", "T"));
    json_t *added = sim_ask(sim, &evd_command_add_studies, ids, sim->admin_id, json_pack("{s:o}", "studies", rows));
    for (sim->study_count = 0; sim->study_count < SIM_STUDIES; sim->study_count++)
        sim->studies[sim->study_count] =
            id_in(json_incref(json_array_get(json_object_get(added, "rows"), sim->study_count)), "studyId");
    json_decref(added);
}

void sim_furnish(struct sim *sim) {
    static const struct evd_ids none;
    sim->admin_id = sim_person(ADMINISTRATOR);
    sim->project =
        id_in(sim_ask(sim, &evd_command_create_project, none, sim->admin_id, json_pack("{s:s}", "name", "P")), "id");
    for (unsigned i = 0; i < SIM_FORMS; i++)
        add_form(sim, i);
    for (unsigned i = 0; i < SIM_REVIEWERS; i++)
        add_member(sim, sim_person(i));
    add_studies(sim);
    for (; sim->tab_count < SIM_REVIEWERS * SIM_TABS; sim->tab_count++)
        sim->tabs[sim->tab_count] = sim_tab_new(sim, sim->tab_count / SIM_TABS, sim->tab_count % SIM_TABS);
}
