/*
 * Imports: each identifier is of one study, each study's are its own, what an operation says of its rows is so, and
 * nobody has worked on a study that was taken away.
 */
#include "oracle.h"

#include <string.h>

/* Identifiers. The administrator gives DOIs only, in their normal form. */

static bool is_listed(const struct sim *sim, evd_uuid study, struct evd_text doi) {
    SIM_EACH(sim, STUDY_IDENTITY, study_identity, identity) {
        if (evd_text_equal(identity->value, doi)) return evd_uuid_equal(identity->study, study);
    }
    return false;
}

static void check_identities(struct sim *sim) {
    SIM_EACH(sim, STUDY_IDENTITY, study_identity, identity) {
        const struct evd_study *study = sim_find(sim, EVD_IN_STUDY, identity->study);
        bool its_own = study != NULL && study->removed == NULL && evd_text_equal(study->doi, identity->value);
        if (!its_own) sim_fail(sim, "an identifier is of a study that does not have it");
    }
    SIM_EACH(sim, STUDY, study, study) {
        if (study->removed == NULL && study->doi.size_bytes > 0 && !is_listed(sim, study->base.id, study->doi))
            sim_fail(sim, "a study's identifier is not its own");
    }
}

/* Rows. */

struct rows {
    int64_t added, matched, refused, removed, stayed;
};

static void count_row(struct sim *sim, const struct evd_import_row *row, struct rows *rows) {
    const struct evd_study *study = sim_find(sim, EVD_IN_STUDY, row->study);
    rows->added += row->result.value == EVD_ROW_ADDED;
    rows->matched += row->result.value == EVD_ROW_MATCHED;
    rows->refused += row->result.value == EVD_ROW_REFUSED;
    rows->removed += row->result.value == EVD_ROW_REMOVED;
    rows->stayed += row->result.value == EVD_ROW_STAYED;
    if (row->result.value == EVD_ROW_STAYED && (study == NULL || study->removed != NULL))
        sim_fail(sim, "a study that is said to have stayed was taken away");
    if (row->result.value == EVD_ROW_REMOVED && (study == NULL || study->removed == NULL))
        sim_fail(sim, "a study that is said to be taken away is there");
}

static struct rows count_rows(struct sim *sim, evd_uuid operation) {
    struct rows rows = {0};
    SIM_EACH(sim, IMPORT_BATCH, import_batch, batch) {
        for (size_t i = 0; i < batch->rows.count && evd_uuid_equal(batch->operation, operation); i++)
            count_row(sim, &batch->rows.items[i], &rows);
    }
    return rows;
}

static int64_t count_studies(struct sim *sim, evd_uuid operation) {
    int64_t count = 0;
    SIM_EACH(sim, STUDY, study, study) {
        count += evd_uuid_equal(study->imported_by, operation);
    }
    return count;
}

/* What was settled says what came of it. */
static void check_settled(struct sim *sim, const struct evd_operation *operation) {
    struct rows rows = count_rows(sim, operation->base.id);
    int64_t there = count_studies(sim, operation->base.id);
    if (operation->kind.value == EVD_OPERATION_IMPORT_UNDO) {
        if (operation->removed != rows.removed || operation->stayed != rows.stayed)
            sim_fail(sim, "an undo has other rows than it says");
        return;
    }
    if (operation->status.value == EVD_OPERATION_SUCCEEDED &&
        (operation->added != rows.added || operation->matched != rows.matched || operation->refused != rows.refused ||
         operation->row_count != rows.added + rows.matched + rows.refused))
        sim_fail(sim, "an import has other rows than it says");
    bool adds = operation->status.value == EVD_OPERATION_SUCCEEDED && !operation->dry_run;
    if (there != (adds ? operation->added : 0)) sim_fail(sim, "an import added other studies than it says");
}

static void check_operation(struct sim *sim, const struct evd_operation *operation) {
    bool running = operation->status.value == EVD_OPERATION_RUNNING;
    if (running != (sim_find(sim, EVD_IN_OPEN_OPERATION, operation->base.id) != NULL))
        sim_fail(sim, running ? "a running operation is not listed as open" : "a settled operation is listed as open");
    if (!running) check_settled(sim, operation);
}

/* An undo waits for the attempts of its own host, and looks again. Those of others, and commits whose fate nobody
 * knows, may come behind: nothing is promised of them. */
static void check_taken_away(struct sim *sim) {
    if (sim->host_count > 1 || sim->oracle->late > 0) return;
    SIM_EACH(sim, FORM_SESSION, form_session, session) {
        const struct evd_study *study = sim_find(sim, EVD_IN_STUDY, session->study);
        if (study == NULL || study->removed == NULL) continue;
        const struct evd_operation *undo = sim_find(sim, EVD_IN_OPERATION, study->removed->operation);
        if (undo == NULL || undo->status.value != EVD_OPERATION_RUNNING)
            sim_fail(sim, "somebody has worked on a study that was taken away");
    }
}

void sim_oracle_operations(struct sim *sim) {
    check_identities(sim);
    SIM_EACH(sim, OPERATION, operation, operation) {
        check_operation(sim, operation);
    }
    check_taken_away(sim);
}
