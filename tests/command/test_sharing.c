/*
 * One question in two forms: its answer is one answer of the author's, whichever form it was changed in. Outdated
 * answers on read, and the StaleBase that shows both values.
 */
#include "../support/behind.h"
#include "../support/shared.h"
#include "../support/typist.h"

#include "evidenced/base/arena.h"

static struct house house;
static struct shared shared;

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 9);
    shared = shared_open(&house);
}

static void end(void) {
    shared_done(&shared);
    house_close(&house);
}

static void g_is_as_it_was(const struct reply *before) {
    struct reply after = extraction_read(&house, shared.g, 1);
    ck_assert_str_eq(after.text, before->text);
    reply_done(&after);
}

/* Reading. */

START_TEST(an_answer_another_form_changed_is_shown_outdated_with_what_it_is_now) {
    begin();
    shared_change(&house, &shared);
    struct reply in_g = extraction_read(&house, shared.g, 1), in_f = extraction_read(&house, shared.f, 1);
    json_t *answer = extraction_answer(&in_g, "q1"), *current = json_object_get(answer, "current");
    ck_assert_str_eq(member_of(answer, "value"), "old");
    ck_assert(json_is_true(json_object_get(answer, "outdated")));
    ck_assert_str_eq(member_of(current, "value"), "new");
    ck_assert_str_eq(member_of(current, "revision"), shared.new[0]);
    ck_assert_ptr_null(json_object_get(extraction_answer(&in_f, "q1"), "outdated"));
    ck_assert_ptr_null(json_object_get(extraction_answer(&in_f, "q1"), "current"));
    reply_done(&in_f);
    reply_done(&in_g);
    end();
}
END_TEST

START_TEST(notes_alone_make_an_answer_outdated_and_are_shown) {
    begin();
    struct reply in_f = extraction_save(&house, shared.f, 1, 1, NULL, "q1", "same", NULL);
    struct reply in_g = extraction_save(&house, shared.g, 1, 2, NULL, "q1", "same", NULL);
    char *members = json_of("'formVersion':1,'answers':[{'question':'q1','value':'same','notes':'p. 3',"
                            "'baseRevision':'%s'}]",
                            member_of(extraction_answer(&in_f, "q1"), "revision"));
    struct reply noted =
        extraction_ask(&house, &evd_command_save, shared.f, 1, 3, text_of(&in_f, "versionId"), members);
    ck_assert_int_eq(noted.code, EVD_OK);
    struct reply read = extraction_read(&house, shared.g, 1);
    json_t *answer = extraction_answer(&read, "q1");
    ck_assert(json_is_true(json_object_get(answer, "outdated")));
    ck_assert_str_eq(member_of(json_object_get(answer, "current"), "notes"), "p. 3");
    struct reply stale = extraction_ask(&house, &evd_command_save, shared.g, 1, 4, text_of(&in_g, "versionId"),
                                        "'formVersion':1,'answers':[{'question':'q1','value':'same','notes':'p. 4',"
                                        "'baseRevision':null}]");
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    json_t *conflict = extraction_answer(&stale, "q1");
    ck_assert_str_eq(member_of(json_object_get(conflict, "declared"), "notes"), "p. 4");
    ck_assert_str_eq(member_of(json_object_get(conflict, "current"), "notes"), "p. 3");
    reply_done(&stale);
    reply_done(&read);
    reply_done(&noted);
    free(members);
    reply_done(&in_g);
    reply_done(&in_f);
    end();
}
END_TEST

START_TEST(another_reviewers_answer_makes_nothing_outdated) {
    begin();
    struct reply mine = extraction_save(&house, shared.g, 1, 1, NULL, "q1", "mine", NULL);
    struct reply theirs = extraction_save(&house, shared.f, 2, 2, NULL, "q1", "theirs", NULL);
    struct reply read = extraction_read(&house, shared.g, 1);
    ck_assert_ptr_null(json_object_get(extraction_answer(&read, "q1"), "outdated"));
    reply_done(&read);
    reply_done(&theirs);
    reply_done(&mine);
    end();
}
END_TEST

START_TEST(a_damaged_head_or_current_value_is_not_shown) {
    struct evd_arena arena;
    begin();
    evd_arena_init(&arena, EVD_MIB);
    shared_change(&house, &shared);
    evd_uuid id;
    ck_assert(evd_uuid_parse(evd_text_from(shared.new[0]), &id));
    struct evd_annotation_revision *revision = BEHIND_READ(&house, annotation_revision, id, &arena);
    revision->value.text = EVD_TEXT("forged");
    BEHIND_REPLACE(&house, annotation_revision, revision);
    struct reply read =
        ask(&house, &evd_command_get_session, extraction_ids(&house, shared.g), person(1), command_id(0), NULL);
    ck_assert_int_eq(read.code, EVD_STORE_IS_CORRUPT);
    reply_done(&read);
    evd_arena_done(&arena);
    end();
}
END_TEST

/* Saving. */

/* A tab that types in form G. */
static struct typist typist_in_g(void) {
    struct typist typist = typist_new(&house, 1, 1);
    typist.ids.form = shared.g.form;
    typist.stage = shared.g.stage;
    (void)snprintf(typist.base, sizeof typist.base, "%s", shared.g_version);
    struct reply read = typist_read(&typist);
    typist.etag = number_of(&read, "etag");
    reply_done(&read);
    return typist;
}

START_TEST(saving_form_G_after_form_F_changed_a_shared_answer_shows_both_values_and_keeps_Gs_draft) {
    begin();
    shared_change(&house, &shared);
    char *answers = json_of("[{'question':'q1','value':'mine','baseRevision':'%s'},"
                            "{'question':'g1','value':'beside it','baseRevision':null}]",
                            shared.old[0]);
    struct typist typist = typist_in_g();
    char *content = json_of("{'answers':%s}", answers);
    typist_put_ok(&typist, content);
    struct reply session = extraction_read(&house, shared.g, 1), draft = typist_read(&typist);
    char stage[EVD_UUID_TEXT_BYTES + 1], *named = typist_draft(&typist);
    evd_uuid_format(shared.g.stage, stage);
    char *body = json_of("{'stage':'%s','formVersion':1,'baseVersion':'%s','draft':%s,'answers':%s}", stage,
                         shared.g_version, named, answers);
    struct reply stale = ask(&house, &evd_command_save, typist.ids, person(1), command_id(10), body);
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "answers");
    ck_assert_uint_eq(json_array_size(json_object_get(stale.body, "answers")), 1);
    json_t *conflict = extraction_answer(&stale, "q1"), *declared = json_object_get(conflict, "declared"),
           *current = json_object_get(conflict, "current");
    ck_assert_str_eq(member_of(declared, "value"), "mine");
    ck_assert_str_eq(member_of(declared, "baseRevision"), shared.old[0]);
    ck_assert_str_eq(member_of(current, "value"), "new");
    ck_assert_str_eq(member_of(current, "revision"), shared.new[0]);
    g_is_as_it_was(&session);
    struct reply kept = typist_read(&typist);
    ck_assert_str_eq(kept.text, draft.text);
    reply_done(&kept);
    reply_done(&stale);
    free(body);
    free(named);
    reply_done(&draft);
    reply_done(&session);
    free(content);
    free(answers);
    end();
}
END_TEST

START_TEST(what_was_stale_is_saved_from_the_current_revision_and_is_then_outdated_in_F) {
    begin();
    shared_change(&house, &shared);
    struct reply saved = extraction_save(&house, shared.g, 1, 10, shared.g_version, "q1", "mine", shared.new[0]);
    struct reply in_f = extraction_read(&house, shared.f, 1);
    json_t *answer = extraction_answer(&in_f, "q1");
    ck_assert_str_eq(member_of(answer, "value"), "new");
    ck_assert_str_eq(member_of(json_object_get(answer, "current"), "value"), "mine");
    reply_done(&in_f);
    reply_done(&saved);
    end();
}
END_TEST

START_TEST(an_equal_value_is_never_a_conflict) {
    begin();
    shared_change(&house, &shared);
    const char *const bases[] = {NULL, shared.old[0], shared.new[1]}; /* none, an old one, another answer's */
    char *base = strdup(shared.g_version);
    for (unsigned i = 0; i < 3; i++) {
        struct reply saved = extraction_save(&house, shared.g, 1, 10 + i, base, "q1", "new", bases[i]);
        ck_assert_str_eq(member_of(extraction_answer(&saved, "q1"), "revision"), shared.new[0]);
        free(base);
        base = strdup(text_of(&saved, "versionId"));
        reply_done(&saved);
    }
    struct reply read = extraction_read(&house, shared.g, 1);
    ck_assert_ptr_null(json_object_get(extraction_answer(&read, "q1"), "outdated"));
    reply_done(&read);
    free(base);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: answers two forms share", an_answer_another_form_changed_is_shown_outdated_with_what_it_is_now,
              notes_alone_make_an_answer_outdated_and_are_shown, another_reviewers_answer_makes_nothing_outdated,
              a_damaged_head_or_current_value_is_not_shown,
              saving_form_G_after_form_F_changed_a_shared_answer_shows_both_values_and_keeps_Gs_draft,
              what_was_stale_is_saved_from_the_current_revision_and_is_then_outdated_in_F,
              an_equal_value_is_never_a_conflict)
