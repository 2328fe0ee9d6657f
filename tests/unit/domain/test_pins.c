/*
 * Pin maps: overlay against a slow second way, packing, damage.
 */
#include "../../support/test.h"

#include "evidenced/base/arena.h"
#include "evidenced/domain/pins.h"

enum { CONTEXTS = 24, ROUNDS = 2000 };

static evd_uuid id(unsigned number) {
    evd_uuid uuid = {{0}};
    uuid.bytes[0] = (uint8_t)number;
    uuid.bytes[1] = 1;
    return uuid;
}

START_TEST(an_overlay_equals_setting_each_place_in_turn) {
    struct evd_test_random random;
    evd_test_random_init(&random, 7);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct evd_arena arena;
        unsigned revisions[CONTEXTS] = {0};
        struct evd_pin base[CONTEXTS], changes[CONTEXTS];
        size_t base_count = 0, change_count = 0;
        evd_arena_init(&arena, 1 << 20);
        for (unsigned c = 0; c < CONTEXTS; c++) {
            if (evd_random_below(&random.random, 2) == 0) continue;
            revisions[c] = 1 + (unsigned)evd_random_below(&random.random, 100);
            base[base_count++] = (struct evd_pin){id(c), id(revisions[c])};
        }
        for (unsigned c = CONTEXTS; c-- > 0;) { /* unsorted on purpose */
            uint64_t what = evd_random_below(&random.random, 4);
            if (what > 1) continue;
            revisions[c] = what == 0 ? 0 : 101 + (unsigned)evd_random_below(&random.random, 100);
            changes[change_count++] = (struct evd_pin){id(c), what == 0 ? evd_uuid_nil() : id(revisions[c])};
        }
        struct evd_pins merged = evd_pins_overlay((struct evd_pins){base, base_count}, changes, change_count, &arena);
        size_t expected = 0;
        for (unsigned c = 0; c < CONTEXTS; c++) {
            const struct evd_pin *pin = evd_pins_find(merged, id(c));
            expected += revisions[c] != 0;
            ck_assert_int_eq(pin != NULL, revisions[c] != 0);
            if (pin != NULL) ck_assert(evd_uuid_equal(pin->revision, id(revisions[c])));
        }
        ck_assert_uint_eq(merged.count, expected);
        struct evd_pins unpacked;
        ck_assert(evd_pins_unpack(evd_pins_pack(merged), &unpacked));
        ck_assert_uint_eq(unpacked.count, merged.count);
        evd_arena_done(&arena);
    }
}
END_TEST

START_TEST(damaged_pin_maps_are_told) {
    struct evd_pin swapped[] = {{id(2), id(1)}, {id(1), id(1)}}, doubled[] = {{id(1), id(1)}, {id(1), id(2)}};
    struct evd_pins pins = {NULL, 77};
    ck_assert(!evd_pins_unpack((struct evd_text){(const char *)swapped, sizeof swapped}, &pins));
    ck_assert(!evd_pins_unpack((struct evd_text){(const char *)doubled, sizeof doubled}, &pins));
    ck_assert(!evd_pins_unpack((struct evd_text){(const char *)swapped, 33}, &pins));
    ck_assert_uint_eq(pins.count, 77);
    ck_assert(evd_pins_unpack((struct evd_text){NULL, 0}, &pins));
    ck_assert_uint_eq(pins.count, 0);
}
END_TEST

/* Against the slow way: every place looked up in both. */
START_TEST(what_changed_between_two_versions_is_each_place_that_differs_once) {
    struct evd_test_random random;
    evd_test_random_init(&random, 11);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct evd_pin before[CONTEXTS], after[CONTEXTS];
        struct evd_pin_change changes[2 * CONTEXTS];
        size_t before_count = 0, after_count = 0, expected = 0;
        unsigned was[CONTEXTS] = {0}, is[CONTEXTS] = {0};
        for (unsigned c = 0; c < CONTEXTS; c++) {
            was[c] = (unsigned)evd_random_below(&random.random, 3);
            is[c] = (unsigned)evd_random_below(&random.random, 3);
            if (was[c] > 0) before[before_count++] = (struct evd_pin){id(c), id(was[c])};
            if (is[c] > 0) after[after_count++] = (struct evd_pin){id(c), id(is[c])};
        }
        struct evd_pins old = {before, before_count}, new = {after, after_count};
        size_t count = evd_pins_changed(old, new);
        evd_pins_changes(old, new, changes);
        for (unsigned c = 0; c < CONTEXTS; c++) {
            if (was[c] == is[c]) continue;
            ck_assert_uint_lt(expected, count);
            const struct evd_pin_change *change = &changes[expected++];
            ck_assert(evd_uuid_equal(change->context, id(c)));
            ck_assert(evd_uuid_equal(change->before, was[c] == 0 ? evd_uuid_nil() : id(was[c])));
            ck_assert(evd_uuid_equal(change->after, is[c] == 0 ? evd_uuid_nil() : id(is[c])));
        }
        ck_assert_uint_eq(count, expected);
    }
}
END_TEST

START_TEST(changes_are_sorted_and_a_place_that_comes_twice_is_told) {
    struct evd_pin distinct[] = {{id(3), id(1)}, {id(1), id(1)}, {id(2), evd_uuid_nil()}};
    struct evd_pin doubled[] = {{id(3), id(1)}, {id(1), id(1)}, {id(3), evd_uuid_nil()}};
    ck_assert(evd_pins_sort_changes(distinct, 3));
    for (unsigned i = 0; i < 3; i++)
        ck_assert(evd_uuid_equal(distinct[i].context, id(1 + i)));
    ck_assert(!evd_pins_sort_changes(doubled, 3));
    ck_assert(evd_pins_sort_changes(NULL, 0));
}
END_TEST

EVD_TEST_MAIN("domain: pins", an_overlay_equals_setting_each_place_in_turn, damaged_pin_maps_are_told,
              what_changed_between_two_versions_is_each_place_that_differs_once,
              changes_are_sorted_and_a_place_that_comes_twice_is_told)
