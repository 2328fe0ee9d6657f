/*
 * An operation as it is shown, to whoever asks for it and to whoever begins one.
 */
#ifndef EVIDENCED_READ_OPERATION_H
#define EVIDENCED_READ_OPERATION_H

#include "evidenced/read/views.h"
#include "evidenced/runtime/call.h"

/** In the call's arena; borrows the record's texts. */
struct evd_operation_view evd_operation_view_of(struct evd_call *call, const struct evd_operation *operation);

#endif
