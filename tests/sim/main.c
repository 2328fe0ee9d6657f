/*
 * sim [--seed N] [--schedules N] [--steps N] [--verbose]
 *
 * Runs that many seeds, from N on. A failing one is told with the command that runs it again, after the fewest steps at
 * which it still fails.
 */
#include "sim.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static struct sim sim;

static unsigned long number(const char *text) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0') {
        (void)fprintf(stderr, "sim: %s is no number\n", text);
        exit(2);
    }
    return value;
}

/* The fewest steps at which the seed still fails: a fault that shows after them is there before. */
static unsigned shrink(uint64_t seed, unsigned steps) {
    unsigned least = 1, most = steps;
    while (least < most) {
        unsigned middle = least + (most - least) / 2;
        if (sim_run(&sim, seed, middle, false, true))
            least = middle + 1;
        else
            most = middle;
    }
    return most;
}

static void tell(uint64_t seed, unsigned steps) {
    unsigned failed_at = sim.step < steps ? sim.step : steps;
    char failure[sizeof sim.failure];
    (void)snprintf(failure, sizeof failure, "%s", sim.failure);
    unsigned fewest = shrink(seed, failed_at);
    (void)sim_run(&sim, seed, fewest, false, true);
    (void)printf("seed %llu fails: %s\n  again: make sim SEED=%llu STEPS=%u SCHEDULES=1\n", (unsigned long long)seed,
                 sim.failed ? sim.failure : failure, (unsigned long long)seed, sim.failed ? fewest : steps);
}

int main(int argc, char *argv[]) {
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"schedules", required_argument, NULL, 'n'},
                                            {"steps", required_argument, NULL, 't'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    unsigned long seed = 1, schedules = 100, steps = 600, failed = 0;
    unsigned long long answers = 0, commits = 0, crashes = 0;
    bool verbose = false;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 's': seed = number(optarg); break;
        case 'n': schedules = number(optarg); break;
        case 't': steps = number(optarg); break;
        case 'v': verbose = true; break;
        default: return 2;
        }
    }
    for (unsigned long i = 0; i < schedules; i++) {
        bool fine = sim_run(&sim, seed + i, (unsigned)steps, verbose, true);
        answers += sim.answers;
        commits += sim.commits;
        crashes += sim.crashes;
        if (fine) continue;
        failed++;
        tell(seed + i, (unsigned)steps);
    }
    (void)printf("%lu seeds of %lu steps: %llu answers, %llu commits, %llu crashes of a host\n", schedules, steps,
                 answers, commits, crashes);
    (void)printf("%lu passed, %lu failed\n", schedules - failed, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
