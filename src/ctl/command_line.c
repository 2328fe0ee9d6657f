#include "evidenced/ctl/command_line.h"

#include "context.h"
#include "interrupt.h"
#include "say.h"
#include "wire.h"

#include "evidenced/base/limits.h"

enum { ARENA_MIB = 512 };

static enum evd_ctl_exit act(int argc, char *const argv[], struct evd_ctl *ctl) {
    enum evd_ctl_exit status = evd_ctl_parse(argc, argv, ctl);
    if (status != EVD_CTL_DONE) return status;
    if (evd_ctl_has(ctl, EVD_CTL_OPTION_HELP)) return evd_ctl_help(ctl);
    if (evd_ctl_has(ctl, EVD_CTL_OPTION_VERSION)) {
        (void)printf("evidencectl %s\n", EVD_VERSION);
        return EVD_CTL_DONE;
    }
    evd_ctl_interrupt_catch();
    return ctl->verb->run(ctl);
}

/* The arena's escape ends here; everything that is open then closes with the program. */
static enum evd_ctl_exit act_within(int argc, char *const argv[], struct evd_ctl *ctl) {
    jmp_buf escape;
    ctl->arena.escape = &escape;
    if (setjmp(escape) == 0) {
        enum evd_ctl_exit status = act(argc, argv, ctl);
        ctl->arena.escape = NULL;
        return status;
    }
    ctl->arena.escape = NULL;
    (void)fputs("evidencectl: There is no memory left.\n", stderr);
    return EVD_CTL_FAILED;
}

int evd_ctl_run(int argc, char *const argv[]) {
    struct evd_ctl ctl = {.repeat = ""};
    evd_arena_init(&ctl.arena, ARENA_MIB * EVD_MIB);
    enum evd_ctl_exit status = act_within(argc, argv, &ctl);
    if (evd_ctl_flush(&ctl) != EVD_CTL_DONE && status == EVD_CTL_DONE) status = EVD_CTL_FAILED;
    evd_ctl_wire_close(ctl.wire);
    evd_arena_done(&ctl.arena);
    return (int)status;
}
