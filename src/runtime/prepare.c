/*
 * What happens once for each call, before any attempt: its body becomes the typed request, and the request a digest.
 */
#include "evidenced/base/buffer.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/json.h"
#include "runtime/private.h"

#include <jansson.h>

static struct evd_outcome malformed(struct evd_call *call, const struct evd_json_fault *fault) {
    struct evd_buffer *members = EVD_NEW(call->arena, struct evd_buffer);
    evd_buffer_init(members, call->arena, 128);
    evd_buffer_add_text(members, EVD_TEXT("\"pointer\":"));
    evd_json_write_string(fault->pointer, members);
    return (struct evd_outcome){.code = EVD_MALFORMED, .detail = fault->message, .members = evd_buffer_text(members)};
}

/* The digest covers the command, its target and the typed request; how the JSON was spelt does not matter. What is
 * digested is forgotten with the first attempt. */
static struct evd_sha256 digest_of(struct evd_call *call) {
    const struct evd_type *type = call->command->request;
    struct evd_image request = {0};
    if (type != NULL) request = evd_bson_encode(type, call->request, &call->attempt_arena);
    struct evd_text ids = {(const char *)&call->ids, sizeof call->ids};
    struct evd_text body = {(const char *)request.bson, request.size_bytes};
    struct evd_text parts[] = {evd_text_from(call->command->name), evd_uuid_part(&call->caller), ids, body};
    return evd_sha256_of_parts(parts, sizeof parts / sizeof *parts);
}

static struct evd_outcome parse(struct evd_call *call) {
    const struct evd_command *command = call->command;
    struct evd_json_fault fault = {{0}, {0}};
    if (command->request != NULL) {
        call->parsed = evd_json_parse(call->body, call->arena, &fault);
        if (call->parsed == NULL) return malformed(call, &fault);
        call->request = evd_arena_alloc(call->arena, command->request->size_bytes);
        if (!evd_json_read(command->request, call->parsed, call->arena, call->request, &fault))
            return malformed(call, &fault);
    }
    if (command->commit == EVD_COMMIT_TXN) call->digest = digest_of(call);
    return command->parse == NULL ? evd_ok() : command->parse(call);
}

bool evd_call_prepare(struct evd_call *call) {
    jmp_buf escape;
    call->parsed = NULL; /* in the call, so that it is released whichever way parse is left */
    call->arena->escape = call->attempt_arena.escape = &escape;
    if (setjmp(escape) == 0)
        call->outcome = parse(call);
    else
        call->outcome = evd_outcome_of(EVD_OUT_OF_MEMORY);
    json_decref(call->parsed);
    call->parsed = NULL;
    call->arena->escape = call->attempt_arena.escape = NULL;
    return call->outcome.code == EVD_OK;
}
