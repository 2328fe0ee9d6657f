/*
 * evidencectl: the operator's command line.
 *
 * It talks HTTP to the daemon, over its control socket or to a server with a token, and never opens the store. One
 * table of verbs (src/ctl/table.def) drives what it does, its help, its manual page and its completion.
 */
#ifndef EVIDENCED_CTL_COMMAND_LINE_H
#define EVIDENCED_CTL_COMMAND_LINE_H

struct evd_buffer;

/** Do what the arguments say. What was asked for goes to standard output, everything else to standard error. Returns
 * the exit status, see src/ctl/exits.def. Not for two threads: the terminal, signals and the environment are its. */
int evd_ctl_run(int argc, char *const argv[]);

/** The manual page evidencectl(1), man(7) source. */
void evd_ctl_manual(struct evd_buffer *to);

/** Bash completion, to be sourced. */
void evd_ctl_completion(struct evd_buffer *to);

#endif
