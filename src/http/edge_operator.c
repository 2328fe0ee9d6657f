/*
 * What only the operator can ask for, and only at the control socket: a backup of the store, made by a worker, however
 * long it takes. One at a time: a second one would only slow the first one down.
 */
#include "edge_private.h"

#include "evidenced/base/buffer.h"
#include "evidenced/base/clock.h"
#include "evidenced/base/log.h"
#include "evidenced/records/json.h"
#include "evidenced/store/store.h"

#include <errno.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVD_SCHEMA_FILE "http/operator.def"
#include "evidenced/records/schema_declare.h"
#include "evidenced/records/schema_define.h"
#undef EVD_SCHEMA_FILE

#define BACKUP_PATH  "/v1/operator/backup"
#define BACKUP_ALLOW "POST, OPTIONS"

static struct evd_edge_reply *refuse_head(struct evd_edge_request *request) {
    static const struct evd_text alone = EVD_TEXT_INIT("Only the operator, who sends no token, may have backups made.");
    struct evd_edge_reply *refusal = evd_edge_refuse_stranger(request);
    struct evd_outcome refused = evd_refused(EVD_REASON_PERMISSION, alone);
    if (refusal != NULL) return refusal;
    if (request->token.size_bytes > 0) return evd_edge_problem(request, &refused, 0);
    if (atomic_load(&request->edge->runtime) == NULL || atomic_load(&request->edge->store) == NULL)
        return evd_edge_refuse(request, EVD_STORE_IS_UNAVAILABLE, EVD_TEXT("This instance is still starting."));
    return evd_edge_refuse_json(request);
}

bool evd_edge_operator(struct evd_edge_request *request, struct evd_edge_reply **ret_reply) {
    struct evd_http_exchange *exchange = request->exchange;
    if (request->door != EVD_DOOR_CONTROL || !evd_text_equal(exchange->path, EVD_TEXT(BACKUP_PATH))) return false;
    request->route = BACKUP_PATH;
    request->is_backup = true;
    if (exchange->method == EVD_HTTP_OPTIONS) {
        *ret_reply = evd_edge_options(request, BACKUP_ALLOW);
    } else if (exchange->method != EVD_HTTP_POST) {
        *ret_reply = evd_edge_problem_of(request, EVD_METHOD_NOT_ALLOWED);
        evd_edge_reply_header(*ret_reply, "Allow", EVD_TEXT(BACKUP_ALLOW));
    } else {
        *ret_reply = refuse_head(request);
    }
    return true;
}

/* On a worker. */

struct backup {
    struct evd_edge_request *request;
    struct json_t *parsed; /* here, so that it is released whichever way reading is left */
    struct evd_backup_request *asked;
    struct evd_edge_reply *reply;
    int64_t duration_ms;
};

static struct evd_edge_reply *refuse_place(struct evd_edge_request *request, struct evd_text detail) {
    return evd_edge_malformed(request, detail, EVD_TEXT("\"pointer\":\"/directory\""));
}

/* The directory that the new one is to be in; "" for the root. */
static const char *parent_of(struct evd_arena *arena, struct evd_text directory) {
    size_t size = directory.size_bytes;
    while (size > 1 && directory.bytes[size - 1] == '/')
        size--;
    while (size > 0 && directory.bytes[size - 1] != '/')
        size--;
    return evd_text_copy(arena, (struct evd_text){directory.bytes, size}).bytes;
}

static struct evd_edge_reply *refuse_directory(struct evd_edge_request *request, struct evd_text directory) {
    struct stat there;
    if (directory.size_bytes == 0 || directory.bytes[0] != '/')
        return refuse_place(request, EVD_TEXT("The directory must be named by its absolute path."));
    if (lstat(directory.bytes, &there) == 0)
        return refuse_place(request, EVD_TEXT("The directory exists already; a backup is made in a new one."));
    if (errno != ENOENT) return refuse_place(request, evd_text_from(strerrordesc_np(errno)));
    if (access(parent_of(&request->exchange->arena, directory), W_OK | X_OK) == 0) return NULL;
    return refuse_place(request, EVD_TEXT("The directory cannot be made: the one it is to be in is not there, or the "
                                          "service may not write to it."));
}

static struct evd_edge_reply *refuse_fault(struct evd_edge_request *request, const struct evd_json_fault *fault) {
    struct evd_buffer members;
    evd_buffer_init(&members, &request->exchange->arena, 128);
    evd_buffer_add_text(&members, EVD_TEXT("\"pointer\":"));
    evd_json_write_string(fault->pointer, &members);
    return evd_edge_malformed(request, fault->message, evd_buffer_text(&members));
}

static void read_request(void *self) {
    struct backup *backup = self;
    struct evd_edge_request *request = backup->request;
    struct evd_arena *arena = &request->exchange->arena;
    struct evd_json_fault fault = {{0}, {0}};
    backup->asked = EVD_NEW(arena, struct evd_backup_request);
    backup->parsed = evd_json_parse(request->exchange->body, arena, &fault);
    if (backup->parsed == NULL ||
        !evd_json_read(&evd_type_backup_request, backup->parsed, arena, backup->asked, &fault)) {
        backup->reply = refuse_fault(request, &fault);
        return;
    }
    backup->asked->directory = evd_text_copy(arena, backup->asked->directory); /* terminated */
    backup->reply = refuse_directory(request, backup->asked->directory);
}

static void make_receipt(void *self) {
    struct backup *backup = self;
    struct evd_backup_receipt receipt = {.directory = backup->asked->directory, .duration_ms = backup->duration_ms};
    struct evd_buffer body;
    evd_buffer_init(&body, &backup->request->exchange->arena, 256);
    evd_json_write(&evd_type_backup_receipt, &receipt, &body);
    backup->reply = evd_edge_reply_new(backup->request, 200);
    evd_edge_reply_header(backup->reply, "Cache-Control", EVD_TEXT("no-store"));
    backup->reply->response.content_type = "application/json";
    backup->reply->response.body = evd_buffer_text(&body);
}

static void make_failure(void *self) {
    struct backup *backup = self;
    backup->reply = evd_edge_problem_of(backup->request, backup->request->outcome);
}

static enum evd_outcome_code outcome_of(enum evd_store_status status) {
    if (status == EVD_STORE_OK) return EVD_OK;
    return status == EVD_STORE_FULL ? EVD_STORE_IS_FULL : EVD_STORE_IS_UNAVAILABLE;
}

static void log_backup(const struct backup *backup, enum evd_log_level level, const char *event,
                       const char *status_name) {
    const struct evd_log_field fields[] = {
        EVD_LOG_FIELD_TEXT("request_id", backup->request->exchange->request_id),
        EVD_LOG_FIELD_TEXT("status", evd_text_from(status_name)),
        EVD_LOG_FIELD_I64("duration_ms", backup->duration_ms),
        EVD_LOG_FIELD_TEXT("directory", backup->asked->directory),
    };
    evd_log_event(backup->request->edge->options.log, level, event, fields, sizeof fields / sizeof *fields);
}

static void make_backup(struct backup *backup) {
    struct evd_edge *edge = backup->request->edge;
    int64_t begun_ms = evd_clock_monotonic_ms(edge->options.clock);
    log_backup(backup, EVD_LOG_INFO, "backup-begun", "ok");
    struct evd_store_result made = evd_store_backup(atomic_load(&edge->store), backup->asked->directory.bytes);
    backup->duration_ms = evd_clock_monotonic_ms(edge->options.clock) - begun_ms;
    backup->request->outcome = outcome_of(made.status);
    log_backup(backup, made.status == EVD_STORE_OK ? EVD_LOG_INFO : EVD_LOG_ERROR, "backup-ended",
               evd_store_status_name(made.status));
}

static struct evd_edge_reply *one_at_a_time(struct evd_edge_request *request) {
    return evd_edge_refuse(request, EVD_BUSY, EVD_TEXT("A backup is being made already."));
}

static void answer(struct backup *backup, bool within) {
    struct evd_edge_request *request = backup->request;
    struct evd_http_response response;
    if (within)
        response = backup->reply->response;
    else
        evd_edge_out_of_memory(request, &response);
    request->body_bytes = response.body.size_bytes;
    evd_edge_note(request);
    evd_http_exchange_answer(request->exchange, &response);
}

static void run(struct evd_task *task) {
    struct evd_edge_request *request =
        (struct evd_edge_request *)((char *)task - offsetof(struct evd_edge_request, task));
    struct evd_edge *edge = request->edge;
    struct evd_arena *arena = &request->exchange->arena;
    struct backup backup = {.request = request};
    bool within = evd_edge_within(arena, read_request, &backup);
    json_decref(backup.parsed);
    if (!within || backup.reply != NULL) {
        answer(&backup, within);
        return;
    }
    if (atomic_exchange(&edge->backs_up, true)) {
        evd_edge_answer_with(request, one_at_a_time);
        return;
    }
    make_backup(&backup);
    atomic_store(&edge->backs_up, false);
    answer(&backup, evd_edge_within(arena, request->outcome == EVD_OK ? make_receipt : make_failure, &backup));
}

void evd_edge_back_up(struct evd_edge_request *request) {
    request->task.run = run;
    evd_edge_post(request);
}
