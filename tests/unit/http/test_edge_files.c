/*
 * Bodies that are files: what they are, what the query says of them, and where they are kept while they arrive.
 */
#include "../../support/edge_fixture.h"
#include "../../support/faultfs.c"
#include "evidenced/base/limits.h"
#include "evidenced/base/sha256.h"
#include "evidenced/http/server.h"
#include "evidenced/http/spool.h"
#include "evidenced/runtime/call.h"

#include <sched.h>

#define KEY  "Idempotency-Key: " EDGE_KEY "\r\n"
#define CSV  "Content-Type: text/csv\r\n"
#define BODY "Content-Length: 8\r\n\r\ntitle\nA\n"

enum { LARGE = EDGE_FILE_LIMIT };

static struct evd_edge_fixture fixture;
static struct evd_raw_response response;
static struct faultfs_control disk;

static const char *header(const char *name) {
    const char *value = evd_raw_header(&response, name);
    return value == NULL ? "" : value;
}

static const struct {
    const char *type;
    int media; /* 0: refused */
} types[] = {
    {"text/csv", EVD_MEDIA_CSV},
    {"Text/CSV", EVD_MEDIA_CSV},
    {"text/csv; charset=utf-8", EVD_MEDIA_CSV},
    {"text/csv;charset=\"UTF-8\"", EVD_MEDIA_CSV},
    {"text/csv; header=present ; Charset = UTF-8", EVD_MEDIA_CSV},
    {"text/csv;", EVD_MEDIA_CSV},
    {"text/csv; header", EVD_MEDIA_CSV},
    {"text/tab-separated-values", EVD_MEDIA_TSV},
    {"application/x-research-info-systems; charset=utf-8", EVD_MEDIA_RIS},
    {"text/csv; charset=iso-8859-1", 0},
    {"text/csv; charset=utf-16; charset=utf-8", 0},
    {"text/csv; charset=utf-8; charset=latin1", 0},
    {"text/csv; charset", 0},
    {"text/csv; charset=", 0},
    {"text/csv; charset=utf-8x", 0},
    {"text/csvx", 0},
    {"text/plain", 0},
    {"application/json", 0},
    {"application/x-www-form-urlencoded", 0},
    {"multipart/form-data; boundary=x", 0},
    {"", 0},
    {";charset=utf-8", 0},
};

START_TEST(a_file_is_what_its_type_says_in_utf_8) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        evd_edge_ask(&fixture, &response,
                     "POST " EDGE_IMPORT
                     " HTTP/1.1\r\n@Idempotency-Key: 018f3b1e-0000-7000-8000-%012zu\r\nContent-Type: %s\r\n" BODY,
                     i, types[i].type);
        if (types[i].media == 0) {
            json_decref(evd_edge_expect_problem(&response, 415, "UnsupportedMediaType"));
            continue;
        }
        char wanted[32];
        (void)snprintf(wanted, sizeof wanted, "{\"media\":%d,\"bytes\":8,", types[i].media);
        ck_assert_msg(strstr(response.body, wanted) != NULL, "%s: %s", types[i].type, response.body);
    }
    evd_edge_ask(&fixture, &response, "POST " EDGE_IMPORT " HTTP/1.1\r\n@" KEY BODY);
    json_decref(evd_edge_expect_problem(&response, 415, "UnsupportedMediaType"));
    evd_edge_ask(&fixture, &response, "POST " EDGE_IMPORT " HTTP/1.1\r\n@" KEY CSV "\r\n");
    json_decref(evd_edge_expect_problem(&response, 411, "LengthRequired"));
    evd_edge_ask(&fixture, &response, "POST " EDGE_IMPORT " HTTP/1.1\r\n@" CSV BODY);
    json_decref(evd_edge_expect_problem(&response, 400, "Malformed"));
    evd_edge_ask(&fixture, &response, "POST " EDGE_IMPORT " HTTP/1.1\r\n@" KEY CSV "Content-Length: 3145729\r\n\r\n");
    json_decref(evd_edge_expect_problem(&response, 413, "BodyTooLarge"));
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* Options. */

static const struct {
    const char *query, *shown; /* shown NULL: refused, */
    const char *named;         /* naming this parameter */
} queries[] = {
    {"", "\"dryRun\":0,\"skipRefused\":0,\"delimiter\":0,\"safe\":0,\"labels\":[]}", NULL},
    {"?dryRun=true&skipRefused=false", "\"dryRun\":1,\"skipRefused\":0,", NULL},
    {"?skipRefused=true", "\"dryRun\":0,\"skipRefused\":1,", NULL},
    {"?delimiter=comma", "\"delimiter\":44,", NULL},
    {"?delimiter=semicolon", "\"delimiter\":59,", NULL},
    {"?delimiter=tab", "\"delimiter\":9,", NULL},
    {"?spreadsheet=safe", "\"safe\":1,", NULL},
    {"?label=Keywords&label=In%20scope%3F&label=Keywords", "\"labels\":[\"Keywords\",\"In scope?\",\"Keywords\"]",
     NULL},
    {"?dryRun", NULL, "dryRun"},
    {"?dryRun=", NULL, "dryRun"},
    {"?dryRun=1", NULL, "dryRun"},
    {"?dryRun=TRUE", NULL, "dryRun"},
    {"?dryRun=true&dryRun=true", NULL, "dryRun"},
    {"?skipRefused=yes", NULL, "skipRefused"},
    {"?skiprefused=true", NULL, "skiprefused"},
    {"?delimiter=,", NULL, "delimiter"},
    {"?delimiter=comma&delimiter=tab", NULL, "delimiter"},
    {"?spreadsheet=unsafe", NULL, "spreadsheet"},
    {"?label=", NULL, "label"},
    {"?label=A&label", NULL, "label"},
    {"?limit=1", NULL, "limit"},
};

static void ask_with(const char *query, size_t number) {
    evd_edge_ask(&fixture, &response,
                 "POST " EDGE_IMPORT "%s HTTP/1.1\r\n@Idempotency-Key: 018f3b1e-0000-7000-8000-%012zu\r\n" CSV BODY,
                 query, number);
}

static void expect_named(const char *name) {
    json_t *json = evd_edge_expect_problem(&response, 400, "Malformed");
    ck_assert_str_eq(json_string_value(json_object_get(json, "parameter")), name);
    json_decref(json);
}

START_TEST(options_are_what_the_query_says_or_a_400_that_names_the_wrong_one) {
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        ask_with(queries[i].query, i);
        if (queries[i].shown == NULL)
            expect_named(queries[i].named);
        else
            ck_assert_msg(strstr(response.body, queries[i].shown) != NULL, "%s: %s", queries[i].query, response.body);
    }
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK "?limit=1&limit=2 HTTP/1.1\r\n@\r\n");
    expect_named("limit");
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(labels_are_bounded_in_number_and_length) {
    static char query[4096];
    evd_edge_fixture_open(&fixture, 2, 16);
    size_t size = (size_t)snprintf(query, sizeof query, "?dryRun=true");
    for (int i = 0; i < EVD_LIMIT_STUDY_LABELS; i++)
        size += (size_t)snprintf(query + size, sizeof query - size, "&label=L%d", i);
    ask_with(query, 1);
    ck_assert_msg(strstr(response.body, "\"L48\",\"L49\"]}") != NULL, "%s", response.body);
    (void)snprintf(query + size, sizeof query - size, "&label=L50");
    ask_with(query, 2);
    expect_named("label");
    (void)snprintf(query, sizeof query, "?label=%0400d", 0);
    ask_with(query, 3);
    ck_assert_int_eq(response.status, 202);
    (void)snprintf(query, sizeof query, "?label=%0401d", 0);
    ask_with(query, 4);
    expect_named("label");
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(the_same_file_with_other_options_is_another_command) {
    evd_edge_fixture_open(&fixture, 2, 16);
    ask_with("?label=A", 1);
    ck_assert_int_eq(response.status, 202);
    ask_with("?label=A", 1);
    ck_assert_str_eq(header("Idempotency-Replayed"), "true");
    ask_with("?label=B", 1);
    json_decref(evd_edge_expect_problem(&response, 409, "CommandDigestMismatch"));
    evd_edge_fixture_close(&fixture);
}
END_TEST

/* Large ones. */

static char *large_file(void) {
    static char file[LARGE];
    for (size_t i = 0; i < sizeof file; i++)
        file[i] = (char)('a' + i * 7 % 23);
    return file;
}

static void begin_upload(struct evd_raw_client *client, unsigned key, size_t size) {
    evd_raw_open(client, fixture.port);
    evd_edge_say(&fixture, client,
                 "POST " EDGE_IMPORT " HTTP/1.1\r\n@Idempotency-Key: 018f3b1e-0000-7000-8000-%012u\r\n" CSV
                 "Content-Length: %zu\r\n\r\n",
                 key, size);
}

static void await_held(uint64_t bytes) {
    while (evd_spool_held_bytes(fixture.spool) != bytes)
        (void)sched_yield();
}

static void expect_file(const char *file, size_t size) {
    char wanted[160], digest[65];
    struct evd_sha256 sum = evd_sha256_of(file, size);
    for (size_t i = 0; i < sizeof sum.bytes; i++)
        (void)snprintf(digest + 2 * i, 3, "%02x", sum.bytes[i]);
    (void)snprintf(wanted, sizeof wanted, "\"bytes\":%zu,\"sha256\":\"%s\"", size, digest);
    ck_assert_msg(strstr(response.body, wanted) != NULL, "%s, not %s", response.body, wanted);
}

START_TEST(a_large_file_is_spooled_and_arrives_whole) {
    static const size_t sizes[] = {EVD_HTTP_SPOOL_ABOVE_BYTES, EVD_HTTP_SPOOL_ABOVE_BYTES + 1, LARGE};
    struct evd_raw_client client;
    char *file = large_file();
    evd_edge_fixture_open(&fixture, 2, 16);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool spooled = sizes[i] > EVD_HTTP_SPOOL_ABOVE_BYTES;
        begin_upload(&client, (unsigned)i, sizes[i]);
        ck_assert(evd_raw_send(&client, file, sizes[i] - 1));
        if (spooled) await_held(sizes[i] + 1);
        ck_assert(spooled || evd_spool_held_bytes(fixture.spool) == 0);
        ck_assert(evd_raw_send(&client, file + sizes[i] - 1, 1));
        ck_assert(evd_raw_receive(&client, true, &response));
        ck_assert_int_eq(response.status, 202);
        expect_file(file, sizes[i]);
        await_held(0);
        evd_raw_close(&client);
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_client_that_leaves_in_mid_upload_leaves_nothing_in_the_spool) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    begin_upload(&client, 1, LARGE);
    ck_assert(evd_raw_send(&client, large_file(), LARGE / 2));
    await_held(LARGE + 1);
    evd_raw_close(&client);
    await_held(0);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(when_the_spool_has_no_room_a_large_file_has_to_wait_and_a_small_one_has_not) {
    struct evd_raw_client first, second;
    char *file = large_file();
    evd_edge_fixture_open(&fixture, 2, 16);
    begin_upload(&first, 1, LARGE);
    await_held(LARGE + 1);
    begin_upload(&second, 2, LARGE);
    ck_assert(evd_raw_receive(&second, true, &response));
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    ck_assert_str_eq(header("Connection"), "close");
    evd_raw_close(&second);
    begin_upload(&second, 3, EVD_HTTP_SPOOL_ABOVE_BYTES);
    ck_assert(evd_raw_send(&second, file, EVD_HTTP_SPOOL_ABOVE_BYTES));
    ck_assert(evd_raw_receive(&second, true, &response));
    ck_assert_int_eq(response.status, 202);
    evd_raw_close(&second);
    ck_assert(evd_raw_send(&first, file, LARGE));
    ck_assert(evd_raw_receive(&first, true, &response));
    ck_assert_int_eq(response.status, 202);
    evd_raw_close(&first);
    await_held(0);
    begin_upload(&second, 2, LARGE);
    ck_assert(evd_raw_send(&second, file, LARGE));
    ck_assert(evd_raw_receive(&second, true, &response));
    expect_file(file, LARGE);
    evd_raw_close(&second);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_full_disk_is_a_503_before_the_file_is_sent) {
    struct evd_raw_client client;
    char *file = large_file();
    evd_edge_fixture_open(&fixture, 2, 16);
    (void)snprintf(disk.prefix, sizeof disk.prefix, "%.200s/spool", fixture.directory);
    atomic_store(&disk.rules[FAULTFS_SIZE].error, ENOSPC);
    atomic_store(&disk.rules[FAULTFS_SIZE].fail, 1);
    faultfs_use(&disk);
    begin_upload(&client, 1, LARGE);
    ck_assert(evd_raw_receive(&client, true, &response));
    json_decref(evd_edge_expect_problem(&response, 503, "StoreFull"));
    ck_assert_str_eq(header("Retry-After"), "30");
    evd_raw_close(&client);
    begin_upload(&client, 1, LARGE);
    ck_assert(evd_raw_send(&client, file, LARGE));
    ck_assert(evd_raw_receive(&client, true, &response));
    expect_file(file, LARGE);
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}
END_TEST

EVD_TEST_MAIN("http: edge, files", a_file_is_what_its_type_says_in_utf_8,
              options_are_what_the_query_says_or_a_400_that_names_the_wrong_one,
              labels_are_bounded_in_number_and_length, the_same_file_with_other_options_is_another_command,
              a_large_file_is_spooled_and_arrives_whole, a_client_that_leaves_in_mid_upload_leaves_nothing_in_the_spool,
              when_the_spool_has_no_room_a_large_file_has_to_wait_and_a_small_one_has_not,
              a_full_disk_is_a_503_before_the_file_is_sent)
