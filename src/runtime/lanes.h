/*
 * Lanes: one FIFO of parked calls a study. Only a lane's head may run; nobody's thread waits.
 *
 * One mutex for the table, held for a few pointer moves. A lane exists while a call is in it.
 */
#ifndef EVIDENCED_SRC_RUNTIME_LANES_H
#define EVIDENCED_SRC_RUNTIME_LANES_H

#include "evidenced/runtime/call.h"

struct evd_lanes;

enum evd_lane_entry { EVD_LANE_HEAD, EVD_LANE_PARKED, EVD_LANE_FULL };

struct evd_lanes *evd_lanes_new(void);
void evd_lanes_free(struct evd_lanes *lanes); /* no call may be in one; NULL is fine */

/** Join the lane of (project, study) at its end. FULL: EVD_LIMIT_LANE_CALLS are in it; the call is not. */
enum evd_lane_entry evd_lanes_enter(struct evd_lanes *lanes, struct evd_call *call, evd_uuid study);

/** The head leaves; returns the call that is head now, or NULL. */
struct evd_call *evd_lanes_leave(struct evd_lanes *lanes, struct evd_call *head, evd_uuid study);

/** Takes out parked calls (never heads) whose deadline is before now_ms; returns them linked by next_waiting. */
struct evd_call *evd_lanes_expire(struct evd_lanes *lanes, int64_t now_ms);

void evd_lanes_figures(struct evd_lanes *lanes, size_t *ret_lanes, size_t *ret_parked);

#endif
