/*
 * The guard: what is wrong with a request's head, before anybody believes what it says about its body.
 *
 * Pure: looks at the parsed head only. Two parties that disagree about where a request ends let a second request be
 * smuggled past the first; so whatever could be read in two ways is refused.
 */
#ifndef EVIDENCED_HTTP_GUARD_H
#define EVIDENCED_HTTP_GUARD_H

#include "evidenced/base/text.h"
#include "evidenced/http/server.h"

struct evd_http_field {
    struct evd_text name, value;
};

struct evd_guard_head {
    struct evd_text method, version;
    const struct evd_http_field *fields;
    size_t field_count;
};

struct evd_guard_refusal {
    unsigned status;  /* 0: nothing is wrong */
    const char *what; /* static, a sentence */
};

#define EVD_GUARD_PASS ((struct evd_guard_refusal){0, NULL})

/** EVD_HTTP_METHOD_OTHER for what this server does not implement. Methods are case-sensitive. */
enum evd_http_method evd_guard_method(struct evd_text name);

/** Names, Host, framing, method, coding; in this order, the first refusal that holds. *ret_content_length is set when
 * it passes: 0 when none was declared. */
struct evd_guard_refusal evd_guard_check(const struct evd_guard_head *head, size_t *ret_content_length);

#endif
