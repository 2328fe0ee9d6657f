/*
 * What a person reads: complaints on standard error, results on standard output. Text from elsewhere cannot steer the
 * terminal: control characters are shown as `?`.
 */
#ifndef EVIDENCED_SRC_CTL_SAY_H
#define EVIDENCED_SRC_CTL_SAY_H

#include "context.h"

#include <jansson.h>
#include <stdio.h>

struct evd_buffer;

/** Write it, made harmless. Lines stay lines when `lines`, else a line break is shown as a space. */
void evd_ctl_put(FILE *to, struct evd_text text, bool lines);

/** `evidencectl: …` and a newline on standard error. What is printed into the format may come from anywhere. */
void evd_ctl_complain(struct evd_ctl *ctl, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A further line of a complaint, indented. */
void evd_ctl_add(struct evd_ctl *ctl, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Complain and return FAILED. */
#define EVD_CTL_FAIL(ctl, ...) (evd_ctl_complain((ctl), __VA_ARGS__), EVD_CTL_FAILED)

/** A text on standard output, a line of its own. */
void evd_ctl_print_line(const char *text);

/** Flush standard output. FAILED, and said, when not all of it could be written, now or before. */
enum evd_ctl_exit evd_ctl_flush(struct evd_ctl *ctl);

/** The canonical form of an id that is one, in the run's arena. */
const char *evd_ctl_canonical_id(struct evd_ctl *ctl, const char *text);

/** A member's text, "" when it is absent or no text. Borrows. */
const char *evd_ctl_member(const json_t *object, const char *name);

/**
 * An object's members, a line each, names aligned; those of objects inside it as `outer.inner`. Lists of texts are
 * joined; other lists are counted. Members that are null or named in `but` (a NULL behind; may be NULL) are left out.
 */
void evd_ctl_show_object(struct evd_ctl *ctl, const json_t *object, const char *const *but);

/* A column of a table: its heading, and the member it shows, or several in one text, `code|kind`, the first that is
 * there. `a.b` is a member of a member. */
struct evd_ctl_column {
    const char *heading, *member;
};

/** A list of objects as a table with a line of headings; a column nothing is in is left out. Nothing at all when the
 * list is empty. */
void evd_ctl_show_table(struct evd_ctl *ctl, const json_t *list, const struct evd_ctl_column *columns, size_t count);

/** The value of a column for one object, in the run's arena, NUL behind it; empty when it has none. */
struct evd_text evd_ctl_cell(struct evd_ctl *ctl, const json_t *object, const char *member);

#endif
