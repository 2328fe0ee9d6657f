/*
 * SIGINT and SIGTERM, turned into a word to look at: what was begun is cleaned up, and the person is told how to go on.
 */
#ifndef EVIDENCED_SRC_CTL_INTERRUPT_H
#define EVIDENCED_SRC_CTL_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/** From now on. A second signal ends the program at once. */
void evd_ctl_interrupt_catch(void);

bool evd_ctl_is_interrupted(void);

/** Wait that long, or less when some other signal comes. False: interrupted. */
bool evd_ctl_pause_ms(int64_t ms);

#endif
