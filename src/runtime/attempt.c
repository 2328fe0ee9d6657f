/*
 * One attempt of a call: register, snapshot, membership, ledger, read, refuse, derive, commit.
 *
 * An attempt is a function of what was asked and one snapshot. It is left early only by evd_attempt_settle or by an
 * exhausted arena, both of which jump to evd_attempt_run's frame, the one place that holds what needs releasing.
 */
#include "evidenced/base/canary.h"
#include "evidenced/base/clock.h"
#include "evidenced/base/crash.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/stamp.h"
#include "evidenced/records/keys.h"
#include "runtime/private.h"

#include <assert.h>

enum { COMMITS_ASKED_AGAIN = 3 };

_Noreturn void evd_attempt_settle(struct evd_call *call, struct evd_outcome outcome) {
    call->outcome = outcome;
    longjmp(*call->reads->escape, EVD_JUMP_SETTLED);
}

static struct evd_outcome outcome_of_store(enum evd_store_status status) {
    switch (status) {
    case EVD_STORE_OK: return evd_ok();
    case EVD_STORE_CONFLICT:
    case EVD_STORE_DUPLICATE: return evd_outcome_of(EVD_RETRYABLE_CONFLICT);
    case EVD_STORE_UNKNOWN: return evd_outcome_of(EVD_CANARY(UNKNOWN_TAKEN_FOR_DONE) ? EVD_OK : EVD_OUTCOME_UNKNOWN);
    case EVD_STORE_UNAVAILABLE: return evd_outcome_of(EVD_STORE_IS_UNAVAILABLE);
    case EVD_STORE_FULL: return evd_outcome_of(EVD_STORE_IS_FULL);
    case EVD_STORE_CORRUPT: return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    }
    return evd_outcome_of(EVD_STORE_IS_CORRUPT);
}

_Noreturn void evd_attempt_settle_store(struct evd_call *call, enum evd_store_status status) {
    evd_attempt_settle(call, outcome_of_store(status));
}

static bool is_ledgered(const struct evd_call *call) {
    return evd_command_is_ledgered(call->command);
}

/* The operator needs no membership for what operators are there for. */
static bool acts_as_operator(const struct evd_call *call) {
    return call->is_operator && call->command->operator_may;
}

static bool needs_no_membership(const struct evd_command *command) {
    return command->makes_project || command->outside || command->of_service;
}

/* Named before the command's own reads, so that they come with its first fetch and cost no call of their own. */
static void want_admission(struct evd_call *call) {
    struct evd_reads *reads = call->reads;
    bool blind = EVD_CANARY(LEDGER_NOT_READ) || (EVD_CANARY(UNKNOWN_RUN_AGAIN) && call->attempts_charged > 0);
    if (is_ledgered(call)) {
        reads->ledger_id = evd_ledger_id(call->ids.project, call->command_id);
        if (!blind) EVD_WANT(call, COMMAND_LEDGER, reads->ledger_id, &reads->ledger);
    }
    if (needs_no_membership(call->command)) return;
    if (acts_as_operator(call))
        EVD_WANT(call, PROJECT, call->ids.project, &reads->project);
    else
        EVD_WANT(call, MEMBERSHIP, evd_membership_id(call->ids.project, call->caller), &reads->membership);
}

/* A replay wins over everything that may have changed since. */
static void replay(struct evd_call *call, const struct evd_command_ledger *ledger) {
    struct evd_text digest = {(const char *)call->digest.bytes, sizeof call->digest.bytes};
    bool same = EVD_CANARY(DIGEST_NOT_COMPARED) || evd_text_equal(ledger->digest, digest);
    if (!same) evd_attempt_settle(call, evd_outcome_of(EVD_COMMAND_DIGEST_MISMATCH));
    call->receipt = EVD_CANARY(REPLAY_RENDERED_ANEW) ? EVD_TEXT("{}") : ledger->receipt;
    call->replayed = true;
    evd_attempt_settle(call, evd_ok());
}

void evd_attempt_admit(struct evd_call *call) {
    struct evd_reads *reads = call->reads;
    reads->admitted = true;
    call->membership = reads->membership;
    bool belongs = needs_no_membership(call->command) ||
                   (acts_as_operator(call) ? reads->project != NULL : evd_authority_is_member(reads->membership));
    if (!belongs && !EVD_CANARY(MEMBERSHIP_NOT_CHECKED)) evd_attempt_settle(call, evd_outcome_of(EVD_NOT_FOUND));
    if (reads->ledger != NULL) replay(call, reads->ledger);
}

static const struct evd_study *lane_study(const struct evd_call *call, size_t lane) {
    struct evd_key key = {.project = call->ids.project, .id = call->lane_studies[lane], .in = EVD_IN_STUDY};
    const struct evd_read_entry *read = evd_reads_find(call->reads, key);
    return read == NULL ? NULL : read->record;
}

/*
 * A study that moved only through folds and maintenance changed nothing a command decides on: the retry it caused was
 * free. Source: consistency model §10.2.
 */
static bool retry_was_free(const struct evd_call *call) {
    for (size_t lane = 0; lane < call->lane_count; lane++) {
        const struct evd_study *study = lane_study(call, lane);
        const struct evd_seen_study *seen = &call->seen[lane];
        if (study == NULL || seen->version == 0) return false;
        int64_t moved = study->base.version - seen->version;
        int64_t maintained =
            (study->fold_sequence - seen->fold_sequence) + (study->maintenance_sequence - seen->maintenance_sequence);
        if (moved <= 0 || moved != maintained) return false;
    }
    return call->lane_count > 0;
}

static struct evd_seen_study seen_of(const struct evd_study *study) {
    struct evd_seen_study seen = {0};
    if (study == NULL) return seen;
    seen.version = study->base.version;
    seen.fold_sequence = study->fold_sequence;
    seen.maintenance_sequence = study->maintenance_sequence;
    return seen;
}

static void account_retry(struct evd_call *call) {
    if (call->attempts_charged > 0 && retry_was_free(call)) {
        call->attempts_charged--;
        call->attempts_free++;
    }
    for (size_t lane = 0; lane < call->lane_count; lane++)
        call->seen[lane] = seen_of(lane_study(call, lane));
}

/* The one seam every Study write passes: a study held by a bulk update is refused here, whatever the command. */
static struct evd_outcome refuse_locked(const struct evd_call *call) {
    for (size_t lane = 0; lane < call->lane_count; lane++) {
        const struct evd_study *study = lane_study(call, lane);
        if (study == NULL || study->bulk_lock == NULL) continue;
        char since[EVD_TIME_TEXT_BYTES + 1];
        evd_time_format(study->bulk_lock->since, since);
        struct evd_outcome locked = evd_outcome_of(EVD_LOCKED);
        locked.members = evd_text_print(call->arena, "\"since\":\"%s\"", since);
        return locked;
    }
    return evd_ok();
}

static struct evd_outcome refuse(struct evd_call *call) {
    const struct evd_command *command = call->command;
    struct evd_outcome outcome = refuse_locked(call);
    if (outcome.code != EVD_OK) return outcome;
    bool allowed =
        acts_as_operator(call) || needs_no_membership(command) || evd_authority_has(call->membership, command->needs);
    if (!allowed) return evd_refused(EVD_REASON_PERMISSION, EVD_TEXT("Your roles in this project do not allow this."));
    if (call->command->commit != EVD_COMMIT_READ && call->reads->met_unknown_name)
        return evd_refused(EVD_REASON_WRITER_FLOOR,
                           EVD_TEXT("A newer version of the service wrote records this one does not fully know."));
    return command->refuse == NULL ? evd_ok() : command->refuse(call);
}

static void write_ledger(struct evd_call *call) {
    struct evd_command_ledger *ledger = EVD_NEW(evd_call_arena(call), struct evd_command_ledger);
    assert(call->receipt.size_bytes > 0);
    if (call->receipt.size_bytes > EVD_LIMIT_RECEIPT_BYTES) /* many answers with long ids: a client can ask for it */
        evd_attempt_settle(call, evd_outcome_of(EVD_SIZE_LIMIT_EXCEEDED));
    ledger->base.id = call->reads->ledger_id;
    ledger->command = evd_text_from(call->command->name);
    ledger->command_id = call->command_id;
    ledger->caller = call->caller;
    ledger->digest = (struct evd_text){(const char *)call->digest.bytes, sizeof call->digest.bytes};
    ledger->receipt = call->receipt;
    if (EVD_CANARY(LEDGER_NOT_READ) || EVD_CANARY(UNKNOWN_RUN_AGAIN))
        EVD_INSERT_ONCE(call, command_ledger, ledger);
    else
        EVD_INSERT_RECORD(call, command_ledger, ledger);
}

static struct evd_write *write_list(struct evd_call *call) {
    struct evd_write *list = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_write, call->writes->count);
    for (size_t i = 0; i < call->writes->count; i++)
        list[i] = call->writes->items[i].write;
    return list;
}

static enum evd_store_status commit(struct evd_call *call) {
    struct evd_txn *txn = call->reads->txn;
    struct evd_store_result result = evd_txn_commit(txn, write_list(call), call->writes->count);
    for (unsigned again = 0; result.status == EVD_STORE_UNKNOWN && again < COMMITS_ASKED_AGAIN; again++)
        result = evd_txn_commit_again(txn, call->deadline_ms);
    if (result.status == EVD_STORE_OK) EVD_CRASH_POINT(COMMIT_KNOWN);
    return result.status;
}

/* False: this host's clock is too far behind what was read. */
static bool begin_writing(struct evd_call *call) {
    call->writes = EVD_NEW(evd_call_arena(call), struct evd_writes);
    evd_stamp largest = EVD_CANARY(STAMP_OF_HOST_ONLY) ? 0 : call->reads->largest;
    if (evd_stamp_next(call->now_ms, largest, EVD_LIMIT_CLOCK_AHEAD_MS, &call->stamp)) return true;
    const struct evd_runtime_observer *observer = &call->runtime->options.observer;
    if (observer->drifted != NULL) observer->drifted(observer->self);
    call->outcome = evd_outcome_of(EVD_CLOCK_DRIFT);
    return false;
}

static enum evd_store_status commit_checked(struct evd_call *call) {
    if (call->runtime->options.conformance) evd_conformance_check(call);
    EVD_CRASH_POINT(DERIVED);
    return call->writes->count == 0 ? EVD_STORE_OK : commit(call);
}

static bool came_first(enum evd_store_status status) {
    if (EVD_CANARY(UNKNOWN_RUN_AGAIN) && status == EVD_STORE_UNKNOWN) return true;
    return status == EVD_STORE_CONFLICT || status == EVD_STORE_DUPLICATE;
}

/* Derives and commits; true when another commit came first. */
static bool take_effect(struct evd_call *call) {
    if (!begin_writing(call)) return false;
    call->command->derive(call);
    if (is_ledgered(call)) write_ledger(call);
    enum evd_store_status status = commit_checked(call);
    call->outcome = outcome_of_store(status);
    return came_first(status);
}

/* A refusal keeps its outcome, once what it keeps of the request is safe. */
static bool keep(struct evd_call *call) {
    if (!begin_writing(call)) return false;
    call->command->keep(call);
    struct evd_outcome refusal = call->outcome; /* with the name of what was kept */
    enum evd_store_status status = commit_checked(call);
    call->outcome = status == EVD_STORE_OK ? refusal : outcome_of_store(status);
    return came_first(status);
}

static bool attempt(struct evd_call *call) {
    want_admission(call);
    if (call->command->read != NULL) call->command->read(call);
    evd_reader_fetch(call);
    EVD_CALL_CRASH_POINT(call, SNAPSHOT_READ);
    account_retry(call);
    call->outcome = refuse(call);
    if (call->outcome.code != EVD_OK) return call->command->keep != NULL && keep(call);
    if (call->command->commit != EVD_COMMIT_READ) return take_effect(call);
    call->command->derive(call);
    return false;
}

static void scratch_begin(struct evd_call *call, jmp_buf *escape) {
    for (size_t i = 0; i < sizeof call->scratch / sizeof *call->scratch; i++) {
        evd_arena_init(&call->scratch[i], EVD_LIMIT_SCRATCH_BYTES);
        call->scratch[i].escape = escape;
    }
}

static void scratch_end(struct evd_call *call) {
    for (size_t i = 0; i < sizeof call->scratch / sizeof *call->scratch; i++)
        evd_arena_done(&call->scratch[i]);
}

static bool attempt_guarded(struct evd_call *call, struct evd_txn *txn) {
    jmp_buf escape;
    scratch_begin(call, &escape);
    call->conflicted = false; /* in the call and not in this frame, which a jump may leave stale */
    call->arena->escape = call->attempt_arena.escape = &escape;
    switch (setjmp(escape)) {
    case 0:
        evd_reads_begin(call, txn, &escape);
        call->conflicted = attempt(call);
        break;
    case EVD_JUMP_SETTLED: break;
    default: call->outcome = evd_outcome_of(EVD_OUT_OF_MEMORY); break;
    }
    evd_reads_end(call);
    scratch_end(call);
    call->arena->escape = call->attempt_arena.escape = NULL;
    return call->conflicted;
}

bool evd_attempt_run(struct evd_runtime *runtime, struct evd_call *call) {
    struct evd_txn *txn = NULL;
    jmp_buf escape;
    evd_arena_reset(&call->attempt_arena);
    call->now_ms = evd_clock_wall_ms(runtime->options.clock);
    call->attempt_arena.escape = &escape;
    if (setjmp(escape) != 0) { /* opening allocates; nothing is held yet when that fails */
        call->attempt_arena.escape = NULL;
        call->outcome = evd_outcome_of(EVD_OUT_OF_MEMORY);
        return false;
    }
    bool latest = EVD_CANARY(READS_LATEST) && call->command->commit == EVD_COMMIT_READ;
    struct evd_store_result opened = evd_txn_open(runtime->options.store, latest ? EVD_READ_LATEST : EVD_READ_SNAPSHOT,
                                                  call->deadline_ms, &call->attempt_arena, &txn);
    if (opened.status != EVD_STORE_OK) {
        call->attempt_arena.escape = NULL;
        call->outcome = outcome_of_store(opened.status);
        return false;
    }
    bool again = attempt_guarded(call, txn);
    evd_txn_close(txn);
    return again;
}
