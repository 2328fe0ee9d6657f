/*
 * Reviewers' work: sessions, histories, drafts.
 */
#include "body.h"

static enum evd_ctl_exit session_show(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {
        {"QUESTION", "question"}, {"PATH", "path"}, {"VALUE", "value"}, {"NOTES", "notes"}};
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_GET_SESSION, NULL, NULL);
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
    .operands = "",
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(STUDY) | EVD_CTL_TAKES(FORM),
    .needs = EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(STUDY) | EVD_CTL_TAKES(FORM),
    .summary = "Show the caller's session on a study's form, with its answers.",
    .run = session_show,
};

static enum evd_ctl_exit history(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {
        {"WHEN", "at|savedAt|changedAt"}, {"WHO", "by|investigatorId|reviewerId|authorId|author"},
        {"WHAT", "kind|what|event"},      {"FORM", "formId"},
        {"SEQ", "versionSeq|seq"},        {"ANSWERS", "answerCount"},
        {"VERSION", "versionId|id"},      {"STAMP", "stamp"}};
    bool is_session = evd_ctl_has(ctl, EVD_CTL_OPTION_FORM);
    return evd_ctl_list(ctl, is_session ? EVD_CTL_PATH_SESSION_VERSIONS : EVD_CTL_PATH_STUDY_HISTORY, NULL, columns,
                        sizeof columns / sizeof *columns);
}

const struct evd_ctl_verb evd_ctl_verb_history = {
    .name = "history",
    .operands = "",
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(STUDY) | EVD_CTL_TAKES(FORM),
    .needs = EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(STUDY),
    .summary = "List what happened to a study; with --form, the versions of the caller's session on it.",
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
    .summary = "Show who holds a session's draft, and since when.",
    .run = draft_show,
};

static enum evd_ctl_exit draft_release(struct evd_ctl *ctl) {
    const char *session = evd_ctl_canonical_id(ctl, ctl->operands[0]);
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_RELEASE_DRAFT, session, NULL);
    return evd_ctl_make(ctl, &call, json_object(), session);
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
