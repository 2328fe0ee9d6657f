/*
 * The loop: timers, signals, and the way to the end.
 *
 *   serving ──SIGTERM──► lingering ──drain-seconds──► ending ──nothing in flight, or time is up──► out of the loop
 */
#include "daemon_private.h"

#include "evidenced/base/clock.h"

#include <assert.h>
#include <unistd.h>

enum {
    REAP_MS = 250,
    PROBE_MS = 1000,
    KEY_WATCH_MS = 5000,
    WAITS_MS = 100,
    END_POLL_MS = 5,
    CUT_MS = 20000,  /* then answers in pieces are cut off, so that the rest ends in time */
    STOP_MS = 29000, /* then what is in flight is given up */
    STOP_S = 30,     /* then the kernel ends it */
    PROBES_MISSED = 3,
    EXIT_AT_ONCE = 1,
};

static void log_event(struct evd_daemon *daemon, enum evd_log_level level, const char *event) {
    evd_log_event(daemon->log, level, event, NULL, 0);
}

/* Readiness. A store that hangs must not hang the loop: it is asked on a thread of the pool, and one question at a
 * time. */

static enum evd_outcome_code outcome_of(enum evd_store_status status) {
    switch (status) {
    case EVD_STORE_OK: return EVD_OK;
    case EVD_STORE_FULL: return EVD_STORE_IS_FULL;
    case EVD_STORE_CORRUPT: return EVD_STORE_IS_CORRUPT;
    case EVD_STORE_CONFLICT:
    case EVD_STORE_DUPLICATE:
    case EVD_STORE_UNKNOWN:
    case EVD_STORE_UNAVAILABLE: break;
    }
    return EVD_STORE_IS_UNAVAILABLE;
}

static void ask_store(struct evd_daemon *daemon) {
    struct evd_store_result result = evd_store_probe(daemon->store, evd_clock_monotonic_ms(daemon->clock));
    atomic_store(&daemon->probed, outcome_of(result.status));
}

static void tell_ready(struct evd_daemon *daemon, enum evd_outcome_code code) {
    evd_edge_set_ready(daemon->edge, code);
}

void evd_daemon_probe(struct evd_daemon *daemon) {
    ask_store(daemon);
    tell_ready(daemon, (enum evd_outcome_code)atomic_load(&daemon->probed));
}

static void probe_works(uv_work_t *work) {
    ask_store(work->data);
}

static void probe_worked(uv_work_t *work, int status) {
    struct evd_daemon *daemon = work->data;
    daemon->probing = false;
    daemon->probes_missed = 0;
    if (status == 0) tell_ready(daemon, (enum evd_outcome_code)atomic_load(&daemon->probed));
}

static void on_probe(uv_timer_t *timer) {
    struct evd_daemon *daemon = timer->data;
    if (daemon->probing) {
        if (++daemon->probes_missed >= PROBES_MISSED) tell_ready(daemon, EVD_STORE_IS_UNAVAILABLE);
        return;
    }
    daemon->probe.data = daemon;
    daemon->probing = uv_queue_work(&daemon->loop, &daemon->probe, probe_works, probe_worked) == 0;
}

static void on_reap(uv_timer_t *timer) {
    struct evd_daemon *daemon = timer->data;
    for (int door = 0; door < EVD_DOOR_COUNT; door++)
        evd_http_server_reap(daemon->servers[door]);
}

static void on_key_watch(uv_timer_t *timer) {
    evd_daemon_watch_keys(timer->data);
}

static void on_waits(uv_timer_t *timer) {
    const struct evd_daemon *daemon = timer->data;
    evd_operations_tick(daemon->operations);
}

/* The end. */

static size_t in_flight(const struct evd_daemon *daemon) {
    return evd_http_server_in_flight(daemon->servers[EVD_DOOR_API]) +
           evd_http_server_in_flight(daemon->servers[EVD_DOOR_CONTROL]) + evd_daemon_steps_in_hand(daemon);
}

static void cut_streams(struct evd_daemon *daemon) {
    evd_http_server_cut_streams(daemon->servers[EVD_DOOR_API]);
    evd_http_server_cut_streams(daemon->servers[EVD_DOOR_CONTROL]);
}

static void on_end_poll(uv_timer_t *timer) {
    struct evd_daemon *daemon = timer->data;
    int64_t since_ms = evd_clock_monotonic_ms(daemon->clock) - daemon->stop_begun_ms;
    bool late = since_ms >= STOP_MS;
    if (since_ms >= CUT_MS) cut_streams(daemon);
    if (in_flight(daemon) > 0 && !late) return;
    daemon->overdue = in_flight(daemon) > 0;
    if (daemon->overdue) log_event(daemon, EVD_LOG_ERROR, "stopping-overdue");
    uv_stop(&daemon->loop);
}

static void on_linger_over(uv_timer_t *timer) {
    struct evd_daemon *daemon = timer->data;
    daemon->stage = EVD_STAGE_ENDING;
    evd_http_server_quiesce(daemon->servers[EVD_DOOR_API]);
    evd_http_server_quiesce(daemon->servers[EVD_DOOR_CONTROL]);
    evd_operations_release(daemon->operations);
    evd_driver_stop(daemon->driver); /* what is left goes on at the next start */
    log_event(daemon, EVD_LOG_INFO, "stopped-accepting");
    (void)uv_timer_start(timer, on_end_poll, 0, END_POLL_MS);
}

static void on_stop(uv_signal_t *signal, int number) {
    struct evd_daemon *daemon = signal->data;
    (void)number;
    if (daemon->stage != EVD_STAGE_SERVING) _exit(EXIT_AT_ONCE); /* asked twice: the store recovers by itself */
    daemon->stage = EVD_STAGE_LINGERING;
    daemon->stop_begun_ms = evd_clock_monotonic_ms(daemon->clock);
    (void)alarm(STOP_S);
    evd_edge_drain(daemon->edge);
    log_event(daemon, EVD_LOG_INFO, "draining");
    uint64_t linger_ms = evd_config_number(daemon->config, EVD_CONFIG_DRAIN_SECONDS) * 1000;
    (void)uv_timer_start(&daemon->ender, on_linger_over, linger_ms, 0);
}

static void on_hang_up(uv_signal_t *signal, int number) {
    (void)number;
    evd_daemon_reload(signal->data);
}

/* The loop. */

static void add_timer(struct evd_daemon *daemon, uv_timer_t *timer, uv_timer_cb callback, uint64_t every_ms) {
    if (uv_timer_init(&daemon->loop, timer) != 0) abort();
    timer->data = daemon;
    if (callback != NULL && uv_timer_start(timer, callback, every_ms, every_ms) != 0) abort();
}

static void add_signal(struct evd_daemon *daemon, uv_signal_t *signal, uv_signal_cb callback, int number) {
    if (uv_signal_init(&daemon->loop, signal) != 0) abort();
    signal->data = daemon;
    if (uv_signal_start(signal, callback, number) != 0) abort();
}

static void close_handle(uv_handle_t *handle, void *argument) {
    (void)argument;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

void evd_daemon_loop_begin(struct evd_daemon *daemon) {
    if (uv_loop_init(&daemon->loop) != 0) abort();
    add_timer(daemon, &daemon->reaper, on_reap, REAP_MS);
    add_timer(daemon, &daemon->prober, on_probe, PROBE_MS);
    add_timer(daemon, &daemon->key_watch, on_key_watch, KEY_WATCH_MS);
    add_timer(daemon, &daemon->waits, on_waits, WAITS_MS);
    add_timer(daemon, &daemon->ender, NULL, 0);
    add_signal(daemon, &daemon->terminate, on_stop, SIGTERM);
    add_signal(daemon, &daemon->interrupt, on_stop, SIGINT);
    add_signal(daemon, &daemon->hang_up, on_hang_up, SIGHUP);
}

void evd_daemon_loop(struct evd_daemon *daemon) {
    (void)uv_run(&daemon->loop, UV_RUN_DEFAULT);
    assert(daemon->stage == EVD_STAGE_ENDING);
    uv_walk(&daemon->loop, close_handle, NULL);
    (void)uv_run(&daemon->loop, UV_RUN_DEFAULT); /* also waits for a probe that is under way */
    if (uv_loop_close(&daemon->loop) != 0) abort();
}
