/*
 * Conformance: a command that breaks a rule of the house dies at its first commit, and says which rule.
 *
 * Each command here breaks one. It runs in a process of its own, on a store of its own.
 */
#include "../../support/house.h"

#include "evidenced/commands/bodies.h"
#include "evidenced/records/keys.h"
#include "evidenced/runtime/reader.h"
#include "evidenced/runtime/writes.h"

#include <sys/wait.h>
#include <unistd.h>

static struct house house;

struct sound {
    const struct evd_study *study;
    const struct evd_form *form;
    const struct evd_stage *stage;
};

static void read_all(struct evd_call *call) {
    struct sound *state = EVD_CALL_STATE(call, sound);
    EVD_WANT(call, STUDY, call->ids.study, &state->study);
    EVD_WANT(call, FORM, call->ids.form, &state->form);
    EVD_WANT(call, STAGE, call->ids.stage, &state->stage);
    evd_reader_fetch(call);
}

static void answer(struct evd_call *call) {
    struct evd_record_receipt receipt = {
        .command_id = call->command_id, .stamp = call->stamp, .id = call->ids.study, .version = 1};
    evd_call_receipt(call, &evd_type_record_receipt, &receipt);
}

static void write_study(struct evd_call *call) {
    const struct sound *state = call->state;
    EVD_REPLACE_RECORD(call, study, EVD_CHANGE(call, study, state->study));
}

static struct evd_form_session *session_of(struct evd_call *call, evd_uuid stage) {
    struct evd_form_session *session = EVD_NEW(evd_call_arena(call), struct evd_form_session);
    session->base.id = evd_form_session_id(call->ids.project, call->ids.study, call->ids.form, call->caller);
    session->study = call->ids.study;
    session->form = call->ids.form;
    session->author = call->caller;
    session->route_stage = stage;
    session->state = evd_name_of(EVD_SESSION_SAVED_INCOMPLETE);
    return session;
}

static void derive_soundly(struct evd_call *call) {
    write_study(call);
    EVD_INSERT_RECORD(call, form_session, session_of(call, call->ids.stage));
    answer(call);
}

/* A record made in the same command may be referred to, and so may one that a replaced record referred to before. */
static void derive_with_its_own(struct evd_call *call) {
    struct evd_form_session *session = session_of(call, call->ids.stage);
    struct evd_session_draft draft = {.base.id = session->base.id, .session = session->base.id, .etag = 1};
    write_study(call);
    EVD_INSERT_RECORD(call, form_session, session);
    EVD_INSERT_RECORD(call, session_draft, &draft);
    answer(call);
}

static void derive_with_an_unread_reference(struct evd_call *call) {
    write_study(call);
    EVD_INSERT_RECORD(call, form_session, session_of(call, house.other_stage));
    answer(call);
}

static void derive_with_an_unread_reference_deep_inside(struct evd_call *call) {
    const struct sound *state = call->state;
    struct evd_study *study = EVD_CHANGE(call, study, state->study);
    struct evd_canonical_summary *summary = EVD_NEW(evd_call_arena(call), struct evd_canonical_summary);
    struct evd_stage_projection *projection = EVD_NEW(evd_call_arena(call), struct evd_stage_projection);
    *projection = (struct evd_stage_projection){.stage = house.other_stage, .form = call->ids.form};
    summary->stages.items = projection;
    summary->stages.count = 1;
    study->summary = summary;
    EVD_REPLACE_RECORD(call, study, study);
    answer(call);
}

static void derive_with_an_unread_reference_in_a_list(struct evd_call *call) {
    const struct sound *state = call->state;
    struct evd_study *study = EVD_CHANGE(call, study, state->study);
    evd_uuid *stages = EVD_NEW_ARRAY(evd_call_arena(call), evd_uuid, 2);
    stages[0] = call->ids.stage;
    stages[1] = house.other_stage;
    study->open_in.items = stages;
    study->open_in.count = 2;
    EVD_REPLACE_RECORD(call, study, study);
    answer(call);
}

static void derive_without_the_study(struct evd_call *call) {
    EVD_INSERT_RECORD(call, form_session, session_of(call, call->ids.stage));
    answer(call);
}

static void derive_with_a_form(struct evd_call *call) {
    const struct sound *state = call->state;
    write_study(call);
    EVD_REPLACE_RECORD(call, form, EVD_CHANGE(call, form, state->form));
    answer(call);
}

static void derive_with_a_stage(struct evd_call *call) {
    const struct sound *state = call->state;
    write_study(call);
    EVD_REPLACE_RECORD(call, stage, EVD_CHANGE(call, stage, state->stage));
    answer(call);
}

static void derive_with_one_record_twice(struct evd_call *call) {
    write_study(call);
    write_study(call);
    answer(call);
}

static void derive_nothing_but_an_answer(struct evd_call *call) {
    answer(call);
}

/* What the rogue commands below say they write. */
static enum evd_write_scope scope = EVD_WRITES_STUDY;

/* The message goes to the parent; the directory belongs to it. */
static _Noreturn void run_in_child(void (*derive)(struct evd_call *call), int out) {
    const struct evd_command command = {.name = "Rogue",
                                        .method = EVD_COMMAND_POST,
                                        .path = "/rogue",
                                        .needs = EVD_CAN_READ,
                                        .commit = EVD_COMMIT_TXN,
                                        .scope = scope,
                                        .answer = &evd_type_record_receipt,
                                        .lanes = scope == EVD_WRITES_STUDY ? evd_lane_of_study : NULL,
                                        .read = read_all,
                                        .derive = derive};
    if (dup2(out, STDERR_FILENO) < 0) _exit(2);
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    struct evd_ids ids = session_ids(&house);
    ids.stage = house.stage;
    struct reply reply = ask(&house, &command, ids, person(1), command_id(1), NULL);
    _exit(reply.code == EVD_OK ? 0 : 1);
}

static int status_of(void (*derive)(struct evd_call *call), char *said, size_t size_bytes) {
    int ends[2], status = 0;
    size_t got = 0;
    ck_assert_int_eq(setenv("TMPDIR", evd_test_directory(), 1), 0);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) run_in_child(derive, ends[1]);
    (void)close(ends[1]);
    for (ssize_t part = 1; part > 0 && got + 1 < size_bytes; got += (size_t)(part > 0 ? part : 0))
        part = read(ends[0], said + got, size_bytes - got - 1);
    said[got] = '\0';
    (void)close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static void expect_sound(void (*derive)(struct evd_call *call)) {
    char said[4096];
    int status = status_of(derive, said, sizeof said);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", said);
}

static void expect_death(void (*derive)(struct evd_call *call), const char *rule) {
    char said[4096];
    int status = status_of(derive, said, sizeof said);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "it lived");
    ck_assert_msg(strstr(said, rule) != NULL, "%s", said);
    ck_assert_ptr_nonnull(strstr(said, "Rogue"));
}

START_TEST(a_command_that_keeps_the_rules_lives) {
    expect_sound(derive_soundly);
    expect_sound(derive_with_its_own);
}
END_TEST

START_TEST(a_command_that_refers_to_a_record_it_did_not_read_dies) {
    expect_death(derive_with_an_unread_reference, "a record refers to one that was not read (form_session)");
    expect_death(derive_with_an_unread_reference_deep_inside, "a record refers to one that was not read (study)");
    expect_death(derive_with_an_unread_reference_in_a_list, "a record refers to one that was not read (study)");
}
END_TEST

START_TEST(a_command_on_a_study_that_does_not_write_it_dies) {
    expect_death(derive_without_the_study, "does not write its Study");
}
END_TEST

START_TEST(an_interactive_command_that_writes_a_form_or_a_stage_dies) {
    expect_death(derive_with_a_form, "writes a per-project or per-form record (form)");
    expect_death(derive_with_a_stage, "writes a per-project or per-form record (stage)");
}
END_TEST

START_TEST(a_command_that_writes_a_record_twice_dies) {
    expect_death(derive_with_one_record_twice, "a record is written twice (study)");
}
END_TEST

START_TEST(a_command_on_exposures_that_writes_anything_else_dies) {
    scope = EVD_WRITES_EXPOSURES;
    expect_sound(derive_nothing_but_an_answer);
    expect_death(derive_soundly, "a command on exposures writes something else (study)");
    expect_death(derive_without_the_study, "a command on exposures writes something else (form_session)");
}
END_TEST

EVD_TEST_MAIN("runtime: conformance", a_command_that_keeps_the_rules_lives,
              a_command_that_refers_to_a_record_it_did_not_read_dies, a_command_on_a_study_that_does_not_write_it_dies,
              an_interactive_command_that_writes_a_form_or_a_stage_dies, a_command_that_writes_a_record_twice_dies,
              a_command_on_exposures_that_writes_anything_else_dies)
