#include "evidenced/read/views.h"

#define EVD_SCHEMA_FILE "read/views.def"
#include "evidenced/records/schema_define.h"
#undef EVD_SCHEMA_FILE
