#define CURL_DISABLE_TYPECHECK 1 /* its macros hide our own warnings */

#include "wire.h"

#include "interrupt.h"
#include "progress.h"

#include <curl/curl.h>
#include <errno.h>
#include <unistd.h>

enum { CONNECT_SECONDS = 10, SILENCE_SECONDS = 120, FIRST_BYTES = 16 * 1024 };

struct evd_ctl_wire {
    CURL *handle;
    char *socket, *url, *ca_file;
    char *authorization; /* the header line; NULL: none */
};

/* What the callbacks of one exchange share. */
struct exchange {
    struct evd_ctl_wire *wire;
    const struct evd_ctl_call *call;
    struct evd_ctl_answer *answer;
    size_t capacity_bytes;
    off_t sent_bytes;
    bool is_delivered, is_too_long, has_failed; /* the sink or the file */
    bool is_set;                                /* all options were taken */
    struct curl_slist *headers;
    char error[CURL_ERROR_SIZE];
};

static char *copy_or_null(const char *text) {
    return text == NULL ? NULL : strdup(text);
}

struct evd_ctl_wire *evd_ctl_wire_open(const struct evd_ctl_target *target) {
    struct evd_ctl_wire *wire = calloc(1, sizeof *wire);
    if (wire == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(wire);
        return NULL;
    }
    wire->handle = curl_easy_init();
    wire->socket = copy_or_null(target->socket);
    wire->url = strdup(target->socket == NULL ? target->url : "http://localhost");
    wire->ca_file = copy_or_null(target->ca_file);
    if (target->token != NULL && asprintf(&wire->authorization, "Authorization: Bearer %s", target->token) < 0)
        wire->authorization = NULL;
    bool whole = wire->handle != NULL && wire->url != NULL && (target->socket == NULL) == (wire->socket == NULL) &&
                 (target->ca_file == NULL) == (wire->ca_file == NULL) &&
                 (target->token == NULL) == (wire->authorization == NULL);
    if (whole) return wire;
    evd_ctl_wire_close(wire);
    return NULL;
}

void evd_ctl_wire_close(struct evd_ctl_wire *wire) {
    if (wire == NULL) return;
    if (wire->authorization != NULL) explicit_bzero(wire->authorization, strlen(wire->authorization));
    curl_easy_cleanup(wire->handle);
    free(wire->authorization);
    free(wire->socket);
    free(wire->url);
    free(wire->ca_file);
    free(wire);
    curl_global_cleanup();
}

/* Callbacks. */

static bool keep(struct exchange *exchange, const char *bytes, size_t size_bytes) {
    struct evd_ctl_answer *answer = exchange->answer;
    size_t needed = answer->body_bytes + size_bytes + 1, capacity = exchange->capacity_bytes;
    if (needed > EVD_CTL_ANSWER_BYTES) return !(exchange->is_too_long = true);
    while (capacity < needed)
        capacity = capacity == 0 ? FIRST_BYTES : capacity * 2;
    if (capacity > exchange->capacity_bytes) {
        char *larger = realloc(answer->body, capacity);
        if (larger == NULL) return !(exchange->is_too_long = true);
        answer->body = larger;
        exchange->capacity_bytes = capacity;
    }
    memcpy(answer->body + answer->body_bytes, bytes, size_bytes);
    answer->body_bytes += size_bytes;
    answer->body[answer->body_bytes] = '\0';
    return true;
}

static size_t on_body(char *bytes, size_t one, size_t count, void *self) {
    struct exchange *exchange = self;
    const struct evd_ctl_sink *sink = exchange->call->sink;
    long status = 0;
    size_t size_bytes = one * count;
    (void)curl_easy_getinfo(exchange->wire->handle, CURLINFO_RESPONSE_CODE, &status);
    if (sink == NULL || status < 200 || status > 299) return keep(exchange, bytes, size_bytes) ? size_bytes : 0;
    if (size_bytes == 0) return 0;
    exchange->is_delivered = true;
    exchange->has_failed = !sink->take(sink->self, bytes, size_bytes);
    return exchange->has_failed ? 0 : size_bytes;
}

static size_t on_send(char *into, size_t one, size_t count, void *self) {
    struct exchange *exchange = self;
    size_t left = exchange->call->file_bytes - (size_t)exchange->sent_bytes, room = one * count;
    if (left == 0) return 0;
    ssize_t got = pread(exchange->call->file, into, left < room ? left : room, exchange->sent_bytes);
    exchange->has_failed = got <= 0; /* 0: it has become shorter */
    if (exchange->has_failed) return CURL_READFUNC_ABORT;
    exchange->sent_bytes += got;
    return (size_t)got;
}

static int on_rewind(void *self, curl_off_t offset, int origin) {
    struct exchange *exchange = self;
    if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
    exchange->sent_bytes = (off_t)offset;
    return CURL_SEEKFUNC_OK;
}

static int on_progress(void *self, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up) {
    const struct exchange *exchange = self;
    struct evd_ctl_progress *progress = exchange->call->progress;
    if (progress != NULL && exchange->call->is_file)
        evd_ctl_progress_bytes(progress, (uint64_t)up, (uint64_t)up_total);
    else if (progress != NULL)
        evd_ctl_progress_bytes(progress, (uint64_t)down, (uint64_t)down_total);
    return evd_ctl_is_interrupted() ? 1 : 0;
}

/* Setting up. */

static void add_header(struct exchange *exchange, const char *line) {
    struct curl_slist *longer = curl_slist_append(exchange->headers, line);
    if (longer == NULL)
        exchange->is_set = false;
    else
        exchange->headers = longer;
}

static void add_headers(struct exchange *exchange) {
    const struct evd_ctl_call *call = exchange->call;
    char line[256];
    if (exchange->wire->authorization != NULL) add_header(exchange, exchange->wire->authorization);
    if (call->content_type != NULL) {
        (void)snprintf(line, sizeof line, "Content-Type: %s", call->content_type);
        add_header(exchange, line);
    } else {
        add_header(exchange, "Content-Type:");
    }
    if (call->key != NULL) {
        (void)snprintf(line, sizeof line, "Idempotency-Key: %s", call->key);
        add_header(exchange, line);
    }
    if (call->prefer_wait_s > 0) {
        (void)snprintf(line, sizeof line, "Prefer: wait=%u", call->prefer_wait_s);
        add_header(exchange, line);
    }
}

#define SET(exchange, option, value)                                                                                   \
    ((exchange)->is_set &= curl_easy_setopt((exchange)->wire->handle, (option), (value)) == CURLE_OK)

static void set_target(struct exchange *exchange) {
    const struct evd_ctl_wire *wire = exchange->wire;
    char *url = NULL;
    exchange->is_set &= asprintf(&url, "%s%s", wire->url, exchange->call->path) >= 0;
    if (!exchange->is_set) return;
    SET(exchange, CURLOPT_URL, url); /* copied */
    free(url);
    SET(exchange, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(exchange, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (wire->socket != NULL) SET(exchange, CURLOPT_UNIX_SOCKET_PATH, wire->socket);
    if (wire->ca_file != NULL) SET(exchange, CURLOPT_CAINFO, wire->ca_file);
    /* A proxy of plain http would read the token; one of https only passes bytes on. */
    if (strncmp(wire->url, "http:", 5) == 0) SET(exchange, CURLOPT_PROXY, "");
}

static void set_body(struct exchange *exchange) {
    const struct evd_ctl_call *call = exchange->call;
    if (strcmp(call->method, "POST") != 0) return;
    SET(exchange, CURLOPT_POST, 1L);
    if (call->is_file) {
        SET(exchange, CURLOPT_READFUNCTION, on_send);
        SET(exchange, CURLOPT_READDATA, exchange);
        SET(exchange, CURLOPT_SEEKFUNCTION, on_rewind);
        SET(exchange, CURLOPT_SEEKDATA, exchange);
        SET(exchange, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->file_bytes);
    } else {
        SET(exchange, CURLOPT_POSTFIELDS, call->body.size_bytes == 0 ? "" : call->body.bytes);
        SET(exchange, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.size_bytes);
    }
}

static void set_up(struct exchange *exchange) {
    const struct evd_ctl_call *call = exchange->call;
    curl_easy_reset(exchange->wire->handle);
    set_target(exchange);
    set_body(exchange);
    add_headers(exchange);
    SET(exchange, CURLOPT_HTTPHEADER, exchange->headers);
    SET(exchange, CURLOPT_USERAGENT, "evidencectl/" EVD_VERSION);
    SET(exchange, CURLOPT_ERRORBUFFER, exchange->error);
    SET(exchange, CURLOPT_WRITEFUNCTION, on_body);
    SET(exchange, CURLOPT_WRITEDATA, exchange);
    SET(exchange, CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(exchange, CURLOPT_XFERINFODATA, exchange);
    SET(exchange, CURLOPT_NOPROGRESS, 0L);
    SET(exchange, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    SET(exchange, CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(exchange, CURLOPT_LOW_SPEED_TIME, call->silence_s > 0 ? call->silence_s : (long)SILENCE_SECONDS);
}

/* What came of it. */

static enum evd_ctl_trouble trouble_of(const struct exchange *exchange, CURLcode code) {
    if (code == CURLE_OK) return EVD_CTL_NO_TROUBLE;
    if (evd_ctl_is_interrupted()) return EVD_CTL_INTERRUPTED;
    if (exchange->has_failed) return EVD_CTL_SINK_FAILED;
    if (exchange->is_too_long) return EVD_CTL_TOO_LONG;
    if (exchange->is_delivered) return EVD_CTL_CUT_SHORT;
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY)
        return EVD_CTL_UNREACHED;
    if (code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
        code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CIPHER)
        return EVD_CTL_NOT_TRUSTED;
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_OUT_OF_MEMORY ||
        code == CURLE_FAILED_INIT || code == CURLE_NOT_BUILT_IN)
        return EVD_CTL_IMPOSSIBLE;
    return EVD_CTL_BROKEN;
}

/* The system's own word for it is the clearest, where there is one. */
static void explain(struct exchange *exchange, CURLcode code) {
    struct evd_ctl_answer *answer = exchange->answer;
    long error = 0;
    (void)curl_easy_getinfo(exchange->wire->handle, CURLINFO_OS_ERRNO, &error);
    const char *why = exchange->error[0] != '\0' ? exchange->error : curl_easy_strerror(code);
    if (answer->trouble == EVD_CTL_UNREACHED && error != 0) why = strerrordesc_np((int)error);
    if (answer->trouble == EVD_CTL_TOO_LONG) why = "the answer is too long";
    (void)snprintf(answer->why, sizeof answer->why, "%s", why);
}

static void read_answer(struct exchange *exchange) {
    struct evd_ctl_answer *answer = exchange->answer;
    CURL *handle = exchange->wire->handle;
    const char *type = NULL;
    curl_off_t retry_after_s = -1;
    (void)curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer->status);
    (void)curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &retry_after_s);
    (void)curl_easy_getinfo(handle, CURLINFO_CONTENT_TYPE, &type);
    answer->retry_after_s = (long)retry_after_s;
    bool is_json = type != NULL && (strncasecmp(type, "application/json", 16) == 0 ||
                                    strncasecmp(type, "application/problem+json", 24) == 0);
    if (is_json && answer->body != NULL)
        answer->json = json_loadb(answer->body, answer->body_bytes, JSON_REJECT_DUPLICATES, NULL);
}

void evd_ctl_wire_ask(struct evd_ctl_wire *wire, const struct evd_ctl_call *call, struct evd_ctl_answer *ret_answer) {
    struct exchange exchange = {.wire = wire, .call = call, .answer = ret_answer, .is_set = true};
    *ret_answer = (struct evd_ctl_answer){.retry_after_s = -1};
    set_up(&exchange);
    CURLcode code = exchange.is_set ? curl_easy_perform(wire->handle) : CURLE_OUT_OF_MEMORY;
    ret_answer->trouble = trouble_of(&exchange, code);
    if (ret_answer->trouble == EVD_CTL_NO_TROUBLE)
        read_answer(&exchange);
    else
        explain(&exchange, code);
    curl_easy_setopt(wire->handle, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(exchange.headers);
}

void evd_ctl_answer_done(struct evd_ctl_answer *answer) {
    if (answer == NULL) return;
    free(answer->body);
    json_decref(answer->json);
    answer->body = NULL;
    answer->json = NULL;
}
