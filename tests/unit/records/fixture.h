/*
 * Declares and defines the structs of fixture.def. Included in one .c file of a program.
 */
#ifndef EVIDENCED_TESTS_RECORDS_FIXTURE_H
#define EVIDENCED_TESTS_RECORDS_FIXTURE_H

#include "evidenced/records/dictionary.h"

#define EVD_SCHEMA_FILE "../tests/unit/records/fixture.def" /* from include/, where schemas are looked for */
#include "evidenced/records/schema_declare.h"
#include "evidenced/records/schema_define.h"
#undef EVD_SCHEMA_FILE

#endif
