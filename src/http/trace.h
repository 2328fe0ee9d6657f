/*
 * Request ids: the trace id of a W3C traceparent, or a fresh one.
 */
#ifndef EVIDENCED_HTTP_TRACE_H
#define EVIDENCED_HTTP_TRACE_H

#include "evidenced/base/text.h"

enum { EVD_TRACE_ID_BYTES = 32 };

/** 32 lower-case hex digits, NUL behind them: the trace id of `traceparent` when that is well formed (W3C Trace Context
 * §3.2: version-traceid-parentid-flags, a later version may carry more behind a dash; ids of zeros are none), else
 * random. */
void evd_trace_id(struct evd_text traceparent, char ret_id[EVD_TRACE_ID_BYTES + 1]);

#endif
