/*
 * What most verbs do: send a JSON body and print an id, show an object, list a table.
 */
#ifndef EVIDENCED_SRC_CTL_BODY_H
#define EVIDENCED_SRC_CTL_BODY_H

#include "ask.h"
#include "say.h"

/** Ask with this JSON as the body, which is taken. As evd_ctl_ask. */
enum evd_ctl_exit evd_ctl_send(struct evd_ctl *ctl, const struct evd_ctl_call *call, json_t *body,
                               struct evd_ctl_answer *ret_answer);

/** The same, and print `id` (NULL: the answer's `id`) on a line, or with --json the answer. */
enum evd_ctl_exit evd_ctl_make(struct evd_ctl *ctl, const struct evd_ctl_call *call, json_t *body, const char *id);

/** Get an object and print its members but those named (a NULL behind; may be NULL), or with --json the answer. */
enum evd_ctl_exit evd_ctl_show(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id, const char *const *but);

/** Get a list, all of it, and print it as a table; or with --json its pages. */
enum evd_ctl_exit evd_ctl_list(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id,
                               const struct evd_ctl_column *columns, size_t count);

#endif
