#include "evidenced/tables/table_codes.h"

#include <assert.h>

const char *evd_table_code_name(enum evd_table_code code) {
    static const char *const names[EVD_TABLE_CODE_COUNT] = {
#define EVD_TABLE_CODE(enumerator, name, sentence) [EVD_TABLE_##enumerator] = (name),
#include "evidenced/tables/table_codes.def"
#undef EVD_TABLE_CODE
    };
    assert(code < EVD_TABLE_CODE_COUNT);
    return names[code];
}

const char *evd_table_code_sentence(enum evd_table_code code) {
    static const char *const sentences[EVD_TABLE_CODE_COUNT] = {
#define EVD_TABLE_CODE(enumerator, name, sentence) [EVD_TABLE_##enumerator] = (sentence),
#include "evidenced/tables/table_codes.def"
#undef EVD_TABLE_CODE
    };
    assert(code < EVD_TABLE_CODE_COUNT);
    return sentences[code];
}
