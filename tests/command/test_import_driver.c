/*
 * How operations are driven: races, refusals, stores that fail, drivers that are replaced.
 */
#include "../support/behind.h"
#include "../support/imports.h"
#include "../support/scripted_store.h"

#include "evidenced/base/arena.h"
#include "evidenced/records/keys.h"

/* The steps tests wait for; nobody else may call them. */
extern const struct evd_command evd_command_judge_import_batch, evd_command_apply_import_batch;

static struct house house;
static struct imports imports;
static unsigned next_id = 100;

static const struct evd_options plain, skipping = {.skip_refused = true}, dry = {.dry_run = true};

/* Two batches: 1000 rows and 200. */
enum { ROWS = 1200 };

static void begin(void) {
    house_open_scripted(&house, 0);
    house_furnish(&house, 1, 2);
    imports_open(&imports, &house);
}

static void end(void) {
    if (imports.stuck == 0) imports_expect_sound(&imports);
    imports_close(&imports);
    house_close(&house);
}

static size_t studies(void) {
    return behind_count(&house, EVD_INDEX_studies, NULL, 0) - 2;
}

static long long count_of(const struct reply *operation, const char *name) {
    return json_integer_value(json_object_get(json_object_get(operation->body, "counts"), name));
}

static evd_uuid begun(const char *csv, struct evd_options options) {
    return imports_begin(&imports, next_id++, &(struct import_file){.content = csv, .options = options});
}

static evd_uuid begun_rows(unsigned first, unsigned count, struct evd_options options) {
    char *csv = imports_csv(first, count);
    evd_uuid operation = begun(csv, options);
    free(csv);
    return operation;
}

static void expect(evd_uuid operation, const char *status, long long added, long long matched) {
    struct reply seen = imports_look(&imports, operation);
    ck_assert_str_eq(text_of(&seen, "status"), status);
    ck_assert_int_eq(count_of(&seen, "added"), added);
    ck_assert_int_eq(count_of(&seen, "matched"), matched);
    reply_done(&seen);
}

/* rows: JSON with single quotes. */
static void add_studies(const char *rows) {
    char *body;
    struct evd_ids ids = {.project = house.project};
    ck_assert_int_gt(asprintf(&body, "{\"studies\":[%s]}", rows), 0);
    for (char *at = body; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    struct reply reply = ask_ok(&house, &evd_command_add_studies, ids, house.admin, command_id(next_id++), body);
    reply_done(&reply);
    free(body);
}

static void set_roles(unsigned who, const char *roles) {
    char id[EVD_UUID_TEXT_BYTES + 1], *body;
    struct evd_ids ids = {.project = house.project};
    evd_uuid_format(person(who), id);
    ck_assert_int_gt(asprintf(&body, "{\"investigatorId\":\"%s\",\"roles\":[%s]}", id, roles), 0);
    struct reply reply = ask_ok(&house, &evd_command_set_member, ids, house.admin, command_id(next_id++), body);
    reply_done(&reply);
    free(body);
}

START_TEST(two_imports_at_once_cannot_both_take_a_DOI) {
    begin();
    evd_uuid first = begun_rows(0, ROWS, plain), second = begun_rows(600, ROWS, plain);
    imports_run(&imports);
    expect(first, "succeeded", ROWS, 0);
    expect(second, "succeeded", 600, 600);
    ck_assert_uint_eq(studies(), 1800);
    end();
}
END_TEST

/* Between judging and applying, and within an attempt. */

static void take_meanwhile(void *self, const struct evd_write *writes, size_t count) {
    bool *taken = self;
    for (size_t i = 0; i < count && !*taken; i++)
        if (writes[i].key.in == EVD_IN_STUDY_IDENTITY) {
            *taken = true;
            scripted_before_commit(house.script, NULL, NULL);
            add_studies("{'title':'Mine','doi':'10.1/1100'}");
        }
}

START_TEST(a_row_that_another_overtakes_is_matched) {
    bool taken = false;
    begin();
    evd_uuid import = begun_rows(0, ROWS, plain);
    ck_assert(imports_step_until(&imports, &evd_command_judge_import_batch));
    add_studies("{'title':'Mine','doi':'10.1/3'}"); /* judged as new, not applied yet */
    scripted_before_commit(house.script, take_meanwhile, &taken);
    imports_run(&imports);
    ck_assert(taken);
    expect(import, "succeeded", ROWS - 2, 2);
    end();
}
END_TEST

/* `count` rows with a DOI each, and one that has both of these. To be freed. */
static char *csv_with_both(unsigned count, const char *doi, const char *pmid) {
    char *csv = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&csv, &size);
    if (out == NULL) abort();
    (void)fprintf(out, "title,doi,pmid\n");
    for (unsigned i = 0; i < count; i++)
        (void)fprintf(out, "T%u,10.1/%u,\n", i, i);
    (void)fprintf(out, "Last,%s,%s\n", doi, pmid);
    (void)fclose(out);
    return csv;
}

static evd_uuid holder_of(const char *doi) {
    struct evd_arena arena;
    evd_arena_init(&arena, 1 << 20);
    evd_uuid id = evd_uuid_nil();
    struct evd_text parts[] = {evd_uuid_part(&house.project), EVD_TEXT("doi"), evd_text_from(doi)};
    struct evd_study_identity *identity =
        BEHIND_READ(&house, study_identity, evd_uuid_derive("studyIdentity", parts, 3), &arena);
    if (identity != NULL) id = identity->study;
    evd_arena_done(&arena);
    return id;
}

static void save_on(evd_uuid study) {
    evd_uuid first = house.study;
    house.study = study;
    char *body = save_body(&house, NULL, 1, 1, "a");
    struct reply reply = ask_ok(&house, &evd_command_save, session_ids(&house), person(1), command_id(next_id++), body);
    reply_done(&reply);
    free(body);
    house.study = first;
}

START_TEST(a_row_that_now_hits_two_studies_turns_the_import_back_and_what_was_touched_stays) {
    begin();
    char *csv = csv_with_both(ROWS - 1, "10.1/x", "9");
    evd_uuid import = begun(csv, plain);
    for (unsigned batch = 0; batch < 2; batch++)
        ck_assert(imports_step_until(&imports, &evd_command_judge_import_batch));
    add_studies("{'doi':'10.1/x'},{'pmid':'9'}");
    while (evd_uuid_is_nil(holder_of("10.1/7")))
        ck_assert(imports_step(&imports));
    save_on(holder_of("10.1/7"));
    imports_run(&imports);
    struct reply seen = imports_look(&imports, import);
    ck_assert_str_eq(text_of(&seen, "status"), "refused");
    ck_assert_str_eq(text_of(&seen, "refusal"), "ValidationFailed");
    ck_assert_int_eq(count_of(&seen, "refused"), 1);
    ck_assert_int_eq(count_of(&seen, "removed"), 999);
    ck_assert_int_eq(count_of(&seen, "stayed"), 1);
    ck_assert_uint_eq(studies(), 3); /* the two that came between, and the one somebody works on */
    json_t *rows = imports_rows(&imports, import, NULL);
    ck_assert_uint_eq(json_array_size(rows), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, 0), "place")), 9);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 0), "result")), "stayed");
    ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, 1), "place")), ROWS + 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 1), "code")), "matchesTwoStudies");
    ck_assert(evd_uuid_is_nil(holder_of("10.1/8")));
    json_decref(rows);
    reply_done(&seen);
    free(csv);
    end();
}
END_TEST

/* Whoever asked may not any more. */

static const char *const lesser_roles[] = {"", "\"reviewer\""};

static void stop_after(const struct evd_command *command, const char *roles, struct evd_options options) {
    begin();
    set_roles(1, "\"admin\"");
    char *csv = imports_csv(0, ROWS);
    struct import_file file = {.content = csv, .options = options};
    struct reply asked = imports_ask(&imports, person(1), 1, &file);
    evd_uuid import = imports_id(&asked, "id");
    ck_assert(imports_step_until(&imports, command));
    set_roles(1, roles);
    imports_run(&imports);
    struct reply seen = imports_look(&imports, import);
    ck_assert_str_eq(text_of(&seen, "status"), "refused");
    ck_assert_str_eq(text_of(&seen, "refusal"), "Refused");
    ck_assert_uint_eq(studies(), 0);
    ck_assert(evd_uuid_is_nil(holder_of("10.1/1")));
    json_t *rows = imports_rows(&imports, import, "added");
    ck_assert_uint_eq(json_array_size(rows), 0);
    ck_assert_int_eq(imports.stuck, 0);
    json_decref(rows);
    reply_done(&seen);
    reply_done(&asked);
    free(csv);
    end();
}

START_TEST(a_revoked_administrators_import_stops_and_is_undone) {
    for (size_t i = 0; i < 2; i++) {
        stop_after(&evd_command_judge_import_batch, lesser_roles[i], plain);
        stop_after(&evd_command_apply_import_batch, lesser_roles[i], skipping);
    }
}
END_TEST

/* Stores that fail. */

START_TEST(a_step_whose_store_fails_is_tried_until_it_succeeds) {
    static const enum evd_store_status statuses[] = {EVD_STORE_UNAVAILABLE, EVD_STORE_FULL, EVD_STORE_CONFLICT};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        begin();
        evd_uuid import = begun_rows(0, ROWS, plain);
        scripted_answer(house.script, SCRIPTED_COMMIT, statuses[i], 50);
        imports_run(&imports);
        expect(import, "succeeded", ROWS, 0);
        ck_assert_uint_eq(studies(), ROWS);
        end();
    }
}
END_TEST

START_TEST(a_step_of_unknown_fate_takes_effect_once) {
    static const enum scripted_fate fates[] = {SCRIPTED_LANDED, SCRIPTED_LOST, SCRIPTED_LANDS_WHEN_ASKED,
                                               SCRIPTED_LANDED_IN_THE_DARK, SCRIPTED_LOST_IN_THE_DARK};
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++) {
        begin();
        evd_uuid import = begun_rows(0, ROWS, plain);
        scripted_unknown(house.script, fates[i], 2);
        imports_run(&imports);
        expect(import, "succeeded", ROWS, 0);
        ck_assert_uint_eq(studies(), ROWS);
        struct reply undo = imports_undo(&imports, house.admin, next_id++, import);
        scripted_unknown(house.script, fates[i], 3);
        imports_run(&imports);
        ck_assert_uint_eq(studies(), 0);
        reply_done(&undo);
        end();
    }
}
END_TEST

START_TEST(a_store_that_cannot_be_read_at_the_start_is_asked_again_and_nothing_is_forgotten) {
    begin();
    evd_uuid import = begun_rows(0, ROWS, plain);
    imports_close(&imports);
    scripted_answer(house.script, SCRIPTED_SCAN, EVD_STORE_UNAVAILABLE, 5);
    imports_open(&imports, &house);
    for (unsigned i = 0; i < 1000; i++) { /* there is nothing in its list yet that it would wait for */
        (void)evd_driver_step(imports.driver);
        evd_test_clock_advance(&house.clock, 10);
    }
    imports_run(&imports);
    expect(import, "succeeded", ROWS, 0);
    ck_assert_int_eq(imports.taken_over, 1);
    end();
}
END_TEST

/* Drivers that are replaced. */

START_TEST(whoever_takes_over_goes_on_and_a_late_step_of_the_other_changes_nothing) {
    struct imports other;
    begin();
    evd_uuid import = begun_rows(0, ROWS, plain);
    ck_assert(imports_step_until(&imports, &evd_command_apply_import_batch));
    imports_open(&other, &house);
    while (other.taken_over == 0)
        (void)evd_driver_step(other.driver);
    imports_run(&imports); /* its step is refused, it looks, and lets go */
    ck_assert_int_eq(imports.last_code, EVD_STALE_BASE);
    ck_assert_int_eq(imports.settled, 0);
    ck_assert_uint_eq(studies(), 1000);
    imports_run(&other);
    ck_assert_int_eq(other.settled, 1);
    expect(import, "succeeded", ROWS, 0);
    imports_close(&other);
    end();
}
END_TEST

static void restart(void) {
    imports_close(&imports);
    house_restart(&house);
    imports_open(&imports, &house);
    while (evd_driver_step(imports.driver)) {
    }
}

/* True: it had ended before it was stopped. */
static bool import_with_a_stop_after(unsigned moves, unsigned first, struct evd_options options) {
    evd_uuid import = begun_rows(first, ROWS, options);
    for (unsigned i = 0; i < moves; i++)
        (void)imports_step(&imports);
    bool ended = !imports_step(&imports);
    restart();
    imports_run(&imports);
    expect(import, "succeeded", ROWS, 0);
    json_t *rows = imports_rows(&imports, import, "added");
    ck_assert_uint_eq(json_array_size(rows), ROWS);
    json_decref(rows);
    return ended;
}

START_TEST(an_import_stopped_between_any_two_moves_ends_after_a_restart_with_every_row_once) {
    struct evd_options all[] = {plain, skipping, dry};
    unsigned first = 0;
    begin();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool ended = false;
        for (unsigned moves = 0; !ended; moves++, first += ROWS)
            ended = import_with_a_stop_after(moves, first, all[i]);
    }
    end();
}
END_TEST

START_TEST(an_undo_stopped_between_any_two_moves_ends_after_a_restart) {
    bool ended = false;
    begin();
    for (unsigned moves = 0; !ended; moves++) {
        evd_uuid import = begun_rows(0, ROWS, plain);
        imports_run(&imports);
        struct reply undo = imports_undo(&imports, house.admin, next_id++, import);
        for (unsigned i = 0; i < moves; i++)
            (void)imports_step(&imports);
        ended = !imports_step(&imports);
        restart();
        imports_run(&imports);
        struct reply seen = imports_look(&imports, imports_id(&undo, "id"));
        ck_assert_str_eq(text_of(&seen, "status"), "succeeded");
        ck_assert_int_eq(count_of(&seen, "removed"), ROWS);
        ck_assert_uint_eq(studies(), 0);
        reply_done(&seen);
        reply_done(&undo);
    }
    end();
}
END_TEST

/* Turns. */

static evd_uuid another_project(void) {
    static const struct evd_ids none;
    struct reply reply =
        ask_ok(&house, &evd_command_create_project, none, house.admin, command_id(next_id++), "{\"name\":\"P\"}");
    evd_uuid id = imports_id(&reply, "id");
    reply_done(&reply);
    return id;
}

START_TEST(projects_take_turns_a_step_each_and_within_one_operations_end_in_their_order) {
    begin();
    evd_uuid here = house.project, there = another_project();
    evd_uuid first = begun_rows(0, 3000, skipping);
    evd_test_clock_advance(&house.clock, 1);
    (void)begun_rows(3000, 1000, skipping);
    house.project = there;
    (void)begun_rows(0, 3000, skipping);
    while (imports.steps < 6)
        ck_assert(imports_step(&imports));
    for (unsigned i = 1; i < 6; i++)
        ck_assert(!evd_uuid_equal(imports.turns[i], imports.turns[i - 1]));
    house.project = here;
    expect(first, "succeeded", 3000, 0);
    imports_run(&imports);
    ck_assert_int_eq(imports.settled, 3);
    end();
}
END_TEST

START_TEST(an_operation_that_cannot_be_read_is_left_alone_and_the_others_go_on) {
    begin();
    evd_uuid broken = begun_rows(0, 10, skipping);
    evd_test_clock_advance(&house.clock, 1);
    evd_uuid sound = begun_rows(0, 10, skipping);
    behind_damage(&house, EVD_IN_IMPORT_BATCH, evd_import_batch_id(broken, 0), "number");
    imports_run(&imports);
    ck_assert_int_eq(imports.stuck, 1);
    expect(sound, "succeeded", 10, 0);
    end();
}
END_TEST

START_TEST(an_operation_with_a_record_of_a_newer_version_waits_for_one_that_knows_it) {
    struct evd_arena arena;
    begin();
    evd_uuid import = begun_rows(0, 10, skipping);
    evd_arena_init(&arena, 1 << 20);
    struct evd_import_batch *batch = BEHIND_READ(&house, import_batch, evd_import_batch_id(import, 0), &arena);
    batch->rows.items[0].result = (struct evd_name){.text = EVD_TEXT("postponed")};
    BEHIND_REPLACE(&house, import_batch, batch);
    imports_run(&imports);
    ck_assert_int_eq(imports.stuck, 1);
    expect(import, "running", 0, 0);
    evd_arena_done(&arena);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: import driver", two_imports_at_once_cannot_both_take_a_DOI,
              a_row_that_another_overtakes_is_matched,
              a_row_that_now_hits_two_studies_turns_the_import_back_and_what_was_touched_stays,
              a_revoked_administrators_import_stops_and_is_undone, a_step_whose_store_fails_is_tried_until_it_succeeds,
              a_step_of_unknown_fate_takes_effect_once,
              a_store_that_cannot_be_read_at_the_start_is_asked_again_and_nothing_is_forgotten,
              whoever_takes_over_goes_on_and_a_late_step_of_the_other_changes_nothing,
              an_import_stopped_between_any_two_moves_ends_after_a_restart_with_every_row_once,
              an_undo_stopped_between_any_two_moves_ends_after_a_restart,
              projects_take_turns_a_step_each_and_within_one_operations_end_in_their_order,
              an_operation_that_cannot_be_read_is_left_alone_and_the_others_go_on,
              an_operation_with_a_record_of_a_newer_version_waits_for_one_that_knows_it)
