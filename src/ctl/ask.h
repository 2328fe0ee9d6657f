/*
 * Asking the service: keys, retries, and what a person is told when it does not answer as hoped.
 */
#ifndef EVIDENCED_SRC_CTL_ASK_H
#define EVIDENCED_SRC_CTL_ASK_H

#include "context.h"
#include "wire.h"

struct evd_buffer;

/**
 * The path of the table, its parameters filled in: `{project}`, `{form}` and `{study}` by the options of that name, any
 * other by `id` (canonical; NULL when there is none). In the run's arena.
 */
const char *evd_ctl_path(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id);

/** Append `?name=value` or `&name=value`, percent-encoded. The buffer begins with the path. */
void evd_ctl_query(struct evd_buffer *path, const char *name, struct evd_text value);

/**
 * The Idempotency-Key of this run: --key, else one minted at the first call. step NULL: the key itself; otherwise the
 * key of that further step, always the same for the same key, so that repeating the run repeats every step. In the
 * arena.
 */
const char *evd_ctl_key(struct evd_ctl *ctl, const char *step);

/** A call of a row of the table, of its method, with a key if that is POST (see evd_ctl_key for `step`). */
struct evd_ctl_call evd_ctl_call_of(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id, const char *step);

/**
 * Ask until there is an answer that is not "try again", for at most --wait seconds, with the same key throughout.
 * Opens the wire first if need be.
 *
 * DONE: a 2xx answer; its `json` is there unless the body went to a sink. Give it to evd_ctl_answer_done. Anything
 * else: everything is said already (with --json the problem document is on standard output), *ret_answer untouched.
 */
enum evd_ctl_exit evd_ctl_ask(struct evd_ctl *ctl, const struct evd_ctl_call *call, struct evd_ctl_answer *ret_answer);

/** With --json: the body as it came, a newline behind it. Without: nothing. True when that was all there is to print.
 */
bool evd_ctl_print_json(const struct evd_ctl *ctl, const struct evd_ctl_answer *answer);

/**
 * Ask for a list, page after page. With --json each page is printed as it came and the list is empty; otherwise all
 * items are in *ret_items, the caller's (json_decref).
 */
enum evd_ctl_exit evd_ctl_ask_all(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id, json_t **ret_items);

#endif
