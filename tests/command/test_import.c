/*
 * Imports, whole: a file, its operation moved step by step, and what the project then holds.
 */
#include "../support/behind.h"
#include "../support/imports.h"
#include "../support/paging.h"

static struct house house;
static struct imports imports;

static const struct evd_options plain, skipping = {.skip_refused = true}, dry = {.dry_run = true},
                                       dry_skipping = {.dry_run = true, .skip_refused = true};

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 1, 2);
    imports_open(&imports, &house);
}

static void end(void) {
    imports_expect_sound(&imports);
    imports_close(&imports);
    house_close(&house);
}

/* Beside the two the house is furnished with. */
static size_t studies(void) {
    return behind_count(&house, EVD_INDEX_studies, NULL, 0) - 2;
}

static long long count_of(const struct reply *operation, const char *name) {
    return json_integer_value(json_object_get(json_object_get(operation->body, "counts"), name));
}

static void expect(const struct reply *operation, const char *status, long long added, long long matched,
                   long long refused) {
    ck_assert_str_eq(text_of(operation, "status"), status);
    ck_assert_str_eq(text_of(operation, "phase"), "settled");
    ck_assert_int_eq(count_of(operation, "added"), added);
    ck_assert_int_eq(count_of(operation, "matched"), matched);
    ck_assert_int_eq(count_of(operation, "refused"), refused);
}

static size_t open_operations(void) {
    evd_uuid project = house.project;
    house.project = evd_uuid_nil();
    size_t count = behind_count(&house, EVD_INDEX_open_operations, NULL, 0);
    house.project = project;
    return count;
}

START_TEST(an_import_adds_each_row_with_all_it_came_with) {
    begin();
    static const struct evd_text labels[] = {EVD_TEXT_INIT("label_included"), EVD_TEXT_INIT("source")};
    struct evd_options options = {.labels = labels, .label_count = 2};
    struct reply done = imports_do(&imports, 1,
                                   "title,abstract,authors,year,journal,doi,pmid,url,label_included,source\r\n"
                                   "T,A,\"B; C\",2020,J,https://doi.org/10.1/X,007,http://x,1,\r\n"
                                   "Other,,,,,,,,0,hand search\r\n",
                                   options);
    expect(&done, "succeeded", 2, 0, 0);
    ck_assert_uint_eq(studies(), 2);
    evd_uuid operation = imports_id(&done, "id");
    json_t *rows = imports_rows(&imports, operation, "added");
    ck_assert_uint_eq(json_array_size(rows), 2);
    const json_t *first = json_array_get(rows, 0);
    ck_assert_int_eq(json_integer_value(json_object_get(first, "place")), 2);
    struct evd_ids ids = {.project = house.project};
    ck_assert(evd_uuid_parse(evd_text_from(json_string_value(json_object_get(first, "studyId"))), &ids.study));
    struct reply seen = ask_ok(&house, &evd_command_get_study, ids, person(1), command_id(0), NULL);
    static const char *const members[][2] = {{"title", "T"},     {"abstract", "A"}, {"authors", "B; C"},
                                             {"journal", "J"},   {"doi", "10.1/x"}, {"pmid", "7"},
                                             {"url", "http://x"}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        ck_assert_str_eq(text_of(&seen, members[i][0]), members[i][1]);
    const json_t *shown = json_object_get(seen.body, "labels");
    ck_assert_uint_eq(json_array_size(shown), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(shown, 0), "value")), "1");
    ck_assert_uint_eq(open_operations(), 0);
    reply_done(&seen);
    json_decref(rows);
    reply_done(&done);
    end();
}
END_TEST

START_TEST(a_matched_row_is_listed_and_neither_inserted_nor_merged) {
    begin();
    struct reply first = imports_do(&imports, 1, "title,doi\nT,10.1/a\n", plain);
    struct reply again = imports_do(&imports, 2, "title,doi,pmid\nOther,10.1/A,5\nNew,10.1/b,\n", plain);
    expect(&again, "succeeded", 1, 1, 0);
    ck_assert_uint_eq(studies(), 2);
    json_t *rows = imports_rows(&imports, imports_id(&again, "id"), NULL),
           *added = imports_rows(&imports, imports_id(&first, "id"), "added");
    ck_assert_uint_eq(json_array_size(rows), 1);
    const json_t *matched = json_array_get(rows, 0);
    ck_assert_str_eq(json_string_value(json_object_get(matched, "result")), "matched");
    ck_assert_str_eq(json_string_value(json_object_get(matched, "studyId")),
                     json_string_value(json_object_get(json_array_get(added, 0), "studyId")));
    json_decref(added);
    json_decref(rows);
    reply_done(&again);
    reply_done(&first);
    end();
}
END_TEST

START_TEST(the_same_study_twice_in_one_file_is_added_once_also_across_batches) {
    begin();
    char *csv = imports_csv(0, 1500), *twice;
    ck_assert_int_gt(asprintf(&twice, "%sAgain,10.1/3\n", csv), 0);
    struct reply wet = imports_do(&imports, 1, twice, plain);
    expect(&wet, "succeeded", 1500, 1, 0);
    reply_done(&wet);
    free(twice);
    free(csv);
    end();
}
END_TEST

START_TEST(row_999_of_1000_bad_nothing_imported_the_row_named) {
    begin();
    char *csv = imports_csv(0, 1000), *bad = strstr(csv, "10.1/997"); /* the 998th row of data, the 999th of the file */
    ck_assert_ptr_nonnull(bad);
    memcpy(bad, "nonsense", 8);
    struct import_file file = {.content = csv};
    struct reply refused = imports_ask(&imports, house.admin, 1, &file);
    ck_assert_int_eq(refused.code, EVD_VALIDATION_FAILED);
    const json_t *errors = json_object_get(refused.body, "errors");
    ck_assert_uint_eq(json_array_size(errors), 1);
    const json_t *error = json_array_get(errors, 0);
    ck_assert_str_eq(json_string_value(json_object_get(error, "code")), "malformedIdentifier");
    ck_assert_int_eq(json_integer_value(json_object_get(error, "row")), 999);
    ck_assert_str_eq(json_string_value(json_object_get(error, "column")), "doi");
    imports_run(&imports);
    ck_assert_uint_eq(studies(), 0);
    ck_assert_uint_eq(behind_count(&house, EVD_INDEX_operations, NULL, 0), 0);
    reply_done(&refused);
    free(csv);
    end();
}
END_TEST

START_TEST(refused_rows_are_left_out_and_listed_when_asked_for) {
    begin();
    struct reply done =
        imports_do(&imports, 1, "title,doi,year\nT,nonsense,\nU,10.1/u,\n,,2020\nV,,soon\n,10.1/w,2020\n", skipping);
    expect(&done, "succeeded", 2, 0, 3);
    json_t *rows = imports_rows(&imports, imports_id(&done, "id"), NULL);
    static const char *const codes[] = {"malformedIdentifier", "neitherTitleNorIdentifier", "malformedYear"};
    static const int places[] = {2, 4, 5};
    ck_assert_uint_eq(json_array_size(rows), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *row = json_array_get(rows, i);
        ck_assert_str_eq(json_string_value(json_object_get(row, "code")), codes[i]);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "place")), places[i]);
        ck_assert_ptr_nonnull(json_string_value(json_object_get(row, "sentence")));
    }
    ck_assert_uint_eq(studies(), 2);
    json_decref(rows);
    reply_done(&done);
    end();
}
END_TEST

START_TEST(empty_rows_in_the_middle_are_reported_and_those_at_the_end_are_not) {
    begin();
    struct reply done = imports_do(&imports, 1, "title\nA\n\n \nB\n\n\n", plain);
    expect(&done, "succeeded", 2, 0, 0);
    json_t *rows = imports_rows(&imports, imports_id(&done, "id"), NULL);
    ck_assert_uint_eq(json_array_size(rows), 1);
    const json_t *row = json_array_get(rows, 0);
    ck_assert_str_eq(json_string_value(json_object_get(row, "result")), "empty");
    ck_assert_int_eq(json_integer_value(json_object_get(row, "place")), 3);
    ck_assert_int_eq(json_integer_value(json_object_get(row, "lastPlace")), 4);
    json_decref(rows);
    reply_done(&done);
    end();
}
END_TEST

/* Two studies, and a file with a row that holds an identifier of each. */
static const char two_studies[] = "title,doi,pmid\nA,10.1/a,\nB,,1\n",
                  hits_both[] = "title,doi,pmid\nN,10.1/n,\nC,10.1/a,1\n";

START_TEST(a_row_that_hits_two_studies_refuses_the_whole_import_and_is_named) {
    begin();
    struct reply first = imports_do(&imports, 1, two_studies, plain), done = imports_do(&imports, 2, hits_both, plain);
    expect(&done, "refused", 0, 0, 1);
    ck_assert_str_eq(text_of(&done, "refusal"), "ValidationFailed");
    ck_assert_uint_eq(studies(), 2);
    json_t *rows = imports_rows(&imports, imports_id(&done, "id"), NULL);
    ck_assert_uint_eq(json_array_size(rows), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 0), "code")), "matchesTwoStudies");
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, 0), "place")), 3);
    struct reply free_still = imports_do(&imports, 3, "title,doi\nN,10.1/n\n", plain);
    expect(&free_still, "succeeded", 1, 0, 0);
    reply_done(&free_still);
    json_decref(rows);
    reply_done(&done);
    reply_done(&first);
    end();
}
END_TEST

START_TEST(a_row_that_hits_two_studies_is_left_out_when_asked_for) {
    begin();
    struct reply first = imports_do(&imports, 1, two_studies, plain),
                 done = imports_do(&imports, 2, hits_both, skipping);
    expect(&done, "succeeded", 1, 0, 1);
    ck_assert_uint_eq(studies(), 3);
    reply_done(&done);
    reply_done(&first);
    end();
}
END_TEST

START_TEST(a_dry_run_writes_no_study_and_tells_what_would_become_of_each_row) {
    begin();
    struct reply first = imports_do(&imports, 1, two_studies, plain);
    struct reply refused = imports_do(&imports, 2, hits_both, dry),
                 told = imports_do(&imports, 3, hits_both, dry_skipping);
    expect(&refused, "refused", 1, 0, 1);
    expect(&told, "succeeded", 1, 0, 1);
    struct reply twice = imports_do(&imports, 4, "title,doi\nX,10.1/x\nX,10.1/X\nA,10.1/a\n", dry);
    expect(&twice, "succeeded", 1, 2, 0);
    ck_assert_uint_eq(studies(), 2);
    json_t *rows = imports_rows(&imports, imports_id(&twice, "id"), "matched");
    ck_assert_ptr_null(json_object_get(json_array_get(rows, 0), "studyId")); /* of the file, so there is none yet */
    ck_assert_ptr_nonnull(json_object_get(json_array_get(rows, 1), "studyId"));
    struct reply wet = imports_do(&imports, 5, "title,doi\nX,10.1/x\n", plain); /* nothing was taken */
    expect(&wet, "succeeded", 1, 0, 0);
    reply_done(&wet);
    json_decref(rows);
    reply_done(&twice);
    reply_done(&told);
    reply_done(&refused);
    reply_done(&first);
    end();
}
END_TEST

START_TEST(a_retried_import_is_the_same_operation_and_makes_nothing_twice) {
    begin();
    char *csv = imports_csv(0, 5000);
    struct import_file file = {.content = csv};
    struct reply first = imports_ask(&imports, house.admin, 1, &file);
    for (unsigned i = 0; i < 3; i++) { /* whoever asked did not wait for the answer */
        (void)imports_step(&imports);
        struct reply again = imports_ask(&imports, house.admin, 1, &file);
        ck_assert(again.replayed);
        ck_assert_str_eq(again.text, first.text);
        reply_done(&again);
    }
    imports_run(&imports);
    struct reply done = imports_look(&imports, imports_id(&first, "id"));
    expect(&done, "succeeded", 5000, 0, 0);
    ck_assert_int_eq(imports.settled, 1);
    struct reply late = imports_ask(&imports, house.admin, 1, &file);
    ck_assert(late.replayed);
    imports_run(&imports);
    json_t *rows = imports_rows(&imports, imports_id(&first, "id"), "added");
    ck_assert_uint_eq(json_array_size(rows), 5000);
    json_decref(rows);
    reply_done(&late);
    reply_done(&done);
    reply_done(&first);
    free(csv);
    end();
}
END_TEST

START_TEST(a_key_used_for_another_file_or_other_options_is_refused) {
    begin();
    (void)imports_begin(&imports, 1, &(struct import_file){.content = "title\nT\n"});
    struct import_file others[] = {{.content = "title\nU\n"},
                                   {.content = "title\nT\n", .options = skipping},
                                   {.content = "title\nT\n", .media = EVD_MEDIA_TSV}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct reply reply = imports_ask(&imports, house.admin, 1, &others[i]);
        ck_assert_int_eq(reply.code, EVD_COMMAND_DIGEST_MISMATCH);
        reply_done(&reply);
    }
    imports_run(&imports);
    end();
}
END_TEST

START_TEST(rows_are_paged_across_batches_each_once_and_in_the_files_order) {
    begin();
    char *csv = imports_csv(0, 1003);
    evd_uuid operation = imports_begin(&imports, 1, &(struct import_file){.content = csv});
    imports_run(&imports);
    struct evd_ids ids = {.project = house.project, .operation = operation};
    static const size_t limits[] = {1, 400, 500};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char *cursor = NULL;
        long long place = 1;
        do {
            struct asked *asked =
                asked_new(&house, &evd_command_list_operation_rows, ids, house.admin, command_id(0), NULL);
            asked_call(asked)->page.limit = limits[i];
            asked_call(asked)->page.result = EVD_TEXT("added");
            if (cursor != NULL) asked_call(asked)->page.cursor = evd_text_from(cursor);
            asked_go(asked);
            struct reply page = asked_end(asked);
            const json_t *items = json_object_get(page.body, "items");
            for (size_t at = 0; at < json_array_size(items); at++)
                ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(items, at), "place")), ++place);
            const char *next = json_string_value(json_object_get(page.body, "next"));
            free(cursor);
            cursor = next == NULL ? NULL : strdup(next);
            reply_done(&page);
        } while (cursor != NULL);
        ck_assert_int_eq(place, 1004);
    }
    free(csv);
    end();
}
END_TEST

START_TEST(operations_are_listed_newest_first) {
    begin();
    evd_uuid ids[3];
    for (unsigned i = 0; i < 3; i++) {
        ids[i] = imports_begin(&imports, 1 + i, &(struct import_file){.content = "title\nT\n"});
        evd_test_clock_advance(&house.clock, 1);
    }
    imports_run(&imports);
    struct evd_ids of_project = {.project = house.project};
    for (size_t limit = 1; limit < 4; limit++) {
        json_t *all = page_through(&house, &evd_command_list_operations, of_project, house.admin, limit, "id");
        ck_assert_uint_eq(json_array_size(all), 3);
        for (size_t i = 0; i < 3; i++) {
            char id[EVD_UUID_TEXT_BYTES + 1];
            evd_uuid_format(ids[2 - i], id);
            ck_assert_str_eq(json_string_value(json_array_get(all, i)), id);
        }
        json_decref(all);
    }
    end();
}
END_TEST

EVD_TEST_MAIN("commands: import", an_import_adds_each_row_with_all_it_came_with,
              a_matched_row_is_listed_and_neither_inserted_nor_merged,
              the_same_study_twice_in_one_file_is_added_once_also_across_batches,
              row_999_of_1000_bad_nothing_imported_the_row_named, refused_rows_are_left_out_and_listed_when_asked_for,
              empty_rows_in_the_middle_are_reported_and_those_at_the_end_are_not,
              a_row_that_hits_two_studies_refuses_the_whole_import_and_is_named,
              a_row_that_hits_two_studies_is_left_out_when_asked_for,
              a_dry_run_writes_no_study_and_tells_what_would_become_of_each_row,
              a_retried_import_is_the_same_operation_and_makes_nothing_twice,
              a_key_used_for_another_file_or_other_options_is_refused,
              rows_are_paged_across_batches_each_once_and_in_the_files_order, operations_are_listed_newest_first)
