#include "evidenced/http/router.h"

#include <assert.h>

enum { NO_PARAMETER = -1 };

/* A place in the tree: what may follow a path so far, and the commands that end here. */
struct node {
    struct evd_text segment; /* the literal that leads here; of a parameter's node its name */
    int parameter;           /* which parameter leads here, or NO_PARAMETER */
    struct node *child;      /* the first literal one */
    struct node *next;       /* sibling */
    struct node *any;        /* the parameter's node, NULL when there is none */
    const struct evd_command *commands[EVD_ROUTE_METHODS];
    size_t numbers[EVD_ROUTE_METHODS];
    char allow[sizeof EVD_ROUTE_ALLOW_ALL]; /* empty: no command ends here */
};

struct evd_router {
    struct node root;
};

static const struct {
    struct evd_text name;
    size_t offset;
} parameters[] = {
    {EVD_TEXT_INIT("{project}"), offsetof(struct evd_ids, project)},
    {EVD_TEXT_INIT("{study}"), offsetof(struct evd_ids, study)},
    {EVD_TEXT_INIT("{form}"), offsetof(struct evd_ids, form)},
    {EVD_TEXT_INIT("{stage}"), offsetof(struct evd_ids, stage)},
    {EVD_TEXT_INIT("{version}"), offsetof(struct evd_ids, version)},
    {EVD_TEXT_INIT("{investigator}"), offsetof(struct evd_ids, investigator)},
    {EVD_TEXT_INIT("{session}"), offsetof(struct evd_ids, session)},
    {EVD_TEXT_INIT("{copy}"), offsetof(struct evd_ids, copy)},
    {EVD_TEXT_INIT("{operation}"), offsetof(struct evd_ids, operation)},
};

enum { PARAMETERS = sizeof parameters / sizeof *parameters };

/* Cuts the next segment off *path, which begins with a slash. */
static struct evd_text next_segment(struct evd_text *path) {
    struct evd_text rest = {path->bytes + 1, path->size_bytes - 1};
    const char *slash = rest.size_bytes == 0 ? NULL : memchr(rest.bytes, '/', rest.size_bytes);
    size_t size_bytes = slash == NULL ? rest.size_bytes : (size_t)(slash - rest.bytes);
    *path = (struct evd_text){rest.bytes + size_bytes, rest.size_bytes - size_bytes};
    return (struct evd_text){rest.bytes, size_bytes};
}

static int parameter_of(struct evd_text segment) {
    for (int i = 0; i < PARAMETERS; i++)
        if (evd_text_equal(parameters[i].name, segment)) return i;
    return NO_PARAMETER;
}

static struct node *node_new(struct evd_text segment, int parameter) {
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL) abort();
    node->segment = segment;
    node->parameter = parameter;
    return node;
}

static struct node *find_literal(const struct node *node, struct evd_text segment) {
    struct node *child = node->child;
    while (child != NULL && !evd_text_equal(child->segment, segment))
        child = child->next;
    return child;
}

static struct node *enter(struct node *node, struct evd_text segment) {
    assert(segment.size_bytes > 0);
    int parameter = parameter_of(segment);
    assert(parameter != NO_PARAMETER || memchr(segment.bytes, '{', segment.size_bytes) == NULL);
    if (parameter != NO_PARAMETER) {
        if (node->any == NULL) node->any = node_new(segment, parameter);
        assert(node->any->parameter == parameter); /* one place, one meaning */
        return node->any;
    }
    struct node *child = find_literal(node, segment);
    if (child != NULL) return child;
    child = node_new(segment, NO_PARAMETER);
    child->next = node->child;
    return node->child = child;
}

static void tell_allowed(struct node *node) {
    static const char *const names[EVD_ROUTE_METHODS] = {[EVD_COMMAND_GET] = "GET, HEAD, ",
                                                         [EVD_COMMAND_POST] = "POST, ",
                                                         [EVD_COMMAND_PUT] = "PUT, ",
                                                         [EVD_COMMAND_PATCH] = "PATCH, ",
                                                         [EVD_COMMAND_DELETE] = "DELETE, "};
    size_t size = 0;
    for (size_t method = 0; method < EVD_ROUTE_METHODS; method++)
        if (node->commands[method] != NULL)
            size += (size_t)snprintf(node->allow + size, sizeof node->allow - size, "%s", names[method]);
    (void)snprintf(node->allow + size, sizeof node->allow - size, "OPTIONS");
}

static void add(struct evd_router *router, const struct evd_command *command, size_t number) {
    struct node *node = &router->root;
    if (command->path == NULL) return;
    struct evd_text path = evd_text_from(command->path);
    assert(path.size_bytes > 1 && path.bytes[0] == '/');
    while (path.size_bytes > 0)
        node = enter(node, next_segment(&path));
    assert(node->commands[command->method] == NULL);
    node->commands[command->method] = command;
    node->numbers[command->method] = number;
    tell_allowed(node);
}

struct evd_router *evd_router_new(const struct evd_command *const *commands, size_t count) {
    struct evd_router *router = calloc(1, sizeof *router);
    if (router == NULL) abort();
    router->root.parameter = NO_PARAMETER;
    for (size_t i = 0; i < count; i++)
        add(router, commands[i], i);
    return router;
}

/* Recurses as deep as the longest template has segments. */
static void node_free(struct node *node) {
    while (node != NULL) {
        struct node *next = node->next;
        node_free(node->child);
        node_free(node->any);
        free(node);
        node = next;
    }
}

void evd_router_free(struct evd_router *router) {
    if (router == NULL) return;
    node_free(router->root.child);
    node_free(router->root.any);
    free(router);
}

static const struct node *step(const struct node *node, struct evd_text segment, struct evd_ids *ids) {
    const struct node *literal = find_literal(node, segment);
    if (literal != NULL) return literal;
    evd_uuid id;
    if (node->any == NULL || !evd_uuid_parse(segment, &id)) return NULL;
    memcpy((char *)ids + parameters[node->any->parameter].offset, &id, sizeof id);
    return node->any;
}

static const struct node *find(const struct evd_router *router, struct evd_text path, struct evd_ids *ids) {
    const struct node *node = &router->root;
    if (path.size_bytes == 0 || path.bytes[0] != '/') return NULL;
    while (node != NULL && path.size_bytes > 0)
        node = step(node, next_segment(&path), ids);
    return node != NULL && node->allow[0] != '\0' ? node : NULL;
}

bool evd_router_find(const struct evd_router *router, struct evd_text path, struct evd_route *ret_route) {
    struct evd_route route = {.path = NULL};
    const struct node *node = find(router, path, &route.ids);
    if (node == NULL) return false;
    for (size_t method = 0; method < EVD_ROUTE_METHODS; method++) {
        route.commands[method] = node->commands[method];
        route.numbers[method] = node->numbers[method];
        if (route.path == NULL && node->commands[method] != NULL) route.path = node->commands[method]->path;
    }
    route.allow = node->allow;
    *ret_route = route;
    return true;
}
