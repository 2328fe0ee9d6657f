/*
 * Save, Complete and Withdraw, from the request to the disk.
 */
#include "../support/behind.h"

static struct house house;

static struct reply save(unsigned who, unsigned id, const char *base, unsigned last, const char *value) {
    char *body = save_body(&house, base, 1, last, value);
    struct reply reply = ask(&house, &evd_command_save, session_ids(&house), person(who), command_id(id), body);
    free(body);
    return reply;
}

static struct reply complete(unsigned who, unsigned id, const char *base, unsigned last, const char *value) {
    char *body = save_body(&house, base, 1, last, value);
    struct reply reply = ask(&house, &evd_command_complete, session_ids(&house), person(who), command_id(id), body);
    free(body);
    return reply;
}

static void open_furnished(unsigned questions, unsigned target) {
    house_open(&house, 0);
    house_furnish(&house, questions, target);
}

START_TEST(a_first_save_makes_a_session_that_reads_back) {
    open_furnished(3, 2);
    struct reply saved = save(1, 1, NULL, 2, "yes");
    ck_assert_int_eq(saved.code, EVD_OK);
    ck_assert_str_eq(text_of(&saved, "state"), "savedIncomplete");
    ck_assert_int_eq(number_of(&saved, "versionSeq"), 1);
    ck_assert_int_eq(number_of(&saved, "answerCount"), 2);
    struct reply read = ask_ok(&house, &evd_command_get_session, session_ids(&house), person(1), command_id(0), NULL);
    ck_assert_str_eq(text_of(&read, "versionId"), text_of(&saved, "versionId"));
    json_t *answers = json_object_get(read.body, "answers");
    ck_assert_uint_eq(json_array_size(answers), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(answers, 0), "value")), "yes");
    reply_done(&read);
    reply_done(&saved);
    house_close(&house);
}
END_TEST

START_TEST(a_retry_replays_the_first_receipt_also_when_its_base_is_stale_by_now) {
    open_furnished(3, 2);
    struct reply first = save(1, 1, NULL, 2, "yes");
    struct reply second = save(1, 2, text_of(&first, "versionId"), 0, "");
    ck_assert_int_eq(second.code, EVD_OK);
    struct reply again = save(1, 1, NULL, 2, "yes");
    ck_assert(again.replayed);
    ck_assert_str_eq(again.text, first.text);
    house_restart(&house);
    struct reply restarted = save(1, 1, NULL, 2, "yes");
    ck_assert(restarted.replayed);
    ck_assert_str_eq(restarted.text, first.text);
    reply_done(&restarted);
    reply_done(&again);
    reply_done(&second);
    reply_done(&first);
    house_close(&house);
}
END_TEST

START_TEST(the_same_id_with_another_digest_is_a_mismatch) {
    open_furnished(3, 2);
    struct reply first = save(1, 1, NULL, 2, "yes");
    ck_assert_int_eq(first.code, EVD_OK);
    struct reply other = save(1, 1, NULL, 2, "no");
    ck_assert_int_eq(other.code, EVD_COMMAND_DIGEST_MISMATCH);
    struct reply elsewhere = save(2, 1, NULL, 2, "yes");
    ck_assert_int_eq(elsewhere.code, EVD_COMMAND_DIGEST_MISMATCH);
    reply_done(&elsewhere);
    reply_done(&other);
    reply_done(&first);
    house_close(&house);
}
END_TEST

START_TEST(a_save_on_an_old_base_is_stale_and_names_both) {
    open_furnished(3, 2);
    struct reply first = save(1, 1, NULL, 1, "a");
    struct reply second = save(1, 2, text_of(&first, "versionId"), 0, "");
    struct reply stale = save(1, 3, text_of(&first, "versionId"), 1, "b");
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "session");
    ck_assert_str_eq(text_of(&stale, "declared"), text_of(&first, "versionId"));
    ck_assert_str_eq(text_of(&stale, "current"), text_of(&second, "versionId"));
    reply_done(&stale);
    reply_done(&second);
    reply_done(&first);
    house_close(&house);
}
END_TEST

START_TEST(a_delayed_save_retry_after_a_later_complete_does_not_change_qualification) {
    open_furnished(3, 2);
    struct reply saved = save(1, 1, NULL, 2, "yes");
    struct reply completed = complete(1, 2, text_of(&saved, "versionId"), 0, "");
    ck_assert_int_eq(completed.code, EVD_OK);
    struct reply late = save(1, 1, NULL, 2, "yes");
    ck_assert(late.replayed);
    struct reply study = ask_ok(&house, &evd_command_get_study, session_ids(&house), person(1), command_id(0), NULL);
    json_t *form = json_array_get(json_object_get(study.body, "forms"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(form, "qualifying")), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(form, "own"), "state")), "completed");
    reply_done(&study);
    reply_done(&late);
    reply_done(&completed);
    reply_done(&saved);
    house_close(&house);
}
END_TEST

START_TEST(a_version_whose_pins_are_lost_is_corrupt_and_nothing_is_saved_over_it) {
    evd_uuid version;
    open_furnished(3, 2);
    struct reply first = save(1, 1, NULL, 3, "yes");
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&first, "versionId")), &version));
    behind_lose(&house, EVD_IN_PIN_MAP, version);
    struct reply second = save(1, 2, text_of(&first, "versionId"), 1, "no");
    ck_assert_int_eq(second.code, EVD_STORE_IS_CORRUPT);
    reply_done(&second);
    reply_done(&first);
    house_close(&house);
}
END_TEST

START_TEST(complete_reports_all_errors_and_writes_nothing) {
    open_furnished(3, 2);
    char *body = save_body(&house, NULL, 2, 2, "x");
    struct reply refused = ask(&house, &evd_command_complete, session_ids(&house), person(1), command_id(1), body);
    ck_assert_int_eq(refused.code, EVD_VALIDATION_FAILED);
    ck_assert_uint_eq(json_array_size(json_object_get(refused.body, "errors")), 1);
    struct reply read = ask(&house, &evd_command_get_session, session_ids(&house), person(1), command_id(0), NULL);
    ck_assert_int_eq(read.code, EVD_NOT_FOUND);
    reply_done(&read);
    reply_done(&refused);
    free(body);
    house_close(&house);
}
END_TEST

START_TEST(complete_judges_the_answers_an_earlier_version_holds) {
    open_furnished(3, 2);
    struct reply saved = save(1, 1, NULL, 1, "kept");
    struct reply completed = complete(1, 2, text_of(&saved, "versionId"), 0, "");
    ck_assert_int_eq(completed.code, EVD_OK);
    ck_assert_str_eq(text_of(&completed, "state"), "completed");
    ck_assert_int_eq(number_of(&completed, "answerCount"), 1);
    reply_done(&completed);
    reply_done(&saved);
    house_close(&house);
}
END_TEST

START_TEST(an_equal_value_makes_no_revision_whatever_its_base) {
    open_furnished(3, 2);
    struct reply first = save(1, 1, NULL, 1, "same");
    struct reply second = save(1, 2, text_of(&first, "versionId"), 1, "same"); /* its baseRevision is null */
    ck_assert_int_eq(second.code, EVD_OK);
    json_t *was = json_array_get(json_object_get(first.body, "answers"), 0);
    json_t *is = json_array_get(json_object_get(second.body, "answers"), 0);
    ck_assert(json_equal(was, is));
    reply_done(&second);
    reply_done(&first);
    house_close(&house);
}
END_TEST

START_TEST(an_answer_changed_from_another_revision_is_stale_with_both_values) {
    open_furnished(3, 2);
    struct reply first = save(1, 1, NULL, 1, "mine");
    struct reply stale = save(1, 2, text_of(&first, "versionId"), 1, "other"); /* its baseRevision is null */
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "answers");
    json_t *conflict = json_array_get(json_object_get(stale.body, "answers"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(conflict, "declared"), "value")), "other");
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(conflict, "current"), "value")), "mine");
    reply_done(&stale);
    reply_done(&first);
    house_close(&house);
}
END_TEST

START_TEST(an_answer_changed_from_its_current_revision_gets_a_new_one_behind_it) {
    open_furnished(3, 2);
    struct reply first = save(1, 1, NULL, 1, "before");
    json_t *was = json_array_get(json_object_get(first.body, "answers"), 0);
    char *body = save_body(&house, text_of(&first, "versionId"), 1, 1, "after");
    json_t *request = json_loads(body, 0, NULL);
    (void)json_object_set(json_array_get(json_object_get(request, "answers"), 0), "baseRevision",
                          json_object_get(was, "revision"));
    free(body);
    body = json_dumps(request, 0);
    struct reply second = ask_ok(&house, &evd_command_save, session_ids(&house), person(1), command_id(2), body);
    json_t *is = json_array_get(json_object_get(second.body, "answers"), 0);
    ck_assert(!json_equal(json_object_get(was, "revision"), json_object_get(is, "revision")));
    struct reply read = ask_ok(&house, &evd_command_get_session, session_ids(&house), person(1), command_id(0), NULL);
    json_t *answer = json_array_get(json_object_get(read.body, "answers"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "value")), "after");
    reply_done(&read);
    reply_done(&second);
    json_decref(request);
    free(body);
    reply_done(&first);
    house_close(&house);
}
END_TEST

START_TEST(two_stages_bound_to_one_form_never_exceed_its_cap) {
    open_furnished(3, 2);
    struct reply one = save(1, 1, NULL, 1, "a");
    evd_uuid stage = house.stage;
    house.stage = house.other_stage;
    struct reply two = save(2, 2, NULL, 1, "b");
    struct reply three = save(3, 3, NULL, 1, "c");
    house.stage = stage;
    struct reply four = save(4, 4, NULL, 1, "d");
    ck_assert_int_eq(one.code, EVD_OK);
    ck_assert_int_eq(two.code, EVD_OK);
    ck_assert_int_eq(three.code, EVD_AT_CAPACITY);
    ck_assert_int_eq(four.code, EVD_AT_CAPACITY);
    reply_done(&four);
    reply_done(&three);
    reply_done(&two);
    reply_done(&one);
    house_close(&house);
}
END_TEST

START_TEST(a_study_with_enough_completed_reviewers_takes_no_more) {
    open_furnished(3, 1);
    struct reply one = complete(1, 1, NULL, 1, "a");
    struct reply two = save(2, 2, NULL, 1, "b");
    ck_assert_int_eq(one.code, EVD_OK);
    ck_assert_int_eq(two.code, EVD_ENOUGH_REVIEWERS);
    reply_done(&two);
    reply_done(&one);
    house_close(&house);
}
END_TEST

START_TEST(withdraw_frees_the_place_and_deletes_nothing) {
    char body[300], stage[EVD_UUID_TEXT_BYTES + 1];
    open_furnished(3, 1);
    evd_uuid_format(house.stage, stage);
    struct reply one = save(1, 1, NULL, 1, "a");
    struct reply crowded = save(2, 2, NULL, 1, "b");
    ck_assert_int_eq(crowded.code, EVD_AT_CAPACITY);
    (void)snprintf(body, sizeof body, "{\"stage\":\"%s\",\"baseVersion\":\"%s\",\"draft\":null}", stage,
                   text_of(&one, "versionId"));
    struct reply gone = ask_ok(&house, &evd_command_withdraw, session_ids(&house), person(1), command_id(3), body);
    ck_assert_str_eq(text_of(&gone, "state"), "withdrawn");
    ck_assert_int_eq(number_of(&gone, "answerCount"), 1);
    struct reply two = save(2, 4, NULL, 1, "b");
    ck_assert_int_eq(two.code, EVD_OK);
    struct reply back = save(1, 5, text_of(&gone, "versionId"), 0, "");
    ck_assert_int_eq(back.code, EVD_AT_CAPACITY);
    reply_done(&back);
    reply_done(&two);
    reply_done(&gone);
    reply_done(&crowded);
    reply_done(&one);
    house_close(&house);
}
END_TEST

START_TEST(a_member_of_another_project_finds_nothing) {
    open_furnished(3, 2);
    struct reply stranger = save(50, 1, NULL, 1, "a");
    ck_assert_int_eq(stranger.code, EVD_NOT_FOUND);
    static const struct evd_ids none;
    struct reply theirs =
        ask_ok(&house, &evd_command_create_project, none, person(50), command_id(2), "{\"name\":\"Another\"}");
    struct evd_ids ids = session_ids(&house);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&theirs, "id")), &ids.project));
    struct reply through_own = ask(&house, &evd_command_get_study, ids, person(50), command_id(0), NULL);
    ck_assert_int_eq(through_own.code, EVD_NOT_FOUND);
    reply_done(&through_own);
    reply_done(&theirs);
    reply_done(&stranger);
    house_close(&house);
}
END_TEST

START_TEST(a_revoked_member_is_refused_on_the_next_command) {
    char body[200], id[EVD_UUID_TEXT_BYTES + 1];
    struct evd_ids ids;
    open_furnished(3, 2);
    ids = (struct evd_ids){.project = house.project};
    struct reply before = save(1, 1, NULL, 1, "a");
    ck_assert_int_eq(before.code, EVD_OK);
    evd_uuid_format(person(1), id);
    (void)snprintf(body, sizeof body, "{\"investigatorId\":\"%s\",\"roles\":[]}", id);
    struct reply revoked = ask_ok(&house, &evd_command_set_member, ids, house.admin, command_id(2), body);
    struct reply after = save(1, 3, text_of(&before, "versionId"), 0, "");
    ck_assert_int_eq(after.code, EVD_NOT_FOUND);
    struct reply replayed = save(1, 1, NULL, 1, "a"); /* not even what was done before */
    ck_assert_int_eq(replayed.code, EVD_NOT_FOUND);
    reply_done(&replayed);
    reply_done(&after);
    reply_done(&revoked);
    reply_done(&before);
    house_close(&house);
}
END_TEST

START_TEST(an_administrator_without_the_reviewer_role_is_refused_permission) {
    open_furnished(3, 2);
    struct reply refused = save(0, 1, NULL, 1, "a");
    ck_assert_int_eq(refused.code, EVD_REFUSED);
    ck_assert_int_eq(refused.reason, EVD_REASON_PERMISSION);
    reply_done(&refused);
    house_close(&house);
}
END_TEST

START_TEST(a_reviewer_sees_counts_and_never_anothers_entry) {
    open_furnished(3, 2);
    struct reply one = save(1, 1, NULL, 1, "a");
    struct reply seen = ask_ok(&house, &evd_command_get_study, session_ids(&house), person(2), command_id(0), NULL);
    json_t *form = json_array_get(json_object_get(seen.body, "forms"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(form, "savedIncomplete")), 1);
    ck_assert(json_is_null(json_object_get(form, "own")));
    ck_assert_ptr_null(json_object_get(form, "members"));
    struct reply admin = ask_ok(&house, &evd_command_get_study, session_ids(&house), house.admin, command_id(0), NULL);
    form = json_array_get(json_object_get(admin.body, "forms"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(form, "members")), 1);
    reply_done(&admin);
    reply_done(&seen);
    reply_done(&one);
    house_close(&house);
}
END_TEST

START_TEST(stamps_on_one_study_increase_strictly_while_the_clock_stands_still) {
    open_furnished(3, 9);
    unsigned long long last = 0;
    for (unsigned i = 1; i < 9; i++) {
        struct reply saved = save(i, i, NULL, 1, "a");
        unsigned long long stamp = strtoull(text_of(&saved, "stamp"), NULL, 10);
        ck_assert_uint_gt(stamp, last);
        last = stamp;
        reply_done(&saved);
    }
    house_close(&house);
}
END_TEST

START_TEST(a_host_whose_clock_is_far_behind_refuses_to_stamp) {
    open_furnished(3, 2);
    struct reply one = save(1, 1, NULL, 1, "a");
    evd_test_clock_advance(&house.clock, -120000);
    struct reply two = save(2, 2, NULL, 1, "b");
    ck_assert_int_eq(two.code, EVD_CLOCK_DRIFT);
    reply_done(&two);
    reply_done(&one);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: sessions", a_first_save_makes_a_session_that_reads_back,
              a_retry_replays_the_first_receipt_also_when_its_base_is_stale_by_now,
              the_same_id_with_another_digest_is_a_mismatch, a_save_on_an_old_base_is_stale_and_names_both,
              a_delayed_save_retry_after_a_later_complete_does_not_change_qualification,
              a_version_whose_pins_are_lost_is_corrupt_and_nothing_is_saved_over_it,
              complete_reports_all_errors_and_writes_nothing, complete_judges_the_answers_an_earlier_version_holds,
              an_equal_value_makes_no_revision_whatever_its_base,
              an_answer_changed_from_another_revision_is_stale_with_both_values,
              an_answer_changed_from_its_current_revision_gets_a_new_one_behind_it,
              two_stages_bound_to_one_form_never_exceed_its_cap, a_study_with_enough_completed_reviewers_takes_no_more,
              withdraw_frees_the_place_and_deletes_nothing, a_member_of_another_project_finds_nothing,
              a_revoked_member_is_refused_on_the_next_command,
              an_administrator_without_the_reviewer_role_is_refused_permission,
              a_reviewer_sees_counts_and_never_anothers_entry,
              stamps_on_one_study_increase_strictly_while_the_clock_stands_still,
              a_host_whose_clock_is_far_behind_refuses_to_stamp)
