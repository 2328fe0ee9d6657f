/*
 * Drafts and kill -9: what was acknowledged is there, byte for byte; what was not is sent again and is there once.
 */
#include "../support/desk.h"
#include "../support/test.h"

#include "evidenced/base/crash.h"

#include <signal.h>

#define LEFT  "5b8e6c1a-9d3f-4c27-8e41-0a6d2f7b9c13"
#define RIGHT "7c9f7d2b-0e40-4d38-9f52-1b7e308cad24"

static struct evd_daemon_process process;
static struct desk desk;

static void open_desk(void) {
    evd_daemon_process_init(&process);
    evd_daemon_process_start(&process);
    desk_open(&desk, &process, 5, 3);
}

static void close_desk(void) {
    desk_close(&desk);
    evd_daemon_process_done(&process);
}

static void start_with(const char *variable) {
    process.variables[0] = variable;
    desk_close(&desk); /* what was open leads to the one before */
    evd_daemon_process_start(&process);
}

/* Autosave into a study's draft; etag 0: the first. The status. */
static int put(unsigned study, const char *holder, unsigned seq, unsigned etag, const char *value,
               struct evd_reply *ret_reply) {
    char *path = desk_session_path(&desk, study, "draft"), *body, condition[60];
    ck_assert_int_gt(
        asprintf(&body,
                 "{\"stage\":\"%s\",\"formVersion\":1,\"baseVersion\":null,\"holder\":\"%s\",\"writeSeq\":%u,"
                 "\"content\":{\"answers\":[{\"question\":\"q1\",\"value\":\"%s\",\"baseRevision\":null}]}}",
                 desk.stage, holder, seq, value),
        0);
    (void)snprintf(condition, sizeof condition, etag == 0 ? "If-None-Match: *\r\n" : "If-Match: \"%u\"\r\n", etag);
    evd_client_ask(&desk.reviewers[0], "PUT", path, NULL, body, condition, ret_reply);
    free(path);
    free(body);
    return ret_reply->status;
}

/* The draft as it is read; to be freed. */
static char *draft_of(unsigned study) {
    struct evd_reply reply;
    char *path = desk_session_path(&desk, study, "draft");
    int status = evd_client_get(&desk.reviewers[0], path, &reply);
    ck_assert_msg(status == 200, "%d %s", status, reply.body);
    char *text = strdup(reply.body);
    evd_reply_done(&reply);
    free(path);
    return text;
}

static void expect_draft(unsigned study, const char *before) {
    char *after = draft_of(study);
    ck_assert_str_eq(after, before);
    free(after);
}

START_TEST(an_autosave_killed_at_every_crash_point_is_there_once_when_it_is_sent_again) {
    char wish[80];
    open_desk();
    for (int point = 0; point <= EVD_CRASH_ANSWER_BEFORE; point++) { /* those behind it are operations' */
        struct evd_reply reply, again;
        (void)snprintf(wish, sizeof wish, "EVIDENCED_CRASH_AT=%s", evd_crash_point_name((enum evd_crash_point)point));
        evd_daemon_process_stop(&process);
        start_with(wish);
        ck_assert_int_eq(put((unsigned)point, LEFT, 1, 0, "typed", &reply), 0);
        ck_assert_int_eq(evd_daemon_process_wait(&process), -SIGKILL);
        start_with(NULL);
        int status = put((unsigned)point, LEFT, 1, 0, "typed", &again);
        ck_assert_msg(status == 200, "%s: %d %s", wish, status, again.body);
        ck_assert_int_eq(json_integer_value(json_object_get(again.json, "etag")), 1);
        ck_assert_int_eq(json_integer_value(json_object_get(again.json, "writeSeq")), 1);
        evd_reply_done(&again);
        evd_reply_done(&reply);
    }
    close_desk();
}
END_TEST

START_TEST(a_draft_survives_refusal_kill_9_and_restart_byte_for_byte) {
    struct evd_reply reply;
    char key[EVD_UUID_TEXT_BYTES + 1];
    open_desk();
    ck_assert_int_eq(put(0, LEFT, 1, 0, "an hour of reading \\u00e9\\ud83d\\ude00", &reply), 200);
    evd_reply_done(&reply);
    char *before = draft_of(0);
    ck_assert_int_eq(put(0, RIGHT, 1, 1, "", &reply), 409);
    ck_assert_str_eq(evd_reply_text(&reply, "outcome"), "DraftLeaseHeld");
    evd_reply_done(&reply);
    ck_assert_int_eq(desk_save(&desk, 0, 0, evd_test_uuid(key), "", 2, "blind", &reply), 409);
    evd_reply_done(&reply);
    expect_draft(0, before);
    evd_daemon_process_kill(&process);
    start_with(NULL);
    expect_draft(0, before);
    ck_assert_int_eq(evd_daemon_process_stop(&process), 0);
    start_with(NULL);
    expect_draft(0, before);
    free(before);
    close_desk();
}
END_TEST

EVD_TEST_MAIN("crash: drafts", an_autosave_killed_at_every_crash_point_is_there_once_when_it_is_sent_again,
              a_draft_survives_refusal_kill_9_and_restart_byte_for_byte)
