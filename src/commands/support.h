/* What several commands' files share. */
#ifndef EVIDENCED_SRC_COMMANDS_SUPPORT_H
#define EVIDENCED_SRC_COMMANDS_SUPPORT_H

#include "evidenced/commands/bodies.h"
#include "evidenced/runtime/reader.h"
#include "evidenced/runtime/writes.h"

/** The receipt of a command that made or changed this record. */
void evd_receipt_of_record(struct evd_call *call, const struct evd_record *record);

/** ValidationFailed with one error. The texts are literals. */
struct evd_outcome evd_invalid(struct evd_call *call, const char *pointer, const char *code, const char *message);

/** Is there anything but white space in it? */
bool evd_text_is_blank(struct evd_text text);

#endif
