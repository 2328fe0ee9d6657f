/*
 * Limits for one caller, or one address: calls in flight, and a token bucket.
 *
 * A fixed table, made once, in shards of a lock each. When a shard is full, who was idle longest is forgotten, which
 * gives them a full bucket again; one with calls in flight never is. Time is given, so tests own it.
 */
#ifndef EVIDENCED_HTTP_LIMITER_H
#define EVIDENCED_HTTP_LIMITER_H

#include "evidenced/base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_limiter;
struct evd_limited; /* a place in the table, held while a call is in flight */

struct evd_limits {
    uint32_t in_flight; /* at most; 0: any number */
    uint32_t rate;      /* calls a second in the long run, at least 1 */
    uint32_t burst;     /* calls at once after a pause, at least 1 */
};

enum evd_admission { EVD_ADMITTED, EVD_TOO_MANY_IN_FLIGHT, EVD_TOO_FAST };

enum { EVD_LIMITER_ENTRIES = 16384 };

/** entries: rounded up to a multiple of a shard; 0: EVD_LIMITER_ENTRIES. NULL without memory. */
struct evd_limiter *evd_limiter_new(size_t entries);

/** Nobody may be in flight. NULL is fine. */
void evd_limiter_free(struct evd_limiter *limiter);

/** Take a call from the bucket and a place in flight. ADMITTED: *ret_held must be given to leave. A table full of
 * others in flight is TOO_MANY_IN_FLIGHT. now_us: monotonic. */
enum evd_admission evd_limiter_enter(struct evd_limiter *limiter, const struct evd_limits *limits, evd_uuid who,
                                     int64_t now_us, struct evd_limited **ret_held) __attribute__((warn_unused_result));

/** NULL is fine. */
void evd_limiter_leave(struct evd_limiter *limiter, struct evd_limited *held);

/** Is there at least one call left in the bucket? Takes nothing. */
bool evd_limiter_has(struct evd_limiter *limiter, const struct evd_limits *limits, evd_uuid who, int64_t now_us);

/** Take one from the bucket, without a place in flight; false when it was empty. */
bool evd_limiter_spend(struct evd_limiter *limiter, const struct evd_limits *limits, evd_uuid who, int64_t now_us);

#endif
