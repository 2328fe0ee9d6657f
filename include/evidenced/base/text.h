/*
 * Text: borrowed bytes with a length. Not terminated, never owned; valid UTF-8 wherever it came through a parser.
 */
#ifndef EVIDENCED_BASE_TEXT_H
#define EVIDENCED_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_arena;

struct evd_text {
    const char *bytes;
    size_t size_bytes;
};

#define EVD_TEXT(literal) ((struct evd_text){("" literal), sizeof(literal) - 1})
#define EVD_TEXT_INIT(literal)                                                                                         \
    { ("" literal), sizeof(literal) - 1 }
#define EVD_TEXT_FMT       "%.*s" /* printf; with EVD_TEXT_ARG; texts shown this way are far below INT_MAX */
#define EVD_TEXT_ARG(text) (int)(text).size_bytes, (text).bytes

/** The text of a terminated string; NULL gives the empty text. Borrows. */
struct evd_text evd_text_from(const char *terminated);

bool evd_text_equal(struct evd_text a, struct evd_text b);
bool evd_text_equal_ignoring_case(struct evd_text a, struct evd_text b); /* ASCII case only */
bool evd_text_starts_with(struct evd_text text, struct evd_text prefix);

/** Byte order; shorter first when one is the other's prefix. <0, 0, >0. */
int evd_text_compare(struct evd_text a, struct evd_text b);

/** Without ASCII white space at either end. Borrows. */
struct evd_text evd_text_trim(struct evd_text text);

/** A copy in the arena, with a terminating NUL behind it that the length does not count. */
struct evd_text evd_text_copy(struct evd_arena *arena, struct evd_text text);

/** Formatted into the arena, as printf does, NUL behind it. */
struct evd_text evd_text_print(struct evd_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Is it well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF)? */
bool evd_text_is_utf8(struct evd_text text);

/** At most its first bytes, cut between characters. Borrows. */
struct evd_text evd_text_cut(struct evd_text text, size_t most_bytes);

/** Unicode scalar values in well-formed UTF-8. */
size_t evd_text_length(struct evd_text text);

/** Decimal digits only, no sign, no space, fits: true and *ret_number set. */
bool evd_text_to_u64(struct evd_text text, uint64_t *ret_number);

/** As above with an optional leading '-'. */
bool evd_text_to_i64(struct evd_text text, int64_t *ret_number);

#endif
