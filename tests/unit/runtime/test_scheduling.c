/*
 * Scheduling: a hot study costs the others nothing, a lane keeps its order, a revocation waits for what it must.
 */
#include "../../support/house.h"
#include "../../support/scripted_store.h"

#include <sched.h>

enum { PARKED = 30, REVIEWERS = 9 };

static struct house house;

static void begin(unsigned workers) {
    house_open_scripted(&house, workers);
    house_furnish(&house, 3, 9);
}

static struct asked *save_of(evd_uuid study, unsigned who, unsigned id) {
    char *body = save_body(&house, NULL, 1, 2, "a");
    struct evd_ids ids = session_ids(&house);
    ids.study = study;
    struct asked *asked = asked_new(&house, &evd_command_save, ids, person(who), command_id(id), body);
    free(body);
    return asked;
}

static struct asked *go(struct asked *asked) {
    asked_go(asked);
    return asked;
}

static struct evd_runtime_figures figures(void) {
    struct evd_runtime_figures figures;
    evd_runtime_figures(house.runtime, &figures);
    return figures;
}

/* Ends well or not, but with this outcome. */
static void end_with(struct asked *asked, enum evd_outcome_code code) {
    struct reply reply = asked_end(asked);
    ck_assert_int_eq(reply.code, code);
    reply_done(&reply);
}

/* Until all that can run has run: this many calls are parked and this many workers are held. */
static struct evd_runtime_figures await_rest(size_t parked, size_t running) {
    struct evd_runtime_figures now = figures();
    while (now.parked < parked || now.running > running || now.queued > 0) {
        (void)sched_yield();
        now = figures();
    }
    return now;
}

static void hot_study(unsigned workers) {
    struct asked *hot[PARKED + 1];
    begin(workers);
    scripted_block(house.script, house.study);
    unsigned commits = scripted_counts(house.script).calls[SCRIPTED_COMMIT];
    hot[0] = go(save_of(house.study, 1, 1));
    scripted_await_blocked(house.script, 1);
    for (unsigned i = 1; i <= PARKED; i++)
        hot[i] = go(save_of(house.study, 1 + i % REVIEWERS, 1 + i));
    for (unsigned i = 0; i < REVIEWERS; i++)
        end_with(go(save_of(house.other_study, 1 + i, 100 + i)), EVD_OK);
    struct evd_runtime_figures rest = await_rest(PARKED, 1);
    ck_assert_uint_eq(rest.running, 1);
    ck_assert_uint_eq(rest.parked, PARKED);
    ck_assert_uint_eq(rest.lanes, 1);
    ck_assert_uint_eq(rest.in_flight, 1); /* of the hot study's calls none but the head has begun */
    ck_assert_uint_eq(scripted_counts(house.script).calls[SCRIPTED_COMMIT] - commits, REVIEWERS);
    for (unsigned i = 0; i <= PARKED; i++)
        ck_assert_uint_eq(asked_order(hot[i]), 0);
    scripted_release(house.script, house.study);
    for (unsigned i = 0; i <= PARKED; i++) {
        struct reply reply = asked_end(hot[i]);
        ck_assert(reply.code == EVD_OK || reply.code == EVD_STALE_BASE);
        reply_done(&reply);
    }
    house_close(&house);
}

START_TEST(with_a_hot_studys_head_blocked_calls_on_other_studies_finish_and_one_worker_is_held) {
    for (unsigned workers = 2; workers <= 4; workers++)
        hot_study(workers);
}
END_TEST

/* One worker and a head that waits to try again: the lane is held without it, and the others go on. */
START_TEST(while_a_head_waits_to_try_again_the_only_worker_serves_other_studies) {
    begin(1);
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 1);
    struct asked *hot = go(save_of(house.study, 1, 1));
    for (unsigned i = 0; i < REVIEWERS; i++)
        end_with(go(save_of(house.other_study, 1 + i, 100 + i)), EVD_OK);
    end_with(hot, EVD_OK);
    house_close(&house);
}
END_TEST

START_TEST(a_lane_serves_its_calls_in_the_order_they_came) {
    struct asked *asked[REVIEWERS];
    begin(0);
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 1); /* so that the first holds the lane */
    for (unsigned i = 0; i < REVIEWERS; i++)
        asked[i] = go(save_of(house.study, REVIEWERS - i, 1 + i));
    ck_assert_uint_eq(figures().parked, REVIEWERS - 1);
    unsigned last = 0;
    for (unsigned i = 0; i < REVIEWERS; i++) {
        asked_await(asked[i]);
        ck_assert_uint_gt(asked_order(asked[i]), last);
        last = asked_order(asked[i]);
    }
    for (unsigned i = 0; i < REVIEWERS; i++)
        end_with(asked[i], EVD_OK);
    house_close(&house);
}
END_TEST

START_TEST(a_lane_takes_64_calls_and_answers_the_next_busy) {
    struct asked *asked[EVD_LIMIT_LANE_CALLS];
    begin(0);
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 1);
    for (unsigned i = 0; i < EVD_LIMIT_LANE_CALLS; i++)
        asked[i] = go(save_of(house.study, 1 + i % REVIEWERS, 1 + i));
    end_with(go(save_of(house.study, 1, 200)), EVD_BUSY);
    end_with(go(save_of(house.other_study, 1, 201)), EVD_OK);
    for (unsigned i = 0; i < EVD_LIMIT_LANE_CALLS; i++) {
        struct reply reply = asked_end(asked[i]);
        ck_assert(reply.code == EVD_OK || reply.code == EVD_STALE_BASE);
        reply_done(&reply);
    }
    ck_assert_uint_eq(figures().lanes, 0);
    end_with(go(save_of(house.study, 1, 1)), EVD_OK); /* there is room again: a replay */
    house_close(&house);
}
END_TEST

START_TEST(a_call_that_expires_in_its_lane_is_a_retryable_conflict_and_the_calls_behind_it_still_run) {
    begin(0);
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 5);
    struct asked *head = go(save_of(house.study, 1, 1));
    struct asked *hasty = save_of(house.study, 2, 2), *patient = save_of(house.study, 3, 3);
    asked_call(hasty)->deadline_ms = evd_clock_monotonic_ms(house.time) + 1;
    (void)go(hasty);
    (void)go(patient);
    ck_assert_uint_eq(figures().parked, 2);
    evd_runtime_tick(house.runtime);
    ck_assert_uint_eq(asked_order(hasty), 0);
    evd_test_clock_advance(&house.clock, 1);
    evd_runtime_tick(house.runtime); /* nobody works: the tick alone ends it */
    ck_assert_uint_ne(asked_order(hasty), 0);
    ck_assert_uint_eq(figures().parked, 1);
    unsigned opened = scripted_counts(house.script).calls[SCRIPTED_OPEN];
    end_with(hasty, EVD_RETRYABLE_CONFLICT);
    ck_assert_uint_eq(scripted_counts(house.script).calls[SCRIPTED_OPEN], opened); /* it was never begun */
    end_with(head, EVD_OK);
    end_with(patient, EVD_OK);
    end_with(go(save_of(house.study, 2, 2)), EVD_OK); /* and may be tried again */
    house_close(&house);
}
END_TEST

START_TEST(a_call_that_expires_between_its_lane_and_a_worker_is_a_retryable_conflict_and_the_lane_goes_on) {
    begin(0);
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 1);
    struct asked *head = go(save_of(house.study, 1, 1)), *late = save_of(house.study, 2, 2);
    asked_call(late)->deadline_ms = evd_clock_monotonic_ms(house.time) + 5;
    (void)go(late);
    struct asked *patient = go(save_of(house.study, 3, 3));
    evd_test_clock_advance(&house.clock, 3);
    evd_runtime_tick(house.runtime);
    ck_assert(evd_runtime_work(house.runtime)); /* the head's second attempt; the late one is posted */
    ck_assert_uint_ne(asked_order(head), 0);
    ck_assert_uint_eq(asked_order(late), 0);
    ck_assert_uint_eq(figures().parked, 1);
    evd_test_clock_advance(&house.clock, 10);
    house_run(&house);
    end_with(late, EVD_RETRYABLE_CONFLICT);
    end_with(head, EVD_OK);
    end_with(patient, EVD_OK);
    ck_assert_uint_eq(figures().lanes, 0);
    house_close(&house);
}
END_TEST

static unsigned tasks_run;

static void count_task(struct evd_task *task) {
    (void)task;
    tasks_run++;
}

START_TEST(a_full_queue_turns_tasks_away_but_no_call_that_was_admitted) {
    struct evd_task filler = {.run = count_task}, turned_away = {.run = count_task};
    begin(0);
    evd_runtime_close(house.runtime);
    struct evd_runtime_options options = {
        .store = house.store, .clock = house.time, .random = &house.random.random, .queue = 1};
    house.runtime = evd_runtime_open(&options);
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 1);
    struct asked *head = go(save_of(house.study, 1, 1)), *next = go(save_of(house.study, 2, 2));
    ck_assert(evd_runtime_post(house.runtime, &filler));
    ck_assert(!evd_runtime_post(house.runtime, &turned_away));
    evd_test_clock_advance(&house.clock, 3);
    evd_runtime_tick(house.runtime);
    ck_assert_uint_eq(figures().queued, 2); /* the head's second attempt too */
    end_with(head, EVD_OK);
    end_with(next, EVD_OK);
    ck_assert_uint_eq(tasks_run, 1);
    house_close(&house);
}
END_TEST

/* Revocation. */

static struct asked *revoke(unsigned whom, unsigned id) {
    char body[200], text[EVD_UUID_TEXT_BYTES + 1];
    struct evd_ids ids = {.project = house.project};
    evd_uuid_format(person(whom), text);
    (void)snprintf(body, sizeof body, "{\"investigatorId\":\"%s\",\"roles\":[]}", text);
    return asked_new(&house, &evd_command_set_member, ids, house.admin, command_id(id), body);
}

/* Of two workers one is held by a Save on the study; the other serves, in order, what is asked next. */
static struct asked *hold_a_worker(void) {
    scripted_block(house.script, house.study);
    struct asked *save = go(save_of(house.study, 1, 1));
    scripted_await_blocked(house.script, 1);
    return save;
}

/* When this is answered, the free worker has done all it can with what was asked before. */
static void pass_the_free_worker(void) {
    end_with(go(asked_new(&house, &evd_command_get_project, session_ids(&house), house.admin, command_id(0), NULL)),
             EVD_OK);
}

START_TEST(a_revocation_is_answered_only_after_the_attempts_before_it_have_ended) {
    begin(2);
    struct asked *save = hold_a_worker();
    struct asked *revocation = go(revoke(1, 2));
    pass_the_free_worker();
    ck_assert_uint_eq(asked_order(revocation), 0);
    end_with(go(save_of(house.other_study, 1, 3)), EVD_NOT_FOUND); /* though it holds already */
    scripted_release(house.script, house.study);
    end_with(revocation, EVD_OK);
    end_with(save, EVD_OK);
    house_close(&house);
}
END_TEST

START_TEST(attempts_begun_after_a_revocation_do_not_matter) {
    begin(2);
    struct asked *save = hold_a_worker();
    struct asked *revocation = go(revoke(1, 2));
    pass_the_free_worker();
    scripted_block(house.script, house.other_study);
    struct asked *later = go(save_of(house.other_study, 2, 3));
    scripted_await_blocked(house.script, 2);
    scripted_release(house.script, house.study);
    end_with(revocation, EVD_OK);
    ck_assert_uint_eq(asked_order(later), 0);
    scripted_release(house.script, house.other_study);
    end_with(later, EVD_OK);
    end_with(save, EVD_OK);
    house_close(&house);
}
END_TEST

START_TEST(attempts_of_another_project_do_not_hold_a_revocation_up) {
    static const struct evd_ids none;
    begin(2);
    struct asked *save = hold_a_worker();
    struct reply made =
        ask_ok(&house, &evd_command_create_project, none, house.admin, command_id(50), "{\"name\":\"Another\"}");
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&made, "id")), &house.project));
    end_with(go(revoke(1, 2)), EVD_OK);
    ck_assert_uint_eq(asked_order(save), 0);
    scripted_release(house.script, house.study);
    end_with(save, EVD_OK);
    reply_done(&made);
    house_close(&house);
}
END_TEST

START_TEST(a_refused_revocation_waits_for_nobody) {
    begin(2);
    struct asked *save = hold_a_worker();
    end_with(go(revoke(0, 2)), EVD_VALIDATION_FAILED); /* the last administrator */
    scripted_release(house.script, house.study);
    end_with(save, EVD_OK);
    house_close(&house);
}
END_TEST

START_TEST(a_replayed_revocation_waits_like_the_first) {
    begin(2);
    end_with(go(revoke(9, 2)), EVD_OK);
    struct asked *save = hold_a_worker();
    struct asked *again = go(revoke(9, 2));
    pass_the_free_worker();
    ck_assert_uint_eq(asked_order(again), 0);
    scripted_release(house.script, house.study);
    struct reply reply = asked_end(again);
    ck_assert_int_eq(reply.code, EVD_OK);
    ck_assert(reply.replayed);
    reply_done(&reply);
    end_with(save, EVD_OK);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("runtime: scheduling",
              with_a_hot_studys_head_blocked_calls_on_other_studies_finish_and_one_worker_is_held,
              while_a_head_waits_to_try_again_the_only_worker_serves_other_studies,
              a_lane_serves_its_calls_in_the_order_they_came, a_lane_takes_64_calls_and_answers_the_next_busy,
              a_call_that_expires_in_its_lane_is_a_retryable_conflict_and_the_calls_behind_it_still_run,
              a_call_that_expires_between_its_lane_and_a_worker_is_a_retryable_conflict_and_the_lane_goes_on,
              a_full_queue_turns_tasks_away_but_no_call_that_was_admitted,
              a_revocation_is_answered_only_after_the_attempts_before_it_have_ended,
              attempts_begun_after_a_revocation_do_not_matter, attempts_of_another_project_do_not_hold_a_revocation_up,
              a_refused_revocation_waits_for_nobody, a_replayed_revocation_waits_like_the_first)
