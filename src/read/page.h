/*
 * Paging: an opaque cursor that holds where the last page ended in its index.
 *
 * A stable order, not a snapshot: what is added behind the cursor while paging is met, what is added before it is not.
 */
#ifndef EVIDENCED_SRC_READ_PAGE_H
#define EVIDENCED_SRC_READ_PAGE_H

#include "evidenced/read/views.h"
#include "evidenced/runtime/reader.h"

/* Which index a list pages through, and the kinds of its values behind what the list fixes: the cursor holds these. */
struct evd_page_order {
    enum evd_index_number index;
    size_t count;
    enum evd_value_kind kinds[EVD_STORE_INDEX_PATHS];
};

struct evd_page_scan {
    const struct evd_page_order *order;
    const struct evd_value *equal; /* the index values the list fixes, if any */
    size_t equal_count, limit;
    bool descending;
    const struct evd_record *const *records;
    size_t count;
    bool more; /* behind the last of them */
};

/** Is the request's cursor one that a list of this order gave? Malformed, naming it, when not. For a command's parse.
 */
struct evd_outcome evd_page_check(struct evd_call *call, const struct evd_page_order *order);

/* Where a page begins, as its cursor says. */
struct evd_page_position {
    evd_uuid id;
    struct evd_value values[EVD_STORE_INDEX_PATHS];
};

/** For a list that is no scan of an index. False: the request has no cursor. It was checked before. */
bool evd_page_position(struct evd_call *call, const struct evd_page_order *order,
                       struct evd_page_position *ret_position);

/** One page from the request's cursor on: at most page->limit records. */
void evd_page_read(struct evd_call *call, struct evd_page_scan *page);

/** The cursor behind the page's last record, which has these index values; bytes NULL when there is no more. */
struct evd_text evd_page_next(struct evd_call *call, const struct evd_page_scan *page,
                              const struct evd_value *position);

#endif
