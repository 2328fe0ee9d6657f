/*
 * A swarm: each seed has its own mix, so that some run without a fault that would hide another.
 */
#include "sim.h"

static unsigned some(struct evd_test_random *random, unsigned most) {
    if (evd_random_below(&random->random, 2) == 0) return 0;
    return 1 + (unsigned)evd_random_below(&random->random, most);
}

void sim_faults_draw(struct sim_faults *faults, struct evd_test_random *random) {
    *faults = (struct sim_faults){.conflict = some(random, 60),
                                  .unavailable = some(random, 30),
                                  .lost_answer = some(random, 60),
                                  .lost_request = some(random, 60),
                                  .delayed = some(random, 60),
                                  .stays_unknown = some(random, 500),
                                  .between = some(random, 400),
                                  .drop = some(random, 150),
                                  .duplicate = some(random, 150),
                                  .crash = some(random, 60),
                                  .skew = evd_random_below(&random->random, 2) == 0 ? 0 : 10000,
                                  .jump = some(random, 100),
                                  .revoke = some(random, 400),
                                  .careless = some(random, 60),
                                  .import = some(random, 500),
                                  .frozen_clock = evd_random_below(&random->random, 8) == 0,
                                  .plain = evd_random_below(&random->random, 3) == 0,
                                  .hasty = evd_random_below(&random->random, 6) == 0};
    if (faults->hasty) faults->import = 1000;
}

void sim_faults_clear(struct sim_faults *faults) {
    *faults = (struct sim_faults){.conflict = 0};
}
