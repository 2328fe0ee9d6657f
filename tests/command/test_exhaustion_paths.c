/*
 * Memory that runs out on every way through the service: whatever is asked in this day's work is first asked again and
 * again with one allocation failing, the first, the second, … of each of its arenas and of the JSON parser. It is
 * OutOfMemory each time, and nothing is written; then the same call succeeds, and the day goes on.
 */
#include "../support/behind.h"
#include "../support/imports.h"
#include "../support/scripted_store.h"
#include "../support/shared.h"
#include "../support/typist.h"

#include "evidenced/records/json_load.h"

enum { EACH_TIMES = 3, COMMANDS_MOST = 128 };

static struct house house;
static struct shared shared;
static struct imports imports;

/* How often each command of the table was put through it, and what came of it. */
static unsigned times[COMMANDS_MOST];
static unsigned long runs, failures;

enum source { ATTEMPT_ARENA, CALL_ARENA, PARSER, SOURCES };

static int64_t parser_fails_at;

static void *fail_or_malloc(size_t size_bytes) {
    if (parser_fails_at > 0 && --parser_fails_at == 0) return NULL;
    return malloc(size_bytes);
}

static int64_t *counter_of(struct evd_call *call, enum source source) {
    switch (source) {
    case ATTEMPT_ARENA: return &call->attempt_arena.fail_at;
    case CALL_ARENA: return &call->arena->fail_at;
    case PARSER:
    case SOURCES: break;
    }
    return &parser_fails_at;
}

/* Asks the same with that allocation failing, of a view in pieces all of them; false when there was none that far. */
static bool fails_at(struct asked *asked, enum source source, int64_t at) {
    struct asked *twin = asked_twin(asked);
    struct streamed streamed = {0};
    const char *name = asked_call(twin)->command->name;
    unsigned landed = scripted_counts(house.script).landed;
    int64_t *counter = counter_of(asked_call(twin), source);
    *counter = at;
    while (asked_piece(twin, &streamed)) {
    }
    bool failed = *counter == 0, wrote = scripted_counts(house.script).landed > landed;
    parser_fails_at = 0;
    ck_assert_msg((streamed.code == EVD_OUT_OF_MEMORY) == failed, "%s: %s with allocation %lld of %d", name,
                  evd_outcome_entry_of(streamed.code)->name, (long long)at, (int)source);
    ck_assert_msg(!(failed && wrote), "%s wrote without memory", name);
    streamed_done(&streamed);
    asked_drop(twin);
    runs++;
    failures += failed;
    return failed;
}

static size_t number_of_command(const struct evd_command *command) {
    size_t count;
    const struct evd_command *const *table = evd_command_table(&count);
    ck_assert_uint_le(count, COMMANDS_MOST);
    for (size_t i = 0; i < count; i++)
        if (table[i] == command) return i;
    ck_abort_msg("%s is not in the table", command->name);
}

static void exhaust(struct asked *asked) {
    const struct evd_command *command = asked_call(asked)->command;
    if (times[number_of_command(command)]++ >= EACH_TIMES) return;
    evd_json_memory(fail_or_malloc, NULL);
    for (enum source source = ATTEMPT_ARENA; source < SOURCES; source++) {
        for (int64_t at = 1; fails_at(asked, source, at);)
            at++;
    }
    evd_json_memory(NULL, NULL);
}

static void ask_for(const struct evd_command *command, struct evd_ids ids, evd_uuid who, unsigned id,
                    const char *body) {
    struct reply reply = ask_ok(&house, command, ids, who, command_id(id), body);
    reply_done(&reply);
}

static void view(const struct evd_command *command, struct evd_ids ids, evd_uuid who) {
    struct asked *asked = asked_new(&house, command, ids, who, evd_uuid_nil(), NULL);
    struct streamed streamed = {0};
    while (asked_piece(asked, &streamed)) {
    }
    ck_assert_msg(streamed.code == EVD_OK, "%s: %s", command->name, evd_outcome_entry_of(streamed.code)->name);
    streamed_done(&streamed);
    asked_drop(asked);
}

static void set_up(void) {
    house_open_scripted(&house, 0);
    house.before = exhaust;
    house_furnish(&house, 3, 9);
    shared = shared_open(&house);
    struct evd_ids ids = {.project = house.project, .study = house.study, .form = house.form, .stage = house.stage};
    ids.version = house.form_version;
    static const struct evd_command *const views[] = {
        &evd_command_list_projects, &evd_command_get_project,      &evd_command_list_members, &evd_command_list_forms,
        &evd_command_get_form,      &evd_command_get_form_version, &evd_command_list_stages,  &evd_command_get_stage,
        &evd_command_list_studies,  &evd_command_get_study};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        view(views[i], ids, house.admin);
    ids.study = house.other_study;
    ask_for(&evd_command_correct_study, ids, house.admin, 100,
            "{\"metadataVersion\":0,\"set\":{\"title\":\"Better\"}}");
}

/* One more version of reviewer 1's session in the house's form: its id, in place of the one before. */
static void next_version(const struct evd_command *command, unsigned id, char *version, const char *members) {
    struct reply reply = extraction_ask(&house, command, shared.f, 1, id, version, members);
    ck_assert_msg(reply.code == EVD_OK, "%s: %s", command->name, evd_outcome_entry_of(reply.code)->name);
    (void)snprintf(version, EVD_UUID_TEXT_BYTES + 1, "%s", text_of(&reply, "versionId"));
    reply_done(&reply);
}

static void tell_exposures(const char *version) {
    struct reply theirs = extraction_save(&house, shared.f, 2, 110, NULL, "q1", "theirs", NULL);
    char *body = json_of("{'version':'%s','revisions':['%s']}", version,
                         member_of(extraction_answer(&theirs, "q1"), "revision"));
    ask_for(&evd_command_record_exposures, extraction_ids(&house, shared.f), person(1), 111, body);
    free(body);
    reply_done(&theirs);
}

static void look_at_sessions(const char *version) {
    static const struct evd_command *const views[] = {&evd_command_get_session,
                                                      &evd_command_list_session_versions,
                                                      &evd_command_get_session_version,
                                                      &evd_command_get_session_changes,
                                                      &evd_command_get_session_by_id,
                                                      &evd_command_list_session_versions_by_id,
                                                      &evd_command_get_study_history,
                                                      &evd_command_get_session_version_by_id,
                                                      &evd_command_get_session_changes_by_id};
    static const struct evd_command *const wholes[] = {
        &evd_command_export_answers_csv, &evd_command_export_answers_ndjson, &evd_command_export_series_csv,
        &evd_command_export_manifest, &evd_command_verify_project};
    struct evd_ids ids = extraction_ids(&house, shared.f);
    struct reply session = extraction_read(&house, shared.f, 1);
    ids.session = imports_id(&session, "sessionId");
    reply_done(&session);
    ck_assert(evd_uuid_parse(evd_text_from(version), &ids.version));
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        view(views[i], ids, person(1));
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        view(wholes[i], ids, house.admin);
}

static void extract(void) {
    char version[EVD_UUID_TEXT_BYTES + 1];
    shared_change(&house, &shared); /* Saves */
    char *answers = json_of("'answers':[{'question':'q1','revision':'%s'}]", shared.new[0]);
    struct reply fixed = extraction_ask(&house, &evd_command_fix, shared.g, 1, 101, shared.g_version, answers);
    ck_assert_int_eq(fixed.code, EVD_OK);
    reply_done(&fixed);
    free(answers);
    extraction_publish_again(&house, house.form);
    (void)snprintf(version, sizeof version, "%s", shared.f_version);
    next_version(&evd_command_upgrade, 102, version, "'formVersion':2");
    next_version(&evd_command_complete, 103, version, "'formVersion':2,'answers':[]");
    tell_exposures(version);
    look_at_sessions(version);
    next_version(&evd_command_withdraw, 104, version, "");
}

static void put(struct typist *typist, const char *question, const char *value, evd_uuid *ret_copy) {
    char *content = typed(question, value);
    struct reply reply = typist_put(typist, content);
    ck_assert(reply.code == (ret_copy == NULL ? EVD_OK : EVD_DRAFT_LEASE_HELD));
    if (ret_copy != NULL) *ret_copy = imports_id(&reply, "copyId");
    reply_done(&reply);
    free(content);
}

static void on_draft(struct typist *typist, const struct evd_command *command, unsigned id) {
    struct reply reply = typist_ask(typist, command, id);
    ck_assert_msg(reply.code == EVD_OK, "%s: %s", command->name, evd_outcome_entry_of(reply.code)->name);
    reply_done(&reply);
}

static void take_over(struct typist *typist, long long generation) {
    char holder[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(typist->holder, holder);
    char *body = json_of("{'holder':'%s','leaseGeneration':%lld}", holder, generation);
    struct reply reply = ask_ok(&house, &evd_command_take_over_draft, typist->ids, person(3), command_id(122), body);
    typist->etag = number_of(&reply, "etag");
    free(body);
    reply_done(&reply);
}

static void type(void) {
    extraction_publish_again(&house, shared.g.form);
    struct typist left = typist_new(&house, 3, 1), right = typist_new(&house, 3, 2);
    left.ids.form = right.ids.form = shared.g.form;
    left.stage = right.stage = shared.g.stage;
    put(&left, "q1", "mine", NULL);
    char *content = typed("q2", "also mine");
    struct reply patched = typist_patch(&left, content);
    ck_assert_int_eq(patched.code, EVD_OK);
    reply_done(&patched);
    free(content);
    on_draft(&left, &evd_command_renew_draft_lease, 0);
    put(&right, "q1", "theirs", &left.ids.copy);
    ck_assert_uint_eq(typist_copies(&left), 1);
    view(&evd_command_get_draft_copy, left.ids, person(3));
    on_draft(&left, &evd_command_adopt_draft_copy, 120);
    put(&right, "q1", "again", &right.ids.copy);
    ask_for(&evd_command_discard_draft_copy, right.ids, person(3), 121, NULL);
    take_over(&right, left.lease_generation);
    struct reply draft = typist_read(&left);
    struct evd_ids ids = {.project = house.project, .session = imports_id(&draft, "sessionId")};
    reply_done(&draft);
    view(&evd_command_get_draft_lease, ids, house.admin);
    on_draft(&right, &evd_command_discard_draft, 124);
    put(&right, "q1", "once more", NULL);
    ask_for(&evd_command_release_draft, ids, house.admin, 123, NULL);
}

static void import(void) {
    imports_open(&imports, &house);
    char *csv = imports_csv(1, 5);
    struct import_file file = {.content = csv};
    struct evd_ids ids = {.project = house.project};
    ids.operation = imports_begin(&imports, 130, &file);
    imports_run(&imports);
    view(&evd_command_list_operations, ids, house.admin);
    view(&evd_command_get_operation, ids, house.admin);
    view(&evd_command_list_operation_rows, ids, house.admin);
    struct reply undone = imports_undo(&imports, house.admin, 131, ids.operation);
    ck_assert_int_eq(undone.code, EVD_OK);
    reply_done(&undone);
    imports_run(&imports);
    imports_close(&imports);
    free(csv);
}

START_TEST(whatever_is_asked_is_OutOfMemory_at_every_allocation_writes_nothing_and_succeeds_next) {
    size_t count;
    const struct evd_command *const *table = evd_command_table(&count);
    set_up();
    extract();
    type();
    import();
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(times[i] > 0, "%s was not asked", table[i]->name);
    (void)printf("memory: %zu commands, %lu calls, %lu without memory\n", count, runs, failures);
    shared_done(&shared);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: memory that runs out on every path",
              whatever_is_asked_is_OutOfMemory_at_every_allocation_writes_nothing_and_succeeds_next)
