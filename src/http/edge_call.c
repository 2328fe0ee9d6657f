/*
 * The edge on a worker's thread: who calls, may they call now, what do they ask beside the body. Then the runtime has
 * the call, and gives it back on some thread of its own.
 */
#include "edge_private.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/limits.h"
#include "evidenced/runtime/runtime.h"

/* Tokens that turn out to be wrong are what a stranger can make this daemon work with: each costs a signature. */
static const struct evd_limits stranger = {.rate = 20, .burst = 200};

static void answer(struct evd_edge_request *request, const struct evd_http_response *response) {
    struct evd_http_response copy = *response;
    request->body_bytes = copy.body.size_bytes;
    evd_edge_note(request);
    evd_http_exchange_answer(request->exchange, &copy); /* request may be gone when this returns */
}

struct answering {
    struct evd_edge_request *request;
    struct evd_edge_reply *(*make)(struct evd_edge_request *request);
    struct evd_http_response response;
};

static void make_answer(void *self) {
    struct answering *answering = self;
    answering->response = answering->make(answering->request)->response;
}

void evd_edge_answer_with(struct evd_edge_request *request,
                          struct evd_edge_reply *(*make)(struct evd_edge_request *request)) {
    struct answering answering = {.request = request, .make = make};
    if (!evd_edge_within(&request->exchange->arena, make_answer, &answering))
        evd_edge_out_of_memory(request, &answering.response);
    answer(request, &answering.response);
}

void evd_edge_leave(struct evd_edge_request *request) {
    evd_limiter_leave(request->edge->subjects, request->held);
    request->held = NULL;
}

/* The place is free before the answer: who has that may call again at once. */
void evd_edge_leave_with(struct evd_edge_request *request,
                         struct evd_edge_reply *(*make)(struct evd_edge_request *request)) {
    evd_edge_leave(request);
    evd_edge_answer_with(request, make);
}

/* Who. */

static bool is_exempt(struct evd_edge *edge, struct evd_text address) {
    (void)pthread_rwlock_rdlock(&edge->lock);
    bool exempt = evd_networks_contain(edge->proxies, edge->proxy_count, address);
    (void)pthread_rwlock_unlock(&edge->lock);
    return exempt;
}

static struct evd_edge_reply *too_busy(struct evd_edge_request *request, struct evd_text detail) {
    struct evd_outcome outcome = {.code = EVD_BUSY, .detail = detail};
    return evd_edge_problem(request, &outcome, 0);
}

static struct evd_edge_reply *verify(struct evd_edge_request *request, struct evd_identity *ret_identity) {
    struct evd_edge *edge = request->edge;
    struct evd_text peer = request->exchange->peer;
    int64_t now_us = evd_clock_monotonic_us(edge->options.clock), now_ms = evd_clock_wall_ms(edge->options.clock);
    bool exempt = request->door == EVD_DOOR_CONTROL || is_exempt(edge, peer);
    evd_uuid from = evd_network_client(peer);
    enum evd_token_refusal refusal;
    if (!exempt && !evd_limiter_has(edge->addresses, &stranger, from, now_us))
        return too_busy(request, EVD_TEXT("Too many wrong tokens came from this address; please try again shortly."));
    if (evd_keyring_verify(edge->options.keyring, request->token, now_ms, ret_identity, &refusal)) return NULL;
    if (refusal == EVD_TOKEN_NO_MEMORY) return evd_edge_problem_of(request, EVD_OUT_OF_MEMORY);
    if (!exempt) (void)evd_limiter_spend(edge->addresses, &stranger, from, now_us);
    return evd_edge_unauthenticated(request, evd_token_refusal_text(refusal));
}

static struct evd_edge_reply *authenticate(struct evd_edge_request *request) {
    struct evd_edge *edge = request->edge;
    struct evd_call *call = &request->call;
    struct evd_identity identity;
    request->is_known = true;
    if (request->door == EVD_DOOR_CONTROL && request->token.size_bytes == 0) {
        call->caller = edge->operator_id;
        call->is_operator = call->may_create_projects = true;
        return NULL;
    }
    int64_t now_ms = evd_clock_wall_ms(edge->options.clock);
    if (!evd_keyring_recall(edge->options.keyring, request->token, now_ms, &identity)) {
        request->is_known = false;
        struct evd_edge_reply *refusal = verify(request, &identity);
        if (refusal != NULL) return refusal;
        request->is_known = true;
    }
    call->caller = identity.investigator;
    call->may_create_projects = identity.may_create_projects;
    return NULL;
}

/* May they now? The operator always may. */

static struct evd_edge_reply *admit(struct evd_edge_request *request) {
    struct evd_edge *edge = request->edge;
    if (request->call.is_operator) return NULL;
    (void)pthread_rwlock_rdlock(&edge->lock);
    struct evd_limits limits = edge->subject;
    (void)pthread_rwlock_unlock(&edge->lock);
    switch (evd_limiter_enter(edge->subjects, &limits, request->call.caller,
                              evd_clock_monotonic_us(edge->options.clock), &request->held)) {
    case EVD_ADMITTED: return NULL;
    case EVD_TOO_MANY_IN_FLIGHT:
        return too_busy(request, EVD_TEXT("You have too many calls in flight; please try again shortly."));
    case EVD_TOO_FAST: return too_busy(request, EVD_TEXT("You are calling too often; please try again shortly."));
    }
    abort();
}

struct preparing {
    struct evd_edge_request *request;
    struct evd_edge_reply *refusal;
};

static void prepare(void *self) {
    struct preparing *preparing = self;
    struct evd_edge_request *request = preparing->request;
    preparing->refusal = authenticate(request);
    if (preparing->refusal == NULL) preparing->refusal = admit(request);
    if (preparing->refusal == NULL) preparing->refusal = evd_edge_take(request);
}

static void on_done(struct evd_call *call) {
    struct evd_edge_request *request = call->owner;
    request->outcome = call->outcome.code;
    if (call->command->streamed)
        evd_edge_stream_run_done(request);
    else if (call->command->commit == EVD_COMMIT_OPERATION && call->outcome.code == EVD_OK)
        evd_edge_operation_done(request);
    else
        evd_edge_leave_with(request, evd_edge_call_reply);
}

static void run(struct evd_task *task) {
    struct evd_edge_request *request =
        (struct evd_edge_request *)((char *)task - offsetof(struct evd_edge_request, task));
    struct preparing preparing = {.request = request};
    struct evd_http_response response;
    if (evd_edge_within(&request->exchange->arena, prepare, &preparing) && preparing.refusal == NULL) {
        evd_runtime_run(atomic_load(&request->edge->runtime), &request->call);
        return;
    }
    evd_edge_leave(request);
    if (preparing.refusal == NULL)
        evd_edge_out_of_memory(request, &response);
    else
        response = preparing.refusal->response;
    answer(request, &response);
}

static struct evd_edge_reply *full(struct evd_edge_request *request) {
    return too_busy(request, EVD_TEXT("The service is busy; please try again shortly."));
}

void evd_edge_post(struct evd_edge_request *request) {
    if (!evd_runtime_post(atomic_load(&request->edge->runtime), &request->task)) evd_edge_answer_with(request, full);
}

void evd_edge_submit(struct evd_edge_request *request) {
    struct evd_edge *edge = request->edge;
    struct evd_call *call = &request->call;
    call->arena = &request->exchange->arena;
    evd_arena_init(&call->attempt_arena, EVD_LIMIT_CALL_ARENA_BYTES);
    call->body = request->exchange->body;
    call->deadline_ms = evd_clock_monotonic_ms(edge->options.clock) + edge->options.deadline_ms;
    call->done = on_done;
    call->owner = request;
    request->task.run = run;
    evd_edge_post(request);
}
