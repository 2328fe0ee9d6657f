/*
 * Exporting answers, as a stream: nothing of it is kept in memory.
 */
#include "file.h"
#include "progress.h"
#include "say.h"

#include "ask.h"

#include <unistd.h>

static enum evd_ctl_exit stream(struct evd_ctl *ctl, enum evd_ctl_path what, const char *query) {
    const char *path = evd_ctl_value(ctl, EVD_CTL_OPTION_OUTPUT);
    bool mixes =
        (path == NULL || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO) == 1; /* a bar in the middle of the answers */
    struct evd_ctl_call call = evd_ctl_call_of(ctl, what, NULL, NULL);
    struct evd_ctl_progress progress;
    struct evd_ctl_output output;
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_output_open(ctl, path, &output);
    if (status != EVD_CTL_DONE) return status;
    evd_ctl_progress_init(&progress, "Exporting", !mixes);
    call.path = evd_text_print(&ctl->arena, "%s%s", call.path, query).bytes;
    call.sink = &output.sink;
    call.progress = &progress;
    status = evd_ctl_ask(ctl, &call, &answer);
    if (status == EVD_CTL_DONE) evd_ctl_answer_done(&answer);
    return evd_ctl_output_close(&output, status);
}

static enum evd_ctl_exit answers(struct evd_ctl *ctl) {
    bool is_ndjson = evd_ctl_has(ctl, EVD_CTL_OPTION_NDJSON);
    bool is_safe = evd_ctl_has(ctl, EVD_CTL_OPTION_SPREADSHEET_SAFE);
    if (is_ndjson && is_safe)
        return evd_ctl_misuse(ctl, "--spreadsheet-safe is for CSV; no spreadsheet opens --ndjson.");
    return stream(ctl, is_ndjson ? EVD_CTL_PATH_ANSWERS_NDJSON : EVD_CTL_PATH_ANSWERS_CSV,
                  is_safe ? "?spreadsheet=safe" : "");
}

#define EXPORTING (EVD_CTL_ASKING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(FORM) | EVD_CTL_TAKES(OUTPUT))

const struct evd_ctl_verb evd_ctl_verb_export_answers = {
    .name = "export answers",
    .operands = "",
    .takes = EXPORTING | EVD_CTL_TAKES(NDJSON) | EVD_CTL_TAKES(SPREADSHEET_SAFE),
    .needs = EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(FORM),
    .summary = "Export a form's completed answers as CSV.",
    .details =
        "One row for each study, reviewer and unit instance, a column for each question and option. An "
        "unchanged project gives the same bytes again. A stream that is cut short fails, and leaves no --output.",
    .example = "evidencectl export answers --form $FORM -o answers.csv",
    .run = answers,
};

static enum evd_ctl_exit manifest(struct evd_ctl *ctl) {
    return stream(ctl, EVD_CTL_PATH_MANIFEST, "");
}

const struct evd_ctl_verb evd_ctl_verb_export_manifest = {
    .name = "export manifest",
    .operands = "",
    .takes = EXPORTING,
    .needs = EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(FORM),
    .summary = "Export what an export holds: its counts and the largest stamp among its records, as JSON.",
    .run = manifest,
};
