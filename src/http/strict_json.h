/*
 * A JSON object from outside, bounded before the parser sees it: depth, number of values, no member twice.
 */
#ifndef EVIDENCED_HTTP_STRICT_JSON_H
#define EVIDENCED_HTTP_STRICT_JSON_H

#include "evidenced/base/text.h"

#include <jansson.h>

enum evd_strict_json { EVD_STRICT_JSON_OK, EVD_STRICT_JSON_MALFORMED, EVD_STRICT_JSON_NO_MEMORY };

/**
 * Parse one object with nothing behind it.
 *
 * most_depth    objects and lists within one another, the outer one included
 * most_values   members and elements, roughly: separators and brackets are counted
 * ret_object    a new reference, only with EVD_STRICT_JSON_OK
 */
enum evd_strict_json evd_strict_json_object(struct evd_text text, unsigned most_depth, unsigned most_values,
                                            json_t **ret_object) __attribute__((warn_unused_result));

/** A string's text, which lives as long as `value`; bytes NULL when it is no string (or NULL). */
struct evd_text evd_strict_json_text(const json_t *value);

#endif
