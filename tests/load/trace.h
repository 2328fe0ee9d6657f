/*
 * What one command asked of the store, kept.
 */
#ifndef EVIDENCED_TESTS_LOAD_TRACE_H
#define EVIDENCED_TESTS_LOAD_TRACE_H

#include "bench.h"

#include "evidenced/store/store.h"

enum { BENCH_MOST_RECORDS = 1024 };

struct bench_traced_read {
    struct evd_key key;
    struct evd_image image; /* malloc'd; size 0: there was none */
};

struct bench_trace {
    struct bench_traced_read reads[BENCH_MOST_RECORDS]; /* by key, scans not among them */
    size_t read_count;
    struct evd_write writes[BENCH_MOST_RECORDS]; /* `after` malloc'd, `before` empty */
    size_t write_count;
    char *body;
    size_t body_bytes;
};

#endif
