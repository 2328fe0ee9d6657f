/*
 * jansson, safe from memory that runs out. By itself it goes on without the bytes of a token that it has no memory for:
 * a shortened answer, a wrong number or a fault of the text may come of it, or the end of the process (an assertion on
 * what stands behind a backslash).
 */
#ifndef EVIDENCED_RECORDS_JSON_LOAD_H
#define EVIDENCED_RECORDS_JSON_LOAD_H

#include "evidenced/base/text.h"

struct json_t;
struct json_error_t;

/**
 * Parse a text; duplicate members are refused. The result is owned by the caller (json_decref). NULL when it is
 * refused, with *ret_error, or when memory ran out, with *ret_no_memory. Any thread.
 */
struct json_t *evd_json_load(struct evd_text text, struct json_error_t *ret_error, bool *ret_no_memory);

/** For tests: where jansson's memory comes from from now on; NULLs: malloc and free. Not while anybody parses. */
void evd_json_memory(void *(*take_from)(size_t size_bytes), void (*give_back_to)(void *memory));

#endif
