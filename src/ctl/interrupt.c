#include "interrupt.h"

#include <poll.h>
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

/* The signals are let in only while it waits: one that came just before would otherwise be waited out. */
bool evd_ctl_pause_ms(int64_t ms) {
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    sigset_t both, before;
    (void)sigemptyset(&both);
    (void)sigaddset(&both, SIGINT);
    (void)sigaddset(&both, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &both, &before);
    if (!evd_ctl_is_interrupted()) (void)ppoll(NULL, 0, &left, &before);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return !evd_ctl_is_interrupted();
}
