/*
 * A project as its members see it, and who they are.
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

static struct evd_outcome get_refuse(struct evd_call *call) {
    const struct get_project *state = call->state;
    return evd_outcome_of(state->project == NULL ? EVD_NOT_FOUND : EVD_OK);
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
    .refuse = get_refuse,
    .derive = get_derive,
};

struct list_members {
    struct evd_page_scan page;
};

static const struct evd_page_order by_investigator = {
    .index = EVD_INDEX_memberships, .count = 1, .kinds = {EVD_VALUE_UUID}};

static struct evd_outcome members_parse(struct evd_call *call) {
    return evd_page_check(call, &by_investigator);
}

static void members_read(struct evd_call *call) {
    struct list_members *state = EVD_CALL_STATE(call, list_members);
    evd_reader_fetch(call);
    state->page = (struct evd_page_scan){.order = &by_investigator, .limit = call->page.limit};
    evd_page_read(call, &state->page);
}

static const struct evd_membership *membership_at(const struct evd_page_scan *page, size_t at) {
    return (const struct evd_membership *)page->records[at];
}

static void members_derive(struct evd_call *call) {
    const struct evd_page_scan *page = &((struct list_members *)call->state)->page;
    struct evd_member_view *items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_member_view, page->count);
    struct evd_text next = {0};
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_membership *membership = membership_at(page, i);
        items[i] = (struct evd_member_view){
            .investigator = membership->investigator, .roles = membership->roles, .changed_at = membership->changed_at};
    }
    if (page->more) {
        struct evd_value last = {.kind = EVD_VALUE_UUID, .uuid = membership_at(page, page->count - 1)->investigator};
        next = evd_page_next(call, page, &last);
    }
    evd_view_page(call, &evd_type_member_page, items, page->count, next);
}

const struct evd_command evd_command_list_members = {
    EVD_VIEW("ListMembers", "/v1/projects/{project}/members", EVD_CAN_SEE_OTHERS),
    .answer = &evd_type_member_page,
    .query = EVD_QUERY_PAGE,
    .parse = members_parse,
    .read = members_read,
    .derive = members_derive,
};
