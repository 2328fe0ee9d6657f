/*
 * The reader: what a command names is what it gets, in as few store calls as there are fetches.
 *
 * The commands here exist in this file only; each test gives them what to read.
 */
#include "../../support/behind.h"
#include "../../support/scripted_store.h"

#include "evidenced/commands/bodies.h"
#include "evidenced/records/keys.h"
#include "evidenced/runtime/reader.h"
#include "evidenced/runtime/writes.h"

static struct house house;
static struct evd_arena arena;
static void (*reading)(struct evd_call *call);
static unsigned fetches_before;

static void probe_read(struct evd_call *call) {
    reading(call);
}

static void probe_derive(struct evd_call *call) {
    struct evd_record_receipt receipt = {
        .command_id = call->command_id, .stamp = call->stamp, .id = call->ids.project, .version = 1};
    evd_call_receipt(call, &evd_type_record_receipt, &receipt);
}

static const struct evd_command probe = {.name = "Probe",
                                         .method = EVD_COMMAND_GET,
                                         .path = "/probe",
                                         .needs = EVD_CAN_READ,
                                         .commit = EVD_COMMIT_READ,
                                         .answer = &evd_type_record_receipt,
                                         .read = probe_read,
                                         .derive = probe_derive};

static const struct evd_command writing_probe = {.name = "WritingProbe",
                                                 .method = EVD_COMMAND_POST,
                                                 .path = "/probe",
                                                 .needs = EVD_CAN_READ,
                                                 .commit = EVD_COMMIT_TXN,
                                                 .scope = EVD_WRITES_DEFINITIONS,
                                                 .answer = &evd_type_record_receipt,
                                                 .read = probe_read,
                                                 .derive = probe_derive};

static void begin(void) {
    evd_arena_init(&arena, 64 * EVD_MIB);
    house_open_scripted(&house, 0);
    house_furnish(&house, 3, 2);
}

static void end(void) {
    house_close(&house);
    evd_arena_done(&arena);
}

static struct reply run(const struct evd_command *command, void (*read)(struct evd_call *call)) {
    static unsigned id = 500;
    reading = read;
    fetches_before = scripted_counts(house.script).calls[SCRIPTED_GET];
    return ask(&house, command, session_ids(&house), person(1), command_id(id++), NULL);
}

static void run_ok(void (*read)(struct evd_call *call)) {
    struct reply reply = run(&probe, read);
    ck_assert_int_eq(reply.code, EVD_OK);
    reply_done(&reply);
}

static unsigned fetches(void) {
    return scripted_counts(house.script).calls[SCRIPTED_GET] - fetches_before;
}

/* Many keys. */

enum { STUDIES = 700 };
static evd_uuid studies[STUDIES];

static void add_studies(void) {
    struct evd_ids ids = {.project = house.project};
    json_t *rows = json_array();
    for (unsigned i = 0; i < STUDIES; i++)
        (void)json_array_append_new(rows, json_pack("{s:s}", "title", "T"));
    json_t *request = json_pack("{s:o}", "studies", rows);
    char *body = json_dumps(request, 0);
    struct reply reply = ask_ok(&house, &evd_command_add_studies, ids, house.admin, command_id(1), body);
    for (unsigned i = 0; i < STUDIES; i++) {
        json_t *row = json_array_get(json_object_get(reply.body, "rows"), i);
        ck_assert(evd_uuid_parse(evd_text_from(json_string_value(json_object_get(row, "studyId"))), &studies[i]));
    }
    reply_done(&reply);
    free(body);
    json_decref(request);
}

static evd_uuid absent_study(unsigned number) {
    evd_uuid id = command_id(number);
    id.bytes[6] = 0x7F;
    return id;
}

static void read_many(struct evd_call *call) {
    const struct evd_study **there = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_study *, STUDIES);
    const struct evd_study **absent = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_study *, STUDIES);
    for (unsigned i = 0; i < STUDIES; i++) {
        EVD_WANT(call, STUDY, studies[i], &there[i]);
        EVD_WANT(call, STUDY, absent_study(i), &absent[i]);
    }
    evd_reader_fetch(call);
    for (unsigned i = 0; i < STUDIES; i++) {
        ck_assert_ptr_nonnull(there[i]);
        ck_assert(evd_uuid_equal(there[i]->base.id, studies[i]));
        ck_assert_ptr_null(absent[i]);
        ck_assert(evd_reader_has(call, EVD_IN_STUDY, studies[i]));
        ck_assert(!evd_reader_has(call, EVD_IN_STUDY, absent_study(i)));
    }
}

START_TEST(many_keys_come_in_one_call_each_into_its_slot) {
    begin();
    add_studies();
    run_ok(read_many);
    ck_assert_uint_eq(fetches(), 1);
    end();
}
END_TEST

static void name_keys(struct evd_call *call, unsigned first, unsigned count) {
    static const struct evd_annotation_revision *slot;
    for (unsigned i = first; i < first + count; i++)
        EVD_WANT(call, ANNOTATION_REVISION, absent_study(i), &slot);
}

static void read_twice_a_calls_worth(struct evd_call *call) {
    enum { MANY = EVD_LIMIT_READ_KEYS - 10 };
    name_keys(call, 0, MANY);
    evd_reader_fetch(call);
    name_keys(call, MANY, MANY);
    evd_reader_fetch(call);
}

/* A Complete of 10,000 answers, all in each other's way, reads 30,000 records in two calls. */
START_TEST(an_attempt_may_read_more_than_one_call_takes_in_several) {
    begin();
    run_ok(read_twice_a_calls_worth);
    ck_assert_uint_eq(fetches(), 2);
    end();
}
END_TEST

/* One key, several times. */

static void read_one_twice(struct evd_call *call) {
    const struct evd_study *one, *two, *three;
    EVD_WANT(call, STUDY, house.study, &one);
    EVD_WANT(call, STUDY, house.study, &two);
    evd_reader_fetch(call);
    EVD_WANT(call, STUDY, house.study, &three); /* there at once */
    ck_assert_ptr_nonnull(one);
    ck_assert_ptr_eq(one, two);
    ck_assert_ptr_eq(one, three);
    evd_reader_fetch(call);
    ck_assert_ptr_eq(one, three);
}

static size_t studies_asked;

static void count_studies(void *self, const char *call, evd_collection in, size_t records) {
    (void)self;
    if (in == EVD_IN_STUDY && strcmp(call, "get") == 0) studies_asked += records;
}

START_TEST(a_key_named_again_is_asked_for_once_and_gives_the_same_record) {
    begin();
    evd_store_observe(house.store, count_studies, NULL);
    run_ok(read_one_twice);
    ck_assert_uint_eq(studies_asked, 1);
    ck_assert_uint_eq(fetches(), 1);
    end();
}
END_TEST

static void read_nil(struct evd_call *call) {
    const struct evd_study *none = (const struct evd_study *)&house;
    EVD_WANT(call, STUDY, evd_uuid_nil(), &none);
    ck_assert_ptr_null(none);
    evd_reader_fetch(call);
    ck_assert_ptr_null(none);
}

START_TEST(the_nil_id_names_nothing_and_is_not_asked_for) {
    begin();
    evd_store_observe(house.store, count_studies, NULL);
    run_ok(read_nil);
    ck_assert_uint_eq(studies_asked, 0);
    end();
}
END_TEST

static void scan_after_get(struct evd_call *call) {
    const struct evd_study *got, *const *scanned;
    size_t count;
    EVD_WANT(call, STUDY, house.study, &got);
    evd_reader_fetch(call);
    struct evd_scan scan = {.index = EVD_INDEX_studies, .limit = 10};
    evd_reader_scan(call, &scan, &scanned, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert(scanned[0] == got || scanned[1] == got);
    const struct evd_study *again;
    evd_uuid other = scanned[0] == got ? scanned[1]->base.id : scanned[0]->base.id;
    EVD_WANT(call, STUDY, other, &again);
    ck_assert_ptr_nonnull(again); /* a scanned record is a read one */
    ck_assert(evd_reader_has(call, EVD_IN_STUDY, other));
}

START_TEST(a_record_got_and_scanned_is_one_record) {
    begin();
    run_ok(scan_after_get);
    ck_assert_uint_eq(fetches(), 1);
    end();
}
END_TEST

static evd_uuid foreign_project;

static void read_foreign(struct evd_call *call) {
    const struct evd_study *study;
    const struct evd_definition *definition;
    ck_assert(!evd_uuid_equal(call->ids.project, house.project));
    EVD_WANT(call, STUDY, house.study, &study);
    evd_reader_want_definition(call, house.form_version, &definition);
    evd_reader_fetch(call);
    ck_assert_ptr_null(study);
    ck_assert_ptr_null(definition);
}

/* Not even a definition that the cache holds for its own project. */
static const struct evd_definition *lent;

static void read_definition(struct evd_call *call) {
    evd_reader_want_definition(call, house.form_version, &lent);
    evd_reader_fetch(call);
    ck_assert_ptr_nonnull(lent);
    ck_assert(evd_reader_has(call, EVD_IN_FORM_VERSION, house.form_version));
}

START_TEST(another_projects_records_are_not_there) {
    static const struct evd_ids none;
    begin();
    run_ok(read_definition);
    struct reply made = ask_ok(&house, &evd_command_create_project, none, person(1), command_id(1), "{\"name\":\"B\"}");
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&made, "id")), &foreign_project));
    reading = read_foreign;
    struct reply reply =
        ask(&house, &probe, (struct evd_ids){.project = foreign_project}, person(1), command_id(2), NULL);
    ck_assert_int_eq(reply.code, EVD_OK);
    reply_done(&reply);
    reply_done(&made);
    end();
}
END_TEST

/* Definitions. */

START_TEST(a_definition_is_read_once_and_then_comes_from_the_cache) {
    begin();
    run_ok(read_definition);
    const struct evd_definition *first = lent;
    scripted_answer(house.script, SCRIPTED_SCAN, EVD_STORE_UNAVAILABLE, 1); /* nothing scans */
    run_ok(read_definition);
    ck_assert_ptr_eq(lent, first);
    ck_assert_uint_eq(fetches(), 1); /* the membership */
    end();
}
END_TEST

static void read_definition_twice(struct evd_call *call) {
    const struct evd_definition *one, *two, *absent;
    evd_reader_want_definition(call, house.form_version, &one);
    evd_reader_want_definition(call, house.form_version, &two);
    evd_reader_want_definition(call, absent_study(1), &absent);
    evd_reader_fetch(call);
    ck_assert_ptr_nonnull(one);
    ck_assert_ptr_eq(one, two);
    ck_assert_ptr_null(absent);
}

START_TEST(a_definition_named_twice_is_one_and_one_that_is_not_there_is_none) {
    begin();
    run_ok(read_definition_twice);
    run_ok(read_definition_twice); /* from the cache */
    end();
}
END_TEST

static void read_definition_and_record(struct evd_call *call) {
    const struct evd_definition *definition;
    const struct evd_form_version *record;
    evd_reader_want_definition(call, house.form_version, &definition);
    EVD_WANT(call, FORM_VERSION, house.form_version, &record);
    evd_reader_fetch(call);
    ck_assert_ptr_nonnull(definition);
    ck_assert_ptr_nonnull(record);
}

static void read_record_then_definition(struct evd_call *call) {
    const struct evd_definition *definition;
    const struct evd_form_version *record;
    EVD_WANT(call, FORM_VERSION, house.form_version, &record);
    evd_reader_fetch(call);
    evd_reader_want_definition(call, house.form_version, &definition);
    evd_reader_fetch(call);
    ck_assert_ptr_nonnull(record);
    ck_assert_ptr_nonnull(definition);
}

static void read_definition_then_record(struct evd_call *call) {
    const struct evd_definition *definition;
    const struct evd_form_version *record;
    evd_reader_want_definition(call, house.form_version, &definition);
    evd_reader_fetch(call);
    EVD_WANT(call, FORM_VERSION, house.form_version, &record);
    evd_reader_fetch(call);
    ck_assert_ptr_nonnull(record);
    ck_assert_ptr_nonnull(definition);
}

START_TEST(a_definition_and_its_record_may_be_named_together_and_in_either_order) {
    static void (*const orders[])(struct evd_call *) = {read_definition_and_record, read_record_then_definition,
                                                        read_definition_then_record};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        begin();
        run_ok(orders[i]);
        run_ok(orders[i]); /* from the cache */
        end();
    }
}
END_TEST

static unsigned long long stamp_of(struct reply reply) {
    ck_assert_int_eq(reply.code, EVD_OK);
    unsigned long long stamp = strtoull(text_of(&reply, "stamp"), NULL, 10);
    reply_done(&reply);
    return stamp;
}

static void read_study(struct evd_call *call) {
    const struct evd_study *study;
    EVD_WANT(call, STUDY, house.study, &study);
    evd_reader_fetch(call);
}

static void read_nothing(struct evd_call *call) {
    evd_reader_fetch(call);
}

/* Everything was written at one instant of a clock that has gone back since: only what is read lifts the stamp. */
START_TEST(whatever_is_read_lifts_the_stamp_also_a_definition_from_the_cache) {
    begin();
    struct evd_form_version *version = BEHIND_READ(&house, form_version, house.form_version, &arena);
    struct evd_study *study = BEHIND_READ(&house, study, house.study, &arena);
    study->base.stamp = version->base.stamp + 5;
    BEHIND_REPLACE(&house, study, study);
    evd_test_clock_advance(&house.clock, -30000);
    ck_assert_uint_lt(stamp_of(run(&writing_probe, read_nothing)), version->base.stamp);
    ck_assert_uint_eq(stamp_of(run(&writing_probe, read_definition)), version->base.stamp + 1);
    ck_assert_uint_eq(stamp_of(run(&writing_probe, read_definition)), version->base.stamp + 1); /* from the cache */
    ck_assert_uint_eq(stamp_of(run(&writing_probe, read_study)), study->base.stamp + 1);
    end();
}
END_TEST

/* What ends an attempt from inside a fetch. */

static unsigned went_on;

static void read_study_and_go_on(struct evd_call *call) {
    read_study(call);
    went_on++;
}

static void scan_studies_and_go_on(struct evd_call *call) {
    const struct evd_study *const *scanned;
    size_t count;
    evd_reader_fetch(call);
    struct evd_scan scan = {.index = EVD_INDEX_studies, .limit = 10};
    evd_reader_scan(call, &scan, &scanned, &count);
    went_on++;
}

static void read_definition_and_go_on(struct evd_call *call) {
    read_definition(call);
    went_on++;
}

static void expect_end(void (*read)(struct evd_call *call), enum evd_outcome_code code) {
    struct reply reply = run(&probe, read);
    ck_assert_int_eq(reply.code, code);
    ck_assert_uint_eq(went_on, 0);
    reply_done(&reply);
}

START_TEST(a_damaged_record_ends_the_attempt_as_StoreCorrupt_got_scanned_or_lent) {
    begin();
    behind_damage(&house, EVD_IN_STUDY, house.study, "title");
    behind_damage(&house, EVD_IN_FORM_VERSION, house.form_version, "seq");
    expect_end(read_study_and_go_on, EVD_STORE_IS_CORRUPT);
    expect_end(scan_studies_and_go_on, EVD_STORE_IS_CORRUPT);
    expect_end(read_definition_and_go_on, EVD_STORE_IS_CORRUPT);
    end();
}
END_TEST

START_TEST(a_store_that_fails_a_read_ends_the_attempt_with_its_answer) {
    static const struct {
        enum evd_store_status status;
        enum evd_outcome_code code;
    } table[] = {{EVD_STORE_UNAVAILABLE, EVD_STORE_IS_UNAVAILABLE}, {EVD_STORE_CORRUPT, EVD_STORE_IS_CORRUPT}};
    begin();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        scripted_answer(house.script, SCRIPTED_OPEN, table[i].status, 1);
        expect_end(read_study_and_go_on, table[i].code);
        scripted_answer(house.script, SCRIPTED_GET, table[i].status, 1);
        expect_end(read_study_and_go_on, table[i].code);
        scripted_answer(house.script, SCRIPTED_SCAN, table[i].status, 1);
        expect_end(scan_studies_and_go_on, table[i].code);
    }
    end();
}
END_TEST

START_TEST(who_is_no_member_gets_no_further_than_the_first_fetch) {
    begin();
    reading = read_study_and_go_on;
    struct reply reply = ask(&house, &probe, session_ids(&house), person(50), command_id(1), NULL);
    ck_assert_int_eq(reply.code, EVD_NOT_FOUND);
    ck_assert_uint_eq(went_on, 0);
    reply_done(&reply);
    end();
}
END_TEST

EVD_TEST_MAIN("runtime: the reader", many_keys_come_in_one_call_each_into_its_slot,
              an_attempt_may_read_more_than_one_call_takes_in_several,
              a_key_named_again_is_asked_for_once_and_gives_the_same_record,
              the_nil_id_names_nothing_and_is_not_asked_for, a_record_got_and_scanned_is_one_record,
              another_projects_records_are_not_there, a_definition_is_read_once_and_then_comes_from_the_cache,
              a_definition_named_twice_is_one_and_one_that_is_not_there_is_none,
              a_definition_and_its_record_may_be_named_together_and_in_either_order,
              whatever_is_read_lifts_the_stamp_also_a_definition_from_the_cache,
              a_damaged_record_ends_the_attempt_as_StoreCorrupt_got_scanned_or_lent,
              a_store_that_fails_a_read_ends_the_attempt_with_its_answer,
              who_is_no_member_gets_no_further_than_the_first_fetch)
