/*
 * Who did what: a study's history, what each version changed, and sessions read by their id. And who may see it.
 */
#include "../support/behind.h"
#include "../support/extraction.h"
#include "../support/paging.h"
#include "../support/typist.h"

#include "evidenced/base/arena.h"
#include "evidenced/records/keys.h"

static struct house house;
static struct extraction form;
static struct evd_arena arena;

static void set_roles(unsigned who, unsigned id, const char *roles) {
    char person_id[EVD_UUID_TEXT_BYTES + 1];
    struct evd_ids ids = {.project = house.project};
    evd_uuid_format(person(who), person_id);
    char *body = json_of("{'investigatorId':'%s','roles':[%s]}", person_id, roles);
    struct reply reply = ask_ok(&house, &evd_command_set_member, ids, house.admin, command_id(id), body);
    reply_done(&reply);
    free(body);
}

static void begin(void) {
    evd_arena_init(&arena, 16 * EVD_MIB);
    house_open(&house, 0);
    house_furnish(&house, 3, 9);
    form = extraction_of_house(&house);
    set_roles(20, 8901, "'reconciler'");
    set_roles(21, 8902, "'observer'");
}

static void end(void) {
    house_close(&house);
    evd_arena_done(&arena);
}

static struct reply history_of(unsigned who) {
    return ask_ok(&house, &evd_command_get_study_history, session_ids(&house), person(who), command_id(0), NULL);
}

static size_t length_of(const struct reply *reply) {
    return json_array_size(json_object_get(reply->body, "items"));
}

static json_t *item(const struct reply *reply, size_t at) {
    return json_array_get(json_object_get(reply->body, "items"), at);
}

static long long number_in(const json_t *object, const char *member) {
    return json_integer_value(json_object_get(object, member));
}

static void person_is(const json_t *row, const char *member, unsigned who) {
    char id[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(person(who), id);
    ck_assert_str_eq(member_of(row, member), id);
}

/* The stamp of a version that was saved, to plant something beside it. */
static evd_stamp stamp_of(const struct reply *receipt) {
    return strtoull(text_of(receipt, "stamp"), NULL, 10);
}

/* An administrator released reviewer `author`'s draft at that instant. */
static void plant_release(unsigned author, evd_stamp stamp, unsigned number) {
    struct evd_draft_event event = {.base.id = evd_made_id("draftEvent", house.project, command_id(number), 0),
                                    .base.stamp = stamp,
                                    .kind = evd_name_of(EVD_DRAFT_RELEASED),
                                    .study = house.study,
                                    .form = house.form,
                                    .author = person(author),
                                    .actor = house.admin,
                                    .command_id = command_id(number),
                                    .answer_count = 4,
                                    .done_at = 1};
    event.session = evd_form_session_id(house.project, house.study, house.form, event.author);
    BEHIND_INSERT(&house, draft_event, &event);
}

/* A study's history. */

START_TEST(a_studys_history_tells_who_did_what_newest_first) {
    begin();
    struct reply saved = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    struct reply done = extraction_ask(&house, &evd_command_complete, form, 1, 2, text_of(&saved, "versionId"),
                                       "'formVersion':1,'answers':[{'question':'q2','value':'b','baseRevision':null}]");
    struct reply gone = extraction_ask(&house, &evd_command_withdraw, form, 1, 3, text_of(&done, "versionId"), "");
    ck_assert_int_eq(gone.code, EVD_OK);
    struct reply history = history_of(1);
    static const struct {
        const char *kind, *state;
        long long seq, answers, changed;
    } expected[] = {
        {"Withdraw", "withdrawn", 3, 2, 0}, {"Complete", "completed", 2, 2, 1}, {"Save", "savedIncomplete", 1, 1, 1}};
    ck_assert_uint_eq(length_of(&history), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *row = item(&history, i);
        ck_assert_str_eq(member_of(row, "kind"), expected[i].kind);
        ck_assert_str_eq(member_of(row, "state"), expected[i].state);
        ck_assert_int_eq(number_in(row, "versionSeq"), expected[i].seq);
        ck_assert_int_eq(number_in(row, "answerCount"), expected[i].answers);
        ck_assert_int_eq(number_in(row, "changedCount"), expected[i].changed);
        ck_assert_int_eq(number_in(row, "formVersion"), 1);
        ck_assert_ptr_null(json_object_get(row, "draftEvent"));
        person_is(row, "actorId", 1);
        person_is(row, "reviewerId", 1);
    }
    ck_assert_str_eq(member_of(item(&history, 0), "versionId"), text_of(&gone, "versionId"));
    ck_assert_str_eq(member_of(item(&history, 0), "stamp"), text_of(&gone, "stamp"));
    ck_assert_str_eq(member_of(item(&history, 0), "sessionId"), text_of(&gone, "sessionId"));
    reply_done(&history);
    reply_done(&gone);
    reply_done(&done);
    reply_done(&saved);
    end();
}
END_TEST

START_TEST(a_reviewer_sees_their_own_history_and_who_may_see_others_all_of_it) {
    begin();
    struct reply one = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    struct reply two = extraction_save(&house, form, 2, 2, NULL, "q1", "b", NULL);
    plant_release(2, stamp_of(&two) + 1, 500);
    static const struct {
        unsigned who;
        size_t entries;
    } expected[] = {{0, 3}, {20, 3}, {1, 1}, {2, 2}, {3, 0}, {21, 0}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct reply history = history_of(expected[i].who);
        ck_assert_msg(length_of(&history) == expected[i].entries, "person %u", expected[i].who);
        ck_assert(json_is_null(json_object_get(history.body, "next")));
        if (expected[i].who == 1) person_is(item(&history, 0), "reviewerId", 1);
        reply_done(&history);
    }
    reply_done(&two);
    reply_done(&one);
    end();
}
END_TEST

START_TEST(what_was_done_to_drafts_stands_between_the_versions_by_its_stamp) {
    begin();
    struct reply one = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    evd_test_clock_advance(&house.clock, 1000);
    struct reply two = extraction_save(&house, form, 2, 2, NULL, "q1", "b", NULL);
    plant_release(1, stamp_of(&one) + 1, 500);
    plant_release(2, stamp_of(&two) + 1, 501);
    struct reply history = history_of(0);
    static const char *const order[] = {"released", NULL, "released", NULL};
    for (size_t i = 0; i < 4; i++) {
        const char *event = member_of(item(&history, i), "draftEvent");
        ck_assert((event == NULL) == (order[i] == NULL));
        ck_assert((member_of(item(&history, i), "kind") == NULL) == (order[i] != NULL));
    }
    const json_t *released = item(&history, 2);
    ck_assert_str_eq(member_of(released, "draftEvent"), "released");
    ck_assert_int_eq(number_in(released, "answerCount"), 4);
    person_is(released, "actorId", 0);
    person_is(released, "reviewerId", 1);
    ck_assert_ptr_null(json_object_get(released, "versionId"));
    reply_done(&history);
    reply_done(&two);
    reply_done(&one);
    end();
}
END_TEST

START_TEST(a_draft_that_is_discarded_leaves_who_did_it_and_how_much_there_was) {
    begin();
    struct typist typist = typist_new(&house, 1, 1);
    char *content = typed("q1", "in vain");
    typist_put_ok(&typist, content);
    struct reply gone = typist_ask(&typist, &evd_command_discard_draft, 1);
    ck_assert_int_eq(gone.code, EVD_OK);
    struct reply history = history_of(1);
    ck_assert_uint_eq(length_of(&history), 1);
    const json_t *row = item(&history, 0);
    ck_assert_str_eq(member_of(row, "draftEvent"), "discarded");
    ck_assert_int_eq(number_in(row, "answerCount"), 1);
    person_is(row, "actorId", 1);
    person_is(row, "reviewerId", 1);
    ck_assert_str_eq(member_of(row, "sessionId"), text_of(&gone, "sessionId"));
    reply_done(&history);
    reply_done(&gone);
    free(content);
    end();
}
END_TEST

/* Equal stamps included: a draft's event writes no Study, so nothing keeps it apart from a version. */
START_TEST(pages_of_a_history_meet_every_entry_once_whatever_their_size) {
    begin();
    char *base = NULL;
    for (unsigned i = 0; i < 7; i++) {
        struct reply saved = extraction_save(&house, form, 1, 1 + i, base, "q1", "a", NULL);
        plant_release(1 + i % 2, stamp_of(&saved) + i % 3, 500 + i);
        free(base);
        base = strdup(text_of(&saved, "versionId"));
        reply_done(&saved);
    }
    for (unsigned who = 0; who < 3; who++)
        for (size_t limit = 1; limit <= 15; limit++) {
            json_t *all = page_through(&house, &evd_command_get_study_history, session_ids(&house), person(who), limit,
                                       "commandId");
            struct reply whole = history_of(who);
            ck_assert_uint_eq(json_array_size(all), who == 0 ? 14 : who == 1 ? 11 : 3);
            for (size_t i = 0; i < json_array_size(all); i++)
                ck_assert(json_equal(json_array_get(all, i), json_object_get(item(&whole, i), "commandId")));
            reply_done(&whole);
            json_decref(all);
        }
    free(base);
    end();
}
END_TEST

START_TEST(the_history_of_a_study_that_is_not_there_is_not_found) {
    begin();
    struct evd_ids ids = session_ids(&house);
    ids.study = person(77);
    struct reply none = ask(&house, &evd_command_get_study_history, ids, house.admin, command_id(0), NULL);
    ck_assert_int_eq(none.code, EVD_NOT_FOUND);
    struct reply stranger =
        ask(&house, &evd_command_get_study_history, session_ids(&house), person(50), command_id(0), NULL);
    ck_assert_int_eq(stranger.code, EVD_NOT_FOUND);
    struct reply odd =
        ask_page(&house, &evd_command_get_study_history, session_ids(&house), house.admin, 5, "00112233");
    ck_assert_int_eq(odd.code, EVD_MALFORMED);
    reply_done(&odd);
    reply_done(&stranger);
    reply_done(&none);
    end();
}
END_TEST

/* What a version changed. */

static struct evd_ids at_version(const struct reply *receipt) {
    struct evd_ids ids = session_ids(&house);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(receipt, "versionId")), &ids.version));
    return ids;
}

static json_t *change_of(const struct reply *reply, const char *question) {
    json_t *changes = json_object_get(reply->body, "changes");
    for (size_t i = 0; i < json_array_size(changes); i++)
        if (strcmp(member_of(json_array_get(changes, i), "question"), question) == 0) return json_array_get(changes, i);
    ck_abort_msg("no change of %s", question);
}

static void change_is(const struct reply *reply, const char *question, const char *before, const char *after) {
    const json_t *change = change_of(reply, question);
    const char *const expected[] = {before, after}, *const members[] = {"before", "after"};
    for (size_t i = 0; i < 2; i++) {
        const json_t *value = json_object_get(change, members[i]);
        ck_assert((expected[i] == NULL) == json_is_null(value));
        if (expected[i] != NULL) ck_assert_str_eq(member_of(value, "value"), expected[i]);
    }
}

START_TEST(the_changes_of_a_version_are_what_was_there_before_and_after_place_by_place) {
    begin();
    struct reply first = extraction_ask(&house, &evd_command_save, form, 1, 1, NULL,
                                        "'formVersion':1,'answers':["
                                        "{'question':'q1','value':'kept','baseRevision':null},"
                                        "{'question':'q2','value':'before','notes':'p. 1','baseRevision':null}]");
    char *members = json_of("'formVersion':1,'withdrawn':[{'question':'q1'}],'answers':["
                            "{'question':'q2','value':'after','baseRevision':'%s'},"
                            "{'question':'q3','value':'new','baseRevision':null}]",
                            member_of(extraction_answer(&first, "q2"), "revision"));
    struct reply second = extraction_ask(&house, &evd_command_save, form, 1, 2, text_of(&first, "versionId"), members);
    ck_assert_int_eq(second.code, EVD_OK);
    struct reply of_first =
        ask_ok(&house, &evd_command_get_session_changes, at_version(&first), person(1), command_id(0), NULL);
    ck_assert(json_is_null(json_object_get(of_first.body, "baseVersionId")));
    ck_assert_uint_eq(json_array_size(json_object_get(of_first.body, "changes")), 2);
    change_is(&of_first, "q1", NULL, "kept");
    change_is(&of_first, "q2", NULL, "before");
    struct reply of_second =
        ask_ok(&house, &evd_command_get_session_changes, at_version(&second), person(1), command_id(0), NULL);
    ck_assert_str_eq(text_of(&of_second, "baseVersionId"), text_of(&first, "versionId"));
    ck_assert_uint_eq(json_array_size(json_object_get(of_second.body, "changes")), 3);
    change_is(&of_second, "q1", "kept", NULL);
    change_is(&of_second, "q2", "before", "after");
    change_is(&of_second, "q3", NULL, "new");
    ck_assert_str_eq(member_of(json_object_get(change_of(&of_second, "q2"), "before"), "notes"), "p. 1");
    ck_assert_str_eq(member_of(json_object_get(change_of(&of_second, "q2"), "after"), "revision"),
                     member_of(extraction_answer(&second, "q2"), "revision"));
    reply_done(&of_second);
    reply_done(&of_first);
    reply_done(&second);
    free(members);
    reply_done(&first);
    end();
}
END_TEST

START_TEST(a_version_that_changed_nothing_has_no_changes) {
    begin();
    struct reply first = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    struct reply second = extraction_save(&house, form, 1, 2, text_of(&first, "versionId"), "q1", "a", NULL);
    struct reply none =
        ask_ok(&house, &evd_command_get_session_changes, at_version(&second), person(1), command_id(0), NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(none.body, "changes")), 0);
    reply_done(&none);
    reply_done(&second);
    reply_done(&first);
    end();
}
END_TEST

START_TEST(changes_whose_records_are_not_whole_are_not_shown) {
    begin();
    struct reply first = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    evd_uuid id;
    ck_assert(evd_uuid_parse(evd_text_from(member_of(extraction_answer(&first, "q1"), "revision")), &id));
    struct evd_annotation_revision *revision = BEHIND_READ(&house, annotation_revision, id, &arena);
    revision->value.text = EVD_TEXT("forged");
    BEHIND_REPLACE(&house, annotation_revision, revision);
    struct reply corrupt =
        ask(&house, &evd_command_get_session_changes, at_version(&first), person(1), command_id(0), NULL);
    ck_assert_int_eq(corrupt.code, EVD_STORE_IS_CORRUPT);
    reply_done(&corrupt);
    reply_done(&first);
    end();
}
END_TEST

/* Sessions by their id. */

static const struct evd_command *const by_id[] = {
    &evd_command_get_session_by_id, &evd_command_list_session_versions_by_id, &evd_command_get_session_version_by_id,
    &evd_command_get_session_changes_by_id};
static const struct evd_command *const own[] = {&evd_command_get_session, &evd_command_list_session_versions,
                                                &evd_command_get_session_version, &evd_command_get_session_changes};
enum { VIEWS = sizeof by_id / sizeof *by_id };

START_TEST(any_session_is_read_by_its_id_by_its_reviewer_and_by_who_may_see_others) {
    begin();
    struct reply saved = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    struct reply theirs = extraction_save(&house, form, 2, 2, NULL, "q1", "b", NULL);
    struct evd_ids path = at_version(&saved), ids = {.project = house.project, .version = path.version};
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&saved, "sessionId")), &ids.session));
    static const unsigned may[] = {1, 0, 20}, may_not[] = {2, 3, 21, 50};
    for (size_t view = 0; view < VIEWS; view++) {
        struct reply as_own = ask_ok(&house, own[view], path, person(1), command_id(0), NULL);
        for (size_t i = 0; i < sizeof may / sizeof *may; i++) {
            struct reply seen = ask_ok(&house, by_id[view], ids, person(may[i]), command_id(0), NULL);
            ck_assert_str_eq(seen.text, as_own.text);
            reply_done(&seen);
        }
        for (size_t i = 0; i < sizeof may_not / sizeof *may_not; i++) {
            struct reply unseen = ask(&house, by_id[view], ids, person(may_not[i]), command_id(0), NULL);
            ck_assert_int_eq(unseen.code, EVD_NOT_FOUND);
            reply_done(&unseen);
        }
        reply_done(&as_own);
    }
    reply_done(&theirs);
    reply_done(&saved);
    end();
}
END_TEST

START_TEST(a_session_whose_pins_or_version_are_lost_is_not_shown_as_if_it_had_none) {
    static const evd_collection lost[] = {EVD_IN_PIN_MAP, EVD_IN_FORM_SESSION_VERSION};
    for (size_t i = 0; i < 2; i++) {
        begin();
        struct reply saved = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
        struct evd_ids ids = at_version(&saved);
        behind_lose(&house, lost[i], ids.version);
        struct reply corrupt = ask(&house, &evd_command_get_session, ids, person(1), command_id(0), NULL);
        ck_assert_int_eq(corrupt.code, EVD_STORE_IS_CORRUPT);
        reply_done(&corrupt);
        for (size_t view = 2; i == 0 && view < VIEWS; view++) {
            corrupt = ask(&house, own[view], ids, person(1), command_id(0), NULL);
            ck_assert_int_eq(corrupt.code, EVD_STORE_IS_CORRUPT);
            reply_done(&corrupt);
        }
        reply_done(&saved);
        end();
    }
}
END_TEST

START_TEST(a_session_tells_whose_it_is_and_of_what) {
    begin();
    struct reply saved = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    struct reply read = extraction_read(&house, form, 1);
    char study[EVD_UUID_TEXT_BYTES + 1], form_id[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(house.study, study);
    evd_uuid_format(house.form, form_id);
    person_is(read.body, "reviewerId", 1);
    ck_assert_str_eq(text_of(&read, "studyId"), study);
    ck_assert_str_eq(text_of(&read, "formId"), form_id);
    reply_done(&read);
    reply_done(&saved);
    end();
}
END_TEST

START_TEST(a_version_is_found_only_under_its_own_session) {
    begin();
    struct reply mine = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    struct reply theirs = extraction_save(&house, form, 2, 2, NULL, "q1", "b", NULL);
    struct evd_ids ids = {.project = house.project};
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&theirs, "versionId")), &ids.version));
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&mine, "sessionId")), &ids.session));
    for (size_t view = 2; view < VIEWS; view++) {
        struct reply none = ask(&house, by_id[view], ids, house.admin, command_id(0), NULL);
        ck_assert_int_eq(none.code, EVD_NOT_FOUND);
        reply_done(&none);
        struct reply through_own = ask(&house, own[view], at_version(&theirs), person(1), command_id(0), NULL);
        ck_assert_int_eq(through_own.code, EVD_NOT_FOUND);
        reply_done(&through_own);
    }
    reply_done(&theirs);
    reply_done(&mine);
    end();
}
END_TEST

START_TEST(who_has_not_worked_on_a_form_has_no_session_there_and_no_versions) {
    begin();
    for (size_t view = 0; view < 2; view++) {
        struct reply none = ask(&house, own[view], session_ids(&house), person(1), command_id(0), NULL);
        ck_assert_int_eq(none.code, EVD_NOT_FOUND);
        reply_done(&none);
    }
    end();
}
END_TEST

EVD_TEST_MAIN("commands: history", a_studys_history_tells_who_did_what_newest_first,
              a_reviewer_sees_their_own_history_and_who_may_see_others_all_of_it,
              what_was_done_to_drafts_stands_between_the_versions_by_its_stamp,
              a_draft_that_is_discarded_leaves_who_did_it_and_how_much_there_was,
              pages_of_a_history_meet_every_entry_once_whatever_their_size,
              the_history_of_a_study_that_is_not_there_is_not_found,
              the_changes_of_a_version_are_what_was_there_before_and_after_place_by_place,
              a_version_that_changed_nothing_has_no_changes, changes_whose_records_are_not_whole_are_not_shown,
              any_session_is_read_by_its_id_by_its_reviewer_and_by_who_may_see_others,
              a_session_whose_pins_or_version_are_lost_is_not_shown_as_if_it_had_none,
              a_session_tells_whose_it_is_and_of_what, a_version_is_found_only_under_its_own_session,
              who_has_not_worked_on_a_form_has_no_session_there_and_no_versions)
