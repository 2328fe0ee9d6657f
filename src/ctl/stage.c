/*
 * Stages.
 */
#include "body.h"

static enum evd_ctl_exit create(struct evd_ctl *ctl) {
    json_t *body = json_pack("{s:s, s:s*}", "name", ctl->operands[0], "formId", evd_ctl_id(ctl, EVD_CTL_OPTION_FORM));
    uint64_t timeout = evd_ctl_number(ctl, EVD_CTL_OPTION_SESSION_TIMEOUT, 0);
    uint64_t grace = evd_ctl_number(ctl, EVD_CTL_OPTION_SUSPENDED_GRACE, 0);
    if (timeout > 0) json_object_set_new(body, "sessionTimeoutMinutes", json_integer((json_int_t)timeout));
    if (grace > 0) json_object_set_new(body, "suspendedGraceMinutes", json_integer((json_int_t)grace));
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_CREATE_STAGE, NULL, NULL);
    return evd_ctl_make(ctl, &call, body, NULL);
}

const struct evd_ctl_verb evd_ctl_verb_stage_create = {
    .name = "stage create",
    .operands = "NAME",
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_CHANGING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(FORM) | EVD_CTL_TAKES(SESSION_TIMEOUT) |
             EVD_CTL_TAKES(SUSPENDED_GRACE),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Create a stage and print its id.",
    .details = "With --form it works with that form, which must not be published yet: a form's stages are settled by "
               "its first publication.",
    .example = "evidencectl stage create 'Full text' --form $FORM",
    .run = create,
};

static enum evd_ctl_exit list(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {
        {"STAGE", "id"}, {"STATUS", "status"}, {"FORM", "formId"}, {"NAME", "name"}};
    return evd_ctl_list(ctl, EVD_CTL_PATH_LIST_STAGES, NULL, columns, sizeof columns / sizeof *columns);
}

const struct evd_ctl_verb evd_ctl_verb_stage_list = {
    .name = "stage list",
    .operands = "",
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "List a project's stages.",
    .run = list,
};
