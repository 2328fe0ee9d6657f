/*
 * The closed set of codes an entry of a ValidationFailed's `errors` may have.
 */
#ifndef EVIDENCED_DOMAIN_ERROR_CODES_H
#define EVIDENCED_DOMAIN_ERROR_CODES_H

#include "evidenced/domain/outcome.h"

enum evd_error_code {
#define EVD_ERROR_CODE(enumerator, name, sentence) EVD_ERROR_##enumerator,
#include "evidenced/domain/error_codes.def"
#undef EVD_ERROR_CODE
    EVD_ERROR_CODE_COUNT
};

/** `malformedId`, … Static. */
const char *evd_error_code_name(enum evd_error_code code);

/** A sentence for the person. Static. */
const char *evd_error_code_sentence(enum evd_error_code code);

/** Note one more error, with its code's own sentence. As evd_errors_add. */
struct evd_error *evd_errors_note(struct evd_errors *errors, struct evd_text pointer, enum evd_error_code code);

#endif
