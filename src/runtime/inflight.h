/*
 * In-flight registry: which attempts of a project are running, and who waits for those that were.
 *
 * An attempt is registered before its snapshot and taken out after its commit's fate is known. So whoever commits a
 * change and then waits for the attempts registered at that moment knows that no attempt which had read the old
 * state is still to commit. In one process that is the whole drain.
 */
#ifndef EVIDENCED_SRC_RUNTIME_INFLIGHT_H
#define EVIDENCED_SRC_RUNTIME_INFLIGHT_H

#include "evidenced/runtime/call.h"

struct evd_inflight;

struct evd_inflight *evd_inflight_new(void);
void evd_inflight_free(struct evd_inflight *registry); /* nothing may be registered; NULL is fine */

void evd_inflight_enter(struct evd_inflight *registry, struct evd_call *call);

/** Ends the call's attempt; returns the barriers' calls that it was the last for, linked by next_waiting. */
struct evd_call *evd_inflight_leave(struct evd_inflight *registry, struct evd_call *call);

/** True when no attempt of the call's project is registered; else the call will be returned by a later leave. */
bool evd_inflight_drained(struct evd_inflight *registry, struct evd_call *call);

size_t evd_inflight_count(struct evd_inflight *registry);

#endif
