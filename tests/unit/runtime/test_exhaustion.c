/*
 * Memory that runs out: at whichever allocation, the call ends in an outcome, nothing is written and nothing leaks.
 */
#include "../../support/behind.h"
#include "../../support/scripted_store.h"

#include "evidenced/records/json_load.h"
#include "evidenced/records/keys.h"

static struct house house;
static struct evd_arena arena;

static void begin(void) {
    evd_arena_init(&arena, 256 * EVD_MIB);
    house_open_scripted(&house, 0);
    house_furnish(&house, 4, 9);
}

static void end(void) {
    house_close(&house);
    evd_arena_done(&arena);
}

/* What may fail, and on which call. */
struct failing {
    const struct evd_command *command;
    unsigned who, id;
    const char *body;
    bool in_attempts;
};

static struct reply run_failing(const struct failing *failing, int64_t at) {
    struct asked *asked = asked_new(&house, failing->command, session_ids(&house), person(failing->who),
                                    command_id(failing->id), failing->body);
    struct evd_call *call = asked_call(asked);
    *(failing->in_attempts ? &call->attempt_arena.fail_at : &call->arena->fail_at) = at;
    asked_go(asked);
    return asked_end(asked);
}

static bool is_in_ledger(unsigned id) {
    bool there = BEHIND_READ(&house, command_ledger, evd_ledger_id(house.project, command_id(id)), &arena) != NULL;
    evd_arena_reset(&arena);
    return there;
}

/* Fails the first allocation, then the second, …, until the call gets through. Returns how many failed. */
static int64_t fail_each(const struct failing *failing) {
    for (int64_t at = 1;; at++) {
        unsigned landed = scripted_counts(house.script).landed;
        struct reply reply = run_failing(failing, at);
        enum evd_outcome_code code = reply.code;
        bool fresh = !reply.replayed;
        reply_done(&reply);
        bool wrote = scripted_counts(house.script).landed > landed;
        ck_assert(wrote == is_in_ledger(failing->id));
        if (code == EVD_OK) {
            ck_assert(fresh && wrote);
            return at - 1;
        }
        ck_assert_int_eq(code, EVD_OUT_OF_MEMORY);
        ck_assert(!wrote);
    }
}

START_TEST(an_attempt_that_runs_out_of_memory_at_any_allocation_is_OutOfMemory_and_writes_nothing) {
    begin();
    char *body = save_body(&house, NULL, 1, 3, "a");
    struct failing save = {&evd_command_save, 1, 1, body, true};
    struct failing complete = {&evd_command_complete, 2, 2, body, true};
    ck_assert_int_gt(fail_each(&save), 50);
    ck_assert_int_gt(fail_each(&complete), 50);
    free(body);
    end();
}
END_TEST

START_TEST(a_later_attempt_that_runs_out_of_memory_is_OutOfMemory_too) {
    begin();
    char *body = save_body(&house, NULL, 1, 3, "a");
    struct failing save = {&evd_command_save, 1, 1, body, true};
    for (int64_t at = 1, failed = 1; failed > 0; at++) {
        scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 2);
        unsigned landed = scripted_counts(house.script).landed;
        struct reply reply = run_failing(&save, at * 7);
        failed = reply.code == EVD_OUT_OF_MEMORY;
        ck_assert(failed || reply.code == EVD_OK);
        ck_assert_uint_eq(scripted_counts(house.script).landed - landed, !failed);
        reply_done(&reply);
    }
    free(body);
    end();
}
END_TEST

START_TEST(a_call_that_runs_out_of_memory_while_it_is_understood_is_OutOfMemory_and_writes_nothing) {
    begin();
    char *body = save_body(&house, NULL, 1, 3, "a");
    struct failing save = {&evd_command_save, 1, 1, body, false};
    ck_assert_int_gt(fail_each(&save), 5);
    free(body);
    end();
}
END_TEST

START_TEST(a_body_that_is_refused_when_memory_is_out_ends_in_one_or_the_other) {
    begin();
    struct failing broken = {&evd_command_save, 1, 1, "{\"stage\":\"no id\",\"answers\":[{}]}", false};
    for (int64_t at = 1, failed = 1; failed > 0; at++) {
        struct reply reply = run_failing(&broken, at);
        failed = reply.code == EVD_OUT_OF_MEMORY;
        ck_assert(failed || reply.code == EVD_MALFORMED);
        reply_done(&reply);
    }
    end();
}
END_TEST

START_TEST(a_view_that_runs_out_of_memory_at_any_allocation_is_OutOfMemory) {
    begin();
    char *body = save_body(&house, NULL, 1, 3, "a");
    struct reply saved = ask_ok(&house, &evd_command_save, session_ids(&house), person(1), command_id(1), body);
    struct failing view = {&evd_command_get_session, 1, 0, NULL, true};
    int64_t at = 1;
    for (bool failed = true; failed; at++) {
        struct reply reply = run_failing(&view, at);
        failed = reply.code == EVD_OUT_OF_MEMORY;
        ck_assert(failed || reply.code == EVD_OK);
        reply_done(&reply);
    }
    ck_assert_int_gt(at, 20);
    reply_done(&saved);
    free(body);
    end();
}
END_TEST

/* The parser's own memory comes from malloc. */
static int64_t parser_fails_at;

static void *fail_or_malloc(size_t size_bytes) {
    if (parser_fails_at > 0 && --parser_fails_at == 0) return NULL;
    return malloc(size_bytes);
}

/* Long enough that the parser's buffer for a token grows, which jansson does not notice when it fails; and quoted. */
#define LONG_VALUE "an answer of more than \"16 bytes\", then of more than \"32\", then of more than \"64 bytes\""

START_TEST(a_parser_that_runs_out_of_memory_at_any_allocation_is_OutOfMemory_and_writes_nothing) {
    begin();
    char *body = save_body(&house, NULL, 1, 3, LONG_VALUE);
    enum evd_outcome_code code;
    int64_t at = 0;
    do {
        struct asked *asked = asked_new(&house, &evd_command_save, session_ids(&house), person(1), command_id(1), body);
        evd_json_memory(fail_or_malloc, NULL);
        parser_fails_at = ++at;
        asked_go(asked);
        bool failed = parser_fails_at == 0;
        parser_fails_at = 0;
        evd_json_memory(NULL, NULL);
        struct reply reply = asked_end(asked);
        code = reply.code;
        ck_assert_msg(code == (failed ? EVD_OUT_OF_MEMORY : EVD_OK), "allocation %lld: %d", (long long)at, (int)code);
        ck_assert(is_in_ledger(1) == (code == EVD_OK));
        reply_done(&reply);
    } while (code != EVD_OK);
    ck_assert_int_gt(at, 20);
    free(body);
    end();
}
END_TEST

/* 5,000 answers with ids of 100 bytes: within every bound of a request, and a receipt of 800 KiB. */
enum { QUESTIONS = EVD_LIMIT_QUESTIONS };

static const char *long_id(unsigned number) {
    static char id[EVD_LIMIT_ID_BYTES + 1];
    (void)snprintf(id, sizeof id, "%0*u", EVD_LIMIT_ID_BYTES, number);
    return id;
}

static char *dump(json_t *json) {
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

static void make_long_form(void) {
    char form[EVD_UUID_TEXT_BYTES + 1];
    struct evd_ids ids = {.project = house.project};
    json_t *questions = json_array();
    for (unsigned i = 0; i < QUESTIONS; i++)
        (void)json_array_append_new(questions,
                                    json_pack("{s:s, s:s, s:s}", "id", long_id(i), "label", "L", "kind", "text"));
    char *body =
        dump(json_pack("{s:s, s:{s:i}, s:o}", "name", "Long", "capacity", "target", 2, "questions", questions));
    struct reply made = ask_ok(&house, &evd_command_create_form, ids, house.admin, command_id(1), body);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&made, "id")), &house.form));
    reply_done(&made);
    free(body);
    evd_uuid_format(house.form, form);
    body = dump(json_pack("{s:s, s:s}", "name", "Long stage", "formId", form));
    made = ask_ok(&house, &evd_command_create_stage, ids, house.admin, command_id(2), body);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&made, "id")), &house.stage));
    reply_done(&made);
    free(body);
    ids.form = house.form;
    made = ask_ok(&house, &evd_command_publish_form, ids, house.admin, command_id(3), "{\"baseVersion\":2}");
    reply_done(&made);
}

static char *long_body(unsigned count) {
    char stage[EVD_UUID_TEXT_BYTES + 1];
    json_t *answers = json_array();
    evd_uuid_format(house.stage, stage);
    for (unsigned i = 0; i < count; i++)
        (void)json_array_append_new(answers,
                                    json_pack("{s:s, s:s, s:n}", "question", long_id(i), "value", "x", "baseRevision"));
    return dump(json_pack("{s:s, s:i, s:n, s:n, s:o}", "stage", stage, "formVersion", 1, "baseVersion", "draft",
                          "answers", answers));
}

START_TEST(a_receipt_the_ledger_cannot_hold_is_an_outcome_and_writes_nothing) {
    begin();
    make_long_form();
    char *whole = long_body(QUESTIONS), *half = long_body(QUESTIONS / 2);
    ck_assert_uint_lt(strlen(whole), EVD_LIMIT_COMMAND_BODY_BYTES);
    unsigned landed = scripted_counts(house.script).landed;
    struct reply reply = ask(&house, &evd_command_save, session_ids(&house), person(1), command_id(10), whole);
    bool fits = reply.code == EVD_OK; /* when the bound of receipts is one day above that of bodies */
    if (!fits) ck_assert_int_eq(reply.code, EVD_SIZE_LIMIT_EXCEEDED);
    ck_assert_uint_eq(scripted_counts(house.script).landed - landed, fits);
    reply_done(&reply);
    reply = ask(&house, &evd_command_save, session_ids(&house), person(2), command_id(11), half);
    ck_assert_int_eq(reply.code, EVD_OK);
    reply_done(&reply);
    free(whole);
    free(half);
    end();
}
END_TEST

EVD_TEST_MAIN("runtime: memory that runs out",
              an_attempt_that_runs_out_of_memory_at_any_allocation_is_OutOfMemory_and_writes_nothing,
              a_later_attempt_that_runs_out_of_memory_is_OutOfMemory_too,
              a_call_that_runs_out_of_memory_while_it_is_understood_is_OutOfMemory_and_writes_nothing,
              a_body_that_is_refused_when_memory_is_out_ends_in_one_or_the_other,
              a_view_that_runs_out_of_memory_at_any_allocation_is_OutOfMemory,
              a_parser_that_runs_out_of_memory_at_any_allocation_is_OutOfMemory_and_writes_nothing,
              a_receipt_the_ledger_cannot_hold_is_an_outcome_and_writes_nothing)
