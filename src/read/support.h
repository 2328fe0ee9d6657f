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

/** Render one page of any type that is {items, next}. items: an array of count structs of the list's type. */
void evd_view_page(struct evd_call *call, const struct evd_type *page_type, void *items, size_t count,
                   struct evd_text next);

#endif
