/*
 * What the driver of operations is handed: how each kind goes on.
 */
#ifndef EVIDENCED_COMMANDS_PLANS_H
#define EVIDENCED_COMMANDS_PLANS_H

#include "evidenced/operation/plan.h"

/** All kinds there are; *ret_count of them. Never freed. */
const struct evd_operation_plan *const *evd_operation_plans(size_t *ret_count);

#endif
