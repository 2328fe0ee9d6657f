#include "evidenced/http/problem.h"

#include "evidenced/base/buffer.h"
#include "evidenced/records/json.h"

static void add_string(struct evd_buffer *buffer, const char *before, struct evd_text text) {
    evd_buffer_add_text(buffer, evd_text_from(before));
    evd_json_write_string(text, buffer);
}

static void add_error(struct evd_buffer *buffer, const struct evd_error *error) {
    add_string(buffer, "{\"pointer\":", error->pointer);
    add_string(buffer, ",\"code\":", evd_text_from(error->code));
    add_string(buffer, ",\"message\":", error->message);
    if (error->members.size_bytes > 0) {
        evd_buffer_add_byte(buffer, ',');
        evd_buffer_add_text(buffer, error->members);
    }
    evd_buffer_add_byte(buffer, '}');
}

static void add_errors(struct evd_buffer *buffer, const struct evd_errors *errors) {
    evd_buffer_print(buffer, ",\"errorCount\":%zu,\"errors\":[", errors->total);
    for (size_t i = 0; i < errors->count; i++) {
        if (i > 0) evd_buffer_add_byte(buffer, ',');
        add_error(buffer, &errors->items[i]);
    }
    evd_buffer_add_byte(buffer, ']');
}

static void add_command_id(struct evd_buffer *buffer, evd_uuid command_id) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(command_id, text);
    evd_buffer_print(buffer, ",\"commandId\":\"%s\"", text);
}

void evd_problem_render(const struct evd_problem *problem, struct evd_buffer *buffer) {
    const struct evd_outcome *outcome = &problem->outcome;
    const struct evd_outcome_entry *entry = evd_outcome_entry_of(outcome->code);
    const char *reason = evd_reason_name(outcome->reason);
    evd_buffer_print(buffer, "{\"type\":\"urn:evidenced:problem:%s\"", entry->kebab);
    add_string(buffer, ",\"title\":", evd_text_from(entry->title));
    evd_buffer_print(buffer, ",\"status\":%u", problem->status == 0 ? entry->status : problem->status);
    add_string(buffer, ",\"detail\":", outcome->detail.bytes == NULL ? evd_text_from(entry->detail) : outcome->detail);
    if (problem->request_id.size_bytes > 0)
        evd_buffer_print(buffer, ",\"instance\":\"urn:evidenced:request:" EVD_TEXT_FMT "\"",
                         EVD_TEXT_ARG(problem->request_id));
    evd_buffer_print(buffer, ",\"outcome\":\"%s\"", entry->name);
    if (reason != NULL) evd_buffer_print(buffer, ",\"reason\":\"%s\"", reason);
    evd_buffer_print(buffer, ",\"retryable\":%s", entry->retryable ? "true" : "false");
    if (problem->command_id != NULL) add_command_id(buffer, *problem->command_id);
    if (outcome->members.size_bytes > 0) {
        evd_buffer_add_byte(buffer, ',');
        evd_buffer_add_text(buffer, outcome->members);
    }
    if (outcome->errors != NULL) add_errors(buffer, outcome->errors);
    evd_buffer_add_byte(buffer, '}');
}

struct evd_text evd_problem_out_of_memory(void) {
    return EVD_TEXT("{\"type\":\"urn:evidenced:problem:out-of-memory\",\"title\":\"Out of memory\",\"status\":503,"
                    "\"detail\":\"This request needs more memory than one call may use.\","
                    "\"outcome\":\"OutOfMemory\",\"retryable\":true}");
}

/* A bulk update holds its studies for minutes; a publication takes seconds; whatever lost a race can try at once. */
unsigned evd_problem_retry_seconds(enum evd_outcome_code code) {
    if (!evd_outcome_entry_of(code)->retryable) return 0;
    if (code == EVD_LOCKED) return 120;
    if (code == EVD_STORE_IS_FULL) return 30;
    if (code == EVD_PUBLICATION_IN_PROGRESS || code == EVD_DRAINING || code == EVD_CLOCK_DRIFT) return 5;
    if (code == EVD_FENCED || code == EVD_STORE_IS_UNAVAILABLE || code == EVD_STALE_PROJECTION) return 2;
    return 1;
}

enum evd_outcome_code evd_problem_of_status(unsigned status) {
    switch (status) {
    case 404: return EVD_NOT_FOUND;
    case 405: return EVD_METHOD_NOT_ALLOWED;
    case 408: return EVD_REQUEST_TIMEOUT;
    case 411: return EVD_LENGTH_REQUIRED;
    case 413: return EVD_BODY_TOO_LARGE;
    case 414: return EVD_PATH_TOO_LONG;
    case 415: return EVD_UNSUPPORTED_MEDIA_TYPE;
    case 429: return EVD_BUSY;
    case 431: return EVD_HEADERS_TOO_LARGE;
    case 501:
    case 505: return EVD_NOT_IMPLEMENTED;
    case 503: return EVD_OUT_OF_MEMORY;
    case 507: return EVD_STORE_IS_FULL;
    default: return EVD_MALFORMED;
    }
}

enum evd_outcome_code evd_problem_find(struct evd_text kebab) {
    for (int code = EVD_OK + 1; code < EVD_OUTCOME_COUNT; code++)
        if (evd_text_equal(evd_text_from(evd_outcome_entry_of((enum evd_outcome_code)code)->kebab), kebab))
            return (enum evd_outcome_code)code;
    return EVD_OK;
}

static const char *what_to_do(const struct evd_outcome_entry *entry, enum evd_outcome_code code) {
    if (code == EVD_OUTCOME_UNKNOWN)
        return "Send the same request again, with the same `Idempotency-Key`: it takes effect once, whatever happened.";
    if (entry->retryable && entry->status == 409)
        return "Wait as long as `Retry-After` says and send the same request again, with the same `Idempotency-Key`.";
    if (entry->retryable) return "Wait as long as `Retry-After` says and send the request again.";
    if (entry->status == 409)
        return "Sending the same request again gives the same answer. Look at `detail` and the members beside it, load "
               "what changed, and let the person decide; then send a new request with a new `Idempotency-Key`.";
    if (entry->status == 401) return "Obtain a new token and send the request again.";
    if (code == EVD_STORE_IS_CORRUPT) return "Tell the operator, with the request id.";
    return "Correct the request; sending the same one again gives the same answer.";
}

void evd_problem_page(enum evd_outcome_code code, struct evd_buffer *buffer) {
    const struct evd_outcome_entry *entry = evd_outcome_entry_of(code);
    evd_buffer_print(buffer, "# %s: %s\n\n%s\n\n", entry->name, entry->title, entry->detail);
    evd_buffer_print(buffer, "- type: `urn:evidenced:problem:%s`\n- status: %u\n- retryable: %s\n", entry->kebab,
                     entry->status, entry->retryable ? "yes" : "no");
    unsigned seconds = evd_problem_retry_seconds(code);
    if (seconds > 0) evd_buffer_print(buffer, "- Retry-After: %u\n", seconds);
    evd_buffer_print(buffer, "\n## What to do\n\n%s\n", what_to_do(entry, code));
}
