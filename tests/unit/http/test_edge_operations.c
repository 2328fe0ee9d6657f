/*
 * Calls that begin an operation: 202, and waiting for its end.
 */
#include "../../support/edge_fixture.h"
#include "evidenced/http/server.h"
#include "evidenced/http/spool.h"
#include "evidenced/records/keys.h"
#include "evidenced/runtime/call.h"
#include "evidenced/runtime/operations.h"
#include "evidenced/runtime/runtime.h"

#include <sched.h>

#define IMPORT(key)                                                                                                    \
    "POST " EDGE_IMPORT " HTTP/1.1\r\n@Idempotency-Key: 018f3b1e-0000-7000-8000-0000000000" key                        \
    "\r\nContent-Type: text/csv\r\n"
#define BODY "Content-Length: 8\r\n\r\ntitle\nA\n"

enum { MANY = 8, ROUNDS = 200 };

static struct evd_edge_fixture fixture;
static struct evd_raw_response response;

static const char *header(const char *name) {
    const char *value = evd_raw_header(&response, name);
    return value == NULL ? "" : value;
}

/* The operation that ada's command with this key begins. */
static evd_uuid operation_of(const char *key) {
    char text[64];
    evd_uuid project, command_id, caller;
    (void)snprintf(text, sizeof text, "018f3b1e-0000-7000-8000-0000000000%s", key);
    evd_edge_ask(&fixture, &response,
                 "POST /v1/projects HTTP/1.1\r\n@Idempotency-Key: 018f3b1e-0000-7000-8000-00000000ffff\r\n"
                 "Content-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"name\":\"x\"}");
    const char *at = strstr(response.body, "\"caller\":\"");
    ck_assert_ptr_nonnull(at);
    ck_assert(evd_uuid_parse((struct evd_text){at + 10, EVD_UUID_TEXT_BYTES}, &caller));
    ck_assert(evd_uuid_parse(EVD_TEXT(EDGE_P), &project) && evd_uuid_parse(evd_text_from(text), &command_id));
    return evd_operation_id(project, caller, command_id);
}

static void expect_location(evd_uuid operation) {
    char id[EVD_UUID_TEXT_BYTES + 1], wanted[128];
    evd_uuid_format(operation, id);
    (void)snprintf(wanted, sizeof wanted, "/v1/projects/" EDGE_P "/operations/%s", id);
    ck_assert_str_eq(header("Location"), wanted);
}

static evd_uuid project(void) {
    evd_uuid id;
    ck_assert(evd_uuid_parse(EVD_TEXT(EDGE_P), &id));
    return id;
}

static void await_waiting(size_t count) {
    while (evd_operations_waiting(fixture.operations) != count)
        (void)sched_yield();
}

/* The state of a fixture in which nothing runs: every look that was begun is over. */
static void await_calm(void) {
    struct evd_runtime_figures now;
    do {
        (void)sched_yield();
        evd_runtime_figures(fixture.runtime, &now);
    } while (now.queued > 0 || now.running > 0);
}

static void settle(evd_uuid operation) {
    evd_edge_operations_stand(EDGE_OPERATIONS_SETTLED);
    evd_operations_settled(fixture.operations, project(), operation);
}

START_TEST(an_operation_is_accepted_with_its_address_and_a_repetition_with_the_same) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_uuid operation = operation_of("01");
    for (int i = 0; i < 2; i++) {
        evd_edge_ask(&fixture, &response, IMPORT("01") BODY);
        ck_assert_int_eq(response.status, 202);
        expect_location(operation);
        ck_assert_str_eq(header("Retry-After"), "1");
        ck_assert_str_eq(header("Preference-Applied"), "");
        ck_assert_str_eq(header("Cache-Control"), "no-store");
        ck_assert_str_eq(header("Content-Type"), "application/json");
        ck_assert_str_eq(header("Idempotency-Replayed"), i == 0 ? "" : "true");
        ck_assert_ptr_nonnull(strstr(response.body, "\"bytes\":8"));
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_view_of_an_operation_says_when_to_ask_again_until_it_is_settled) {
    char request[256], etag[64];
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_ask(&fixture, &response, IMPORT("01") BODY);
    (void)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n@", header("Location"));
    evd_edge_ask(&fixture, &response, "%s\r\n", request);
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("Retry-After"), "1");
    (void)snprintf(etag, sizeof etag, "%s", header("ETag"));
    evd_edge_ask(&fixture, &response, "%sIf-None-Match: %s\r\n\r\n", request, etag);
    ck_assert_int_eq(response.status, 304);
    ck_assert_str_eq(header("Retry-After"), "1");
    evd_edge_operations_stand(EDGE_OPERATIONS_SETTLED);
    evd_edge_ask(&fixture, &response, "%sIf-None-Match: %s\r\n\r\n", request, etag);
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("Retry-After"), "");
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(who_prefers_to_wait_is_answered_when_the_operation_is_settled) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_uuid operation = operation_of("01");
    for (int i = 0; i < 2; i++) {
        evd_edge_operations_stand(EDGE_OPERATIONS_UNDER_WAY);
        evd_raw_open(&client, fixture.port);
        evd_edge_say(&fixture, &client, IMPORT("01") "Prefer: wait=5\r\n" BODY);
        await_waiting(1);
        await_calm();
        ck_assert_uint_eq(evd_operations_waiting(fixture.operations), 1);
        settle(operation);
        ck_assert(evd_raw_receive(&client, true, &response));
        ck_assert_int_eq(response.status, 200);
        ck_assert_ptr_nonnull(strstr(response.body, "\"settled\":1"));
        ck_assert_str_eq(header("Preference-Applied"), "wait=5");
        ck_assert_str_eq(header("Retry-After"), "");
        ck_assert_str_eq(header("Idempotency-Replayed"), i == 0 ? "" : "true");
        expect_location(operation);
        evd_raw_close(&client);
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(who_waits_in_vain_gets_the_operation_as_it_stands_then) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_uuid operation = operation_of("01");
    evd_raw_open(&client, fixture.port);
    evd_edge_say(&fixture, &client, IMPORT("01") "Prefer: respond-async, wait=5\r\n" BODY);
    await_waiting(1);
    evd_test_clock_advance(&fixture.clock, 4999);
    evd_operations_tick(fixture.operations);
    await_calm();
    ck_assert_uint_eq(evd_operations_waiting(fixture.operations), 1);
    evd_test_clock_advance(&fixture.clock, 1);
    evd_operations_tick(fixture.operations);
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_int_eq(response.status, 202);
    ck_assert_ptr_nonnull(strstr(response.body, "\"settled\":0"));
    ck_assert_str_eq(header("Preference-Applied"), "wait=5");
    ck_assert_str_eq(header("Retry-After"), "1");
    expect_location(operation);
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(what_is_settled_already_is_not_waited_for) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_operations_stand(EDGE_OPERATIONS_SETTLED);
    for (int i = 0; i < 2; i++) {
        evd_edge_ask(&fixture, &response, IMPORT("01") "Prefer: wait=30\r\n" BODY);
        ck_assert_int_eq(response.status, 200);
        ck_assert_ptr_nonnull(strstr(response.body, "\"settled\":1"));
        ck_assert_uint_eq(evd_operations_waiting(fixture.operations), 0);
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

static const struct {
    const char *prefer, *applied; /* applied NULL: ignored */
} preferences[] = {
    {"wait=1", "wait=1"},
    {"wait=30", "wait=30"},
    {"wait=31", "wait=30"},
    {"wait=18446744073709551615", "wait=30"},
    {"Wait = \"7\"", "wait=7"},
    {"respond-async,wait=7; x=y", NULL},
    {"a=\"b, wait=3\", wait=7", "wait=7"},
    {"wait=7, wait=8", "wait=7"},
    {"x, , wait=007,", "wait=7"},
    {"wait=0", NULL},
    {"wait", NULL},
    {"wait=", NULL},
    {"wait=-1", NULL},
    {"wait=1.5", NULL},
    {"wait=18446744073709551616", NULL},
    {"wait=x, wait=7", NULL},
    {"waiting=7", NULL},
    {"a=\"b, wait=3", NULL},
    {"", NULL},
    {",,,", NULL},
};

START_TEST(a_preference_is_capped_or_when_it_is_none_ignored) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_edge_operations_stand(EDGE_OPERATIONS_SETTLED);
    for (size_t i = 0; i < sizeof preferences / sizeof *preferences; i++) {
        const char *applied = preferences[i].applied;
        evd_edge_ask(&fixture, &response, IMPORT("01") "Prefer: %s\r\n" BODY, preferences[i].prefer);
        ck_assert_msg(response.status == (applied == NULL ? 202 : 200), "%s: %d", preferences[i].prefer,
                      response.status);
        ck_assert_str_eq(header("Preference-Applied"), applied == NULL ? "" : applied);
    }
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@Prefer: wait=5\r\n\r\n");
    ck_assert_int_eq(response.status, 200);
    ck_assert_str_eq(header("Preference-Applied"), "");
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(those_who_wait_take_no_worker_and_no_room_in_the_spool_but_a_place_in_flight) {
    struct evd_raw_client clients[MANY];
    static char file[EDGE_FILE_LIMIT];
    char bob[EDGE_TOKEN_BYTES];
    evd_edge_fixture_open(&fixture, 1, 16);
    fixture.settings.subject.in_flight = MANY;
    evd_edge_set(fixture.edge, &fixture.settings);
    evd_edge_fixture_token(&fixture, "bob", "", bob);
    memset(file, 'x', sizeof file);
    for (size_t i = 0; i < MANY; i++) { /* together they are more than the spool holds */
        evd_raw_open(&clients[i], fixture.port);
        evd_edge_say(&fixture, &clients[i],
                     "POST " EDGE_IMPORT
                     " HTTP/1.1\r\n@Idempotency-Key: 018f3b1e-0000-7000-8000-%012zu\r\nContent-Type: text/csv\r\n"
                     "Prefer: wait=30\r\nContent-Length: %zu\r\n\r\n",
                     i, sizeof file);
        ck_assert(evd_raw_send(&clients[i], file, sizeof file));
        await_waiting(i + 1);
    }
    ck_assert_uint_eq(evd_spool_held_bytes(fixture.spool), 0);
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    json_decref(evd_edge_expect_problem(&response, 429, "Busy"));
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", bob);
    ck_assert_int_eq(response.status, 200);
    evd_test_clock_advance(&fixture.clock, 30000);
    evd_operations_tick(fixture.operations);
    for (size_t i = 0; i < MANY; i++) {
        ck_assert(evd_raw_receive(&clients[i], true, &response));
        ck_assert_int_eq(response.status, 202);
        evd_raw_close(&clients[i]);
    }
    evd_edge_ask(&fixture, &response, "GET " EDGE_LOOK " HTTP/1.1\r\n@\r\n");
    ck_assert_int_eq(response.status, 200);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_daemon_that_ends_lets_nobody_wait) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_raw_open(&client, fixture.port);
    evd_edge_say(&fixture, &client, IMPORT("01") "Prefer: wait=30\r\n" BODY);
    await_waiting(1);
    evd_operations_release(fixture.operations);
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_int_eq(response.status, 202);
    evd_edge_ask(&fixture, &response, IMPORT("02") "Prefer: wait=30\r\n" BODY);
    ck_assert_int_eq(response.status, 202);
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(who_may_not_look_any_more_still_learns_that_it_was_accepted) {
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_operations_release(fixture.operations);
    evd_edge_operations_stand(EDGE_OPERATIONS_HIDDEN);
    evd_edge_ask(&fixture, &response, IMPORT("01") "Prefer: wait=30\r\n" BODY);
    ck_assert_int_eq(response.status, 202);
    ck_assert_ptr_nonnull(strstr(response.body, "\"bytes\":8"));
    ck_assert_str_eq(header("Retry-After"), "1");
    evd_edge_fixture_close(&fixture);
}
END_TEST

START_TEST(a_client_that_leaves_while_it_waits_leaves_nothing) {
    struct evd_raw_client client;
    evd_edge_fixture_open(&fixture, 2, 16);
    evd_uuid operation = operation_of("01");
    for (int i = 0; i < 20; i++) {
        evd_edge_operations_stand(EDGE_OPERATIONS_UNDER_WAY);
        evd_raw_open(&client, fixture.port);
        evd_edge_say(&fixture, &client, IMPORT("01") "Prefer: wait=30\r\n" BODY);
        await_waiting(1);
        evd_raw_close(&client);
        settle(operation);
        while (evd_http_server_in_flight(fixture.servers[EVD_DOOR_API]) > 0)
            (void)sched_yield();
    }
    evd_edge_fixture_close(&fixture);
}
END_TEST

static atomic_bool settling;

static void *settle_often(void *self) {
    const evd_uuid *operation = self;
    while (atomic_load(&settling)) {
        evd_operations_settled(fixture.operations, project(), *operation);
        evd_operations_tick(fixture.operations);
    }
    return NULL;
}

START_TEST(however_the_end_and_the_look_fall_together_each_is_answered_once) {
    struct evd_raw_client client;
    pthread_t settler;
    evd_edge_fixture_open(&fixture, 4, 64);
    evd_uuid operation = operation_of("01");
    atomic_store(&settling, true);
    ck_assert_int_eq(pthread_create(&settler, NULL, settle_often, &operation), 0);
    evd_raw_open(&client, fixture.port);
    for (int i = 0; i < ROUNDS; i++) {
        evd_edge_operations_stand(i % 2 == 0 ? EDGE_OPERATIONS_UNDER_WAY : EDGE_OPERATIONS_SETTLED);
        evd_edge_say(&fixture, &client, IMPORT("01") "Prefer: wait=30\r\n" BODY);
        ck_assert(evd_raw_receive(&client, true, &response));
        ck_assert_int_eq(response.status, i % 2 == 0 ? 202 : 200);
    }
    atomic_store(&settling, false);
    pthread_join(settler, NULL);
    evd_raw_close(&client);
    evd_edge_fixture_close(&fixture);
}
END_TEST

EVD_TEST_MAIN("http: edge, operations", an_operation_is_accepted_with_its_address_and_a_repetition_with_the_same,
              a_view_of_an_operation_says_when_to_ask_again_until_it_is_settled,
              who_prefers_to_wait_is_answered_when_the_operation_is_settled,
              who_waits_in_vain_gets_the_operation_as_it_stands_then, what_is_settled_already_is_not_waited_for,
              a_preference_is_capped_or_when_it_is_none_ignored,
              those_who_wait_take_no_worker_and_no_room_in_the_spool_but_a_place_in_flight,
              a_daemon_that_ends_lets_nobody_wait, who_may_not_look_any_more_still_learns_that_it_was_accepted,
              a_client_that_leaves_while_it_waits_leaves_nothing,
              however_the_end_and_the_look_fall_together_each_is_answered_once)
