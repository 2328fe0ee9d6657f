#include "evidenced/domain/answer.h"

#include "forms.h"

/* Below withdrawn elements. */

/* Places divided by spaces, as a request withdraws them. */
static struct evd_answer_place *withdrawn_of(const char *places, size_t *ret_count) {
    struct evd_answer_place *withdrawn = EVD_NEW_ARRAY(&arena, struct evd_answer_place, 20);
    size_t count = 0;
    while (*places != '\0') {
        size_t size = strcspn(places, " ");
        struct place place = place_of(evd_text_copy(&arena, (struct evd_text){places, size}).bytes);
        withdrawn[count].question = place.question;
        withdrawn[count].path.items = place.path;
        withdrawn[count++].path.count = place.path_count;
        places += size + (places[size] == ' ');
    }
    *ret_count = count;
    return withdrawn;
}

#define BASE                                                                                                           \
    "{'top':'x','u=1':'A','u=1/a':'x','u=1/v=3':'B','u=1/v=3/b':'x','u=1/v=3/m=x':true,'u=1/v=3/m=x/c':'x',"           \
    "'u=1/v=4':'B','u=1/v=4/b':'x','u=2':'A','u=2/a':'x','m=x':true,'m=x/d':'x','m=y':true,'m=y/d':'x','v=3':'C',"     \
    "'v=3/b':'x'}"

START_TEST(what_stands_below_a_withdrawn_element_is_found_at_every_depth) {
    static const struct {
        const char *withdrawn, *below;
    } rows[] = {
        {"", ""},
        {"top", ""},
        {"u=1/a", ""},
        {"u=9", ""},
        {"u=1/v=9", ""},
        {"u=2", "u=2/a"},
        {"u=1", "u=1/a u=1/v=3 u=1/v=3/b u=1/v=3/m=x u=1/v=3/m=x/c u=1/v=4 u=1/v=4/b"},
        {"u=1/v=3", "u=1/v=3/b u=1/v=3/m=x u=1/v=3/m=x/c"},
        {"u=1/v=3/m=x", "u=1/v=3/m=x/c"},
        {"m=x", "m=x/d"}, /* and not of the m that stands elsewhere */
        {"v=3", "v=3/b"},
        {"m=x m=y u=1/v=4", "u=1/v=4/b m=x/d m=y/d"},
        {"u=1/v=3 u=1 u=1/v=3/m=x", "u=1/a u=1/v=3 u=1/v=3/b u=1/v=3/m=x u=1/v=3/m=x/c u=1/v=4 u=1/v=4/b"},
        {"u=1/v", ""}, /* a place that is no element has nothing below it */
    };
    begin();
    size_t count = 0, withdrawn_count;
    const struct evd_answer *answers = answers_of(BASE, &count);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct evd_answer_place *withdrawn = withdrawn_of(rows[i].withdrawn, &withdrawn_count);
        const bool *below = evd_answers_below(answers, count, withdrawn, withdrawn_count, &arena);
        struct evd_buffer out;
        evd_buffer_init(&out, &arena, 100);
        for (size_t k = 0; k < count; k++)
            if (below[k])
                evd_buffer_print(&out, "%s%s", out.size_bytes == 0 ? "" : " ",
                                 place_text(answers[k].question, answers[k].path, answers[k].path_count));
        evd_buffer_add_byte(&out, 0);
        ck_assert_msg(strcmp(evd_buffer_text(&out).bytes, rows[i].below) == 0, "%s: %s", rows[i].withdrawn,
                      evd_buffer_text(&out).bytes);
    }
    (void)evd_answers_below(NULL, 0, NULL, 0, &arena);
    end();
}
END_TEST

/* Instances and references. */

#define INSTANCES_FORM                                                                                                 \
    "[{'id':'drug','kind':'unit'},{'id':'cohort','kind':'unit'},{'id':'visit','kind':'unit','unit':'cohort'},"         \
    "{'id':'gets','kind':'reference','target':'drug','unit':'cohort'},"                                                \
    "{'id':'at','kind':'reference','target':'visit'},"                                                                 \
    "{'id':'m','kind':'multichoice','options':[{'id':'1'}]},{'id':'t','kind':'text'}]"

static struct evd_errors check_instances(const struct evd_definition *definition, const struct evd_answer *answers,
                                         size_t count) {
    struct evd_errors errors;
    evd_errors_init(&errors, &arena);
    evd_answers_check_instances(definition, answers, count, &errors);
    return errors;
}

START_TEST(ids_are_of_one_instance_and_references_find_theirs) {
    static const struct {
        const char *answers, *errors;
    } sets[] = {
        {"{}", ""},
        {"{'drug=1':'A','drug=2':'B','cohort=3':'C','cohort=3/gets':['2','1']}", ""},
        {"{'cohort=3/gets':['2','1'],'drug=1':'A','cohort=3':'C','drug=2':'B'}", ""}, /* in whatever order */
        {"{'drug=1':'A','cohort=3':'C','cohort=3/gets':['1','2']}", "cohort=3/gets brokenReference"},
        {"{'cohort=3':'C','cohort=3/gets':['1','2']}", "cohort=3/gets brokenReference; cohort=3/gets brokenReference"},
        {"{'cohort=3':'C','cohort=3/gets':['3']}", "cohort=3/gets brokenReference"}, /* of another unit */
        {"{'cohort=3':'C','cohort=3/visit=4':'V','at':['4']}", ""},                  /* deeper than what points at it */
        {"{'cohort=3':'C','cohort=3/visit=4':'V','at':['3']}", "at brokenReference"},
        {"{'drug=1':'A','cohort=1':'C'}", "cohort=1 repeatedElement"},
        {"{'cohort=1':'C','drug=1':'A'}", "drug=1 repeatedElement"}, /* the later one */
        {"{'cohort=1':'C','cohort=2':'D','cohort=1/visit=4':'V','cohort=2/visit=4':'V','at':['4']}",
         "cohort=2/visit=4 repeatedElement"},
        {"{'cohort=1':'C','cohort=1/visit=1':'V','drug=1':'A'}",
         "cohort=1/visit=1 repeatedElement; drug=1 repeatedElement"},
        {"{'drug=1':'A','gone':['9'],'gone=1':'x','m':['9'],'t':'9'}", ""},
        {"{'at':'4','drug':'A'}", ""}, /* not even references and instances */
    };
    begin();
    const struct evd_definition *definition = definition_of(INSTANCES_FORM);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        size_t count = 0;
        const struct evd_answer *answers = answers_of(sets[i].answers, &count);
        struct evd_errors errors = check_instances(definition, answers, count);
        ck_assert_msg(strcmp(places_in(&errors), sets[i].errors) == 0, "%s: %s", sets[i].answers, places_in(&errors));
    }
    end();
}
END_TEST

START_TEST(a_broken_reference_tells_the_unit_and_the_instance) {
    begin();
    size_t count = 0;
    struct evd_answer *answers = answers_of("{'cohort=3':'C','drug=1':'A','cohort=3/gets':['1','2']}", &count);
    for (size_t i = 0; i < count; i++)
        answers[i].pointer = evd_text_print(&arena, "/answers/%zu", i);
    struct evd_errors errors = check_instances(definition_of(INSTANCES_FORM), answers, count);
    ck_assert_str_eq(summary_of(&errors), "/answers/2/value/1 brokenReference");
    json_t *members = members_of(&errors.items[0]);
    json_t *expected =
        quoted("{'question':'gets','path':[{'question':'cohort','element':'00000000-0000-4000-8000-000000000003'}],"
               "'rule':'target','expected':'drug','found':'00000000-0000-4000-8000-000000000002'}");
    ck_assert_msg(json_equal(members, expected), EVD_TEXT_FMT, EVD_TEXT_ARG(errors.items[0].members));
    json_decref(members);
    json_decref(expected);
    end();
}
END_TEST

START_TEST(as_many_instances_as_there_may_be_answers_are_told_apart) {
    begin();
    struct evd_answer *answers = EVD_NEW_ARRAY(&arena, struct evd_answer, EVD_LIMIT_PINS);
    struct evd_answer_value name = text_value("A");
    for (unsigned i = 0; i < EVD_LIMIT_PINS; i++) {
        struct evd_path_step *path = EVD_NEW(&arena, struct evd_path_step);
        *path = (struct evd_path_step){.question = EVD_TEXT("drug"), .element = instance_id(i * 7919U % 10007U)};
        answers[i] = (struct evd_answer){.question = EVD_TEXT("drug"), .path = path, .path_count = 1, .value = &name};
    }
    const struct evd_definition *definition = definition_of(INSTANCES_FORM);
    ck_assert_uint_eq(check_instances(definition, answers, EVD_LIMIT_PINS).total, 0);
    struct evd_path_step again = answers[17].path[0];
    answers[EVD_LIMIT_PINS - 1].path = &again;
    ck_assert_uint_eq(check_instances(definition, answers, EVD_LIMIT_PINS).total, 1);
    end();
}
END_TEST

EVD_TEST_MAIN("domain: sets of answers", what_stands_below_a_withdrawn_element_is_found_at_every_depth,
              ids_are_of_one_instance_and_references_find_theirs, a_broken_reference_tells_the_unit_and_the_instance,
              as_many_instances_as_there_may_be_answers_are_told_apart)
