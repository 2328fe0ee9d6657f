/*
 * What the daemon's files share.
 */
#ifndef EVIDENCED_SRC_HTTP_DAEMON_PRIVATE_H
#define EVIDENCED_SRC_HTTP_DAEMON_PRIVATE_H

#include "evidenced/http/server.h"

#include "evidenced/base/log.h"
#include "evidenced/http/daemon.h"
#include "evidenced/http/edge.h"
#include "evidenced/http/spool.h"
#include "evidenced/operation/driver.h"
#include "evidenced/runtime/operations.h"
#include "evidenced/runtime/runtime.h"
#include "evidenced/store/store.h"

#include <stdatomic.h>
#include <uv.h>

enum evd_daemon_stage { EVD_STAGE_SERVING, EVD_STAGE_LINGERING, EVD_STAGE_ENDING };

struct evd_daemon {
    const struct evd_config *config;
    const struct evd_config_input *input;
    const struct evd_clock *clock;
    struct evd_log *log;
    struct evd_keyring *keyring;
    char *jwks_path; /* of the key set in use; empty: none. Owned */
    struct evd_figures *figures;
    struct evd_edge *edge;
    struct evd_spool *spool;
    struct evd_operations *operations; /* who waits for one */
    struct evd_http_server *servers[EVD_DOOR_COUNT];
    struct evd_store *store;
    struct evd_runtime *runtime;
    struct evd_driver *driver; /* of operations */

    uv_loop_t loop;
    uv_timer_t reaper, prober, key_watch, waits, ender;
    uv_signal_t terminate, interrupt, hang_up;
    uv_work_t probe;
    bool probing;
    unsigned probes_missed;
    atomic_int probed; /* enum evd_outcome_code */
    enum evd_daemon_stage stage;
    int64_t stop_begun_ms;
    bool overdue;
};

/* daemon_settings.c */

/** Hand what may change to whom it concerns. */
void evd_daemon_apply(struct evd_daemon *daemon, const struct evd_config *config);

/** Read the configuration and the key set again; what is unusable is logged and leaves things as they are. */
void evd_daemon_reload(struct evd_daemon *daemon);

/** Read the key set when its file has changed. */
void evd_daemon_watch_keys(struct evd_daemon *daemon);

/* daemon_operations.c */

/** An operation was begun: the runtime's observer; self is the daemon. */
void evd_daemon_began(void *self, evd_uuid project, evd_uuid operation);

/** Drive operations from now on, those of earlier starts first. */
void evd_daemon_drive(struct evd_daemon *daemon);

/** Steps that are not done yet. */
size_t evd_daemon_steps_in_hand(const struct evd_daemon *daemon);

/* daemon_loop.c */

/** Ask the store once, on this thread, whether it can commit. */
void evd_daemon_probe(struct evd_daemon *daemon);

/** Take signals from now on; they are acted on by the loop. */
void evd_daemon_loop_begin(struct evd_daemon *daemon);

/** Run timers and signals until the daemon is to end and nothing is in flight, or time is up. */
void evd_daemon_loop(struct evd_daemon *daemon);

#endif
