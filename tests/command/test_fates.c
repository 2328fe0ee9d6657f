/*
 * Fates: what a caller is told when the store fails, does not know, holds something newer, or a study is held.
 */
#include "../support/behind.h"
#include "../support/extraction.h"
#include "../support/scripted_store.h"

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

static struct reply save(unsigned who, unsigned id) {
    char *body = save_body(&house, NULL, 1, 2, "a");
    struct reply reply = ask(&house, &evd_command_save, session_ids(&house), person(who), command_id(id), body);
    free(body);
    return reply;
}

static void save_is(unsigned who, unsigned id, enum evd_outcome_code code) {
    struct reply reply = save(who, id);
    ck_assert_int_eq(reply.code, code);
    reply_done(&reply);
}

static unsigned landed(void) {
    return scripted_counts(house.script).landed;
}

static bool is_in_ledger(unsigned id) {
    return BEHIND_READ(&house, command_ledger, evd_ledger_id(house.project, command_id(id)), &arena) != NULL;
}

static long long versions_of(unsigned who) {
    struct reply reply =
        ask_ok(&house, &evd_command_list_session_versions, session_ids(&house), person(who), command_id(0), NULL);
    long long count = (long long)json_array_size(json_object_get(reply.body, "items"));
    reply_done(&reply);
    return count;
}

/* Commits of unknown fate. */

START_TEST(a_commit_of_unknown_fate_that_landed_is_found_and_answered_with_its_receipt) {
    begin();
    scripted_unknown(house.script, SCRIPTED_LANDED, 1);
    unsigned before = landed();
    struct reply reply = save(1, 1);
    ck_assert_int_eq(reply.code, EVD_OK);
    ck_assert(!reply.replayed);
    ck_assert_uint_eq(reply.charged, 0);
    ck_assert_uint_eq(scripted_counts(house.script).asked_again, 1);
    struct reply again = save(1, 1);
    ck_assert(again.replayed);
    ck_assert_str_eq(again.text, reply.text);
    ck_assert_uint_eq(landed() - before, 1);
    reply_done(&again);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(a_commit_of_unknown_fate_that_lands_when_asked_again_is_answered_with_its_receipt) {
    begin();
    scripted_unknown(house.script, SCRIPTED_LANDS_WHEN_ASKED, 1);
    unsigned before = landed();
    save_is(1, 1, EVD_OK);
    ck_assert_uint_eq(landed() - before, 1);
    ck_assert_int_eq(versions_of(1), 1);
    end();
}
END_TEST

START_TEST(a_commit_of_unknown_fate_that_did_not_land_runs_again) {
    begin();
    scripted_unknown(house.script, SCRIPTED_LOST, 1);
    unsigned before = landed();
    struct reply reply = save(1, 1);
    ck_assert_int_eq(reply.code, EVD_OK);
    ck_assert_uint_eq(reply.charged, 1);
    ck_assert_uint_eq(landed() - before, 1);
    ck_assert_int_eq(versions_of(1), 1);
    reply_done(&reply);
    end();
}
END_TEST

/* Whatever became of it, the retry with the same id ends in one effect and one receipt. */
static void in_the_dark(enum scripted_fate fate, bool did_land) {
    begin();
    scripted_unknown(house.script, fate, 1);
    unsigned before = landed();
    save_is(1, 1, EVD_OUTCOME_UNKNOWN);
    ck_assert_uint_eq(scripted_counts(house.script).asked_again, 3);
    ck_assert(is_in_ledger(1) == did_land);
    struct reply again = save(1, 1);
    ck_assert_int_eq(again.code, EVD_OK);
    ck_assert(again.replayed == did_land);
    ck_assert_uint_eq(landed() - before, 1);
    ck_assert_int_eq(versions_of(1), 1);
    reply_done(&again);
    end();
}

START_TEST(a_commit_that_stays_unknown_is_OutcomeUnknown_and_its_retry_replays_when_it_landed) {
    in_the_dark(SCRIPTED_LANDED_IN_THE_DARK, true);
}
END_TEST

START_TEST(a_commit_that_stays_unknown_is_OutcomeUnknown_and_its_retry_runs_when_it_did_not) {
    in_the_dark(SCRIPTED_LOST_IN_THE_DARK, false);
}
END_TEST

START_TEST(a_lane_goes_on_after_an_unknown_fate) {
    begin();
    scripted_unknown(house.script, SCRIPTED_LOST_IN_THE_DARK, 1);
    save_is(1, 1, EVD_OUTCOME_UNKNOWN);
    save_is(2, 2, EVD_OK);
    struct evd_runtime_figures figures;
    evd_runtime_figures(house.runtime, &figures);
    ck_assert_uint_eq(figures.lanes, 0);
    ck_assert_uint_eq(figures.in_flight, 0);
    end();
}
END_TEST

/* A store that fails. */

START_TEST(what_the_store_says_is_what_the_caller_is_told_and_nothing_is_written) {
    static const struct {
        enum scripted_call call;
        enum evd_store_status status;
        enum evd_outcome_code code;
    } table[] = {
        {SCRIPTED_OPEN, EVD_STORE_UNAVAILABLE, EVD_STORE_IS_UNAVAILABLE},
        {SCRIPTED_GET, EVD_STORE_UNAVAILABLE, EVD_STORE_IS_UNAVAILABLE},
        {SCRIPTED_SCAN, EVD_STORE_UNAVAILABLE, EVD_STORE_IS_UNAVAILABLE},
        {SCRIPTED_COMMIT, EVD_STORE_UNAVAILABLE, EVD_STORE_IS_UNAVAILABLE},
        {SCRIPTED_OPEN, EVD_STORE_FULL, EVD_STORE_IS_FULL},
        {SCRIPTED_COMMIT, EVD_STORE_FULL, EVD_STORE_IS_FULL},
        {SCRIPTED_OPEN, EVD_STORE_CORRUPT, EVD_STORE_IS_CORRUPT},
        {SCRIPTED_GET, EVD_STORE_CORRUPT, EVD_STORE_IS_CORRUPT},
        {SCRIPTED_SCAN, EVD_STORE_CORRUPT, EVD_STORE_IS_CORRUPT},
        {SCRIPTED_COMMIT, EVD_STORE_CORRUPT, EVD_STORE_IS_CORRUPT},
    };
    begin();
    unsigned before = landed();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        scripted_answer(house.script, table[i].call, table[i].status, 1);
        save_is(1, 1, table[i].code);
        ck_assert_uint_eq(landed(), before);
        ck_assert(!is_in_ledger(1));
    }
    save_is(1, 1, EVD_OK);
    end();
}
END_TEST

/* Records of a newer version. */

START_TEST(a_record_with_a_name_of_a_newer_version_makes_commands_fail_closed_while_reads_go_on) {
    begin();
    struct evd_stage *stage = BEHIND_READ(&house, stage, house.stage, &arena);
    stage->status = (struct evd_name){.text = EVD_TEXT("Hibernating")};
    BEHIND_REPLACE(&house, stage, stage);
    unsigned before = landed();
    struct reply refused = save(1, 1);
    ck_assert_int_eq(refused.code, EVD_REFUSED);
    ck_assert_int_eq(refused.reason, EVD_REASON_WRITER_FLOOR);
    ck_assert_uint_eq(landed(), before);
    struct evd_ids ids = session_ids(&house);
    ids.stage = house.stage;
    struct reply read = ask_ok(&house, &evd_command_get_stage, ids, person(1), command_id(0), NULL);
    ck_assert_str_eq(text_of(&read, "status"), "Hibernating");
    struct reply list = ask_ok(&house, &evd_command_list_stages, ids, person(1), command_id(0), NULL);
    reply_done(&list);
    reply_done(&read);
    reply_done(&refused);
    end();
}
END_TEST

START_TEST(a_newer_name_in_a_scanned_record_closes_too) {
    begin();
    save_is(1, 1, EVD_OK);
    evd_uuid id = evd_form_session_id(house.project, house.study, house.form, person(1));
    struct evd_form_session *session = BEHIND_READ(&house, form_session, id, &arena);
    session->state = (struct evd_name){.text = EVD_TEXT("suspended")};
    BEHIND_REPLACE(&house, form_session, session);
    struct reply refused = save(2, 2); /* reads it among all sessions of the study */
    ck_assert_int_eq(refused.code, EVD_REFUSED);
    ck_assert_int_eq(refused.reason, EVD_REASON_WRITER_FLOOR);
    reply_done(&refused);
    end();
}
END_TEST

/* Read or from the cache, whether it is the floor or the definition that is named. */
START_TEST(a_definition_with_a_kind_of_a_newer_version_closes_too) {
    begin();
    struct evd_form_version *version = BEHIND_READ(&house, form_version, house.form_version, &arena);
    version->questions.items[1].kind = (struct evd_name){.text = EVD_TEXT("hologram")};
    BEHIND_REPLACE(&house, form_version, version);
    for (unsigned i = 0; i < 2; i++) {
        struct reply refused = save(1, 1);
        bool by_floor = refused.code == EVD_REFUSED && refused.reason == EVD_REASON_WRITER_FLOOR;
        ck_assert(by_floor || refused.code == EVD_FORM_VERSION_NOT_RENDERABLE);
        reply_done(&refused);
    }
    struct evd_ids ids = session_ids(&house);
    ids.version = house.form_version;
    struct reply read = ask_ok(&house, &evd_command_get_form_version, ids, person(1), command_id(0), NULL);
    json_t *question = json_array_get(json_object_get(read.body, "questions"), 1);
    ck_assert_str_eq(json_string_value(json_object_get(question, "kind")), "hologram");
    reply_done(&read);
    end();
}
END_TEST

START_TEST(a_replay_wins_over_the_writer_floor_and_over_a_lock) {
    begin();
    save_is(1, 1, EVD_OK);
    struct evd_study *study = BEHIND_READ(&house, study, house.study, &arena);
    struct evd_bulk_lock lock = {.operation = house.admin, .since = 1};
    study->bulk_lock = &lock;
    BEHIND_REPLACE(&house, study, study);
    struct reply again = save(1, 1);
    ck_assert_int_eq(again.code, EVD_OK);
    ck_assert(again.replayed);
    reply_done(&again);
    end();
}
END_TEST

/* A study held by a bulk update. */

static char *body_of(const struct evd_command *command, const char *base) {
    if (command == &evd_command_correct_study) return strdup("{\"metadataVersion\":0,\"set\":{\"title\":\"T\"}}");
    struct extraction where = extraction_of_house(&house);
    if (command == &evd_command_withdraw) return extraction_body(where, base, "");
    if (command == &evd_command_fix) return extraction_body(where, base, "'answers':[]");
    if (command == &evd_command_upgrade) return extraction_body(where, base, "'formVersion':1");
    return save_body(&house, base, 1, 2, "a");
}

START_TEST(a_study_held_by_a_bulk_update_refuses_every_command_on_it_and_says_since_when) {
    size_t count, met = 0;
    begin();
    const struct evd_command *const *table = evd_command_table(&count);
    struct reply first = save(1, 900);
    const char *base = text_of(&first, "versionId");
    struct evd_study *study = BEHIND_READ(&house, study, house.study, &arena);
    struct evd_bulk_lock lock = {.operation = house.admin, .since = INT64_C(1800000000000)};
    study->bulk_lock = &lock;
    BEHIND_REPLACE(&house, study, study);
    unsigned before = landed();
    for (size_t i = 0; i < count; i++) {
        if (table[i]->lanes == NULL) continue;
        char *body = body_of(table[i], base);
        struct reply held = ask(&house, table[i], session_ids(&house), person(1), command_id(100 + (unsigned)i), body);
        ck_assert_msg(held.code == EVD_LOCKED, "%s", table[i]->name);
        ck_assert_str_eq(text_of(&held, "since"), "2027-01-15T08:00:00.000Z");
        reply_done(&held);
        free(body);
        met++;
    }
    ck_assert_uint_ge(met, 5);
    ck_assert_uint_eq(landed(), before);
    study = BEHIND_READ(&house, study, house.study, &arena);
    study->bulk_lock = NULL;
    BEHIND_REPLACE(&house, study, study);
    save_is(2, 2, EVD_OK);
    reply_done(&first);
    end();
}
END_TEST

/* A command that writes Studies must have a lane on each, or make them itself. */
START_TEST(every_command_that_writes_a_study_has_its_lane_and_drafts_and_views_have_none) {
    size_t count;
    const struct evd_command *const *table = evd_command_table(&count);
    for (size_t i = 0; i < count; i++) {
        bool beside = table[i]->scope == EVD_WRITES_DRAFTS || table[i]->scope == EVD_WRITES_EXPOSURES;
        bool writes = table[i]->commit != EVD_COMMIT_READ && !beside; /* something of the study's own */
        bool on_study = writes && strstr(table[i]->path, "{study}") != NULL;
        ck_assert_msg((table[i]->lanes != NULL) == on_study, "%s", table[i]->name);
        if (on_study) ck_assert_int_eq(table[i]->scope, EVD_WRITES_STUDY);
        if (table[i]->commit == EVD_COMMIT_READ) ck_assert_int_eq(table[i]->scope, EVD_WRITES_NOTHING);
    }
}
END_TEST

EVD_TEST_MAIN("commands: fates", a_commit_of_unknown_fate_that_landed_is_found_and_answered_with_its_receipt,
              a_commit_of_unknown_fate_that_lands_when_asked_again_is_answered_with_its_receipt,
              a_commit_of_unknown_fate_that_did_not_land_runs_again,
              a_commit_that_stays_unknown_is_OutcomeUnknown_and_its_retry_replays_when_it_landed,
              a_commit_that_stays_unknown_is_OutcomeUnknown_and_its_retry_runs_when_it_did_not,
              a_lane_goes_on_after_an_unknown_fate,
              what_the_store_says_is_what_the_caller_is_told_and_nothing_is_written,
              a_record_with_a_name_of_a_newer_version_makes_commands_fail_closed_while_reads_go_on,
              a_newer_name_in_a_scanned_record_closes_too, a_definition_with_a_kind_of_a_newer_version_closes_too,
              a_replay_wins_over_the_writer_floor_and_over_a_lock,
              a_study_held_by_a_bulk_update_refuses_every_command_on_it_and_says_since_when,
              every_command_that_writes_a_study_has_its_lane_and_drafts_and_views_have_none)
