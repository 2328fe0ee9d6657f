/*
 * Lists, read to their end a page at a time.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_PAGING_H
#define EVIDENCED_TESTS_SUPPORT_PAGING_H

#include "house.h"

/** One page. cursor: NULL for the first. */
struct reply ask_page(struct house *house, const struct evd_command *list, struct evd_ids ids, evd_uuid caller,
                      size_t limit, const char *cursor);

/**
 * Everything the list holds, in pages of `limit`, each page full but the last. Returns the items' `key` members, in
 * order, as a JSON list to be freed with json_decref; the test ends when one comes twice.
 */
json_t *page_through(struct house *house, const struct evd_command *list, struct evd_ids ids, evd_uuid caller,
                     size_t limit, const char *key);

#endif
