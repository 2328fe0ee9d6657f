#include "evidenced/domain/definition.h"

#include "forms.h"

/* A cohort has arms (options), an arm has visits; a control cohort is one that says so. */
#define NESTED_FORM                                                                                                    \
    "[{'id':'top','kind':'text'},"                                                                                     \
    "{'id':'cohort','kind':'unit'},"                                                                                   \
    "{'id':'control','kind':'boolean','unit':'cohort'},"                                                               \
    "{'id':'placebo','kind':'text','parent':{'questionId':'control','anyOf':['true']}},"                               \
    "{'id':'arms','kind':'multichoice','split':true,'unit':'cohort','options':[{'id':'x'},{'id':'y'}]},"               \
    "{'id':'dose','kind':'text','parent':{'questionId':'arms','anyOf':['x']}},"                                        \
    "{'id':'visit','kind':'unit','parent':{'questionId':'dose'}},"                                                     \
    "{'id':'weight','kind':'series','unit':'visit'},"                                                                  \
    "{'id':'lost','kind':'integer','unit':'visit','parent':{'questionId':'control'}},"                                 \
    "{'id':'why','kind':'text','unit':'cohort','parent':{'questionId':'lost'}},"                                       \
    "{'id':'name','kind':'text','parent':{'questionId':'visit'}},"                                                     \
    "{'id':'plain','kind':'multichoice','options':[{'id':'x'}]},"                                                      \
    "{'id':'under.plain','kind':'text','parent':{'questionId':'plain'}},"                                              \
    "{'id':'mixed','kind':'text','unit':'cohort','parent':{'questionId':'top'}}]"

static const char *frame_text(const struct evd_definition *definition, const struct evd_question *question) {
    const struct evd_question *frame[EVD_LIMIT_QUESTION_DEPTH];
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 64);
    size_t count = evd_definition_frame(definition, question, frame);
    for (size_t i = 0; i < count; i++)
        evd_buffer_print(&out, "%s" EVD_TEXT_FMT, i == 0 ? "" : " ", EVD_TEXT_ARG(frame[i]->id));
    evd_buffer_add_byte(&out, 0);
    return evd_buffer_text(&out).bytes;
}

static struct evd_errors checked(const struct evd_form_version *form) {
    struct evd_errors errors;
    evd_errors_init(&errors, &arena);
    evd_definition_check(form->questions.items, form->questions.count, &errors);
    return errors;
}

START_TEST(a_frame_is_the_questions_above_that_make_elements) {
    static const struct {
        const char *question, *frame;
    } frames[] = {
        {"top", ""},
        {"cohort", ""},
        {"control", "cohort"},
        {"placebo", "cohort"},
        {"arms", "cohort"},
        {"dose", "cohort arms"},
        {"visit", "cohort arms"},
        {"weight", "cohort arms visit"},
        {"lost", "cohort arms visit"}, /* the parent's is the beginning of the unit's */
        {"why", "cohort arms visit"},  /* the unit's is the beginning of the parent's */
        {"name", "cohort arms visit"}, /* a unit as the parent */
        {"plain", ""},
        {"under.plain", ""}, /* chosen together, options make no elements */
        {"mixed", "cohort"},
    };
    begin();
    struct evd_form_version *form = form_of(NESTED_FORM);
    struct evd_errors errors = checked(form);
    ck_assert_str_eq(summary_of(&errors), "");
    const struct evd_definition *definition = evd_definition_compile(form, &arena);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        const struct evd_question *question = evd_definition_question(definition, evd_text_from(frames[i].question));
        ck_assert_str_eq(frame_text(definition, question), frames[i].frame);
    }
    ck_assert_uint_eq(form->questions.count, sizeof frames / sizeof *frames);
    end();
}
END_TEST

START_TEST(parent_and_unit_under_different_elements_are_out_of_reach) {
    static const struct {
        const char *questions, *errors;
    } forms[] = {
        {"[{'id':'a','kind':'unit'},{'id':'b','kind':'unit'},{'id':'in.a','kind':'boolean','unit':'a'},"
         "{'id':'q','kind':'text','unit':'b','parent':{'questionId':'in.a'}}]",
         "/questions/3/parent/questionId parentOutOfReach"},
        {"[{'id':'a','kind':'unit'},{'id':'b','kind':'unit'},"
         "{'id':'q','kind':'text','unit':'b','parent':{'questionId':'a'}}]",
         "/questions/2/parent/questionId parentOutOfReach"},
        {"[{'id':'a','kind':'unit'},{'id':'m','kind':'multichoice','split':true,'options':[{'id':'x'}]},"
         "{'id':'q','kind':'text','unit':'a','parent':{'questionId':'m'}}]",
         "/questions/2/parent/questionId parentOutOfReach"},
        /* the same two, one under the other */
        {"[{'id':'a','kind':'unit','parent':{'questionId':'m'}},"
         "{'id':'m','kind':'multichoice','split':true,'options':[{'id':'x'}]},"
         "{'id':'q','kind':'text','unit':'a','parent':{'questionId':'m'}}]",
         ""},
        {"[{'id':'a','kind':'unit'},{'id':'m','kind':'multichoice','options':[{'id':'x'}]},"
         "{'id':'q','kind':'text','unit':'a','parent':{'questionId':'m'}}]",
         ""},
        /* siblings under one element, in both orders */
        {"[{'id':'u','kind':'unit'},{'id':'a','kind':'unit','unit':'u'},{'id':'b','kind':'unit','unit':'u'},"
         "{'id':'in.a','kind':'text','unit':'a'},{'id':'q','kind':'text','unit':'b','parent':{'questionId':'in.a'}},"
         "{'id':'r','kind':'text','unit':'b','parent':{'questionId':'b'}}]",
         "/questions/4/parent/questionId parentOutOfReach"},
        /* told once: what hangs under it is not told about */
        {"[{'id':'a','kind':'unit'},{'id':'b','kind':'unit'},"
         "{'id':'q','kind':'text','unit':'b','parent':{'questionId':'a'}},"
         "{'id':'r','kind':'text','parent':{'questionId':'q'}},"
         "{'id':'s','kind':'text','unit':'a','parent':{'questionId':'r'}}]",
         "/questions/2/parent/questionId parentOutOfReach"},
        /* another fault on the way is told alone */
        {"[{'id':'a','kind':'unit','unit':'gone'},{'id':'b','kind':'unit'},"
         "{'id':'q','kind':'text','unit':'b','parent':{'questionId':'a'}}]",
         "/questions/0/unit unknownUnit"},
        {"[{'id':'a','kind':'text'},{'id':'b','kind':'unit'},{'id':'in.b','kind':'text','unit':'b'},"
         "{'id':'q','kind':'text','unit':'a','parent':{'questionId':'in.b'}}]",
         "/questions/3/unit notAUnit"},
    };
    begin();
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct evd_errors errors = checked(form_of(forms[i].questions));
        ck_assert_msg(strcmp(summary_of(&errors), forms[i].errors) == 0, "%zu: %s", i, summary_of(&errors));
    }
    struct evd_errors errors = checked(form_of(forms[0].questions));
    json_t *members = members_of(&errors.items[0]);
    json_t *expected = quoted("{'question':'q','path':[],'rule':'parent','expected':'b','found':'in.a'}");
    ck_assert(json_equal(members, expected));
    json_decref(members);
    json_decref(expected);
    end();
}
END_TEST

static struct evd_form_version *units_one_under_the_other(size_t count) {
    struct evd_form_version *form = form_of_texts(count);
    for (size_t i = 0; i < count; i++) {
        form->questions.items[i].kind = evd_name_of(EVD_QUESTION_UNIT);
        if (i > 0) form->questions.items[i].unit = form->questions.items[i - 1].id;
    }
    return form;
}

START_TEST(the_longest_frame_leaves_room_for_an_elements_own_step) {
    begin();
    struct evd_form_version *form = units_one_under_the_other(EVD_LIMIT_QUESTION_DEPTH);
    ck_assert_uint_eq(checked(form).total, 0);
    const struct evd_definition *definition = evd_definition_compile(form, &arena);
    ck_assert_str_eq(frame_text(definition, &form->questions.items[EVD_LIMIT_QUESTION_DEPTH - 1]),
                     "q0 q1 q2 q3 q4 q5 q6 q7 q8");
    struct evd_errors errors = checked(units_one_under_the_other(EVD_LIMIT_QUESTION_DEPTH + 1));
    ck_assert_str_eq(summary_of(&errors), "/questions/10 tooDeep");
    end();
}
END_TEST

START_TEST(what_cannot_be_reached_has_an_empty_frame) {
    begin();
    struct evd_form_version *deep = units_one_under_the_other(EVD_LIMIT_QUESTIONS);
    const struct evd_definition *definition = evd_definition_compile(deep, &arena);
    ck_assert_str_eq(frame_text(definition, &deep->questions.items[9]), "q0 q1 q2 q3 q4 q5 q6 q7 q8");
    for (size_t i = EVD_LIMIT_QUESTION_DEPTH; i < deep->questions.count; i++)
        ck_assert_str_eq(frame_text(definition, &deep->questions.items[i]), "");

    struct evd_form_version *round = units_one_under_the_other(3);
    round->questions.items[0].unit = round->questions.items[2].id;
    definition = evd_definition_compile(round, &arena);
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(frame_text(definition, &round->questions.items[i]), "");
    end();
}
END_TEST

START_TEST(units_and_split_multichoices_make_elements) {
    begin();
    struct evd_form_version *form = form_of(NESTED_FORM);
    for (size_t i = 0; i < form->questions.count; i++) {
        struct evd_text id = form->questions.items[i].id;
        bool makes = evd_text_equal(id, EVD_TEXT("cohort")) || evd_text_equal(id, EVD_TEXT("arms")) ||
                     evd_text_equal(id, EVD_TEXT("visit"));
        ck_assert(evd_question_makes_elements(&form->questions.items[i]) == makes);
    }
    end();
}
END_TEST

EVD_TEST_MAIN("domain: frames", a_frame_is_the_questions_above_that_make_elements,
              parent_and_unit_under_different_elements_are_out_of_reach,
              the_longest_frame_leaves_room_for_an_elements_own_step, what_cannot_be_reached_has_an_empty_frame,
              units_and_split_multichoices_make_elements)
