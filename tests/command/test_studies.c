/*
 * Studies in batches: added, matched or refused, all or nothing unless refused rows are to be skipped.
 */
#include "../support/behind.h"
#include "../support/paging.h"

static struct house house;
static unsigned next_id = 100;

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
}

static void end(void) {
    house_close(&house);
}

static struct evd_ids in_project(void) {
    return (struct evd_ids){.project = house.project};
}

/* rows: JSON with single quotes. */
static struct reply add(const char *rows, bool skip) {
    char *body;
    ck_assert_int_gt(asprintf(&body, "{\"studies\":[%s],\"skipRefused\":%s}", rows, skip ? "true" : "false"), 0);
    for (char *at = body; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    struct reply reply = ask(&house, &evd_command_add_studies, in_project(), house.admin, command_id(next_id++), body);
    free(body);
    return reply;
}

static size_t stored_studies(void) {
    return behind_count(&house, EVD_INDEX_studies, NULL, 0);
}

static const char *row_text(const struct reply *reply, size_t row, const char *member) {
    json_t *rows = json_object_get(reply->body, "rows");
    const char *text = json_string_value(json_object_get(json_array_get(rows, row), member));
    return text == NULL ? "" : text;
}

static void expect_counts(const struct reply *reply, long long added, long long matched, long long refused) {
    ck_assert_int_eq(reply->code, EVD_OK);
    ck_assert_int_eq(number_of(reply, "added"), added);
    ck_assert_int_eq(number_of(reply, "matched"), matched);
    ck_assert_int_eq(number_of(reply, "refused"), refused);
}

static void expect_error(const struct reply *reply, size_t at, const char *pointer, const char *code) {
    ck_assert_int_eq(reply->code, EVD_VALIDATION_FAILED);
    json_t *error = json_array_get(json_object_get(reply->body, "errors"), at);
    ck_assert_str_eq(json_string_value(json_object_get(error, "pointer")), pointer);
    ck_assert_str_eq(json_string_value(json_object_get(error, "code")), code);
}

static size_t errors_in(const struct reply *reply) {
    return json_array_size(json_object_get(reply->body, "errors"));
}

START_TEST(a_study_is_added_with_all_it_came_with) {
    begin();
    struct reply reply = add("{'title':'T','abstract':'A','authors':'B','year':2020,'journal':'J','customId':' 007 ',"
                             "'doi':'https://doi.org/10.1000/AbC','pmid':'PMID: 0123','openAlexId':'w99',"
                             "'url':'http://x','pdfRelativePath':'a/b.pdf'}",
                             false);
    expect_counts(&reply, 1, 0, 0);
    ck_assert_str_eq(row_text(&reply, 0, "result"), "added");
    struct evd_ids ids = in_project();
    ck_assert(evd_uuid_parse(evd_text_from(row_text(&reply, 0, "studyId")), &ids.study));
    struct reply seen = ask_ok(&house, &evd_command_get_study, ids, person(1), command_id(0), NULL);
    static const char *const members[][2] = {{"title", "T"},      {"abstract", "A"},
                                             {"authors", "B"},    {"journal", "J"},
                                             {"customId", "007"}, {"doi", "10.1000/abc"},
                                             {"pmid", "123"},     {"openAlexId", "W99"},
                                             {"url", "http://x"}, {"pdfRelativePath", "a/b.pdf"}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        ck_assert_str_eq(text_of(&seen, members[i][0]), members[i][1]);
    ck_assert_int_eq(number_of(&seen, "year"), 2020);
    ck_assert_int_eq(number_of(&seen, "version"), 1);
    reply_done(&seen);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(a_row_that_holds_an_identifier_of_a_study_is_matched_to_it_and_changes_nothing) {
    begin();
    struct reply first = add("{'title':'T','doi':'10.1000/x'}", false);
    static const char *const spellings[] = {"{'title':'Other','doi':'10.1000/X'}", "{'doi':'doi:10.1000/x'}",
                                            "{'doi':'https://dx.doi.org/10.1000/X','pmid':'5'}"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        struct reply again = add(spellings[i], false);
        expect_counts(&again, 0, 1, 0);
        ck_assert_str_eq(row_text(&again, 0, "result"), "matched");
        ck_assert_str_eq(row_text(&again, 0, "studyId"), row_text(&first, 0, "studyId"));
        reply_done(&again);
    }
    struct evd_ids ids = in_project();
    ck_assert(evd_uuid_parse(evd_text_from(row_text(&first, 0, "studyId")), &ids.study));
    struct reply seen = ask_ok(&house, &evd_command_get_study, ids, person(1), command_id(0), NULL);
    ck_assert_str_eq(text_of(&seen, "title"), "T");
    ck_assert_int_eq(number_of(&seen, "version"), 1);
    struct reply free_still = add("{'pmid':'5'}", false); /* what a matched row brought along was not taken */
    expect_counts(&free_still, 1, 0, 0);
    ck_assert_uint_eq(stored_studies(), 2 + 2);
    reply_done(&free_still);
    reply_done(&seen);
    reply_done(&first);
    end();
}
END_TEST

START_TEST(the_same_study_twice_in_one_batch_is_added_once) {
    begin();
    struct reply reply = add("{'title':'A','doi':'10.1/a'},{'title':'B'},{'title':'A again','doi':'10.1/A'},"
                             "{'title':'B'},{'pmid':'7'},{'pmid':'007','customId':'c'}",
                             false);
    expect_counts(&reply, 4, 2, 0);
    ck_assert_str_eq(row_text(&reply, 2, "studyId"), row_text(&reply, 0, "studyId"));
    ck_assert_str_eq(row_text(&reply, 5, "studyId"), row_text(&reply, 4, "studyId"));
    ck_assert_str_ne(row_text(&reply, 1, "studyId"), row_text(&reply, 3, "studyId")); /* titles identify nothing */
    ck_assert_uint_eq(stored_studies(), 2 + 4);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(one_identifier_of_different_kinds_is_not_one) {
    begin();
    struct reply reply = add("{'customId':'77'},{'pmid':'77'}", false);
    expect_counts(&reply, 2, 0, 0);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(a_row_whose_identifiers_belong_to_two_studies_is_refused) {
    begin();
    struct reply two = add("{'doi':'10.1/a'},{'pmid':'1'}", false);
    expect_counts(&two, 2, 0, 0);
    struct reply stored = add("{'title':'fine'},{'doi':'10.1/a','pmid':'1'}", false);
    expect_error(&stored, 0, "/studies/1", "matchesTwoStudies");
    struct reply above = add("{'doi':'10.1/b'},{'doi':'10.1/b','pmid':'1'}", false); /* one of them in this batch */
    expect_error(&above, 0, "/studies/1", "matchesTwoStudies");
    ck_assert_uint_eq(stored_studies(), 2 + 2);
    reply_done(&above);
    reply_done(&stored);
    reply_done(&two);
    end();
}
END_TEST

START_TEST(a_batch_with_refused_rows_adds_nothing_and_names_them_all) {
    begin();
    struct reply reply = add("{'title':'fine'},{'doi':'11.1/x'},{'year':2020},{'title':'T','pmid':'abc'},{'title':' '},"
                             "{'title':'T','openAlexId':'A1'}",
                             false);
    ck_assert_uint_eq(errors_in(&reply), 5);
    expect_error(&reply, 0, "/studies/1/doi", "malformedIdentifier");
    expect_error(&reply, 1, "/studies/2", "neitherTitleNorIdentifier");
    expect_error(&reply, 2, "/studies/3/pmid", "malformedIdentifier");
    expect_error(&reply, 3, "/studies/4", "neitherTitleNorIdentifier");
    expect_error(&reply, 4, "/studies/5/openAlexId", "malformedIdentifier");
    ck_assert_uint_eq(stored_studies(), 2);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(refused_rows_may_be_skipped_and_the_others_are_added) {
    begin();
    struct reply reply = add("{'title':'fine'},{'doi':'nonsense','pmid':'5'},{'year':1},{'pmid':'5'}", true);
    expect_counts(&reply, 2, 0, 2); /* the identifier of a refused row is free for the next */
    ck_assert_str_eq(row_text(&reply, 1, "result"), "refused");
    ck_assert_str_eq(row_text(&reply, 1, "code"), "malformedIdentifier");
    ck_assert_str_eq(row_text(&reply, 1, "studyId"), "");
    ck_assert_str_eq(row_text(&reply, 2, "code"), "neitherTitleNorIdentifier");
    ck_assert_uint_eq(stored_studies(), 2 + 2);
    struct reply nothing = add("{'year':1}", true);
    expect_counts(&nothing, 0, 0, 1);
    reply_done(&nothing);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(an_empty_batch_is_refused) {
    begin();
    struct reply reply = add("", false), skipping = add("", true);
    expect_error(&reply, 0, "/studies", "empty");
    expect_error(&skipping, 0, "/studies", "empty");
    reply_done(&skipping);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(only_an_administrator_adds_studies) {
    begin();
    struct reply reply = ask(&house, &evd_command_add_studies, in_project(), person(1), command_id(1),
                             "{\"studies\":[{\"title\":\"T\"}]}");
    ck_assert_int_eq(reply.code, EVD_REFUSED);
    ck_assert_int_eq(reply.reason, EVD_REASON_PERMISSION);
    reply_done(&reply);
    end();
}
END_TEST

/* As many rows as a batch takes, each with every identifier. */
static char *many_rows(unsigned count) {
    json_t *rows = json_array();
    for (unsigned i = 0; i < count; i++) {
        char custom[20], doi[30], pmid[20], work[20];
        (void)snprintf(custom, sizeof custom, "c%u", i);
        (void)snprintf(doi, sizeof doi, "10.1000/%u", i);
        (void)snprintf(pmid, sizeof pmid, "%u", i + 1);
        (void)snprintf(work, sizeof work, "W%u", i);
        (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s}", "title", custom, "customId", custom,
                                                    "doi", doi, "pmid", pmid, "openAlexId", work));
    }
    json_t *request = json_pack("{s:o}", "studies", rows);
    char *body = json_dumps(request, 0);
    json_decref(request);
    return body;
}

START_TEST(a_batch_takes_1000_rows_and_no_more_and_paging_gives_each_once) {
    begin();
    char *whole = many_rows(EVD_LIMIT_STUDY_BATCH), *beyond = many_rows(EVD_LIMIT_STUDY_BATCH + 1);
    struct reply reply = ask(&house, &evd_command_add_studies, in_project(), house.admin, command_id(1), whole);
    expect_counts(&reply, 1000, 0, 0);
    struct reply again = ask(&house, &evd_command_add_studies, in_project(), house.admin, command_id(2), whole);
    expect_counts(&again, 0, 1000, 0);
    struct reply refused = ask(&house, &evd_command_add_studies, in_project(), house.admin, command_id(3), beyond);
    ck_assert_int_eq(refused.code, EVD_MALFORMED);
    static const size_t limits[] = {1, 7, 500};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        json_t *all = page_through(&house, &evd_command_list_studies, in_project(), person(1), limits[i], "id");
        ck_assert_uint_eq(json_array_size(all), 1002);
        json_decref(all);
    }
    reply_done(&refused);
    reply_done(&again);
    reply_done(&reply);
    free(beyond);
    free(whole);
    end();
}
END_TEST

START_TEST(a_replayed_batch_gives_its_first_receipt_and_adds_nothing) {
    begin();
    const char *body = "{\"studies\":[{\"title\":\"T\"},{\"doi\":\"10.1/x\"}]}";
    struct reply first = ask_ok(&house, &evd_command_add_studies, in_project(), house.admin, command_id(1), body);
    struct reply again = ask_ok(&house, &evd_command_add_studies, in_project(), house.admin, command_id(1), body);
    ck_assert(again.replayed);
    ck_assert_str_eq(again.text, first.text);
    ck_assert_uint_eq(stored_studies(), 2 + 2);
    reply_done(&again);
    reply_done(&first);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: studies", a_study_is_added_with_all_it_came_with,
              a_row_that_holds_an_identifier_of_a_study_is_matched_to_it_and_changes_nothing,
              the_same_study_twice_in_one_batch_is_added_once, one_identifier_of_different_kinds_is_not_one,
              a_row_whose_identifiers_belong_to_two_studies_is_refused,
              a_batch_with_refused_rows_adds_nothing_and_names_them_all,
              refused_rows_may_be_skipped_and_the_others_are_added, an_empty_batch_is_refused,
              only_an_administrator_adds_studies, a_batch_takes_1000_rows_and_no_more_and_paging_gives_each_once,
              a_replayed_batch_gives_its_first_receipt_and_adds_nothing)
