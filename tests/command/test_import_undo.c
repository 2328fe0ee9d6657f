/*
 * Imports undone: what is taken away, what stays because somebody touched it, and what may come after.
 */
#include "../support/behind.h"
#include "../support/imports.h"
#include "../support/scripted_store.h"
#include "../support/typist.h"

/* The step a test waits for; nobody else may call it. */
extern const struct evd_command evd_command_undo_import_batch;

static struct house house;
static struct imports imports;
static unsigned next_id = 100;

static const struct evd_options plain, dry = {.dry_run = true};

static void begin(void) {
    house_open_scripted(&house, 0);
    house_furnish(&house, 1, 2);
    imports_open(&imports, &house);
}

static void end(void) {
    imports_expect_sound(&imports);
    imports_close(&imports);
    house_close(&house);
}

static size_t studies(void) {
    return behind_count(&house, EVD_INDEX_studies, NULL, 0) - 2;
}

static long long count_of(const struct reply *operation, const char *name) {
    return json_integer_value(json_object_get(json_object_get(operation->body, "counts"), name));
}

static void expect(const struct reply *operation, const char *status, long long removed, long long stayed) {
    ck_assert_str_eq(text_of(operation, "status"), status);
    ck_assert_int_eq(count_of(operation, "removed"), removed);
    ck_assert_int_eq(count_of(operation, "stayed"), stayed);
}

/* An import of `count` rows, done. */
static evd_uuid imported(unsigned first, unsigned count) {
    char *csv = imports_csv(first, count);
    struct reply done = imports_do(&imports, next_id++, csv, plain);
    ck_assert_int_eq(count_of(&done, "added"), count);
    evd_uuid id = imports_id(&done, "id");
    reply_done(&done);
    free(csv);
    return id;
}

/* The undo, done. */
static struct reply undone(evd_uuid import) {
    struct reply begun = imports_undo(&imports, house.admin, next_id++, import);
    ck_assert_int_eq(begun.code, EVD_OK);
    evd_uuid undo = imports_id(&begun, "id");
    reply_done(&begun);
    imports_run(&imports);
    return imports_look(&imports, undo);
}

static void refused_with(struct reply reply, const char *code) {
    ck_assert_int_eq(reply.code, EVD_VALIDATION_FAILED);
    const json_t *error = json_array_get(json_object_get(reply.body, "errors"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(error, "code")), code);
    reply_done(&reply);
}

/* The study of the import's n-th row, counted from 0. */
static evd_uuid study_of(evd_uuid import, size_t row) {
    evd_uuid id;
    json_t *rows = imports_rows(&imports, import, "added");
    const char *text = json_string_value(json_object_get(json_array_get(rows, row), "studyId"));
    ck_assert(evd_uuid_parse(evd_text_from(text), &id));
    json_decref(rows);
    return id;
}

static struct evd_ids at(evd_uuid study) {
    return (struct evd_ids){.project = house.project, .study = study};
}

static enum evd_outcome_code seen(evd_uuid study) {
    struct reply reply = ask(&house, &evd_command_get_study, at(study), person(1), command_id(0), NULL);
    enum evd_outcome_code code = reply.code;
    reply_done(&reply);
    return code;
}

static void save_on(evd_uuid study, unsigned who) {
    evd_uuid first = house.study;
    house.study = study;
    char *body = save_body(&house, NULL, 1, 1, "a");
    struct reply reply =
        ask_ok(&house, &evd_command_save, session_ids(&house), person(who), command_id(next_id++), body);
    reply_done(&reply);
    free(body);
    house.study = first;
}

static void autosave_on(evd_uuid study, unsigned who) {
    evd_uuid first = house.study;
    house.study = study;
    struct typist typist = typist_new(&house, who, 1);
    char *content = typed("q1", "typed");
    typist_put_ok(&typist, content);
    free(content);
    house.study = first;
}

START_TEST(an_undo_takes_every_untouched_study_away_and_frees_its_identifiers) {
    begin();
    evd_uuid import = imported(0, 1500), study = study_of(import, 0);
    struct reply undo = undone(import);
    expect(&undo, "succeeded", 1500, 0);
    ck_assert_uint_eq(studies(), 0);
    ck_assert_int_eq(seen(study), EVD_NOT_FOUND);
    ck_assert_uint_eq(behind_count(&house, EVD_INDEX_studies, NULL, 0), 2);
    struct reply shown = imports_look(&imports, import);
    ck_assert_str_eq(text_of(&shown, "undoneBy"), text_of(&undo, "id"));
    ck_assert_str_eq(text_of(&undo, "undoes"), text_of(&shown, "id"));
    ck_assert_int_eq(count_of(&shown, "added"), 1500); /* what it did stays told */
    reply_done(&shown);
    reply_done(&undo);
    end();
}
END_TEST

START_TEST(the_same_file_can_be_imported_again_after_an_undo_and_undone_again) {
    begin();
    for (unsigned round = 0; round < 3; round++) {
        evd_uuid import = imported(0, 10);
        ck_assert_uint_eq(studies(), 10);
        struct reply undo = undone(import);
        expect(&undo, "succeeded", 10, 0);
        ck_assert_uint_eq(studies(), 0);
        reply_done(&undo);
    }
    end();
}
END_TEST

START_TEST(touched_studies_stay_and_are_listed) {
    begin();
    evd_uuid import = imported(0, 5);
    evd_uuid saved = study_of(import, 0), corrected = study_of(import, 1), typed_on = study_of(import, 2);
    save_on(saved, 1);
    struct reply correction = ask_ok(&house, &evd_command_correct_study, at(corrected), house.admin, command_id(1),
                                     "{\"metadataVersion\":0,\"set\":{\"title\":\"Better\"}}");
    autosave_on(typed_on, 1);
    struct reply undo = undone(import);
    expect(&undo, "succeeded", 2, 3);
    ck_assert_uint_eq(studies(), 3);
    json_t *rows = imports_rows(&imports, imports_id(&undo, "id"), NULL);
    ck_assert_uint_eq(json_array_size(rows), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *row = json_array_get(rows, i);
        ck_assert_str_eq(json_string_value(json_object_get(row, "result")), "stayed");
        ck_assert_str_eq(json_string_value(json_object_get(row, "code")), "touched");
        ck_assert_int_eq(json_integer_value(json_object_get(row, "place")), 2 + (int)i);
    }
    ck_assert_int_eq(seen(saved), EVD_OK);
    ck_assert_int_eq(seen(corrected), EVD_OK);
    ck_assert_int_eq(seen(typed_on), EVD_OK);
    struct reply again = imports_do(&imports, next_id++, "title,doi\nT,10.1/0\nT,10.1/4\n", plain);
    ck_assert_int_eq(count_of(&again, "matched"), 1); /* what stayed keeps its identifiers */
    ck_assert_int_eq(count_of(&again, "added"), 1);
    reply_done(&again);
    json_decref(rows);
    reply_done(&undo);
    reply_done(&correction);
    end();
}
END_TEST

/* Autosaves on the study after the step that takes it away has read, and before that step commits. */
static void type_meanwhile(void *self, const struct evd_write *writes, size_t count) {
    evd_uuid *study = self;
    for (size_t i = 0; i < count; i++) {
        if (writes[i].key.in != EVD_IN_STUDY || !evd_uuid_equal(writes[i].key.id, *study)) continue;
        scripted_before_commit(house.script, NULL, NULL);
        autosave_on(*study, 1);
        return;
    }
}

START_TEST(a_first_autosave_that_races_the_undo_keeps_its_study) {
    begin();
    evd_uuid import = imported(0, 3), study = study_of(import, 1);
    scripted_before_commit(house.script, type_meanwhile, &study);
    struct reply undo = undone(import);
    expect(&undo, "succeeded", 2, 1);
    ck_assert_int_eq(seen(study), EVD_OK);
    ck_assert_uint_eq(studies(), 1);
    json_t *rows = imports_rows(&imports, imports_id(&undo, "id"), "stayed");
    ck_assert_uint_eq(json_array_size(rows), 1);
    struct reply again = imports_do(&imports, next_id++, "title,doi\nT,10.1/1\n", plain);
    ck_assert_int_eq(count_of(&again, "matched"), 1); /* it holds its identifier again */
    evd_uuid first = house.study;
    house.study = study;
    struct typist typist = typist_new(&house, 1, 1);
    struct reply draft = typist_read(&typist);
    ck_assert_int_eq(draft.code, EVD_OK);
    house.study = first;
    reply_done(&draft);
    reply_done(&again);
    json_decref(rows);
    reply_done(&undo);
    end();
}
END_TEST

/* Takes the study away after the autosave has read it, and before the autosave commits. */
static void take_away_meanwhile(void *self, const struct evd_write *writes, size_t count) {
    evd_uuid *study = self;
    bool is_autosave = false;
    for (size_t i = 0; i < count; i++)
        is_autosave |= writes[i].key.in == EVD_IN_FORM_SESSION;
    if (!is_autosave) return;
    scripted_before_commit(house.script, NULL, NULL);
    while (evd_driver_step(imports.driver)) {
    }
    ck_assert_int_eq(seen(*study), EVD_NOT_FOUND);
    struct evd_driver_figures figures;
    evd_driver_figures(imports.driver, &figures);
    ck_assert_uint_eq(figures.in_hand, 1); /* its answer waits for this attempt to end */
}

START_TEST(an_autosave_that_began_before_its_study_went_brings_it_back) {
    begin();
    evd_uuid import = imported(0, 3), study = study_of(import, 1);
    struct reply begun = imports_undo(&imports, house.admin, next_id++, import);
    scripted_before_commit(house.script, take_away_meanwhile, &study);
    autosave_on(study, 1);
    imports_run(&imports);
    struct reply undo = imports_look(&imports, imports_id(&begun, "id"));
    expect(&undo, "succeeded", 2, 1);
    ck_assert_int_eq(seen(study), EVD_OK);
    reply_done(&undo);
    reply_done(&begun);
    end();
}
END_TEST

START_TEST(a_study_that_comes_back_leaves_an_identifier_to_whoever_took_it_meanwhile) {
    begin();
    evd_uuid import = imported(0, 3), study = study_of(import, 1);
    scripted_before_commit(house.script, type_meanwhile, &study);
    struct reply begun = imports_undo(&imports, house.admin, next_id++, import);
    ck_assert(imports_step_until(&imports, &evd_command_undo_import_batch));
    ck_assert_int_eq(seen(study), EVD_NOT_FOUND);
    struct evd_ids ids = {.project = house.project};
    struct reply taken = ask_ok(&house, &evd_command_add_studies, ids, house.admin, command_id(next_id++),
                                "{\"studies\":[{\"title\":\"Other\",\"doi\":\"10.1/1\"}]}");
    imports_run(&imports);
    struct reply undo = imports_look(&imports, imports_id(&begun, "id"));
    expect(&undo, "succeeded", 2, 1);
    struct reply back = ask_ok(&house, &evd_command_get_study, at(study), person(1), command_id(0), NULL);
    ck_assert_str_eq(text_of(&back, "title"), "T1");
    ck_assert_ptr_null(json_object_get(back.body, "doi"));
    reply_done(&back);
    reply_done(&undo);
    reply_done(&taken);
    reply_done(&begun);
    end();
}
END_TEST

START_TEST(a_save_that_races_the_undo_keeps_its_study) {
    begin();
    evd_uuid import = imported(0, 3), study = study_of(import, 1);
    struct reply begun = imports_undo(&imports, house.admin, next_id++, import);
    save_on(study, 1);
    imports_run(&imports);
    struct reply undo = imports_look(&imports, imports_id(&begun, "id"));
    expect(&undo, "succeeded", 2, 1);
    ck_assert_int_eq(seen(study), EVD_OK);
    reply_done(&undo);
    reply_done(&begun);
    end();
}
END_TEST

START_TEST(only_what_added_something_can_be_undone_and_only_once) {
    begin();
    evd_uuid running = imports_begin(&imports, 1, &(struct import_file){.content = "title\nT\n"});
    refused_with(imports_undo(&imports, house.admin, 2, running), "notSettled");
    imports_run(&imports);
    struct reply tried = imports_do(&imports, 3, "title\nT\n", dry);
    refused_with(imports_undo(&imports, house.admin, 4, imports_id(&tried, "id")), "nothingToUndo");
    struct reply first = imports_undo(&imports, house.admin, 5, running),
                 other = imports_undo(&imports, house.admin, 5, running);
    ck_assert(other.replayed);
    refused_with(imports_undo(&imports, house.admin, 6, running), "alreadyUndone");
    imports_run(&imports);
    refused_with(imports_undo(&imports, house.admin, 7, running), "alreadyUndone");
    struct reply of_undo = imports_undo(&imports, house.admin, 8, imports_id(&first, "id"));
    struct reply of_none = imports_undo(&imports, house.admin, 9, person(3));
    ck_assert_int_eq(of_undo.code, EVD_NOT_FOUND);
    ck_assert_int_eq(of_none.code, EVD_NOT_FOUND);
    reply_done(&of_none);
    reply_done(&of_undo);
    reply_done(&other);
    reply_done(&first);
    reply_done(&tried);
    end();
}
END_TEST

START_TEST(only_an_administrator_imports_undoes_and_looks) {
    begin();
    evd_uuid import = imported(0, 1);
    struct evd_ids ids = {.project = house.project, .operation = import};
    struct reply replies[] = {imports_ask(&imports, person(1), 1, &(struct import_file){.content = "title\nT\n"}),
                              imports_undo(&imports, person(1), 2, import),
                              ask(&house, &evd_command_get_operation, ids, person(1), command_id(0), NULL),
                              ask(&house, &evd_command_list_operations, ids, person(1), command_id(0), NULL),
                              ask(&house, &evd_command_list_operation_rows, ids, person(1), command_id(0), NULL)};
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        ck_assert_int_eq(replies[i].code, EVD_REFUSED);
        ck_assert_int_eq(replies[i].reason, EVD_REASON_PERMISSION);
        reply_done(&replies[i]);
    }
    end();
}
END_TEST

static void set_roles(unsigned who, const char *roles) {
    char id[EVD_UUID_TEXT_BYTES + 1], *body;
    evd_uuid_format(person(who), id);
    ck_assert_int_gt(asprintf(&body, "{\"investigatorId\":\"%s\",\"roles\":[%s]}", id, roles), 0);
    struct evd_ids ids = {.project = house.project};
    struct reply reply = ask_ok(&house, &evd_command_set_member, ids, house.admin, command_id(next_id++), body);
    reply_done(&reply);
    free(body);
}

START_TEST(a_revoked_administrators_undo_stops_and_somebody_else_undoes_the_rest) {
    begin();
    evd_uuid import = imported(0, 1200);
    set_roles(1, "\"admin\"");
    struct reply begun = imports_undo(&imports, person(1), 1, import);
    ck_assert_int_eq(begun.code, EVD_OK);
    while (studies() == 1200)
        ck_assert(imports_step(&imports));
    set_roles(1, "");
    imports_run(&imports);
    struct reply stopped = imports_look(&imports, imports_id(&begun, "id"));
    expect(&stopped, "refused", 200, 0); /* the last batch, which is the first to go */
    ck_assert_str_eq(text_of(&stopped, "refusal"), "Refused");
    ck_assert_uint_eq(studies(), 1000);
    struct reply rest = undone(import);
    expect(&rest, "succeeded", 1200, 0);
    ck_assert_uint_eq(studies(), 0);
    reply_done(&rest);
    reply_done(&stopped);
    reply_done(&begun);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: import undo", an_undo_takes_every_untouched_study_away_and_frees_its_identifiers,
              the_same_file_can_be_imported_again_after_an_undo_and_undone_again, touched_studies_stay_and_are_listed,
              a_first_autosave_that_races_the_undo_keeps_its_study,
              an_autosave_that_began_before_its_study_went_brings_it_back,
              a_study_that_comes_back_leaves_an_identifier_to_whoever_took_it_meanwhile,
              a_save_that_races_the_undo_keeps_its_study, only_what_added_something_can_be_undone_and_only_once,
              only_an_administrator_imports_undoes_and_looks,
              a_revoked_administrators_undo_stops_and_somebody_else_undoes_the_rest)
