/*
 * Budgets of an operation's steps. They do not grow with the rows of a batch, but for the steps back: those look for
 * sessions on each study, one scan a study.
 */
#include "../support/calls.h"
#include "../support/imports.h"

/* The steps; nobody else may call them. */
extern const struct evd_command evd_command_judge_import_batch, evd_command_apply_import_batch,
    evd_command_report_import_batch, evd_command_undo_import_batch, evd_command_check_taken_back;

static struct house house;
static struct imports imports;

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 1, 2);
    imports_open(&imports, &house);
}

static void end(void) {
    imports_close(&imports);
    house_close(&house);
}

/* The store calls until this step was answered; the driver looks at its operation first. */
static const char *calls_of(const struct evd_command *command) {
    calls_watch(&house);
    ck_assert(imports_step_until(&imports, command));
    return calls_watched(&house);
}

static evd_uuid begun(unsigned id, unsigned first, unsigned rows, struct evd_options options) {
    char *csv = imports_csv(first, rows);
    evd_uuid operation = imports_begin(&imports, id, &(struct import_file){.content = csv, .options = options});
    free(csv);
    while (imports.begun < 1)
        ck_assert(imports_step(&imports));
    imports.begun = 0;
    return operation;
}

static void expect_calls(const char *what, const char *expected) {
    const char *calls = calls_watched(&house);
    ck_assert_msg(strcmp(calls, expected) == 0, "%s:\n%s\ninstead of\n%s", what, calls, expected);
}

static void expect_view(const struct evd_command *command, struct evd_ids ids, const char *expected) {
    calls_watch(&house);
    struct reply reply = ask_ok(&house, command, ids, house.admin, command_id(0), NULL);
    expect_calls(command->name, expected);
    reply_done(&reply);
}

START_TEST(the_store_calls_around_an_operation_and_of_a_correction_are_these) {
    begin();
    struct evd_ids ids = {.project = house.project, .study = house.study};
    calls_watch(&house);
    ids.operation = imports_begin(&imports, 1, &(struct import_file){.content = "title,doi\nA,10.1/i\nB,10.1/j\n"});
    expect_calls("CreateImport", "get membership 1\n"
                                 "get commandLedger 1\n"
                                 "insert commandLedger 1\n"
                                 "insert operation 1\n"
                                 "insert importBatch 1\n"
                                 "insert openOperation 1\n");
    imports_run(&imports);
    expect_view(&evd_command_get_operation, ids, "get membership 1\nget operation 1\n");
    expect_view(&evd_command_list_operations, ids, "get membership 1\nscan operation 1\n");
    expect_view(&evd_command_list_operation_rows, ids,
                "get membership 1\nget operation 1\nget importBatch 1\n"); /* a batch a call, at most eight a page */
    calls_watch(&house);
    struct reply undo = imports_undo(&imports, house.admin, 2, ids.operation);
    expect_calls("UndoImport", "get membership 1\n"
                               "get commandLedger 1\n"
                               "get operation 1\n"
                               "insert commandLedger 1\n"
                               "insert operation 1\n"
                               "insert openOperation 1\n"
                               "replace operation 1\n");
    imports_run(&imports);
    calls_watch(&house);
    struct reply corrected = ask_ok(&house, &evd_command_correct_study, ids, house.admin, command_id(3),
                                    "{\"metadataVersion\":0,\"set\":{\"doi\":\"10.1/c\",\"customId\":\"7\"}}");
    expect_calls("CorrectStudy", "get membership 1\n"
                                 "get commandLedger 1\n"
                                 "get study 1\n"
                                 "get studyIdentity 2\n"
                                 "insert commandLedger 1\n"
                                 "insert studyIdentity 2\n"
                                 "replace study 1\n");
    calls_watch(&house);
    struct reply again = ask_ok(&house, &evd_command_correct_study, ids, house.admin, command_id(4),
                                "{\"metadataVersion\":1,\"set\":{\"doi\":\"10.1/d\"},\"clear\":[\"customId\"]}");
    expect_calls("CorrectStudy again", "get membership 1\n"
                                       "get commandLedger 1\n"
                                       "get study 1\n"
                                       "get studyIdentity 1\n"
                                       "get studyIdentity 2\n" /* what it holds */
                                       "insert commandLedger 1\n"
                                       "insert studyIdentity 1\n"
                                       "replace study 1\n"
                                       "delete studyIdentity 2\n");
    reply_done(&again);
    reply_done(&corrected);
    reply_done(&undo);
    end();
}
END_TEST

START_TEST(the_store_calls_of_each_step_are_these) {
    begin();
    evd_uuid import = begun(1, 0, 2, (struct evd_options){0});
    ck_assert_str_eq(calls_of(&evd_command_judge_import_batch), "get membership 1\n"
                                                                "get operation 1\n"
                                                                "get importBatch 1\n"
                                                                "get openOperation 1\n"
                                                                "get studyIdentity 2\n");
    ck_assert_str_eq(calls_of(&evd_command_apply_import_batch), "get membership 1\n"
                                                                "get commandLedger 1\n"
                                                                "get operation 1\n"
                                                                "get importBatch 1\n"
                                                                "get openOperation 1\n"
                                                                "get studyIdentity 2\n"
                                                                "insert commandLedger 1\n"
                                                                "insert study 2\n"
                                                                "insert studyIdentity 2\n"
                                                                "replace operation 1\n"
                                                                "replace importBatch 1\n"
                                                                "delete openOperation 1\n");
    struct reply undo = imports_undo(&imports, house.admin, 2, import);
    while (imports.begun < 1)
        ck_assert(imports_step(&imports));
    ck_assert_str_eq(calls_of(&evd_command_undo_import_batch), "get membership 1\n"
                                                               "get commandLedger 1\n"
                                                               "get operation 1\n"
                                                               "get importBatch 1\n"
                                                               "get openOperation 1\n"
                                                               "get study 2\n"
                                                               "get studyIdentity 2\n"
                                                               "scan formSession 0\n"
                                                               "scan formSession 0\n"
                                                               "insert commandLedger 1\n"
                                                               "insert importBatch 1\n"
                                                               "replace study 2\n"
                                                               "replace operation 1\n"
                                                               "delete studyIdentity 2\n");
    ck_assert_str_eq(calls_of(&evd_command_check_taken_back), "get commandLedger 1\n"
                                                              "get operation 1\n"
                                                              "get importBatch 1\n"
                                                              "get openOperation 1\n"
                                                              "get study 2\n"
                                                              "scan formSession 0\n"
                                                              "scan formSession 0\n"
                                                              "insert commandLedger 1\n"
                                                              "replace operation 1\n"
                                                              "delete openOperation 1\n");
    imports.begun = 0;
    (void)begun(3, 10, 2, (struct evd_options){.dry_run = true});
    ck_assert(imports_step_until(&imports, &evd_command_judge_import_batch));
    ck_assert_str_eq(calls_of(&evd_command_report_import_batch), "get membership 1\n"
                                                                 "get commandLedger 1\n"
                                                                 "get operation 1\n"
                                                                 "get importBatch 1\n"
                                                                 "get openOperation 1\n"
                                                                 "insert commandLedger 1\n"
                                                                 "replace operation 1\n"
                                                                 "replace importBatch 1\n"
                                                                 "delete openOperation 1\n");
    reply_done(&undo);
    end();
}
END_TEST

START_TEST(the_number_of_store_calls_of_a_step_forward_does_not_grow_with_its_rows) {
    static char few[4096], many[4096];
    begin();
    (void)begun(1, 0, 2, (struct evd_options){.skip_refused = true});
    calls_without_numbers(calls_of(&evd_command_apply_import_batch), few, sizeof few);
    (void)begun(2, 10, 1000, (struct evd_options){.skip_refused = true});
    calls_without_numbers(calls_of(&evd_command_apply_import_batch), many, sizeof many);
    ck_assert_str_eq(few, many);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: import budgets", the_store_calls_around_an_operation_and_of_a_correction_are_these,
              the_store_calls_of_each_step_are_these,
              the_number_of_store_calls_of_a_step_forward_does_not_grow_with_its_rows)
