/*
 * The daemon is killed at every named point of the commit path, started again, and asked the same once more.
 */
#include "../support/desk.h"
#include "../support/test.h"

#include "evidenced/base/crash.h"

#include <signal.h>

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

/* Starts it again, so that it dies when the point is passed for the n-th time from now on. */
static void restart_to_die_at(enum evd_crash_point point, char wish[80]) {
    (void)snprintf(wish, 80, "EVIDENCED_CRASH_AT=%s", evd_crash_point_name(point));
    process.variables[0] = wish;
    desk_close(&desk); /* what was open leads to the one before */
    evd_daemon_process_start(&process);
}

static void restart_whole(void) {
    process.variables[0] = NULL;
    desk_close(&desk);
    evd_daemon_process_start(&process);
}

/* Had the commit reached the disk when it died there? */
static bool landed(enum evd_crash_point point) {
    switch (point) {
    case EVD_CRASH_ATTEMPT_REGISTERED:
    case EVD_CRASH_SNAPSHOT_READ:
    case EVD_CRASH_DERIVED:
    case EVD_CRASH_COMMIT_BEFORE: return false;
    case EVD_CRASH_COMMIT_AFTER:
    case EVD_CRASH_COMMIT_KNOWN:
    case EVD_CRASH_ANSWER_BEFORE: return true;
    case EVD_CRASH_TAKEN_OVER: /* no Save comes by here */
    case EVD_CRASH_STEP_CHOSEN:
    case EVD_CRASH_STEP_ANSWERED:
    case EVD_CRASH_COUNT: break;
    }
    return false;
}

START_TEST(kill_9_at_every_crash_point_then_the_retry_runs_or_replays_never_both) {
    char wish[80], key[EVD_UUID_TEXT_BYTES + 1], replayed[16];
    open_desk();
    for (int point = 0; point <= EVD_CRASH_ANSWER_BEFORE; point++) {
        struct evd_reply reply, again;
        evd_daemon_process_stop(&process);
        restart_to_die_at((enum evd_crash_point)point, wish);
        int status = desk_save(&desk, 0, (unsigned)point, evd_test_uuid(key), "", 3, "kept", &reply);
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(evd_daemon_process_wait(&process), -SIGKILL);
        evd_reply_done(&reply);
        restart_whole();
        status = desk_save(&desk, 0, (unsigned)point, key, "", 3, "kept", &again);
        ck_assert_msg(status == 200, "%s: %d %s", evd_crash_point_name((enum evd_crash_point)point), status,
                      again.body);
        const char *mark = evd_reply_header(&again, "Idempotency-Replayed", replayed, sizeof replayed);
        ck_assert_msg((mark != NULL) == landed((enum evd_crash_point)point), "%s",
                      evd_crash_point_name((enum evd_crash_point)point));
        ck_assert_uint_eq(desk_versions(&desk, 0, (unsigned)point), 1);
        evd_reply_done(&again);
    }
    close_desk();
}
END_TEST

START_TEST(what_was_acknowledged_before_a_kill_reads_back_after_it) {
    char key[EVD_UUID_TEXT_BYTES + 1];
    open_desk();
    for (unsigned round = 0; round < 3; round++) {
        struct evd_reply saved;
        ck_assert_int_eq(desk_save(&desk, 1, round, evd_test_uuid(key), "", 2, "mine", &saved), 200);
        evd_daemon_process_kill(&process);
        restart_whole();
        struct evd_reply read;
        char *path = desk_session_path(&desk, round, "");
        path[strlen(path) - 1] = '\0';
        ck_assert_int_eq(evd_client_get(&desk.reviewers[1], path, &read), 200);
        ck_assert_str_eq(evd_reply_text(&read, "versionId"), evd_reply_text(&saved, "versionId"));
        ck_assert_uint_eq(json_array_size(json_object_get(read.json, "answers")), 2);
        free(path);
        evd_reply_done(&read);
        evd_reply_done(&saved);
    }
    close_desk();
}
END_TEST

EVD_TEST_MAIN("crash: kill -9", kill_9_at_every_crash_point_then_the_retry_runs_or_replays_never_both,
              what_was_acknowledged_before_a_kill_reads_back_after_it)
