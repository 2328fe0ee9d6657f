/*
 * Drafts: two tabs, leases, sequences, copies, and what a Save makes of them. Domain page §2, consistency model §4.4.
 */
#include "../support/typist.h"

#include "evidenced/base/limits.h"

static struct house house;
static struct typist left, right; /* two tabs of one reviewer */

static void open_two_tabs(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    left = typist_new(&house, 1, 1);
    right = typist_new(&house, 1, 2);
}

static const char *answer_in(const struct reply *draft, const char *question) {
    json_t *answers = json_object_get(json_object_get(draft->body, "content"), "answers"), *answer;
    size_t i;
    json_array_foreach(answers, i, answer) {
        if (strcmp(json_string_value(json_object_get(answer, "question")), question) == 0)
            return json_string_value(json_object_get(answer, "value"));
    }
    return NULL;
}

static void expect_draft(const char *question, const char *value) {
    struct reply draft = typist_read(&left);
    const char *found = answer_in(&draft, question);
    if (value == NULL)
        ck_assert_ptr_null(found);
    else
        ck_assert_str_eq(found == NULL ? "(none)" : found, value);
    reply_done(&draft);
}

static void put_ok(struct typist *typist, const char *question, const char *value) {
    char *content = typed(question, value);
    typist_put_ok(typist, content);
    free(content);
}

static struct reply put(struct typist *typist, const char *question, const char *value) {
    char *content = typed(question, value);
    struct reply reply = typist_put(typist, content);
    free(content);
    return reply;
}

static struct reply patch(struct typist *typist, const char *question, const char *value) {
    char *content = typed(question, value);
    struct reply reply = typist_patch(typist, content);
    free(content);
    return reply;
}

static void expect_copy(const struct reply *refused, const char *question, const char *value) {
    struct reply copy = typist_copy(&left, text_of(refused, "copyId"));
    const char *found = answer_in(&copy, question);
    ck_assert_str_eq(found == NULL ? "(none)" : found, value);
    reply_done(&copy);
}

static void done(struct reply reply, enum evd_outcome_code code) {
    ck_assert_msg(reply.code == code, "%s", evd_outcome_entry_of(reply.code)->name);
    reply_done(&reply);
}

static void pass_the_lease(void) {
    evd_test_clock_advance(&house.clock, EVD_LIMIT_DRAFT_LEASE_MS + 1);
}

START_TEST(two_tabs_race_the_first_draft) {
    open_two_tabs();
    put_ok(&left, "q1", "from the left");
    struct reply late = put(&right, "q1", "from the right");
    ck_assert_int_eq(late.code, EVD_DRAFT_LEASE_HELD);
    expect_copy(&late, "q1", "from the right");
    expect_draft("q1", "from the left");
    reply_done(&late);
    ck_assert_uint_eq(typist_copies(&left), 1);
    house_close(&house);
}
END_TEST

START_TEST(the_stale_tabs_empty_fields_never_overwrite) {
    open_two_tabs();
    put_ok(&left, "q1", "an hour of reading");
    pass_the_lease();
    struct reply empty = put(&right, "q1", "");
    ck_assert_int_eq(empty.code, EVD_PRECONDITION_FAILED); /* a lapsed lease is taken with the current etag only */
    expect_draft("q1", "an hour of reading");
    reply_done(&empty);
    house_close(&house);
}
END_TEST

START_TEST(a_lapsed_lease_is_taken_with_the_current_etag) {
    open_two_tabs();
    put_ok(&left, "q1", "first");
    right.etag = left.etag;
    done(put(&right, "q1", "second"), EVD_DRAFT_LEASE_HELD);
    pass_the_lease();
    put_ok(&right, "q1", "second");
    ck_assert_int_eq(right.write_seq, 1);
    expect_draft("q1", "second");
    done(put(&left, "q1", "third"), EVD_DRAFT_LEASE_HELD);
    house_close(&house);
}
END_TEST

START_TEST(a_draft_delivered_after_complete_is_refused_and_kept) {
    open_two_tabs();
    put_ok(&left, "q1", "typed");
    struct typist before = left;
    char *draft = typist_draft(&left);
    done(typist_save(&left, &evd_command_complete, 1, "q1", "typed", draft), EVD_OK);
    struct reply late = put(&before, "q2", "typed after");
    ck_assert_int_eq(late.code, EVD_STALE_AUTOSAVE);
    ck_assert_str_eq(text_of(&late, "current"), left.base);
    expect_copy(&late, "q2", "typed after");
    expect_draft("q1", NULL);
    reply_done(&late);
    free(draft);
    house_close(&house);
}
END_TEST

static struct reply take_over(struct typist *typist, unsigned id, long long generation) {
    char holder[EVD_UUID_TEXT_BYTES + 1], body[160];
    evd_uuid_format(typist->holder, holder);
    (void)snprintf(body, sizeof body, "{\"holder\":\"%s\",\"leaseGeneration\":%lld}", holder, generation);
    struct reply reply =
        ask(&house, &evd_command_take_over_draft, typist->ids, person(typist->who), command_id(id), body);
    if (reply.code == EVD_OK) {
        typist->etag = number_of(&reply, "etag");
        typist->write_seq = number_of(&reply, "writeSeq");
    }
    return reply;
}

START_TEST(take_over_turns_the_other_tab_read_only_and_keeps_its_edits) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    done(take_over(&right, 1, left.lease_generation), EVD_OK);
    struct reply displaced = put(&left, "q1", "two");
    ck_assert_int_eq(displaced.code, EVD_DRAFT_LEASE_HELD);
    expect_copy(&displaced, "q1", "two");
    expect_draft("q1", "one");
    put_ok(&right, "q1", "three");
    expect_draft("q1", "three");
    done(take_over(&left, 2, left.lease_generation), EVD_STALE_BASE); /* it saw an older holder */
    struct reply again = take_over(&right, 1, left.lease_generation);
    ck_assert(again.replayed);
    reply_done(&again);
    reply_done(&displaced);
    house_close(&house);
}
END_TEST

START_TEST(a_first_save_after_the_first_autosave_must_name_the_draft) {
    open_two_tabs();
    put_ok(&left, "q1", "typed");
    struct reply blind = typist_save(&right, &evd_command_save, 1, "q2", "saved blind", NULL);
    ck_assert_int_eq(blind.code, EVD_DRAFT_LEASE_HELD);
    expect_copy(&blind, "q2", "saved blind");
    reply_done(&blind);
    pass_the_lease();
    done(typist_save(&right, &evd_command_save, 2, "q2", "saved blind", NULL), EVD_STALE_BASE);
    expect_draft("q1", "typed");
    house_close(&house);
}
END_TEST

START_TEST(a_first_autosave_behind_the_first_save_leaves_no_zombie_draft) {
    open_two_tabs();
    done(typist_save(&right, &evd_command_save, 1, "q1", "saved", NULL), EVD_OK);
    struct reply late = put(&left, "q1", "typed");
    ck_assert_int_eq(late.code, EVD_STALE_AUTOSAVE);
    expect_copy(&late, "q1", "typed");
    struct reply draft = typist_read(&left);
    ck_assert(json_is_null(json_object_get(draft.body, "content")));
    reply_done(&draft);
    reply_done(&late);
    house_close(&house);
}
END_TEST

START_TEST(a_lost_autosave_answer_does_not_strand_the_holder) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    struct typist unaware = left; /* the next answer does not arrive */
    struct reply second = patch(&left, "q2", "two");
    ck_assert_int_eq(second.code, EVD_OK);
    struct reply again = patch(&unaware, "q2", "two");
    ck_assert_int_eq(again.code, EVD_OK);
    ck_assert_str_eq(again.text, second.text);
    ck_assert_int_eq(unaware.etag, left.etag);
    done(patch(&unaware, "q3", "three"), EVD_OK);
    expect_draft("q1", "one");
    expect_draft("q3", "three");
    reply_done(&again);
    reply_done(&second);
    house_close(&house);
}
END_TEST

START_TEST(a_sequence_used_for_something_else_is_kept_beside_the_draft) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    struct typist twin = left; /* a duplicated tab: the same holder id */
    put_ok(&left, "q1", "two");
    struct reply reused = put(&twin, "q1", "other");
    ck_assert_int_eq(reused.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&reused, "base"), "draftSequence");
    expect_copy(&reused, "q1", "other");
    expect_draft("q1", "two");
    reply_done(&reused);
    house_close(&house);
}
END_TEST

START_TEST(a_patch_with_a_gap_is_refused_and_the_whole_draft_accepted) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    left.write_seq++;
    struct reply gap = patch(&left, "q2", "two");
    ck_assert_int_eq(gap.code, EVD_STALE_BASE);
    ck_assert_int_eq(number_of(&gap, "writeSeq"), 1);
    ck_assert(json_is_null(json_object_get(gap.body, "copyId")));
    ck_assert_uint_eq(typist_copies(&left), 0);
    put_ok(&left, "q2", "two");
    expect_draft("q1", NULL);
    expect_draft("q2", "two");
    reply_done(&gap);
    house_close(&house);
}
END_TEST

START_TEST(an_older_write_of_the_same_tab_that_arrives_late_changes_nothing) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    struct typist delayed = left;
    delayed.write_seq = 0; /* the network held back a copy of the first write */
    put_ok(&left, "q1", "two");
    done(put(&delayed, "q1", "one"), EVD_STALE_BASE);
    expect_draft("q1", "two");
    ck_assert_uint_eq(typist_copies(&left), 0);
    house_close(&house);
}
END_TEST

START_TEST(an_autosave_says_which_content_it_changes) {
    open_two_tabs();
    char *content = typed("q1", "one"), *body, stage[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(house.stage, stage);
    ck_assert_int_gt(asprintf(&body,
                              "{\"stage\":\"%s\",\"formVersion\":1,\"baseVersion\":null,\"holder\":\"%s\","
                              "\"writeSeq\":1,\"content\":%s}",
                              stage, stage, content),
                     0);
    done(ask(&house, &evd_command_put_draft, left.ids, person(1), evd_uuid_nil(), body), EVD_PRECONDITION_REQUIRED);
    free(body);
    free(content);
    put_ok(&left, "q1", "one");
    left.etag--;
    struct reply stale = put(&left, "q1", "two");
    ck_assert_int_eq(stale.code, EVD_PRECONDITION_FAILED);
    ck_assert_int_eq(number_of(&stale, "etag"), left.etag + 1);
    expect_copy(&stale, "q1", "two");
    reply_done(&stale);
    house_close(&house);
}
END_TEST

START_TEST(a_ninth_copy_is_refused_with_the_reason_and_a_saves_own_never) {
    open_two_tabs();
    put_ok(&left, "q1", "kept");
    for (int i = 0; i < EVD_LIMIT_DRAFT_COPIES; i++) {
        char value[16];
        (void)snprintf(value, sizeof value, "%d", i);
        done(put(&right, "q1", value), EVD_DRAFT_LEASE_HELD);
    }
    done(put(&right, "q1", "0"), EVD_DRAFT_LEASE_HELD); /* kept already */
    struct reply ninth = put(&right, "q1", "nine");
    ck_assert_int_eq(ninth.code, EVD_SIZE_LIMIT_EXCEEDED);
    ck_assert_str_eq(text_of(&ninth, "limit"), "draftCopies");
    ck_assert_uint_eq(typist_copies(&left), EVD_LIMIT_DRAFT_COPIES);
    done(typist_save(&right, &evd_command_save, 1, "q1", "a Save's own", NULL), EVD_DRAFT_LEASE_HELD);
    ck_assert_uint_eq(typist_copies(&left), EVD_LIMIT_DRAFT_COPIES + 1);
    reply_done(&ninth);
    house_close(&house);
}
END_TEST

START_TEST(a_consumed_draft_whose_answers_the_save_leaves_out_is_kept) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    done(patch(&left, "q2", "two"), EVD_OK);
    char *draft = typist_draft(&left);
    done(typist_save(&left, &evd_command_save, 1, "q1", "one", draft), EVD_OK);
    ck_assert_uint_eq(typist_copies(&left), 1);
    struct reply page = ask_ok(&house, &evd_command_list_draft_copies, left.ids, person(1), evd_uuid_nil(), NULL);
    json_t *row = json_array_get(json_object_get(page.body, "items"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(row, "reason")), "leftOut");
    struct reply copy = typist_copy(&left, json_string_value(json_object_get(row, "id")));
    ck_assert_str_eq(answer_in(&copy, "q2"), "two");
    reply_done(&copy);
    reply_done(&page);
    free(draft);
    house_close(&house);
}
END_TEST

START_TEST(a_save_that_says_all_the_draft_says_keeps_nothing_and_goes_on_with_its_etag) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    char *draft = typist_draft(&left);
    done(typist_save(&left, &evd_command_save, 1, "q1", "one, and more", draft), EVD_OK);
    ck_assert_uint_eq(typist_copies(&left), 0);
    put_ok(&left, "q2", "next");
    ck_assert_int_eq(left.write_seq, 2);
    expect_draft("q2", "next");
    free(draft);
    house_close(&house);
}
END_TEST

START_TEST(a_refused_saves_answers_are_still_in_the_draft) {
    open_two_tabs();
    put_ok(&left, "q2", "typed");
    char *draft = typist_draft(&left);
    done(typist_save(&left, &evd_command_complete, 1, "q2", "typed", draft), EVD_VALIDATION_FAILED); /* q1 */
    done(typist_save(&left, &evd_command_save, 2, "q9", "unknown", draft), EVD_VALIDATION_FAILED);
    expect_draft("q2", "typed");
    house_restart(&house);
    expect_draft("q2", "typed");
    free(draft);
    house_close(&house);
}
END_TEST

START_TEST(a_save_on_another_state_of_the_draft_is_stale) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    char *before = typist_draft(&left);
    put_ok(&left, "q1", "two");
    struct reply stale = typist_save(&left, &evd_command_save, 1, "q1", "one", before);
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "draft");
    ck_assert_int_eq(number_of(&stale, "etag"), left.etag);
    reply_done(&stale);
    free(before);
    house_close(&house);
}
END_TEST

START_TEST(a_heartbeat_keeps_the_draft_held_and_a_lapsed_one_needs_the_etag) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    evd_test_clock_advance(&house.clock, EVD_LIMIT_DRAFT_LEASE_MS - 1000);
    long long etag = left.etag;
    done(typist_ask(&left, &evd_command_renew_draft_lease, 0), EVD_OK);
    ck_assert_int_eq(left.etag, etag);
    evd_test_clock_advance(&house.clock, 2000);
    done(put(&right, "q1", "other"), EVD_DRAFT_LEASE_HELD);
    right.etag = etag + 1;
    done(typist_ask(&right, &evd_command_renew_draft_lease, 0), EVD_DRAFT_LEASE_HELD);
    pass_the_lease();
    done(typist_ask(&right, &evd_command_renew_draft_lease, 0), EVD_STALE_BASE);
    right.etag = etag;
    done(typist_ask(&right, &evd_command_renew_draft_lease, 0), EVD_OK);
    done(put(&left, "q1", "two"), EVD_DRAFT_LEASE_HELD);
    house_close(&house);
}
END_TEST

START_TEST(discarding_is_asked_for_noted_and_safe_to_repeat) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    right.etag = left.etag;
    done(typist_ask(&right, &evd_command_discard_draft, 1), EVD_DRAFT_LEASE_HELD);
    struct typist before = left;
    done(typist_ask(&left, &evd_command_discard_draft, 2), EVD_OK);
    expect_draft("q1", NULL);
    struct reply again = typist_ask(&before, &evd_command_discard_draft, 2);
    ck_assert(again.replayed);
    put_ok(&left, "q1", "anew");
    done(typist_ask(&before, &evd_command_discard_draft, 3), EVD_STALE_BASE); /* it never saw what was typed anew */
    expect_draft("q1", "anew");
    reply_done(&again);
    house_close(&house);
}
END_TEST

START_TEST(a_write_sent_again_after_its_text_was_discarded_is_kept_and_not_called_stored) {
    open_two_tabs();
    struct typist before = left;
    put_ok(&left, "q1", "one");
    done(typist_ask(&left, &evd_command_discard_draft, 1), EVD_OK);
    struct reply again = put(&before, "q1", "one"); /* its answer was lost */
    ck_assert_int_eq(again.code, EVD_STALE_BASE);
    expect_copy(&again, "q1", "one");
    reply_done(&again);
    house_close(&house);
}
END_TEST

START_TEST(an_adopted_copy_is_laid_over_the_draft_and_what_it_replaces_is_kept) {
    open_two_tabs();
    put_ok(&left, "q1", "mine");
    done(patch(&left, "q2", "also mine"), EVD_OK);
    struct reply held = put(&right, "q1", "theirs");
    left.ids.copy = (evd_uuid){{0}};
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&held, "copyId")), &left.ids.copy));
    struct reply adopted = typist_ask(&left, &evd_command_adopt_draft_copy, 1);
    ck_assert_int_eq(adopted.code, EVD_OK);
    expect_draft("q1", "theirs");
    expect_draft("q2", "also mine");
    expect_copy(&adopted, "q1", "mine");
    ck_assert_uint_eq(typist_copies(&left), 1);
    done(typist_ask(&left, &evd_command_adopt_draft_copy, 2), EVD_NOT_FOUND); /* settled */
    done(patch(&left, "q3", "on it goes"), EVD_OK);
    reply_done(&adopted);
    reply_done(&held);
    house_close(&house);
}
END_TEST

START_TEST(a_discarded_copy_is_gone_and_may_come_back) {
    open_two_tabs();
    put_ok(&left, "q1", "mine");
    struct reply held = put(&right, "q1", "theirs");
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&held, "copyId")), &left.ids.copy));
    done(ask(&house, &evd_command_discard_draft_copy, left.ids, person(1), command_id(1), NULL), EVD_OK);
    ck_assert_uint_eq(typist_copies(&left), 0);
    done(put(&right, "q1", "theirs"), EVD_DRAFT_LEASE_HELD);
    ck_assert_uint_eq(typist_copies(&left), 1);
    reply_done(&held);
    house_close(&house);
}
END_TEST

START_TEST(nobody_else_reads_or_settles_a_persons_copies) {
    open_two_tabs();
    put_ok(&left, "q1", "mine");
    struct reply held = put(&right, "q1", "theirs");
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&held, "copyId")), &left.ids.copy));
    done(ask(&house, &evd_command_get_draft_copy, left.ids, person(2), evd_uuid_nil(), NULL), EVD_NOT_FOUND);
    done(ask(&house, &evd_command_discard_draft_copy, left.ids, person(2), command_id(1), NULL), EVD_NOT_FOUND);
    done(ask(&house, &evd_command_get_draft, left.ids, person(2), evd_uuid_nil(), NULL), EVD_NOT_FOUND);
    reply_done(&held);
    house_close(&house);
}
END_TEST

START_TEST(a_release_lets_another_tab_write_and_shows_nobody_the_text) {
    open_two_tabs();
    put_ok(&left, "q1", "secret");
    struct reply draft = typist_read(&left);
    struct evd_ids ids = {.project = house.project};
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&draft, "sessionId")), &ids.session));
    reply_done(&draft);
    struct reply seen = ask_ok(&house, &evd_command_get_draft_lease, ids, house.admin, evd_uuid_nil(), NULL);
    ck_assert_ptr_null(strstr(seen.text, "secret"));
    ck_assert_int_eq(number_of(&seen, "places"), 1);
    reply_done(&seen);
    done(ask(&house, &evd_command_release_draft, ids, person(1), command_id(1), NULL), EVD_REFUSED);
    done(ask(&house, &evd_command_release_draft, ids, house.admin, command_id(2), NULL), EVD_OK);
    right.etag = left.etag;
    put_ok(&right, "q1", "taken");
    done(put(&left, "q1", "more"), EVD_DRAFT_LEASE_HELD);
    house_close(&house);
}
END_TEST

START_TEST(whoever_may_not_write_leaves_no_copy) {
    char body[200], id[EVD_UUID_TEXT_BYTES + 1];
    open_two_tabs();
    put_ok(&left, "q1", "one");
    evd_uuid_format(person(1), id);
    (void)snprintf(body, sizeof body, "{\"investigatorId\":\"%s\",\"roles\":[\"observer\"]}", id);
    struct evd_ids ids = {.project = house.project};
    done(ask(&house, &evd_command_set_member, ids, house.admin, command_id(1), body), EVD_OK);
    done(put(&right, "q1", "two"), EVD_REFUSED);
    (void)snprintf(body, sizeof body, "{\"investigatorId\":\"%s\",\"roles\":[\"reviewer\"]}", id);
    done(ask(&house, &evd_command_set_member, ids, house.admin, command_id(2), body), EVD_OK);
    ck_assert_uint_eq(typist_copies(&left), 0);
    house_close(&house);
}
END_TEST

START_TEST(a_draft_is_no_member_and_takes_no_place) {
    open_two_tabs();
    put_ok(&left, "q1", "one");
    struct reply study = ask_ok(&house, &evd_command_get_study, left.ids, person(1), evd_uuid_nil(), NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(study.body, "forms")), 0);
    struct reply session = ask_ok(&house, &evd_command_get_session, left.ids, person(1), evd_uuid_nil(), NULL);
    ck_assert_str_eq(text_of(&session, "state"), "draft");
    ck_assert_int_eq(number_of(&session, "versionSeq"), 0);
    for (unsigned who = 2; who < 4; who++) {
        struct typist other = typist_new(&house, who, who + 10);
        done(typist_save(&other, &evd_command_save, who, "q1", "x", NULL), EVD_OK);
    }
    char *draft = typist_draft(&left);
    done(typist_save(&left, &evd_command_save, 9, "q1", "one", draft), EVD_AT_CAPACITY);
    expect_draft("q1", "one");
    free(draft);
    reply_done(&session);
    reply_done(&study);
    house_close(&house);
}
END_TEST

/* As many bytes as one Save can carry, and the largest place after place. */
START_TEST(what_a_draft_holds_can_always_be_saved) {
    enum { ANSWERS = 52, BYTES = 20000, FITTING = 48 };
    int refused = 0;
    house_open(&house, 0);
    house_furnish(&house, ANSWERS, 2);
    left = typist_new(&house, 1, 1);
    char *value = malloc(BYTES + 1);
    json_t *answers = json_array();
    for (int i = 1; i <= ANSWERS; i++) {
        char question[16];
        memset(value, 'x', BYTES);
        value[BYTES] = '\0';
        (void)snprintf(question, sizeof question, "q%d", i);
        char *content = typed(question, value);
        struct reply reply = i == 1 ? typist_put(&left, content) : typist_patch(&left, content);
        free(content);
        ck_assert(i > FITTING || reply.code == EVD_OK);
        refused += reply.code == EVD_SIZE_LIMIT_EXCEEDED;
        if (reply.code == EVD_OK)
            (void)json_array_append_new(
                answers, json_pack("{s:s, s:s, s:n}", "question", question, "value", value, "baseRevision"));
        reply_done(&reply);
    }
    ck_assert_int_gt(refused, 1);
    char stage[EVD_UUID_TEXT_BYTES + 1], *draft = typist_draft(&left);
    evd_uuid_format(house.stage, stage);
    json_t *save = json_pack("{s:s, s:i, s:n, s:o, s:o}", "stage", stage, "formVersion", 1, "baseVersion", "draft",
                             json_loads(draft, 0, NULL), "answers", answers);
    char *body = json_dumps(save, JSON_COMPACT);
    ck_assert_uint_lt(strlen(body), EVD_LIMIT_COMMAND_BODY_BYTES);
    done(ask(&house, &evd_command_save, left.ids, person(1), command_id(1), body), EVD_OK);
    ck_assert_uint_eq(typist_copies(&left), 0);
    json_decref(save);
    free(body);
    free(draft);
    free(value);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: drafts", two_tabs_race_the_first_draft, the_stale_tabs_empty_fields_never_overwrite,
              a_lapsed_lease_is_taken_with_the_current_etag, a_draft_delivered_after_complete_is_refused_and_kept,
              take_over_turns_the_other_tab_read_only_and_keeps_its_edits,
              a_first_save_after_the_first_autosave_must_name_the_draft,
              a_first_autosave_behind_the_first_save_leaves_no_zombie_draft,
              a_lost_autosave_answer_does_not_strand_the_holder,
              a_sequence_used_for_something_else_is_kept_beside_the_draft,
              a_patch_with_a_gap_is_refused_and_the_whole_draft_accepted,
              an_older_write_of_the_same_tab_that_arrives_late_changes_nothing,
              an_autosave_says_which_content_it_changes, a_ninth_copy_is_refused_with_the_reason_and_a_saves_own_never,
              a_consumed_draft_whose_answers_the_save_leaves_out_is_kept,
              a_save_that_says_all_the_draft_says_keeps_nothing_and_goes_on_with_its_etag,
              a_refused_saves_answers_are_still_in_the_draft, a_save_on_another_state_of_the_draft_is_stale,
              a_heartbeat_keeps_the_draft_held_and_a_lapsed_one_needs_the_etag,
              discarding_is_asked_for_noted_and_safe_to_repeat,
              a_write_sent_again_after_its_text_was_discarded_is_kept_and_not_called_stored,
              an_adopted_copy_is_laid_over_the_draft_and_what_it_replaces_is_kept,
              a_discarded_copy_is_gone_and_may_come_back, nobody_else_reads_or_settles_a_persons_copies,
              a_release_lets_another_tab_write_and_shows_nobody_the_text, whoever_may_not_write_leaves_no_copy,
              a_draft_is_no_member_and_takes_no_place, what_a_draft_holds_can_always_be_saved)
