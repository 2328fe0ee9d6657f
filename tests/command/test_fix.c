/*
 * Fix: takes over what another form of the same author made of an answer, of those it names and of no others.
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

static struct reply fix(unsigned id, const char *base, const char *answers) {
    char *members = json_of("'answers':[%s]", answers);
    struct reply reply = extraction_ask(&house, &evd_command_fix, shared.g, 1, id, base, members);
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
    struct reply after = extraction_read(&house, shared.g, 1);
    ck_assert_str_eq(after.text, before->text);
    reply_done(&after);
}

START_TEST(fix_moves_only_what_it_names) {
    begin();
    shared_change(&house, &shared);
    struct reply fixed = fix_one(10, shared.g_version, "q1", shared.new[0]);
    ck_assert_int_eq(fixed.code, EVD_OK);
    ck_assert_str_eq(text_of(&fixed, "state"), "savedIncomplete");
    ck_assert_int_eq(number_of(&fixed, "versionSeq"), 2);
    ck_assert_int_eq(number_of(&fixed, "answerCount"), 2);
    ck_assert_uint_eq(json_array_size(json_object_get(fixed.body, "answers")), 1);
    ck_assert_str_eq(member_of(extraction_answer(&fixed, "q1"), "revision"), shared.new[0]);
    struct reply in_g = extraction_read(&house, shared.g, 1), in_f = extraction_read(&house, shared.f, 1);
    ck_assert_str_eq(member_of(extraction_answer(&in_g, "q1"), "value"), "new");
    ck_assert_ptr_null(json_object_get(extraction_answer(&in_g, "q1"), "outdated"));
    ck_assert_str_eq(member_of(extraction_answer(&in_g, "q2"), "value"), "old");
    ck_assert(json_is_true(json_object_get(extraction_answer(&in_g, "q2"), "outdated")));
    ck_assert_str_eq(text_of(&in_f, "versionId"), shared.f_version);
    struct reply versions = ask_ok(&house, &evd_command_list_session_versions, extraction_ids(&house, shared.g),
                                   person(1), command_id(0), NULL);
    json_t *row = json_array_get(json_object_get(versions.body, "items"), 1);
    ck_assert_str_eq(member_of(row, "kind"), "Fix");
    ck_assert_int_eq(json_integer_value(json_object_get(row, "changedCount")), 1);
    reply_done(&versions);
    reply_done(&in_f);
    reply_done(&in_g);
    reply_done(&fixed);
    end();
}
END_TEST

START_TEST(fix_opens_a_completed_session_and_keeps_the_completed_version) {
    begin();
    shared_change(&house, &shared);
    struct reply done = extraction_ask(&house, &evd_command_complete, shared.g, 1, 10, shared.g_version,
                                       "'formVersion':1,'answers':[]");
    ck_assert_int_eq(done.code, EVD_OK);
    struct reply fixed = fix_one(11, text_of(&done, "versionId"), "q1", shared.new[0]);
    ck_assert_str_eq(text_of(&fixed, "state"), "savedIncomplete");
    struct evd_ids ids = extraction_ids(&house, shared.g);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&done, "versionId")), &ids.version));
    struct reply kept = ask_ok(&house, &evd_command_get_session_version, ids, person(1), command_id(0), NULL);
    ck_assert_str_eq(text_of(&kept, "kind"), "Complete");
    ck_assert_str_eq(member_of(extraction_answer(&kept, "q1"), "value"), "old");
    reply_done(&kept);
    reply_done(&fixed);
    reply_done(&done);
    end();
}
END_TEST

START_TEST(a_fix_whose_head_moved_on_since_it_was_seen_is_stale_with_both_values) {
    begin();
    shared_change(&house, &shared);
    struct reply newest = extraction_save(&house, shared.f, 1, 10, shared.f_version, "q1", "newest", shared.new[0]);
    struct reply before = extraction_read(&house, shared.g, 1);
    struct reply stale = fix_one(11, shared.g_version, "q1", shared.new[0]);
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "answers");
    json_t *conflict = extraction_answer(&stale, "q1"), *declared = json_object_get(conflict, "declared"),
           *current = json_object_get(conflict, "current");
    ck_assert_str_eq(member_of(declared, "baseRevision"), shared.new[0]);
    ck_assert_str_eq(member_of(declared, "value"), "new");
    ck_assert_str_eq(member_of(current, "value"), "newest");
    ck_assert_str_eq(member_of(current, "revision"), member_of(extraction_answer(&newest, "q1"), "revision"));
    g_is_as_it_was(&before);
    reply_done(&stale);
    reply_done(&before);
    reply_done(&newest);
    end();
}
END_TEST

/* Whoever names somebody else's revision is not told what it says. */
START_TEST(a_fix_that_names_another_answers_revision_is_told_only_its_own) {
    begin();
    shared_change(&house, &shared);
    struct reply theirs = extraction_save(&house, shared.f, 2, 10, NULL, "q1", "a secret", NULL);
    const char *const foreign[] = {member_of(extraction_answer(&theirs, "q1"), "revision"), shared.new[1]};
    for (unsigned i = 0; i < 2; i++) {
        struct reply stale = fix_one(11 + i, shared.g_version, "q1", foreign[i]);
        ck_assert_int_eq(stale.code, EVD_STALE_BASE);
        json_t *conflict = extraction_answer(&stale, "q1");
        ck_assert_ptr_null(json_object_get(json_object_get(conflict, "declared"), "value"));
        ck_assert_str_eq(member_of(json_object_get(conflict, "current"), "value"), "new");
        reply_done(&stale);
    }
    reply_done(&theirs);
    end();
}
END_TEST

START_TEST(fix_refuses_by_place_what_it_cannot_move_and_moves_nothing) {
    begin();
    shared_change(&house, &shared);
    struct reply other = extraction_save(&house, shared.f, 1, 10, shared.f_version, "q3", "only in F", NULL);
    const char *only_in_f = member_of(extraction_answer(&other, "q3"), "revision");
    struct reply fixed = fix_one(11, shared.g_version, "q1", shared.new[0]);
    const char *base = text_of(&fixed, "versionId");
    struct reply before = extraction_read(&house, shared.g, 1);
    is_invalid(fix_one(12, base, "q1", shared.new[0]), "/answers/0", "notOutdated");
    is_invalid(fix_one(13, base, "q3", only_in_f), "/answers/0", "notAnswered");
    is_invalid(fix_one(14, base, "g1", shared.new[0]), "/answers/0", "notAnswered");
    is_invalid(fix_one(15, base, "no such question", shared.new[0]), "/answers/0", "notAnswered");
    is_invalid(fix(16, base, ""), "/answers", "empty");
    char *twice =
        json_of("{'question':'q2','revision':'%s'},{'question':'q2','revision':'%s'}", shared.new[1], shared.new[1]);
    is_invalid(fix(17, base, twice), "/answers", "repeatedPlace");
    free(twice);
    char *mixed =
        json_of("{'question':'q2','revision':'%s'},{'question':'q1','revision':'%s'}", shared.new[1], shared.new[0]);
    is_invalid(fix(18, base, mixed), "/answers/1", "notOutdated");
    free(mixed);
    g_is_as_it_was(&before);
    reply_done(&before);
    reply_done(&fixed);
    reply_done(&other);
    end();
}
END_TEST

START_TEST(fix_takes_no_answer_the_sessions_own_form_could_not_have) {
    begin();
    struct extraction strict = extraction_add(&house, 2, "[{'id':'q1','label':'Short','kind':'text','maxLength':3}]");
    struct reply in_f = extraction_save(&house, shared.f, 1, 1, NULL, "q1", "old", NULL);
    struct reply taken = extraction_save(&house, strict, 1, 2, NULL, "q1", "old", NULL);
    struct reply longer = extraction_save(&house, shared.f, 1, 3, text_of(&in_f, "versionId"), "q1", "much longer",
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
    shared_change(&house, &shared);
    struct reply gone = extraction_ask(&house, &evd_command_withdraw, shared.g, 1, 10, shared.g_version, "");
    ck_assert_int_eq(gone.code, EVD_OK);
    struct evd_form *form = BEHIND_READ(&house, form, shared.g.form, &arena);
    form->capacity->target = 1;
    BEHIND_REPLACE(&house, form, form);
    struct reply other = extraction_save(&house, shared.g, 2, 11, NULL, "g1", "in the place", NULL);
    struct reply full = fix_one(12, text_of(&gone, "versionId"), "q1", shared.new[0]);
    ck_assert_int_eq(full.code, EVD_AT_CAPACITY);
    struct reply left =
        extraction_ask(&house, &evd_command_withdraw, shared.g, 2, 13, text_of(&other, "versionId"), "");
    struct reply back = fix_one(14, text_of(&gone, "versionId"), "q1", shared.new[0]);
    ck_assert_int_eq(back.code, EVD_OK);
    reply_done(&back);
    reply_done(&left);
    reply_done(&full);
    reply_done(&other);
    reply_done(&gone);
    evd_arena_done(&arena);
    end();
}
END_TEST

START_TEST(a_fix_sent_again_is_answered_with_its_receipt) {
    begin();
    shared_change(&house, &shared);
    struct reply first = fix_one(10, shared.g_version, "q1", shared.new[0]);
    struct reply again = fix_one(10, shared.g_version, "q1", shared.new[0]);
    ck_assert(again.replayed);
    ck_assert_str_eq(again.text, first.text);
    struct reply stale = fix_one(11, shared.g_version, "q2", shared.new[1]);
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "session");
    ck_assert_str_eq(text_of(&stale, "current"), text_of(&first, "versionId"));
    reply_done(&stale);
    reply_done(&again);
    reply_done(&first);
    end();
}
END_TEST

#define ONE "11111111-1111-4111-8111-111111111111"
#define TWO "22222222-2222-4222-8222-222222222222"

/* An instance and the reference to it, as members of a Save. */
static char *instance_and_reference(const char *instance, const char *name, const char *base) {
    char *revision = base == NULL ? json_of("null") : json_of("'%s'", base);
    char *members = json_of("'formVersion':1,'answers':["
                            "{'question':'cohort','path':[{'question':'cohort','element':'%s'}],'value':'%s',"
                            "'baseRevision':null},"
                            "{'question':'treated','value':['%s'],'baseRevision':%s}]",
                            instance, name, instance, revision);
    free(revision);
    return members;
}

START_TEST(fix_takes_over_no_reference_to_what_the_session_has_not) {
    static const char *const questions = "[{'id':'cohort','label':'Cohorts','kind':'unit'},"
                                         "{'id':'treated','label':'Treated','kind':'reference','target':'cohort'}]";
    begin();
    struct extraction f = extraction_add(&house, 2, questions), g = extraction_add(&house, 3, questions);
    char *first = instance_and_reference(ONE, "one", NULL);
    struct reply in_f = extraction_ask(&house, &evd_command_save, f, 1, 1, NULL, first);
    struct reply in_g = extraction_ask(&house, &evd_command_save, g, 1, 2, NULL, first);
    char *second = instance_and_reference(TWO, "two", member_of(extraction_answer(&in_f, "treated"), "revision"));
    struct reply changed = extraction_ask(&house, &evd_command_save, f, 1, 3, text_of(&in_f, "versionId"), second);
    ck_assert_int_eq(changed.code, EVD_OK);
    char *move = json_of("'answers':[{'question':'treated','revision':'%s'}]",
                         member_of(extraction_answer(&changed, "treated"), "revision"));
    is_invalid(extraction_ask(&house, &evd_command_fix, g, 1, 4, text_of(&in_g, "versionId"), move),
               "/answers/0/value/0", "brokenReference");
    char *third = json_of("'formVersion':1,'answers':[{'question':'cohort','path':[{'question':'cohort','element':'" TWO
                          "'}],'value':'two','baseRevision':null}]");
    struct reply has_it = extraction_ask(&house, &evd_command_save, g, 1, 5, text_of(&in_g, "versionId"), third);
    struct reply fixed = extraction_ask(&house, &evd_command_fix, g, 1, 6, text_of(&has_it, "versionId"), move);
    ck_assert_int_eq(fixed.code, EVD_OK);
    reply_done(&fixed);
    reply_done(&has_it);
    free(third);
    free(move);
    reply_done(&changed);
    free(second);
    reply_done(&in_g);
    reply_done(&in_f);
    free(first);
    end();
}
END_TEST

/* In form F one answer is saved and another being typed; meanwhile form G changes the saved one. */
static struct typist type_beside_a_change(char **ret_revision) {
    struct typist typist = typist_new(&house, 1, 1);
    struct reply saved = typist_save(&typist, &evd_command_save, 10, "q1", "old", NULL);
    char *content = typed("q3", "still being typed");
    typist_put_ok(&typist, content);
    struct reply in_g = extraction_save(&house, shared.g, 1, 11, NULL, "q1", "newer",
                                        member_of(extraction_answer(&saved, "q1"), "revision"));
    *ret_revision = strdup(member_of(extraction_answer(&in_g, "q1"), "revision"));
    reply_done(&in_g);
    free(content);
    reply_done(&saved);
    return typist;
}

static struct reply fix_naming(const struct typist *typist, const char *revision, const char *draft) {
    char stage[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(shared.f.stage, stage);
    char *body = json_of("{'stage':'%s','baseVersion':'%s','draft':%s,'answers':[{'question':'q1','revision':'%s'}]}",
                         stage, typist->base, draft, revision);
    struct reply reply = ask(&house, &evd_command_fix, typist->ids, person(1), command_id(12), body);
    free(body);
    return reply;
}

START_TEST(what_is_typed_beside_a_fix_that_consumes_it_is_kept_as_a_copy) {
    begin();
    char *revision;
    struct typist typist = type_beside_a_change(&revision);
    char *draft = typist_draft(&typist);
    struct reply fixed = fix_naming(&typist, revision, draft);
    ck_assert_int_eq(fixed.code, EVD_OK);
    ck_assert_uint_eq(typist_copies(&typist), 1);
    struct reply read = typist_read(&typist);
    ck_assert(json_is_null(json_object_get(read.body, "content")));
    ck_assert_str_eq(text_of(&read, "baseVersion"), text_of(&fixed, "versionId"));
    reply_done(&read);
    reply_done(&fixed);
    free(draft);
    free(revision);
    end();
}
END_TEST

START_TEST(a_fix_that_names_no_draft_while_a_tab_types_is_refused_and_takes_nothing) {
    begin();
    char *revision;
    struct typist typist = type_beside_a_change(&revision);
    struct reply before = typist_read(&typist);
    struct reply held = fix_naming(&typist, revision, "null");
    ck_assert_int_eq(held.code, EVD_DRAFT_LEASE_HELD);
    struct reply after = typist_read(&typist);
    ck_assert_str_eq(after.text, before.text);
    ck_assert_uint_eq(typist_copies(&typist), 0);
    reply_done(&after);
    reply_done(&held);
    reply_done(&before);
    free(revision);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: Fix", fix_moves_only_what_it_names,
              fix_opens_a_completed_session_and_keeps_the_completed_version,
              a_fix_whose_head_moved_on_since_it_was_seen_is_stale_with_both_values,
              a_fix_that_names_another_answers_revision_is_told_only_its_own,
              fix_refuses_by_place_what_it_cannot_move_and_moves_nothing,
              fix_takes_no_answer_the_sessions_own_form_could_not_have, a_fix_of_a_withdrawn_session_needs_a_place,
              a_fix_sent_again_is_answered_with_its_receipt, fix_takes_over_no_reference_to_what_the_session_has_not,
              what_is_typed_beside_a_fix_that_consumes_it_is_kept_as_a_copy,
              a_fix_that_names_no_draft_while_a_tab_types_is_refused_and_takes_nothing)
