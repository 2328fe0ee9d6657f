/*
 * Pins: which revision of each answer a session version holds, by context. A version's pins are its base's with the
 * changes laid over.
 *
 * Pure. Source: domain page §2.
 */
#ifndef EVIDENCED_DOMAIN_PINS_H
#define EVIDENCED_DOMAIN_PINS_H

#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"

struct evd_arena;

/* The packed form is an array of these: 32 bytes each. */
struct evd_pin {
    evd_uuid context, revision; /* revision nil, in a change: the answer is withdrawn */
};

struct evd_pins {
    const struct evd_pin *items; /* ascending by context, no context twice */
    size_t count;
};

/** The pins in a pin map's bytes; borrows. False when they are not a whole number of ordered pins. */
bool evd_pins_unpack(struct evd_text packed, struct evd_pins *ret_pins);

/** The bytes of a pin map; borrows. */
struct evd_text evd_pins_pack(struct evd_pins pins);

/** Sort changes by context. False when one context occurs twice: two changes of one place mean nothing. */
bool evd_pins_sort_changes(struct evd_pin *changes, size_t change_count);

/** base with the changes laid over. `changes` is sorted in place; no context may occur twice in it. */
struct evd_pins evd_pins_overlay(struct evd_pins base, struct evd_pin *changes, size_t change_count,
                                 struct evd_arena *arena);

/** How many places differ: given, changed or withdrawn. */
size_t evd_pins_changed(struct evd_pins before, struct evd_pins after);

/* One place that differs; a revision is nil where there is no answer. */
struct evd_pin_change {
    evd_uuid context, before, after;
};

/** The places that differ, by context. ret_changes: room for as many as evd_pins_changed says. */
void evd_pins_changes(struct evd_pins before, struct evd_pins after, struct evd_pin_change *ret_changes);

/** The pin of a context, or NULL. */
const struct evd_pin *evd_pins_find(struct evd_pins pins, evd_uuid context);

#endif
