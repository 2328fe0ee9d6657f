/*
 * Which draft a write was made from, as its headers say it: If-Match, If-None-Match, and what they may not say.
 */
#include "../support/typist.h"

static struct house house;
static struct typist left, right; /* two tabs of one reviewer */

static void open_two_tabs(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    left = typist_new(&house, 1, 1);
    right = typist_new(&house, 1, 2);
}

static void put_ok(struct typist *typist, const char *value) {
    char *content = typed("q1", value);
    typist_put_ok(typist, content);
    free(content);
}

/* A PUT of the left tab with these headers; NULL: without. */
static struct reply put_if(const char *if_match, const char *if_none_match, const char *value) {
    char stage[EVD_UUID_TEXT_BYTES + 1], holder[EVD_UUID_TEXT_BYTES + 1], *body, *content = typed("q1", value);
    evd_uuid_format(left.stage, stage);
    evd_uuid_format(left.holder, holder);
    ck_assert_int_gt(asprintf(&body,
                              "{\"stage\":\"%s\",\"formVersion\":1,\"baseVersion\":null,\"holder\":\"%s\","
                              "\"writeSeq\":%lld,\"content\":%s}",
                              stage, holder, left.write_seq + 1, content),
                     0);
    struct asked *asked = asked_new(&house, &evd_command_put_draft, left.ids, person(1), evd_uuid_nil(), body);
    if (if_match != NULL) asked_call(asked)->conditions.if_match = evd_text_from(if_match);
    if (if_none_match != NULL) asked_call(asked)->conditions.if_none_match = evd_text_from(if_none_match);
    asked_go(asked);
    struct reply reply = asked_end(asked);
    free(content);
    free(body);
    return reply;
}

static void expect_refused(const char *if_match, const char *if_none_match, bool there) {
    struct reply reply = put_if(if_match, if_none_match, if_match == NULL ? if_none_match : if_match);
    ck_assert_msg(reply.code == EVD_PRECONDITION_FAILED, "If-Match %s, If-None-Match %s: %s", if_match, if_none_match,
                  evd_outcome_entry_of(reply.code)->name);
    ck_assert_int_eq(json_is_string(json_object_get(reply.body, "copyId")), there);
    reply_done(&reply);
}

static void expect_etag(long long etag) {
    struct reply draft = typist_read(&left);
    ck_assert_int_eq(number_of(&draft, "etag"), etag);
    reply_done(&draft);
}

static void take_over(void) {
    char holder[EVD_UUID_TEXT_BYTES + 1], body[160];
    evd_uuid_format(right.holder, holder);
    (void)snprintf(body, sizeof body, "{\"holder\":\"%s\",\"leaseGeneration\":%lld}", holder, left.lease_generation);
    struct reply reply = ask_ok(&house, &evd_command_take_over_draft, left.ids, person(1), command_id(1), body);
    reply_done(&reply);
}

START_TEST(the_draft_is_read_with_the_etag_an_autosave_names_whoever_holds_it) {
    open_two_tabs();
    put_ok(&left, "one");
    put_ok(&left, "two");
    ck_assert(evd_command_get_draft.conditional);
    for (int i = 0; i < 2; i++) {
        struct asked *asked = asked_new(&house, &evd_command_get_draft, left.ids, person(1), evd_uuid_nil(), NULL);
        asked_go(asked);
        struct evd_call *call = asked_call(asked);
        ck_assert_int_eq(call->etag, left.etag);
        struct reply draft = asked_end(asked);
        ck_assert_int_eq(number_of(&draft, "etag"), left.etag);
        reply_done(&draft);
        take_over();
    }
    house_close(&house);
}
END_TEST

START_TEST(a_first_autosave_makes_a_draft_only_when_told_that_there_is_none) {
    static const char *const wrong[][2] = {{NULL, "\"1\""}, {NULL, "\"*\""}, {NULL, ""},      {NULL, "W/\"1\""},
                                           {NULL, "*, *"},  {"\"1\"", NULL}, {"\"0\"", NULL}, {"*", NULL},
                                           {"", NULL},      {"\"1\"", "*"},  {"\"0\"", "*"}};
    open_two_tabs();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(wrong[i][0], wrong[i][1], false);
    struct reply none = ask(&house, &evd_command_get_draft, left.ids, person(1), evd_uuid_nil(), NULL);
    ck_assert_int_eq(none.code, EVD_NOT_FOUND);
    reply_done(&none);
    put_ok(&left, "one");
    house_close(&house);
}
END_TEST

START_TEST(an_etag_is_named_as_it_was_told_or_names_nothing) {
    static const char *const wrong[] = {"W/\"1\"", "1", "\"1", "'1'", "\"01\"", "\"+1\"", "\" 1\""};
    open_two_tabs();
    put_ok(&left, "one");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(wrong[i], NULL, true);
    expect_etag(left.etag);
    struct reply taken = put_if("\"1\"", NULL, "two");
    ck_assert_int_eq(taken.code, EVD_OK);
    reply_done(&taken);
    house_close(&house);
}
END_TEST

START_TEST(neither_a_list_nor_a_star_nor_both_headers_stand_for_the_etag_somebody_saw) {
    static const char *const wrong[][2] = {{"\"1\", \"2\"", NULL}, {"*", NULL}, {"\"1\"", "*"}, {NULL, "*"}};
    open_two_tabs();
    put_ok(&left, "one");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(wrong[i][0], wrong[i][1], true);
    expect_etag(left.etag);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: which draft a write was made from",
              the_draft_is_read_with_the_etag_an_autosave_names_whoever_holds_it,
              a_first_autosave_makes_a_draft_only_when_told_that_there_is_none,
              an_etag_is_named_as_it_was_told_or_names_nothing,
              neither_a_list_nor_a_star_nor_both_headers_stand_for_the_etag_somebody_saw)
