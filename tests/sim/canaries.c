/*
 * Every canary in a process of its own: seeds are run until one fails, and the run fails unless one does. In the end
 * the same seeds must pass without a canary.
 *
 * The conformance check of test builds aborts before most canaries could do harm, so it is off; those that only it
 * catches, since nothing wrong is stored, are run with it and must abort by it.
 */
#include "sim.h"

#include "evidenced/base/canary.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOLD_BYTES = 512 };

/* What a child leaves: shared with its parent, so that it is there when the child is not any more. */
struct flight {
    struct sim sim;
    pid_t child; /* 0: not begun, or over */
    int errors;  /* its standard error, a file */
    bool over, caught;
    uint64_t seeds; /* it took; the last one failed */
    unsigned step;
    char told[TOLD_BYTES];
};

static bool is_for_conformance(enum evd_canary canary) {
    return canary == EVD_CANARY_FORM_WRITTEN || canary == EVD_CANARY_PINS_WRITTEN_TWICE ||
           canary == EVD_CANARY_REFERENCE_NOT_READ;
}

static const char *name_of(unsigned number) {
    return number == EVD_CANARY_COUNT ? "none" : evd_canary_name((enum evd_canary)number);
}

/* In the child. */
static _Noreturn void fly(struct flight *flight, enum evd_canary canary, uint64_t seed, uint64_t seeds,
                          unsigned steps) {
    evd_canary_choose(canary);
    bool conformance = canary == EVD_CANARY_COUNT || is_for_conformance(canary);
    for (flight->seeds = 1; flight->seeds <= seeds; flight->seeds++) {
        if (sim_run(&flight->sim, seed + flight->seeds - 1, steps, false, conformance)) continue;
        flight->caught = true;
        flight->step = flight->sim.step;
        (void)snprintf(flight->told, sizeof flight->told, "%s", flight->sim.failure);
        break;
    }
    _exit(0);
}

static void launch(struct flight *flight, enum evd_canary canary, uint64_t seed, uint64_t seeds, unsigned steps) {
    FILE *errors = tmpfile();
    if (errors == NULL) abort();
    flight->errors = dup(fileno(errors));
    (void)fclose(errors);
    (void)fflush(stdout);
    pid_t child = fork();
    if (child < 0) abort();
    if (child > 0) {
        flight->child = child; /* shared: not the child's to write */
        return;
    }
    (void)dup2(flight->errors, STDERR_FILENO);
    fly(flight, canary, seed, seeds, steps);
}

/* The last line a child wrote before it died. */
static void read_last_words(struct flight *flight) {
    char words[4 * TOLD_BYTES];
    ssize_t size = pread(flight->errors, words, sizeof words - 1, 0);
    words[size < 0 ? 0 : size] = '\0';
    words[strcspn(words, "\n")] = '\0';
    (void)snprintf(flight->told, sizeof flight->told, "%.*s", TOLD_BYTES - 1, words);
}

static void land(struct flight *flight, unsigned number, int status) {
    flight->child = 0;
    flight->over = true;
    if (WIFSIGNALED(status)) {
        flight->step = flight->sim.step;
        read_last_words(flight);
        flight->caught = WTERMSIG(status) == SIGABRT && strncmp(flight->told, "conformance: ", 13) == 0;
    }
    if (number < EVD_CANARY_COUNT && is_for_conformance((enum evd_canary)number))
        flight->caught &= WIFSIGNALED(status);
    else
        flight->caught &= !WIFSIGNALED(status);
    (void)close(flight->errors);
}

static void wait_for_one(struct flight *flights, unsigned count) {
    int status;
    pid_t ended = wait(&status);
    if (ended < 0) abort();
    for (unsigned i = 0; i < count; i++)
        if (flights[i].child == ended) land(&flights[i], i, status);
}

static bool tell(const struct flight *flight, unsigned number) {
    if (flight->caught)
        (void)printf("%-27s %5llu %5u  %s\n", name_of(number), (unsigned long long)flight->seeds, flight->step,
                     flight->told);
    else
        (void)printf("%-27s           NOT CAUGHT%s%s\n", name_of(number), flight->told[0] == '\0' ? "" : ": ",
                     flight->told);
    (void)fflush(stdout);
    return flight->caught;
}

int sim_canaries(uint64_t seed, unsigned schedules, unsigned steps, unsigned jobs) {
    enum { CANARIES = EVD_CANARY_COUNT };
    unsigned running = 0, failed = 0;
    uint64_t most = 1;
    struct flight *flights =
        mmap(NULL, (CANARIES + 1) * sizeof *flights, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (flights == MAP_FAILED) abort();
    (void)printf("%-27s %5s %5s  %s\n", "canary", "seeds", "steps", "what the oracles said");
    for (unsigned next = 0, told = 0; told < CANARIES;) {
        while (next < CANARIES && running < jobs) {
            launch(&flights[next], (enum evd_canary)next, seed, schedules, steps);
            next++;
            running++;
        }
        wait_for_one(flights, next);
        running--;
        for (; told < next && flights[told].over; told++) {
            failed += !tell(&flights[told], told);
            if (flights[told].caught && flights[told].seeds > most) most = flights[told].seeds;
        }
    }
    struct flight *without = &flights[CANARIES];
    launch(without, EVD_CANARY_COUNT, seed, most, steps);
    while (!without->over)
        wait_for_one(flights, CANARIES + 1);
    bool clean = !without->caught && without->seeds > most;
    if (!clean)
        (void)printf("without a canary, seed %llu of these fails: %s\n", (unsigned long long)without->seeds,
                     without->told);
    failed += !clean;
    (void)printf("%u passed, %u failed\n", CANARIES + 1 - failed, failed);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
