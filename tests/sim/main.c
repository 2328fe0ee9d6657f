/*
 * sim [--seed N] [--schedules N] [--steps N] [--jobs N] [--verbose] [--twice] [--canary NAME] [--canaries]
 *
 * Runs that many seeds, from N on, in so many processes. A failing one is told with the command that runs it again,
 * after the fewest steps at which it still fails. --twice runs each seed again and compares all that was stored and
 * answered. --canary runs them with a deliberate bug, without the conformance check; --canaries runs every canary until
 * it is caught.
 */
#include "sim.h"

#include "evidenced/base/canary.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sim sim;

struct wish {
    uint64_t seed;
    unsigned schedules, steps, jobs;
    bool verbose, twice, canaries;
    enum evd_canary canary;
};

static unsigned long number(const char *text) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0') {
        (void)fprintf(stderr, "sim: %s is no number\n", text);
        exit(2);
    }
    return value;
}

static enum evd_canary canary(const char *name) {
    for (int each = 0; each < EVD_CANARY_COUNT; each++)
        if (strcmp(evd_canary_name((enum evd_canary)each), name) == 0) return (enum evd_canary)each;
    (void)fprintf(stderr, "sim: %s is no canary\n", name);
    exit(2);
}

static bool run(const struct wish *wish, uint64_t seed, unsigned steps) {
    return sim_run(&sim, seed, steps, wish->verbose, wish->canary == EVD_CANARY_COUNT);
}

/* The fewest steps at which the seed still fails: a fault that shows after them is there before. */
static unsigned shrink(const struct wish *wish, uint64_t seed, unsigned steps) {
    unsigned least = 1, most = steps;
    while (least < most) {
        unsigned middle = least + (most - least) / 2;
        if (run(wish, seed, middle))
            least = middle + 1;
        else
            most = middle;
    }
    return most;
}

static void tell(const struct wish *wish, uint64_t seed) {
    struct wish quietly = *wish;
    unsigned failed_at = sim.step < wish->steps ? sim.step : wish->steps;
    char failure[sizeof sim.failure];
    (void)snprintf(failure, sizeof failure, "%s", sim.failure);
    quietly.verbose = false;
    unsigned fewest = shrink(&quietly, seed, failed_at);
    bool passes = run(&quietly, seed, fewest);
    (void)printf("seed %llu fails: %s\n  again: make sim SEED=%llu STEPS=%u SCHEDULES=1\n", (unsigned long long)seed,
                 passes ? failure : sim.failure, (unsigned long long)seed, passes ? wish->steps : fewest);
}

/* A seed is one story: told again, every byte of it is the same. */
static bool runs_the_same(const struct wish *wish, uint64_t seed) {
    uint64_t digest = sim.digest;
    bool passes = run(wish, seed, wish->steps);
    if (passes && digest == sim.digest) return true;
    sim_fail(&sim, "it runs another way the second time");
    return false;
}

/* What the seeds of one process came to; shared, so that it is there when the process is not any more. */
struct total {
    unsigned long long answers, commits, crashes;
    unsigned passed, failed;
    uint64_t digest;
};

static void run_one(const struct wish *wish, unsigned at, struct total *total) {
    bool fine = run(wish, wish->seed + at, wish->steps);
    total->answers += sim.answers;
    total->commits += sim.commits;
    total->crashes += sim.crashes;
    total->digest += sim.digest * (2 * (uint64_t)at + 1);
    if (!fine) {
        tell(wish, wish->seed + at);
    } else if (wish->twice && !runs_the_same(wish, wish->seed + at)) {
        (void)printf("seed %llu fails: %s\n", (unsigned long long)wish->seed + at, sim.failure);
        fine = false;
    }
    total->passed += fine;
    total->failed += !fine;
    (void)fflush(stdout);
}

static void run_share(const struct wish *wish, unsigned job, struct total *total) {
    for (unsigned at = job; at < wish->schedules; at += wish->jobs)
        run_one(wish, at, total);
}

static void run_shares(const struct wish *wish, struct total *totals) {
    for (unsigned job = 0; job < wish->jobs; job++) {
        pid_t child = fork();
        if (child < 0) abort();
        if (child > 0) continue;
        run_share(wish, job, &totals[job]);
        _exit(0);
    }
    while (wait(NULL) > 0) {
    }
}

static int run_all(const struct wish *wish) {
    struct total *totals =
                     mmap(NULL, wish->jobs * sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                 sum = {0};
    if (totals == MAP_FAILED) abort();
    if (wish->jobs == 1)
        run_share(wish, 0, totals);
    else
        run_shares(wish, totals);
    for (unsigned job = 0; job < wish->jobs; job++) {
        sum.answers += totals[job].answers;
        sum.commits += totals[job].commits;
        sum.crashes += totals[job].crashes;
        sum.passed += totals[job].passed;
        sum.digest += totals[job].digest;
    }
    (void)munmap(totals, wish->jobs * sizeof *totals);
    (void)printf("%u seeds of %u steps: %llu answers, %llu commits, %llu crashes of a host, digest %016llx\n",
                 wish->schedules, wish->steps, sum.answers, sum.commits, sum.crashes, (unsigned long long)sum.digest);
    (void)printf("%u passed, %u failed\n", sum.passed, wish->schedules - sum.passed);
    return sum.passed == wish->schedules ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char *argv[]) {
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"schedules", required_argument, NULL, 'n'},
                                            {"steps", required_argument, NULL, 't'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {"twice", no_argument, NULL, '2'},
                                            {"canary", required_argument, NULL, 'c'},
                                            {"canaries", no_argument, NULL, 'a'},
                                            {NULL, 0, NULL, 0}};
    struct wish wish = {.seed = 1, .schedules = 100, .steps = 1500, .jobs = 1, .canary = EVD_CANARY_COUNT};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 's': wish.seed = number(optarg); break;
        case 'n': wish.schedules = (unsigned)number(optarg); break;
        case 't': wish.steps = (unsigned)number(optarg); break;
        case 'j': wish.jobs = number(optarg) == 0 ? 1 : (unsigned)number(optarg); break;
        case 'v': wish.verbose = true; break;
        case '2': wish.twice = true; break;
        case 'c': wish.canary = canary(optarg); break;
        case 'a': wish.canaries = true; break;
        default: return 2;
        }
    }
    if (wish.canaries) return sim_canaries(wish.seed, wish.schedules, wish.steps, wish.jobs);
    evd_canary_choose(wish.canary);
    return run_all(&wish);
}
