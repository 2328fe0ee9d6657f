#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SAMPLES = 4096 };

static const double warm_up_seconds = 0.3;

void bench_sample(struct bench_samples *samples, int64_t ns) {
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity == 0 ? FIRST_SAMPLES : samples->capacity * 2;
        samples->ns = realloc(samples->ns, samples->capacity * sizeof *samples->ns);
        if (samples->ns == NULL) bench_fail("out of memory");
    }
    samples->ns[samples->count++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static int by_value(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The smallest sample that at least this share of all do not exceed, in µs. */
static double percentile_us(const struct bench_samples *sorted, double share) {
    if (sorted->count == 0) return NAN;
    size_t rank = (size_t)ceil(share * (double)sorted->count);
    return (double)sorted->ns[rank == 0 ? 0 : rank - 1] / 1000;
}

void bench_round_make(struct bench_samples *samples, size_t clients, double seconds, struct bench_round *ret_round) {
    struct bench_samples all = {.ns = NULL};
    struct bench_round round = {.rate = 0};
    for (size_t i = 0; i < clients; i++)
        all.capacity += samples[i].count;
    all.ns = bench_alloc((all.capacity + 1) * sizeof *all.ns);
    for (size_t i = 0; i < clients; i++) {
        if (samples[i].count > 0) memcpy(all.ns + all.count, samples[i].ns, samples[i].count * sizeof *all.ns);
        all.count += samples[i].count;
        round.exhausted += samples[i].exhausted;
        round.refused += samples[i].refused;
        samples[i].count = samples[i].exhausted = samples[i].refused = 0;
    }
    qsort(all.ns, all.count, sizeof *all.ns, by_value);
    round.answers = (double)all.count;
    round.rate = round.answers / seconds;
    round.p50_us = percentile_us(&all, 0.50);
    round.p95_us = percentile_us(&all, 0.95);
    round.p99_us = percentile_us(&all, 0.99);
    round.slowest_us = percentile_us(&all, 1);
    free(all.ns);
    *ret_round = round;
}

static int by_size(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *numbers, unsigned count) {
    qsort(numbers, count, sizeof *numbers, by_size);
    return count % 2 == 1 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

static double median_of(const struct bench_round *rounds, unsigned count, double (*pick)(const struct bench_round *)) {
    double numbers[BENCH_MOST_ROUNDS];
    for (unsigned i = 0; i < count; i++)
        numbers[i] = pick(&rounds[i]);
    return median(numbers, count);
}

static double median_ratio(const struct bench_round *rounds, const struct bench_round *floors, unsigned count,
                           double (*pick)(const struct bench_round *)) {
    double numbers[BENCH_MOST_ROUNDS];
    for (unsigned i = 0; i < count; i++)
        numbers[i] = pick(&rounds[i]) / pick(&floors[i]);
    return median(numbers, count);
}

static double rate_of(const struct bench_round *round) {
    return round->rate;
}

static double p50_of(const struct bench_round *round) {
    return round->p50_us;
}

static double p95_of(const struct bench_round *round) {
    return round->p95_us;
}

static double p99_of(const struct bench_round *round) {
    return round->p99_us;
}

static double cpu_of(const struct bench_round *round) {
    return round->cpu_us;
}

static struct bench_result result_of(const struct bench_round *rounds, const struct bench_round *floors,
                                     unsigned count) {
    struct bench_result result = {.ratio = median_ratio(rounds, floors, count, rate_of),
                                  .p99_ratio = median_ratio(rounds, floors, count, p99_of)};
    result.round.rate = median_of(rounds, count, rate_of);
    result.round.cpu_us = median_of(rounds, count, cpu_of);
    result.round.p50_us = median_of(rounds, count, p50_of);
    result.round.p95_us = median_of(rounds, count, p95_of);
    result.round.p99_us = median_of(rounds, count, p99_of);
    for (unsigned i = 0; i < count; i++) {
        if (rounds[i].slowest_us > result.round.slowest_us) result.round.slowest_us = rounds[i].slowest_us;
        result.round.exhausted += rounds[i].exhausted;
        result.round.refused += rounds[i].refused;
    }
    return result;
}

static double processor_us(clockid_t clock) {
    struct timespec used;
    if (clock_gettime(clock, &used) != 0) bench_fail("the processor time cannot be read");
    return (double)used.tv_sec * 1e6 + (double)used.tv_nsec / 1e3;
}

static void run(const struct bench_side *side, double seconds, struct bench_round *ret_round) {
    double before_us = processor_us(side->processor);
    side->run(side->self, seconds, ret_round);
    ret_round->cpu_us = (processor_us(side->processor) - before_us) / ret_round->answers;
}

void bench_compare(const struct bench_side *sides, size_t count, unsigned rounds, double seconds,
                   struct bench_result ret_results[BENCH_SIDES]) {
    struct bench_round seen[BENCH_SIDES][BENCH_MOST_ROUNDS];
    for (size_t side = 0; side < count; side++)
        run(&sides[side], warm_up_seconds, &seen[side][0]);
    for (unsigned i = 0; i < rounds; i++)
        for (size_t turn = 0; turn < count; turn++) {
            size_t side = i % 2 == 0 ? turn : count - 1 - turn;
            run(&sides[side], seconds, &seen[side][i]);
        }
    for (size_t side = 0; side < count; side++)
        ret_results[side] = result_of(seen[side], seen[BENCH_FLOOR], rounds);
}
