/*
 * evidencectl: the operator's command line. It never opens the store.
 */
#include "evidenced/ctl/command_line.h"

int main(int argc, char *argv[]) {
    return evd_ctl_run(argc, argv);
}
