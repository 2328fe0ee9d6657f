#include "guard.h"

static struct evd_guard_refusal refuse(unsigned status, const char *what) {
    return (struct evd_guard_refusal){status, what};
}

enum evd_http_method evd_guard_method(struct evd_text name) {
    static const struct {
        struct evd_text name;
        enum evd_http_method method;
    } methods[] = {
        {EVD_TEXT_INIT("GET"), EVD_HTTP_GET},         {EVD_TEXT_INIT("HEAD"), EVD_HTTP_HEAD},
        {EVD_TEXT_INIT("POST"), EVD_HTTP_POST},       {EVD_TEXT_INIT("PUT"), EVD_HTTP_PUT},
        {EVD_TEXT_INIT("PATCH"), EVD_HTTP_PATCH},     {EVD_TEXT_INIT("DELETE"), EVD_HTTP_DELETE},
        {EVD_TEXT_INIT("OPTIONS"), EVD_HTTP_OPTIONS},
    };
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (evd_text_equal(methods[i].name, name)) return methods[i].method;
    return EVD_HTTP_METHOD_OTHER;
}

/* RFC 9110 §5.6.2 */
static bool is_token(struct evd_text text) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = text.bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (c == '\0' || strchr(others, c) == NULL)) return false;
    }
    return text.size_bytes > 0;
}

static bool is_field_value(struct evd_text text) {
    for (size_t i = 0; i < text.size_bytes; i++) {
        uint8_t c = (uint8_t)text.bytes[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F) return false;
    }
    return true;
}

static bool fields_are_well_formed(const struct evd_guard_head *head) {
    for (size_t i = 0; i < head->field_count; i++)
        if (!is_token(head->fields[i].name) || !is_field_value(head->fields[i].value)) return false;
    return true;
}

static size_t count_of(const struct evd_guard_head *head, struct evd_text name, struct evd_text *ret_first) {
    size_t count = 0;
    for (size_t i = 0; i < head->field_count; i++) {
        if (!evd_text_equal_ignoring_case(head->fields[i].name, name)) continue;
        if (count++ == 0) *ret_first = head->fields[i].value;
    }
    return count;
}

static bool is_host(struct evd_text host) {
    for (size_t i = 0; i < host.size_bytes; i++)
        if ((uint8_t)host.bytes[i] <= ' ' || strchr("/\\@?#,\"<>", host.bytes[i]) != NULL) return false;
    return true;
}

static struct evd_guard_refusal check_host(const struct evd_guard_head *head, bool old_version) {
    struct evd_text host = EVD_TEXT("");
    size_t count = count_of(head, EVD_TEXT("Host"), &host);
    if (count > 1) return refuse(400, "The request names more than one host.");
    if (count == 0 && !old_version) return refuse(400, "The request names no host.");
    if (!is_host(host)) return refuse(400, "The request's host is not well formed.");
    return EVD_GUARD_PASS;
}

static struct evd_guard_refusal check_framing(const struct evd_guard_head *head, bool old_version,
                                              size_t *ret_content_length) {
    struct evd_text length = EVD_TEXT("0"), coding = EVD_TEXT("");
    size_t lengths = count_of(head, EVD_TEXT("Content-Length"), &length);
    size_t codings = count_of(head, EVD_TEXT("Transfer-Encoding"), &coding);
    uint64_t number;
    if (lengths > 1) return refuse(400, "The request declares its length more than once.");
    if (lengths > 0 && codings > 0) return refuse(400, "The request declares both a length and a transfer coding.");
    if (codings > 1) return refuse(400, "The request declares more than one transfer coding.");
    if (codings > 0 && old_version) return refuse(400, "HTTP/1.0 has no transfer codings.");
    if (codings > 0 && !evd_text_equal_ignoring_case(coding, EVD_TEXT("chunked")))
        return refuse(501, "The request's transfer coding is not implemented.");
    if (codings > 0) return refuse(411, "A body needs a Content-Length.");
    if (!evd_text_to_u64(length, &number) || number > SIZE_MAX / 2)
        return refuse(400, "The request's Content-Length is not a usable number.");
    *ret_content_length = (size_t)number;
    return EVD_GUARD_PASS;
}

static bool is_coded(const struct evd_guard_head *head) {
    for (size_t i = 0; i < head->field_count; i++) {
        if (!evd_text_equal_ignoring_case(head->fields[i].name, EVD_TEXT("Content-Encoding"))) continue;
        struct evd_text coding = evd_text_trim(head->fields[i].value);
        if (coding.size_bytes > 0 && !evd_text_equal_ignoring_case(coding, EVD_TEXT("identity"))) return true;
    }
    return false;
}

struct evd_guard_refusal evd_guard_check(const struct evd_guard_head *head, size_t *ret_content_length) {
    size_t content_length = 0;
    bool old_version = evd_text_equal(head->version, EVD_TEXT("HTTP/1.0"));
    if (!old_version && !evd_text_equal(head->version, EVD_TEXT("HTTP/1.1")))
        return refuse(505, "This server speaks HTTP/1.1 and HTTP/1.0.");
    if (!fields_are_well_formed(head)) return refuse(400, "A header of the request is not well formed.");
    struct evd_guard_refusal refusal = check_host(head, old_version);
    if (refusal.status == 0) refusal = check_framing(head, old_version, &content_length);
    if (refusal.status != 0) return refusal;
    if (evd_guard_method(head->method) == EVD_HTTP_METHOD_OTHER)
        return refuse(501, "This server does not implement the request's method.");
    if (is_coded(head)) return refuse(415, "A coded body is not accepted: send it as it is.");
    *ret_content_length = content_length;
    return EVD_GUARD_PASS;
}
