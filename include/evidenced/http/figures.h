/*
 * Figures: what the daemon counts and shows at /metrics.
 *
 * Requests per command and outcome, their duration and the retries per command; the runtime's queue, lanes and
 * attempts, the store, the server, the log, operations. At most EVD_METRICS_SERIES series, checked when they are
 * declared. What no command was found for, or the edge refused with an outcome the command does not have, counts as
 * command `edge`.
 */
#ifndef EVIDENCED_HTTP_FIGURES_H
#define EVIDENCED_HTTP_FIGURES_H

#include "evidenced/domain/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_buffer;
struct evd_command;
struct evd_driver;
struct evd_figures;
struct evd_http_server;
struct evd_log;
struct evd_runtime;
struct evd_store;

/* Who is asked when the figures are shown; any may be NULL. */
struct evd_figures_sources {
    struct evd_runtime *runtime;
    struct evd_store *store;
    struct evd_driver *driver;
    struct evd_http_server *server; /* the API's */
    struct evd_log *log;
};

#define EVD_FIGURES_EDGE SIZE_MAX /* the command's number when there is none */

/** commands: borrowed for the figures' life. NULL without memory; too many series abort. */
struct evd_figures *evd_figures_new(const struct evd_command *const *commands, size_t count);

/** NULL is fine. */
void evd_figures_free(struct evd_figures *figures);

/** Whom to ask from now on. From any thread. Borrowed: they must outlive the last rendering. */
void evd_figures_watch(struct evd_figures *figures, const struct evd_figures_sources *sources);

/** Is this instance ready? Shown as a gauge. */
void evd_figures_set_ready(struct evd_figures *figures, bool ready);

/** Count a request. command: its number in the table, or EVD_FIGURES_EDGE. */
void evd_figures_request(struct evd_figures *figures, size_t command, enum evd_outcome_code outcome,
                         int64_t duration_us);

/** Count the retries of a call. */
void evd_figures_retries(struct evd_figures *figures, size_t command, unsigned charged, unsigned free);

/** Count a stamp that was refused because of this host's clock. */
void evd_figures_drift(struct evd_figures *figures);

/** Prometheus' text format. */
void evd_figures_render(const struct evd_figures *figures, struct evd_buffer *buffer);

#endif
