#include "interrupt.h"

#include <errno.h>
#include <signal.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int signal) {
    (void)signal;
    interrupted = 1;
}

void evd_ctl_interrupt_catch(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

bool evd_ctl_is_interrupted(void) {
    return interrupted != 0;
}

bool evd_ctl_pause_ms(int64_t ms) {
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (!evd_ctl_is_interrupted() && clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
    return !evd_ctl_is_interrupted();
}
