/*
 * Waiting for an operation, as `Prefer: wait=N` asks: the call is parked, without a worker, until the operation is
 * settled or N seconds passed, and answered with the operation as it stands then.
 *
 *   done ► wait ► look ─ settled ─────────────────────────► answer
 *                  │ ▲                                        ▲
 *          not yet ▼ │ over                                   │
 *               (parked) ► look once more ────────────────────┘
 *
 * To wait begins before the first look, so an operation that was settled in between is not missed. A look is the view
 * at the operation's own address, run for the same caller; when it is refused the receipt is what there is to answer.
 *
 * The handover. The end of the wait and the end of a look may come at the same time, on two threads. Both swap
 * `waiting`: the end of the wait finds PARKED and has somebody look, or leaves OVER for whoever looks to find.
 */
#include "edge_private.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/limits.h"
#include "evidenced/runtime/runtime.h"

#define LOCATION_BYTES (2 * EVD_UUID_TEXT_BYTES + 40)

/* What is preferred. */

/* Cuts the next preference off a list, at a comma that is not quoted. */
static struct evd_text next_preference(struct evd_text *list) {
    bool quoted = false;
    size_t size = 0;
    for (; size < list->size_bytes && (quoted || list->bytes[size] != ','); size++)
        if (list->bytes[size] == '"') quoted = !quoted;
    struct evd_text preference = {list->bytes, size};
    if (size < list->size_bytes) size++;
    *list = (struct evd_text){list->bytes + size, list->size_bytes - size};
    return evd_text_trim(preference);
}

/* The value of a preference of this name, without its quotes; bytes NULL when it is another. */
static struct evd_text value_of(struct evd_text preference, struct evd_text name) {
    const char *equals = preference.size_bytes == 0 ? NULL : memchr(preference.bytes, '=', preference.size_bytes);
    size_t size = equals == NULL ? preference.size_bytes : (size_t)(equals - preference.bytes);
    struct evd_text own = evd_text_trim((struct evd_text){preference.bytes, size});
    if (equals == NULL || !evd_text_equal_ignoring_case(own, name)) return (struct evd_text){NULL, 0};
    struct evd_text value = evd_text_trim((struct evd_text){equals + 1, preference.size_bytes - size - 1});
    bool quoted = value.size_bytes >= 2 && value.bytes[0] == '"' && value.bytes[value.size_bytes - 1] == '"';
    return quoted ? (struct evd_text){value.bytes + 1, value.size_bytes - 2} : value;
}

void evd_edge_take_wait(struct evd_edge_request *request) {
    struct evd_text list = evd_http_exchange_header(request->exchange, "Prefer"), value = {NULL, 0};
    uint64_t seconds = 0;
    if (request->call.command->commit != EVD_COMMIT_OPERATION || request->edge->options.operations == NULL) return;
    while (list.size_bytes > 0 && value.bytes == NULL) /* the first counts, RFC 7240 §2 */
        value = value_of(next_preference(&list), EVD_TEXT("wait"));
    if (value.bytes == NULL || !evd_text_to_u64(value, &seconds)) return;
    request->wait_s = seconds > EVD_LIMIT_WAIT_MS / 1000 ? EVD_LIMIT_WAIT_MS / 1000 : (int64_t)seconds;
}

/* What is answered. */

static struct evd_text location_of(const struct evd_edge_request *request, char location[LOCATION_BYTES]) {
    char project[EVD_UUID_TEXT_BYTES + 1], operation[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(request->call.ids.project, project);
    evd_uuid_format(request->call.made, operation);
    int size = snprintf(location, LOCATION_BYTES, "/v1/projects/%s/operations/%s", project, operation);
    return (struct evd_text){location, (size_t)size};
}

void evd_edge_operation_headers(struct evd_edge_request *request, struct evd_edge_reply *reply) {
    struct evd_arena *arena = &request->exchange->arena;
    char location[LOCATION_BYTES];
    evd_edge_reply_header(reply, "Location", evd_text_copy(arena, location_of(request, location)));
    if (reply->response.status == 202) evd_edge_reply_header(reply, "Retry-After", EVD_TEXT("1"));
    if (request->wait_s > 0)
        evd_edge_reply_header(reply, "Preference-Applied", evd_text_print(arena, "wait=%d", (int)request->wait_s));
}

static bool is_seen(const struct evd_edge_request *request) {
    return request->look != NULL && request->look->command != NULL && request->look->outcome.code == EVD_OK;
}

static bool is_settled(const struct evd_edge_request *request) {
    return is_seen(request) && request->look->progress == EVD_PROGRESS_SETTLED;
}

static struct evd_edge_reply *waited_reply(struct evd_edge_request *request) {
    if (!is_seen(request)) return evd_edge_call_reply(request);
    struct evd_edge_reply *reply = evd_edge_reply_new(request, is_settled(request) ? 200 : 202);
    evd_edge_reply_header(reply, "Cache-Control", EVD_TEXT("no-store"));
    if (request->call.replayed) evd_edge_reply_header(reply, "Idempotency-Replayed", EVD_TEXT("true"));
    evd_edge_operation_headers(request, reply);
    reply->response.content_type = evd_edge_content_type(request->look->command);
    reply->response.body = request->look->receipt;
    return reply;
}

/* Looking. */

static void look_soon(struct evd_edge_request *request) {
    evd_runtime_go_on(atomic_load(&request->edge->runtime), &request->look_task);
}

static void looked(struct evd_edge_request *request) {
    int expected = EVD_EDGE_LOOKING;
    if (is_settled(request) || request->is_last_look) {
        evd_operations_cancel(request->edge->options.operations, &request->waiter);
        evd_edge_leave_with(request, waited_reply);
        return;
    }
    bool parked = atomic_compare_exchange_strong(&request->waiting, &expected, EVD_EDGE_PARKED);
    if (!parked) look_soon(request); /* it was over meanwhile */
}

static void on_looked(struct evd_call *look) {
    looked(look->owner);
}

static void run_look(struct evd_task *task) {
    struct evd_edge_request *request =
        (struct evd_edge_request *)((char *)task - offsetof(struct evd_edge_request, look_task));
    const struct evd_edge *edge = request->edge;
    struct evd_call *look = request->look;
    request->is_last_look = atomic_load(&request->waiting) == EVD_EDGE_OVER;
    if (look->command == NULL) {
        looked(request);
        return;
    }
    *look = (struct evd_call){.command = look->command,
                              .arena = &request->exchange->arena,
                              .ids = look->ids,
                              .caller = request->call.caller,
                              .is_operator = request->call.is_operator,
                              .page = {.limit = EVD_LIMIT_PAGE_DEFAULT},
                              .deadline_ms = evd_clock_monotonic_ms(edge->options.clock) + edge->options.deadline_ms,
                              .done = on_looked,
                              .owner = request,
                              .attempt_arena = look->attempt_arena};
    evd_runtime_run(atomic_load(&edge->runtime), look);
}

/* Waiting. */

/* What the call held is not waited with: it may be as large as a file of references. Its receipt is kept. */
static void make_look(void *self) {
    struct evd_edge_request *request = self;
    char location[LOCATION_BYTES];
    struct evd_route route;
    struct evd_call *look = EVD_NEW(&request->exchange->arena, struct evd_call);
    evd_arena_init(&look->attempt_arena, EVD_LIMIT_CALL_ARENA_BYTES);
    if (evd_router_find(request->edge->router, location_of(request, location), &route)) {
        look->command = route.commands[EVD_COMMAND_GET];
        look->ids = route.ids;
    }
    request->call.receipt = evd_text_copy(&request->exchange->arena, request->call.receipt);
    evd_arena_done(&request->call.attempt_arena);
    request->look = look;
}

/* With the waiting list's mutex held. */
static void on_over(struct evd_operation_waiter *waiter) {
    struct evd_edge_request *request =
        (struct evd_edge_request *)((char *)waiter - offsetof(struct evd_edge_request, waiter));
    if (atomic_exchange(&request->waiting, EVD_EDGE_OVER) == EVD_EDGE_PARKED) look_soon(request);
}

void evd_edge_operation_done(struct evd_edge_request *request) {
    struct evd_edge *edge = request->edge;
    bool waits = request->wait_s > 0 && evd_edge_within(&request->exchange->arena, make_look, request);
    if (!waits) {
        request->wait_s = 0;
        evd_edge_leave_with(request, evd_edge_call_reply);
        return;
    }
    evd_http_exchange_forget_body(request->exchange);
    request->look_task.run = run_look;
    request->waiter.project = request->call.ids.project;
    request->waiter.operation = request->call.made;
    request->waiter.deadline_ms = evd_clock_monotonic_ms(edge->options.clock) + request->wait_s * 1000;
    request->waiter.over = on_over;
    atomic_store(&request->waiting, EVD_EDGE_LOOKING);
    evd_operations_wait(edge->options.operations, &request->waiter);
    look_soon(request);
}
