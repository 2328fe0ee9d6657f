/*
 * Hosts, time, and what the store does. A host that crashes answers nothing any more: the attempts it had under way
 * find a store they cannot reach, as a dead process reaches none, and their answers are dropped.
 *
 * Attempts run one after the other on this thread; but between any two calls of one to its store, another message may
 * arrive at some host and be worked on, as far as it comes: that is how attempts come between each other.
 */
#include "sim.h"

#include "evidenced/base/limits.h"
#include "evidenced/commands/plans.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { QUEUE = 1000, NESTED_AT_MOST = 3 };

static const int64_t started_ms = INT64_C(1800000000000);

unsigned sim_below(struct sim *sim, unsigned bound) {
    return (unsigned)evd_random_below(&sim->random.random, bound);
}

bool sim_chance(struct sim *sim, unsigned of, unsigned in) {
    return of > 0 && sim_below(sim, in) < of;
}

void sim_fail(struct sim *sim, const char *format, ...) {
    va_list arguments;
    if (sim->failed) return; /* the first one is the cause */
    sim->failed = true;
    va_start(arguments, format);
    (void)vsnprintf(sim->failure, sizeof sim->failure, format, arguments);
    va_end(arguments);
}

void sim_say(struct sim *sim, const char *format, ...) {
    va_list arguments;
    if (!sim->verbose) return;
    (void)printf("%6u  ", sim->step);
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    (void)printf("\n");
}

void sim_digest(struct sim *sim, const void *bytes, size_t size_bytes) {
    const uint8_t *each = bytes;
    for (size_t i = 0; i < size_bytes; i++) /* FNV-1a */
        sim->digest = (sim->digest ^ each[i]) * UINT64_C(0x100000001B3);
}

/* Time passes for everybody, on each host as its clock has it. */

void sim_pass(struct sim *sim, int64_t by_ms) {
    for (unsigned i = 0; i < sim->host_count; i++) {
        struct sim_host *host = &sim->hosts[i];
        atomic_fetch_add(&host->clock.monotonic_us, by_ms * 1000);
        if (!host->frozen) atomic_fetch_add(&host->clock.wall_ms, by_ms);
    }
}

void sim_clocks_set(struct sim *sim) {
    long long latest = 0;
    for (unsigned i = 0; i < sim->host_count; i++) {
        long long wall_ms = atomic_load(&sim->hosts[i].clock.wall_ms);
        if (wall_ms > latest) latest = wall_ms;
        sim->hosts[i].frozen = false;
    }
    for (unsigned i = 0; i < sim->host_count; i++)
        atomic_store(&sim->hosts[i].clock.wall_ms, latest);
}

void sim_host_run(struct sim_host *host) {
    if (host->runtime == NULL) return;
    evd_runtime_tick(host->runtime);
    while (evd_runtime_work(host->runtime) || evd_driver_step(host->driver)) {
    }
}

/* Hosts. */

static void on_began(void *self, evd_uuid project, evd_uuid operation) {
    const struct sim_host *host = self;
    evd_driver_poke(host->driver, project, operation);
}

static void on_stuck(void *self, const struct evd_driven *driven, const struct evd_command *command,
                     enum evd_outcome_code code) {
    const struct sim_host *host = self;
    (void)driven;
    sim_fail(host->sim, "an operation is stuck: %s answered %s", command->name, evd_outcome_entry_of(code)->name);
}

static struct evd_driver_figures driver_figures(const struct sim_host *host) {
    struct evd_driver_figures figures;
    evd_driver_figures(host->driver, &figures);
    return figures;
}

static void host_start(struct sim_host *host) {
    struct evd_runtime_options options = {.store = host->sim->store,
                                          .clock = &host->clock.clock,
                                          .random = &host->random.random,
                                          .queue = QUEUE,
                                          .conformance = host->sim->conformance,
                                          .observer = {.self = host, .began = on_began}};
    host->runtime = evd_runtime_open(&options);
    struct evd_driver_options drives = {
        .runtime = host->runtime, .clock = &host->clock.clock, .observer = {.self = host, .stuck = on_stuck}};
    drives.plans = evd_operation_plans(&drives.plan_count);
    host->driver = evd_driver_open(&drives);
    host->dying = false;
}

static bool is_busy(const struct sim_host *host) {
    return host->calls > 0 || driver_figures(host).in_hand > 0;
}

static void host_stop(struct sim_host *host) {
    enum { LONG_DEAD_MS = 100000 };
    host->dying = true;
    evd_driver_stop(host->driver);
    for (int64_t waited_ms = 0; is_busy(host) && waited_ms < LONG_DEAD_MS; waited_ms++) {
        atomic_fetch_add(&host->clock.monotonic_us, 1000);
        sim_host_run(host);
    }
    sim_calls_free(host->sim);
    if (is_busy(host)) {
        sim_fail(host->sim, "no end: a host that stops has %zu calls that do not", host->calls);
    } else {
        evd_driver_close(host->driver);
        evd_runtime_close(host->runtime);
    }
    host->runtime = NULL;
}

static void crash(struct sim_host *host) {
    sim_say(host->sim, "host %u crashes with %zu calls under way", host->number, host->calls);
    host->sim->crashes++;
    host_stop(host);
}

struct sim_host *sim_host_that_is_up(struct sim *sim) {
    unsigned first = sim_below(sim, sim->host_count);
    for (unsigned i = 0; i < sim->host_count; i++) {
        struct sim_host *host = &sim->hosts[(first + i) % sim->host_count];
        if (host->runtime != NULL) return host;
    }
    return NULL;
}

/* What the store does. */

static void let_others_in(struct sim *sim) {
    if (sim->depth == NESTED_AT_MOST) return;
    sim->depth++;
    while (sim_chance(sim, sim->faults.between, 1000)) {
        sim_tab_step(sim->tabs[sim_below(sim, sim->tab_count)], false);
        sim_deliver(sim, true);
        sim_host_run(&sim->hosts[sim_below(sim, sim->host_count)]);
    }
    sim->depth--;
}

static enum simulated_fate decide(void *self, enum simulated_call call) {
    struct sim *sim = self;
    const struct sim_faults *faults = &sim->faults;
    bool dying = false;
    for (unsigned i = 0; i < sim->host_count; i++)
        dying |= sim->hosts[i].dying;
    if (dying) return call == SIMULATED_COMMIT_AGAIN ? SIMULATED_STAYS_UNKNOWN : SIMULATED_UNAVAILABLE;
    let_others_in(sim);
    if (call == SIMULATED_COMMIT_AGAIN)
        return sim_chance(sim, faults->stays_unknown, 1000) ? SIMULATED_STAYS_UNKNOWN : SIMULATED_AS_IT_IS;
    if (sim_chance(sim, faults->unavailable, 1000)) return SIMULATED_UNAVAILABLE;
    if (call != SIMULATED_COMMIT) return SIMULATED_AS_IT_IS;
    if (sim_chance(sim, faults->conflict, 1000)) return SIMULATED_CONFLICT;
    if (sim_chance(sim, faults->lost_answer, 1000)) return SIMULATED_ANSWER_LOST;
    if (sim_chance(sim, faults->lost_request, 1000)) return SIMULATED_REQUEST_LOST;
    return sim_chance(sim, faults->delayed, 1000) ? SIMULATED_DELAYED : SIMULATED_AS_IT_IS;
}

static void witness(void *self, const struct simulated_commit *commit) {
    struct sim *sim = self;
    sim->commits++;
    for (size_t i = 0; i < commit->count && sim->tab_count > 0; i++) { /* everybody sees it in a list */
        const struct evd_write *write = &commit->writes[i];
        if (write->key.in == EVD_IN_STUDY && write->kind == EVD_INSERT && sim->study_count < SIM_STUDIES_MOST)
            sim->studies[sim->study_count++] = write->key.id;
    }
    sim_oracle_committed(sim, commit);
}

/* Steps. */

static void befall(struct sim *sim, struct sim_host *host, bool calm) {
    if (host->runtime == NULL) {
        if (calm || sim_chance(sim, 1, 20)) host_start(host);
    } else if (sim_chance(sim, sim->faults.crash, 10000)) {
        crash(host);
    }
    if (sim_chance(sim, sim->faults.jump, 10000))
        atomic_fetch_add(&host->clock.wall_ms, (int64_t)sim_below(sim, 40000) - 20000);
}

/* One step: usually a message arrives or time passes. */
void sim_world_step(struct sim *sim, bool calm) {
    unsigned what = sim_below(sim, 100);
    if (what < 36) {
        sim_deliver(sim, false);
    } else if (what < 52) {
        sim_pass(sim, 1 + sim_below(sim, 40));
        sim_host_run(&sim->hosts[sim_below(sim, sim->host_count)]);
    } else if (what < 91) {
        if (sim->hasty && sim_below(sim, 4) == 0) sim_admin_step(sim, calm);
        sim_tab_step(sim->tabs[sim_below(sim, sim->tab_count)], calm);
    } else if (what < 95) {
        sim_admin_step(sim, calm);
    } else if (what < 97) {
        sim_pass(sim, calm ? 1000 : 1 + sim_below(sim, EVD_LIMIT_DRAFT_LEASE_MS));
    } else {
        (void)simulated_store_deliver(sim->store);
    }
    befall(sim, &sim->hosts[sim_below(sim, sim->host_count)], calm);
    sim_calls_free(sim);
}

const char *sim_world_waits_for(const struct sim *sim) {
    if (sim->first_message != NULL) return "a message";
    if (simulated_store_delayed(sim->store) > 0) return "a commit that is on its way";
    if (!sim_admin_is_settled(sim)) return "the administrator";
    for (unsigned i = 0; i < sim->host_count; i++) {
        if (sim->hosts[i].runtime == NULL) return "a host that is down";
        if (sim->hosts[i].calls > 0) return "a call";
        if (driver_figures(&sim->hosts[i]).open > 0) return "an operation";
    }
    for (unsigned i = 0; i < sim->tab_count; i++)
        if (!sim_tab_is_settled(sim->tabs[i])) return "a tab";
    return NULL;
}

/* Setting up. */

static void host_init(struct sim *sim, unsigned number) {
    struct sim_host *host = &sim->hosts[number];
    host->sim = sim;
    host->number = number;
    evd_test_clock_init(&host->clock, started_ms);
    evd_test_random_init(&host->random, sim->seed * 31 + number);
    host_start(host);
}

/* What a seed's clocks are like: some are off, one may stand still. */
static void set_clocks(struct sim *sim) {
    for (unsigned i = 0; i < sim->host_count; i++) {
        struct sim_host *host = &sim->hosts[i];
        if (sim_chance(sim, sim->faults.skew, 10000))
            atomic_fetch_add(&host->clock.wall_ms, (int64_t)sim_below(sim, 30000) - 15000);
        host->frozen = sim->faults.frozen_clock && i == 0;
    }
}

void sim_world_open(struct sim *sim) {
    struct sim_faults faults;
    sim_faults_draw(&faults, &sim->random);
    sim->store = simulated_store_new(evd_catalogue_stored());
    sim->host_count = 1 + sim_below(sim, SIM_HOSTS);
    sim->plain = faults.plain;
    sim->hasty = faults.hasty;
    for (unsigned i = 0; i < sim->host_count; i++)
        host_init(sim, i);
    sim_oracle_begin(sim);
    simulated_store_watch(sim->store, witness, sim_attempt_of, sim);
    sim_furnish(sim);
    sim->faults = faults;
    set_clocks(sim);
    simulated_store_decide(sim->store, decide, sim);
}

void sim_world_close(struct sim *sim) {
    simulated_store_decide(sim->store, NULL, NULL);
    for (unsigned i = 0; i < sim->host_count; i++)
        if (sim->hosts[i].runtime != NULL) host_stop(&sim->hosts[i]);
    while (sim->all_tabs != NULL) {
        struct sim_tab *next = sim->all_tabs->next;
        sim_tab_free(sim->all_tabs);
        sim->all_tabs = next;
    }
    sim_wire_close(sim);
    sim_oracle_end(sim);
    evd_store_close(sim->store);
}
