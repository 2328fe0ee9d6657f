/*
 * Operations: long commands, watched until they have ended.
 */
#ifndef EVIDENCED_SRC_CTL_OPERATION_H
#define EVIDENCED_SRC_CTL_OPERATION_H

#include "ask.h"

/**
 * Ask for an operation by this call and watch it until it has ended, with a progress bar on a terminal. doing: what the
 * bar says ("Importing"). Interrupting stops the watching only.
 *
 * DONE: it has ended, however; *ret_answer is its last view, with `status`. Anything else: said.
 */
enum evd_ctl_exit evd_ctl_operation_run(struct evd_ctl *ctl, const struct evd_ctl_call *call, const char *doing,
                                        struct evd_ctl_answer *ret_answer);

/**
 * Print what came of an operation: its counts, and the first of the rows that did not go as the file said, or all of
 * them; with --json its view as it came, and of all rows the pages. Closes the answer.
 *
 * DONE when it succeeded or still runs, REFUSED or FAILED, said, when it did not.
 */
enum evd_ctl_exit evd_ctl_operation_tell(struct evd_ctl *ctl, struct evd_ctl_answer *answer, bool all_rows);

#endif
