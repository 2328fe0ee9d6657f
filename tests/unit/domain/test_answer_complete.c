#include "evidenced/domain/answer.h"

#include "forms.h"

static struct evd_errors complete(const struct evd_definition *definition, const struct evd_answer *answers,
                                  size_t count) {
    struct evd_errors errors;
    evd_errors_init(&errors, &arena);
    evd_answers_check_complete(definition, answers, count, &errors);
    return errors;
}

#define HANGING_FORM                                                                                                   \
    "[{'id':'deepest','kind':'text','required':true,'parent':{'questionId':'why'}},"                                   \
    "{'id':'control','kind':'boolean','required':true},"                                                               \
    "{'id':'which','kind':'choice','options':[{'id':'sham'},{'id':'drug'},{'id':'none'}],'required':true,"             \
    "'parent':{'questionId':'control','anyOf':['true']}},"                                                             \
    "{'id':'why','kind':'text','required':true,'parent':{'questionId':'which','anyOf':['drug','sham']}},"              \
    "{'id':'no','kind':'text','required':true,'parent':{'questionId':'control','anyOf':['false']}},"                   \
    "{'id':'signs','kind':'multichoice','options':[{'id':'a'},{'id':'b'},{'id':'c'}]},"                                \
    "{'id':'more','kind':'text','required':true,'parent':{'questionId':'signs','anyOf':['b','c']}},"                   \
    "{'id':'count','kind':'integer','parent':{'questionId':'signs'}},"                                                 \
    "{'id':'each','kind':'text','required':true,'parent':{'questionId':'count'}}]"

#define BOUNDED_FORM                                                                                                   \
    "[{'id':'i','kind':'integer','min':'1','max':'10'},{'id':'low','kind':'integer','min':'-9007199254740991'},"       \
    "{'id':'d','kind':'decimal','min':'0.10','max':'9999999999999999999999999999999.999'},"                            \
    "{'id':'day','kind':'date','min':'2020-02-29','max':'2020-12-31'},"                                                \
    "{'id':'t','kind':'text','maxLength':2}]"

START_TEST(a_session_is_complete_when_all_that_is_asked_and_required_is_answered) {
    static const struct {
        const char *form, *answers, *errors;
    } sessions[] = {
        {"[]", "{}", ""},
        {"[{'id':'a','kind':'text'}]", "{}", ""},
        {"[{'id':'a','kind':'text','required':true}]", "{}", "a required"},
        {"[{'id':'a','kind':'text','required':true}]", "{'a':'x'}", ""},
        {HANGING_FORM, "{}", "control required"},
        {HANGING_FORM, "{'control':true}", "which required"},
        {HANGING_FORM, "{'control':false}", "no required"},
        {HANGING_FORM, "{'control':false,'no':'x'}", ""},
        {HANGING_FORM, "{'no':'x','control':true,'which':'none'}", "no notApplicable"},
        {HANGING_FORM, "{'control':true,'which':'none'}", ""},
        {HANGING_FORM, "{'control':true,'which':'sham'}", "why required"},
        {HANGING_FORM, "{'control':true,'which':'drug','why':'x'}", "deepest required"},
        {HANGING_FORM, "{'control':true,'which':'drug','why':'x','deepest':'x'}", ""},
        {HANGING_FORM, "{'control':true,'which':'none','why':'x','deepest':'x'}",
         "deepest notApplicable; why notApplicable"},
        /* A parent that is answered but not asked asks for nothing itself. */
        {HANGING_FORM, "{'control':false,'no':'x','which':'drug','why':'x','deepest':'x'}",
         "deepest notApplicable; which notApplicable; why notApplicable"},
        /* A parent that was withdrawn. */
        {HANGING_FORM, "{'which':'drug','why':'x','deepest':'x','no':'x'}",
         "deepest notApplicable; control required; which notApplicable; why notApplicable; no notApplicable"},
        {HANGING_FORM, "{'control':false,'no':'x','signs':['a']}", ""},
        {HANGING_FORM, "{'control':false,'no':'x','signs':['a','c']}", "more required"},
        {HANGING_FORM, "{'control':false,'no':'x','signs':['c','b'],'more':'x'}", ""},
        {HANGING_FORM, "{'control':false,'no':'x','signs':['a'],'more':'x'}", "more notApplicable"},
        {HANGING_FORM, "{'control':false,'no':'x','signs':['a'],'count':0}", "each required"},
        {HANGING_FORM, "{'control':false,'no':'x','count':0,'each':'x'}", "count notApplicable; each notApplicable"},
        /* An answer that could not be saved either is told as such, and asks for nothing it does not say. */
        {HANGING_FORM, "{'control':true,'which':'knife'}", "which unknownOption"},
        {HANGING_FORM, "{'control':'true'}", "control wrongType"},
        {HANGING_FORM, "{'control':null}", "control emptyAnswer"},
        {HANGING_FORM, "{'control':false,'no':'','gone':1}", "gone unknownQuestion; no emptyAnswer"},
        {HANGING_FORM, "{'control':false,'no':'x','which':'knife'}", "which unknownOption; which notApplicable"},
        {BOUNDED_FORM, "{'i':1,'d':'0.1','day':'2020-02-29','low':-9007199254740991}", ""},
        {BOUNDED_FORM, "{'i':10,'d':'9999999999999999999999999999999.9990','day':'2020-12-31'}", "d notADecimal"},
        {BOUNDED_FORM, "{'i':10,'d':'9999999999999999999999999999999.999','day':'2020-12-31'}", ""},
        {BOUNDED_FORM, "{'i':0,'d':'0.0999999999999999999999999999999','day':'2020-02-28'}",
         "i belowMin; d belowMin; day belowMin"},
        {BOUNDED_FORM, "{'day':'2021-01-01','d':'10000000000000000000000000000000.00','i':11}",
         "i aboveMax; d aboveMax; day aboveMax"},
        {BOUNDED_FORM, "{'d':'-0.2','t':'abc'}", "d belowMin; t tooLong"},
        {PLAIN_FORM, "{'u':'x','below':'x','split':['x']}",
         "u wrongPath; below wrongPath; split wrongPath; split wrongType"},
        {"[{'id':'u','kind':'unit'},{'id':'a','kind':'text','required':true,'unit':'u'},"
         "{'id':'b','kind':'text','required':true,'parent':{'questionId':'a'}}]",
         "{}", ""},
        {"[{'id':'u','kind':'unit','required':true}]", "{}", "u required"},
    };
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
        begin();
        size_t count = 0;
        const struct evd_answer *answers = answers_of(sessions[i].answers, &count);
        struct evd_errors errors = complete(definition_of(sessions[i].form), answers, count);
        ck_assert_msg(strcmp(places_in(&errors), sessions[i].errors) == 0, "%zu, %s: %s", i, sessions[i].answers,
                      places_in(&errors));
        end();
    }
}
END_TEST

START_TEST(a_range_is_told_with_its_bound_and_the_answer) {
    begin();
    size_t count = 0;
    const struct evd_answer *answers = answers_of("{'i':11}", &count);
    struct evd_errors errors = complete(definition_of(BOUNDED_FORM), answers, count);
    ck_assert_uint_eq(errors.total, 1);
    json_t *members = members_of(&errors.items[0]);
    json_t *expected = quoted("{'question':'i','path':[],'rule':'max','expected':'10','found':'11'}");
    ck_assert(json_equal(members, expected));
    json_decref(members);
    json_decref(expected);
    end();
}
END_TEST

START_TEST(all_that_is_missing_is_counted_when_there_is_no_room_to_tell_it) {
    begin();
    struct evd_form_version *form = form_of_texts(EVD_LIMIT_QUESTIONS);
    for (size_t i = 0; i < form->questions.count; i++)
        form->questions.items[i].required = true;
    struct evd_errors errors = complete(evd_definition_compile(form, &arena), NULL, 0);
    ck_assert_uint_eq(errors.total, EVD_LIMIT_QUESTIONS);
    ck_assert_uint_eq(errors.count, EVD_LIMIT_VALIDATION_ERRORS);
    ck_assert_ptr_nonnull(strstr(places_in(&errors), "q998 required; q999 required"));
    end();
}
END_TEST

START_TEST(any_definition_can_be_answered_without_harm) {
    struct evd_test_random random;
    evd_test_random_init(&random, 6);
    for (int round = 0; round < 2000; round++) {
        begin();
        struct evd_form_version *form = random_form(&random.random, 30, 60);
        const struct evd_definition *definition = evd_definition_compile(form, &arena);
        const struct evd_answer **answer_of = EVD_NEW_ARRAY(&arena, const struct evd_answer *, form->questions.count);
        struct evd_answer *answers = EVD_NEW_ARRAY(&arena, struct evd_answer, form->questions.count);
        size_t count = 0;
        for (size_t i = 0; i < form->questions.count; i++) {
            const struct evd_question *question = &form->questions.items[i];
            const struct evd_question *found = evd_definition_question(definition, question->id);
            size_t number = (size_t)(found - form->questions.items);
            if (answer_of[number] != NULL) continue;
            struct evd_answer_value value = evd_random_below(&random.random, 2) == 0
                                                ? texts_value("o0,o3,o9")
                                                : boolean_value(evd_random_below(&random.random, 2) == 0);
            answers[count] =
                (struct evd_answer){.question = question->id, .value = evd_arena_copy(&arena, &value, sizeof value)};
            answer_of[number] = &answers[count++];
        }
        (void)complete(definition, answers, count);
        end();
    }
}
END_TEST

START_TEST(a_cycle_that_was_never_checked_is_simply_not_asked) {
    begin();
    struct evd_form_version *form = form_of_texts(3);
    hang_under(&form->questions.items[0], EVD_TEXT("q1"));
    hang_under(&form->questions.items[1], EVD_TEXT("q0"));
    for (size_t i = 0; i < 3; i++)
        form->questions.items[i].required = true;
    size_t count = 0;
    const struct evd_answer *answers = answers_of("{'q0':'x','q1':'x'}", &count);
    struct evd_errors errors = complete(evd_definition_compile(form, &arena), answers, count);
    ck_assert_str_eq(places_in(&errors), "q0 notApplicable; q1 notApplicable; q2 required");
    end();
}
END_TEST

EVD_TEST_MAIN("domain: complete answers", a_session_is_complete_when_all_that_is_asked_and_required_is_answered,
              a_range_is_told_with_its_bound_and_the_answer,
              all_that_is_missing_is_counted_when_there_is_no_room_to_tell_it,
              any_definition_can_be_answered_without_harm, a_cycle_that_was_never_checked_is_simply_not_asked)
