/*
 * Projects, and who works in them.
 */
#include "ask.h"
#include "body.h"
#include "say.h"

#include "evidenced/http/token.h"

static enum evd_ctl_exit create(struct evd_ctl *ctl) {
    json_t *body = json_pack("{s:s}", "name", ctl->operands[0]);
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_CREATE_PROJECT, NULL, NULL);
    return evd_ctl_make(ctl, &call, body, NULL);
}

const struct evd_ctl_verb evd_ctl_verb_project_create = {
    .name = "project create",
    .operands = "NAME",
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_CHANGING,
    .summary = "Create a project and print its id.",
    .details = "Who creates it is its administrator: over the control socket the operator, who may then set its "
               "members, forms and stages.",
    .example = "export EVIDENCED_PROJECT=$(evidencectl project create 'Asthma self-management')",
    .run = create,
};

static enum evd_ctl_exit list_projects(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {{"PROJECT", "id"}, {"NAME", "name"}, {"ROLES", "roles"}};
    return evd_ctl_list(ctl, EVD_CTL_PATH_LIST_PROJECTS, NULL, columns, sizeof columns / sizeof *columns);
}

const struct evd_ctl_verb evd_ctl_verb_project_list = {
    .name = "project list",
    .operands = "",
    .takes = EVD_CTL_READING,
    .summary = "List the caller's projects, with their roles; over the control socket all there are.",
    .run = list_projects,
};

static enum evd_ctl_exit show(struct evd_ctl *ctl) {
    return evd_ctl_show(ctl, EVD_CTL_PATH_GET_PROJECT, NULL, NULL);
}

const struct evd_ctl_verb evd_ctl_verb_project_show = {
    .name = "project show",
    .operands = "",
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Show a project, and the caller's roles in it.",
    .run = show,
};

/* Members. */

static const char *investigator(struct evd_ctl *ctl) {
    const char *issuer = evd_ctl_value(ctl, EVD_CTL_OPTION_ISSUER);
    struct evd_text who = evd_text_from(ctl->operands[0]);
    char *text = evd_arena_alloc(&ctl->arena, EVD_UUID_TEXT_BYTES + 1);
    evd_uuid id;
    if (issuer == NULL && !evd_uuid_parse(who, &id)) return NULL;
    if (issuer != NULL) id = evd_token_investigator(evd_text_from(issuer), who);
    evd_uuid_format(id, text);
    return text;
}

static enum evd_ctl_exit set_roles(struct evd_ctl *ctl) {
    const char *who = investigator(ctl);
    if (who == NULL) return evd_ctl_misuse(ctl, "INVESTIGATOR is a UUID; or the subject of a token, with --issuer.");
    json_t *roles = json_array();
    for (size_t i = 1; i < ctl->operand_count; i++)
        json_array_append_new(roles, json_string(ctl->operands[i]));
    json_t *body = json_pack("{s:s, s:o}", "investigatorId", who, "roles", roles);
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_SET_MEMBER, NULL, NULL);
    return evd_ctl_make(ctl, &call, body, who);
}

#define MEMBER_DETAILS                                                                                                 \
    "INVESTIGATOR is the id records know the person by, a UUID. With --issuer it is the subject of their tokens, and " \
    "the id is worked out as the daemon does it. Prints the id."

const struct evd_ctl_verb evd_ctl_verb_member_set = {
    .name = "member set",
    .operands = "INVESTIGATOR ROLE...",
    .operand = EVD_CTL_OPERAND_MEMBER,
    .least = 2,
    .most = EVD_CTL_OPERANDS - 2,
    .takes = EVD_CTL_CHANGING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(ISSUER),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Make a person a member with these roles and no others.",
    .details = MEMBER_DETAILS " Roles: admin, reviewer, reconciler, queryReviewer, observer.",
    .example = "evidencectl member set --issuer https://login.example.org ada reviewer",
    .run = set_roles,
};

const struct evd_ctl_verb evd_ctl_verb_member_remove = {
    .name = "member remove",
    .operands = "INVESTIGATOR",
    .operand = EVD_CTL_OPERAND_MEMBER,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_CHANGING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(ISSUER),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Take all roles from a member; what they did stays.",
    .details = "It holds for every call that is answered later. " MEMBER_DETAILS,
    .run = set_roles,
};

static enum evd_ctl_exit list(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {
        {"INVESTIGATOR", "investigatorId"}, {"ROLES", "roles"}, {"CHANGED", "changedAt"}};
    return evd_ctl_list(ctl, EVD_CTL_PATH_LIST_MEMBERS, NULL, columns, sizeof columns / sizeof *columns);
}

const struct evd_ctl_verb evd_ctl_verb_member_list = {
    .name = "member list",
    .operands = "",
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "List a project's members and their roles.",
    .run = list,
};
