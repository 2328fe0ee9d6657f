/*
 * Reviewers' work: sessions, histories, drafts.
 */
#include "body.h"

static enum evd_ctl_exit session_show(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {
        {"QUESTION", "question"}, {"PATH", "path"}, {"VALUE", "value"}, {"NOTES", "notes"}};
    const char *id = ctl->operand_count > 0 ? evd_ctl_canonical_id(ctl, ctl->operands[0]) : NULL;
    bool has_place = evd_ctl_has(ctl, EVD_CTL_OPTION_STUDY) && evd_ctl_has(ctl, EVD_CTL_OPTION_FORM);
    bool has_part = evd_ctl_has(ctl, EVD_CTL_OPTION_STUDY) || evd_ctl_has(ctl, EVD_CTL_OPTION_FORM);
    if (id != NULL ? has_part : !has_place)
        return evd_ctl_misuse(ctl, "`session show` takes the id of a SESSION; or --study and --form.");
    struct evd_ctl_call call =
        evd_ctl_call_of(ctl, id == NULL ? EVD_CTL_PATH_GET_SESSION : EVD_CTL_PATH_GET_SESSION_BY_ID, id, NULL);
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_ask(ctl, &call, &answer);
    if (status != EVD_CTL_DONE) return status;
    if (!evd_ctl_print_json(ctl, &answer)) {
        const json_t *answers = json_object_get(answer.json, "answers");
        evd_ctl_show_object(ctl, answer.json, NULL);
        if (json_array_size(answers) > 0) (void)fputc('\n', stdout);
        evd_ctl_show_table(ctl, answers, columns, sizeof columns / sizeof *columns);
    }
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

const struct evd_ctl_verb evd_ctl_verb_session_show = {
    .name = "session show",
    .operands = "[SESSION]",
    .operand = EVD_CTL_OPERAND_ID,
    .most = 1,
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(STUDY) | EVD_CTL_TAKES(FORM),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Show a session with its answers: SESSION, or the caller's own on --study and --form.",
    .run = session_show,
};

static enum evd_ctl_exit history(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {
        {"WHEN", "at|savedAt"}, {"WHAT", "kind|draftEvent"}, {"SEQ", "versionSeq"},
        {"STATE", "state"},     {"ANSWERS", "answerCount"},  {"CHANGED", "changedCount"},
        {"WHO", "actorId"},     {"SESSION", "sessionId"},    {"VERSION", "versionId"}};
    const size_t count = sizeof columns / sizeof *columns;
    const char *id = ctl->operand_count > 0 ? evd_ctl_canonical_id(ctl, ctl->operands[0]) : NULL;
    bool has_study = evd_ctl_has(ctl, EVD_CTL_OPTION_STUDY), has_form = evd_ctl_has(ctl, EVD_CTL_OPTION_FORM);
    if (id != NULL ? has_study || has_form : !has_study)
        return evd_ctl_misuse(ctl, "`history` takes --study, with or without --form; or the id of a SESSION.");
    if (id != NULL) return evd_ctl_list(ctl, EVD_CTL_PATH_SESSION_VERSIONS_BY_ID, id, columns, count);
    return evd_ctl_list(ctl, has_form ? EVD_CTL_PATH_SESSION_VERSIONS : EVD_CTL_PATH_STUDY_HISTORY, NULL, columns,
                        count);
}

const struct evd_ctl_verb evd_ctl_verb_history = {
    .name = "history",
    .operands = "[SESSION]",
    .operand = EVD_CTL_OPERAND_ID,
    .most = 1,
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(STUDY) | EVD_CTL_TAKES(FORM),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "List what was done on --study; or the versions of SESSION, or of the caller's own on --study and "
               "--form.",
    .run = history,
};

/* Drafts. */

static enum evd_ctl_exit draft_show(struct evd_ctl *ctl) {
    return evd_ctl_show(ctl, EVD_CTL_PATH_GET_DRAFT, evd_ctl_canonical_id(ctl, ctl->operands[0]), NULL);
}

const struct evd_ctl_verb evd_ctl_verb_draft_show = {
    .name = "draft show",
    .operands = "SESSION",
    .operand = EVD_CTL_OPERAND_ID,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Show whether a session has a draft, who holds it and until when; never what is in it.",
    .run = draft_show,
};

static enum evd_ctl_exit draft_release(struct evd_ctl *ctl) {
    const char *session = evd_ctl_canonical_id(ctl, ctl->operands[0]);
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_RELEASE_DRAFT, session, NULL);
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_ask(ctl, &call, &answer);
    if (status != EVD_CTL_DONE) return status;
    if (!evd_ctl_print_json(ctl, &answer)) evd_ctl_print_line(session);
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

const struct evd_ctl_verb evd_ctl_verb_draft_release = {
    .name = "draft release",
    .operands = "SESSION",
    .operand = EVD_CTL_OPERAND_ID,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_CHANGING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Take a draft from the tab that holds it, so that another can go on; what was typed stays.",
    .details = "It is recorded who did. Prints the session's id.",
    .run = draft_release,
};
