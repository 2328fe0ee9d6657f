/*
 * What happens once for each call, before any attempt: its body becomes the typed request, and the request a digest.
 */
#include "evidenced/base/buffer.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/json.h"
#include "evidenced/records/keys.h"
#include "runtime/private.h"

#include <assert.h>
#include <jansson.h>

static struct evd_outcome malformed(struct evd_call *call, const struct evd_json_fault *fault) {
    struct evd_buffer *members = EVD_NEW(call->arena, struct evd_buffer);
    evd_buffer_init(members, call->arena, 128);
    evd_buffer_add_text(members, EVD_TEXT("\"pointer\":"));
    evd_json_write_string(fault->pointer, members);
    return (struct evd_outcome){.code = EVD_MALFORMED, .detail = fault->message, .members = evd_buffer_text(members)};
}

static const char *const id_names[] = {"project",      "study",   "form", "stage",    "version",
                                       "investigator", "session", "copy", "operation"};
enum { IDS = sizeof id_names / sizeof *id_names, DIGEST_PARTS = 2 + 2 * IDS + 2 };
_Static_assert(sizeof(struct evd_ids) == IDS * sizeof(evd_uuid), "each id of a path has its name in the digest");

/* Each id that is there, by its name: ids that later versions add change no digest. */
static size_t add_ids(const struct evd_ids *ids, struct evd_text *parts, size_t count) {
    const evd_uuid *each = (const evd_uuid *)ids;
    for (size_t i = 0; i < IDS; i++) {
        if (evd_uuid_is_nil(each[i])) continue;
        parts[count++] = evd_text_from(id_names[i]);
        parts[count++] = evd_uuid_part(&each[i]);
    }
    return count;
}

/* What the query of a file's command says, in one spelling. */
static struct evd_text options_of(struct evd_call *call) {
    const struct evd_options *options = &call->options;
    struct evd_buffer *out = EVD_NEW(&call->attempt_arena, struct evd_buffer);
    evd_buffer_init(out, &call->attempt_arena, 128);
    evd_buffer_print(out, "media=%d dryRun=%d skipRefused=%d delimiter=%d", (int)call->media, options->dry_run,
                     options->skip_refused, options->delimiter);
    for (size_t i = 0; i < options->label_count; i++) {
        evd_buffer_print(out, " label=%zu:", options->labels[i].size_bytes);
        evd_buffer_add_text(out, options->labels[i]);
    }
    return evd_buffer_text(out);
}

/* The digest covers the command, its target and the typed request; how the JSON was spelt does not matter. What is
 * digested is forgotten with the first attempt. */
static struct evd_sha256 digest_of(struct evd_call *call) {
    const struct evd_type *type = call->command->request;
    struct evd_image request = {0};
    if (type != NULL) request = evd_bson_encode(type, call->request, &call->attempt_arena);
    struct evd_text parts[DIGEST_PARTS] = {evd_text_from(call->command->name), evd_uuid_part(&call->caller)};
    size_t count = add_ids(&call->ids, parts, 2);
    parts[count] = (struct evd_text){(const char *)request.bson, request.size_bytes};
    if (call->command->references) {
        parts[count++] = options_of(call);
        parts[count] = call->body;
    }
    return evd_sha256_of_parts(parts, count + 1);
}

static struct evd_outcome parse(struct evd_call *call) {
    const struct evd_command *command = call->command;
    struct evd_json_fault fault = {{0}, {0}};
    assert(!command->of_service || command->path == NULL);
    if (command->arena_bytes > 0) call->attempt_arena.cap_bytes = command->arena_bytes;
    if (command->commit == EVD_COMMIT_OPERATION)
        call->made = evd_operation_id(call->ids.project, call->caller, call->command_id);
    if (command->request != NULL && !command->references && command->path != NULL) {
        call->parsed = evd_json_parse(call->body, call->arena, &fault);
        if (call->parsed == NULL) return malformed(call, &fault);
        call->request = evd_arena_alloc(call->arena, command->request->size_bytes);
        if (!evd_json_read(command->request, call->parsed, call->arena, call->request, &fault))
            return malformed(call, &fault);
    }
    if (evd_command_is_ledgered(command)) call->digest = digest_of(call);
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
