/*
 * Views in pieces: the call is run once for each piece, when the piece before was taken.
 *
 *   run ► refused, or nothing but empty pieces and the end: an ordinary answer
 *       ► an empty piece: run again
 *       ► a piece: the answer begins ► `more` ► run ► a piece …  ► the last one
 *                                                  ► refused: the answer is cut off
 *
 * The caller holds one place in flight from the first run to the last. Whoever ends a request counts it: the last run,
 * the run that refused, or, when the client has gone, its end.
 */
#include "edge_private.h"

#include "evidenced/base/clock.h"
#include "evidenced/runtime/runtime.h"

static void run_again(struct evd_task *task) {
    struct evd_edge_request *request =
        (struct evd_edge_request *)((char *)task - offsetof(struct evd_edge_request, task));
    struct evd_edge *edge = request->edge;
    request->call.deadline_ms = evd_clock_monotonic_ms(edge->options.clock) + edge->options.deadline_ms;
    evd_runtime_run_again(atomic_load(&edge->runtime), &request->call);
}

void evd_edge_stream_more(struct evd_edge_request *request) {
    request->task.run = run_again;
    evd_runtime_go_on(atomic_load(&request->edge->runtime), &request->task);
}

struct beginning {
    struct evd_edge_request *request;
    struct evd_edge_reply *reply;
};

static void make_head(void *self) {
    struct beginning *beginning = self;
    beginning->reply = evd_edge_reply_new(beginning->request, 200);
    evd_edge_reply_header(beginning->reply, "Cache-Control", EVD_TEXT("no-store"));
}

static struct evd_edge_reply *no_memory(struct evd_edge_request *request) {
    return evd_edge_problem_of(request, EVD_OUT_OF_MEMORY);
}

static void begin(struct evd_edge_request *request) {
    struct beginning beginning = {.request = request};
    if (!evd_edge_within(&request->exchange->arena, make_head, &beginning)) {
        evd_edge_leave_with(request, no_memory);
        return;
    }
    struct evd_http_response response = beginning.reply->response;
    response.content_type = evd_edge_content_type(request->call.command);
    response.body = request->call.receipt;
    response.streamed = true;
    request->streams = true;
    request->body_bytes = response.body.size_bytes;
    evd_http_exchange_answer(request->exchange, &response);
}

static void go_on(struct evd_edge_request *request) {
    const struct evd_call *call = &request->call;
    bool refused = call->outcome.code != EVD_OK, last = !refused && !call->stream.more;
    if (!refused) request->body_bytes += call->receipt.size_bytes;
    request->is_cut = refused;
    if (refused || last) {
        evd_edge_leave(request);
        evd_edge_note(request);
    }
    if (refused)
        evd_http_exchange_cut(request->exchange);
    else
        evd_http_exchange_give(request->exchange, call->receipt, last);
}

void evd_edge_stream_run_done(struct evd_edge_request *request) {
    const struct evd_call *call = &request->call;
    bool more = call->outcome.code == EVD_OK && call->stream.more;
    if (request->streams) {
        go_on(request);
    } else if (!more) {
        evd_edge_leave_with(request, evd_edge_call_reply);
    } else if (call->receipt.size_bytes == 0) {
        evd_edge_stream_more(request);
    } else {
        begin(request);
    }
}
