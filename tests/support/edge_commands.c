#include "edge_commands.h"

#include "edge_fixture.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/sha256.h"
#include "evidenced/commands/bodies.h"
#include "evidenced/records/json.h"

#define EDGE_TEMPLATE_DRAFT "/v1/projects/{project}/studies/{study}/draft"

/* What `hold` waits for. */
static pthread_mutex_t latch = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t latch_changed = PTHREAD_COND_INITIALIZER;
static bool latch_open;
static unsigned held;

static void wait_for_release(void) {
    (void)pthread_mutex_lock(&latch);
    held++;
    (void)pthread_cond_broadcast(&latch_changed);
    while (!latch_open)
        (void)pthread_cond_wait(&latch_changed, &latch);
    held--;
    (void)pthread_mutex_unlock(&latch);
}

void evd_edge_fixture_await_held(unsigned count) {
    (void)pthread_mutex_lock(&latch);
    while (held < count)
        (void)pthread_cond_wait(&latch_changed, &latch);
    (void)pthread_mutex_unlock(&latch);
}

void evd_edge_fixture_release(void) {
    (void)pthread_mutex_lock(&latch);
    latch_open = true;
    (void)pthread_cond_broadcast(&latch_changed);
    (void)pthread_mutex_unlock(&latch);
}

/* What they do. */

static struct evd_outcome echo_parse(struct evd_call *call) {
    struct evd_text part = evd_uuid_part(&call->command_id);
    call->ids.project = evd_uuid_derive("project", &part, 1);
    return evd_ok();
}

static struct evd_outcome outcome_named(struct evd_call *call, struct evd_text name) {
    for (int code = EVD_OK + 1; code < EVD_OUTCOME_COUNT; code++) {
        if (!evd_text_equal(name, evd_text_from(evd_outcome_entry_of((enum evd_outcome_code)code)->name))) continue;
        struct evd_outcome outcome = evd_outcome_of((enum evd_outcome_code)code);
        if (code == EVD_REFUSED) outcome.reason = EVD_REASON_PERMISSION;
        if (code == EVD_STALE_BASE) outcome.members = EVD_TEXT("\"declared\":\"1\",\"current\":\"2\"");
        if (code != EVD_VALIDATION_FAILED) return outcome;
        struct evd_errors *errors = EVD_NEW(evd_call_arena(call), struct evd_errors);
        evd_errors_init(errors, evd_call_arena(call));
        (void)evd_errors_add(errors, EVD_TEXT("/name"), "required", EVD_TEXT("It is needed."));
        return evd_errors_outcome(errors);
    }
    return evd_ok();
}

static struct evd_outcome echo_refuse(struct evd_call *call) {
    static const struct evd_text refuse = EVD_TEXT_INIT("refuse:");
    const struct evd_create_project_request *request = call->request;
    if (evd_text_equal(request->name, EVD_TEXT("hold"))) wait_for_release();
    if (!evd_text_starts_with(request->name, refuse)) return evd_ok();
    struct evd_text name = {request->name.bytes + refuse.size_bytes, request->name.size_bytes - refuse.size_bytes};
    return outcome_named(call, name);
}

static void echo_derive(struct evd_call *call) {
    const struct evd_create_project_request *request = call->request;
    char caller[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(call->caller, caller);
    call->receipt = evd_text_print(evd_call_arena(call), "{\"name\":\"" EVD_TEXT_FMT "\",\"caller\":\"%s\",\"may\":%d}",
                                   EVD_TEXT_ARG(request->name), caller, call->may_create_projects);
}

static void touch_derive(struct evd_call *call) {
    call->receipt = EVD_TEXT("{\"touched\":true}");
}

static void look_derive(struct evd_call *call) {
    struct evd_buffer receipt;
    evd_buffer_init(&receipt, evd_call_arena(call), 256);
    evd_buffer_print(&receipt, "{\"limit\":%zu,\"cursor\":", call->page.limit);
    if (call->page.cursor.bytes == NULL)
        evd_buffer_add_text(&receipt, EVD_TEXT("null"));
    else
        evd_json_write_string(call->page.cursor, &receipt);
    evd_buffer_add_byte(&receipt, '}');
    call->receipt = evd_buffer_text(&receipt);
}

static void add_condition(struct evd_buffer *receipt, const char *before, struct evd_text condition) {
    evd_buffer_add_text(receipt, evd_text_from(before));
    if (condition.bytes == NULL)
        evd_buffer_add_text(receipt, EVD_TEXT("null"));
    else
        evd_json_write_string(condition, receipt);
}

static void conditional_derive(struct evd_call *call) {
    struct evd_buffer receipt;
    evd_buffer_init(&receipt, evd_call_arena(call), 256);
    add_condition(&receipt, "{\"ifMatch\":", call->conditions.if_match);
    add_condition(&receipt, ",\"ifNoneMatch\":", call->conditions.if_none_match);
    evd_buffer_print(&receipt, ",\"keyed\":%d}", !evd_uuid_is_nil(call->command_id));
    call->receipt = evd_buffer_text(&receipt);
    call->etag = EDGE_ETAG;
}

/* Which run of a script this is. */
struct progress {
    size_t run;
};

static atomic_uint script_runs;

unsigned evd_edge_script_runs(void) {
    return atomic_load(&script_runs);
}

static char letter_of(const struct evd_call *call) {
    const struct progress *progress = call->stream.carried;
    size_t run = progress == NULL ? 0 : progress->run;
    return run < call->page.state.size_bytes ? call->page.state.bytes[run] : '.';
}

static struct evd_outcome script_refuse(struct evd_call *call) {
    atomic_fetch_add(&script_runs, 1);
    if (letter_of(call) == 'h') wait_for_release();
    return letter_of(call) == '!' ? evd_outcome_of(EVD_LOCKED) : evd_ok();
}

static struct evd_text script_piece(struct evd_call *call, char letter) {
    if (letter == '-') return EVD_TEXT("");
    if (letter != 'L') return evd_text_print(evd_call_arena(call), "%c;", letter);
    char *bytes = evd_arena_alloc(evd_call_arena(call), EDGE_LARGE_PIECE);
    memset(bytes, 'L', EDGE_LARGE_PIECE);
    return (struct evd_text){bytes, EDGE_LARGE_PIECE};
}

static void script_derive(struct evd_call *call) {
    call->receipt = script_piece(call, letter_of(call));
    if (call->stream.carried == NULL) call->stream.carried = EVD_NEW(call->arena, struct progress);
    struct progress *progress = call->stream.carried;
    progress->run++;
    call->stream.more = progress->run < call->page.state.size_bytes;
}

static void import_derive(struct evd_call *call) {
    const struct evd_options *options = &call->options;
    struct evd_buffer receipt;
    char digest[2 * sizeof call->digest.bytes + 1];
    struct evd_sha256 body = evd_sha256_of(call->body.bytes, call->body.size_bytes);
    for (size_t i = 0; i < sizeof body.bytes; i++)
        (void)snprintf(digest + 2 * i, 3, "%02x", body.bytes[i]);
    evd_buffer_init(&receipt, evd_call_arena(call), 256);
    evd_buffer_print(&receipt, "{\"media\":%d,\"bytes\":%zu,\"sha256\":\"%s\",\"dryRun\":%d,\"skipRefused\":%d",
                     (int)call->media, call->body.size_bytes, digest, options->dry_run, options->skip_refused);
    evd_buffer_print(&receipt, ",\"delimiter\":%d,\"safe\":%d,\"labels\":[", options->delimiter,
                     options->spreadsheet_safe);
    for (size_t i = 0; i < options->label_count; i++) {
        if (i > 0) evd_buffer_add_byte(&receipt, ',');
        evd_json_write_string(options->labels[i], &receipt);
    }
    evd_buffer_add_text(&receipt, EVD_TEXT("]}"));
    call->receipt = evd_buffer_text(&receipt);
}

static atomic_int operations_stand;

void evd_edge_operations_stand(enum evd_edge_stand stand) {
    atomic_store(&operations_stand, stand);
}

static struct evd_outcome operation_refuse(struct evd_call *call) {
    (void)call;
    return atomic_load(&operations_stand) == EDGE_OPERATIONS_HIDDEN ? evd_outcome_of(EVD_NOT_FOUND) : evd_ok();
}

static void operation_derive(struct evd_call *call) {
    bool settled = atomic_load(&operations_stand) == EDGE_OPERATIONS_SETTLED;
    char id[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(call->ids.operation, id);
    call->receipt = evd_text_print(evd_call_arena(call), "{\"id\":\"%s\",\"settled\":%d}", id, settled);
    call->progress = settled ? EVD_PROGRESS_SETTLED : EVD_PROGRESS_UNDER_WAY;
}

static const struct evd_command echo = {.name = "Echo",
                                        .method = EVD_COMMAND_POST,
                                        .path = "/v1/projects",
                                        .commit = EVD_COMMIT_TXN,
                                        .makes_project = true,
                                        .body_limit_bytes = EDGE_BODY_LIMIT,
                                        .request = &evd_type_create_project_request,
                                        .outcomes = UINT64_MAX,
                                        .parse = echo_parse,
                                        .refuse = echo_refuse,
                                        .derive = echo_derive};
static const struct evd_command touch = {.name = "Touch",
                                         .method = EVD_COMMAND_POST,
                                         .path = "/v1/projects/{project}/studies/{study}/touch",
                                         .commit = EVD_COMMIT_TXN,
                                         .makes_project = true,
                                         .derive = touch_derive};
static const struct evd_command look = {.name = "Look",
                                        .method = EVD_COMMAND_GET,
                                        .query = EVD_QUERY_PAGE,
                                        .path = "/v1/projects/{project}/members",
                                        .commit = EVD_COMMIT_READ,
                                        .makes_project = true,
                                        .derive = look_derive};
static const struct evd_command keep = {.name = "Keep",
                                        .method = EVD_COMMAND_GET,
                                        .path = "/v1/projects/{project}/forms/{form}/versions/{version}",
                                        .commit = EVD_COMMIT_READ,
                                        .makes_project = true,
                                        .immutable = true,
                                        .derive = touch_derive};
static const struct evd_command show = {.name = "Show",
                                        .method = EVD_COMMAND_GET,
                                        .path = EDGE_TEMPLATE_DRAFT,
                                        .commit = EVD_COMMIT_READ,
                                        .makes_project = true,
                                        .conditional = true,
                                        .derive = conditional_derive};
static const struct evd_command put = {.name = "Put",
                                       .method = EVD_COMMAND_PUT,
                                       .path = EDGE_TEMPLATE_DRAFT,
                                       .commit = EVD_COMMIT_SWAP,
                                       .makes_project = true,
                                       .conditional = true,
                                       .body_limit_bytes = EDGE_BODY_LIMIT,
                                       .request = &evd_type_create_project_request,
                                       .outcomes = UINT64_MAX,
                                       .refuse = echo_refuse,
                                       .derive = conditional_derive};
static const struct evd_command patch = {.name = "Patch",
                                         .method = EVD_COMMAND_PATCH,
                                         .path = EDGE_TEMPLATE_DRAFT,
                                         .commit = EVD_COMMIT_SWAP,
                                         .makes_project = true,
                                         .body_limit_bytes = EDGE_BODY_LIMIT,
                                         .request = &evd_type_create_project_request,
                                         .refuse = echo_refuse,
                                         .derive = echo_derive};
static const struct evd_command discard = {.name = "Discard",
                                           .method = EVD_COMMAND_DELETE,
                                           .path = EDGE_TEMPLATE_DRAFT,
                                           .commit = EVD_COMMIT_TXN,
                                           .makes_project = true,
                                           .conditional = true,
                                           .body_limit_bytes = EDGE_BODY_LIMIT,
                                           .request = &evd_type_create_project_request,
                                           .parse = echo_parse,
                                           .derive = conditional_derive};
static const struct evd_command drop = {.name = "Drop",
                                        .method = EVD_COMMAND_DELETE,
                                        .path = "/v1/projects/{project}/studies/{study}/copies/{copy}",
                                        .commit = EVD_COMMIT_TXN,
                                        .makes_project = true,
                                        .derive = touch_derive};

static const struct evd_command script = {.name = "Script",
                                          .method = EVD_COMMAND_GET,
                                          .path = "/v1/projects/{project}/script.csv",
                                          .query = EVD_PARAMETER_BIT(EVD_PARAMETER_STATE),
                                          .commit = EVD_COMMIT_READ,
                                          .makes_project = true,
                                          .streamed = true,
                                          .content_type = "text/csv; charset=utf-8",
                                          .outcomes = EVD_OUTCOME_BIT(EVD_LOCKED),
                                          .refuse = script_refuse,
                                          .derive = script_derive};

static const struct evd_command import = {.name = "Import",
                                          .method = EVD_COMMAND_POST,
                                          .path = "/v1/projects/{project}/imports",
                                          .query = EVD_QUERY_IMPORT | EVD_PARAMETER_BIT(EVD_PARAMETER_SPREADSHEET),
                                          .commit = EVD_COMMIT_OPERATION,
                                          .makes_project = true,
                                          .references = true,
                                          .body_limit_bytes = EDGE_FILE_LIMIT,
                                          .outcomes = UINT64_MAX,
                                          .derive = import_derive};

static const struct evd_command operation = {.name = "Operation",
                                             .method = EVD_COMMAND_GET,
                                             .path = "/v1/projects/{project}/operations/{operation}",
                                             .commit = EVD_COMMIT_READ,
                                             .makes_project = true,
                                             .refuse = operation_refuse,
                                             .derive = operation_derive};

const struct evd_command *const evd_edge_commands[] = {&echo,  &touch,   &look, &keep,   &show,   &put,
                                                       &patch, &discard, &drop, &script, &import, &operation};
const size_t evd_edge_command_count = sizeof evd_edge_commands / sizeof *evd_edge_commands;
