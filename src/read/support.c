#include "read/support.h"

#include <assert.h>

bool evd_view_sees_others(const struct evd_call *call) {
    return evd_authority_has(call->membership, EVD_CAN_SEE_OTHERS);
}

/* Every page type is declared as a list and the cursor behind it, so one struct of that shape serves them all. */
struct any_page {
    struct evd_list items;
    struct evd_text next;
    struct evd_unknown unknown;
};

void evd_view_page(struct evd_call *call, const struct evd_type *page_type, void *items, size_t count,
                   struct evd_text next) {
    struct any_page page = {.items = {items, count}, .next = next};
    evd_call_receipt(call, page_type, &page);
}

struct evd_outcome evd_view_refuse_missing(struct evd_call *call) {
    const void *record;
    memcpy(&record, call->state, sizeof record);
    return evd_outcome_of(record == NULL ? EVD_NOT_FOUND : EVD_OK);
}

static const struct evd_field *field_at(const struct evd_index *index, size_t path) {
    const struct evd_type *type = evd_type_of_collection(index->on);
    size_t at = 0;
    while (at < type->field_count && strcmp(type->fields[at].key, index->paths[path]) != 0)
        at++;
    assert(at < type->field_count); /* lists page through plain fields only */
    return &type->fields[at];
}

static enum evd_value_kind kind_of(const struct evd_field *field) {
    if (field->kind == EVD_KIND_UUID) return EVD_VALUE_UUID;
    if (field->kind == EVD_KIND_BOOLEAN) return EVD_VALUE_BOOL;
    if (field->kind == EVD_KIND_STRING) return EVD_VALUE_TEXT;
    assert(field->kind == EVD_KIND_NUMBER || field->kind == EVD_KIND_TIME || field->kind == EVD_KIND_STAMP);
    return EVD_VALUE_I64;
}

static struct evd_value value_in(const struct evd_record *record, const struct evd_field *field) {
    const void *at = (const uint8_t *)record + field->offset;
    struct evd_value value = {.kind = kind_of(field)};
    switch (value.kind) {
    case EVD_VALUE_UUID: memcpy(&value.uuid, at, sizeof value.uuid); break;
    case EVD_VALUE_I64: memcpy(&value.i64, at, sizeof value.i64); break;
    case EVD_VALUE_TEXT: memcpy(&value.text, at, sizeof value.text); break;
    case EVD_VALUE_BOOL: memcpy(&value.boolean, at, sizeof value.boolean); break;
    }
    return value;
}

static struct evd_page_order order_of(const struct evd_list_view *list) {
    const struct evd_index *index = evd_index_of(list->index);
    struct evd_page_order order = {.index = list->index, .count = index->path_count - list->fixed};
    for (size_t i = 0; i < order.count; i++)
        order.kinds[i] = kind_of(field_at(index, list->fixed + i));
    return order;
}

struct evd_outcome evd_list_check(struct evd_call *call, const struct evd_list_view *list) {
    struct evd_page_order order = order_of(list);
    return evd_page_check(call, &order);
}

void evd_list_read(struct evd_call *call, const struct evd_list_view *list, const struct evd_value *equal, size_t limit,
                   struct evd_page_scan *ret_page) {
    struct evd_page_order *order = EVD_NEW(evd_call_arena(call), struct evd_page_order);
    *order = order_of(list);
    *ret_page = (struct evd_page_scan){.order = order,
                                       .equal = equal,
                                       .equal_count = list->fixed,
                                       .descending = list->descending,
                                       .limit = limit == 0 ? call->page.limit : limit};
    evd_page_read(call, ret_page);
    ret_page->equal = NULL; /* the caller's, and read */
}

struct evd_text evd_list_next(struct evd_call *call, const struct evd_list_view *list,
                              const struct evd_page_scan *page) {
    const struct evd_index *index = evd_index_of(list->index);
    struct evd_value position[EVD_STORE_INDEX_PATHS];
    if (!page->more) return (struct evd_text){0};
    for (size_t i = 0; i < page->order->count; i++)
        position[i] = value_in(page->records[page->count - 1], field_at(index, list->fixed + i));
    return evd_page_next(call, page, position);
}

void evd_list_answer(struct evd_call *call, const struct evd_list_view *list, const struct evd_page_scan *page) {
    size_t size_bytes = list->answer->fields[0].of->size_bytes;
    uint8_t *items = evd_arena_alloc_array(evd_call_arena(call), page->count, size_bytes);
    for (size_t i = 0; i < page->count; i++)
        list->show(call, page->records[i], i, items + i * size_bytes);
    evd_view_page(call, list->answer, items, page->count, evd_list_next(call, list, page));
}
