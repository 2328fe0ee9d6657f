/*
 * What a head says of its body: that it has a length, and what it is.
 */
#include "edge_private.h"

static const struct {
    struct evd_text type;
    enum evd_media media;
} files[] = {
    {EVD_TEXT_INIT("text/csv"), EVD_MEDIA_CSV},
    {EVD_TEXT_INIT("text/tab-separated-values"), EVD_MEDIA_TSV},
    {EVD_TEXT_INIT("application/x-research-info-systems"), EVD_MEDIA_RIS},
};

/* Cuts what comes before the first `at` off *rest, trimmed. */
static struct evd_text cut(struct evd_text *rest, char at) {
    const char *found = rest->size_bytes == 0 ? NULL : memchr(rest->bytes, at, rest->size_bytes);
    size_t size_bytes = found == NULL ? rest->size_bytes : (size_t)(found - rest->bytes);
    struct evd_text before = {rest->bytes, size_bytes};
    *rest = found == NULL ? EVD_TEXT("") : (struct evd_text){found + 1, rest->size_bytes - size_bytes - 1};
    return evd_text_trim(before);
}

/* Whatever else the parameters say, text that is not UTF-8 is not what it claims to be here. */
static bool is_utf8(struct evd_text parameters) {
    while (parameters.size_bytes > 0) {
        struct evd_text value = cut(&parameters, ';'), name = cut(&value, '=');
        if (!evd_text_equal_ignoring_case(name, EVD_TEXT("charset"))) continue;
        value = evd_text_trim(value);
        bool plain = evd_text_equal_ignoring_case(value, EVD_TEXT("utf-8"));
        if (!plain && !evd_text_equal_ignoring_case(value, EVD_TEXT("\"utf-8\""))) return false;
    }
    return true;
}

static bool is_file(struct evd_text type, struct evd_text parameters, enum evd_media *ret_media) {
    if (!is_utf8(parameters)) return false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!evd_text_equal_ignoring_case(type, files[i].type)) continue;
        *ret_media = files[i].media;
        return true;
    }
    return false;
}

static bool is_taken(struct evd_edge_request *request, bool is_reference_file) {
    struct evd_text parameters = evd_http_exchange_header(request->exchange, "Content-Type");
    struct evd_text type = cut(&parameters, ';');
    if (is_reference_file) return is_file(type, parameters, &request->call.media);
    return evd_text_equal_ignoring_case(type, EVD_TEXT("application/json"));
}

static struct evd_edge_reply *refuse(struct evd_edge_request *request, bool is_reference_file) {
    if (evd_http_exchange_header(request->exchange, "Content-Length").bytes == NULL)
        return evd_edge_problem_of(request, EVD_LENGTH_REQUIRED);
    return is_taken(request, is_reference_file) ? NULL : evd_edge_problem_of(request, EVD_UNSUPPORTED_MEDIA_TYPE);
}

struct evd_edge_reply *evd_edge_refuse_body(struct evd_edge_request *request) {
    const struct evd_command *command = request->call.command;
    return command->request == NULL && !command->references ? NULL : refuse(request, command->references);
}

struct evd_edge_reply *evd_edge_refuse_json(struct evd_edge_request *request) {
    return refuse(request, false);
}
