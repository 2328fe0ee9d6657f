/*
 * Manual pages: the few pieces of man(7) source that ours are made of.
 */
#ifndef EVIDENCED_BASE_ROFF_H
#define EVIDENCED_BASE_ROFF_H

#include "evidenced/base/text.h"

struct evd_buffer;

/** A line of text, escaped so that it reads as it is: no character of it is an order, a hyphen stays one. */
void evd_roff_line(struct evd_buffer *to, struct evd_text text);

/** `.SH TITLE`: a section. */
void evd_roff_section(struct evd_buffer *to, const char *title);

/** `.SS title`: a part of one. */
void evd_roff_part(struct evd_buffer *to, const char *title);

/** `.TP` with a heading: `bold` as it is typed, `italic` what it stands before (both may be empty). The text follows.
 */
void evd_roff_item(struct evd_buffer *to, const char *bold, const char *italic);

#endif
