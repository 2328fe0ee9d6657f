/*
 * The daemon is killed at every named point of an operation's steps, started again, and the operation ends: every row
 * of the file exists once, every study of an undone import is gone.
 */
#include "../support/desk.h"
#include "../support/imports.h"
#include "../support/test.h"

#include "evidenced/base/crash.h"

#include <signal.h>

enum { ROWS = 1200, MOST_PASSES = 40 }; /* two batches */

static struct evd_daemon_process process;
static struct desk desk;
static unsigned next_row;

static void open_desk(void) {
    evd_daemon_process_init(&process);
    evd_daemon_process_start(&process);
    desk_open(&desk, &process, 1, 3);
}

static void close_desk(void) {
    desk_close(&desk);
    evd_daemon_process_done(&process);
}

/* Stops it, and says where the next one is to die. NULL: nowhere. */
static void stop(enum evd_crash_point point, unsigned passes, char wish[80]) {
    if (process.pid > 0) (void)evd_daemon_process_stop(&process);
    if (wish != NULL) (void)snprintf(wish, 80, "EVIDENCED_CRASH_AT=%s:%u", evd_crash_point_name(point), passes);
    process.variables[0] = wish;
    desk_close(&desk); /* what was open leads to the one before */
}

static void restart_whole(void) {
    stop(EVD_CRASH_COUNT, 0, NULL);
    evd_daemon_process_start(&process);
}

static struct evd_reply post(const char *below, const char *key, const char *body, const char *headers) {
    struct evd_reply reply;
    char *path;
    ck_assert_int_gt(asprintf(&path, "/v1/projects/%s/%s", desk.project, below), 0);
    evd_client_ask(&desk.admin, "POST", path, key, body, headers, &reply);
    free(path);
    return reply;
}

static struct evd_reply import(const char *key, const char *csv, const char *query) {
    char below[100];
    (void)snprintf(below, sizeof below, "imports%s", query);
    return post(below, key, csv, "Content-Type: text/csv\r\nPrefer: wait=30\r\n");
}

static long long count_of(const struct evd_reply *operation, const char *name) {
    return json_integer_value(json_object_get(json_object_get(operation->json, "counts"), name));
}

/* Rows of the operation with this result: how many, and that no study is there twice. */
static size_t rows_with(const char *operation, const char *result) {
    json_t *studies = json_object();
    char *path, cursor[300] = "";
    size_t count = 0;
    do {
        struct evd_reply reply;
        ck_assert_int_gt(asprintf(&path, "/v1/projects/%s/operations/%s/rows?limit=500&result=%s%s", desk.project,
                                  operation, result, cursor),
                         0);
        ck_assert_int_eq(evd_client_get(&desk.admin, path, &reply), 200);
        const json_t *items = json_object_get(reply.json, "items");
        for (size_t i = 0; i < json_array_size(items); i++) {
            const char *study = json_string_value(json_object_get(json_array_get(items, i), "studyId"));
            ck_assert_ptr_null(json_object_get(studies, study));
            (void)json_object_set_new(studies, study, json_true());
        }
        count += json_array_size(items);
        const char *next = json_string_value(json_object_get(reply.json, "next"));
        (void)snprintf(cursor, sizeof cursor, next == NULL ? "" : "&cursor=%s", next);
        evd_reply_done(&reply);
        free(path);
    } while (cursor[0] != '\0');
    json_decref(studies);
    return count;
}

/* Dies where it is told to while it imports, then ends it. False: it was never there so often. */
static bool import_through(enum evd_crash_point point, unsigned passes, const char *query) {
    char wish[80], key[EVD_UUID_TEXT_BYTES + 1];
    char *csv = imports_csv(next_row, ROWS);
    next_row += ROWS;
    stop(point, passes, wish);
    evd_daemon_process_start(&process);
    struct evd_reply first = import(evd_test_uuid(key), csv, query);
    bool died = first.status == 0;
    evd_reply_done(&first);
    if (died) ck_assert_int_eq(evd_daemon_process_wait(&process), -SIGKILL);
    restart_whole();
    struct evd_reply again = import(key, csv, query);
    ck_assert_msg(again.status == 200, "%s:%u: %d %s", evd_crash_point_name(point), passes, again.status, again.body);
    ck_assert_str_eq(evd_reply_text(&again, "status"), "succeeded");
    ck_assert_int_eq(count_of(&again, "added"), ROWS);
    ck_assert_int_eq(count_of(&again, "matched"), 0);
    ck_assert_uint_eq(rows_with(evd_reply_text(&again, "id"), "added"), ROWS);
    evd_reply_done(&again);
    free(csv);
    return died;
}

static const enum evd_crash_point points[] = {
    EVD_CRASH_STEP_CHOSEN,   EVD_CRASH_STEP_ANSWERED, EVD_CRASH_ATTEMPT_REGISTERED, EVD_CRASH_DERIVED,
    EVD_CRASH_COMMIT_BEFORE, EVD_CRASH_COMMIT_AFTER,  EVD_CRASH_COMMIT_KNOWN,       EVD_CRASH_ANSWER_BEFORE};

enum { POINTS = sizeof points / sizeof *points };

START_TEST(kill_9_at_every_point_of_every_step_and_after_a_restart_every_row_exists_once) {
    open_desk();
    for (size_t i = 0; i < POINTS; i++) {
        unsigned passes = 1;
        while (import_through(points[i], passes, ""))
            ck_assert_uint_lt(++passes, MOST_PASSES);
        ck_assert_uint_gt(passes, 3); /* each batch at least */
    }
    close_desk();
}
END_TEST

/* The same, backwards. */
static bool undo_through(enum evd_crash_point point, unsigned passes) {
    char wish[80], key[EVD_UUID_TEXT_BYTES + 1], below[100];
    char *csv = imports_csv(next_row, ROWS);
    next_row += ROWS;
    restart_whole();
    struct evd_reply imported = import(evd_test_uuid(key), csv, "?skipRefused=true");
    ck_assert_int_eq(imported.status, 200);
    (void)snprintf(below, sizeof below, "imports/%s/undo", evd_reply_text(&imported, "id"));
    stop(point, passes, wish);
    evd_daemon_process_start(&process);
    struct evd_reply first = post(below, evd_test_uuid(key), NULL, "Prefer: wait=30\r\n");
    bool died = first.status == 0;
    evd_reply_done(&first);
    if (died) ck_assert_int_eq(evd_daemon_process_wait(&process), -SIGKILL);
    restart_whole();
    struct evd_reply again = post(below, key, NULL, "Prefer: wait=30\r\n");
    ck_assert_msg(again.status == 200, "%s:%u: %d %s", evd_crash_point_name(point), passes, again.status, again.body);
    ck_assert_str_eq(evd_reply_text(&again, "status"), "succeeded");
    ck_assert_int_eq(count_of(&again, "removed"), ROWS);
    ck_assert_uint_eq(rows_with(evd_reply_text(&again, "id"), "removed"), ROWS);
    evd_reply_done(&again);
    evd_reply_done(&imported);
    free(csv);
    return died;
}

START_TEST(kill_9_at_every_point_of_an_undo_and_after_a_restart_every_study_is_gone) {
    open_desk();
    for (size_t i = 0; i < POINTS; i += 3) { /* what there is beside the commit's own points is the same as forwards */
        unsigned passes = 1;
        while (undo_through(points[i], passes))
            ck_assert_uint_lt(++passes, MOST_PASSES);
        ck_assert_uint_gt(passes, 4); /* twice each batch */
    }
    close_desk();
}
END_TEST

START_TEST(kill_9_while_taking_over_leaves_it_to_the_next_start) {
    char wish[80], key[EVD_UUID_TEXT_BYTES + 1];
    open_desk();
    char *csv = imports_csv(0, ROWS);
    stop(EVD_CRASH_STEP_CHOSEN, 2, wish);
    evd_daemon_process_start(&process);
    struct evd_reply first = import(evd_test_uuid(key), csv, "");
    ck_assert_int_eq(first.status, 0);
    ck_assert_int_eq(evd_daemon_process_wait(&process), -SIGKILL);
    static const enum evd_crash_point during[] = {EVD_CRASH_TAKEN_OVER, EVD_CRASH_COMMIT_BEFORE, EVD_CRASH_COMMIT_AFTER,
                                                  EVD_CRASH_STEP_CHOSEN};
    for (size_t i = 0; i < sizeof during / sizeof *during; i++) {
        stop(during[i], 1, wish);
        ck_assert_int_eq(evd_daemon_process_fail(&process), -SIGKILL);
    }
    restart_whole();
    struct evd_reply again = import(key, csv, "");
    ck_assert_int_eq(again.status, 200);
    ck_assert_int_eq(count_of(&again, "added"), ROWS);
    evd_reply_done(&again);
    evd_reply_done(&first);
    free(csv);
    close_desk();
}
END_TEST

START_TEST(a_stop_in_the_middle_ends_the_step_in_hand_and_the_next_start_goes_on) {
    char key[EVD_UUID_TEXT_BYTES + 1];
    open_desk();
    char *csv = imports_csv(0, 20000);
    struct evd_reply begun = post("imports", evd_test_uuid(key), csv, "Content-Type: text/csv\r\n");
    ck_assert_int_eq(begun.status, 202);
    evd_daemon_process_await_log(&process, "operation-begun");
    ck_assert_int_eq(evd_daemon_process_stop(&process), 0);
    desk_close(&desk);
    evd_daemon_process_start(&process);
    struct evd_reply done = import(key, csv, "");
    ck_assert_int_eq(done.status, 200);
    ck_assert_int_eq(count_of(&done, "added"), 20000);
    evd_reply_done(&done);
    evd_reply_done(&begun);
    free(csv);
    close_desk();
}
END_TEST

EVD_TEST_MAIN("crash: operations", kill_9_at_every_point_of_every_step_and_after_a_restart_every_row_exists_once,
              kill_9_at_every_point_of_an_undo_and_after_a_restart_every_study_is_gone,
              kill_9_while_taking_over_leaves_it_to_the_next_start,
              a_stop_in_the_middle_ends_the_step_in_hand_and_the_next_start_goes_on)
