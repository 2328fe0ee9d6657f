/*
 * The daemon's own verification, piece by piece: in the middle of everything, where it must not find what is only on
 * its way, and in the end.
 */
#include "sim.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"

#include <string.h>

enum { VERIFY_ARENA_BYTES = 16 * 1024 * 1024 };

static void on_piece(struct evd_call *call) {
    ((struct sim_host *)call->owner)->calls--;
}

static void look_for_findings(struct sim *sim, const struct evd_call *call) {
    static const char finding[] = "\"check\"";
    enum evd_outcome_code code = call->outcome.code;
    const char *found = NULL;
    if (code == EVD_OK && call->receipt.size_bytes > 0)
        found = memmem(call->receipt.bytes, call->receipt.size_bytes, finding, strlen(finding));
    if (code != EVD_OK && !sim_asks_again(code))
        sim_fail(sim, "verification answered %s", evd_outcome_entry_of(code)->name);
    if (found != NULL) sim_fail(sim, "verification found %.*s", (int)strcspn(found, "\n"), found);
}

static void run_piece(struct sim_host *host, struct evd_call *call, bool first) {
    call->deadline_ms = evd_clock_monotonic_ms(&host->clock.clock) + EVD_LIMIT_DEADLINE_MS;
    host->calls++;
    if (first)
        evd_runtime_run(host->runtime, call);
    else
        evd_runtime_run_again(host->runtime, call);
    sim_digest(host->sim, call->receipt.bytes, call->receipt.size_bytes);
    sim_say(host->sim, "host %u verifies: %s, " EVD_TEXT_FMT, host->number,
            evd_outcome_entry_of(call->outcome.code)->name, EVD_TEXT_ARG(call->receipt));
}

void sim_verify(struct sim *sim, size_t page, unsigned steps) {
    struct sim_host *host = &sim->hosts[0];
    struct evd_arena arena;
    struct evd_call call = {.command = &evd_command_verify_project,
                            .arena = &arena,
                            .ids = {.project = sim->project},
                            .caller = sim->admin_id,
                            .page.limit = page,
                            .done = on_piece,
                            .owner = host};
    unsigned crashes = sim->crashes;
    evd_arena_init(&arena, VERIFY_ARENA_BYTES);
    evd_arena_init(&call.attempt_arena, VERIFY_ARENA_BYTES);
    bool more = host->runtime != NULL;
    for (bool first = true; more; first = false) {
        run_piece(host, &call, first);
        look_for_findings(sim, &call);
        for (unsigned i = 0; i < steps && !sim->failed; i++) {
            sim->step++;
            sim_world_step(sim, false);
        }
        more = call.outcome.code == EVD_OK && call.stream.more && !sim->failed && crashes == sim->crashes;
    }
    evd_arena_done(&call.attempt_arena);
    evd_arena_done(&arena);
}
