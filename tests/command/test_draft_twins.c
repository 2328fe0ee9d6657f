/*
 * A duplicated tab: two writers with one holder id, who count their writes alike. They are noticed, so that neither
 * goes on from a draft it has not seen.
 */
#include "../support/typist.h"

static struct house house;
static struct typist tab, twin; /* one holder; the twin does not know what the tab has written */
static struct typist other;     /* a tab of its own */

static void open_twins(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    tab = twin = typist_new(&house, 1, 1);
    other = typist_new(&house, 1, 2);
}

static struct reply put(struct typist *typist, const char *value) {
    char *content = typed("q1", value);
    struct reply reply = typist_put(typist, content);
    free(content);
    return reply;
}

static void put_ok(struct typist *typist, const char *value) {
    struct reply reply = put(typist, value);
    ck_assert_int_eq(reply.code, EVD_OK);
    reply_done(&reply);
}

/* The twin's own text is kept beside the draft, and it is told that somebody else writes. */
static void expect_noticed(struct reply reply, const char *value) {
    ck_assert_msg(reply.code == EVD_STALE_BASE, "%s", evd_outcome_entry_of(reply.code)->name);
    ck_assert_str_eq(text_of(&reply, "base"), "draftSequence");
    struct reply copy = typist_copy(&tab, text_of(&reply, "copyId"));
    json_t *answers = json_object_get(json_object_get(copy.body, "content"), "answers");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(answers, 0), "value")), value);
    reply_done(&copy);
    reply_done(&reply);
}

START_TEST(the_same_write_of_a_twin_is_one_write) {
    open_twins();
    put_ok(&tab, "one");
    put_ok(&twin, "one");
    ck_assert_int_eq(twin.etag, tab.etag);
    ck_assert_uint_eq(typist_copies(&tab), 0);
    house_close(&house);
}
END_TEST

START_TEST(a_write_is_no_repetition_of_one_that_an_adopted_copy_replaced) {
    open_twins();
    put_ok(&tab, "one");
    struct reply held = put(&other, "theirs");
    ck_assert_int_eq(held.code, EVD_DRAFT_LEASE_HELD);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&held, "copyId")), &tab.ids.copy));
    struct reply adopted = typist_ask(&tab, &evd_command_adopt_draft_copy, 1);
    ck_assert_int_eq(adopted.code, EVD_OK);
    expect_noticed(put(&twin, "one"), "one");
    reply_done(&adopted);
    reply_done(&held);
    house_close(&house);
}
END_TEST

START_TEST(a_write_is_no_repetition_of_one_that_was_discarded) {
    open_twins();
    put_ok(&tab, "one");
    struct reply discarded = typist_ask(&tab, &evd_command_discard_draft, 1);
    ck_assert_int_eq(discarded.code, EVD_OK);
    expect_noticed(put(&twin, "one"), "one");
    reply_done(&discarded);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: two tabs with one holder id", the_same_write_of_a_twin_is_one_write,
              a_write_is_no_repetition_of_one_that_an_adopted_copy_replaced,
              a_write_is_no_repetition_of_one_that_was_discarded)
