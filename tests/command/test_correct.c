/*
 * Corrections of a study's bibliographic fields, and its identifiers moving with it.
 */
#include "../support/behind.h"
#include "../support/scripted_store.h"
#include "../support/typist.h"

static struct house house;
static unsigned next_id = 100;

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 1, 2);
}

static void end(void) {
    house_close(&house);
}

/* JSON with single quotes. To be freed. */
static char *quoted(const char *text) {
    char *copy = strdup(text);
    for (char *at = copy; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    return copy;
}

static struct reply post(const struct evd_command *command, struct evd_ids ids, const char *body) {
    char *text = quoted(body);
    struct reply reply = ask(&house, command, ids, house.admin, command_id(next_id++), text);
    free(text);
    return reply;
}

/* The id of the study that row adds or is matched to. */
static evd_uuid study_of(const char *row) {
    char *body;
    evd_uuid id;
    ck_assert_int_gt(asprintf(&body, "{'studies':[%s]}", row), 0);
    struct reply reply = post(&evd_command_add_studies, (struct evd_ids){.project = house.project}, body);
    ck_assert_int_eq(reply.code, EVD_OK);
    const json_t *first = json_array_get(json_object_get(reply.body, "rows"), 0);
    ck_assert(evd_uuid_parse(evd_text_from(json_string_value(json_object_get(first, "studyId"))), &id));
    reply_done(&reply);
    free(body);
    return id;
}

static struct evd_ids at(evd_uuid study) {
    return (struct evd_ids){.project = house.project, .study = study};
}

static struct reply correct(evd_uuid study, int version, const char *set, const char *clear) {
    char *body;
    ck_assert_int_gt(asprintf(&body, "{'metadataVersion':%d,'set':{%s},'clear':[%s]}", version, set, clear), 0);
    struct reply reply = post(&evd_command_correct_study, at(study), body);
    free(body);
    return reply;
}

static struct reply seen(evd_uuid study) {
    return ask_ok(&house, &evd_command_get_study, at(study), person(1), command_id(0), NULL);
}

static void expect_error(struct reply reply, size_t number, const char *pointer, const char *code) {
    ck_assert_int_eq(reply.code, EVD_VALIDATION_FAILED);
    const json_t *error = json_array_get(json_object_get(reply.body, "errors"), number);
    ck_assert_str_eq(json_string_value(json_object_get(error, "pointer")), pointer);
    ck_assert_str_eq(json_string_value(json_object_get(error, "code")), code);
}

START_TEST(what_is_set_is_set_what_is_cleared_is_gone_and_the_rest_stays) {
    begin();
    evd_uuid study = study_of("{'title':'T','abstract':'A','authors':'B','year':2020,'journal':'J','url':'u'}");
    struct reply reply = correct(study, 0, "'title':'Better','year':2021,'pdfRelativePath':'p'", "'abstract','url'");
    ck_assert_int_eq(reply.code, EVD_OK);
    ck_assert_int_eq(number_of(&reply, "metadataVersion"), 1);
    ck_assert_int_eq(number_of(&reply, "version"), 2);
    struct reply now = seen(study);
    static const char *const members[][2] = {
        {"title", "Better"}, {"authors", "B"}, {"journal", "J"}, {"pdfRelativePath", "p"}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        ck_assert_str_eq(text_of(&now, members[i][0]), members[i][1]);
    ck_assert_int_eq(number_of(&now, "year"), 2021);
    ck_assert_int_eq(number_of(&now, "metadataVersion"), 1);
    ck_assert_ptr_null(json_object_get(now.body, "abstract"));
    ck_assert_ptr_null(json_object_get(now.body, "url"));
    reply_done(&now);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(a_correction_of_what_somebody_else_corrected_meanwhile_is_stale) {
    begin();
    evd_uuid study = study_of("{'title':'T'}");
    struct reply first = correct(study, 0, "'title':'one'", ""), second = correct(study, 0, "'title':'other'", "");
    ck_assert_int_eq(first.code, EVD_OK);
    ck_assert_int_eq(second.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&second, "base"), "metadata");
    ck_assert_int_eq(number_of(&second, "declared"), 0);
    ck_assert_int_eq(number_of(&second, "current"), 1);
    struct reply now = seen(study);
    ck_assert_str_eq(text_of(&now, "title"), "one");
    reply_done(&now);
    reply_done(&second);
    reply_done(&first);
    end();
}
END_TEST

START_TEST(an_identifier_moves_the_old_one_is_free_and_the_new_one_is_held) {
    begin();
    evd_uuid study = study_of("{'title':'T','doi':'10.1/old','pmid':'1'}");
    struct reply reply = correct(study, 0, "'doi':'https://doi.org/10.1/NEW','customId':'7'", "'pmid'");
    ck_assert_int_eq(reply.code, EVD_OK);
    struct reply now = seen(study);
    ck_assert_str_eq(text_of(&now, "doi"), "10.1/new");
    ck_assert_str_eq(text_of(&now, "customId"), "7");
    ck_assert_ptr_null(json_object_get(now.body, "pmid"));
    ck_assert(evd_uuid_equal(study_of("{'doi':'10.1/new'}"), study));
    ck_assert(evd_uuid_equal(study_of("{'customId':'7'}"), study));
    ck_assert(!evd_uuid_equal(study_of("{'doi':'10.1/old'}"), study));
    ck_assert(!evd_uuid_equal(study_of("{'pmid':'1'}"), study));
    reply_done(&now);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(another_spelling_of_its_own_identifier_changes_nothing_about_who_holds_it) {
    begin();
    evd_uuid study = study_of("{'title':'T','doi':'10.1/x'}");
    struct reply reply = correct(study, 0, "'doi':'doi:10.1/X'", "");
    ck_assert_int_eq(reply.code, EVD_OK);
    ck_assert(evd_uuid_equal(study_of("{'doi':'10.1/x'}"), study));
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(an_identifier_that_another_study_holds_is_refused_and_that_study_is_named) {
    char holder[EVD_UUID_TEXT_BYTES + 1];
    begin();
    evd_uuid study = study_of("{'title':'T','doi':'10.1/a'}"), other = study_of("{'title':'O','doi':'10.1/b'}");
    struct reply reply = correct(study, 0, "'title':'New','doi':'10.1/B'", ""), now = seen(study);
    expect_error(reply, 0, "/set/doi", "heldByAnotherStudy");
    evd_uuid_format(other, holder);
    const json_t *error = json_array_get(json_object_get(reply.body, "errors"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(error, "studyId")), holder);
    ck_assert_str_eq(text_of(&now, "title"), "T");
    ck_assert_str_eq(text_of(&now, "doi"), "10.1/a");
    reply_done(&now);
    reply_done(&reply);
    end();
}
END_TEST

static evd_uuid rival;

/* Another study takes the identifier after this correction has read, and before it commits. */
static void take_meanwhile(void *self, const struct evd_write *writes, size_t count) {
    (void)self;
    (void)writes;
    (void)count;
    scripted_before_commit(house.script, NULL, NULL);
    struct reply reply = correct(rival, 0, "'doi':'10.1/both'", "");
    ck_assert_int_eq(reply.code, EVD_OK);
    reply_done(&reply);
}

START_TEST(two_studies_that_are_given_one_identifier_at_once_do_not_both_get_it) {
    house_open_scripted(&house, 0);
    house_furnish(&house, 1, 2);
    evd_uuid study = study_of("{'title':'T','doi':'10.1/a'}");
    rival = study_of("{'title':'R'}");
    scripted_before_commit(house.script, take_meanwhile, NULL);
    struct reply reply = correct(study, 0, "'doi':'10.1/both'", "");
    expect_error(reply, 0, "/set/doi", "heldByAnotherStudy");
    ck_assert(evd_uuid_equal(study_of("{'doi':'10.1/both'}"), rival));
    ck_assert(evd_uuid_equal(study_of("{'doi':'10.1/a'}"), study));
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(all_that_is_wrong_is_named_at_once) {
    begin();
    evd_uuid study = study_of("{'title':'T','year':2020}");
    struct reply reply = correct(study, 0, "'title':' ','doi':'nonsense'", "'year','colour','title'");
    ck_assert_uint_eq(json_array_size(json_object_get(reply.body, "errors")), 4);
    expect_error(reply, 0, "/set/title", "blankValue");
    expect_error(reply, 1, "/clear/1", "unknownMember");
    expect_error(reply, 2, "/clear/2", "setAndCleared");
    expect_error(reply, 3, "/set/doi", "malformedIdentifier");
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(a_study_keeps_a_title_or_an_identifier) {
    begin();
    evd_uuid study = study_of("{'title':'T','doi':'10.1/a'}");
    struct reply nothing = correct(study, 0, "", ""), both = correct(study, 0, "", "'title','doi'"),
                 one = correct(study, 0, "", "'title'");
    expect_error(nothing, 0, "", "empty");
    expect_error(both, 0, "", "neitherTitleNorIdentifier");
    ck_assert_int_eq(one.code, EVD_OK);
    reply_done(&one);
    reply_done(&both);
    reply_done(&nothing);
    end();
}
END_TEST

START_TEST(a_study_that_was_taken_away_again_is_found_by_nobody) {
    struct evd_arena arena;
    begin();
    evd_uuid id = study_of("{'title':'T'}");
    evd_arena_init(&arena, 1 << 20);
    struct evd_study *study = BEHIND_READ(&house, study, id, &arena);
    struct evd_study_removal removal = {.operation = person(8), .at = 1};
    study->removed = &removal;
    study->random_key = 0;
    BEHIND_REPLACE(&house, study, study);
    house.study = id;
    struct evd_ids session = session_ids(&house);
    char *body = save_body(&house, NULL, 1, 1, "a");
    struct typist typist = typist_new(&house, 1, 1);
    char *content = typed("q1", "typed");
    struct reply replies[] = {correct(id, 0, "'title':'N'", ""), typist_put(&typist, content),
                              ask(&house, &evd_command_get_study_history, at(id), person(1), command_id(0), NULL),
                              ask(&house, &evd_command_get_study, at(id), person(1), command_id(0), NULL),
                              ask(&house, &evd_command_save, session, person(1), command_id(1), body)};
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        ck_assert_int_eq(replies[i].code, EVD_NOT_FOUND);
        reply_done(&replies[i]);
    }
    ck_assert_uint_eq(behind_count(&house, EVD_INDEX_studies, NULL, 0), 2);
    free(content);
    free(body);
    evd_arena_done(&arena);
    end();
}
END_TEST

START_TEST(only_an_administrator_corrects) {
    begin();
    struct reply reply = ask(&house, &evd_command_correct_study, at(house.study), person(1), command_id(1),
                             "{\"metadataVersion\":0,\"set\":{\"title\":\"T\"}}");
    ck_assert_int_eq(reply.code, EVD_REFUSED);
    ck_assert_int_eq(reply.reason, EVD_REASON_PERMISSION);
    reply_done(&reply);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: corrections", what_is_set_is_set_what_is_cleared_is_gone_and_the_rest_stays,
              a_correction_of_what_somebody_else_corrected_meanwhile_is_stale,
              an_identifier_moves_the_old_one_is_free_and_the_new_one_is_held,
              another_spelling_of_its_own_identifier_changes_nothing_about_who_holds_it,
              an_identifier_that_another_study_holds_is_refused_and_that_study_is_named,
              two_studies_that_are_given_one_identifier_at_once_do_not_both_get_it, all_that_is_wrong_is_named_at_once,
              a_study_keeps_a_title_or_an_identifier, a_study_that_was_taken_away_again_is_found_by_nobody,
              only_an_administrator_corrects)
