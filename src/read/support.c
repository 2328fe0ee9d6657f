#include "read/support.h"

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
