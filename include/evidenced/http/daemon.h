/*
 * Daemon: everything of `evidenced` put together, and the loop that keeps it going until it is told to stop.
 *
 * One libuv loop, on the calling thread, has the timers and the signals:
 *
 *   SIGTERM, SIGINT   readyz fails, drain-seconds go on as before, then nothing new is accepted, what is in flight is
 *                     answered, and it ends; 30 seconds in all. Answers in pieces are cut off after 20. The second one
 *                     ends it at once
 *   SIGHUP            reads the configuration and the key set again
 *   SIGPIPE           ignored
 */
#ifndef EVIDENCED_HTTP_DAEMON_H
#define EVIDENCED_HTTP_DAEMON_H

#include "evidenced/base/config.h"

enum { EVD_DAEMON_ERROR_BYTES = 768 };

/**
 * Serve until a signal ends it. Logs to the descriptor log_fd, from an event `listening` (fields api_port, admin_port,
 * control) on, after which calls are answered.
 *
 * config    borrowed; what it was read from is `input`, which is read again on SIGHUP
 *
 * Returns the exit status: 0 when it was stopped and nothing was left unanswered; 1 when it could not start, with a
 * sentence for the operator in ret_error, or did not end in time, with ret_error empty.
 */
int evd_daemon_run(const struct evd_config *config, const struct evd_config_input *input, int log_fd,
                   char ret_error[EVD_DAEMON_ERROR_BYTES]);

/**
 * Make the store of the configured data directory, which must have none, from the backup the configuration names, and
 * open it once to prove that it can be. Returns 0; or 1 with a sentence in ret_error, and what was copied left to look
 * at.
 */
int evd_daemon_restore(const struct evd_config *config, char ret_error[EVD_DAEMON_ERROR_BYTES]);

#endif
