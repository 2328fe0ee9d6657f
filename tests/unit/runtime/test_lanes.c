/*
 * Lanes by themselves: who is head, who is next, who is taken out.
 */
#include "../../support/test.h"

#include "evidenced/base/limits.h"
#include "runtime/lanes.h"

enum { SOON = 1000, LATE = 9000 };

static struct evd_lanes *lanes;
static struct evd_call calls[EVD_LIMIT_LANE_CALLS + 1];
static const evd_uuid study = {{1, 2}}, other_study = {{3, 4}};

static void begin(void) {
    lanes = evd_lanes_new();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        calls[i] = (struct evd_call){.ids.project.bytes = {9}, .deadline_ms = LATE};
}

static void enter(size_t call, enum evd_lane_entry expected) {
    ck_assert_int_eq(evd_lanes_enter(lanes, &calls[call], study), expected);
}

static void check_figures(size_t lane_count, size_t parked) {
    size_t lane_figure = 0, parked_figure = 0;
    evd_lanes_figures(lanes, &lane_figure, &parked_figure);
    ck_assert_uint_eq(lane_figure, lane_count);
    ck_assert_uint_eq(parked_figure, parked);
}

/* Head after head leaves, in this order, and nobody is left. */
static void leave_in_order(const size_t *order, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct evd_call *next = evd_lanes_leave(lanes, &calls[order[i]], study);
        ck_assert_ptr_eq(next, i + 1 < count ? &calls[order[i + 1]] : NULL);
    }
    check_figures(0, 0);
    evd_lanes_free(lanes);
}

START_TEST(the_first_call_is_head_and_those_behind_it_are_parked) {
    begin();
    enter(0, EVD_LANE_HEAD);
    enter(1, EVD_LANE_PARKED);
    enter(2, EVD_LANE_PARKED);
    check_figures(1, 2);
    leave_in_order((const size_t[]){0, 1, 2}, 3);
}
END_TEST

START_TEST(a_lane_takes_64_calls_and_turns_the_next_away) {
    begin();
    ck_assert_uint_eq(EVD_LIMIT_LANE_CALLS, 64);
    for (size_t i = 0; i < EVD_LIMIT_LANE_CALLS; i++)
        enter(i, i == 0 ? EVD_LANE_HEAD : EVD_LANE_PARKED);
    enter(EVD_LIMIT_LANE_CALLS, EVD_LANE_FULL);
    ck_assert_ptr_eq(evd_lanes_leave(lanes, &calls[0], study), &calls[1]);
    enter(EVD_LIMIT_LANE_CALLS, EVD_LANE_PARKED);
    for (size_t i = 1; i <= EVD_LIMIT_LANE_CALLS; i++)
        ck_assert_ptr_eq(evd_lanes_leave(lanes, &calls[i], study), i < EVD_LIMIT_LANE_CALLS ? &calls[i + 1] : NULL);
    check_figures(0, 0);
    evd_lanes_free(lanes);
}
END_TEST

START_TEST(another_study_and_another_projects_study_are_other_lanes) {
    begin();
    calls[2].ids.project.bytes[0] = 8;
    enter(0, EVD_LANE_HEAD);
    ck_assert_int_eq(evd_lanes_enter(lanes, &calls[1], other_study), EVD_LANE_HEAD);
    enter(2, EVD_LANE_HEAD);
    check_figures(3, 0);
    ck_assert_ptr_null(evd_lanes_leave(lanes, &calls[1], other_study));
    ck_assert_ptr_null(evd_lanes_leave(lanes, &calls[2], study));
    leave_in_order((const size_t[]){0}, 1);
}
END_TEST

/* Ids that fall into one bucket, so that lanes are found behind each other in it. */
START_TEST(lanes_that_share_a_bucket_do_not_meet) {
    begin();
    evd_uuid twin = study;
    twin.bytes[5] = 77;
    enter(0, EVD_LANE_HEAD);
    ck_assert_int_eq(evd_lanes_enter(lanes, &calls[1], twin), EVD_LANE_HEAD);
    enter(2, EVD_LANE_PARKED);
    ck_assert_int_eq(evd_lanes_enter(lanes, &calls[3], twin), EVD_LANE_PARKED);
    check_figures(2, 2);
    ck_assert_ptr_eq(evd_lanes_leave(lanes, &calls[1], twin), &calls[3]);
    ck_assert_ptr_null(evd_lanes_leave(lanes, &calls[3], twin));
    leave_in_order((const size_t[]){0, 2}, 2);
}
END_TEST

static size_t count_of(const struct evd_call *expired) {
    size_t count = 0;
    for (; expired != NULL; expired = expired->next_waiting)
        count++;
    return count;
}

START_TEST(expired_calls_are_taken_out_and_the_others_keep_their_order) {
    begin();
    for (size_t i = 0; i < 6; i++)
        enter(i, i == 0 ? EVD_LANE_HEAD : EVD_LANE_PARKED);
    calls[1].deadline_ms = calls[3].deadline_ms = calls[5].deadline_ms = SOON;
    ck_assert_ptr_null(evd_lanes_expire(lanes, SOON - 1));
    ck_assert_uint_eq(count_of(evd_lanes_expire(lanes, SOON)), 3);
    check_figures(1, 2);
    enter(6, EVD_LANE_PARKED); /* behind the new tail */
    leave_in_order((const size_t[]){0, 2, 4, 6}, 4);
}
END_TEST

START_TEST(a_head_is_never_taken_out) {
    begin();
    calls[0].deadline_ms = calls[1].deadline_ms = SOON;
    enter(0, EVD_LANE_HEAD);
    enter(1, EVD_LANE_PARKED);
    ck_assert_ptr_eq(evd_lanes_leave(lanes, &calls[0], study), &calls[1]); /* it is to run: nobody else ends it */
    ck_assert_ptr_null(evd_lanes_expire(lanes, LATE));
    leave_in_order((const size_t[]){1}, 1);
}
END_TEST

START_TEST(an_expired_call_makes_room_for_another) {
    begin();
    for (size_t i = 0; i < EVD_LIMIT_LANE_CALLS; i++)
        enter(i, i == 0 ? EVD_LANE_HEAD : EVD_LANE_PARKED);
    calls[EVD_LIMIT_LANE_CALLS - 1].deadline_ms = SOON; /* the tail */
    ck_assert_ptr_eq(evd_lanes_expire(lanes, SOON), &calls[EVD_LIMIT_LANE_CALLS - 1]);
    enter(EVD_LIMIT_LANE_CALLS, EVD_LANE_PARKED);
    for (size_t i = 0; i < EVD_LIMIT_LANE_CALLS - 1; i++)
        (void)evd_lanes_leave(lanes, &calls[i], study);
    leave_in_order((const size_t[]){EVD_LIMIT_LANE_CALLS}, 1);
}
END_TEST

EVD_TEST_MAIN("runtime: lanes", the_first_call_is_head_and_those_behind_it_are_parked,
              a_lane_takes_64_calls_and_turns_the_next_away, another_study_and_another_projects_study_are_other_lanes,
              lanes_that_share_a_bucket_do_not_meet, expired_calls_are_taken_out_and_the_others_keep_their_order,
              a_head_is_never_taken_out, an_expired_call_makes_room_for_another)
