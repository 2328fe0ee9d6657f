#include "evidenced/domain/pins.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/canary.h"

#include <assert.h>

_Static_assert(sizeof(struct evd_pin) == 32, "a packed pin is two ids and nothing else");

bool evd_pins_unpack(struct evd_text packed, struct evd_pins *ret_pins) {
    struct evd_pins pins = {(const struct evd_pin *)(const void *)packed.bytes,
                            packed.size_bytes / sizeof(struct evd_pin)};
    if (packed.size_bytes % sizeof(struct evd_pin) != 0) return false;
    for (size_t i = 1; i < pins.count; i++)
        if (evd_uuid_compare(pins.items[i - 1].context, pins.items[i].context) >= 0) return false;
    *ret_pins = pins;
    return true;
}

struct evd_text evd_pins_pack(struct evd_pins pins) {
    return (struct evd_text){(const char *)pins.items, pins.count * sizeof(struct evd_pin)};
}

static int by_context(const void *a, const void *b) {
    return evd_uuid_compare(((const struct evd_pin *)a)->context, ((const struct evd_pin *)b)->context);
}

bool evd_pins_sort_changes(struct evd_pin *changes, size_t change_count) {
    if (change_count > 1) qsort(changes, change_count, sizeof *changes, by_context);
    for (size_t i = 1; i < change_count; i++)
        if (by_context(&changes[i - 1], &changes[i]) == 0) return false;
    return true;
}

struct evd_pins evd_pins_overlay(struct evd_pins base, struct evd_pin *changes, size_t change_count,
                                 struct evd_arena *arena) {
    struct evd_pin *merged = EVD_NEW_ARRAY(arena, struct evd_pin, base.count + change_count);
    size_t count = 0, old = 0;
    bool distinct = evd_pins_sort_changes(changes, change_count);
    assert(distinct);
    for (size_t i = 0; distinct && i < change_count; i++) {
        while (old < base.count && by_context(&base.items[old], &changes[i]) < 0)
            merged[count++] = base.items[old++];
        if (old < base.count && by_context(&base.items[old], &changes[i]) == 0) old++;
        if (!evd_uuid_is_nil(changes[i].revision)) merged[count++] = changes[i];
    }
    while (old < base.count && !EVD_CANARY(PINS_NOT_KEPT))
        merged[count++] = base.items[old++];
    return (struct evd_pins){merged, count};
}

const struct evd_pin *evd_pins_find(struct evd_pins pins, evd_uuid context) {
    struct evd_pin wanted = {.context = context};
    return pins.count == 0 ? NULL : bsearch(&wanted, pins.items, pins.count, sizeof wanted, by_context);
}

/* Walks both, which are in one order. ret_changes: NULL only counts. */
static size_t walk(struct evd_pins before, struct evd_pins after, struct evd_pin_change *ret_changes) {
    size_t changed = 0, a = 0, b = 0;
    while (a < before.count || b < after.count) {
        int order = a == before.count  ? 1
                    : b == after.count ? -1
                                       : evd_uuid_compare(before.items[a].context, after.items[b].context);
        struct evd_pin_change change = {
            .context = order <= 0 ? before.items[a].context : after.items[b].context,
            .before = order <= 0 ? before.items[a].revision : evd_uuid_nil(),
            .after = order >= 0 ? after.items[b].revision : evd_uuid_nil(),
        };
        a += order <= 0;
        b += order >= 0;
        if (evd_uuid_equal(change.before, change.after)) continue;
        if (ret_changes != NULL) ret_changes[changed] = change;
        changed++;
    }
    return changed;
}

size_t evd_pins_changed(struct evd_pins before, struct evd_pins after) {
    return walk(before, after, NULL);
}

void evd_pins_changes(struct evd_pins before, struct evd_pins after, struct evd_pin_change *ret_changes) {
    (void)walk(before, after, ret_changes);
}
