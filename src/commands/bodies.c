#include "evidenced/commands/bodies.h"

#define EVD_SCHEMA_FILE "commands/requests.def"
#include "evidenced/records/schema_define.h"
#undef EVD_SCHEMA_FILE

#define EVD_SCHEMA_FILE "commands/receipts.def"
#include "evidenced/records/schema_define.h"
#undef EVD_SCHEMA_FILE
