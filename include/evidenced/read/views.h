/*
 * The structs of what reads show, from src/read/views.def.
 */
#ifndef EVIDENCED_READ_VIEWS_H
#define EVIDENCED_READ_VIEWS_H

#include "evidenced/records/dictionary.h"

#define EVD_SCHEMA_FILE "read/views.def"
#include "evidenced/records/schema_declare.h"
#undef EVD_SCHEMA_FILE

#endif
