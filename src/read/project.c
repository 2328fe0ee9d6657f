/*
 * The projects a person works in; one of them as its members see it, and who they are.
 */
#include "read/support.h"

struct get_project {
    const struct evd_project *project;
};

static void get_read(struct evd_call *call) {
    struct get_project *state = EVD_CALL_STATE(call, get_project);
    EVD_WANT(call, PROJECT, call->ids.project, &state->project);
    evd_reader_fetch(call);
}

static void get_derive(struct evd_call *call) {
    const struct evd_project *project = ((struct get_project *)call->state)->project;
    struct evd_project_view view = {.id = project->base.id,
                                    .name = project->name,
                                    .version = project->base.version,
                                    .created_at = project->created_at};
    if (call->membership != NULL) view.roles = call->membership->roles;
    evd_call_receipt(call, &evd_type_project_view, &view);
}

const struct evd_command evd_command_get_project = {
    EVD_VIEW("GetProject", "/v1/projects/{project}", EVD_CAN_READ),
    .answer = &evd_type_project_view,
    .read = get_read,
    .refuse = evd_view_refuse_missing,
    .derive = get_derive,
};

/* One's own projects, by name; for the operator all there are. From records outside them, written with memberships. */

static void show_own(struct evd_call *call, const struct evd_record *record, size_t at, void *ret_item) {
    const struct evd_own_project *own = (const struct evd_own_project *)record;
    (void)call;
    (void)at;
    *(struct evd_project_row *)ret_item =
        (struct evd_project_row){.id = own->project, .name = own->name, .roles = own->roles};
}

static void show_known(struct evd_call *call, const struct evd_record *record, size_t at, void *ret_item) {
    const struct evd_known_project *known = (const struct evd_known_project *)record;
    (void)call;
    (void)at;
    *(struct evd_project_row *)ret_item = (struct evd_project_row){.id = known->project, .name = known->name};
}

static const struct evd_list_view own_projects = {
    .index = EVD_INDEX_own_projects, .fixed = 1, .answer = &evd_type_project_page, .show = show_own};
static const struct evd_list_view known_projects = {
    .index = EVD_INDEX_known_projects, .answer = &evd_type_project_page, .show = show_known};

static const struct evd_list_view *projects_of(const struct evd_call *call) {
    return call->is_operator ? &known_projects : &own_projects;
}

static struct evd_outcome projects_parse(struct evd_call *call) {
    return evd_list_check(call, projects_of(call));
}

static void projects_read(struct evd_call *call) {
    struct evd_value caller = {.kind = EVD_VALUE_UUID, .uuid = call->caller};
    evd_reader_fetch(call);
    evd_list_read(call, projects_of(call), &caller, 0, EVD_CALL_STATE(call, evd_page_scan));
}

static void projects_derive(struct evd_call *call) {
    evd_list_answer(call, projects_of(call), call->state);
}

const struct evd_command evd_command_list_projects = {
    EVD_VIEW("ListProjects", "/v1/projects", EVD_CAN_NOTHING),
    .outside = true,
    .answer = &evd_type_project_page,
    .query = EVD_QUERY_PAGE,
    .parse = projects_parse,
    .read = projects_read,
    .derive = projects_derive,
};

static void show_member(struct evd_call *call, const struct evd_record *record, size_t at, void *ret_item) {
    const struct evd_membership *membership = (const struct evd_membership *)record;
    (void)call;
    (void)at;
    *(struct evd_member_view *)ret_item = (struct evd_member_view){
        .investigator = membership->investigator, .roles = membership->roles, .changed_at = membership->changed_at};
}

static const struct evd_list_view members = {
    .index = EVD_INDEX_memberships, .answer = &evd_type_member_page, .show = show_member};

static struct evd_outcome members_parse(struct evd_call *call) {
    return evd_list_check(call, &members);
}

static void members_read(struct evd_call *call) {
    evd_reader_fetch(call);
    evd_list_read(call, &members, NULL, 0, EVD_CALL_STATE(call, evd_page_scan));
}

static void members_derive(struct evd_call *call) {
    evd_list_answer(call, &members, call->state);
}

const struct evd_command evd_command_list_members = {
    EVD_VIEW("ListMembers", "/v1/projects/{project}/members", EVD_CAN_SEE_OTHERS),
    .answer = &evd_type_member_page,
    .query = EVD_QUERY_PAGE,
    .parse = members_parse,
    .read = members_read,
    .derive = members_derive,
};
