/*
 * Edge: what stands between the HTTP server and the runtime.
 *
 *   head     pages and preflights are answered; the path finds its command; what can be refused by the head is
 *   whole    the call is posted to the workers, 429 when their queue is full
 *   worker   token, limits, Idempotency-Key, page; then the runtime has it
 *   done     receipt or problem, from whatever thread; a view in pieces is run again for each, and a call that began an
 *            operation may wait for it, without a worker
 *   ended    one line in the log, one count in the metrics
 *
 * One edge serves three doors: the API (bearer tokens, CORS), the control socket (whoever has this process's own user
 * id is the operator, or, with a bearer token, whom that names), and the admin listener (/metrics, /version). Probes
 * answer at all of them. Only at the control socket is there POST /v1/operator/backup.
 */
#ifndef EVIDENCED_HTTP_EDGE_H
#define EVIDENCED_HTTP_EDGE_H

#include "evidenced/domain/outcome.h"
#include "evidenced/http/figures.h"
#include "evidenced/http/keyring.h"
#include "evidenced/http/limiter.h"

#include <stddef.h>
#include <stdint.h>

struct evd_clock;
struct evd_command;
struct evd_edge;
struct evd_http_application;
struct evd_log;
struct evd_operations;
struct evd_runtime;
struct evd_store;

enum evd_edge_door { EVD_DOOR_API, EVD_DOOR_CONTROL, EVD_DOOR_ADMIN, EVD_DOOR_COUNT };

/* All of it is borrowed for the edge's life. */
struct evd_edge_options {
    const struct evd_command *const *commands;
    size_t command_count;
    const struct evd_clock *clock;
    struct evd_keyring *keyring;
    struct evd_figures *figures;
    struct evd_log *log;               /* NULL: none */
    struct evd_operations *operations; /* NULL: nobody can wait for one, and Prefer is ignored */
    int64_t deadline_ms;               /* of a call, from its last byte on */
    const char *version;               /* of the program */
    const char *profile;               /* of its build */
    unsigned store_format;
};

/* What may change while the daemon runs. Texts are copied. */
struct evd_edge_settings {
    const struct evd_text *origins; /* exact, as browsers send them */
    size_t origin_count;
    const struct evd_text *proxies; /* addresses or networks exempt from limits by address */
    size_t proxy_count;
    struct evd_limits subject;
};

/** NULL without memory. Every caller is refused until there are settings, and every call until there is a runtime. */
struct evd_edge *evd_edge_new(const struct evd_edge_options *options);

/** When nothing is in flight any more. NULL is fine. */
void evd_edge_free(struct evd_edge *edge);

/** Change the settings; holds from the next request on. At most 64 origins and 64 proxies. One thread. */
void evd_edge_set(struct evd_edge *edge, const struct evd_edge_settings *settings);

/** From now on calls are taken, and startupz answers 200. Borrowed until the last exchange has ended. */
void evd_edge_start(struct evd_edge *edge, struct evd_runtime *runtime);

/** From now on the operator can have backups made of this store. Borrowed as the runtime is. */
void evd_edge_offer_backups(struct evd_edge *edge, struct evd_store *store);

/** What readyz says: EVD_OK, or why this instance should get no calls. Calls are taken all the same. */
void evd_edge_set_ready(struct evd_edge *edge, enum evd_outcome_code code);

/** readyz answers 503 Draining from now on, whatever else is set. */
void evd_edge_drain(struct evd_edge *edge);

/** The application to open that door's server with. The edge must outlive the server. */
void evd_edge_application(struct evd_edge *edge, enum evd_edge_door door, struct evd_http_application *ret_application);

#endif
