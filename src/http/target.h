/*
 * The request target: its path and its query, decoded once.
 */
#ifndef EVIDENCED_HTTP_TARGET_H
#define EVIDENCED_HTTP_TARGET_H

#include "guard.h"

struct evd_arena;

enum { EVD_TARGET_BYTES = 8192 }; /* of the target as it came, escapes and query included */

struct evd_target {
    struct evd_text path;
    struct evd_http_field *parameters; /* in the arena */
    size_t parameter_count;
};

/**
 * Decode `raw` into the arena, which may escape. *ret_target is untouched unless it passes.
 *
 * 414 for more than EVD_TARGET_BYTES, or a decoded path over EVD_LIMIT_PATH_BYTES; 400 for anything but an absolute
 * path ("*" is one), a malformed escape, an escaped NUL, and in the path an escaped control character or slash, a "."
 * or ".." segment, bytes that are not UTF-8, or more than EVD_LIMIT_QUERY_PARAMETERS parameters.
 */
struct evd_guard_refusal evd_target_decode(struct evd_arena *arena, struct evd_text raw, struct evd_target *ret_target);

#endif
