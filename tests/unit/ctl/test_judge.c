#include "../../support/test.h"

#include "ctl/problem.h"

#include <jansson.h>

/* Answers to verdicts, without a wire. */

static const struct {
    enum evd_ctl_trouble trouble;
    bool is_once;
    enum evd_ctl_exit exit;
    bool may_again;
} troubles[] = {
    {EVD_CTL_UNREACHED, false, EVD_CTL_UNAVAILABLE, true}, {EVD_CTL_UNREACHED, true, EVD_CTL_UNAVAILABLE, true},
    {EVD_CTL_BROKEN, false, EVD_CTL_UNAVAILABLE, true},    {EVD_CTL_BROKEN, true, EVD_CTL_UNAVAILABLE, false},
    {EVD_CTL_CUT_SHORT, false, EVD_CTL_FAILED, false},     {EVD_CTL_NOT_TRUSTED, false, EVD_CTL_FAILED, false},
    {EVD_CTL_SINK_FAILED, false, EVD_CTL_FAILED, false},   {EVD_CTL_TOO_LONG, false, EVD_CTL_FAILED, false},
    {EVD_CTL_INTERRUPTED, false, EVD_CTL_FAILED, false},   {EVD_CTL_IMPOSSIBLE, false, EVD_CTL_FAILED, false},
};

START_TEST(a_broken_connection_is_tried_again_unless_it_may_have_done_something_for_good) {
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        struct evd_ctl_call call = {.method = "POST", .is_once = troubles[i].is_once};
        struct evd_ctl_answer answer = {.trouble = troubles[i].trouble};
        struct evd_ctl_verdict verdict = evd_ctl_judge(&call, &answer);
        ck_assert_int_eq(verdict.exit, troubles[i].exit);
        ck_assert_int_eq(verdict.may_again, troubles[i].may_again);
    }
}
END_TEST

enum { UNTOLD = -1 };

static const struct {
    long status;
    int retryable; /* as the problem says; UNTOLD: there is no problem document */
    enum evd_ctl_exit exit;
    bool may_again;
} statuses[] = {
    {200, UNTOLD, EVD_CTL_FAILED, false}, /* not JSON */
    {302, UNTOLD, EVD_CTL_FAILED, false},     {400, 0, EVD_CTL_REFUSED, false},
    {401, 0, EVD_CTL_NOT_FOUND, false},       {403, UNTOLD, EVD_CTL_NOT_FOUND, false},
    {404, 0, EVD_CTL_NOT_FOUND, false},       {408, 1, EVD_CTL_UNAVAILABLE, true},
    {408, UNTOLD, EVD_CTL_UNAVAILABLE, true}, {409, 0, EVD_CTL_REFUSED, false},
    {409, 1, EVD_CTL_UNAVAILABLE, true},      {409, UNTOLD, EVD_CTL_REFUSED, false},
    {412, 0, EVD_CTL_REFUSED, false},         {413, 0, EVD_CTL_REFUSED, false},
    {428, 0, EVD_CTL_REFUSED, false},         {429, 1, EVD_CTL_UNAVAILABLE, true},
    {429, UNTOLD, EVD_CTL_UNAVAILABLE, true}, {500, UNTOLD, EVD_CTL_FAILED, false},
    {501, 0, EVD_CTL_FAILED, false},          {502, UNTOLD, EVD_CTL_UNAVAILABLE, true},
    {503, 0, EVD_CTL_UNAVAILABLE, false},     {503, 1, EVD_CTL_UNAVAILABLE, true},
    {503, UNTOLD, EVD_CTL_UNAVAILABLE, true}, {504, UNTOLD, EVD_CTL_UNAVAILABLE, true},
};

START_TEST(every_status_has_one_verdict) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        struct evd_ctl_call call = {.method = "GET"};
        struct evd_ctl_answer answer = {.status = statuses[i].status};
        if (statuses[i].retryable != UNTOLD) answer.json = json_pack("{s:b}", "retryable", statuses[i].retryable);
        struct evd_ctl_verdict verdict = evd_ctl_judge(&call, &answer);
        ck_assert_msg(verdict.exit == statuses[i].exit, "%ld: %d", statuses[i].status, (int)verdict.exit);
        ck_assert_msg(verdict.may_again == statuses[i].may_again, "%ld", statuses[i].status);
        evd_ctl_answer_done(&answer);
    }
}
END_TEST

START_TEST(a_whole_answer_is_an_object_or_went_to_a_sink) {
    const struct evd_ctl_sink sink = {.take = NULL};
    struct evd_ctl_call call = {.method = "GET"}, streamed = {.method = "GET", .sink = &sink};
    struct evd_ctl_answer object = {.status = 202, .json = json_object()};
    struct evd_ctl_answer list = {.status = 200, .json = json_array()}, bytes = {.status = 200};
    ck_assert_int_eq(evd_ctl_judge(&call, &object).exit, EVD_CTL_DONE);
    ck_assert_int_eq(evd_ctl_judge(&call, &list).exit, EVD_CTL_FAILED);
    ck_assert_int_eq(evd_ctl_judge(&call, &bytes).exit, EVD_CTL_FAILED);
    ck_assert_int_eq(evd_ctl_judge(&streamed, &bytes).exit, EVD_CTL_DONE);
    evd_ctl_answer_done(&object);
    evd_ctl_answer_done(&list);
}
END_TEST

EVD_TEST_MAIN("ctl: verdicts", a_broken_connection_is_tried_again_unless_it_may_have_done_something_for_good,
              every_status_has_one_verdict, a_whole_answer_is_an_object_or_went_to_a_sink)
