/* What several commands' files share. */
#ifndef EVIDENCED_SRC_COMMANDS_SUPPORT_H
#define EVIDENCED_SRC_COMMANDS_SUPPORT_H

#include "evidenced/commands/bodies.h"
#include "evidenced/domain/error_codes.h"
#include "evidenced/runtime/reader.h"
#include "evidenced/runtime/writes.h"

/** The receipt of a command that made or changed this record. */
void evd_receipt_of_record(struct evd_call *call, const struct evd_record *record);

/** ValidationFailed with one error. The pointer is a literal or lives in the attempt's arena. */
struct evd_outcome evd_invalid(struct evd_call *call, const char *pointer, enum evd_error_code code);

/** Is there anything but white space in it? */
bool evd_text_is_blank(struct evd_text text);

#endif
