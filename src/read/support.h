/* What several reads share. */
#ifndef EVIDENCED_SRC_READ_SUPPORT_H
#define EVIDENCED_SRC_READ_SUPPORT_H

#include "evidenced/domain/pins.h"
#include "evidenced/read/views.h"
#include "evidenced/runtime/reader.h"
#include "read/page.h"

/* A view: a command that writes nothing. */
#define EVD_VIEW(view_name, view_path, capability)                                                                     \
    .name = (view_name), .method = EVD_COMMAND_GET, .path = (view_path), .needs = (capability),                        \
    .commit = EVD_COMMIT_READ, .scope = EVD_WRITES_NOTHING

/** May the caller see what other reviewers did? */
bool evd_view_sees_others(const struct evd_call *call);

/** The refusal of a view of one record: NotFound when there is none. For states whose first member points to it. */
struct evd_outcome evd_view_refuse_missing(struct evd_call *call);

/*
 * A list: pages of an index, in its order, each record shown as one item. Its commands' parse, read and derive are the
 * three functions below; what is read between them is the command's.
 */
struct evd_list_view {
    enum evd_index_number index;
    size_t fixed; /* index values the list fixes; the cursor holds the others */
    bool descending;
    const struct evd_type *answer; /* {items, next} */
    /* Make one item, zeroed before, of the record that is the page's at that place. */
    void (*show)(struct evd_call *call, const struct evd_record *record, size_t at, void *ret_item);
};

/** Is the request's cursor one this list gave? */
struct evd_outcome evd_list_check(struct evd_call *call, const struct evd_list_view *list);

/** Read the page the request asks for: at most `limit` records, call->page.limit where that is 0. Borrows `equal`. */
void evd_list_read(struct evd_call *call, const struct evd_list_view *list, const struct evd_value *equal, size_t limit,
                   struct evd_page_scan *ret_page);

/** Answer with all of the page. */
void evd_list_answer(struct evd_call *call, const struct evd_list_view *list, const struct evd_page_scan *page);

/** The cursor behind the page's last record; bytes NULL when there is no more. */
struct evd_text evd_list_next(struct evd_call *call, const struct evd_list_view *list,
                              const struct evd_page_scan *page);

/** Render one page of any type that is {items, next}. items: an array of count structs of the list's type. */
void evd_view_page(struct evd_call *call, const struct evd_type *page_type, void *items, size_t count,
                   struct evd_text next);

#endif
