#include "evidenced/commands/table.h"

const struct evd_command *const *evd_command_table(size_t *ret_count) {
    static const struct evd_command *const table[] = {
#define EVD_COMMAND(constant) &evd_command_##constant,
#include "commands/table.def"
#undef EVD_COMMAND
    };
    *ret_count = sizeof table / sizeof table[0];
    return table;
}

uint64_t evd_command_outcomes(const struct evd_command *command) {
    return command->outcomes | evd_command_common_outcomes(command);
}
