/*
 * The commands of the edge's fixture, see edge_fixture.h.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_EDGE_COMMANDS_H
#define EVIDENCED_TESTS_SUPPORT_EDGE_COMMANDS_H

#include "evidenced/runtime/call.h"

extern const struct evd_command *const evd_edge_commands[];
extern const size_t evd_edge_command_count;

#endif
