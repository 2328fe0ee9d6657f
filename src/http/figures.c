#include "evidenced/http/figures.h"

#include "evidenced/base/log.h"
#include "evidenced/http/metrics.h"
#include "evidenced/http/server.h"
#include "evidenced/operation/driver.h"
#include "evidenced/runtime/runtime.h"
#include "evidenced/store/store.h"

#include <stdatomic.h>
#include <unistd.h>

/* What is read when the figures are shown. */
#define GAUGES(X)                                                                                                      \
    X(READY, "evidenced_ready", "Is this instance ready for calls?")                                                   \
    X(QUEUED, "evidenced_queue_calls", "Calls that wait for a worker.")                                                \
    X(RUNNING, "evidenced_workers_busy", "Workers that run something.")                                                \
    X(PARKED, "evidenced_parked_calls", "Calls that wait for their turn on a study, without a worker.")                \
    X(LANES, "evidenced_lanes", "Studies some call works on.")                                                         \
    X(ATTEMPTS, "evidenced_attempts_in_flight", "Attempts between their snapshot and their end.")                      \
    X(EXCHANGES, "evidenced_http_in_flight", "Requests that are not answered yet.")                                    \
    X(CONNECTIONS, "evidenced_http_connections", "Connections of clients.")                                            \
    X(OPERATIONS, "evidenced_operations_open", "Operations that are not settled.")                                     \
    X(OPERATIONS_STUCK, "evidenced_operations_stuck", "Of them, those that only a start or an operator moves again.")  \
    X(STORE_OPEN, "evidenced_store_open", "Does the store take commits?")                                              \
    X(STORE_FREE, "evidenced_store_free_bytes", "Bytes free on the store's disk.")                                     \
    X(MEMORY, "process_resident_memory_bytes", "Resident memory.")                                                     \
    X(START, "process_start_time_seconds", "When the process began, in seconds since 1970.")

#define COUNTED(X)                                                                                                     \
    X(COMPLAINTS, "evidenced_http_complaints_total", "Complaints of the HTTP library.")                                \
    X(COMMITS, "evidenced_store_commits_total", "Commits that took effect.")                                           \
    X(CONFLICTS, "evidenced_store_conflicts_total", "Commits that lost a race.")                                       \
    X(UNKNOWN, "evidenced_store_unknown_total", "Commits whose fate was not known in time.")                           \
    X(RECOVERIES, "evidenced_store_recoveries_total", "Times the store was reopened after a failure.")                 \
    X(STEPS, "evidenced_operation_steps_total", "Steps of operations that took effect.")                               \
    X(STEP_PAUSES, "evidenced_operation_pauses_total", "Steps of operations that have to be tried again.")             \
    X(LOG_DROPPED, "evidenced_log_lines_dropped_total", "Log lines nobody could take in time.")

enum source {
#define SOURCE_ENUM(id, name, help) SOURCE_##id,
    GAUGES(SOURCE_ENUM) COUNTED(SOURCE_ENUM)
#undef SOURCE_ENUM
        SOURCE_COUNT
};

struct reading {
    struct evd_figures *figures;
    enum source source;
};

enum { RETRY_CHARGED, RETRY_FREE, RETRY_KINDS };

static const char *const retry_kinds[RETRY_KINDS] = {"charged", "free"};

struct evd_figures {
    const struct evd_command *const *commands;
    size_t count;
    const char **command_names; /* the table's, then "edge" */
    const char *outcome_names[EVD_OUTCOME_COUNT];
    struct evd_metrics *metrics;
    struct evd_counter *requests, *retries, *drifts;
    struct evd_histogram *durations;
    struct reading readings[SOURCE_COUNT];
    time_t begun;
    atomic_bool ready;
    _Atomic(struct evd_runtime *) runtime;
    _Atomic(struct evd_store *) store;
    _Atomic(struct evd_driver *) driver;
    _Atomic(struct evd_http_server *) server;
    _Atomic(struct evd_log *) log;
};

static bool has_outcome(const struct evd_figures *figures, size_t command, enum evd_outcome_code code) {
    if (command == figures->count || code == EVD_OK) return true;
    const struct evd_command *which = figures->commands[command];
    return ((which->outcomes | evd_command_common_outcomes(which)) & EVD_OUTCOME_BIT(code)) != 0;
}

/* The callback is only asked while the families are declared, by the thread that declares them. */
static _Thread_local const struct evd_figures *declaring;

static bool can_meet(size_t command, size_t outcome) {
    return has_outcome(declaring, command, (enum evd_outcome_code)outcome);
}

static double resident_bytes(void) {
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;
    if (file == NULL) return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1) pages = 0;
    (void)fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double read_runtime(struct evd_runtime *runtime, enum source source) {
    struct evd_runtime_figures now;
    if (runtime == NULL) return 0;
    evd_runtime_figures(runtime, &now);
    if (source == SOURCE_QUEUED) return (double)now.queued;
    if (source == SOURCE_RUNNING) return (double)now.running;
    if (source == SOURCE_PARKED) return (double)now.parked;
    return (double)(source == SOURCE_LANES ? now.lanes : now.in_flight);
}

static double read_store(struct evd_store *store, enum source source) {
    struct evd_store_figures now;
    if (store == NULL) return 0;
    evd_store_figures(store, &now);
    if (source == SOURCE_STORE_OPEN) return now.open;
    if (source == SOURCE_STORE_FREE) return (double)now.free_bytes;
    if (source == SOURCE_COMMITS) return (double)now.commits;
    if (source == SOURCE_CONFLICTS) return (double)now.conflicts;
    return (double)(source == SOURCE_UNKNOWN ? now.unknown : now.recoveries);
}

static double read_driver(struct evd_driver *driver, enum source source) {
    struct evd_driver_figures now;
    if (driver == NULL) return 0;
    evd_driver_figures(driver, &now);
    if (source == SOURCE_OPERATIONS) return (double)now.open;
    if (source == SOURCE_OPERATIONS_STUCK) return (double)now.stuck;
    return (double)(source == SOURCE_STEPS ? now.steps : now.pauses);
}

static double read_server(const struct evd_http_server *server, enum source source) {
    if (server == NULL) return 0;
    if (source == SOURCE_EXCHANGES) return (double)evd_http_server_in_flight(server);
    return (double)(source == SOURCE_CONNECTIONS ? evd_http_server_connections(server)
                                                 : evd_http_server_complaints(server));
}

static double read_source(const struct evd_figures *figures, enum source source) {
    struct evd_log *log = atomic_load(&figures->log);
    switch (source) {
    case SOURCE_READY: return atomic_load(&figures->ready);
    case SOURCE_QUEUED:
    case SOURCE_RUNNING:
    case SOURCE_PARKED:
    case SOURCE_LANES:
    case SOURCE_ATTEMPTS: return read_runtime(atomic_load(&figures->runtime), source);
    case SOURCE_EXCHANGES:
    case SOURCE_CONNECTIONS:
    case SOURCE_COMPLAINTS: return read_server(atomic_load(&figures->server), source);
    case SOURCE_STORE_OPEN:
    case SOURCE_STORE_FREE:
    case SOURCE_COMMITS:
    case SOURCE_CONFLICTS:
    case SOURCE_UNKNOWN:
    case SOURCE_RECOVERIES: return read_store(atomic_load(&figures->store), source);
    case SOURCE_OPERATIONS:
    case SOURCE_OPERATIONS_STUCK:
    case SOURCE_STEPS:
    case SOURCE_STEP_PAUSES: return read_driver(atomic_load(&figures->driver), source);
    case SOURCE_LOG_DROPPED: return log == NULL ? 0 : (double)evd_log_dropped(log);
    case SOURCE_MEMORY: return resident_bytes();
    case SOURCE_START: return (double)figures->begun;
    case SOURCE_COUNT: break;
    }
    return 0;
}

static double read_figure(void *self, size_t first, size_t second) {
    struct reading *reading = self;
    (void)first;
    (void)second;
    return read_source(reading->figures, reading->source);
}

static void declare_sources(struct evd_figures *figures) {
    for (int i = 0; i < SOURCE_COUNT; i++)
        figures->readings[i] = (struct reading){figures, (enum source)i};
#define SOURCE_GAUGE(id, metric_name, metric_help)                                                                     \
    {                                                                                                                  \
        static const struct evd_metric_family family = {.name = (metric_name), .help = (metric_help)};                 \
        evd_metrics_gauge(figures->metrics, &family, read_figure, &figures->readings[SOURCE_##id]);                    \
    }
    GAUGES(SOURCE_GAUGE)
#undef SOURCE_GAUGE
#define SOURCE_COUNTED(id, metric_name, metric_help)                                                                   \
    {                                                                                                                  \
        static const struct evd_metric_family family = {.name = (metric_name), .help = (metric_help)};                 \
        evd_metrics_counted(figures->metrics, &family, read_figure, &figures->readings[SOURCE_##id]);                  \
    }
    COUNTED(SOURCE_COUNTED)
#undef SOURCE_COUNTED
}

static void declare_requests(struct evd_figures *figures) {
    struct evd_metric_label command = {"command", figures->command_names, figures->count + 1};
    const struct evd_metric_family requests = {
        .name = "evidenced_requests_total",
        .help = "Requests answered, by command and outcome.",
        .labels = {command, {"outcome", figures->outcome_names, EVD_OUTCOME_COUNT}},
        .is_possible = can_meet};
    const struct evd_metric_family durations = {.name = "evidenced_request_duration_seconds",
                                                .help = "From a request's complete head to its answer.",
                                                .labels = {command}};
    const struct evd_metric_family retries = {.name = "evidenced_retries_total",
                                              .help = "Attempts that were run again, charged to the call or free.",
                                              .labels = {command, {"kind", retry_kinds, RETRY_KINDS}}};
    static const struct evd_metric_family drifts = {
        .name = "evidenced_clock_drift_total",
        .help = "Commands refused because this host's clock is too far behind what they read."};
    declaring = figures;
    figures->requests = evd_metrics_counter(figures->metrics, &requests);
    declaring = NULL;
    figures->durations = evd_metrics_histogram(figures->metrics, &durations);
    figures->retries = evd_metrics_counter(figures->metrics, &retries);
    figures->drifts = evd_metrics_counter(figures->metrics, &drifts);
}

struct evd_figures *evd_figures_new(const struct evd_command *const *commands, size_t count) {
    struct evd_figures *figures = calloc(1, sizeof *figures);
    if (figures == NULL) return NULL;
    figures->commands = commands;
    figures->count = count;
    figures->begun = time(NULL);
    figures->command_names = calloc(count + 1, sizeof *figures->command_names);
    figures->metrics = evd_metrics_new();
    if (figures->command_names == NULL || figures->metrics == NULL) {
        evd_figures_free(figures);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        figures->command_names[i] = commands[i]->name;
    figures->command_names[count] = "edge";
    for (int code = 0; code < EVD_OUTCOME_COUNT; code++)
        figures->outcome_names[code] = evd_outcome_entry_of((enum evd_outcome_code)code)->name;
    declare_requests(figures);
    declare_sources(figures);
    evd_metrics_seal(figures->metrics);
    return figures;
}

void evd_figures_free(struct evd_figures *figures) {
    if (figures == NULL) return;
    evd_metrics_free(figures->metrics);
    free(figures->command_names);
    free(figures);
}

void evd_figures_watch(struct evd_figures *figures, const struct evd_figures_sources *sources) {
    atomic_store(&figures->runtime, sources->runtime);
    atomic_store(&figures->store, sources->store);
    atomic_store(&figures->driver, sources->driver);
    atomic_store(&figures->server, sources->server);
    atomic_store(&figures->log, sources->log);
}

void evd_figures_set_ready(struct evd_figures *figures, bool ready) {
    atomic_store(&figures->ready, ready);
}

void evd_figures_request(struct evd_figures *figures, size_t command, enum evd_outcome_code outcome,
                         int64_t duration_us) {
    size_t row = command == EVD_FIGURES_EDGE ? figures->count : command;
    evd_counter_add(figures->requests, has_outcome(figures, row, outcome) ? row : figures->count, outcome, 1);
    evd_histogram_observe(figures->durations, row, 0, duration_us);
}

void evd_figures_retries(struct evd_figures *figures, size_t command, unsigned charged, unsigned free) {
    if (charged > 0) evd_counter_add(figures->retries, command, RETRY_CHARGED, charged);
    if (free > 0) evd_counter_add(figures->retries, command, RETRY_FREE, free);
}

void evd_figures_drift(struct evd_figures *figures) {
    evd_counter_add(figures->drifts, 0, 0, 1);
}

void evd_figures_render(const struct evd_figures *figures, struct evd_buffer *buffer) {
    evd_metrics_render(figures->metrics, buffer);
}
