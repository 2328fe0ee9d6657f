/*
 * The command table: every call the service takes, from src/commands/table.def.
 */
#ifndef EVIDENCED_COMMANDS_TABLE_H
#define EVIDENCED_COMMANDS_TABLE_H

#include "evidenced/runtime/command.h"

#define EVD_COMMAND(constant) extern const struct evd_command evd_command_##constant;
#include "commands/table.def"
#undef EVD_COMMAND

/** All of them, in the table's order; *ret_count of them. Never freed. */
const struct evd_command *const *evd_command_table(size_t *ret_count);

/** All outcomes the command may give, the common ones included. */
uint64_t evd_command_outcomes(const struct evd_command *command);

#endif
