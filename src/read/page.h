/*
 * Paging: an opaque cursor that holds where the last page ended in its index.
 *
 * A stable order, not a snapshot: what is added behind the cursor while paging is met, what is added before it is not.
 */
#ifndef EVIDENCED_SRC_READ_PAGE_H
#define EVIDENCED_SRC_READ_PAGE_H

#include "evidenced/read/views.h"
#include "evidenced/runtime/reader.h"

struct evd_page_scan {
    struct evd_scan scan; /* without after, after_id and limit */
    const struct evd_record *const *records;
    size_t count;
    bool more;
    struct evd_value position[EVD_STORE_INDEX_PATHS];
};

/** Check the request's cursor; Malformed names it. For a command's parse. */
struct evd_outcome evd_page_parse(struct evd_call *call);

/** One page of the index, and whether there is more. position_kinds: of the index values behind `equal`. */
void evd_page_read(struct evd_call *call, struct evd_page_scan *page, const enum evd_value_kind *position_kinds,
                   size_t position_count);

/** The cursor behind a record with these index values; bytes NULL when there is no more. */
struct evd_text evd_page_next(struct evd_call *call, const struct evd_page_scan *page, const struct evd_value *position,
                              size_t position_count);

#endif
