/*
 * The closed set of codes a file of references, or one row of it, is refused with.
 */
#ifndef EVIDENCED_TABLES_TABLE_CODES_H
#define EVIDENCED_TABLES_TABLE_CODES_H

enum evd_table_code {
#define EVD_TABLE_CODE(enumerator, name, sentence) EVD_TABLE_##enumerator,
#include "evidenced/tables/table_codes.def"
#undef EVD_TABLE_CODE
    EVD_TABLE_CODE_COUNT
};

/** `malformedIdentifier`, … Static. */
const char *evd_table_code_name(enum evd_table_code code);

/** A sentence for the person, without place. Static. */
const char *evd_table_code_sentence(enum evd_table_code code);

#endif
