/*
 * An administrator: revokes reviewers, restores them, releases drafts. In the end everybody is restored, so that
 * everybody can be answered.
 */
#include "sim.h"

#include "evidenced/records/keys.h"

enum { PATIENCE = 10 };

static void ask(struct sim *sim, const struct evd_command *command, struct evd_ids ids, json_t *body) {
    sim->admin.intent = sim_intent_new(sim, command, ids, sim->admin_id, body);
    sim->admin.patience = PATIENCE;
    sim_say(sim, "administrator asks %u %s %s", sim->admin.intent->number, command->name,
            sim->admin.intent->body == NULL ? "" : sim->admin.intent->body);
    sim_send(sim, sim->admin.intent);
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

static void do_something(struct sim *sim) {
    unsigned reviewer = sim_below(sim, SIM_REVIEWERS);
    if (sim->admin.revoked[reviewer] ? sim_below(sim, 2) == 0 : sim_chance(sim, sim->faults.revoke, 1000))
        set_member(sim, reviewer, !sim->admin.revoked[reviewer]);
    else if (sim_below(sim, 8) == 0)
        release(sim);
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
}

bool sim_admin_is_settled(const struct sim *sim) {
    bool settled = sim->admin.intent == NULL;
    for (unsigned i = 0; i < SIM_REVIEWERS; i++)
        settled &= !sim->admin.revoked[i];
    return settled;
}
