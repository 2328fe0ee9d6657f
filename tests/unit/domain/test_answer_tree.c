/*
 * Complete over units and split answers: what is asked under which element, and told in which order.
 */
#include "evidenced/domain/answer.h"

#include "forms.h"

static struct evd_errors complete(const struct evd_definition *definition, const struct evd_answer *answers,
                                  size_t count) {
    struct evd_errors errors;
    evd_errors_init(&errors, &arena);
    evd_answers_check_complete(definition, answers, count, &errors);
    return errors;
}

/* A model as animal studies have it: treatments; cohorts, some of them controls; outcomes of a cohort, as series. */
#define STUDY_FORM                                                                                                     \
    "[{'id':'species','kind':'text','required':true},"                                                                 \
    "{'id':'drug','kind':'unit'},"                                                                                     \
    "{'id':'dose','kind':'decimal','unit':'drug','required':true,'min':'0'},"                                          \
    "{'id':'cohort','kind':'unit','required':true},"                                                                   \
    "{'id':'control','kind':'boolean','unit':'cohort','required':true},"                                               \
    "{'id':'gets','kind':'reference','target':'drug','required':true,"                                                 \
    "'parent':{'questionId':'control','anyOf':['false']}},"                                                            \
    "{'id':'placebo','kind':'text','required':true,'parent':{'questionId':'control','anyOf':['true']}},"               \
    "{'id':'outcome','kind':'unit','unit':'cohort'},"                                                                  \
    "{'id':'data','kind':'series','unit':'outcome','required':true},"                                                  \
    "{'id':'n','kind':'integer','unit':'outcome','min':'1','max':'99'},"                                               \
    "{'id':'blind','kind':'text','unit':'outcome','parent':{'questionId':'placebo'},'required':true}]"

#define DATA "[{'time':'0','average':'1'}]"

START_TEST(a_question_is_asked_once_under_each_element_of_its_frame) {
    static const struct {
        const char *answers, *errors;
    } sessions[] = {
        {"{}", "species required; cohort required"},
        {"{'species':'rat','cohort=1':'A','cohort=1/control':true,'cohort=1/placebo':'x'}", ""},
        {"{'species':'rat','cohort=1':'A'}", "cohort=1/control required"},
        {"{'species':'rat','cohort=1':'A','cohort=2':'B','cohort=2/control':true}",
         "cohort=1/control required; cohort=2/placebo required"},
        /* Only for controls, and only of that cohort. */
        {"{'species':'rat','cohort=1':'A','cohort=1/control':true,'cohort=1/placebo':'x','cohort=2':'B',"
         "'cohort=2/control':false,'cohort=2/gets':['3'],'drug=3':'D','drug=3/dose':'1'}",
         ""},
        {"{'species':'rat','cohort=1':'A','cohort=1/control':true,'cohort=1/gets':['3'],'cohort=2':'B',"
         "'cohort=2/control':false,'cohort=2/placebo':'x','drug=3':'D','drug=3/dose':'1'}",
         "cohort=1/gets notApplicable; cohort=1/placebo required; cohort=2/gets required; "
         "cohort=2/placebo notApplicable"},
        /* Units may be without instances, but what there is of them is whole. */
        {"{'species':'rat','drug=3':'D','drug=4':'E','drug=4/dose':'-1','cohort=1':'A','cohort=1/control':true,"
         "'cohort=1/placebo':'x'}",
         "drug=3/dose required; drug=4/dose belowMin"},
        /* A question under an outcome whose parent stands in the cohort above. */
        {"{'species':'rat','cohort=1':'A','cohort=1/control':true,'cohort=1/placebo':'x','cohort=1/outcome=5':'O',"
         "'cohort=1/outcome=5/data':" DATA ",'cohort=1/outcome=5/n':100,'cohort=1/outcome=6':'P'}",
         "cohort=1/outcome=5/n aboveMax; cohort=1/outcome=5/blind required; cohort=1/outcome=6/data required; "
         "cohort=1/outcome=6/blind required"},
        {"{'species':'rat','cohort=1':'A','cohort=1/control':false,'cohort=1/gets':['3'],'drug=3':'D',"
         "'drug=3/dose':'1','cohort=1/outcome=5':'O','cohort=1/outcome=5/data':" DATA ","
         "'cohort=1/outcome=5/blind':'x'}",
         "cohort=1/outcome=5/blind notApplicable"},
        /* Elements that are not there, and places that are none. */
        {"{'species':'rat','cohort=1':'A','cohort=1/control':true,'cohort=1/placebo':'x','drug=3/dose':'1',"
         "'cohort=2/outcome=5/n':'x','cohort=1/outcome=6/n':1}",
         "cohort=1/outcome=6/n unknownElement; cohort=2/outcome=5/n unknownElement; cohort=2/outcome=5/n wrongType; "
         "drug=3/dose unknownElement"},
        {"{'species':'rat','cohort=1':'A','cohort=1/control':true,'cohort=1/placebo':'x','dose':'1','gone=1':'x',"
         "'cohort=x':'A','cohort=x/control':true}",
         "dose wrongPath; gone=1 unknownQuestion; cohort=x malformedElement; cohort=x/control malformedElement"},
        /* An element that is not one has nothing below it. */
        {"{'species':'rat','cohort=1':'A','cohort=1/control':true,'cohort=1/placebo':'x','cohort=2/cohort=3':'x',"
         "'cohort=3/control':true}",
         "cohort=2/cohort=3 wrongPath; cohort=3/control unknownElement"},
        /* Series and references are judged as for Save; what they point at, at the end. */
        {"{'species':'rat','cohort=1':'A','cohort=1/control':false,'cohort=1/gets':['3','1'],"
         "'cohort=1/outcome=5':'','cohort=1/outcome=5/data':[{'time':'1','average':'x'},{'time':'1.0','average':'2'}]}",
         "cohort=1/outcome=5 emptyAnswer; cohort=1/outcome=5/data notADecimal; cohort=1/outcome=5/data repeatedTime; "
         "cohort=1/gets brokenReference; cohort=1/gets brokenReference"},
        {"{'species':'rat','cohort=1':'A','cohort=1/control':true,'cohort=1/placebo':'x','drug=1':'D',"
         "'drug=1/dose':'1'}",
         "drug=1 repeatedElement"},
    };
    begin();
    const struct evd_definition *definition = definition_of(STUDY_FORM);
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
        size_t count = 0;
        const struct evd_answer *answers = answers_of(sessions[i].answers, &count);
        struct evd_errors errors = complete(definition, answers, count);
        ck_assert_msg(strcmp(places_in(&errors), sessions[i].errors) == 0, "%zu: %s", i, places_in(&errors));
    }
    end();
}
END_TEST

#define SPLIT_FORM                                                                                                     \
    "[{'id':'on','kind':'boolean'},"                                                                                   \
    "{'id':'m','kind':'multichoice','split':true,'required':true,'parent':{'questionId':'on','anyOf':['true']},"       \
    "'options':[{'id':'x'},{'id':'y'},{'id':'z'}]},"                                                                   \
    "{'id':'each','kind':'text','required':true,'parent':{'questionId':'m'}},"                                         \
    "{'id':'only','kind':'text','required':true,'parent':{'questionId':'m','anyOf':['y','z']}},"                       \
    "{'id':'deep','kind':'text','required':true,'parent':{'questionId':'only'}},"                                      \
    "{'id':'in','kind':'multichoice','split':true,'parent':{'questionId':'m','anyOf':['z']},"                          \
    "'options':[{'id':'x'},{'id':'y'}]},"                                                                              \
    "{'id':'inner','kind':'text','required':true,'parent':{'questionId':'in','anyOf':['y']}},"                         \
    "{'id':'both','kind':'text','parent':{'questionId':'in'}}]"

START_TEST(a_child_of_a_split_question_hangs_under_the_options_it_names) {
    static const struct {
        const char *answers, *errors;
    } sessions[] = {
        {"{}", ""},
        {"{'on':true}", "m required"},
        {"{'on':true,'m=x':true}", "m=x/each required"},
        {"{'on':true,'m=x':true,'m=x/each':'a'}", ""},
        {"{'on':true,'m=y':true,'m=y/each':'a'}", "m=y/only required"},
        {"{'on':true,'m=y':true,'m=y/each':'a','m=y/only':'a'}", "m=y/deep required"},
        {"{'on':true,'m=x':true,'m=x/each':'a','m=x/only':'a','m=x/deep':'a'}",
         "m=x/only notApplicable; m=x/deep notApplicable"},
        {"{'on':true,'m=x':true,'m=y':true,'m=z':true}",
         "m=x/each required; m=y/each required; m=y/only required; m=z/each required; m=z/only required"},
        /* What is said under one option says nothing under another. */
        {"{'on':true,'m=y':true,'m=y/each':'a','m=y/only':'a','m=y/deep':'a','m=z':true,'m=z/each':'a',"
         "'m=z/deep':'a'}",
         "m=z/only required; m=z/deep notApplicable"},
        {"{'on':true,'m=z':true,'m=z/each':'a','m=z/only':'a','m=z/deep':'a','m=z/in=x':true,'m=z/in=y':true}",
         "m=z/in=y/inner required"},
        {"{'on':true,'m=z':true,'m=z/each':'a','m=z/only':'a','m=z/deep':'a','m=z/in=x':true,'m=z/in=x/inner':'a',"
         "'m=z/in=x/both':'a'}",
         "m=z/in=x/inner notApplicable"},
        /* An element that is not asked takes all below it along. */
        {"{'on':true,'m=x':true,'m=x/each':'a','m=x/in=y':true,'m=x/in=y/inner':'a','m=x/in=y/both':'a'}",
         "m=x/in=y notApplicable; m=x/in=y/inner notApplicable; m=x/in=y/both notApplicable"},
        {"{'on':false,'m=x':true,'m=x/each':'a'}", "m=x notApplicable; m=x/each notApplicable"},
        {"{'m=x':true}", "m=x notApplicable"},
        {"{'on':true,'m=x':false,'m=x/each':'a'}", "m=x emptyAnswer"},
        {"{'on':true,'m=q':true,'m=x':true,'m=x/each':'a','m=q/each':'a'}",
         "m=q unknownOption; m=q/each unknownOption"},
    };
    begin();
    const struct evd_definition *definition = definition_of(SPLIT_FORM);
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
        size_t count = 0;
        const struct evd_answer *answers = answers_of(sessions[i].answers, &count);
        struct evd_errors errors = complete(definition, answers, count);
        ck_assert_msg(strcmp(places_in(&errors), sessions[i].errors) == 0, "%zu: %s", i, places_in(&errors));
    }
    end();
}
END_TEST

START_TEST(the_order_of_the_answers_changes_nothing_but_who_repeats_an_id) {
    begin();
    size_t count = 0;
    struct evd_answer *answers =
        answers_of("{'species':'rat','drug=9':'D','cohort=1':'A','cohort=1/control':true,'cohort=2':'B',"
                   "'cohort=2/control':false,'cohort=2/outcome=5':'O','cohort=2/outcome=5/n':0,'cohort=7/control':true,"
                   "'cohort=1/outcome=6':'P','cohort=1/outcome=6/data':" DATA "}",
                   &count);
    const struct evd_definition *definition = definition_of(STUDY_FORM);
    struct evd_errors errors = complete(definition, answers, count);
    const char *expected = places_in(&errors);
    ck_assert_str_eq(expected, "cohort=7/control unknownElement; cohort=1/placebo required; cohort=2/gets required; "
                               "cohort=2/outcome=5/data required; cohort=2/outcome=5/n belowMin; drug=9/dose required");
    struct evd_test_random random;
    evd_test_random_init(&random, 9);
    for (int times = 0; times < 100; times++) {
        size_t a = evd_random_below(&random.random, count), b = evd_random_below(&random.random, count);
        struct evd_answer other = answers[a];
        answers[a] = answers[b];
        answers[b] = other;
        errors = complete(definition, answers, count);
        ck_assert_str_eq(places_in(&errors), expected);
    }
    end();
}
END_TEST

START_TEST(why_an_answer_is_not_asked_for_is_told) {
    static const struct {
        const char *form, *answers, *members;
    } rows[] = {
        {STUDY_FORM,
         "{'species':'rat','drug=1':'D','drug=1/dose':'1','cohort=2':'A','cohort=2/control':false,"
         "'cohort=2/gets':['1'],'cohort=2/placebo':'x'}",
         "{'question':'placebo','path':[{'question':'cohort','element':'00000000-0000-4000-8000-000000000002'}],"
         "'rule':'parent','expected':null,'found':'control'}"},
        {"[{'id':'on','kind':'boolean'},{'id':'u','kind':'unit','parent':{'questionId':'on','anyOf':['true']}},"
         "{'id':'a','kind':'text','unit':'u'}]",
         "{'on':false,'u=1':'A','u=1/a':'x'}",
         "{'question':'a','path':[{'question':'u','element':'00000000-0000-4000-8000-000000000001'}],"
         "'rule':'unit','expected':null,'found':'u'}"},
        {SPLIT_FORM, "{'m=x':true,'m=x/each':'a'}",
         "{'question':'each','path':[{'question':'m','element':'x'}],'rule':'parent','expected':null,'found':'m'}"},
        {STUDY_FORM, "{'species':'rat','cohort=1':'A'}",
         "{'question':'control','path':[{'question':'cohort','element':'00000000-0000-4000-8000-000000000001'}],"
         "'rule':'required','expected':'boolean','found':null}"},
    };
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t count = 0;
        const struct evd_answer *answers = answers_of(rows[i].answers, &count);
        struct evd_errors errors = complete(definition_of(rows[i].form), answers, count);
        json_t *members = members_of(&errors.items[errors.count - 1]), *expected = quoted(rows[i].members);
        ck_assert_msg(json_equal(members, expected), "%zu: " EVD_TEXT_FMT, i,
                      EVD_TEXT_ARG(errors.items[errors.count - 1].members));
        json_decref(members);
        json_decref(expected);
    }
    end();
}
END_TEST

START_TEST(an_answer_of_the_request_is_told_at_its_place_in_the_body) {
    begin();
    size_t count = 0;
    struct evd_answer *answers = answers_of(
        "{'species':'rat','cohort=1':'A','cohort=1/control':false,'cohort=1/placebo':'x','cohort=1/gets':['9'],"
        "'drug=3/dose':'1','cohort=1/outcome=5':'O','cohort=1/outcome=5/data':[{'time':'x','average':'1'}],"
        "'cohort=1/outcome=5/n':0}",
        &count);
    for (size_t i = 0; i < count; i++)
        answers[i].pointer = evd_text_print(&arena, "/answers/%zu", i);
    struct evd_errors errors = complete(definition_of(STUDY_FORM), answers, count);
    ck_assert_str_eq(summary_of(&errors), "/answers/5/path/0/element unknownElement; /answers/3 notApplicable; "
                                          "/answers/7/value/0/time notADecimal; /answers/8/value belowMin; "
                                          "/answers/4/value/0 brokenReference");
    end();
}
END_TEST

/* One unit with many instances, and as many questions below it as a form may have. */
START_TEST(every_question_under_every_instance_is_counted_when_all_are_missing) {
    enum { INSTANCES = 1000 };
    begin();
    struct evd_form_version *form = form_of_texts(EVD_LIMIT_QUESTIONS);
    struct evd_answer *answers = EVD_NEW_ARRAY(&arena, struct evd_answer, INSTANCES);
    struct evd_answer_value name = text_value("A");
    form->questions.items[0].kind = evd_name_of(EVD_QUESTION_UNIT);
    for (size_t i = 1; i < form->questions.count; i++) {
        form->questions.items[i].unit = form->questions.items[0].id;
        form->questions.items[i].required = true;
    }
    for (unsigned i = 0; i < INSTANCES; i++) {
        struct evd_path_step *path = EVD_NEW(&arena, struct evd_path_step);
        *path = (struct evd_path_step){.question = EVD_TEXT("q0"), .element = instance_id(i)};
        answers[i] = (struct evd_answer){.question = EVD_TEXT("q0"), .path = path, .path_count = 1, .value = &name};
    }
    struct evd_errors errors = complete(evd_definition_compile(form, &arena), answers, INSTANCES);
    ck_assert_uint_eq(errors.total, (size_t)INSTANCES * (EVD_LIMIT_QUESTIONS - 1));
    ck_assert_uint_eq(errors.count, EVD_LIMIT_VALIDATION_ERRORS);
    end();
}
END_TEST

EVD_TEST_MAIN("domain: complete elements", a_question_is_asked_once_under_each_element_of_its_frame,
              a_child_of_a_split_question_hangs_under_the_options_it_names,
              the_order_of_the_answers_changes_nothing_but_who_repeats_an_id, why_an_answer_is_not_asked_for_is_told,
              an_answer_of_the_request_is_told_at_its_place_in_the_body,
              every_question_under_every_instance_is_counted_when_all_are_missing)
