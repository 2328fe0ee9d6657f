/*
 * A call in this process: what the files that run calls share.
 */
#ifndef EVIDENCED_TESTS_LOAD_INSIDE_H
#define EVIDENCED_TESTS_LOAD_INSIDE_H

#include "bench.h"

#include "evidenced/http/router.h"
#include "evidenced/runtime/runtime.h"
#include "evidenced/store/store.h"

struct bench_inside {
    struct evd_store *store;
    struct evd_runtime *runtime;
    struct evd_router *router;
};

struct bench_asked {
    struct bench_inside *inside;
    const struct evd_command *command;
    struct evd_ids ids;
    evd_uuid caller;
    char condition[BENCH_ETAG_BYTES]; /* of a PATCH */
    void (*done)(struct evd_call *call);
    struct evd_call call; /* its owner is this */
    struct evd_arena arena;
    struct evd_task task;
    int64_t asked_ns;
};

void bench_asked_init(struct bench_asked *asked, struct bench_inside *inside, const char *path, unsigned who,
                      void (*done)(struct evd_call *));

/** Ask: a POST under a fresh key, or with a condition a PATCH. body: borrowed until `done`. */
void bench_asked_go(struct bench_asked *asked, const char *condition, struct evd_text body);

/** Give the call's memory back, after `done`. */
void bench_asked_release(struct bench_asked *asked);

#endif
