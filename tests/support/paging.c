#include "paging.h"

enum { MOST_PAGES = 5000 };

struct reply ask_page(struct house *house, const struct evd_command *list, struct evd_ids ids, evd_uuid caller,
                      size_t limit, const char *cursor) {
    struct asked *asked = asked_new(house, list, ids, caller, command_id(0), NULL);
    asked_call(asked)->page.limit = limit;
    if (cursor != NULL) asked_call(asked)->page.cursor = evd_text_from(cursor);
    asked_go(asked);
    return asked_end(asked);
}

static bool holds(const json_t *list, const json_t *item) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), item)) return true;
    return false;
}

static void take(json_t *all, const json_t *items, const char *key) {
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *member = json_object_get(json_array_get(items, i), key);
        ck_assert_ptr_nonnull(member);
        ck_assert_msg(!holds(all, member), "%s comes twice", json_string_value(member));
        (void)json_array_append(all, member);
    }
}

json_t *page_through(struct house *house, const struct evd_command *list, struct evd_ids ids, evd_uuid caller,
                     size_t limit, const char *key) {
    json_t *all = json_array();
    char *cursor = NULL;
    for (unsigned page = 0;; page++) {
        struct reply reply = ask_page(house, list, ids, caller, limit, cursor);
        ck_assert_uint_lt(page, MOST_PAGES);
        ck_assert_int_eq(reply.code, EVD_OK);
        json_t *items = json_object_get(reply.body, "items");
        const char *next = json_string_value(json_object_get(reply.body, "next"));
        take(all, items, key);
        ck_assert(next == NULL || json_array_size(items) == limit);
        free(cursor);
        cursor = next == NULL ? NULL : strdup(next);
        reply_done(&reply);
        if (cursor == NULL) return all;
    }
}
