#include "evidenced/domain/answer.h"

#include "forms.h"

#define PLACES_FORM                                                                                                    \
    "[{'id':'top','kind':'text'},"                                                                                     \
    "{'id':'cohort','kind':'unit'},"                                                                                   \
    "{'id':'size','kind':'integer','unit':'cohort'},"                                                                  \
    "{'id':'arms','kind':'multichoice','split':true,'unit':'cohort','options':[{'id':'x'},{'id':'y'}]},"               \
    "{'id':'dose','kind':'text','parent':{'questionId':'arms','anyOf':['x']}},"                                        \
    "{'id':'visit','kind':'unit','parent':{'questionId':'arms'}},"                                                     \
    "{'id':'seen','kind':'integer','unit':'visit'}]"

/* Places by their contexts, from a text of places divided by spaces. */
static struct evd_pins pins_of(const char *places) {
    struct evd_pin *pins = EVD_NEW_ARRAY(&arena, struct evd_pin, 20);
    size_t count = 0;
    while (*places != '\0') {
        size_t size = strcspn(places, " ");
        struct place place = place_of(evd_text_copy(&arena, (struct evd_text){places, size}).bytes);
        pins[count++] =
            (struct evd_pin){evd_answer_context(place.question, place.path, place.path_count), {{(uint8_t)count}}};
        places += size + (places[size] == ' ');
    }
    return evd_pins_overlay((struct evd_pins){NULL, 0}, pins, count, &arena);
}

static struct evd_errors check(const struct evd_definition *definition, const char *key, const char *there,
                               const char *value, const char *pointer) {
    struct evd_errors errors;
    struct place place = place_of(key);
    json_t *json = quoted(value);
    struct evd_answer answer = {.question = place.question,
                                .path = place.path,
                                .path_count = place.path_count,
                                .value = value_of(json_object_get(json, "v")),
                                .pointer = evd_text_from(pointer)};
    json_decref(json);
    evd_errors_init(&errors, &arena);
    evd_answer_check(definition, &answer, pins_of(there), &errors);
    return errors;
}

START_TEST(an_answer_stands_where_its_question_is_asked) {
    static const char all[] = "cohort=1 cohort=1/arms=x cohort=1/arms=x/visit=2 cohort=3";
    static const struct {
        const char *place, *there, *value, *errors;
    } places[] = {
        {"top", "", "{'v':'1'}", ""},
        {"cohort=1", "", "{'v':'Adults'}", ""}, /* its own element is what it makes */
        {"cohort=1", all, "{'v':'Adults'}", ""},
        {"cohort=1/size", all, "{'v':5}", ""},
        {"cohort=1/arms=y", all, "{'v':true}", ""},
        {"cohort=1/arms=x/dose", all, "{'v':'1'}", ""},
        {"cohort=1/arms=x/visit=9", all, "{'v':'First'}", ""},
        {"cohort=1/arms=x/visit=2/seen", all, "{'v':5}", ""},

        {"cohort=1/top", all, "{'v':'1'}", "/a/0/path wrongPath"},
        {"size", all, "{'v':5}", "/a/0/path wrongPath"},
        {"cohort", all, "{'v':'Adults'}", "/a/0/path wrongPath"},
        {"cohort=1/cohort=1", all, "{'v':'Adults'}", "/a/0/path wrongPath"},
        {"arms=x/dose", all, "{'v':'1'}", "/a/0/path wrongPath"},
        {"arms=x/cohort=1/dose", all, "{'v':'1'}", "/a/0/path wrongPath"},
        {"cohort=1/arms=x/visit=2/dose", all, "{'v':'1'}", "/a/0/path wrongPath"},
        {"cohort=1/arms=x/visit=2/visit=3", all, "{'v':'1'}", "/a/0/path wrongPath"},
        {"cohort=1/gone=x/dose", all, "{'v':'1'}", "/a/0/path wrongPath"},

        {"cohort=1/arms=z", all, "{'v':true}", "/a/0/path/1/element unknownOption"},
        {"cohort=1/arms=z/dose", all, "{'v':'1'}", "/a/0/path/1/element unknownOption"},
        {"cohort=x/size", all, "{'v':5}", "/a/0/path/0/element malformedElement"},
        {"cohort=x", all, "{'v':'Adults'}", "/a/0/path/0/element malformedElement"},
        {"cohort=x/arms=q/visit=y", all, "{'v':'First'}",
         "/a/0/path/0/element malformedElement; /a/0/path/1/element unknownOption; "
         "/a/0/path/2/element malformedElement"},

        {"cohort=2/size", all, "{'v':5}", "/a/0/path/0/element unknownElement"},
        {"cohort=2/arms=x", all, "{'v':true}", "/a/0/path/0/element unknownElement"},
        {"cohort=1/arms=y/dose", all, "{'v':'1'}", "/a/0/path/1/element unknownElement"},
        {"cohort=3/arms=x/dose", all, "{'v':'1'}", "/a/0/path/1/element unknownElement"},
        {"cohort=1/arms=x/visit=9/seen", all, "{'v':5}", "/a/0/path/2/element unknownElement"},
        {"cohort=2/arms=x/visit=2/seen", all, "{'v':5}", "/a/0/path/0/element unknownElement"},
        {"cohort=1/size", "cohort=1/size", "{'v':5}", "/a/0/path/0/element unknownElement"},

        /* Place and value are told together. */
        {"cohort=2/size", all, "{'v':'x'}", "/a/0/path/0/element unknownElement; /a/0/value wrongType"},
        {"size", all, "{'v':'x'}", "/a/0/path wrongPath; /a/0/value wrongType"},
        {"cohort=1/gone", all, "{'v':'x'}", "/a/0/question unknownQuestion"},
    };
    begin();
    const struct evd_definition *definition = definition_of(PLACES_FORM);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct evd_errors errors = check(definition, places[i].place, places[i].there, places[i].value, "/a/0");
        ck_assert_msg(strcmp(summary_of(&errors), places[i].errors) == 0, "%s: %s", places[i].place,
                      summary_of(&errors));
        struct evd_errors nowhere = check(definition, places[i].place, places[i].there, places[i].value, "");
        ck_assert_uint_eq(nowhere.total, errors.total);
        for (size_t k = 0; k < nowhere.count; k++)
            ck_assert_uint_eq(nowhere.items[k].pointer.size_bytes, 0);
    }
    end();
}
END_TEST

START_TEST(an_instances_id_is_a_uuid_in_lower_case) {
    static const struct {
        const char *id;
        bool right;
    } ids[] = {
        {"4a1f0000-0000-4000-8000-00000000000a", true},   {"4A1F0000-0000-4000-8000-00000000000a", false},
        {"4a1f00000000400080000000000000000a", false},    {"{4a1f0000-0000-4000-8000-00000000000a}", false},
        {"4a1f0000-0000-4000-8000-00000000000", false},   {"4a1f0000-0000-4000-8000-00000000000a ", false},
        {"urn:4a1f0000-0000-4000-8000-000000000", false}, {"", false},
        {"4a1f0000-0000-4000-8000-00000000000g", false},  {"Aspirin", false},
    };
    begin();
    const struct evd_definition *definition = definition_of(PLACES_FORM);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const char *place = evd_text_print(&arena, "cohort=%s", ids[i].id).bytes;
        struct evd_errors errors = check(definition, place, "", "{'v':'Adults'}", "/a/0");
        ck_assert_msg(strcmp(summary_of(&errors), ids[i].right ? "" : "/a/0/path/0/element malformedElement") == 0,
                      "%s: %s", ids[i].id, summary_of(&errors));
    }
    end();
}
END_TEST

START_TEST(an_error_of_a_place_tells_what_was_expected_and_found) {
    static const struct {
        const char *place, *members;
    } wrong[] = {
        {"size", "{'question':'size','path':[],'rule':'path','expected':'cohort','found':''}"},
        {"arms=x/cohort",
         "{'question':'cohort','path':[{'question':'arms','element':'x'}],'rule':'path','expected':'cohort',"
         "'found':'arms'}"},
        {"arms=x/cohort=y/dose",
         "{'question':'dose','path':[{'question':'arms','element':'x'},{'question':'cohort','element':'y'}],"
         "'rule':'path','expected':'cohort, arms','found':'arms, cohort'}"},
        {"cohort=x", "{'question':'cohort','path':[{'question':'cohort','element':'x'}],'rule':'path',"
                     "'expected':null,'found':'x'}"},
        {"cohort=1/size",
         "{'question':'size','path':[{'question':'cohort','element':'00000000-0000-4000-8000-000000000001'}],"
         "'rule':'path','expected':null,'found':'00000000-0000-4000-8000-000000000001'}"},
    };
    begin();
    const struct evd_definition *definition = definition_of(PLACES_FORM);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *value = strstr(wrong[i].place, "size") != NULL ? "{'v':5}" : "{'v':'x'}";
        struct evd_errors errors = check(definition, wrong[i].place, "", value, "/a/0");
        ck_assert_uint_eq(errors.total, 1);
        json_t *members = members_of(&errors.items[0]), *expected = quoted(wrong[i].members);
        ck_assert_msg(json_equal(members, expected), EVD_TEXT_FMT, EVD_TEXT_ARG(errors.items[0].members));
        json_decref(members);
        json_decref(expected);
    }
    end();
}
END_TEST

START_TEST(the_deepest_place_there_is_can_be_answered) {
    begin();
    struct evd_form_version *form = form_of_texts(EVD_LIMIT_QUESTION_DEPTH);
    struct evd_path_step path[EVD_LIMIT_QUESTION_DEPTH];
    struct evd_answer_value value = text_value("x");
    struct evd_pins pins = {NULL, 0};
    for (size_t i = 0; i < EVD_LIMIT_QUESTION_DEPTH; i++) {
        struct evd_question *question = &form->questions.items[i];
        question->kind = evd_name_of(EVD_QUESTION_UNIT);
        if (i > 0) question->unit = form->questions.items[i - 1].id;
        path[i] = (struct evd_path_step){.question = question->id, .element = instance_id((unsigned)i)};
    }
    const struct evd_definition *definition = evd_definition_compile(form, &arena);
    for (size_t i = 0; i < EVD_LIMIT_QUESTION_DEPTH; i++) {
        struct evd_answer answer = {
            .question = form->questions.items[i].id, .path = path, .path_count = i + 1, .value = &value};
        struct evd_errors errors;
        evd_errors_init(&errors, &arena);
        evd_answer_check(definition, &answer, pins, &errors);
        ck_assert_uint_eq(errors.total, 0);
        struct evd_pin *pin = EVD_NEW(&arena, struct evd_pin);
        *pin = (struct evd_pin){evd_answer_context(answer.question, path, i + 1), {{1}}};
        pins = evd_pins_overlay(pins, pin, 1, &arena);
    }
    end();
}
END_TEST

START_TEST(an_element_is_known_by_its_own_step_alone) {
    static const struct {
        const char *place;
        bool is_element;
    } places[] = {{"a", false}, {"u=1", true}, {"u=1/a", false}, {"u=1/v=2", true}, {"u=1/v=2/u", false}};
    begin();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct place place = place_of(places[i].place);
        ck_assert(evd_answer_is_element(place.question, place.path, place.path_count) == places[i].is_element);
    }
    end();
}
END_TEST

EVD_TEST_MAIN("domain: places of answers", an_answer_stands_where_its_question_is_asked,
              an_instances_id_is_a_uuid_in_lower_case, an_error_of_a_place_tells_what_was_expected_and_found,
              the_deepest_place_there_is_can_be_answered, an_element_is_known_by_its_own_step_alone)
