/*
 * Exports: the same bytes for the same evidence, whole or refused, for whom it is meant, in bounded pieces.
 */
#include "../support/behind.h"
#include "../support/csv_rows.h"
#include "../support/review.h"

#include "evidenced/base/sha256.h"
#include "evidenced/domain/pins.h"
#include "evidenced/records/keys.h"

static struct house house;

enum { PAGE = 100 };

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    review_form(&house, REVIEW_FORM);
}

static void end(void) {
    house_close(&house);
}

static struct evd_ids of_form(void) {
    return (struct evd_ids){.project = house.project, .form = house.form};
}

static struct streamed export(const struct evd_command *command, size_t page) {
    return review_export(&house, command, page);
}

/* The same bytes. */

START_TEST(two_exports_of_an_unchanged_project_are_equal_bytes) {
    begin();
    evd_uuid *studies = review_studies(&house, 7);
    for (size_t i = 0; i < 7; i++)
        for (unsigned who = 1; who < 4; who++)
            (void)review_complete(&house, who, studies[i], "[{'question':'design','value':'rct','notes':'p. 1'}]");
    for (size_t e = 0; e < REVIEW_EXPORTS; e++) {
        struct streamed first = export(review_exports[e], PAGE);
        evd_test_clock_advance(&house.clock, 86400000);
        house_restart(&house);
        struct streamed second = export(review_exports[e], PAGE);
        streamed_equal(&first, &second);
        streamed_done(&first);
        streamed_done(&second);
    }
    free(studies);
    end();
}
END_TEST

static void compare_pages(size_t studies, const size_t *pages, size_t count) {
    begin();
    evd_uuid *ids = review_studies(&house, studies);
    for (size_t i = 0; i < studies; i++)
        if (i % 5 != 4)
            (void)review_complete(&house, 1 + i % 3, ids[i],
                                  "[{'question':'design','value':'obs'},{'question':'outcomes','value':['pain']}]");
    for (size_t e = 0; e < REVIEW_EXPORTS; e++) {
        struct streamed whole = export(review_exports[e], 5000);
        for (size_t p = 0; p < count; p++) {
            struct streamed paged = export(review_exports[e], pages[p]);
            streamed_equal(&whole, &paged);
            ck_assert_uint_ge(paged.pieces, (studies - studies / 5) / pages[p]);
            streamed_done(&paged);
        }
        streamed_done(&whole);
    }
    free(ids);
    end();
}

START_TEST(three_studies_in_pages_give_the_bytes_of_one_page) {
    static const size_t pages[] = {1, 2, 3, 4};
    compare_pages(3, pages, sizeof pages / sizeof *pages);
}
END_TEST

START_TEST(twelve_hundred_studies_in_pages_give_the_bytes_of_one_page) {
    static const size_t pages[] = {7, 100, 960};
    compare_pages(1200, pages, sizeof pages / sizeof *pages);
}
END_TEST

/* What is in them. */

START_TEST(rows_and_columns_are_those_a_second_count_finds) {
    begin();
    evd_uuid *studies = review_studies(&house, 20);
    size_t expected = 0;
    for (size_t i = 0; i < 20; i++)
        for (unsigned who = 1; who <= i % 4; who++, expected++)
            (void)review_complete(&house, who, studies[i], "[{'question':'design','value':'rct'}]");
    struct streamed csv = export(&evd_command_export_answers_csv, 9);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    ck_assert_uint_eq(rows.columns, REVIEW_COLUMNS);
    ck_assert_uint_eq(rows.count, expected + 1);
    for (size_t i = 0; i < REVIEW_COLUMNS; i++)
        ck_assert_str_eq(rows.cells[i], review_header[i]);
    struct streamed ndjson = export(&evd_command_export_answers_ndjson, 9);
    size_t lines = 0;
    for (size_t i = 0; i < ndjson.size_bytes; i++)
        lines += ndjson.bytes[i] == '\n';
    ck_assert_uint_eq(lines, expected);
    csv_rows_done(&rows);
    streamed_done(&ndjson);
    streamed_done(&csv);
    free(studies);
    end();
}
END_TEST

START_TEST(a_row_holds_the_study_the_reviewer_and_a_cell_for_each_answer) {
    begin();
    evd_uuid *studies = review_studies(&house, 1);
    char study[EVD_UUID_TEXT_BYTES + 1], who[EVD_UUID_TEXT_BYTES + 1], id[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid version = review_complete(
        &house, 3, studies[0],
        "[{'question':'design','value':'rct'},{'question':'n','value':-12},{'question':'dose','value':'1.50'},"
        "{'question':'blinded','value':false,'notes':'not said'},{'question':'day','value':'2024-02-29'},"
        "{'question':'outcomes','value':['pain','death']}]");
    struct streamed csv = export(&evd_command_export_answers_csv, PAGE);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    evd_uuid_format(studies[0], study);
    evd_uuid_format(person(3), who);
    evd_uuid_format(version, id);
    const char *const expected[][2] = {{"study/id", study},
                                       {"study/title", "Study 0"},
                                       {"study/authors", "Ay, B; See, D"},
                                       {"study/year", "2000"},
                                       {"study/doi", ""},
                                       {"reviewer/id", who},
                                       {"session/versionId", id},
                                       {"session/formVersion", "1"},
                                       {"element/path", ""},
                                       {"element/parent", ""},
                                       {"element/question", ""},
                                       {"element/id", ""},
                                       {"element/name", ""},
                                       {"design", "rct"},
                                       {"n", "-12"},
                                       {"dose", "1.50"},
                                       {"blinded", "false"},
                                       {"outcomes", "death;pain"},
                                       {"outcomes[death]", "1"},
                                       {"outcomes[stroke]", "0"},
                                       {"outcomes[pain]", "1"},
                                       {"quote", ""},
                                       {"day", "2024-02-29"},
                                       {"answers/notes", "blinded: not said"}};
    ck_assert_uint_eq(rows.count, 2);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_msg(strcmp(csv_cell(&rows, 1, expected[i][0]), expected[i][1]) == 0, "%s: %s", expected[i][0],
                      csv_cell(&rows, 1, expected[i][0]));
    csv_rows_done(&rows);
    streamed_done(&csv);
    free(studies);
    end();
}
END_TEST

START_TEST(a_line_of_ndjson_holds_typed_values_stamps_and_revisions) {
    begin();
    evd_uuid *studies = review_studies(&house, 1);
    (void)review_complete(&house, 3, studies[0],
                          "[{'question':'outcomes','value':['pain','death']},{'question':'n','value':-12},"
                          "{'question':'design','value':'rct','notes':'p. 3'},{'question':'blinded','value':true}]");
    struct streamed ndjson = export(&evd_command_export_answers_ndjson, PAGE);
    json_t *line = json_loads(ndjson.bytes, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(line);
    ck_assert_str_eq(json_string_value(json_object_get(line, "title")), "Study 0");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "formVersion")), 1);
    json_t *answers = json_object_get(line, "answers"), *answer;
    static const char *const order[] = {"design", "n", "blinded", "outcomes"};
    size_t i;
    ck_assert_uint_eq(json_array_size(answers), 4);
    json_array_foreach(answers, i, answer) {
        ck_assert_str_eq(json_string_value(json_object_get(answer, "question")), order[i]);
        ck_assert_str_eq(json_string_value(json_object_get(answer, "stamp")),
                         json_string_value(json_object_get(line, "stamp")));
        ck_assert_uint_eq(json_string_length(json_object_get(answer, "revision")), EVD_UUID_TEXT_BYTES);
        ck_assert_uint_eq(json_array_size(json_object_get(answer, "path")), 0);
    }
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(answers, 1), "value")), -12);
    ck_assert(json_is_true(json_object_get(json_array_get(answers, 2), "value")));
    ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(answers, 3), "value")), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(answers, 0), "notes")), "p. 3");
    json_decref(line);
    streamed_done(&ndjson);
    free(studies);
    end();
}
END_TEST

/* Save, Complete, Save again: a later version takes the place of the one before, and an incomplete one empties it. */
START_TEST(only_the_current_version_of_a_completed_session_is_exported) {
    begin();
    evd_uuid *studies = review_studies(&house, 3);
    evd_uuid first = review_save(&house, &evd_command_save, 1, studies[0], NULL, "[{'question':'n','value':1}]");
    struct streamed saved = export(&evd_command_export_answers_ndjson, PAGE);
    ck_assert_uint_eq(saved.size_bytes, 0);
    evd_uuid second =
        review_save(&house, &evd_command_complete, 1, studies[0], &first, "[{'question':'design','value':'rct'}]");
    evd_uuid completed_by_2 = review_complete(&house, 2, studies[1], "[{'question':'design','value':'obs'}]");
    struct streamed completed = export(&evd_command_export_answers_ndjson, PAGE);
    ck_assert_ptr_nonnull(strstr(completed.bytes, "\"rct\""));
    ck_assert_ptr_nonnull(strstr(completed.bytes, "\"value\":1,"));
    (void)review_save(&house, &evd_command_save, 1, studies[0], &second, "[{'question':'quote','value':'new'}]");
    struct streamed reopened = export(&evd_command_export_answers_ndjson, PAGE);
    ck_assert_ptr_null(strstr(reopened.bytes, "\"rct\""));
    ck_assert_ptr_nonnull(strstr(reopened.bytes, "\"obs\""));
    review_withdraw(&house, 2, studies[1], completed_by_2);
    struct streamed withdrawn = export(&evd_command_export_answers_ndjson, PAGE);
    ck_assert_uint_eq(withdrawn.size_bytes, 0);
    streamed_done(&withdrawn);
    streamed_done(&saved);
    streamed_done(&completed);
    streamed_done(&reopened);
    free(studies);
    end();
}
END_TEST

START_TEST(another_forms_sessions_are_not_exported) {
    begin();
    evd_uuid form = house.form, stage = house.stage;
    evd_uuid *studies = review_studies(&house, 4);
    for (size_t i = 0; i < 4; i++)
        (void)review_complete(&house, 1, studies[i], "[{'question':'design','value':'rct'}]");
    review_form(&house, "[{'id':'other','kind':'text'}]");
    for (size_t i = 0; i < 4; i++)
        (void)review_complete(&house, 1, studies[i], "[{'question':'other','value':'elsewhere'}]");
    evd_uuid other = house.form;
    house.form = form;
    house.stage = stage;
    for (size_t page = 1; page < 4; page++) {
        struct streamed csv = export(&evd_command_export_answers_csv, page);
        struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
        ck_assert_uint_eq(rows.count, 5);
        ck_assert_ptr_null(strstr(csv.bytes, "elsewhere"));
        csv_rows_done(&rows);
        streamed_done(&csv);
    }
    house.form = other;
    struct streamed csv = export(&evd_command_export_answers_csv, PAGE);
    ck_assert_ptr_nonnull(strstr(csv.bytes, "elsewhere"));
    streamed_done(&csv);
    free(studies);
    end();
}
END_TEST

START_TEST(a_removed_study_is_not_exported) {
    begin();
    struct evd_arena arena;
    evd_arena_init(&arena, EVD_MIB);
    evd_uuid *studies = review_studies(&house, 3);
    for (size_t i = 0; i < 3; i++)
        (void)review_complete(&house, 1, studies[i], "[{'question':'design','value':'rct'}]");
    struct evd_study *study = BEHIND_READ(&house, study, studies[1], &arena);
    struct evd_study_removal removal = {.operation = person(77), .at = 1};
    study->removed = &removal;
    study->random_key = 0;
    BEHIND_REPLACE(&house, study, study);
    char id[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(studies[1], id);
    for (size_t e = 0; e < REVIEW_EXPORTS; e++) {
        struct streamed streamed = export(review_exports[e], PAGE);
        ck_assert_ptr_null(strstr(streamed.bytes, id));
        streamed_done(&streamed);
    }
    struct streamed csv = export(&evd_command_export_answers_csv, PAGE);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    ck_assert_uint_eq(rows.count, 3);
    csv_rows_done(&rows);
    streamed_done(&csv);
    evd_arena_done(&arena);
    free(studies);
    end();
}
END_TEST

START_TEST(a_form_that_was_never_published_gives_a_header_alone) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    struct evd_ids ids = {.project = house.project};
    struct reply made = ask_ok(&house, &evd_command_create_form, ids, house.admin, command_id(1),
                               "{\"name\":\"F\",\"capacity\":{\"target\":2},\"questions\":[]}");
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&made, "id")), &house.form));
    struct streamed csv = export(&evd_command_export_answers_csv, PAGE);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_uint_eq(rows.columns, REVIEW_FIXED + 1);
    struct streamed ndjson = export(&evd_command_export_answers_ndjson, PAGE);
    ck_assert_uint_eq(ndjson.size_bytes, 0);
    struct streamed manifest = export(&evd_command_export_manifest, PAGE);
    ck_assert_ptr_nonnull(strstr(manifest.bytes, "\"largestStamp\":null,\"studies\":0,"));
    csv_rows_done(&rows);
    streamed_done(&manifest);
    streamed_done(&ndjson);
    streamed_done(&csv);
    reply_done(&made);
    end();
}
END_TEST

/* Questions of an older version stay, behind those of the newer one. */
START_TEST(questions_of_all_published_versions_have_columns) {
    begin();
    struct evd_arena arena;
    evd_arena_init(&arena, EVD_MIB);
    evd_uuid *studies = review_studies(&house, 1);
    (void)review_complete(&house, 1, studies[0], "[{'question':'design','value':'rct'}]");
    struct evd_form_version *version = BEHIND_READ(&house, form_version, house.form_version, &arena);
    version->base.id = evd_form_version_id(house.project, house.form, 2);
    version->seq = 2;
    version->questions.items[0].id = EVD_TEXT("designs");
    version->questions.count = 2;
    BEHIND_INSERT(&house, form_version, version);
    struct evd_form *form = BEHIND_READ(&house, form, house.form, &arena);
    form->published_seq = 2;
    BEHIND_REPLACE(&house, form, form);
    struct streamed csv = export(&evd_command_export_answers_csv, PAGE);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    ck_assert_uint_eq(rows.columns, REVIEW_COLUMNS + 1);
    ck_assert_str_eq(rows.cells[REVIEW_FIXED], "designs");
    ck_assert_str_eq(rows.cells[REVIEW_FIXED + 1], "n");
    ck_assert_str_eq(rows.cells[REVIEW_FIXED + 2], "design");
    ck_assert_str_eq(rows.cells[rows.columns + REVIEW_FIXED + 2], "rct");
    csv_rows_done(&rows);
    streamed_done(&csv);
    evd_arena_done(&arena);
    free(studies);
    end();
}
END_TEST

/* Who. */

static void expect_refused(unsigned who, enum evd_outcome_code code) {
    for (size_t e = 0; e < REVIEW_EXPORTS; e++) {
        struct streamed streamed = ask_streamed(&house, review_exports[e], of_form(), person(who), PAGE);
        ck_assert_int_eq(streamed.code, code);
        ck_assert_int_eq(streamed.reason, code == EVD_REFUSED ? EVD_REASON_PERMISSION : EVD_NO_REASON);
        ck_assert_uint_eq(streamed.size_bytes, 0);
        streamed_done(&streamed);
    }
}

START_TEST(who_may_not_see_others_answers_may_not_export_them) {
    begin();
    expect_refused(1, EVD_REFUSED);
    review_roles(&house, 2, "['observer','queryReviewer']");
    expect_refused(2, EVD_REFUSED);
    expect_refused(40, EVD_NOT_FOUND);
    review_roles(&house, 2, "['reconciler']");
    struct streamed streamed = ask_streamed(&house, &evd_command_export_answers_csv, of_form(), person(2), PAGE);
    ck_assert_int_eq(streamed.code, EVD_OK);
    streamed_done(&streamed);
    house.form = house.stage;
    struct streamed missing = ask_streamed(&house, &evd_command_export_answers_csv, of_form(), house.admin, PAGE);
    ck_assert_int_eq(missing.code, EVD_NOT_FOUND);
    streamed_done(&missing);
    end();
}
END_TEST

START_TEST(who_is_removed_in_the_middle_gets_no_more) {
    begin();
    evd_uuid *studies = review_studies(&house, 6);
    for (size_t i = 0; i < 6; i++)
        (void)review_complete(&house, 1, studies[i], "[{'question':'design','value':'rct'}]");
    review_roles(&house, 5, "['reconciler']");
    struct streamed streamed = {0};
    struct asked *asked =
        asked_new(&house, &evd_command_export_answers_ndjson, of_form(), person(5), evd_uuid_nil(), NULL);
    asked_call(asked)->page.limit = 2;
    ck_assert(asked_piece(asked, &streamed));
    ck_assert(asked_piece(asked, &streamed));
    size_t before = streamed.size_bytes;
    ck_assert_uint_gt(before, 0);
    review_roles(&house, 5, "[]");
    ck_assert(!asked_piece(asked, &streamed));
    ck_assert_int_eq(streamed.code, EVD_NOT_FOUND);
    ck_assert_uint_eq(streamed.size_bytes, before);
    asked_drop(asked);
    streamed_done(&streamed);
    free(studies);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: exports", two_exports_of_an_unchanged_project_are_equal_bytes,
              three_studies_in_pages_give_the_bytes_of_one_page,
              twelve_hundred_studies_in_pages_give_the_bytes_of_one_page,
              rows_and_columns_are_those_a_second_count_finds,
              a_row_holds_the_study_the_reviewer_and_a_cell_for_each_answer,
              a_line_of_ndjson_holds_typed_values_stamps_and_revisions,
              only_the_current_version_of_a_completed_session_is_exported, another_forms_sessions_are_not_exported,
              a_removed_study_is_not_exported, a_form_that_was_never_published_gives_a_header_alone,
              questions_of_all_published_versions_have_columns, who_may_not_see_others_answers_may_not_export_them,
              who_is_removed_in_the_middle_gets_no_more)
