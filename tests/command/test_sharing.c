/*
 * One question in two forms: its answer is one answer of the author's, whichever form it was changed in. Outdated
 * answers on read, the StaleBase that shows both values, and Fix.
 */
#include "../support/behind.h"
#include "../support/extraction.h"

#include "evidenced/base/arena.h"

static struct house house;
static struct extraction f, g; /* the house's form q1, q2, q3; a form q1, q2, g1 */

static const char *const questions_of_g = "[{'id':'q1','label':'One','kind':'text'},"
                                          "{'id':'q2','label':'Two','kind':'text'},"
                                          "{'id':'g1','label':'Only here','kind':'text'}]";

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 9);
    f = extraction_of_house(&house);
    g = extraction_add(&house, 1, questions_of_g);
}

static void end(void) {
    house_close(&house);
}

static char *revision_of(const struct reply *reply, const char *question) {
    return strdup(member_of(extraction_answer(reply, question), "revision"));
}

/* Reviewer 1 answers q1 and q2 in F with "old", takes both over in G, then changes them in F to "new". */
struct changed {
    char *g_version, *f_version, *old[2], *new[2]; /* old, new: revisions of q1, q2 */
};

static struct changed change_both_in_f(void) {
    static const char *const members = "'formVersion':1,'answers':["
                                       "{'question':'q1','value':'%s','baseRevision':%s},"
                                       "{'question':'q2','value':'%s','baseRevision':%s}]";
    struct changed changed;
    char *first = json_of(members, "old", "null", "old", "null");
    struct reply in_f = extraction_ask(&house, &evd_command_save, f, 1, 1, NULL, first);
    struct reply in_g = extraction_ask(&house, &evd_command_save, g, 1, 2, NULL, first);
    changed.old[0] = revision_of(&in_f, "q1");
    changed.old[1] = revision_of(&in_f, "q2");
    changed.g_version = strdup(text_of(&in_g, "versionId"));
    char *bases[] = {json_of("'%s'", changed.old[0]), json_of("'%s'", changed.old[1])};
    char *second = json_of(members, "new", bases[0], "new", bases[1]);
    struct reply again = extraction_ask(&house, &evd_command_save, f, 1, 3, text_of(&in_f, "versionId"), second);
    ck_assert_int_eq(again.code, EVD_OK);
    changed.new[0] = revision_of(&again, "q1");
    changed.new[1] = revision_of(&again, "q2");
    changed.f_version = strdup(text_of(&again, "versionId"));
    free(second);
    free(bases[0]);
    free(bases[1]);
    free(first);
    reply_done(&again);
    reply_done(&in_g);
    reply_done(&in_f);
    return changed;
}

static void changed_done(struct changed *changed) {
    free(changed->g_version);
    free(changed->f_version);
    for (size_t i = 0; i < 2; i++) {
        free(changed->old[i]);
        free(changed->new[i]);
    }
}

static struct reply fix(unsigned id, const char *base, const char *answers) {
    char *members = json_of("'answers':[%s]", answers);
    struct reply reply = extraction_ask(&house, &evd_command_fix, g, 1, id, base, members);
    free(members);
    return reply;
}

static struct reply fix_one(unsigned id, const char *base, const char *question, const char *revision) {
    char *answer = json_of("{'question':'%s','revision':'%s'}", question, revision);
    struct reply reply = fix(id, base, answer);
    free(answer);
    return reply;
}

/* The only error of a ValidationFailed. */
static void is_invalid(struct reply reply, const char *pointer, const char *code) {
    ck_assert_int_eq(reply.code, EVD_VALIDATION_FAILED);
    json_t *errors = json_object_get(reply.body, "errors");
    ck_assert_uint_eq(json_array_size(errors), 1);
    ck_assert_str_eq(member_of(json_array_get(errors, 0), "pointer"), pointer);
    ck_assert_str_eq(member_of(json_array_get(errors, 0), "code"), code);
    reply_done(&reply);
}

static void g_is_as_it_was(const struct reply *before) {
    struct reply after = extraction_read(&house, g, 1);
    ck_assert_str_eq(after.text, before->text);
    reply_done(&after);
}

/* Reading. */

START_TEST(an_answer_another_form_changed_is_shown_outdated_with_what_it_is_now) {
    begin();
    struct changed changed = change_both_in_f();
    struct reply in_g = extraction_read(&house, g, 1), in_f = extraction_read(&house, f, 1);
    json_t *answer = extraction_answer(&in_g, "q1"), *current = json_object_get(answer, "current");
    ck_assert_str_eq(member_of(answer, "value"), "old");
    ck_assert(json_is_true(json_object_get(answer, "outdated")));
    ck_assert_str_eq(member_of(current, "value"), "new");
    ck_assert_str_eq(member_of(current, "revision"), changed.new[0]);
    ck_assert_ptr_null(json_object_get(extraction_answer(&in_f, "q1"), "outdated"));
    ck_assert_ptr_null(json_object_get(extraction_answer(&in_f, "q1"), "current"));
    reply_done(&in_f);
    reply_done(&in_g);
    changed_done(&changed);
    end();
}
END_TEST

START_TEST(notes_alone_make_an_answer_outdated_and_are_shown) {
    begin();
    struct reply in_f = extraction_save(&house, f, 1, 1, NULL, "q1", "same", NULL);
    struct reply in_g = extraction_save(&house, g, 1, 2, NULL, "q1", "same", NULL);
    char *members = json_of("'formVersion':1,'answers':[{'question':'q1','value':'same','notes':'p. 3',"
                            "'baseRevision':'%s'}]",
                            member_of(extraction_answer(&in_f, "q1"), "revision"));
    struct reply noted = extraction_ask(&house, &evd_command_save, f, 1, 3, text_of(&in_f, "versionId"), members);
    ck_assert_int_eq(noted.code, EVD_OK);
    struct reply read = extraction_read(&house, g, 1);
    json_t *answer = extraction_answer(&read, "q1");
    ck_assert(json_is_true(json_object_get(answer, "outdated")));
    ck_assert_str_eq(member_of(json_object_get(answer, "current"), "notes"), "p. 3");
    struct reply stale = extraction_ask(&house, &evd_command_save, g, 1, 4, text_of(&in_g, "versionId"),
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
    struct reply mine = extraction_save(&house, g, 1, 1, NULL, "q1", "mine", NULL);
    struct reply theirs = extraction_save(&house, f, 2, 2, NULL, "q1", "theirs", NULL);
    struct reply read = extraction_read(&house, g, 1);
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
    struct changed changed = change_both_in_f();
    evd_uuid id;
    ck_assert(evd_uuid_parse(evd_text_from(changed.new[0]), &id));
    struct evd_annotation_revision *revision = BEHIND_READ(&house, annotation_revision, id, &arena);
    revision->value.text = EVD_TEXT("forged");
    BEHIND_REPLACE(&house, annotation_revision, revision);
    struct reply read =
        ask(&house, &evd_command_get_session, extraction_ids(&house, g), person(1), command_id(0), NULL);
    ck_assert_int_eq(read.code, EVD_STORE_IS_CORRUPT);
    reply_done(&read);
    changed_done(&changed);
    evd_arena_done(&arena);
    end();
}
END_TEST

/* Saving. */

START_TEST(saving_form_G_after_form_F_changed_a_shared_answer_shows_both_values_and_keeps_Gs_draft) {
    begin();
    struct changed changed = change_both_in_f();
    struct reply before = extraction_read(&house, g, 1);
    char *members = json_of("'formVersion':1,'answers':[{'question':'q1','value':'mine','baseRevision':'%s'},"
                            "{'question':'g1','value':'beside it','baseRevision':null}]",
                            changed.old[0]);
    struct reply stale = extraction_ask(&house, &evd_command_save, g, 1, 10, changed.g_version, members);
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "answers");
    ck_assert_uint_eq(json_array_size(json_object_get(stale.body, "answers")), 1);
    json_t *conflict = extraction_answer(&stale, "q1"), *declared = json_object_get(conflict, "declared"),
           *current = json_object_get(conflict, "current");
    ck_assert_str_eq(member_of(declared, "value"), "mine");
    ck_assert_str_eq(member_of(declared, "baseRevision"), changed.old[0]);
    ck_assert_str_eq(member_of(current, "value"), "new");
    ck_assert_str_eq(member_of(current, "revision"), changed.new[0]);
    g_is_as_it_was(&before);
    reply_done(&stale);
    free(members);
    reply_done(&before);
    changed_done(&changed);
    end();
}
END_TEST

START_TEST(what_was_stale_is_saved_from_the_current_revision_and_is_then_outdated_in_F) {
    begin();
    struct changed changed = change_both_in_f();
    struct reply saved = extraction_save(&house, g, 1, 10, changed.g_version, "q1", "mine", changed.new[0]);
    struct reply in_f = extraction_read(&house, f, 1);
    json_t *answer = extraction_answer(&in_f, "q1");
    ck_assert_str_eq(member_of(answer, "value"), "new");
    ck_assert_str_eq(member_of(json_object_get(answer, "current"), "value"), "mine");
    reply_done(&in_f);
    reply_done(&saved);
    changed_done(&changed);
    end();
}
END_TEST

START_TEST(an_equal_value_is_never_a_conflict) {
    begin();
    struct changed changed = change_both_in_f();
    const char *const bases[] = {NULL, changed.old[0], changed.new[1]}; /* none, an old one, another answer's */
    char *base = strdup(changed.g_version);
    for (unsigned i = 0; i < 3; i++) {
        struct reply saved = extraction_save(&house, g, 1, 10 + i, base, "q1", "new", bases[i]);
        ck_assert_str_eq(member_of(extraction_answer(&saved, "q1"), "revision"), changed.new[0]);
        free(base);
        base = strdup(text_of(&saved, "versionId"));
        reply_done(&saved);
    }
    struct reply read = extraction_read(&house, g, 1);
    ck_assert_ptr_null(json_object_get(extraction_answer(&read, "q1"), "outdated"));
    reply_done(&read);
    free(base);
    changed_done(&changed);
    end();
}
END_TEST

/* Fix. */

START_TEST(fix_moves_only_what_it_names) {
    begin();
    struct changed changed = change_both_in_f();
    struct reply fixed = fix_one(10, changed.g_version, "q1", changed.new[0]);
    ck_assert_int_eq(fixed.code, EVD_OK);
    ck_assert_str_eq(text_of(&fixed, "state"), "savedIncomplete");
    ck_assert_int_eq(number_of(&fixed, "versionSeq"), 2);
    ck_assert_int_eq(number_of(&fixed, "answerCount"), 2);
    ck_assert_uint_eq(json_array_size(json_object_get(fixed.body, "answers")), 1);
    ck_assert_str_eq(member_of(extraction_answer(&fixed, "q1"), "revision"), changed.new[0]);
    struct reply in_g = extraction_read(&house, g, 1), in_f = extraction_read(&house, f, 1);
    ck_assert_str_eq(member_of(extraction_answer(&in_g, "q1"), "value"), "new");
    ck_assert_ptr_null(json_object_get(extraction_answer(&in_g, "q1"), "outdated"));
    ck_assert_str_eq(member_of(extraction_answer(&in_g, "q2"), "value"), "old");
    ck_assert(json_is_true(json_object_get(extraction_answer(&in_g, "q2"), "outdated")));
    ck_assert_str_eq(text_of(&in_f, "versionId"), changed.f_version);
    struct reply versions =
        ask_ok(&house, &evd_command_list_session_versions, extraction_ids(&house, g), person(1), command_id(0), NULL);
    json_t *row = json_array_get(json_object_get(versions.body, "items"), 1);
    ck_assert_str_eq(member_of(row, "kind"), "Fix");
    ck_assert_int_eq(json_integer_value(json_object_get(row, "changedCount")), 1);
    reply_done(&versions);
    reply_done(&in_f);
    reply_done(&in_g);
    reply_done(&fixed);
    changed_done(&changed);
    end();
}
END_TEST

START_TEST(fix_opens_a_completed_session_and_keeps_the_completed_version) {
    begin();
    struct changed changed = change_both_in_f();
    struct reply done =
        extraction_ask(&house, &evd_command_complete, g, 1, 10, changed.g_version, "'formVersion':1,'answers':[]");
    ck_assert_int_eq(done.code, EVD_OK);
    struct reply fixed = fix_one(11, text_of(&done, "versionId"), "q1", changed.new[0]);
    ck_assert_str_eq(text_of(&fixed, "state"), "savedIncomplete");
    struct evd_ids ids = extraction_ids(&house, g);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&done, "versionId")), &ids.version));
    struct reply kept = ask_ok(&house, &evd_command_get_session_version, ids, person(1), command_id(0), NULL);
    ck_assert_str_eq(text_of(&kept, "kind"), "Complete");
    ck_assert_str_eq(member_of(extraction_answer(&kept, "q1"), "value"), "old");
    reply_done(&kept);
    reply_done(&fixed);
    reply_done(&done);
    changed_done(&changed);
    end();
}
END_TEST

START_TEST(a_fix_whose_head_moved_on_since_it_was_seen_is_stale_with_both_values) {
    begin();
    struct changed changed = change_both_in_f();
    struct reply newest = extraction_save(&house, f, 1, 10, changed.f_version, "q1", "newest", changed.new[0]);
    struct reply before = extraction_read(&house, g, 1);
    struct reply stale = fix_one(11, changed.g_version, "q1", changed.new[0]);
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "answers");
    json_t *conflict = extraction_answer(&stale, "q1"), *declared = json_object_get(conflict, "declared"),
           *current = json_object_get(conflict, "current");
    ck_assert_str_eq(member_of(declared, "baseRevision"), changed.new[0]);
    ck_assert_str_eq(member_of(declared, "value"), "new");
    ck_assert_str_eq(member_of(current, "value"), "newest");
    ck_assert_str_eq(member_of(current, "revision"), member_of(extraction_answer(&newest, "q1"), "revision"));
    g_is_as_it_was(&before);
    reply_done(&stale);
    reply_done(&before);
    reply_done(&newest);
    changed_done(&changed);
    end();
}
END_TEST

/* Whoever names somebody else's revision is not told what it says. */
START_TEST(a_fix_that_names_another_answers_revision_is_told_only_its_own) {
    begin();
    struct changed changed = change_both_in_f();
    struct reply theirs = extraction_save(&house, f, 2, 10, NULL, "q1", "a secret", NULL);
    const char *const foreign[] = {member_of(extraction_answer(&theirs, "q1"), "revision"), changed.new[1]};
    for (unsigned i = 0; i < 2; i++) {
        struct reply stale = fix_one(11 + i, changed.g_version, "q1", foreign[i]);
        ck_assert_int_eq(stale.code, EVD_STALE_BASE);
        json_t *conflict = extraction_answer(&stale, "q1");
        ck_assert_ptr_null(json_object_get(json_object_get(conflict, "declared"), "value"));
        ck_assert_str_eq(member_of(json_object_get(conflict, "current"), "value"), "new");
        reply_done(&stale);
    }
    reply_done(&theirs);
    changed_done(&changed);
    end();
}
END_TEST

START_TEST(fix_refuses_by_place_what_it_cannot_move_and_moves_nothing) {
    begin();
    struct changed changed = change_both_in_f();
    struct reply other = extraction_save(&house, f, 1, 10, changed.f_version, "q3", "only in F", NULL);
    const char *only_in_f = member_of(extraction_answer(&other, "q3"), "revision");
    struct reply fixed = fix_one(11, changed.g_version, "q1", changed.new[0]);
    const char *base = text_of(&fixed, "versionId");
    struct reply before = extraction_read(&house, g, 1);
    is_invalid(fix_one(12, base, "q1", changed.new[0]), "/answers/0", "notOutdated");
    is_invalid(fix_one(13, base, "q3", only_in_f), "/answers/0", "notAnswered");
    is_invalid(fix_one(14, base, "g1", changed.new[0]), "/answers/0", "notAnswered");
    is_invalid(fix_one(15, base, "no such question", changed.new[0]), "/answers/0", "notAnswered");
    is_invalid(fix(16, base, ""), "/answers", "empty");
    char *twice =
        json_of("{'question':'q2','revision':'%s'},{'question':'q2','revision':'%s'}", changed.new[1], changed.new[1]);
    is_invalid(fix(17, base, twice), "/answers", "repeatedPlace");
    free(twice);
    char *mixed =
        json_of("{'question':'q2','revision':'%s'},{'question':'q1','revision':'%s'}", changed.new[1], changed.new[0]);
    is_invalid(fix(18, base, mixed), "/answers/1", "notOutdated");
    free(mixed);
    g_is_as_it_was(&before);
    reply_done(&before);
    reply_done(&fixed);
    reply_done(&other);
    changed_done(&changed);
    end();
}
END_TEST

START_TEST(fix_takes_no_answer_the_sessions_own_form_could_not_have) {
    begin();
    struct extraction strict = extraction_add(&house, 2, "[{'id':'q1','label':'Short','kind':'text','maxLength':3}]");
    struct reply in_f = extraction_save(&house, f, 1, 1, NULL, "q1", "old", NULL);
    struct reply taken = extraction_save(&house, strict, 1, 2, NULL, "q1", "old", NULL);
    struct reply longer = extraction_save(&house, f, 1, 3, text_of(&in_f, "versionId"), "q1", "much longer",
                                          member_of(extraction_answer(&in_f, "q1"), "revision"));
    char *members = json_of("'answers':[{'question':'q1','revision':'%s'}]",
                            member_of(extraction_answer(&longer, "q1"), "revision"));
    is_invalid(extraction_ask(&house, &evd_command_fix, strict, 1, 4, text_of(&taken, "versionId"), members),
               "/answers/0/value", "tooLong");
    free(members);
    reply_done(&longer);
    reply_done(&taken);
    reply_done(&in_f);
    end();
}
END_TEST

START_TEST(a_fix_of_a_withdrawn_session_needs_a_place) {
    begin();
    struct evd_arena arena;
    evd_arena_init(&arena, 4 * EVD_MIB);
    struct changed changed = change_both_in_f();
    struct reply gone = extraction_ask(&house, &evd_command_withdraw, g, 1, 10, changed.g_version, "");
    ck_assert_int_eq(gone.code, EVD_OK);
    struct evd_form *form = BEHIND_READ(&house, form, g.form, &arena);
    form->capacity->target = 1;
    BEHIND_REPLACE(&house, form, form);
    struct reply other = extraction_save(&house, g, 2, 11, NULL, "g1", "in the place", NULL);
    struct reply full = fix_one(12, text_of(&gone, "versionId"), "q1", changed.new[0]);
    ck_assert_int_eq(full.code, EVD_AT_CAPACITY);
    struct reply left = extraction_ask(&house, &evd_command_withdraw, g, 2, 13, text_of(&other, "versionId"), "");
    struct reply back = fix_one(14, text_of(&gone, "versionId"), "q1", changed.new[0]);
    ck_assert_int_eq(back.code, EVD_OK);
    reply_done(&back);
    reply_done(&left);
    reply_done(&full);
    reply_done(&other);
    reply_done(&gone);
    changed_done(&changed);
    evd_arena_done(&arena);
    end();
}
END_TEST

START_TEST(a_fix_sent_again_is_answered_with_its_receipt) {
    begin();
    struct changed changed = change_both_in_f();
    struct reply first = fix_one(10, changed.g_version, "q1", changed.new[0]);
    struct reply again = fix_one(10, changed.g_version, "q1", changed.new[0]);
    ck_assert(again.replayed);
    ck_assert_str_eq(again.text, first.text);
    struct reply stale = fix_one(11, changed.g_version, "q2", changed.new[1]);
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "session");
    ck_assert_str_eq(text_of(&stale, "current"), text_of(&first, "versionId"));
    reply_done(&stale);
    reply_done(&again);
    reply_done(&first);
    changed_done(&changed);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: answers two forms share", an_answer_another_form_changed_is_shown_outdated_with_what_it_is_now,
              notes_alone_make_an_answer_outdated_and_are_shown, another_reviewers_answer_makes_nothing_outdated,
              a_damaged_head_or_current_value_is_not_shown,
              saving_form_G_after_form_F_changed_a_shared_answer_shows_both_values_and_keeps_Gs_draft,
              what_was_stale_is_saved_from_the_current_revision_and_is_then_outdated_in_F,
              an_equal_value_is_never_a_conflict, fix_moves_only_what_it_names,
              fix_opens_a_completed_session_and_keeps_the_completed_version,
              a_fix_whose_head_moved_on_since_it_was_seen_is_stale_with_both_values,
              a_fix_that_names_another_answers_revision_is_told_only_its_own,
              fix_refuses_by_place_what_it_cannot_move_and_moves_nothing,
              fix_takes_no_answer_the_sessions_own_form_could_not_have, a_fix_of_a_withdrawn_session_needs_a_place,
              a_fix_sent_again_is_answered_with_its_receipt)
