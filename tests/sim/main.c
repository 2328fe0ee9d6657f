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

static int run_all(const struct wish *wish) {
    unsigned long long answers = 0, commits = 0, crashes = 0;
    unsigned failed = 0;
    uint64_t digest = 0;
    for (unsigned i = 0; i < wish->schedules; i++) {
        bool fine = run(wish, wish->seed + i, wish->steps);
        answers += sim.answers;
        commits += sim.commits;
        crashes += sim.crashes;
        digest = digest * 31 + sim.digest;
        if (fine && wish->twice && !runs_the_same(wish, wish->seed + i)) {
            (void)printf("seed %llu fails: %s\n", (unsigned long long)wish->seed + i, sim.failure);
            failed++;
        } else if (!fine) {
            failed++;
            tell(wish, wish->seed + i);
        }
    }
    (void)printf("%u seeds of %u steps: %llu answers, %llu commits, %llu crashes of a host, digest %016llx\n",
                 wish->schedules, wish->steps, answers, commits, crashes, (unsigned long long)digest);
    (void)printf("%u passed, %u failed\n", wish->schedules - failed, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
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
    struct wish wish = {.seed = 1, .schedules = 100, .steps = 600, .jobs = 1, .canary = EVD_CANARY_COUNT};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 's': wish.seed = number(optarg); break;
        case 'n': wish.schedules = (unsigned)number(optarg); break;
        case 't': wish.steps = (unsigned)number(optarg); break;
        case 'j': wish.jobs = (unsigned)number(optarg); break;
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
