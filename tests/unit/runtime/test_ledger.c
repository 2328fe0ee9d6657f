/*
 * The ledger: one command id is one request and one effect, and its receipt is what was answered.
 */
#include "../../support/behind.h"
#include "../../support/scripted_store.h"

#include "evidenced/records/keys.h"

static struct house house;
static struct evd_arena arena;

static void begin(void) {
    evd_arena_init(&arena, 16 * EVD_MIB);
    house_open_scripted(&house, 0);
    house_furnish(&house, 3, 9);
}

static void end(void) {
    house_close(&house);
    evd_arena_done(&arena);
}

static struct evd_command_ledger *entry_of(evd_uuid project, unsigned id) {
    evd_uuid mine = house.project;
    house.project = project;
    struct evd_command_ledger *entry =
        BEHIND_READ(&house, command_ledger, evd_ledger_id(project, command_id(id)), &arena);
    house.project = mine;
    return entry;
}

static char *format(const char *template, evd_uuid id) {
    char text[EVD_UUID_TEXT_BYTES + 1], *body = NULL;
    const char *at = strchr(template, '@');
    evd_uuid_format(id, text);
    if (at == NULL) return strdup(template);
    ck_assert_int_gt(asprintf(&body, "%.*s%s%s", (int)(at - template), template, text, at + 1), 0);
    return body;
}

/* Asks, and compares with what the ledger holds then. */
static void check_receipt(const struct evd_command *command, struct evd_ids ids, unsigned who, unsigned id,
                          const char *body) {
    struct reply reply = ask_ok(&house, command, ids, person(who), command_id(id), body);
    evd_uuid project = ids.project;
    if (command->makes_project) ck_assert(evd_uuid_parse(evd_text_from(text_of(&reply, "id")), &project));
    struct evd_command_ledger *entry = entry_of(project, id);
    ck_assert_ptr_nonnull(entry);
    ck_assert_uint_eq(entry->receipt.size_bytes, strlen(reply.text));
    ck_assert_mem_eq(entry->receipt.bytes, reply.text, entry->receipt.size_bytes);
    ck_assert(evd_text_equal(entry->command, evd_text_from(command->name)));
    ck_assert(evd_uuid_equal(entry->caller, person(who)));
    struct reply again = ask_ok(&house, command, ids, person(who), command_id(id), body);
    ck_assert(again.replayed);
    ck_assert_str_eq(again.text, reply.text);
    reply_done(&again);
    reply_done(&reply);
}

START_TEST(the_ledgers_receipt_is_what_was_answered_byte_for_byte) {
    static const struct evd_ids none;
    begin();
    struct evd_ids ids = session_ids(&house);
    char *save = save_body(&house, NULL, 1, 2, "\xC3\xA9 \" \\ \t and so on");
    char *member = format("{\"investigatorId\":\"@\",\"roles\":[\"observer\"]}", person(20));
    check_receipt(&evd_command_save, ids, 1, 1, save);
    check_receipt(&evd_command_complete, ids, 2, 2, save);
    check_receipt(&evd_command_create_project, none, 3, 3, "{\"name\":\"Another\"}");
    check_receipt(&evd_command_set_member, ids, 0, 4, member);
    check_receipt(&evd_command_add_studies, ids, 0, 5, "{\"studies\":[{\"title\":\"T\"},{\"doi\":\"10.1/x\"}]}");
    check_receipt(&evd_command_create_form, ids, 0, 6,
                  "{\"name\":\"F\",\"capacity\":{\"target\":1},\"questions\":[{\"id\":\"q\",\"label\":\"Q\","
                  "\"kind\":\"text\"}]}");
    check_receipt(&evd_command_create_stage, ids, 0, 7, "{\"name\":\"S\"}");
    free(member);
    free(save);
    end();
}
END_TEST

/* Spellings of one request: order of members, white space, escapes, an optional member that is null or left out. */
START_TEST(the_digest_does_not_see_how_the_json_was_spelt) {
    static const char *const spellings[] = {
        "{\"stage\":\"@\",\"formVersion\":1,\"baseVersion\":null,\"draft\":null,\"answers\":"
        "[{\"question\":\"q1\",\"value\":\"a\",\"baseRevision\":null}]}",
        "{\"answers\":[{\"baseRevision\":null,\"value\":\"a\",\"question\":\"q1\"}],\"draft\":null,"
        "\"baseVersion\":null,\"formVersion\":1,\"stage\":\"@\"}",
        " {\n\t\"stage\" : \"@\" , \"formVersion\":1,\r\n\"baseVersion\": null,\"draft\":null,\"answers\":\n"
        "[ {\"question\":\"q1\" ,\"value\": \"a\",\"baseRevision\":null} ] }\n",
        "{\"stage\":\"@\",\"formVersion\":1,\"baseVersion\":null,\"draft\":null,\"answers\":"
        "[{\"question\":\"\\u0071\\u0031\",\"value\":\"\\u0061\",\"baseRevision\":null}]}",
        "{\"stage\":\"@\",\"formVersion\":1,\"baseVersion\":null,\"draft\":null,\"exposures\":null,\"withdrawn\":[],"
        "\"answers\":[{\"question\":\"q1\",\"value\":\"a\",\"notes\":null,\"path\":[],\"baseRevision\":null}]}"};
    begin();
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        char *body = format(spellings[i], house.stage);
        struct reply reply = ask_ok(&house, &evd_command_save, session_ids(&house), person(1), command_id(1), body);
        ck_assert(reply.replayed == (i > 0));
        reply_done(&reply);
        free(body);
    }
    end();
}
END_TEST

static void expect(const struct evd_command *command, struct evd_ids ids, unsigned who, const char *body,
                   enum evd_outcome_code code) {
    struct reply reply = ask(&house, command, ids, person(who), command_id(1), body);
    ck_assert_int_eq(reply.code, code);
    reply_done(&reply);
}

START_TEST(the_digest_covers_command_caller_target_and_body) {
    begin();
    struct evd_ids ids = session_ids(&house), other_study = ids, other_form = ids;
    char *body = save_body(&house, NULL, 1, 2, "a"), *other = save_body(&house, NULL, 1, 2, "b");
    char *longer = save_body(&house, NULL, 1, 3, "a");
    other_study.study = house.other_study;
    other_form.form = house.other_study;
    expect(&evd_command_save, ids, 1, body, EVD_OK);
    unsigned landed = scripted_counts(house.script).landed;
    expect(&evd_command_save, ids, 1, other, EVD_COMMAND_DIGEST_MISMATCH);
    expect(&evd_command_save, ids, 1, longer, EVD_COMMAND_DIGEST_MISMATCH);
    expect(&evd_command_save, ids, 2, body, EVD_COMMAND_DIGEST_MISMATCH);
    expect(&evd_command_save, other_study, 1, body, EVD_COMMAND_DIGEST_MISMATCH);
    expect(&evd_command_save, other_form, 1, body, EVD_COMMAND_DIGEST_MISMATCH);
    expect(&evd_command_complete, ids, 1, body, EVD_COMMAND_DIGEST_MISMATCH);
    expect(&evd_command_save, ids, 1, body, EVD_OK);
    ck_assert_uint_eq(scripted_counts(house.script).landed, landed);
    free(longer);
    free(other);
    free(body);
    end();
}
END_TEST

START_TEST(a_refused_command_leaves_its_id_free) {
    begin();
    struct evd_ids ids = session_ids(&house);
    char *stale = save_body(&house, "11111111-1111-4111-8111-111111111111", 1, 2, "a");
    char *body = save_body(&house, NULL, 1, 2, "a");
    expect(&evd_command_save, ids, 1, stale, EVD_STALE_BASE);
    expect(&evd_command_save, ids, 1, body, EVD_OK);
    expect(&evd_command_save, ids, 1, stale, EVD_COMMAND_DIGEST_MISMATCH);
    free(body);
    free(stale);
    end();
}
END_TEST

START_TEST(one_id_in_two_projects_is_two_commands) {
    static const struct evd_ids none;
    begin();
    struct reply made =
        ask_ok(&house, &evd_command_create_project, none, house.admin, command_id(2), "{\"name\":\"B\"}");
    struct evd_ids here = {.project = house.project}, there;
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&made, "id")), &there.project));
    there = (struct evd_ids){.project = there.project};
    expect(&evd_command_create_stage, here, 0, "{\"name\":\"S\"}", EVD_OK);
    struct reply other =
        ask_ok(&house, &evd_command_create_stage, there, house.admin, command_id(1), "{\"name\":\"T\"}");
    ck_assert(!other.replayed);
    reply_done(&other);
    reply_done(&made);
    end();
}
END_TEST

/* Somebody else's attempt at the same command lands between this one's reads and its commit. */
struct overtaking {
    const char *body;
    struct reply reply;
    bool done;
};

static void overtake(void *self, const struct evd_write *writes, size_t count) {
    struct overtaking *overtaking = self;
    (void)writes;
    (void)count;
    if (overtaking->done) return;
    overtaking->done = true;
    overtaking->reply =
        ask_ok(&house, &evd_command_add_studies, session_ids(&house), house.admin, command_id(1), overtaking->body);
}

START_TEST(a_lost_race_on_the_ledger_replays_the_first_receipt) {
    struct overtaking overtaking = {.body = "{\"studies\":[{\"doi\":\"10.1/raced\"}]}"};
    begin();
    unsigned landed = scripted_counts(house.script).landed;
    scripted_before_commit(house.script, overtake, &overtaking);
    struct reply reply =
        ask_ok(&house, &evd_command_add_studies, session_ids(&house), house.admin, command_id(1), overtaking.body);
    ck_assert(reply.replayed);
    ck_assert(!overtaking.reply.replayed);
    ck_assert_str_eq(reply.text, overtaking.reply.text);
    ck_assert_uint_eq(scripted_counts(house.script).landed - landed, 1);
    reply_done(&reply);
    reply_done(&overtaking.reply);
    end();
}
END_TEST

/* As a store that finds the key in the snapshot's index only at commit says it. */
START_TEST(a_duplicate_at_commit_runs_the_command_again_too) {
    begin();
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_DUPLICATE, 1);
    char *body = save_body(&house, NULL, 1, 2, "a");
    struct reply reply = ask_ok(&house, &evd_command_save, session_ids(&house), person(1), command_id(1), body);
    ck_assert_uint_eq(reply.charged, 1);
    ck_assert(!reply.replayed);
    reply_done(&reply);
    free(body);
    end();
}
END_TEST

EVD_TEST_MAIN("runtime: the ledger", the_ledgers_receipt_is_what_was_answered_byte_for_byte,
              the_digest_does_not_see_how_the_json_was_spelt, the_digest_covers_command_caller_target_and_body,
              a_refused_command_leaves_its_id_free, one_id_in_two_projects_is_two_commands,
              a_lost_race_on_the_ledger_replays_the_first_receipt, a_duplicate_at_commit_runs_the_command_again_too)
