/*
 * Router: which commands a path means.
 *
 * Built once from the command table and immutable from then on; a match walks one tree node a segment and takes no
 * memory. A parameter ({project}, {study}, …) is a whole segment and always a UUID, in either case; a literal segment
 * beats a parameter in the same place.
 */
#ifndef EVIDENCED_HTTP_ROUTER_H
#define EVIDENCED_HTTP_ROUTER_H

#include "evidenced/runtime/call.h"

#include <stdbool.h>
#include <stddef.h>

struct evd_router;

enum { EVD_ROUTE_METHODS = EVD_COMMAND_DELETE + 1 };

struct evd_route {
    const struct evd_command *commands[EVD_ROUTE_METHODS]; /* by enum evd_command_method; NULL: not with this one */
    size_t numbers[EVD_ROUTE_METHODS];                     /* their places in the table */
    struct evd_ids ids;                                    /* those the path names; the others nil */
    const char *path;                                      /* the template */
    const char *allow;                                     /* for `Allow`: "GET, HEAD, OPTIONS"; the router's */
};

/* `Allow` of what takes every method. */
#define EVD_ROUTE_ALLOW_ALL "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

/** Build. commands: borrowed for the router's life; those without a path are left out. A template that is not a path,
 * names an unknown parameter or clashes with another one is a programmer error and aborts, as does a lack of memory: it
 * shows at every start. */
struct evd_router *evd_router_new(const struct evd_command *const *commands, size_t count);

/** NULL is fine. */
void evd_router_free(struct evd_router *router);

/** Find the path. False: no command has it (404). True: at least one has; which methods is in the route. */
bool evd_router_find(const struct evd_router *router, struct evd_text path, struct evd_route *ret_route);

#endif
