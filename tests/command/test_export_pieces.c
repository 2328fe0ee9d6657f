/*
 * Exports in pieces: bounded, whole or cut, and a manifest that says what they hold.
 */
#include "../support/behind.h"
#include "../support/csv_rows.h"
#include "../support/review.h"

#include "evidenced/base/sha256.h"
#include "evidenced/domain/pins.h"
#include "evidenced/records/keys.h"

static struct house house;

enum { PAGE = 100 };

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    review_form(&house, REVIEW_FORM);
}

static void end(void) {
    house_close(&house);
}

static struct evd_ids of_form(void) {
    return (struct evd_ids){.project = house.project, .form = house.form};
}

static struct streamed export(const struct evd_command *command, size_t page) {
    return review_export(&house, command, page);
}

/* What is damaged. */

static void damage_version(evd_uuid version, struct evd_arena *arena) {
    behind_lose(&house, EVD_IN_FORM_SESSION_VERSION, version);
    (void)arena;
}

static void damage_pins(evd_uuid version, struct evd_arena *arena) {
    struct evd_pin_map *map = BEHIND_READ(&house, pin_map, version, arena);
    map->pins.size_bytes -= sizeof(struct evd_pin);
    BEHIND_REPLACE(&house, pin_map, map);
}

static void lose_pins(evd_uuid version, struct evd_arena *arena) {
    behind_lose(&house, EVD_IN_PIN_MAP, version);
    (void)arena;
}

static evd_uuid first_revision(evd_uuid version, struct evd_arena *arena) {
    struct evd_pins pins;
    ck_assert(evd_pins_unpack(BEHIND_READ(&house, pin_map, version, arena)->pins, &pins));
    return pins.items[0].revision;
}

static void lose_revision(evd_uuid version, struct evd_arena *arena) {
    behind_lose(&house, EVD_IN_ANNOTATION_REVISION, first_revision(version, arena));
}

static void change_value(evd_uuid version, struct evd_arena *arena) {
    struct evd_annotation_revision *revision =
        BEHIND_READ(&house, annotation_revision, first_revision(version, arena), arena);
    revision->notes = EVD_TEXT("changed behind the runtime's back");
    BEHIND_REPLACE(&house, annotation_revision, revision);
}

static void move_answer(evd_uuid version, struct evd_arena *arena) {
    struct evd_annotation_revision *revision =
        BEHIND_READ(&house, annotation_revision, first_revision(version, arena), arena);
    revision->question = EVD_TEXT("day");
    BEHIND_REPLACE(&house, annotation_revision, revision);
}

static void lose_study(evd_uuid version, struct evd_arena *arena) {
    behind_lose(&house, EVD_IN_STUDY, BEHIND_READ(&house, form_session_version, version, arena)->study);
}

START_TEST(what_is_damaged_ends_an_export_and_is_never_left_out) {
    static void (*const damages[])(evd_uuid, struct evd_arena *) = {
        damage_version, damage_pins, lose_pins, lose_revision, change_value, move_answer, lose_study};
    for (size_t d = 0; d < sizeof damages / sizeof *damages; d++) {
        struct evd_arena arena;
        evd_arena_init(&arena, EVD_MIB);
        begin();
        evd_uuid *studies = review_studies(&house, 3);
        evd_uuid versions[3];
        for (size_t i = 0; i < 3; i++)
            versions[i] = review_complete(&house, 1, studies[i],
                                          "[{'question':'design','value':'rct'},{'question':'n','value':4}]");
        damages[d](versions[1], &arena);
        for (size_t e = 0; e < REVIEW_EXPORTS; e++) {
            struct streamed streamed = ask_streamed(&house, review_exports[e], of_form(), house.admin, 1);
            ck_assert_msg(streamed.code == EVD_STORE_IS_CORRUPT, "damage %zu, export %zu: %d", d, e, streamed.code);
            streamed_done(&streamed);
        }
        free(studies);
        end();
        evd_arena_done(&arena);
    }
}
END_TEST

/* Pieces. */

enum { LONG = 300, LONG_BYTES = 9000, LONG_SAVES = 4 };

static void long_form(void) {
    char *form = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&form, &size_bytes);
    (void)fputs("[{'id':'design','kind':'text'}", out);
    for (unsigned i = 0; i < LONG; i++)
        (void)fprintf(out, ",{'id':'t%u','kind':'text'}", i);
    (void)fputs("]", out);
    (void)fclose(out);
    review_form(&house, form);
    free(form);
}

/* A quarter of the long answers. */
static char *long_answers(unsigned quarter) {
    enum { EACH = LONG / LONG_SAVES };
    static char value[LONG_BYTES + 1];
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);
    memset(value, 'a', LONG_BYTES);
    for (unsigned i = quarter * EACH; i < (quarter + 1) * EACH; i++)
        (void)fprintf(out, "%c{'question':'t%u','value':'%s'}", i == quarter * EACH ? '[' : ',', i, value);
    (void)fputs("]", out);
    (void)fclose(out);
    return text;
}

static evd_uuid complete_long(evd_uuid study) {
    evd_uuid version = evd_uuid_nil();
    for (unsigned quarter = 0; quarter < LONG_SAVES; quarter++) {
        char *answers = long_answers(quarter);
        version = review_save(&house, &evd_command_save, 1, study, quarter == 0 ? NULL : &version, answers);
        free(answers);
    }
    return review_save(&house, &evd_command_complete, 1, study, &version, "[]");
}

START_TEST(a_session_larger_than_a_piece_is_cut_and_stays_the_version_it_was) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    long_form();
    evd_uuid *studies = review_studies(&house, 1);
    evd_uuid version = complete_long(studies[0]);
    struct streamed whole = export(&evd_command_export_answers_ndjson, PAGE), cut = {0};
    ck_assert_uint_gt(whole.size_bytes, LONG * LONG_BYTES);
    ck_assert_uint_lt(whole.largest_bytes, EVD_LIMIT_EXPORT_PIECE + 2 * LONG_BYTES);
    struct asked *asked =
        asked_new(&house, &evd_command_export_answers_ndjson, of_form(), house.admin, evd_uuid_nil(), NULL);
    ck_assert(asked_piece(asked, &cut)); /* columns */
    ck_assert(asked_piece(asked, &cut));
    ck_assert_uint_gt(cut.size_bytes, 0);
    ck_assert_uint_lt(cut.size_bytes, whole.size_bytes);
    (void)review_save(&house, &evd_command_save, 1, studies[0], &version, "[{'question':'design','value':'new'}]");
    while (asked_piece(asked, &cut)) {
    }
    ck_assert_int_eq(cut.code, EVD_OK);
    streamed_equal(&whole, &cut);
    asked_drop(asked);
    streamed_done(&whole);
    streamed_done(&cut);
    free(studies);
    end();
}
END_TEST

/* What one run takes at most. */
static void measure(size_t studies, size_t *ret_carried, size_t *ret_attempt) {
    begin();
    evd_uuid *ids = review_studies(&house, studies);
    for (size_t i = 0; i < studies; i++)
        (void)review_complete(&house, 1, ids[i], "[{'question':'design','value':'rct'}]");
    struct streamed streamed = {0};
    struct asked *asked = asked_new(&house, &evd_command_export_manifest, of_form(), house.admin, evd_uuid_nil(), NULL);
    asked_call(asked)->page.limit = 50;
    *ret_attempt = 0;
    while (asked_piece(asked, &streamed))
        if (asked_call(asked)->attempt_arena.held_bytes > *ret_attempt)
            *ret_attempt = asked_call(asked)->attempt_arena.held_bytes;
    ck_assert_int_eq(streamed.code, EVD_OK);
    *ret_carried = asked_call(asked)->arena->held_bytes;
    asked_drop(asked);
    streamed_done(&streamed);
    free(ids);
    end();
}

START_TEST(memory_does_not_grow_with_the_number_of_studies) {
    size_t carried[2], attempt[2];
    measure(100, &carried[0], &attempt[0]);
    measure(1000, &carried[1], &attempt[1]);
    ck_assert_uint_eq(carried[0], carried[1]);
    ck_assert_uint_eq(attempt[0], attempt[1]);
}
END_TEST

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

/* A page of five sessions with `answers` answers each. */
static void expect_calls(const char *answers, const char *expected) {
    begin();
    evd_uuid *studies = review_studies(&house, 5);
    for (size_t i = 0; i < 5; i++)
        (void)review_complete(&house, 1, studies[i], answers);
    seen.size = 0;
    evd_store_observe(house.store, note, NULL);
    struct streamed streamed = export(&evd_command_export_answers_csv, PAGE);
    evd_store_observe(house.store, NULL, NULL);
    ck_assert_str_eq(seen.calls, expected);
    streamed_done(&streamed);
    free(studies);
    end();
}

START_TEST(the_store_calls_of_a_page_are_these_however_many_answers_there_are) {
    expect_calls("[{'question':'design','value':'rct'}]", "get membership 1\n"
                                                          "get form 1\n"
                                                          "get formVersion 1\n"
                                                          "get membership 1\n"
                                                          "scan formSession 5\n"
                                                          "get study 5\n"
                                                          "get formSessionVersion 5\n"
                                                          "get pinMap 5\n"
                                                          "get annotationRevision 5\n");
    expect_calls("[{'question':'design','value':'rct'},{'question':'n','value':1},{'question':'dose','value':'1'},"
                 "{'question':'quote','value':'q'}]",
                 "get membership 1\n"
                 "get form 1\n"
                 "get formVersion 1\n"
                 "get membership 1\n"
                 "scan formSession 5\n"
                 "get study 5\n"
                 "get formSessionVersion 5\n"
                 "get pinMap 5\n"
                 "get annotationRevision 20\n");
}
END_TEST

/* The manifest. */

static json_t *file_of(json_t *manifest, const char *name) {
    json_t *file;
    size_t i;
    json_array_foreach(json_object_get(manifest, "files"), i, file) {
        if (strcmp(json_string_value(json_object_get(file, "name")), name) == 0) return file;
    }
    ck_abort_msg("no file %s", name);
}

static void expect_file(json_t *manifest, const char *name, const struct evd_command *command, long long records) {
    struct streamed file = export(command, 3);
    struct evd_sha256 digest = evd_sha256_of(file.bytes, file.size_bytes);
    char hex[2 * EVD_SHA256_BYTES + 1];
    for (size_t i = 0; i < EVD_SHA256_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest.bytes[i]);
    json_t *told = file_of(manifest, name);
    ck_assert_str_eq(json_string_value(json_object_get(told, "sha256")), hex);
    ck_assert_int_eq(json_integer_value(json_object_get(told, "bytes")), (json_int_t)file.size_bytes);
    ck_assert_int_eq(json_integer_value(json_object_get(told, "records")), records);
    streamed_done(&file);
}

/* By a second count: of all stamps in answers.ndjson. */
static unsigned long long largest_stamp(void) {
    struct streamed ndjson = export(&evd_command_export_answers_ndjson, PAGE);
    unsigned long long largest = 0;
    for (const char *at = ndjson.bytes; (at = strstr(at, "\"stamp\":\"")) != NULL; at++) {
        unsigned long long stamp = strtoull(at + strlen("\"stamp\":\""), NULL, 10);
        if (stamp > largest) largest = stamp;
    }
    streamed_done(&ndjson);
    return largest;
}

START_TEST(the_manifest_counts_and_digests_what_the_files_hold) {
    begin();
    evd_uuid *studies = review_studies(&house, 6);
    for (size_t i = 0; i < 5; i++)
        for (unsigned who = 1; who <= 1 + i % 3; who++)
            (void)review_complete(&house, who, studies[i],
                                  "[{'question':'design','value':'rct'},{'question':'n','value':1}]");
    struct streamed streamed = export(&evd_command_export_manifest, 4);
    json_t *manifest = json_loads(streamed.bytes, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(manifest);
    static const struct {
        const char *member;
        json_int_t number;
    } counts[] = {{"studies", 5}, {"reviewers", 3}, {"sessions", 9}, {"answers", 18}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ck_assert_int_eq(json_integer_value(json_object_get(manifest, counts[i].member)), counts[i].number);
    unsigned long long largest = largest_stamp();
    ck_assert_uint_eq(strtoull(json_string_value(json_object_get(manifest, "largestStamp")), NULL, 10), largest);
    json_t *version = json_array_get(json_object_get(manifest, "formVersions"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(version, "sessions")), 9);
    ck_assert_int_eq(json_integer_value(json_object_get(version, "answers")), 18);
    expect_file(manifest, "answers.csv", &evd_command_export_answers_csv, 9);
    expect_file(manifest, "answers.ndjson", &evd_command_export_answers_ndjson, 9);
    expect_file(manifest, "series.csv", &evd_command_export_series_csv, 0);
    json_t *columns = json_object_get(manifest, "columns");
    ck_assert_uint_eq(json_array_size(columns), REVIEW_COLUMNS - REVIEW_FIXED - 1);
    for (size_t i = 0; i < json_array_size(columns); i++)
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(columns, i), "name")),
                         review_header[REVIEW_FIXED + i]);
    json_decref(manifest);
    streamed_done(&streamed);
    free(studies);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: exports in pieces", what_is_damaged_ends_an_export_and_is_never_left_out,
              a_session_larger_than_a_piece_is_cut_and_stays_the_version_it_was,
              memory_does_not_grow_with_the_number_of_studies,
              the_store_calls_of_a_page_are_these_however_many_answers_there_are,
              the_manifest_counts_and_digests_what_the_files_hold)
