/*
 * One seed. First safety: whatever strikes, nothing stored may ever be wrong. Then the faults end, and everybody must
 * get an answer and bring what they typed to rest: what hangs then would hang for ever.
 */
#include "sim.h"

#include "evidenced/base/limits.h"

#include <string.h>

enum { WHOLE_EVERY = 25, VERIFIED_EVERY = 700, CALM_STEPS = 40000, CALM_AT_ONCE = 200 };

static void converge(struct sim *sim) {
    sim_faults_clear(&sim->faults);
    sim_clocks_set(sim);
    for (unsigned calm = 0; !sim->failed && calm < CALM_STEPS; calm++) {
        sim->step++;
        sim_world_step(sim, true);
        if (calm % CALM_AT_ONCE == 0 && sim_world_waits_for(sim) == NULL) return;
    }
    const char *what = sim->failed ? NULL : sim_world_waits_for(sim);
    if (what != NULL) sim_fail(sim, "no end: %s is still waited for after %d calm steps", what, CALM_STEPS);
}

bool sim_run(struct sim *sim, uint64_t seed, unsigned steps, bool verbose, bool conformance) {
    memset(sim, 0, sizeof *sim);
    sim->seed = seed;
    sim->steps = steps;
    sim->verbose = verbose;
    sim->conformance = conformance;
    evd_test_random_init(&sim->random, seed);
    sim_world_open(sim);
    while (!sim->failed && sim->step < steps) {
        sim->step++;
        sim_world_step(sim, false);
        if (!sim->failed && sim->step % WHOLE_EVERY == 0) sim_oracle_whole(sim);
        if (!sim->failed && sim_chance(sim, 1, VERIFIED_EVERY)) sim_verify(sim, 1 + sim_below(sim, 20), 2);
    }
    if (!sim->failed) converge(sim);
    if (!sim->failed) sim_oracle_whole(sim);
    if (!sim->failed) sim_verify(sim, EVD_LIMIT_PAGE_DEFAULT, 0);
    bool fine = !sim->failed;
    sim_world_close(sim);
    return fine;
}
