/*
 * An administrator: revokes reviewers, restores them, releases drafts, imports studies and undoes that. In the end
 * everybody is restored, so that everybody can be answered.
 */
#include "sim.h"

#include "evidenced/records/keys.h"

#include <stdio.h>
#include <string.h>

enum { PATIENCE = 10, ROWS_AT_MOST = 4, IDENTIFIERS = 7, CSV_BYTES = 400 };

static void begin(struct sim *sim, struct sim_intent *intent) {
    sim->admin.intent = intent;
    sim->admin.patience = PATIENCE;
    sim_say(sim, "administrator asks %u %s %s", intent->number, intent->command->name,
            intent->body == NULL ? "" : intent->body);
    sim_send(sim, intent);
}

static void ask(struct sim *sim, const struct evd_command *command, struct evd_ids ids, json_t *body) {
    begin(sim, sim_intent_new(sim, command, ids, sim->admin_id, body));
}

static void set_member(struct sim *sim, unsigned reviewer, bool revoked) {
    char text[SIM_TEXT_BYTES];
    struct evd_ids ids = {.project = sim->project};
    evd_uuid_format(sim_person(reviewer), text);
    json_t *roles = json_array();
    if (!revoked) (void)json_array_append_new(roles, json_string("reviewer"));
    sim->admin.revoked[reviewer] = revoked;
    ask(sim, &evd_command_set_member, ids, json_pack("{s:s, s:o}", "investigatorId", text, "roles", roles));
}

static void release(struct sim *sim) {
    const struct sim_tab *tab = sim->tabs[sim_below(sim, sim->tab_count)];
    struct evd_ids ids = sim_tab_ids(tab);
    ids.session = evd_form_session_id(ids.project, ids.study, ids.form, tab->person);
    ids.study = ids.form = evd_uuid_nil();
    ask(sim, &evd_command_release_draft, ids, NULL);
}

/* Imports meet: they give the same few identifiers, now and then one that is none. */
static void import(struct sim *sim) {
    char csv[CSV_BYTES] = "title,doi\n";
    for (unsigned i = 0, count = 1 + sim_below(sim, ROWS_AT_MOST); i < count; i++) {
        size_t used = strlen(csv);
        unsigned what = sim_below(sim, 12), doi = sim_below(sim, IDENTIFIERS);
        (void)snprintf(csv + used, sizeof csv - used,
                       what == 0   ? "T%u,none\n"
                       : what == 1 ? "T%u,\n"
                                   : "T%u,10.1/%u\n",
                       doi, doi);
    }
    struct evd_ids ids = {.project = sim->project};
    struct evd_options options = {.dry_run = sim_below(sim, 6) == 0, .skip_refused = sim_below(sim, 2) == 0};
    struct sim_intent *intent = sim_intent_new(sim, &evd_command_create_import, ids, sim->admin_id, json_string(csv));
    intent->options = options;
    begin(sim, intent);
}

static void undo(struct sim *sim) {
    struct evd_ids ids = {.project = sim->project};
    if (sim->admin.import_count == 0) return;
    unsigned back = sim_below(sim, 2) * sim_below(sim, sim->admin.import_count); /* most often the last */
    ids.operation = sim->admin.imports[sim->admin.import_count - 1 - back];
    ask(sim, &evd_command_undo_import, ids, NULL);
}

/* What an import may be giving at the same time. */
static void add_studies(struct sim *sim) {
    char doi[20];
    struct evd_ids ids = {.project = sim->project};
    (void)snprintf(doi, sizeof doi, "10.1/%u", sim_below(sim, IDENTIFIERS));
    ask(sim, &evd_command_add_studies, ids, json_pack("{s:[{s:s, s:s}]}", "studies", "title", "T", "doi", doi));
}

static void do_something(struct sim *sim) {
    if (sim->hasty && sim_below(sim, 4) > 0) {
        if (sim_below(sim, 2) == 0)
            import(sim);
        else
            undo(sim);
        return;
    }
    unsigned reviewer = sim_below(sim, SIM_REVIEWERS);
    if (sim->admin.revoked[reviewer] ? sim_below(sim, 2) == 0 : sim_chance(sim, sim->faults.revoke, 1000))
        set_member(sim, reviewer, !sim->admin.revoked[reviewer]);
    else if (sim_below(sim, 8) == 0)
        release(sim);
    else if (sim_chance(sim, sim->faults.import, 1000))
        import(sim);
    else if (sim_chance(sim, sim->faults.import, 1000))
        undo(sim);
    else if (sim_chance(sim, sim->faults.import, 4000))
        add_studies(sim);
}

static void restore(struct sim *sim) {
    for (unsigned i = 0; i < SIM_REVIEWERS; i++) {
        if (!sim->admin.revoked[i]) continue;
        set_member(sim, i, false);
        return;
    }
}

void sim_admin_step(struct sim *sim, bool calm) {
    struct sim_admin *admin = &sim->admin;
    if (admin->intent != NULL) {
        if (--admin->patience > 0) return;
        admin->patience = PATIENCE;
        sim_send(sim, admin->intent);
    } else if (calm) {
        restore(sim);
    } else {
        do_something(sim);
    }
}

void sim_admin_answer(struct sim *sim, struct sim_intent *intent, const struct sim_answer *answer) {
    struct sim_admin *admin = &sim->admin;
    if (admin->intent != intent) return;
    if (sim_asks_again(answer->code)) {
        admin->patience = 1 + sim_below(sim, 10);
        return;
    }
    intent->answered = true;
    admin->intent = NULL;
    const char *id = json_string_value(json_object_get(answer->body, "id"));
    bool imported = intent->command == &evd_command_create_import && answer->code == EVD_OK && id != NULL;
    if (!imported || admin->import_count == SIM_IMPORTS) return;
    if (evd_uuid_parse(evd_text_from(id), &admin->imports[admin->import_count])) admin->import_count++;
}

bool sim_admin_is_settled(const struct sim *sim) {
    bool settled = sim->admin.intent == NULL;
    for (unsigned i = 0; i < SIM_REVIEWERS; i++)
        settled &= !sim->admin.revoked[i];
    return settled;
}
