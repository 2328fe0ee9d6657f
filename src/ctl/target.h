/*
 * Where to ask: the daemon's control socket, or a server with a token.
 */
#ifndef EVIDENCED_SRC_CTL_TARGET_H
#define EVIDENCED_SRC_CTL_TARGET_H

#include "context.h"
#include "wire.h"

/**
 * What the command line and the environment say: --control, else --server, else EVIDENCED_SERVER, else
 * EVIDENCED_CONTROL, else control.sock in EVIDENCED_DATA or ./data, as the daemon has it. Reads the token's file. Texts
 * are in the run's arena.
 *
 * DONE; or MISUSED or FAILED, said.
 */
enum evd_ctl_exit evd_ctl_target_find(struct evd_ctl *ctl, struct evd_ctl_target *ret_target);

/** Is it over the control socket that the run asks? Whatever else may be wrong. */
bool evd_ctl_target_is_control(const struct evd_ctl *ctl);

/** Is this host part of a URL this host itself: localhost, 127.0.0.0/8, [::1]? */
bool evd_ctl_target_is_loopback(const char *host);

#endif
