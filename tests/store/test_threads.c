/*
 * Many threads on one store. Nothing here depends on who comes first: sums, winners and snapshots must be exact
 * whatever the schedule.
 */
#include "suite.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 40, MOST_RERUNS = 1000000 };

struct worker {
    unsigned number;
    struct evd_arena arena;
    unsigned wins, reruns;
};

static pthread_barrier_t barrier;
static atomic_bool stop;

static void run_threads(void *(*body)(void *), struct worker workers[THREADS], unsigned count) {
    pthread_t threads[THREADS];
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, count), 0);
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker){.number = i};
        evd_arena_init(&workers[i].arena, 64 * EVD_MIB);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, body, &workers[i]), 0);
    }
    for (unsigned i = 0; i < count; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        evd_arena_done(&workers[i].arena);
    }
    (void)pthread_barrier_destroy(&barrier);
}

/* Add one to a record's rank, whatever it takes. */
static void add_one(struct worker *worker, struct evd_key key) {
    for (unsigned rerun = 0; rerun < MOST_RERUNS; rerun++) {
        evd_arena_reset(&worker->arena);
        struct evd_txn *txn = begin_in(&worker->arena, EVD_READ_SNAPSHOT);
        struct evd_image seen = get(txn, key);
        struct thing next = {.version = seen.version + 1, .rank = rank_of(&seen) + 1};
        struct evd_write write = replacing(key, seen, image_in(&worker->arena, next));
        enum evd_store_status status = commit(txn, &write, 1);
        if (status == EVD_STORE_OK) return;
        ck_assert_int_eq(status, EVD_STORE_CONFLICT);
        worker->reruns++;
    }
    ck_abort_msg("no progress");
}

static void *hammer(void *self) {
    struct worker *worker = self;
    (void)pthread_barrier_wait(&barrier);
    for (int round = 0; round < ROUNDS; round++)
        add_one(worker, thing_key(1));
    return NULL;
}

START_TEST(threads_that_hammer_one_counter_lose_no_addition) {
    struct worker workers[THREADS];
    suite_open();
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    run_threads(hammer, workers, THREADS);
    struct evd_image now = latest(thing_key(1));
    ck_assert_int_eq(rank_of(&now), 1 + THREADS * ROUNDS);
    ck_assert_int_eq(now.version, 1 + THREADS * ROUNDS);
    struct evd_store_figures figures;
    evd_store_figures(store, &figures);
    unsigned reruns = 0;
    for (int i = 0; i < THREADS; i++)
        reruns += workers[i].reruns;
    ck_assert_uint_eq(figures.conflicts, reruns);
    ck_assert_uint_eq(figures.commits, 1 + THREADS * ROUNDS);
    suite_close();
}
END_TEST

static void *swap_hammer(void *self) {
    struct worker *worker = self;
    (void)pthread_barrier_wait(&barrier);
    for (int done = 0; done < ROUNDS;) {
        evd_arena_reset(&worker->arena);
        struct evd_txn *txn = begin_in(&worker->arena, EVD_READ_LATEST);
        struct evd_image seen = get(txn, thing_key(1));
        evd_txn_close(txn);
        struct thing next = {.version = seen.version + 1, .rank = rank_of(&seen) + 1};
        struct evd_write write = replacing(thing_key(1), seen, image_in(&worker->arena, next));
        struct evd_store_result result = evd_store_swap(store, &write, evd_store_fixture_far());
        ck_assert(result.status == EVD_STORE_OK || result.status == EVD_STORE_CONFLICT);
        done += result.status == EVD_STORE_OK;
    }
    return NULL;
}

START_TEST(swaps_that_hammer_one_counter_lose_no_addition) {
    struct worker workers[THREADS];
    suite_open();
    ck_assert_int_eq(WRITE(inserting(thing_key(1), IMAGE(.rank = 1))), EVD_STORE_OK);
    run_threads(swap_hammer, workers, THREADS);
    struct evd_image now = latest(thing_key(1));
    ck_assert_int_eq(rank_of(&now), 1 + THREADS * ROUNDS);
    suite_close();
}
END_TEST

static void *race_to_insert(void *self) {
    struct worker *worker = self;
    for (unsigned round = 0; round < ROUNDS; round++) {
        evd_arena_reset(&worker->arena);
        struct evd_txn *txn = begin_in(&worker->arena, EVD_READ_SNAPSHOT);
        struct thing thing = {.rank = worker->number + 1};
        struct evd_write write = inserting(key_in(LEDGER, 1, round), image_in(&worker->arena, thing));
        (void)pthread_barrier_wait(&barrier); /* every snapshot is older than every insert of this round */
        enum evd_store_status status = commit(txn, &write, 1);
        ck_assert(status == EVD_STORE_OK || status == EVD_STORE_CONFLICT);
        worker->wins += status == EVD_STORE_OK;
        (void)pthread_barrier_wait(&barrier);
    }
    return NULL;
}

START_TEST(of_racing_inserts_of_one_key_exactly_one_wins) {
    struct worker workers[THREADS];
    unsigned wins = 0, wins_read[THREADS] = {0};
    suite_open();
    run_threads(race_to_insert, workers, THREADS);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct evd_image image = latest(key_in(LEDGER, 1, round));
        wins_read[rank_of(&image) - 1]++;
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_uint_eq(workers[i].wins, wins_read[i]);
        wins += workers[i].wins;
    }
    ck_assert_uint_eq(wins, ROUNDS);
    suite_close();
}
END_TEST

static void *race_to_swap_in(void *self) {
    struct worker *worker = self;
    for (unsigned round = 0; round < ROUNDS; round++) {
        evd_arena_reset(&worker->arena);
        struct thing thing = {.rank = worker->number + 1};
        struct evd_write write = inserting(key_in(LEDGER, 1, round), image_in(&worker->arena, thing));
        (void)pthread_barrier_wait(&barrier);
        struct evd_store_result result = evd_store_swap(store, &write, evd_store_fixture_far());
        ck_assert(result.status == EVD_STORE_OK || result.status == EVD_STORE_DUPLICATE);
        worker->wins += result.status == EVD_STORE_OK;
    }
    return NULL;
}

START_TEST(of_racing_swaps_that_insert_one_wins_and_the_others_are_duplicates) {
    struct worker workers[THREADS];
    unsigned wins = 0;
    suite_open();
    run_threads(race_to_swap_in, workers, THREADS);
    for (int i = 0; i < THREADS; i++)
        wins += workers[i].wins;
    ck_assert_uint_eq(wins, ROUNDS);
    suite_close();
}
END_TEST

/* Worker 0 moves one unit from one account to the other; the others check the sum in snapshots. */
enum { SUM = 2000 };

static void *move_or_watch(void *self) {
    struct worker *worker = self;
    (void)pthread_barrier_wait(&barrier);
    for (int round = 0; worker->number == 0 ? round < 10 * ROUNDS : !atomic_load(&stop); round++) {
        evd_arena_reset(&worker->arena);
        struct evd_txn *txn = begin_in(&worker->arena, EVD_READ_SNAPSHOT);
        struct evd_image one = get(txn, thing_key(1)), other = get(txn, thing_key(2));
        ck_assert_int_eq(rank_of(&one) + rank_of(&other), SUM);
        if (worker->number > 0) {
            evd_txn_close(txn);
            continue;
        }
        struct thing less = {.version = one.version + 1, .rank = rank_of(&one) - 1};
        struct thing more = {.version = other.version + 1, .rank = rank_of(&other) + 1};
        struct evd_write writes[] = {replacing(thing_key(1), one, image_in(&worker->arena, less)),
                                     replacing(thing_key(2), other, image_in(&worker->arena, more))};
        ck_assert_int_eq(commit(txn, writes, 2), EVD_STORE_OK);
    }
    if (worker->number == 0) atomic_store(&stop, true);
    return NULL;
}

START_TEST(no_snapshot_sees_half_a_commit) {
    struct worker workers[THREADS];
    suite_open();
    ck_assert_int_eq(
        WRITE(inserting(thing_key(1), IMAGE(.rank = SUM - 500)), inserting(thing_key(2), IMAGE(.rank = 500))),
        EVD_STORE_OK);
    run_threads(move_or_watch, workers, 4);
    suite_close();
}
END_TEST

/* A document and its index entry are one: in any snapshot a scan finds each document once, with the value it has. */
static void *rerank_or_scan(void *self) {
    enum { RECORDS = 10 };
    struct worker *worker = self;
    struct evd_key keys[RECORDS + 1];
    struct evd_image images[RECORDS + 1];
    const struct evd_range range = {.index = &indexes[BY_RANK], .project = thing_key(0).project, .limit = RECORDS + 1};
    (void)pthread_barrier_wait(&barrier);
    for (unsigned round = 0; worker->number == 0 ? round < 10 * ROUNDS : !atomic_load(&stop); round++) {
        size_t count = 0;
        evd_arena_reset(&worker->arena);
        struct evd_txn *txn = begin_in(&worker->arena, EVD_READ_SNAPSHOT);
        ck_assert_int_eq(evd_txn_scan(txn, &range, keys, images, &count).status, EVD_STORE_OK);
        ck_assert_uint_eq(count, RECORDS);
        for (size_t i = 1; i < count; i++)
            ck_assert_int_lt(rank_of(&images[i - 1]), rank_of(&images[i]));
        if (worker->number > 0) {
            evd_txn_close(txn);
            continue;
        }
        struct thing thing = {.version = images[round % RECORDS].version + 1, .rank = 1000 + round};
        struct evd_write write =
            replacing(keys[round % RECORDS], images[round % RECORDS], image_in(&worker->arena, thing));
        ck_assert_int_eq(commit(txn, &write, 1), EVD_STORE_OK);
    }
    if (worker->number == 0) atomic_store(&stop, true);
    return NULL;
}

START_TEST(no_snapshot_sees_a_document_without_its_entry) {
    struct worker workers[THREADS];
    suite_open();
    for (unsigned i = 1; i <= 10; i++)
        ck_assert_int_eq(WRITE(inserting(thing_key(i), IMAGE(.rank = i))), EVD_STORE_OK);
    run_threads(rerank_or_scan, workers, 4);
    suite_close();
}
END_TEST

static void *write_own(void *self) {
    struct worker *worker = self;
    (void)pthread_barrier_wait(&barrier);
    for (unsigned round = 0; round < ROUNDS; round++) {
        evd_arena_reset(&worker->arena);
        struct evd_txn *txn = begin_in(&worker->arena, EVD_READ_SNAPSHOT);
        struct thing thing = {.rank = round + 1, .pad_bytes = 3000};
        struct evd_write write = inserting(thing_key(worker->number * 1000 + round), image_in(&worker->arena, thing));
        ck_assert_int_eq(commit(txn, &write, 1), EVD_STORE_OK);
    }
    return NULL;
}

START_TEST(threads_on_different_records_never_conflict_and_nothing_is_lost) {
    struct worker workers[THREADS];
    struct evd_store_figures figures;
    suite_open();
    run_threads(write_own, workers, THREADS);
    evd_store_figures(store, &figures);
    ck_assert_uint_eq(figures.conflicts, 0);
    ck_assert_uint_eq(figures.commits, THREADS * ROUNDS);
    store = evd_store_fixture_reopen(store, &catalogue);
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct evd_image now = latest(thing_key(i * 1000 + round));
            ck_assert_int_eq(rank_of(&now), round + 1);
        }
    suite_close();
}
END_TEST

EVD_TEST_MAIN("store: threads", threads_that_hammer_one_counter_lose_no_addition,
              swaps_that_hammer_one_counter_lose_no_addition, of_racing_inserts_of_one_key_exactly_one_wins,
              of_racing_swaps_that_insert_one_wins_and_the_others_are_duplicates, no_snapshot_sees_half_a_commit,
              no_snapshot_sees_a_document_without_its_entry,
              threads_on_different_records_never_conflict_and_nothing_is_lost)
