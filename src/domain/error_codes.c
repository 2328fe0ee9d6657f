#include "evidenced/domain/error_codes.h"

#include <assert.h>

const char *evd_error_code_name(enum evd_error_code code) {
    static const char *const names[EVD_ERROR_CODE_COUNT] = {
#define EVD_ERROR_CODE(enumerator, name, sentence) [EVD_ERROR_##enumerator] = (name),
#include "evidenced/domain/error_codes.def"
#undef EVD_ERROR_CODE
    };
    assert(code < EVD_ERROR_CODE_COUNT);
    return names[code];
}

const char *evd_error_code_sentence(enum evd_error_code code) {
    static const char *const sentences[EVD_ERROR_CODE_COUNT] = {
#define EVD_ERROR_CODE(enumerator, name, sentence) [EVD_ERROR_##enumerator] = (sentence),
#include "evidenced/domain/error_codes.def"
#undef EVD_ERROR_CODE
    };
    assert(code < EVD_ERROR_CODE_COUNT);
    return sentences[code];
}

struct evd_error *evd_errors_note(struct evd_errors *errors, struct evd_text pointer, enum evd_error_code code) {
    return evd_errors_add(errors, pointer, evd_error_code_name(code), evd_text_from(evd_error_code_sentence(code)));
}
