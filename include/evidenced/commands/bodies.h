/*
 * The structs of request bodies and receipts, from src/commands/requests.def and receipts.def.
 */
#ifndef EVIDENCED_COMMANDS_BODIES_H
#define EVIDENCED_COMMANDS_BODIES_H

#include "evidenced/read/views.h"

#define EVD_SCHEMA_FILE "commands/requests.def"
#include "evidenced/records/schema_declare.h"
#undef EVD_SCHEMA_FILE

#define EVD_SCHEMA_FILE "commands/receipts.def"
#include "evidenced/records/schema_declare.h"
#undef EVD_SCHEMA_FILE

#endif
