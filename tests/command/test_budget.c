/*
 * Budgets: the exact store calls of every command on the interactive path. They never grow with the number of answers.
 */
#include "../support/house.h"

enum { MOST_CALLS = 64 };

static struct house house;
static struct {
    char calls[4096];
    size_t size;
} seen;

static void note(void *self, const char *call, evd_collection in, size_t records) {
    (void)self;
    int size = snprintf(seen.calls + seen.size, sizeof seen.calls - seen.size, "%s %s %zu\n", call,
                        evd_catalogue_stored()->collection_names[in], records);
    ck_assert_int_gt(size, 0);
    seen.size += (size_t)size;
    ck_assert_uint_lt(seen.size, sizeof seen.calls);
}

static void watch(void) {
    seen.size = 0;
    seen.calls[0] = '\0';
    evd_store_observe(house.store, note, NULL);
}

static const char *watched(void) {
    evd_store_observe(house.store, NULL, NULL);
    return seen.calls;
}

/* The same list whatever the numbers of records are: "get study", not "get study 1". */
static void without_numbers(const char *calls, char *out, size_t size) {
    size_t at = 0;
    for (; *calls != '\0' && at + 1 < size; calls++)
        if (*calls < '0' || *calls > '9') out[at++] = *calls;
    out[at] = '\0';
}

static struct reply save_answers(unsigned who, unsigned id, const char *base, unsigned last, const char *value) {
    char *body = save_body(&house, base, 1, last, value);
    struct reply reply = ask_ok(&house, &evd_command_save, session_ids(&house), person(who), command_id(id), body);
    free(body);
    return reply;
}

START_TEST(the_store_calls_of_a_first_save_are_these) {
    house_open(&house, 0);
    house_furnish(&house, 10, 2);
    struct reply warm = save_answers(2, 1, NULL, 1, "the definition is cached now");
    watch();
    struct reply reply = save_answers(1, 2, NULL, 3, "a");
    ck_assert_str_eq(watched(), "get membership 1\n"
                                "get commandLedger 1\n"
                                "get form 1\n"
                                "get stage 1\n"
                                "get study 1\n"
                                "get formSession 1\n"
                                "get annotationHead 3\n"
                                "get sessionDraft 1\n"
                                "get stage 1\n"
                                "scan formSession 1\n"
                                "insert commandLedger 1\n"
                                "insert formSession 1\n"
                                "insert formSessionVersion 1\n"
                                "insert pinMap 1\n"
                                "insert annotationHead 3\n"
                                "insert annotationRevision 3\n"
                                "insert sessionDraft 1\n"
                                "replace study 1\n");
    reply_done(&reply);
    reply_done(&warm);
    house_close(&house);
}
END_TEST

START_TEST(the_number_of_store_calls_does_not_grow_from_10_to_200_answers) {
    static char ten[4096], many[4096];
    house_open(&house, 0);
    house_furnish(&house, 200, 9);
    struct reply warm = save_answers(9, 1, NULL, 1, "the definition is cached now");
    watch();
    struct reply small = save_answers(1, 2, NULL, 10, "a");
    without_numbers(watched(), ten, sizeof ten);
    watch();
    struct reply large = save_answers(2, 3, NULL, 200, "a");
    without_numbers(watched(), many, sizeof many);
    ck_assert_str_eq(ten, many);
    reply_done(&large);
    reply_done(&small);
    reply_done(&warm);
    house_close(&house);
}
END_TEST

START_TEST(a_replay_writes_nothing) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    struct reply first = save_answers(1, 1, NULL, 2, "a");
    watch();
    struct reply again = save_answers(1, 1, NULL, 2, "a");
    const char *calls = watched();
    ck_assert(again.replayed);
    ck_assert_ptr_null(strstr(calls, "insert"));
    ck_assert_ptr_null(strstr(calls, "replace"));
    ck_assert_ptr_null(strstr(calls, "scan"));
    reply_done(&again);
    reply_done(&first);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: budgets", the_store_calls_of_a_first_save_are_these,
              the_number_of_store_calls_does_not_grow_from_10_to_200_answers, a_replay_writes_nothing)
