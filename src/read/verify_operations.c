/*
 * What stands beside the evidence: exposures name versions and revisions that are there; operations have the command
 * that began them, and those that run, and no others, are registered as open.
 */
#include "evidenced/records/keys.h"
#include "read/verify.h"

/* Exposures. */

struct exposure_parts {
    const struct evd_form_session_version *version;
    const struct evd_annotation_revision *revision;
};

enum { EXPOSURES = 200 }; /* each with an answer */

static void exposures_read(struct evd_call *call, struct evd_verification *verification) {
    size_t limit = call->page.limit < EXPOSURES ? call->page.limit : EXPOSURES;
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_exposures_of_session, limit);
    struct exposure_parts *found = page->extra =
        EVD_NEW_ARRAY(evd_call_arena(call), struct exposure_parts, page->count);
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_exposure *exposure = page->records[i];
        EVD_WANT(call, FORM_SESSION_VERSION, exposure->version_id, &found[i].version);
        EVD_WANT(call, ANNOTATION_REVISION, exposure->revision, &found[i].revision);
    }
    evd_reader_fetch(call);
}

static void exposures_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct exposure_parts *found = page->extra;
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_exposure *exposure = page->records[i];
        struct evd_value session = {.kind = EVD_VALUE_UUID, .uuid = exposure->session};
        if (evd_verify_there(call, EVD_CHECK_EXPOSURE, EVD_IN_FORM_SESSION_VERSION, exposure->version_id,
                             found[i].version))
            (void)evd_verify_same(call, EVD_CHECK_EXPOSURE, EVD_IN_EXPOSURE, exposure->base.id,
                                  found[i].version->session, exposure->session);
        (void)evd_verify_there(call, EVD_CHECK_EXPOSURE, EVD_IN_ANNOTATION_REVISION, exposure->revision,
                               found[i].revision);
        evd_verify_pass(verification, &session, 1, exposure->base.id);
        verification->sum.exposures++;
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_exposures = {exposures_read, exposures_judge};

/* Operations. */

struct operation_parts {
    const struct evd_command_ledger *ledger;
    const struct evd_open_operation *open;
};

static void operations_read(struct evd_call *call, struct evd_verification *verification) {
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_operations, call->page.limit);
    struct operation_parts *found = page->extra =
        EVD_NEW_ARRAY(evd_call_arena(call), struct operation_parts, page->count);
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_operation *operation = page->records[i];
        EVD_WANT(call, COMMAND_LEDGER, evd_ledger_id(call->ids.project, operation->command_id), &found[i].ledger);
        EVD_WANT(call, OPEN_OPERATION, operation->base.id, &found[i].open);
    }
    evd_reader_fetch(call);
}

static bool is_running(const struct evd_operation *operation) {
    return operation->status.value == EVD_OPERATION_RUNNING;
}

static void operations_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct operation_parts *found = page->extra;
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_operation *operation = page->records[i];
        struct evd_value requested = {.kind = EVD_VALUE_I64, .i64 = operation->requested_at};
        (void)evd_verify_there(call, EVD_CHECK_LEDGER, EVD_IN_COMMAND_LEDGER,
                               evd_ledger_id(call->ids.project, operation->command_id), found[i].ledger);
        if (is_running(operation) && found[i].open == NULL)
            evd_verify_note(call, EVD_CHECK_OPERATION, EVD_IN_OPERATION, operation->base.id,
                            EVD_TEXT("registered as open while it runs"), EVD_TEXT("not registered"));
        evd_verify_pass(verification, &requested, 1, operation->base.id);
        verification->sum.operations++;
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_operations = {operations_read, operations_judge};

/* The registry of open ones holds those of all projects. */

static void open_read(struct evd_call *call, struct evd_verification *verification) {
    struct evd_verify_page *page = evd_verify_scan(call, verification, EVD_INDEX_open_operations, call->page.limit);
    const struct evd_operation **operations = page->extra =
        EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_operation *, page->count);
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_open_operation *open = page->records[i];
        if (evd_uuid_equal(open->project, call->ids.project))
            EVD_WANT(call, OPERATION, open->operation, &operations[i]);
    }
    evd_reader_fetch(call);
}

static void open_judge(struct evd_call *call, struct evd_verification *verification) {
    const struct evd_verify_page *page = call->state;
    const struct evd_operation *const *operations = page->extra;
    for (size_t i = 0; i < page->count; i++) {
        const struct evd_open_operation *open = page->records[i];
        struct evd_value operation = {.kind = EVD_VALUE_UUID, .uuid = open->operation};
        evd_verify_pass(verification, &operation, 1, open->base.id);
        if (!evd_uuid_equal(open->project, call->ids.project)) continue;
        if (evd_verify_there(call, EVD_CHECK_OPERATION, EVD_IN_OPERATION, open->operation, operations[i]) &&
            !is_running(operations[i]))
            evd_verify_note(call, EVD_CHECK_OPERATION, EVD_IN_OPEN_OPERATION, open->operation,
                            EVD_TEXT("an operation that runs"), EVD_TEXT("one that is settled"));
    }
    evd_verify_page_done(verification, page);
}

const struct evd_verify_part evd_verify_open_operations = {open_read, open_judge};
