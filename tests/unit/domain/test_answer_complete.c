#include "evidenced/domain/answer.h"

#include "forms.h"

/* A session's answers from `{"question": value, …}`. */
static struct evd_answer *answers_of(const char *text, size_t *ret_count) {
    json_t *object = quoted(text), *json;
    const char *question;
    struct evd_answer *answers = EVD_NEW_ARRAY(&arena, struct evd_answer, json_object_size(object));
    size_t count = 0;
    json_object_foreach(object, question, json) {
        struct evd_answer_value value = {.kind = EVD_ANSWER_NONE};
        if (json_is_integer(json)) value = integer_value(json_integer_value(json));
        if (json_is_boolean(json)) value = boolean_value(json_is_true(json));
        if (json_is_string(json))
            value = text_value(evd_text_copy(&arena, evd_text_from(json_string_value(json))).bytes);
        if (json_is_array(json)) {
            value = texts_value("");
            for (size_t i = 0; i < json_array_size(json); i++)
                value.texts.items[value.texts.count++] =
                    evd_text_copy(&arena, evd_text_from(json_string_value(json_array_get(json, i))));
        }
        answers[count++] = (struct evd_answer){.question = evd_text_copy(&arena, evd_text_from(question)),
                                               .value = evd_arena_copy(&arena, &value, sizeof value)};
    }
    json_decref(object);
    *ret_count = count;
    return answers;
}

/* `question code` of every error, joined by `; `; no error may have a pointer. */
static const char *questions_of(const struct evd_errors *errors) {
    struct evd_buffer buffer;
    evd_buffer_init(&buffer, &arena, 256);
    for (size_t i = 0; i < errors->count; i++) {
        ck_assert_uint_eq(errors->items[i].pointer.size_bytes, 0);
        json_t *members = members_of(&errors->items[i]);
        evd_buffer_print(&buffer, "%s%s %s", i == 0 ? "" : "; ",
                         json_string_value(json_object_get(members, "question")), errors->items[i].code);
        json_decref(members);
    }
    evd_buffer_add_byte(&buffer, '\0');
    return evd_buffer_text(&buffer).bytes;
}

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
         "u notYetAvailable; split notYetAvailable; below notYetAvailable"},
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
        ck_assert_msg(strcmp(questions_of(&errors), sessions[i].errors) == 0, "%zu, %s: %s", i, sessions[i].answers,
                      questions_of(&errors));
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
    ck_assert_ptr_nonnull(strstr(questions_of(&errors), "q998 required; q999 required"));
    end();
}
END_TEST

/* An oracle of its own: is the question asked, by going up question by question each time? */
static bool asked(const struct evd_form_version *form, const struct evd_answer *const *answer_of,
                  const struct evd_question *question) {
    if (question->unit.bytes != NULL) return false;
    if (question->parent == NULL) return true;
    for (size_t i = 0; i < form->questions.count; i++) {
        const struct evd_question *parent = &form->questions.items[i];
        if (!evd_text_equal(parent->id, question->parent->question)) continue;
        if (answer_of[i] == NULL || !asked(form, answer_of, parent)) return false;
        const struct evd_answer_value *value = answer_of[i]->value;
        if (question->parent->any_of.count == 0) return true;
        struct evd_text wanted = question->parent->any_of.items[0];
        if (parent->kind.value == EVD_QUESTION_BOOLEAN)
            return evd_text_equal(wanted, value->boolean ? EVD_TEXT("true") : EVD_TEXT("false"));
        if (parent->kind.value == EVD_QUESTION_CHOICE) return evd_text_equal(wanted, value->text);
        for (size_t k = 0; k < value->texts.count; k++)
            if (evd_text_equal(wanted, value->texts.items[k])) return true;
        return false;
    }
    return false;
}

static struct evd_answer_value random_value(const struct evd_question *question, const struct evd_random *random) {
    switch ((enum evd_question_kind)question->kind.value) {
    case EVD_QUESTION_INTEGER: return integer_value((int64_t)evd_random_below(random, 10));
    case EVD_QUESTION_BOOLEAN: return boolean_value(evd_random_below(random, 2) == 0);
    case EVD_QUESTION_DATE: return text_value("2026-03-01");
    case EVD_QUESTION_CHOICE:
        return text_value(question->options.items[evd_random_below(random, question->options.count)].id.bytes);
    case EVD_QUESTION_MULTICHOICE: {
        struct evd_answer_value value = texts_value("");
        for (size_t i = 0; i < question->options.count; i++)
            if (i == 0 || evd_random_below(random, 2) == 0)
                value.texts.items[value.texts.count++] = question->options.items[i].id;
        return value;
    }
    case EVD_NONE_OF_question_kind:
    case EVD_QUESTION_TEXT:
    case EVD_QUESTION_DECIMAL:
    case EVD_QUESTION_UNIT:
    case EVD_QUESTION_REFERENCE:
    case EVD_QUESTION_SERIES:
    case EVD_END_OF_question_kind: break;
    }
    return text_value("1");
}

/* Answers to about half of the questions, in a random order. */
static struct evd_answer *random_answers(const struct evd_form_version *form, const struct evd_random *random,
                                         const struct evd_answer **answer_of, size_t *ret_count) {
    struct evd_answer *answers = EVD_NEW_ARRAY(&arena, struct evd_answer, form->questions.count);
    size_t count = 0;
    for (size_t n = 0, at = 0; n < form->questions.count; n++, at += 7919) {
        size_t i = at % form->questions.count;
        const struct evd_question *question = &form->questions.items[i];
        if (answer_of[i] != NULL || evd_random_below(random, 3) == 0) continue;
        struct evd_answer_value value = random_value(question, random);
        answers[count] =
            (struct evd_answer){.question = question->id, .value = evd_arena_copy(&arena, &value, sizeof value)};
        answer_of[i] = &answers[count++];
    }
    *ret_count = count;
    return answers;
}

START_TEST(random_sessions_are_judged_as_by_going_up_from_each_question) {
    struct evd_test_random random;
    evd_test_random_init(&random, 5);
    size_t sound = 0, required = 0, not_applicable = 0;
    for (int round = 0; round < 3000; round++) {
        begin();
        struct evd_form_version *form = random_form(&random.random, 12, 1);
        struct evd_errors errors;
        evd_errors_init(&errors, &arena);
        evd_definition_check(form->questions.items, form->questions.count, &errors);
        if (errors.total == 0) {
            size_t count = 0;
            const struct evd_answer **answer_of =
                EVD_NEW_ARRAY(&arena, const struct evd_answer *, form->questions.count);
            const struct evd_answer *answers = random_answers(form, &random.random, answer_of, &count);
            struct evd_buffer expected;
            evd_buffer_init(&expected, &arena, 256);
            for (size_t i = 0; i < form->questions.count; i++) {
                const struct evd_question *question = &form->questions.items[i];
                bool is_asked = asked(form, answer_of, question), available = question->kind.value < EVD_QUESTION_UNIT;
                const char *codes[3] = {NULL};
                if (answer_of[i] == NULL && question->required && is_asked) codes[0] = "required";
                if (answer_of[i] != NULL && (!available || question->split || question->unit.bytes != NULL))
                    codes[1] = "notYetAvailable";
                if (answer_of[i] != NULL && !is_asked && question->unit.bytes == NULL) codes[2] = "notApplicable";
                required += codes[0] != NULL;
                not_applicable += codes[2] != NULL;
                for (size_t k = 0; k < 3; k++)
                    if (codes[k] != NULL)
                        evd_buffer_print(&expected, "%s" EVD_TEXT_FMT " %s", expected.size_bytes == 0 ? "" : "; ",
                                         EVD_TEXT_ARG(question->id), codes[k]);
            }
            evd_buffer_add_byte(&expected, '\0');
            struct evd_errors found = complete(evd_definition_compile(form, &arena), answers, count);
            struct evd_buffer actual;
            evd_buffer_init(&actual, &arena, 256);
            evd_buffer_print(&actual, "%s", questions_of(&found));
            evd_buffer_add_byte(&actual, '\0');
            /* min and max stand at random on some; they have tests of their own. */
            if (strstr((const char *)actual.bytes, "Min") == NULL)
                ck_assert_str_eq((const char *)actual.bytes, (const char *)expected.bytes);
            sound++;
        }
        end();
    }
    ck_assert_uint_gt(sound, 1000);
    ck_assert_uint_gt(required, 1000);
    ck_assert_uint_gt(not_applicable, 1000);
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
    ck_assert_str_eq(questions_of(&errors), "q0 notApplicable; q1 notApplicable; q2 required");
    end();
}
END_TEST

EVD_TEST_MAIN("domain: complete answers", a_session_is_complete_when_all_that_is_asked_and_required_is_answered,
              a_range_is_told_with_its_bound_and_the_answer,
              all_that_is_missing_is_counted_when_there_is_no_room_to_tell_it,
              random_sessions_are_judged_as_by_going_up_from_each_question, any_definition_can_be_answered_without_harm,
              a_cycle_that_was_never_checked_is_simply_not_asked)
