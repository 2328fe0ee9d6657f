#include "evidenced/records/keys.h"

#include <endian.h>

struct number {
    uint64_t big_endian;
};

static struct evd_text number_part(uint64_t number, struct number *storage) {
    storage->big_endian = htobe64(number);
    return (struct evd_text){(const char *)storage, sizeof *storage};
}

static evd_uuid of_two(const char *type, evd_uuid a, evd_uuid b) {
    struct evd_text parts[] = {evd_uuid_part(&a), evd_uuid_part(&b)};
    return evd_uuid_derive(type, parts, 2);
}

static evd_uuid of_two_and_number(const char *type, evd_uuid a, evd_uuid b, uint64_t n) {
    struct number number;
    struct evd_text parts[] = {evd_uuid_part(&a), evd_uuid_part(&b), number_part(n, &number)};
    return evd_uuid_derive(type, parts, 3);
}

static evd_uuid of_one_and_number(const char *type, evd_uuid a, uint64_t n) {
    struct number number;
    struct evd_text parts[] = {evd_uuid_part(&a), number_part(n, &number)};
    return evd_uuid_derive(type, parts, 2);
}

evd_uuid evd_project_id(evd_uuid caller, evd_uuid command_id) {
    return of_two("project", caller, command_id);
}

evd_uuid evd_membership_id(evd_uuid project, evd_uuid investigator) {
    return of_two("membership", project, investigator);
}

evd_uuid evd_own_project_id(evd_uuid investigator, evd_uuid project) {
    return of_two("ownProject", investigator, project);
}

evd_uuid evd_ledger_id(evd_uuid project, evd_uuid command_id) {
    return of_two("commandLedger", project, command_id);
}

evd_uuid evd_made_id(const char *type, evd_uuid project, evd_uuid command_id, uint64_t n) {
    return of_two_and_number(type, project, command_id, n);
}

evd_uuid evd_form_version_id(evd_uuid project, evd_uuid form, int64_t seq) {
    return of_two_and_number("formVersion", project, form, (uint64_t)seq);
}

evd_uuid evd_settings_version_id(evd_uuid project, evd_uuid stage, int64_t seq) {
    return of_two_and_number("settingsVersion", project, stage, (uint64_t)seq);
}

evd_uuid evd_form_session_id(evd_uuid project, evd_uuid study, evd_uuid form, evd_uuid author) {
    struct evd_text parts[] = {evd_uuid_part(&project), evd_uuid_part(&study), evd_uuid_part(&form),
                               evd_uuid_part(&author)};
    return evd_uuid_derive("formSession", parts, 4);
}

evd_uuid evd_session_version_id(evd_uuid session, int64_t seq) {
    return of_one_and_number("formSessionVersion", session, (uint64_t)seq);
}

evd_uuid evd_author_head_id(evd_uuid project, evd_uuid study, evd_uuid author, evd_uuid context) {
    struct evd_text parts[] = {evd_uuid_part(&project), evd_uuid_part(&study), EVD_TEXT("author"),
                               evd_uuid_part(&author), evd_uuid_part(&context)};
    return evd_uuid_derive("annotationHead", parts, 5);
}

evd_uuid evd_revision_id(evd_uuid head, int64_t seq) {
    return of_one_and_number("annotationRevision", head, (uint64_t)seq);
}

evd_uuid evd_draft_copy_id(evd_uuid session, struct evd_text digest) {
    struct evd_text parts[] = {evd_uuid_part(&session), digest};
    return evd_uuid_derive("draftCopy", parts, 2);
}

evd_uuid evd_exposure_id(evd_uuid session_version, evd_uuid revision) {
    return of_two("exposure", session_version, revision);
}

evd_uuid evd_operation_id(evd_uuid project, evd_uuid caller, evd_uuid key) {
    struct evd_text parts[] = {evd_uuid_part(&project), evd_uuid_part(&caller), evd_uuid_part(&key)};
    return evd_uuid_derive("operation", parts, 3);
}

evd_uuid evd_import_batch_id(evd_uuid operation, uint64_t number) {
    return of_one_and_number("importBatch", operation, number);
}

evd_uuid evd_operation_step_id(evd_uuid operation, const char *phase, uint64_t number) {
    return of_one_and_number(phase, operation, number);
}
