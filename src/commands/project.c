/*
 * Projects and who works in them.
 */
#include "commands/support.h"
#include "evidenced/records/keys.h"

/* Create a project: whoever may, becomes its administrator. */

static struct evd_outcome create_parse(struct evd_call *call) {
    call->ids.project = evd_project_id(call->caller, call->command_id);
    return evd_ok();
}

static struct evd_outcome create_refuse(struct evd_call *call) {
    const struct evd_create_project_request *request = call->request;
    if (!call->may_create_projects)
        return evd_refused(EVD_REASON_PERMISSION,
                           EVD_TEXT("Creating projects needs the scope evidenced:create-project."));
    if (evd_text_is_blank(request->name)) return evd_invalid(call, "/name", EVD_ERROR_BLANK);
    return evd_ok();
}

static struct evd_membership *membership_new(struct evd_call *call, evd_uuid investigator, struct evd_texts roles) {
    struct evd_membership *membership = EVD_NEW(evd_call_arena(call), struct evd_membership);
    membership->base.id = evd_membership_id(call->ids.project, investigator);
    membership->investigator = investigator;
    membership->roles = roles;
    membership->changed_by = call->caller;
    membership->changed_at = call->now_ms;
    return membership;
}

/* Outside the project, so that its members and the operator find it. */
static struct evd_own_project own_project_of(const struct evd_membership *membership,
                                             const struct evd_project *project) {
    return (struct evd_own_project){.base.id = evd_own_project_id(membership->investigator, project->base.id),
                                    .investigator = membership->investigator,
                                    .project = project->base.id,
                                    .name = project->name,
                                    .roles = membership->roles};
}

static void create_derive(struct evd_call *call) {
    static struct evd_text admin[] = {EVD_TEXT_INIT("admin")};
    const struct evd_create_project_request *request = call->request;
    struct evd_project *project = EVD_NEW(evd_call_arena(call), struct evd_project);
    project->base.id = call->ids.project;
    project->name = request->name;
    project->created_by = call->caller;
    project->created_at = call->now_ms;
    project->enrolled = true;
    EVD_INSERT_RECORD(call, project, project);
    struct evd_membership *membership = membership_new(call, call->caller, (struct evd_texts){admin, 1});
    EVD_INSERT_RECORD(call, membership, membership);
    struct evd_known_project known = {.base.id = project->base.id, .project = project->base.id, .name = project->name};
    struct evd_own_project own = own_project_of(membership, project);
    EVD_INSERT_RECORD(call, known_project, &known);
    EVD_INSERT_RECORD(call, own_project, &own);
    evd_receipt_of_record(call, &project->base);
}

const struct evd_command evd_command_create_project = {
    .name = "CreateProject",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects",
    .needs = EVD_CAN_NOTHING,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_DEFINITIONS,
    .makes_project = true,
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_create_project_request,
    .answer = &evd_type_record_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),
    .parse = create_parse,
    .refuse = create_refuse,
    .derive = create_derive,
};

/*
 * Set a person's roles. It writes the project too: two administrators who revoke each other at once must not both
 * succeed, and only the project tells them apart.
 */
struct set_member {
    const struct evd_project *project;
    const struct evd_membership *before;
    const struct evd_own_project *own; /* the person's, of this project */
    const struct evd_membership *const *members;
    size_t member_count;
};

static void set_read(struct evd_call *call) {
    const struct evd_set_member_request *request = call->request;
    struct set_member *state = EVD_CALL_STATE(call, set_member);
    EVD_WANT(call, PROJECT, call->ids.project, &state->project);
    EVD_WANT(call, MEMBERSHIP, evd_membership_id(call->ids.project, request->investigator), &state->before);
    EVD_WANT(call, OWN_PROJECT, evd_own_project_id(request->investigator, call->ids.project), &state->own);
    evd_reader_fetch(call);
    struct evd_scan scan = {.index = EVD_INDEX_memberships, .limit = EVD_LIMIT_PROJECT_MEMBERS + 1};
    evd_reader_scan(call, &scan, &state->members, &state->member_count);
}

static bool other_admin_remains(const struct set_member *state, evd_uuid changed) {
    for (size_t i = 0; i < state->member_count; i++)
        if (!evd_uuid_equal(state->members[i]->investigator, changed) &&
            evd_authority_has(state->members[i], EVD_CAN_ADMINISTER))
            return true;
    return false;
}

static bool grants_admin(const struct evd_set_member_request *request) {
    for (size_t i = 0; i < request->roles.count; i++)
        if (evd_names_find(&evd_names_role, request->roles.items[i]) == EVD_ROLE_ADMIN) return true;
    return false;
}

static struct evd_outcome set_refuse(struct evd_call *call) {
    const struct evd_set_member_request *request = call->request;
    const struct set_member *state = call->state;
    if (state->project == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    for (size_t i = 0; i < request->roles.count; i++)
        if (evd_names_find(&evd_names_role, request->roles.items[i]) == 0)
            return evd_invalid(call, evd_text_print(evd_call_arena(call), "/roles/%zu", i).bytes,
                               EVD_ERROR_UNKNOWN_ROLE);
    if (state->before == NULL && state->member_count >= EVD_LIMIT_PROJECT_MEMBERS)
        return evd_outcome_of(EVD_SIZE_LIMIT_EXCEEDED);
    if (!grants_admin(request) && !other_admin_remains(state, request->investigator))
        return evd_invalid(call, "/roles", EVD_ERROR_LAST_ADMIN);
    return evd_ok();
}

/* The person finds the project as long as they have a role in it. */
static void write_own_project(struct evd_call *call, const struct set_member *state,
                              const struct evd_membership *membership) {
    struct evd_own_project own = own_project_of(membership, state->project);
    bool belongs = membership->roles.count > 0;
    if (state->own == NULL) {
        if (belongs) EVD_INSERT_RECORD(call, own_project, &own);
    } else if (belongs) {
        struct evd_own_project *changed = EVD_CHANGE(call, own_project, state->own);
        changed->roles = membership->roles;
        EVD_REPLACE_RECORD(call, own_project, changed);
    } else {
        EVD_DELETE_RECORD(call, own_project, state->own);
    }
}

static void set_derive(struct evd_call *call) {
    const struct evd_set_member_request *request = call->request;
    const struct set_member *state = call->state;
    struct evd_membership *membership;
    if (state->before == NULL) {
        membership = membership_new(call, request->investigator, request->roles);
        EVD_INSERT_RECORD(call, membership, membership);
    } else {
        membership = EVD_CHANGE(call, membership, state->before);
        membership->roles = request->roles;
        membership->changed_by = call->caller;
        membership->changed_at = call->now_ms;
        EVD_REPLACE_RECORD(call, membership, membership);
    }
    write_own_project(call, state, membership);
    EVD_REPLACE_RECORD(call, project, EVD_CHANGE(call, project, state->project));
    evd_receipt_of_record(call, &membership->base);
}

const struct evd_command evd_command_set_member = {
    .name = "SetMember",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/members",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_DEFINITIONS,
    .operator_may = true,
    .awaits_earlier_attempts = true, /* a revocation holds for every later answer */
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_set_member_request,
    .answer = &evd_type_record_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED) | EVD_OUTCOME_BIT(EVD_SIZE_LIMIT_EXCEEDED),
    .read = set_read,
    .refuse = set_refuse,
    .derive = set_derive,
};
