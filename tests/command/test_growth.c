/*
 * Budgets do not grow: the number of store calls is the same whatever the number of answers, and a retry costs what the
 * first attempt did.
 */
#include "../support/calls.h"
#include "../support/extraction.h"
#include "../support/scripted_store.h"

static struct house house;

static struct reply save_answers(unsigned who, unsigned id, const char *base, unsigned last, const char *value) {
    char *body = save_body(&house, base, 1, last, value);
    struct reply reply = ask_ok(&house, &evd_command_save, session_ids(&house), person(who), command_id(id), body);
    free(body);
    return reply;
}

START_TEST(the_number_of_store_calls_does_not_grow_from_10_to_200_answers) {
    static char ten[4096], many[4096];
    house_open(&house, 0);
    house_furnish(&house, 200, 9);
    struct reply warm = save_answers(9, 1, NULL, 1, "the definition is cached now");
    calls_watch(&house);
    struct reply small = save_answers(1, 2, NULL, 10, "a");
    calls_without_numbers(calls_watched(&house), ten, sizeof ten);
    calls_watch(&house);
    struct reply large = save_answers(2, 3, NULL, 200, "a");
    calls_without_numbers(calls_watched(&house), many, sizeof many);
    ck_assert_str_eq(ten, many);
    reply_done(&large);
    reply_done(&small);
    reply_done(&warm);
    house_close(&house);
}
END_TEST

/* Members of a Save of q1 … q<count>; before: the reply of the Save they change, NULL for the first. */
static char *many_answers(unsigned count, const char *value, const struct reply *before) {
    json_t *answers = json_array();
    for (unsigned i = 0; i < count; i++) {
        char question[16];
        (void)snprintf(question, sizeof question, "q%u", i + 1);
        json_t *answer = json_pack("{s:s, s:s, s:n}", "question", question, "value", value, "baseRevision");
        if (before != NULL)
            (void)json_object_set(answer, "baseRevision",
                                  json_object_get(extraction_answer(before, question), "revision"));
        (void)json_array_append_new(answers, answer);
    }
    char *list = json_dumps(answers, 0), *members = json_of("'formVersion':1,'answers':%s", list);
    free(list);
    json_decref(answers);
    return members;
}

/* Every answer of the session was changed in another form since: each is shown as it was pinned and as it is. */
static void read_outdated(struct extraction g, unsigned who, unsigned count, char *ret_calls, size_t size) {
    struct extraction f = extraction_of_house(&house);
    char *first = many_answers(count, "before", NULL);
    struct reply in_f = extraction_ask(&house, &evd_command_save, f, who, 10 * who, NULL, first);
    struct reply in_g = extraction_ask(&house, &evd_command_save, g, who, 10 * who + 1, NULL, first);
    char *second = many_answers(count, "after", &in_f);
    struct reply changed =
        extraction_ask(&house, &evd_command_save, f, who, 10 * who + 2, text_of(&in_f, "versionId"), second);
    ck_assert_int_eq(changed.code, EVD_OK);
    calls_watch(&house);
    struct reply read = extraction_read(&house, g, who);
    calls_without_numbers(calls_watched(&house), ret_calls, size);
    ck_assert(json_is_true(json_object_get(extraction_answer(&read, "q1"), "outdated")));
    reply_done(&read);
    reply_done(&changed);
    free(second);
    reply_done(&in_g);
    reply_done(&in_f);
    free(first);
}

START_TEST(the_store_calls_that_show_outdated_answers_do_not_grow_with_their_number) {
    static char ten[4096], many[4096];
    house_open(&house, 0);
    house_furnish(&house, 200, 9);
    char *list = json_of("%s", "[");
    for (unsigned i = 1; i <= 200; i++) {
        char *longer = json_of("%s%s{'id':'q%u','label':'Q','kind':'text'}", list, i == 1 ? "" : ",", i);
        free(list);
        list = longer;
    }
    char *questions = json_of("%s]", list);
    struct extraction g = extraction_add(&house, 1, questions);
    read_outdated(g, 1, 10, ten, sizeof ten);
    read_outdated(g, 2, 200, many, sizeof many);
    ck_assert_str_eq(ten, many);
    free(questions);
    free(list);
    house_close(&house);
}
END_TEST

START_TEST(a_conflict_costs_the_same_calls_again_and_no_more) {
    static char once[4096], twice[4096];
    house_open_scripted(&house, 0);
    house_furnish(&house, 3, 9);
    struct reply warm = save_answers(9, 1, NULL, 1, "the definition is cached now");
    calls_watch(&house);
    struct reply smooth = save_answers(1, 2, NULL, 3, "a");
    calls_without_numbers(calls_watched(&house), once, sizeof once);
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 1);
    calls_watch(&house);
    struct reply rough = save_answers(2, 3, NULL, 3, "a");
    calls_without_numbers(calls_watched(&house), twice, sizeof twice);
    size_t size = strlen(once);
    ck_assert_uint_eq(strlen(twice), 2 * size);
    ck_assert(strncmp(twice, once, size) == 0 && strcmp(twice + size, once) == 0);
    reply_done(&rough);
    reply_done(&smooth);
    reply_done(&warm);
    house_close(&house);
}
END_TEST

START_TEST(a_replay_writes_nothing) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    struct reply first = save_answers(1, 1, NULL, 2, "a");
    calls_watch(&house);
    struct reply again = save_answers(1, 1, NULL, 2, "a");
    const char *calls = calls_watched(&house);
    ck_assert(again.replayed);
    ck_assert_ptr_null(strstr(calls, "insert"));
    ck_assert_ptr_null(strstr(calls, "replace"));
    ck_assert_ptr_null(strstr(calls, "scan"));
    reply_done(&again);
    reply_done(&first);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: budgets do not grow", the_number_of_store_calls_does_not_grow_from_10_to_200_answers,
              the_store_calls_that_show_outdated_answers_do_not_grow_with_their_number,
              a_conflict_costs_the_same_calls_again_and_no_more, a_replay_writes_nothing)
