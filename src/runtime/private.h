/* What the runtime's files share and nobody else sees. */
#ifndef EVIDENCED_SRC_RUNTIME_PRIVATE_H
#define EVIDENCED_SRC_RUNTIME_PRIVATE_H

#include "evidenced/runtime/reader.h"
#include "evidenced/runtime/runtime.h"
#include "evidenced/runtime/writes.h"
#include "evidenced/store/store.h"
#include "runtime/definition_cache.h"
#include "runtime/inflight.h"
#include "runtime/lanes.h"

#include <pthread.h>

struct evd_runtime {
    struct evd_runtime_options options;
    struct evd_lanes *lanes;
    struct evd_inflight *in_flight;
    struct evd_definition_cache *definitions;

    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t work, timer;
    struct evd_task *first_task, *last_task;
    size_t queued, running;
    struct evd_call *waiting; /* for their due time, soonest first; linked by next_waiting */
    pthread_t *workers, timer_thread;
    bool closing;
};

/* How an attempt is left from the inside. */
enum evd_jump { EVD_JUMP_EXHAUSTED = 1, EVD_JUMP_SETTLED };

/* One record that was asked for. */
struct evd_read_entry {
    struct evd_key key;
    void *record; /* NULL: there is none */
    struct evd_image image;
};

enum { EVD_READ_DEFINITIONS = 4 };

/* What an attempt has read; in the attempt arena. */
struct evd_reads {
    struct evd_txn *txn;
    jmp_buf *escape;
    struct evd_read_entry *entries;
    size_t count, capacity, fetched;
    uint32_t *buckets; /* entry number + 1; size a power of two */
    size_t bucket_count;
    struct evd_read_slot {
        void *slot;
        size_t entry;
    } * slots;
    size_t slot_count, slot_capacity;
    struct evd_read_definition {
        struct evd_cached_definition *held;
        const struct evd_definition **slot;
        size_t entry;
    } definitions[EVD_READ_DEFINITIONS];
    size_t definition_count;
    evd_stamp largest;
    bool met_unknown_name, admitted;
    const struct evd_membership *membership;
    const struct evd_command_ledger *ledger;
    const struct evd_project *project;
    evd_uuid ledger_id;
};

struct evd_written {
    const struct evd_type *type;
    struct evd_write write;
};

struct evd_writes {
    struct evd_written *items;
    size_t count, capacity;
};

/** Begin reading through txn; leaves by jumping to escape. */
void evd_reads_begin(struct evd_call *call, struct evd_txn *txn, jmp_buf *escape);

/** Give back what the cache lent. Fine when nothing was begun. */
void evd_reads_end(struct evd_call *call);

const struct evd_read_entry *evd_reads_find(const struct evd_reads *reads, struct evd_key key);

/** After the first fetch: who is no member, and what was done before, ends the attempt here. */
void evd_attempt_admit(struct evd_call *call);

/** End the attempt with this outcome. */
_Noreturn void evd_attempt_settle(struct evd_call *call, struct evd_outcome outcome);
_Noreturn void evd_attempt_settle_store(struct evd_call *call, enum evd_store_status status);

/** Run one attempt on this thread. False: the call has its outcome. True: a definite conflict, to be run again. */
bool evd_attempt_run(struct evd_runtime *runtime, struct evd_call *call);

/** Parse and digest, once. False: the call has its outcome. */
bool evd_call_prepare(struct evd_call *call);

/** Abort when the attempt's writes break a rule of the house. */
void evd_conformance_check(struct evd_call *call);

/* The points prove what survives of what is written: views, which the service makes for itself too, pass none. */
#define EVD_CALL_CRASH_POINT(call, id)                                                                                 \
    do {                                                                                                               \
        if ((call)->command->commit != EVD_COMMIT_READ) EVD_CRASH_POINT(id);                                           \
    } while (0)

#endif
