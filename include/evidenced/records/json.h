/*
 * The one codec of requests and views: walks a type's field table between a struct and JSON text.
 *
 * Reading is strict: a member the type does not have, one of the wrong type or beyond its bound, and one that is
 * missing are refused with the place (a JSON pointer) and a sentence. What is read lives in the arena, with nothing
 * of the parser left.
 */
#ifndef EVIDENCED_RECORDS_JSON_H
#define EVIDENCED_RECORDS_JSON_H

#include "evidenced/records/schema.h"

struct evd_arena;
struct evd_buffer;
struct json_t;

/* Why a text was refused. Both texts live in the arena. */
struct evd_json_fault {
    struct evd_text pointer, message;
};

/**
 * Parse UTF-8 JSON within the bounds of limits.h (depth, number of values), which are checked before anything is
 * allocated; duplicate members, NUL in strings and trailing bytes are refused. The result is owned by the caller
 * (json_decref). NULL and *ret_fault on refusal. Memory that runs out leaves by the arena's escape, the parser's too.
 */
struct json_t *evd_json_parse(struct evd_text text, struct evd_arena *arena, struct evd_json_fault *ret_fault);

/**
 * Read an object into a zeroed struct of that type. False and *ret_fault when it does not fit; *ret_struct is then in
 * an unspecified state. Borrows `from`.
 */
bool evd_json_read(const struct evd_type *type, const struct json_t *from, struct evd_arena *arena, void *ret_struct,
                   struct evd_json_fault *ret_fault);

/** Render a struct as an object. Zero: optional members are left out, nullable ones are null, but lists are empty. */
void evd_json_write(const struct evd_type *type, const void *from, struct evd_buffer *to);

/** The members of the object alone, without braces, for EVD_MEMBERS and for composing. */
void evd_json_write_members(const struct evd_type *type, const void *from, struct evd_buffer *to);

/** One JSON string, escaped. */
void evd_json_write_string(struct evd_text text, struct evd_buffer *to);

void evd_json_write_value(const struct evd_answer_value *value, struct evd_buffer *to);

#endif
