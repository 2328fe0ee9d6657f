/*
 * Attempts: what makes a command run again, how often, and how long it waits in between.
 */
#include "../../support/behind.h"
#include "../../support/scripted_store.h"

static struct house house;
static struct evd_arena arena;

static void begin(void) {
    evd_arena_init(&arena, 256 * EVD_MIB);
    house_open_scripted(&house, 0);
    house_furnish(&house, 3, 9);
}

static void end(void) {
    scripted_before_commit(house.script, NULL, NULL);
    house_close(&house);
    evd_arena_done(&arena);
}

static struct asked *save_new(unsigned who, unsigned id) {
    char *body = save_body(&house, NULL, 1, 2, "a");
    struct asked *asked = asked_new(&house, &evd_command_save, session_ids(&house), person(who), command_id(id), body);
    free(body);
    return asked;
}

static struct reply save(unsigned who, unsigned id) {
    struct asked *asked = save_new(who, id);
    asked_go(asked);
    return asked_end(asked);
}

/* Randomness of the test's own: each draw is this number. */
static uint64_t drawn;

static void draw(void *self, void *bytes, size_t size_bytes) {
    (void)self;
    ck_assert_uint_eq(size_bytes, sizeof drawn);
    memcpy(bytes, &drawn, size_bytes);
}

static void script_random(uint64_t number) {
    drawn = number;
    house.random.random.fill = draw;
}

/* What happened since `before`. */
static struct scripted_counts before;

static void mark(void) {
    before = scripted_counts(house.script);
}

static unsigned calls_since(enum scripted_call call) {
    return scripted_counts(house.script).calls[call] - before.calls[call];
}

static unsigned landed_since(void) {
    return scripted_counts(house.script).landed - before.landed;
}

START_TEST(a_definite_conflict_runs_the_whole_command_again_on_a_new_snapshot) {
    begin();
    mark();
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 3);
    struct reply reply = save(1, 1);
    ck_assert_int_eq(reply.code, EVD_OK);
    ck_assert_uint_eq(calls_since(SCRIPTED_OPEN), 4);
    ck_assert_uint_eq(calls_since(SCRIPTED_COMMIT), 4);
    ck_assert_uint_eq(landed_since(), 1);
    ck_assert_uint_eq(reply.charged, 3);
    reply_done(&reply);
    end();
}
END_TEST

/* The study as somebody else leaves it between an attempt's reads and its commit. */
struct meddling {
    int64_t versions, folds, maintenance; /* to add */
    unsigned times;
    const char *title;
};

static void meddle(void *self, const struct evd_write *writes, size_t count) {
    struct meddling *meddling = self;
    (void)writes;
    (void)count;
    if (meddling->times == 0) return;
    if (meddling->times != SCRIPTED_FOR_EVER) meddling->times--;
    for (int64_t i = 0; i < meddling->versions; i++) {
        struct evd_study *study = BEHIND_READ(&house, study, house.study, &arena);
        bool first = i == 0;
        study->fold_sequence += first ? meddling->folds : 0;
        study->maintenance_sequence += first ? meddling->maintenance : 0;
        if (meddling->title != NULL) study->title = evd_text_from(meddling->title);
        BEHIND_REPLACE(&house, study, study);
    }
    evd_arena_reset(&arena);
}

START_TEST(a_command_run_again_builds_on_what_overtook_it) {
    struct meddling meddling = {.versions = 1, .times = 1, .title = "Renamed meanwhile"};
    begin();
    scripted_before_commit(house.script, meddle, &meddling);
    struct reply reply = save(1, 1);
    ck_assert_int_eq(reply.code, EVD_OK);
    ck_assert_int_eq(number_of(&reply, "studyVersion"), 3); /* added, renamed, saved */
    struct evd_study *study = BEHIND_READ(&house, study, house.study, &arena);
    ck_assert(evd_text_equal(study->title, EVD_TEXT("Renamed meanwhile")));
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(a_study_that_moved_only_by_maintenance_costs_no_attempt_and_one_that_moved_otherwise_does) {
    static const struct {
        struct meddling meddling;
        unsigned charged, free;
    } table[] = {
        {{.versions = 1, .maintenance = 1, .times = 30}, .charged = 0, .free = 30},
        {{.versions = 1, .folds = 1, .times = 30}, .charged = 0, .free = 30},
        {{.versions = 2, .folds = 1, .maintenance = 1, .times = 3}, .charged = 0, .free = 3},
        {{.versions = 1, .times = 3}, .charged = 3, .free = 0},
        {{.versions = 2, .maintenance = 1, .times = 3}, .charged = 3, .free = 0}, /* and once otherwise */
        {{.versions = 1, .maintenance = 2, .times = 3}, .charged = 3, .free = 0}, /* counts do not add up */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct meddling meddling = table[i].meddling;
        begin();
        scripted_before_commit(house.script, meddle, &meddling);
        struct reply reply = save(1, 1);
        ck_assert_int_eq(reply.code, EVD_OK);
        ck_assert_uint_eq(reply.charged, table[i].charged);
        ck_assert_uint_eq(reply.free, table[i].free);
        reply_done(&reply);
        end();
    }
}
END_TEST

START_TEST(a_conflict_that_left_the_study_as_it_was_is_charged) {
    begin();
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 2);
    struct reply reply = save(1, 1);
    ck_assert_uint_eq(reply.charged, 2);
    ck_assert_uint_eq(reply.free, 0);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(free_attempts_have_an_end_too) {
    struct meddling meddling = {.versions = 1, .maintenance = 1, .times = SCRIPTED_FOR_EVER};
    begin();
    script_random(0);
    scripted_before_commit(house.script, meddle, &meddling);
    mark();
    struct reply reply = save(1, 1);
    ck_assert_int_eq(reply.code, EVD_RETRYABLE_CONFLICT);
    ck_assert_uint_eq(reply.free, EVD_LIMIT_FREE_ATTEMPTS);
    ck_assert_uint_eq(landed_since(), 0);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(attempts_end_at_20_as_RetryableConflict_and_write_nothing) {
    begin();
    mark();
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, SCRIPTED_FOR_EVER);
    struct reply reply = save(1, 1);
    ck_assert_int_eq(reply.code, EVD_RETRYABLE_CONFLICT);
    ck_assert_uint_eq(calls_since(SCRIPTED_COMMIT), 20);
    ck_assert_uint_eq(landed_since(), 0);
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_OK, 0);
    struct reply again = save(1, 1);
    ck_assert_int_eq(again.code, EVD_OK);
    ck_assert(!again.replayed);
    reply_done(&again);
    reply_done(&reply);
    end();
}
END_TEST

/* At 0, 2, 6, 14, 30 and 62 ms; the next, at 126, would be too late. */
START_TEST(attempts_end_before_the_deadline_as_RetryableConflict) {
    begin();
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, SCRIPTED_FOR_EVER);
    struct asked *asked = save_new(1, 1);
    int64_t began_ms = evd_clock_monotonic_ms(house.time);
    asked_call(asked)->deadline_ms = began_ms + 126;
    mark();
    unsigned attempts = 0;
    for (uint64_t bound = 2; attempts < 6; bound *= 2, attempts++) {
        script_random(bound);
        if (attempts == 0) asked_go(asked);
        while (calls_since(SCRIPTED_COMMIT) == attempts) {
            evd_test_clock_advance(&house.clock, 1);
            house_run(&house);
        }
    }
    ck_assert_uint_ne(asked_order(asked), 0);
    ck_assert_int_eq(evd_clock_monotonic_ms(house.time) - began_ms, 62);
    struct reply reply = asked_end(asked);
    ck_assert_int_eq(reply.code, EVD_RETRYABLE_CONFLICT);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(a_call_whose_deadline_is_over_is_not_begun) {
    begin();
    struct asked *asked = save_new(1, 1);
    asked_call(asked)->deadline_ms = evd_clock_monotonic_ms(house.time);
    mark();
    asked_go(asked);
    struct reply reply = asked_end(asked);
    ck_assert_int_eq(reply.code, EVD_RETRYABLE_CONFLICT);
    ck_assert_uint_eq(calls_since(SCRIPTED_OPEN), 0);
    reply_done(&reply);
    end();
}
END_TEST

/* The bound of each wait; what is drawn is taken modulo one more. */
static const unsigned bounds_ms[] = {2,   4,   8,   16,  32,  64,  128, 250, 250, 250,
                                     250, 250, 250, 250, 250, 250, 250, 250, 250};

START_TEST(a_wait_lasts_anything_up_to_a_bound_that_doubles_from_2_to_250_ms) {
    begin();
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, SCRIPTED_FOR_EVER);
    struct asked *asked = save_new(1, 1);
    mark();
    script_random(bounds_ms[0]);
    asked_go(asked);
    for (unsigned i = 0; i < sizeof bounds_ms / sizeof *bounds_ms; i++) {
        ck_assert_uint_eq(calls_since(SCRIPTED_COMMIT), i + 1);
        evd_test_clock_advance(&house.clock, bounds_ms[i] - 1);
        house_run(&house);
        ck_assert_uint_eq(calls_since(SCRIPTED_COMMIT), i + 1);
        script_random(bounds_ms[i + 1 < sizeof bounds_ms / sizeof *bounds_ms ? i + 1 : i]);
        evd_test_clock_advance(&house.clock, 1);
        house_run(&house);
    }
    ck_assert_uint_eq(calls_since(SCRIPTED_COMMIT), EVD_LIMIT_ATTEMPTS);
    struct reply reply = asked_end(asked);
    reply_done(&reply);
    end();
}
END_TEST

/* One more than the bound is none at all: so the bound is this one and no other. */
START_TEST(a_wait_may_be_none_at_all_and_never_longer_than_its_bound) {
    begin();
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, SCRIPTED_FOR_EVER);
    struct asked *asked = save_new(1, 1);
    mark();
    script_random(bounds_ms[0] + 1);
    asked_go(asked);
    for (unsigned i = 1; i < sizeof bounds_ms / sizeof *bounds_ms; i++) {
        ck_assert_uint_eq(calls_since(SCRIPTED_COMMIT), i);
        script_random(bounds_ms[i] + 1);
        evd_runtime_tick(house.runtime);
        ck_assert(evd_runtime_work(house.runtime));
    }
    script_random(0);
    house_run(&house);
    ck_assert_uint_eq(calls_since(SCRIPTED_COMMIT), EVD_LIMIT_ATTEMPTS);
    struct reply reply = asked_end(asked);
    ck_assert_int_eq(reply.code, EVD_RETRYABLE_CONFLICT);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(a_call_that_waits_to_try_again_holds_its_lane_and_no_worker) {
    struct evd_runtime_figures figures;
    begin();
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 1);
    script_random(2);
    struct asked *first = save_new(1, 1), *second = save_new(2, 2);
    asked_go(first);
    evd_runtime_figures(house.runtime, &figures);
    ck_assert_uint_eq(figures.running, 0);
    ck_assert_uint_eq(figures.queued, 0);
    ck_assert_uint_eq(figures.in_flight, 0);
    ck_assert_uint_eq(figures.lanes, 1);
    asked_go(second);
    house_run(&house);
    evd_runtime_figures(house.runtime, &figures);
    ck_assert_uint_eq(figures.parked, 1);
    ck_assert_uint_eq(asked_order(second), 0);
    asked_await(second);
    ck_assert_uint_lt(asked_order(first), asked_order(second));
    struct reply one = asked_end(first), two = asked_end(second);
    ck_assert_int_eq(one.code, EVD_OK);
    ck_assert_int_eq(two.code, EVD_OK);
    reply_done(&one);
    reply_done(&two);
    end();
}
END_TEST

/* Figures are told of every retry. */
static unsigned retries_told;

static void tell_retry(void *self, const struct evd_command *command, bool charged) {
    (void)self;
    (void)charged;
    retries_told += command == &evd_command_save;
}

START_TEST(an_observer_is_told_of_every_retry) {
    begin();
    evd_runtime_close(house.runtime);
    struct evd_runtime_options options = {.store = house.store,
                                          .clock = house.time,
                                          .random = &house.random.random,
                                          .queue = 10,
                                          .observer = {.retried = tell_retry}};
    house.runtime = evd_runtime_open(&options);
    scripted_answer(house.script, SCRIPTED_COMMIT, EVD_STORE_CONFLICT, 3);
    struct reply reply = save(1, 1);
    ck_assert_uint_eq(retries_told, 3);
    reply_done(&reply);
    end();
}
END_TEST

EVD_TEST_MAIN("runtime: attempts", a_definite_conflict_runs_the_whole_command_again_on_a_new_snapshot,
              a_command_run_again_builds_on_what_overtook_it,
              a_study_that_moved_only_by_maintenance_costs_no_attempt_and_one_that_moved_otherwise_does,
              a_conflict_that_left_the_study_as_it_was_is_charged, free_attempts_have_an_end_too,
              attempts_end_at_20_as_RetryableConflict_and_write_nothing,
              attempts_end_before_the_deadline_as_RetryableConflict, a_call_whose_deadline_is_over_is_not_begun,
              a_wait_lasts_anything_up_to_a_bound_that_doubles_from_2_to_250_ms,
              a_wait_may_be_none_at_all_and_never_longer_than_its_bound,
              a_call_that_waits_to_try_again_holds_its_lane_and_no_worker, an_observer_is_told_of_every_retry)
