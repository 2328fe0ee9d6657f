/*
 * Units, split choices, references and series through Save and Complete, from the request to the disk.
 */
#include "../support/extractor.h"

#include "evidenced/records/dictionary.h"

static struct house house;

#define QUESTIONS                                                                                                      \
    "[{'id':'species','label':'L','kind':'text','required':true},"                                                     \
    "{'id':'drug','label':'L','kind':'unit'},"                                                                         \
    "{'id':'dose','label':'L','kind':'decimal','unit':'drug','required':true},"                                        \
    "{'id':'cohort','label':'L','kind':'unit'},"                                                                       \
    "{'id':'gets','label':'L','kind':'reference','target':'drug','unit':'cohort','required':true},"                    \
    "{'id':'outcome','label':'L','kind':'unit','unit':'cohort'},"                                                      \
    "{'id':'data','label':'L','kind':'series','unit':'outcome','required':true},"                                      \
    "{'id':'signs','label':'L','kind':'multichoice','split':true,"                                                     \
    "'options':[{'id':'x','label':'X'},{'id':'y','label':'Y'}]},"                                                      \
    "{'id':'when','label':'L','kind':'text','parent':{'questionId':'signs'}}]"

static void open_house(void) {
    char *questions = strdup(QUESTIONS);
    for (char *at = questions; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    house_open(&house, 0);
    house_furnish_with(&house, questions, 2);
    free(questions);
}

static void assert_refused(struct extractor *tab, const struct evd_command *command, const char *answers,
                           const char *withdrawn, const char *errors) {
    struct reply reply = extractor_send(tab, command, answers, withdrawn);
    ck_assert_int_eq(reply.code, EVD_VALIDATION_FAILED);
    ck_assert_str_eq(extractor_errors(&reply), errors);
    reply_done(&reply);
}

START_TEST(an_instance_and_what_is_below_it_are_saved_together_and_read_back) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    extractor_save(&tab,
                   "{'drug=1':'Aspirin 100 mg','drug=1/dose':'100','cohort=2':'Adults','cohort=2/gets':['1'],"
                   "'signs=x':true,'signs=x/when':'day 1'}",
                   "");
    ck_assert_str_eq(extractor_places(&tab), "cohort=2; cohort=2/gets; drug=1; drug=1/dose; signs=x; signs=x/when");
    struct reply read = ask_ok(&house, &evd_command_get_session, session_ids(&house), person(1), command_id(0), NULL);
    const json_t *answer;
    size_t i, named = 0;
    json_array_foreach(json_object_get(read.body, "answers"), i, answer) {
        const char *value = json_string_value(json_object_get(answer, "value"));
        named += value != NULL && strcmp(value, "Aspirin 100 mg") == 0;
    }
    ck_assert_uint_eq(named, 1);
    reply_done(&read);
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(two_children_of_two_chosen_options_are_changed_apart_by_two_tabs_without_conflict) {
    open_house();
    struct extractor one = extractor_new(&house, 1), two = extractor_new(&house, 1);
    extractor_save(&one, "{'signs=x':true,'signs=y':true,'signs=x/when':'a','signs=y/when':'a'}", "");
    json_t *x = json_object_get(one.revisions, "signs=x/when"), *y = json_object_get(one.revisions, "signs=y/when");
    ck_assert_str_ne(json_string_value(x), json_string_value(y)); /* heads of their own */
    (void)json_object_update(two.revisions, one.revisions);
    extractor_save(&one, "{'signs=x/when':'b'}", "");
    memcpy(two.base, one.base,
           sizeof two.base); /* the other tab goes on from the new version, with what it had read before */
    extractor_save(&two, "{'signs=y/when':'c'}", "");
    ck_assert_str_eq(extractor_places(&two), "signs=x; signs=x/when; signs=y; signs=y/when");
    struct reply read = ask_ok(&house, &evd_command_get_session, session_ids(&house), person(1), command_id(0), NULL);
    const json_t *answer;
    size_t i;
    json_array_foreach(json_object_get(read.body, "answers"), i, answer) {
        char place[200];
        extractor_place(answer, place, sizeof place);
        const char *value = json_string_value(json_object_get(answer, "value"));
        if (strcmp(place, "signs=x/when") == 0) ck_assert_str_eq(value, "b");
        if (strcmp(place, "signs=y/when") == 0) ck_assert_str_eq(value, "c");
    }
    reply_done(&read);
    extractor_done(&two);
    extractor_done(&one);
    house_close(&house);
}
END_TEST

#define TWO_COHORTS                                                                                                    \
    "{'species':'rat','drug=1':'A','drug=1/dose':'1','drug=2':'B','drug=2/dose':'2','cohort=3':'C',"                   \
    "'cohort=3/gets':['1'],'cohort=4':'D','cohort=4/gets':['2','1']}"

START_TEST(a_treatment_that_two_cohorts_reference_is_not_deleted_silently) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    extractor_save(&tab, TWO_COHORTS, "");
    struct reply refused = extractor_send(&tab, &evd_command_save, "{}", "drug=1");
    ck_assert_int_eq(refused.code, EVD_VALIDATION_FAILED);
    ck_assert_str_eq(extractor_errors(&refused), "cohort=3/gets brokenReference; cohort=4/gets brokenReference");
    const json_t *error = json_array_get(json_object_get(refused.body, "errors"), 0);
    char id[EVD_UUID_TEXT_BYTES + 1];
    extractor_instance(1, id);
    ck_assert_str_eq(json_string_value(json_object_get(error, "found")), id);
    ck_assert_str_eq(json_string_value(json_object_get(error, "expected")), "drug");
    reply_done(&refused);
    assert_refused(&tab, &evd_command_save, "{'cohort=3/gets':['2']}", "drug=1", "cohort=4/gets brokenReference");
    extractor_save(&tab, "{'cohort=3/gets':['2'],'cohort=4/gets':['2']}", "drug=1");
    ck_assert_str_eq(extractor_places(&tab),
                     "cohort=3; cohort=3/gets; cohort=4; cohort=4/gets; drug=2; drug=2/dose; species");
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(a_treatment_goes_with_the_references_that_are_withdrawn_along) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    extractor_save(&tab, TWO_COHORTS, "");
    extractor_save(&tab, "{'cohort=4/gets':['2']}", "drug=1 cohort=3"); /* one falls with its cohort, one is changed */
    ck_assert_str_eq(extractor_places(&tab), "cohort=4; cohort=4/gets; drug=2; drug=2/dose; species");
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(deleting_an_instance_withdraws_the_answers_under_it) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    extractor_save(&tab,
                   "{'species':'rat','cohort=1':'A','cohort=1/outcome=2':'O','cohort=1/outcome=2/data':"
                   "[{'time':'0','average':'1'}],'cohort=5':'B','cohort=5/outcome=6':'P'}",
                   "");
    struct reply reply = extractor_send(&tab, &evd_command_save, "{}", "cohort=1");
    ck_assert_int_eq(reply.code, EVD_OK);
    ck_assert_int_eq(number_of(&reply, "answerCount"), 3);
    reply_done(&reply);
    ck_assert_str_eq(extractor_places(&tab), "cohort=5; cohort=5/outcome=6; species");
    extractor_save(&tab, "{}", "cohort=5/outcome=6 cohort=5"); /* named along with what is above it */
    ck_assert_str_eq(extractor_places(&tab), "species");
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(un_choosing_an_option_withdraws_its_children) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    extractor_save(&tab, "{'signs=x':true,'signs=y':true,'signs=x/when':'a','signs=y/when':'a'}", "");
    extractor_save(&tab, "{}", "signs=x");
    ck_assert_str_eq(extractor_places(&tab), "signs=y; signs=y/when");
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(nothing_is_saved_below_an_element_that_is_not_there) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    assert_refused(&tab, &evd_command_save, "{'drug=1/dose':'1','signs=x/when':'a','signs=q':true,'dose':'1'}", "",
                   "dose wrongPath; drug=1/dose unknownElement; signs=q unknownOption; signs=x/when unknownElement");
    extractor_save(&tab, "{'drug=1':'A','signs=x':true}", "");
    extractor_save(&tab, "{'drug=1/dose':'1','signs=x/when':'a'}", "");
    assert_refused(&tab, &evd_command_save, "{'drug=1/dose':'2'}", "drug=1", "drug=1/dose unknownElement");
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(an_instances_id_is_of_that_instance_only) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    assert_refused(&tab, &evd_command_save, "{'drug=1':'A','cohort=1':'B'}", "", "cohort=1 repeatedElement");
    extractor_save(&tab, "{'drug=1':'A','cohort=2':'B','cohort=2/outcome=3':'O'}", "");
    assert_refused(&tab, &evd_command_save, "{'cohort=1':'C'}", "", "cohort=1 repeatedElement");
    assert_refused(&tab, &evd_command_save, "{'drug=3':'D'}", "", "drug=3 repeatedElement");
    extractor_save(&tab, "{'drug=1':'A, renamed'}", "");
    extractor_save(&tab, "{'cohort=1':'C'}", "drug=1"); /* it is free again */
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(a_reference_points_at_what_is_there_also_when_its_own_save_makes_it) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    assert_refused(&tab, &evd_command_save, "{'cohort=2':'B','cohort=2/gets':['1']}", "",
                   "cohort=2/gets brokenReference");
    extractor_save(&tab, "{'cohort=2':'B'}", "");
    assert_refused(&tab, &evd_command_save, "{'cohort=2/gets':['2']}", "", "cohort=2/gets brokenReference");
    extractor_save(&tab, "{'cohort=2/gets':['1'],'drug=1':'A'}", "");
    extractor_save(&tab, "{'cohort=4':'D','cohort=4/gets':['1']}", "");
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(three_hundred_points_in_one_save_come_back_equal) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    json_t *points = json_array();
    for (int i = 300; i-- > 0;) {
        char time[20], average[20];
        (void)snprintf(time, sizeof time, "%d.50", i);
        (void)snprintf(average, sizeof average, "-%d.0%d", i * 7, i % 10);
        json_t *point = json_pack("{s:s, s:s}", "time", time, "average", average);
        if (i % 3 == 0) (void)json_object_set_new(point, "error", json_string("0.10"));
        (void)json_array_append_new(points, point);
    }
    char *text = json_dumps(points, 0), *answers;
    ck_assert_int_gt(asprintf(&answers, "{'cohort=1':'A','cohort=1/outcome=2':'O','cohort=1/outcome=2/data':%s}", text),
                     0);
    extractor_save(&tab, answers, "");
    house_restart(&house);
    struct reply read = ask_ok(&house, &evd_command_get_session, session_ids(&house), person(1), command_id(0), NULL);
    const json_t *answer;
    size_t i, found = 0;
    json_array_foreach(json_object_get(read.body, "answers"), i, answer) found +=
        json_equal(json_object_get(answer, "value"), points);
    ck_assert_uint_eq(found, 1);
    /* The same points in another order are the same answer: no revision is made. */
    char *was = strdup(json_string_value(json_object_get(tab.revisions, "cohort=1/outcome=2/data")));
    json_t *turned = json_array();
    for (i = json_array_size(points); i-- > 0;)
        (void)json_array_append(turned, json_array_get(points, i));
    free(text);
    free(answers);
    text = json_dumps(turned, 0);
    ck_assert_int_gt(asprintf(&answers, "{'cohort=1/outcome=2/data':%s}", text), 0);
    extractor_save(&tab, answers, "");
    ck_assert_str_eq(json_string_value(json_object_get(tab.revisions, "cohort=1/outcome=2/data")), was);
    free(was);
    free(text);
    free(answers);
    json_decref(turned);
    json_decref(points);
    reply_done(&read);
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(complete_reports_all_errors_at_once_across_instances) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    extractor_save(&tab,
                   "{'drug=1':'A','drug=2':'B','drug=2/dose':'2','cohort=3':'C','cohort=4':'D','cohort=4/gets':['2'],"
                   "'cohort=4/outcome=5':'O'}",
                   "");
    assert_refused(&tab, &evd_command_complete,
                   "{'cohort=4/outcome=6':'P','cohort=9/gets':['1'],'cohort=3/outcome=7':'',"
                   "'cohort=4/outcome=6/data':[{'time':'x','average':'1'}]}",
                   "drug=2",
                   "cohort=3/gets required; cohort=3/outcome=7 emptyAnswer; cohort=3/outcome=7/data required; "
                   "cohort=4/gets brokenReference; cohort=4/outcome=5/data required; "
                   "cohort=4/outcome=6/data notADecimal; cohort=9/gets unknownElement; drug=1/dose required; "
                   "species required");
    struct reply done = extractor_send(&tab, &evd_command_complete,
                                       "{'species':'rat','drug=1/dose':'1','cohort=3/gets':['1'],"
                                       "'cohort=4/outcome=5/data':[{'time':'0','average':'1'}]}",
                                       "");
    ck_assert_int_eq(done.code, EVD_OK);
    ck_assert_str_eq(text_of(&done, "state"), "completed");
    reply_done(&done);
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

START_TEST(an_element_is_withdrawn_once_and_a_place_is_changed_once) {
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    extractor_save(&tab, "{'drug=1':'A','drug=1/dose':'1'}", "");
    struct reply twice = extractor_send(&tab, &evd_command_save, "{'drug=1':'B'}", "drug=1");
    ck_assert_int_eq(twice.code, EVD_VALIDATION_FAILED);
    ck_assert_uint_eq(json_array_size(json_object_get(twice.body, "errors")), 1);
    reply_done(&twice);
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

static size_t revisions_read;

static void count_revisions(void *self, const char *call, evd_collection in, size_t records) {
    (void)self;
    if (in == EVD_IN_ANNOTATION_REVISION && strcmp(call, "get") == 0) revisions_read += records;
}

START_TEST(a_save_reads_what_its_base_says_only_when_elements_or_references_change) {
    static const struct {
        const char *answers, *withdrawn;
        size_t read;
    } saves[] = {
        {"{'species':'mouse'}", "", 0},
        {"{'drug=1/dose':'2'}", "", 0},
        {"{'drug=1':'A, renamed'}", "", 0},
        {"{'signs=x':true,'signs=x/when':'a'}", "", 0}, /* an option's existence is told by its place alone */
        {"{}", "drug=1/dose", 0},
        {"{'cohort=2/outcome=9':'O','cohort=2/outcome=9/data':[{'time':'0','average':'1'}]}", "", 7},
        {"{'cohort=2/gets':['1']}", "", 9},
        {"{}", "signs=x", 9},
        {"{}", "cohort=2/outcome=9", 7},
    };
    open_house();
    struct extractor tab = extractor_new(&house, 1);
    extractor_save(
        &tab, "{'species':'rat','drug=1':'A','drug=1/dose':'1','drug=4':'B','cohort=2':'C','cohort=2/gets':['4']}", "");
    evd_store_observe(house.store, count_revisions, NULL);
    for (size_t i = 0; i < sizeof saves / sizeof *saves; i++) {
        revisions_read = 0;
        extractor_save(&tab, saves[i].answers, saves[i].withdrawn);
        ck_assert_msg(revisions_read == saves[i].read, "%zu: %zu", i, revisions_read);
    }
    evd_store_observe(house.store, NULL, NULL);
    extractor_done(&tab);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: units, splits, references, series",
              an_instance_and_what_is_below_it_are_saved_together_and_read_back,
              two_children_of_two_chosen_options_are_changed_apart_by_two_tabs_without_conflict,
              a_treatment_that_two_cohorts_reference_is_not_deleted_silently,
              a_treatment_goes_with_the_references_that_are_withdrawn_along,
              deleting_an_instance_withdraws_the_answers_under_it, un_choosing_an_option_withdraws_its_children,
              nothing_is_saved_below_an_element_that_is_not_there, an_instances_id_is_of_that_instance_only,
              a_reference_points_at_what_is_there_also_when_its_own_save_makes_it,
              three_hundred_points_in_one_save_come_back_equal, complete_reports_all_errors_at_once_across_instances,
              an_element_is_withdrawn_once_and_a_place_is_changed_once,
              a_save_reads_what_its_base_says_only_when_elements_or_references_change)
