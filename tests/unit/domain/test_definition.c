#include "evidenced/domain/error_codes.h"
#include "forms.h"

static struct evd_errors checked(const struct evd_form_version *form) {
    struct evd_errors errors;
    evd_errors_init(&errors, &arena);
    evd_definition_check(form->questions.items, form->questions.count, &errors);
    return errors;
}

#define EVERY_KIND                                                                                                     \
    "[{'id':'t','kind':'text','maxLength':20},"                                                                        \
    "{'id':'i','kind':'integer','min':'-5','max':'5'},"                                                                \
    "{'id':'d','kind':'decimal','min':'0.10','max':'0.1'},"                                                            \
    "{'id':'b','kind':'boolean'},"                                                                                     \
    "{'id':'c','kind':'choice','options':[{'id':'x'},{'id':'y'}]},"                                                    \
    "{'id':'m','kind':'multichoice','split':true,'options':[{'id':'x'},{'id':'y'}]},"                                  \
    "{'id':'day','kind':'date','min':'2020-02-29','max':'2020-03-01'},"                                                \
    "{'id':'u','kind':'unit'},"                                                                                        \
    "{'id':'r','kind':'reference','target':'u'},"                                                                      \
    "{'id':'s','kind':'series','unit':'u'},"                                                                           \
    "{'id':'under.b','kind':'text','parent':{'questionId':'b','anyOf':['true']}},"                                     \
    "{'id':'under:c','kind':'text','parent':{'questionId':'c','anyOf':['x','y']}},"                                    \
    "{'id':'under_m','kind':'text','parent':{'questionId':'m','anyOf':['y']}},"                                        \
    "{'id':'under-t','kind':'text','parent':{'questionId':'t'}}]"

START_TEST(a_form_with_a_question_of_every_kind_is_sound) {
    begin();
    struct evd_errors errors = checked(form_of(EVERY_KIND));
    ck_assert_str_eq(summary_of(&errors), "");
    ck_assert_int_eq(evd_errors_outcome(&errors).code, EVD_OK);
    end();
}
END_TEST

START_TEST(a_form_without_questions_is_sound) {
    begin();
    struct evd_form_version *form = form_of("[]");
    struct evd_errors errors = checked(form);
    ck_assert_uint_eq(errors.total, 0);
    const struct evd_definition *definition = evd_definition_compile(form, &arena);
    ck_assert_ptr_null(evd_definition_question(definition, EVD_TEXT("")));
    end();
}
END_TEST

START_TEST(each_rule_is_reported_where_it_is_broken) {
    static const struct {
        const char *questions, *errors;
    } rules[] = {
        {"[{'id':'','kind':'text'}]", "/questions/0/id malformedId"},
        {"[{'id':'a b','kind':'text'}]", "/questions/0/id malformedId"},
        {"[{'id':'é','kind':'text'}]", "/questions/0/id malformedId"},
        {"[{'id':'a/b','kind':'text'}]", "/questions/0/id malformedId"},
        {"[{'id':'a','kind':'text'},{'id':'A','kind':'text'},{'id':'a','kind':'text'}]", "/questions/2/id duplicateId"},
        {"[{'id':'a','label':' \\t','kind':'text'}]", "/questions/0/label blankLabel"},
        {"[{'id':'a','kind':'choice'}]", "/questions/0/options optionsMissing"},
        {"[{'id':'a','kind':'multichoice','options':[]}]", "/questions/0/options optionsMissing"},
        {"[{'id':'a','kind':'boolean','options':[{'id':'x'}]}]", "/questions/0/options optionsNotAllowed"},
        {"[{'id':'a','kind':'choice','options':[{'id':'x'},{'id':'y'},{'id':'x'}]}]",
         "/questions/0/options/2/id duplicateId"},
        {"[{'id':'a','kind':'choice','options':[{'id':'x'},{'id':'?'}]}]", "/questions/0/options/1/id malformedId"},
        {"[{'id':'a','kind':'choice','options':[{'id':'x','label':''}]}]", "/questions/0/options/0/label blankLabel"},
        {"[{'id':'a','kind':'choice','split':true,'options':[{'id':'x'}]}]", "/questions/0/split splitNotAllowed"},
        {"[{'id':'a','kind':'text','min':'1'}]", "/questions/0/min boundNotAllowed"},
        {"[{'id':'a','kind':'boolean','max':'true'}]", "/questions/0/max boundNotAllowed"},
        {"[{'id':'a','kind':'integer','min':'1.0'}]", "/questions/0/min malformedBound"},
        {"[{'id':'a','kind':'integer','min':'+1'}]", "/questions/0/min malformedBound"},
        {"[{'id':'a','kind':'integer','min':''}]", "/questions/0/min malformedBound"},
        {"[{'id':'a','kind':'integer','max':'9007199254740992'}]", "/questions/0/max malformedBound"},
        {"[{'id':'a','kind':'integer','min':'-9007199254740992'}]", "/questions/0/min malformedBound"},
        {"[{'id':'a','kind':'integer','min':'-9007199254740991','max':'9007199254740991'}]", ""},
        {"[{'id':'a','kind':'decimal','min':'1e3'}]", "/questions/0/min malformedBound"},
        {"[{'id':'a','kind':'date','max':'2021-02-29'}]", "/questions/0/max malformedBound"},
        {"[{'id':'a','kind':'integer','min':'10','max':'9'}]", "/questions/0/min boundsReversed"},
        {"[{'id':'a','kind':'decimal','min':'-0.1','max':'-0.11'}]", "/questions/0/min boundsReversed"},
        {"[{'id':'a','kind':'date','min':'2020-10-01','max':'2020-09-30'}]", "/questions/0/min boundsReversed"},
        {"[{'id':'a','kind':'date','maxLength':10}]", "/questions/0/maxLength maxLengthNotAllowed"},
        {"[{'id':'a','kind':'text','parent':{'questionId':'b'}}]", "/questions/0/parent/questionId unknownParent"},
        {"[{'id':'a','kind':'text','parent':{'questionId':'s'}},{'id':'s','kind':'series'}]",
         "/questions/0/parent/questionId parentNotAllowed"},
        {"[{'id':'t','kind':'text'},{'id':'a','kind':'text','parent':{'questionId':'t','anyOf':['x']}}]",
         "/questions/1/parent/anyOf anyOfNotAllowed"},
        {"[{'id':'c','kind':'choice','options':[{'id':'x'}]},"
         "{'id':'a','kind':'text','parent':{'questionId':'c','anyOf':['x','X','true']}}]",
         "/questions/1/parent/anyOf/1 unknownAnyOf; /questions/1/parent/anyOf/2 unknownAnyOf"},
        {"[{'id':'b','kind':'boolean'},{'id':'a','kind':'text','parent':{'questionId':'b','anyOf':['yes','false']}}]",
         "/questions/1/parent/anyOf/0 unknownAnyOf"},
        {"[{'id':'a','kind':'text','unit':'u'}]", "/questions/0/unit unknownUnit"},
        {"[{'id':'a','kind':'text','unit':'b'},{'id':'b','kind':'text'}]", "/questions/0/unit notAUnit"},
        {"[{'id':'a','kind':'reference','target':'u'}]", "/questions/0/target unknownTarget"},
        {"[{'id':'a','kind':'reference','target':'b'},{'id':'b','kind':'text'}]", "/questions/0/target notAUnit"},
        {"[{'id':'a','kind':'reference'}]", "/questions/0/target targetMissing"},
        {"[{'id':'a','kind':'text','target':'u'},{'id':'u','kind':'unit'}]", "/questions/0/target targetNotAllowed"},
        {"[{'id':'a','kind':'text','parent':{'questionId':'a'}}]", "/questions/0/parent/questionId cycle"},
        {"[{'id':'u','kind':'unit','unit':'u'}]", "/questions/0/unit cycle"},
        {"[{'id':'a','kind':'text','parent':{'questionId':'u'}},"
         "{'id':'u','kind':'unit','parent':{'questionId':'a'}}]",
         "/questions/1/parent/questionId cycle"},
        {"[{'id':'u','kind':'unit','parent':{'questionId':'a'}},{'id':'a','kind':'text','unit':'u'}]",
         "/questions/1/unit cycle"},
    };
    begin();
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct evd_errors errors = checked(form_of(rules[i].questions));
        ck_assert_msg(strcmp(summary_of(&errors), rules[i].errors) == 0, "%s: %s", rules[i].questions,
                      summary_of(&errors));
    }
    end();
}
END_TEST

START_TEST(everything_wrong_is_reported_at_once_in_the_forms_order) {
    begin();
    struct evd_errors errors = checked(form_of("[{'id':' ','label':'','kind':'choice','min':'1','maxLength':3,"
                                               "'split':true,'unit':'u','target':'v','parent':{'questionId':'w'}},"
                                               "{'id':'ok','kind':'text'},"
                                               "{'id':'ok','kind':'reference'}]"));
    ck_assert_str_eq(summary_of(&errors),
                     "/questions/0/id malformedId; /questions/0/label blankLabel; "
                     "/questions/0/options optionsMissing; /questions/0/split splitNotAllowed; "
                     "/questions/0/min boundNotAllowed; /questions/0/maxLength maxLengthNotAllowed; "
                     "/questions/0/parent/questionId unknownParent; /questions/0/unit unknownUnit; "
                     "/questions/0/target targetNotAllowed; "
                     "/questions/2/id duplicateId; /questions/2/target targetMissing");
    ck_assert_int_eq(evd_errors_outcome(&errors).code, EVD_VALIDATION_FAILED);
    end();
}
END_TEST

START_TEST(an_id_has_at_most_a_hundred_bytes) {
    char bytes[EVD_LIMIT_ID_BYTES + 1];
    memset(bytes, 'x', sizeof bytes);
    begin();
    struct evd_form_version *form = form_of_texts(1);
    form->questions.items[0].id = (struct evd_text){bytes, EVD_LIMIT_ID_BYTES};
    ck_assert_uint_eq(checked(form).total, 0);
    form->questions.items[0].id.size_bytes++;
    struct evd_errors errors = checked(form);
    ck_assert_str_eq(summary_of(&errors), "/questions/0/id malformedId");
    end();
}
END_TEST

START_TEST(a_kind_of_a_newer_version_is_reported_and_not_renderable) {
    begin();
    struct evd_form_version *form = form_of(EVERY_KIND);
    ck_assert(evd_definition_is_renderable(evd_definition_compile(form, &arena)));
    form->questions.items[3].kind = (struct evd_name){.value = 0, .text = EVD_TEXT("sketch")};
    struct evd_errors errors = checked(form);
    ck_assert_str_eq(summary_of(&errors), "/questions/3/kind unknownKind"); /* and nothing about its child */
    json_t *members = members_of(&errors.items[0]);
    ck_assert_str_eq(json_string_value(json_object_get(members, "found")), "sketch");
    json_decref(members);
    ck_assert(!evd_definition_is_renderable(evd_definition_compile(form, &arena)));
    end();
}
END_TEST

START_TEST(an_error_tells_question_path_rule_expected_and_found) {
    begin();
    struct evd_errors errors = checked(form_of("[{'id':'a','kind':'integer','min':'10','max':'9'}]"));
    json_t *members = members_of(&errors.items[0]);
    json_t *expected = quoted("{'question':'a','path':[],'rule':'min','expected':'9','found':'10'}");
    ck_assert(json_equal(members, expected));
    ck_assert(evd_text_equal(errors.items[0].message, EVD_TEXT("The smallest answer is larger than the largest one.")));
    json_decref(members);
    json_decref(expected);
    end();
}
END_TEST

START_TEST(what_was_found_is_cut_between_characters) {
    begin();
    struct evd_buffer label;
    evd_buffer_init(&label, &arena, 1000);
    evd_buffer_add_text(&label, EVD_TEXT("x"));
    for (int i = 0; i < 300; i++)
        evd_buffer_add_text(&label, EVD_TEXT("é"));
    struct evd_form_version *form = form_of_texts(1);
    form->questions.items[0].id = evd_buffer_text(&label);
    struct evd_errors errors = checked(form);
    ck_assert(evd_text_is_utf8(errors.items[0].members));
    json_t *members = members_of(&errors.items[0]);
    ck_assert_uint_eq(json_string_length(json_object_get(members, "found")), 199 + strlen("…"));
    json_decref(members);
    end();
}
END_TEST

static struct evd_form_version *chain_of(size_t count) {
    struct evd_form_version *form = form_of_texts(count);
    for (size_t i = 1; i < count; i++)
        hang_under(&form->questions.items[i], form->questions.items[i - 1].id);
    return form;
}

START_TEST(ten_questions_may_hang_one_under_the_other_and_no_eleventh) {
    begin();
    ck_assert_uint_eq(checked(chain_of(EVD_LIMIT_QUESTION_DEPTH)).total, 0);
    struct evd_errors errors = checked(chain_of(EVD_LIMIT_QUESTION_DEPTH + 1));
    ck_assert_str_eq(summary_of(&errors), "/questions/10 tooDeep");
    end();
}
END_TEST

START_TEST(depth_counts_the_longer_of_the_ways_over_parent_and_unit) {
    begin();
    struct evd_form_version *form = chain_of(EVD_LIMIT_QUESTION_DEPTH + 1);
    struct evd_question *last = &form->questions.items[EVD_LIMIT_QUESTION_DEPTH];
    form->questions.items[EVD_LIMIT_QUESTION_DEPTH - 1].kind = evd_name_of(EVD_QUESTION_UNIT);
    last->unit = last->parent->question;
    last->parent->question = form->questions.items[0].id;
    struct evd_errors errors = checked(form);
    ck_assert_str_eq(summary_of(&errors), "/questions/10 tooDeep");
    last->unit = (struct evd_text){NULL, 0};
    ck_assert_uint_eq(checked(form).total, 0);
    end();
}
END_TEST

START_TEST(the_largest_chain_and_the_largest_cycle_are_walked_without_recursion) {
    begin();
    for (int backwards = 0; backwards < 2; backwards++) {
        struct evd_form_version *form = form_of_texts(EVD_LIMIT_QUESTIONS);
        for (size_t i = 1; i < EVD_LIMIT_QUESTIONS; i++)
            hang_under(&form->questions.items[backwards ? i - 1 : i], form->questions.items[backwards ? i : i - 1].id);
        struct evd_errors deep = checked(form);
        ck_assert_uint_eq(deep.total, EVD_LIMIT_QUESTIONS - EVD_LIMIT_QUESTION_DEPTH);
        ck_assert_uint_eq(deep.count, EVD_LIMIT_VALIDATION_ERRORS);
        hang_under(&form->questions.items[backwards ? EVD_LIMIT_QUESTIONS - 1 : 0],
                   form->questions.items[backwards ? 0 : EVD_LIMIT_QUESTIONS - 1].id);
        struct evd_errors cycle = checked(form);
        ck_assert_uint_eq(cycle.total, 1);
        ck_assert_str_eq(cycle.items[0].code, "cycle");
    }
    end();
}
END_TEST

START_TEST(a_compiled_definition_finds_each_question_and_no_other) {
    begin();
    struct evd_form_version *form = form_of_texts(EVD_LIMIT_QUESTIONS);
    const struct evd_definition *definition = evd_definition_compile(form, &arena);
    ck_assert_ptr_eq(evd_definition_version(definition), form);
    for (size_t i = 0; i < form->questions.count; i++) {
        struct evd_question *question = &form->questions.items[i];
        ck_assert_ptr_eq(evd_definition_question(definition, evd_text_copy(&arena, question->id)), question);
        ck_assert_ptr_null(evd_definition_question(definition, number_text("Q", i)));
    }
    ck_assert_ptr_null(evd_definition_question(definition, EVD_TEXT("q5000")));
    ck_assert_ptr_null(evd_definition_question(definition, EVD_TEXT("q")));
    ck_assert_ptr_null(evd_definition_question(definition, EVD_TEXT("")));
    end();
}
END_TEST

START_TEST(an_options_id_is_no_questions_id) {
    begin();
    struct evd_form_version *form = form_of("[{'id':'a','kind':'choice','options':[{'id':'a'},{'id':'x'}]},"
                                            "{'id':'b','kind':'choice','options':[{'id':'x'},{'id':'b'}]}]");
    ck_assert_uint_eq(checked(form).total, 0);
    const struct evd_definition *definition = evd_definition_compile(form, &arena);
    ck_assert_ptr_null(evd_definition_question(definition, EVD_TEXT("x")));
    end();
}
END_TEST

START_TEST(a_form_of_as_many_options_as_a_body_holds_is_checked) {
    begin();
    struct evd_form_version *form = form_of_texts(200);
    for (size_t i = 0; i < form->questions.count; i++) {
        struct evd_question *question = &form->questions.items[i];
        question->kind = evd_name_of(EVD_QUESTION_MULTICHOICE);
        question->options.count = EVD_LIMIT_OPTIONS;
        question->options.items = EVD_NEW_ARRAY(&arena, struct evd_question_option, EVD_LIMIT_OPTIONS);
        for (size_t k = 0; k < EVD_LIMIT_OPTIONS; k++)
            question->options.items[k] = (struct evd_question_option){number_text("o", k), EVD_TEXT("Label"), {NULL}};
    }
    ck_assert_uint_eq(checked(form).total, 0);
    form->questions.items[199].options.items[499].id = EVD_TEXT("o0");
    struct evd_errors errors = checked(form);
    ck_assert_str_eq(summary_of(&errors), "/questions/199/options/499/id duplicateId");
    end();
}
END_TEST

/* An oracle of its own: is `to` reached from `from`, trying every way up by plain repetition? */
static bool leads_to(const struct evd_form_version *form, size_t from, size_t to) {
    bool reached[64] = {false};
    size_t count = form->questions.count;
    bool grew = true;
    reached[from] = true;
    bool came_back = false;
    while (grew) {
        grew = false;
        for (size_t i = 0; i < count; i++) {
            if (!reached[i]) continue;
            const struct evd_question *question = &form->questions.items[i];
            struct evd_text ups[2] = {question->parent == NULL ? EVD_TEXT("?") : question->parent->question,
                                      question->unit.bytes == NULL ? EVD_TEXT("?") : question->unit};
            for (size_t up = 0; up < 2; up++) {
                size_t k = 0;
                while (k < count && !evd_text_equal(form->questions.items[k].id, ups[up]))
                    k++; /* the first of that id */
                if (k == count) continue;
                came_back = came_back || k == to;
                grew = grew || !reached[k];
                reached[k] = true;
            }
        }
    }
    return came_back;
}

static bool has_code(const struct evd_errors *errors, const char *code) {
    for (size_t i = 0; i < errors->count; i++)
        if (strcmp(errors->items[i].code, code) == 0) return true;
    return false;
}

START_TEST(a_cycle_is_reported_exactly_when_some_question_leads_back_to_itself) {
    struct evd_test_random random;
    evd_test_random_init(&random, 20240229);
    size_t with = 0, without = 0;
    for (int round = 0; round < 3000; round++) {
        begin();
        struct evd_form_version *form = random_form(&random.random, 24, 40);
        struct evd_errors errors = checked(form);
        bool expected = false;
        for (size_t i = 0; i < form->questions.count; i++)
            expected = expected || leads_to(form, i, i);
        ck_assert_msg(has_code(&errors, "cycle") == expected, "round %d", round);
        *(expected ? &with : &without) += 1;
        end();
    }
    ck_assert_uint_gt(with, 300);
    ck_assert_uint_gt(without, 300);
}
END_TEST

START_TEST(a_random_definition_without_errors_compiles_and_every_way_up_ends) {
    struct evd_test_random random;
    evd_test_random_init(&random, 7);
    size_t sound = 0;
    for (int round = 0; round < 2000; round++) {
        begin();
        struct evd_form_version *form = random_form(&random.random, 40, round % 4 == 0 ? 60 : 2);
        struct evd_errors errors = checked(form);
        ck_assert_uint_le(errors.count, errors.total);
        const struct evd_definition *definition = evd_definition_compile(form, &arena); /* safe, sound or not */
        if (errors.total == 0) {
            sound++;
            ck_assert(evd_definition_is_renderable(definition));
            for (size_t i = 0; i < form->questions.count; i++) {
                const struct evd_question *question = &form->questions.items[i];
                for (size_t steps = 0; question->parent != NULL; steps++) {
                    ck_assert_uint_lt(steps, EVD_LIMIT_QUESTION_DEPTH);
                    question = evd_definition_question(definition, question->parent->question);
                    ck_assert_ptr_nonnull(question);
                }
            }
        }
        end();
    }
    ck_assert_uint_gt(sound, 200);
}
END_TEST

START_TEST(every_code_has_a_name_of_its_own_and_a_sentence) {
    for (unsigned i = 0; i < EVD_ERROR_CODE_COUNT; i++) {
        const char *name = evd_error_code_name(i), *sentence = evd_error_code_sentence(i);
        ck_assert(name[0] >= 'a' && name[0] <= 'z');
        ck_assert(sentence[0] >= 'A' && sentence[0] <= 'Z' && sentence[strlen(sentence) - 1] == '.');
        for (unsigned k = 0; k < i; k++)
            ck_assert_str_ne(name, evd_error_code_name(k));
    }
}
END_TEST

EVD_TEST_MAIN("domain: definitions", a_form_with_a_question_of_every_kind_is_sound, a_form_without_questions_is_sound,
              each_rule_is_reported_where_it_is_broken, everything_wrong_is_reported_at_once_in_the_forms_order,
              an_id_has_at_most_a_hundred_bytes, a_kind_of_a_newer_version_is_reported_and_not_renderable,
              an_error_tells_question_path_rule_expected_and_found, what_was_found_is_cut_between_characters,
              ten_questions_may_hang_one_under_the_other_and_no_eleventh,
              depth_counts_the_longer_of_the_ways_over_parent_and_unit,
              the_largest_chain_and_the_largest_cycle_are_walked_without_recursion,
              a_compiled_definition_finds_each_question_and_no_other, an_options_id_is_no_questions_id,
              a_form_of_as_many_options_as_a_body_holds_is_checked,
              a_cycle_is_reported_exactly_when_some_question_leads_back_to_itself,
              a_random_definition_without_errors_compiles_and_every_way_up_ends,
              every_code_has_a_name_of_its_own_and_a_sentence)
