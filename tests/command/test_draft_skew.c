/*
 * A text that leaves the draft because a copy of it is kept already, while that copy is discarded: whoever discards it
 * may do so because it stands in the draft.
 */
#include "../support/scripted_store.h"
#include "../support/typist.h"

static struct house house;
static struct typist left, right; /* two tabs of one reviewer */
static evd_uuid twin;             /* the copy of what the draft holds */

static void put_ok(struct typist *typist, const char *question, const char *value) {
    char *content = typed(question, value);
    typist_put_ok(typist, content);
    free(content);
}

/* What the right tab types is kept beside the draft, which the left one holds. */
static evd_uuid keep(const char *question, const char *value) {
    char *content = typed(question, value);
    struct reply held = typist_put(&right, content);
    evd_uuid copy;
    ck_assert_int_eq(held.code, EVD_DRAFT_LEASE_HELD);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&held, "copyId")), &copy));
    reply_done(&held);
    free(content);
    return copy;
}

static void open_house(void) {
    house_open_scripted(&house, 0);
    house_furnish(&house, 3, 2);
    left = typist_new(&house, 1, 1);
    right = typist_new(&house, 1, 2);
    put_ok(&left, "q1", "one");
    twin = keep("q1", "one");
}

static void discard_the_copy(void *self, const struct evd_write *writes, size_t count) {
    struct evd_ids ids = left.ids;
    (void)self;
    (void)writes;
    (void)count;
    scripted_before_commit(house.script, NULL, NULL);
    ids.copy = twin;
    struct reply reply = ask_ok(&house, &evd_command_discard_draft_copy, ids, person(1), command_id(9), NULL);
    reply_done(&reply);
}

static void expect_kept(void) {
    char id[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(twin, id);
    struct reply copy = typist_copy(&left, id);
    ck_assert_str_eq(text_of(&copy, "state"), "kept");
    json_t *answers = json_object_get(json_object_get(copy.body, "content"), "answers");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(answers, 0), "value")), "one");
    reply_done(&copy);
}

START_TEST(what_a_save_leaves_out_is_kept_although_its_copy_is_discarded_meanwhile) {
    open_house();
    char *draft = typist_draft(&left);
    scripted_before_commit(house.script, discard_the_copy, NULL);
    struct reply saved = typist_save(&left, &evd_command_save, 1, "q2", "two", draft);
    ck_assert_int_eq(saved.code, EVD_OK);
    expect_kept();
    reply_done(&saved);
    free(draft);
    house_close(&house);
}
END_TEST

START_TEST(what_an_adopted_copy_replaces_is_kept_although_its_copy_is_discarded_meanwhile) {
    open_house();
    left.ids.copy = keep("q1", "theirs");
    scripted_before_commit(house.script, discard_the_copy, NULL);
    struct reply adopted = typist_ask(&left, &evd_command_adopt_draft_copy, 1);
    ck_assert_int_eq(adopted.code, EVD_OK);
    expect_kept();
    reply_done(&adopted);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: drafts and copies at once",
              what_a_save_leaves_out_is_kept_although_its_copy_is_discarded_meanwhile,
              what_an_adopted_copy_replaces_is_kept_although_its_copy_is_discarded_meanwhile)
