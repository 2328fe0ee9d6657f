/*
 * Scans: which documents an index holds, in which order, and how one pages through them.
 */
#include "suite.h"

enum { MOST = 64 };

static struct evd_key keys[MOST];
static struct evd_image images[MOST];

static struct evd_value uuid_value(evd_uuid uuid) {
    return (struct evd_value){.kind = EVD_VALUE_UUID, .uuid = uuid};
}

static struct evd_value number_value(int64_t number) {
    return (struct evd_value){.kind = EVD_VALUE_I64, .i64 = number};
}

static struct evd_value text_value(const char *text) {
    return (struct evd_value){.kind = EVD_VALUE_TEXT, .text = evd_text_from(text)};
}

static struct evd_value bool_value(bool boolean) {
    return (struct evd_value){.kind = EVD_VALUE_BOOL, .boolean = boolean};
}

static size_t scan(const struct evd_range *range) {
    size_t count = 999;
    struct evd_txn *txn = begin();
    ck_assert_int_eq(evd_txn_scan(txn, range, keys, images, &count).status, EVD_STORE_OK);
    evd_txn_close(txn);
    ck_assert_uint_le(count, range->limit);
    for (size_t i = 0; i < count; i++) {
        struct evd_image now = latest(keys[i]);
        ck_assert(same_image(&now, &images[i]));
    }
    return count;
}

static struct evd_range range_of(int index) {
    return (struct evd_range){.index = &indexes[index], .project = thing_key(0).project, .limit = MOST};
}

/* The found ids as text, `3 1 2`. */
static const char *found_by(struct evd_range range) {
    static char text[MOST * 12 + 1];
    size_t used = 0, count = scan(&range);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i == 0 ? "%u" : " %u", number_of(&keys[i]));
    return text;
}

static const char *found_equal(int index, struct evd_value equal) {
    struct evd_range range = range_of(index);
    range.equal = &equal;
    range.equal_count = 1;
    return found_by(range);
}

static void put(unsigned number, struct thing thing) {
    ck_assert_int_eq(WRITE(inserting(thing_key(number), image_in(&arena, thing))), EVD_STORE_OK);
}

START_TEST(entries_come_by_value_then_by_id_forwards_and_backwards) {
    suite_open();
    const int64_t ranks[] = {5, -3, 5, INT64_MAX, INT64_MIN, 1, -1, 256, 255, 70000};
    for (unsigned i = 0; i < 10; i++)
        put(i + 1, (struct thing){.rank = ranks[i]});
    struct evd_range range = range_of(BY_RANK);
    ck_assert_str_eq(found_by(range), "5 2 7 6 1 3 9 8 10 4");
    range.descending = true;
    ck_assert_str_eq(found_by(range), "4 10 8 9 3 1 6 7 2 5");
    range.limit = 3;
    ck_assert_str_eq(found_by(range), "4 10 8");
    suite_close();
}
END_TEST

START_TEST(texts_come_in_byte_order_and_a_prefix_before_what_it_begins) {
    suite_open();
    const char *const names[] = {"b", "a", "ab", "a b", "B", "\xC3\xA4", "aa", "a\x01", "~"};
    for (unsigned i = 0; i < 9; i++)
        put(i + 1, (struct thing){.name = names[i]});
    ck_assert_str_eq(found_by(range_of(BY_NAME)), "5 2 8 4 7 3 1 9 6");
    ck_assert_str_eq(found_equal(BY_NAME, text_value("a")), "2");
    ck_assert_str_eq(found_equal(BY_NAME, text_value("")), "");
    suite_close();
}
END_TEST

START_TEST(a_text_with_zero_bytes_sorts_as_its_bytes_do) {
    suite_open();
    const struct evd_text names[] = {EVD_TEXT_INIT("a"),     EVD_TEXT_INIT("a\0"),   EVD_TEXT_INIT("a\0b"),
                                     EVD_TEXT_INIT("a\x01"), EVD_TEXT_INIT("a\0\0"), EVD_TEXT_INIT("")};
    for (unsigned i = 0; i < 6; i++) {
        bson_t document = BSON_INITIALIZER;
        bson_append_utf8(&document, "name", -1, names[i].bytes, (int)names[i].size_bytes);
        struct evd_image image = image_of_bson(&arena, &document, 0);
        bson_destroy(&document);
        ck_assert_int_eq(WRITE(inserting(thing_key(i + 1), image)), EVD_STORE_OK);
    }
    ck_assert_str_eq(found_by(range_of(BY_NAME)), "6 1 2 5 3 4");
    struct evd_value zero = {.kind = EVD_VALUE_TEXT, .text = names[1]};
    ck_assert_str_eq(found_equal(BY_NAME, zero), "2");
    suite_close();
}
END_TEST

START_TEST(texts_beyond_the_indexed_length_count_as_equal_and_keep_their_order) {
    char base[EVD_STORE_INDEX_TEXT_BYTES + 3], longer[sizeof base], shorter[sizeof base];
    suite_open();
    memset(base, 'x', sizeof base - 1);
    base[sizeof base - 1] = '\0';
    memcpy(longer, base, sizeof base);
    memcpy(shorter, base, sizeof base);
    longer[sizeof base - 2] = 'y'; /* differs behind what is indexed */
    shorter[EVD_STORE_INDEX_TEXT_BYTES - 1] = '\0';
    put(1, (struct thing){.name = longer});
    put(2, (struct thing){.name = base});
    put(3, (struct thing){.name = shorter});
    put(4, (struct thing){.name = "y"});
    ck_assert_str_eq(found_by(range_of(BY_NAME)), "3 1 2 4");
    ck_assert_str_eq(found_equal(BY_NAME, text_value(base)), "1 2");
    ck_assert_str_eq(found_equal(BY_NAME, text_value(shorter)), "3");
    suite_close();
}
END_TEST

START_TEST(an_equal_prefix_finds_its_own_and_nobody_elses) {
    suite_open();
    for (unsigned i = 1; i <= 9; i++)
        put(i, (struct thing){.open = i % 3 == 0 ? "no" : "yes", .rank = 100 - (int64_t)i});
    ck_assert_str_eq(found_equal(BY_OPEN_RANK, bool_value(true)), "8 7 5 4 2 1");
    ck_assert_str_eq(found_equal(BY_OPEN_RANK, bool_value(false)), "9 6 3");
    const struct evd_value both[] = {bool_value(true), number_value(95)};
    struct evd_range range = range_of(BY_OPEN_RANK);
    range.equal = both;
    range.equal_count = 2;
    ck_assert_str_eq(found_by(range), "5");
    range.equal_count = 1;
    range.descending = true;
    ck_assert_str_eq(found_by(range), "1 2 4 5 7 8");
    range.equal_count = 0;
    ck_assert_str_eq(found_by(range), "1 2 4 5 7 8 3 6 9");
    suite_close();
}
END_TEST

START_TEST(a_scan_at_the_last_value_there_is_stays_within_its_index) {
    suite_open();
    put(1, (struct thing){.rank = -1}); /* eight bytes of 0xFF before the sign is turned */
    put(2, (struct thing){.rank = INT64_MAX});
    ck_assert_int_eq(WRITE(inserting(key_in(NOTES, 1, 3), IMAGE(.rank = INT64_MAX))), EVD_STORE_OK);
    ck_assert_str_eq(found_equal(BY_RANK, number_value(INT64_MAX)), "2");
    ck_assert_str_eq(found_equal(BY_RANK, number_value(-1)), "1");
    ck_assert_str_eq(found_by(range_of(NOTES_BY_RANK)), "3");
    struct evd_range range = range_of(BY_RANK);
    range.descending = true;
    ck_assert_str_eq(found_by(range), "2 1");
    suite_close();
}
END_TEST

static void page_through(bool descending, size_t limit) {
    enum { RECORDS = 40 };
    bool seen[RECORDS + 1] = {false};
    const struct evd_value open = bool_value(true);
    struct evd_range range = range_of(BY_OPEN_RANK);
    struct evd_value after;
    size_t total = 0, count;
    int64_t last = descending ? INT64_MAX : INT64_MIN;
    range.equal = &open;
    range.equal_count = 1;
    range.descending = descending;
    range.limit = limit;
    do {
        count = scan(&range);
        for (size_t i = 0; i < count; i++) {
            unsigned number = number_of(&keys[i]);
            int64_t rank = rank_of(&images[i]);
            ck_assert(!seen[number]);
            ck_assert(descending ? rank <= last : rank >= last);
            seen[number] = true;
            last = rank;
        }
        total += count;
        if (count == 0) break;
        after = number_value(last);
        range.after = &after;
        range.after_id = keys[count - 1].id;
    } while (count == limit);
    ck_assert_uint_eq(total, RECORDS);
}

START_TEST(pages_leave_no_gap_and_repeat_nothing) {
    suite_open();
    for (unsigned i = 1; i <= 40; i++)
        put(i, (struct thing){.open = "yes", .rank = 1 + i % 7}); /* many equal ranks: the id decides */
    put(50, (struct thing){.open = "no", .rank = 3});
    const size_t limits[] = {1, 2, 3, 7, 39, 40, 41};
    for (size_t i = 0; i < 7; i++) {
        page_through(false, limits[i]);
        page_through(true, limits[i]);
    }
    suite_close();
}
END_TEST

START_TEST(a_page_goes_on_behind_a_document_that_is_gone) {
    suite_open();
    for (unsigned i = 1; i <= 6; i++)
        put(i, (struct thing){.rank = i});
    struct evd_value after = number_value(3);
    struct evd_range range = range_of(BY_RANK);
    range.after = &after;
    range.after_id = thing_key(3).id;
    ck_assert_int_eq(WRITE(deleting(thing_key(3), latest(thing_key(3)))), EVD_STORE_OK);
    ck_assert_str_eq(found_by(range), "4 5 6");
    range.descending = true;
    ck_assert_str_eq(found_by(range), "2 1");
    after = number_value(6);
    range.after_id = thing_key(6).id;
    range.descending = false;
    ck_assert_str_eq(found_by(range), "");
    suite_close();
}
END_TEST

START_TEST(pages_of_equal_values_go_by_id_alone) {
    suite_open();
    for (unsigned i = 1; i <= 5; i++)
        put(i, (struct thing){.rank = 8});
    const struct evd_value equal = number_value(8);
    struct evd_range range = range_of(BY_RANK);
    range.equal = range.after = &equal; /* no values remain: only that there is one counts */
    range.equal_count = 1;
    range.after_id = thing_key(2).id;
    ck_assert_str_eq(found_by(range), "3 4 5");
    range.descending = true;
    ck_assert_str_eq(found_by(range), "1");
    suite_close();
}
END_TEST

START_TEST(a_document_without_the_path_has_no_entry) {
    suite_open();
    put(1, (struct thing){.rank = 1});
    put(2, (struct thing){.name = "no rank"});
    put(3, (struct thing){.open = "yes"});
    put(4, (struct thing){.open = "yes", .rank = 4});
    put(5, (struct thing){.owner = 1});
    put(6, (struct thing){.owner = 1, .due_ms = 5000});
    ck_assert_str_eq(found_by(range_of(BY_RANK)), "1 4");
    ck_assert_str_eq(found_by(range_of(BY_OPEN_RANK)), "4");
    ck_assert_str_eq(found_by(range_of(BY_DUE)), "6");
    suite_close();
}
END_TEST

START_TEST(a_value_of_a_kind_that_is_not_indexed_makes_no_entry) {
    suite_open();
    for (int kind = 0; kind < 5; kind++) {
        bson_t document = BSON_INITIALIZER, inner;
        if (kind == 0) bson_append_null(&document, "rank", -1);
        if (kind == 1) bson_append_double(&document, "rank", -1, 1.5);
        if (kind == 2)
            bson_append_document_begin(&document, "rank", -1, &inner), bson_append_document_end(&document, &inner);
        if (kind == 3)
            bson_append_binary(&document, "rank", -1, BSON_SUBTYPE_BINARY, (const uint8_t *)"0123456789abcdef", 16);
        if (kind == 4) bson_append_int32(&document, "rank", -1, 44);
        struct evd_image image = image_of_bson(&arena, &document, 0);
        bson_destroy(&document);
        ck_assert_int_eq(WRITE(inserting(thing_key((unsigned)kind + 1), image)), EVD_STORE_OK);
    }
    ck_assert_str_eq(found_by(range_of(BY_RANK)), "5");
    ck_assert_str_eq(found_equal(BY_RANK, number_value(44)), "5");
    suite_close();
}
END_TEST

START_TEST(dotted_paths_reach_into_documents) {
    suite_open();
    put(1, (struct thing){.owner = 1, .due_ms = 3000});
    put(2, (struct thing){.owner = 2, .due_ms = 1000});
    put(3, (struct thing){.owner = 1, .due_ms = 2000});
    ck_assert_str_eq(found_equal(BY_DUE, uuid_value(numbered(0xDD, 1))), "3 1");
    ck_assert_str_eq(found_equal(BY_DUE, uuid_value(numbered(0xDD, 2))), "2");
    suite_close();
}
END_TEST

START_TEST(a_path_through_an_array_makes_one_entry_an_element) {
    suite_open();
    put(1, (struct thing){.rank = 30, .reviewers = {7, 8}});
    put(2, (struct thing){.rank = 20, .reviewers = {8, 9, 7}});
    put(3, (struct thing){.rank = 10, .reviewers = {9, 9, 9}}); /* equal elements are one entry */
    put(4, (struct thing){.rank = 5});
    ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 7))), "2 1");
    ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 8))), "2 1");
    ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 9))), "3 2");
    ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 6))), "");
    put(5, (struct thing){.name = "t", .tags = {"x", "y", "x"}});
    put(6, (struct thing){.name = "s", .tags = {"x"}});
    ck_assert_str_eq(found_equal(BY_TAG, text_value("x")), "6 5");
    ck_assert_str_eq(found_equal(BY_TAG, text_value("y")), "5");
    suite_close();
}
END_TEST

START_TEST(a_replacement_moves_adds_and_drops_entries) {
    suite_open();
    struct thing thing = {.version = 1, .rank = 10, .name = "n", .open = "yes", .reviewers = {1, 2}};
    put(1, thing);
    put(2, (struct thing){.rank = 20, .name = "n"});
    struct evd_image before = latest(thing_key(1));
    thing = (struct thing){.version = 2, .rank = 30, .name = "n", .reviewers = {2, 3}};
    ck_assert_int_eq(WRITE(replacing(thing_key(1), before, image_in(&arena, thing))), EVD_STORE_OK);
    ck_assert_str_eq(found_by(range_of(BY_RANK)), "2 1");
    ck_assert_str_eq(found_equal(BY_RANK, number_value(10)), "");
    ck_assert_str_eq(found_by(range_of(BY_NAME)), "1 2");
    ck_assert_str_eq(found_by(range_of(BY_OPEN_RANK)), "");
    ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 1))), "");
    ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 2))), "1");
    ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 3))), "1");
    suite_close();
}
END_TEST

START_TEST(elements_that_repeat_or_change_places_keep_their_one_entry) {
    suite_open();
    const unsigned members[][4] = {{9, 9, 9}, {9}, {9, 8, 7}, {7, 9, 8, 9}, {8, 8, 9}, {9, 9, 9, 9}};
    const char *const nines[] = {"1", "1", "1", "1", "1", "1"}, *const eights[] = {"", "", "1", "1", "1", ""};
    put(1, (struct thing){.rank = 1, .reviewers = {5}});
    for (unsigned i = 0; i < 6; i++) {
        struct thing thing = {.version = i + 2, .rank = 1};
        memcpy(thing.reviewers, members[i], sizeof thing.reviewers);
        struct evd_write write = replacing(thing_key(1), latest(thing_key(1)), image_in(&arena, thing));
        ck_assert_int_eq(WRITE(write), EVD_STORE_OK);
        ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 9))), nines[i]);
        ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 8))), eights[i]);
        ck_assert_str_eq(found_equal(BY_REVIEWER, uuid_value(numbered(0xCC, 5))), "");
    }
    suite_close();
}
END_TEST

START_TEST(a_deletion_drops_all_entries) {
    suite_open();
    struct thing thing = {
        .rank = 10, .name = "n", .open = "yes", .reviewers = {1, 2}, .tags = {"x"}, .owner = 1, .due_ms = 9};
    put(1, thing);
    for (int index = BY_RANK; index <= BY_DUE; index++)
        ck_assert_str_ne(found_by(range_of(index)), "");
    ck_assert_int_eq(WRITE(deleting(thing_key(1), latest(thing_key(1)))), EVD_STORE_OK);
    for (int index = BY_RANK; index <= BY_DUE; index++)
        ck_assert_str_eq(found_by(range_of(index)), "");
    suite_close();
}
END_TEST

START_TEST(a_swap_keeps_the_indexes_too) {
    suite_open();
    struct evd_image one = IMAGE(.rank = 10), two = IMAGE(.version = 2, .rank = 20);
    struct evd_write steps[] = {inserting(thing_key(1), one), replacing(thing_key(1), one, two),
                                deleting(thing_key(1), two)};
    const char *const at_ten[] = {"1", "", ""}, *const at_twenty[] = {"", "1", ""};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(evd_store_swap(store, &steps[i], evd_store_fixture_far()).status, EVD_STORE_OK);
        ck_assert_str_eq(found_equal(BY_RANK, number_value(10)), at_ten[i]);
        ck_assert_str_eq(found_equal(BY_RANK, number_value(20)), at_twenty[i]);
    }
    suite_close();
}
END_TEST

START_TEST(another_projects_documents_are_never_seen) {
    suite_open();
    for (unsigned project = 0; project < 4; project++)
        for (unsigned i = 1; i <= 3; i++)
            ck_assert_int_eq(WRITE(inserting(key_in(THINGS, project, project * 10 + i),
                                             IMAGE(.rank = 4 - (int64_t)i, .reviewers = {1}))),
                             EVD_STORE_OK);
    const char *const expected[] = {"3 2 1", "13 12 11", "23 22 21", "33 32 31", ""};
    const char *const backwards[] = {"1 2 3", "11 12 13", "21 22 23", "31 32 33", ""};
    for (unsigned project = 0; project < 5; project++) {
        struct evd_range range = range_of(BY_RANK);
        range.project = key_in(THINGS, project, 0).project;
        ck_assert_str_eq(found_by(range), expected[project]);
        range.descending = true;
        ck_assert_str_eq(found_by(range), backwards[project]);
        struct evd_value reviewer = uuid_value(numbered(0xCC, 1));
        range = range_of(BY_REVIEWER);
        range.project = key_in(THINGS, project, 0).project;
        range.equal = &reviewer;
        range.equal_count = 1;
        ck_assert_str_eq(found_by(range), expected[project]);
    }
    suite_close();
}
END_TEST

START_TEST(indexes_survive_a_restart) {
    suite_open();
    for (unsigned i = 1; i <= 5; i++)
        put(i, (struct thing){.rank = 10 - (int64_t)i});
    store = evd_store_fixture_reopen(store, &catalogue);
    ck_assert_str_eq(found_by(range_of(BY_RANK)), "5 4 3 2 1");
    suite_close();
}
END_TEST

EVD_TEST_MAIN("store: indexes", entries_come_by_value_then_by_id_forwards_and_backwards,
              texts_come_in_byte_order_and_a_prefix_before_what_it_begins, a_text_with_zero_bytes_sorts_as_its_bytes_do,
              texts_beyond_the_indexed_length_count_as_equal_and_keep_their_order,
              an_equal_prefix_finds_its_own_and_nobody_elses, a_scan_at_the_last_value_there_is_stays_within_its_index,
              pages_leave_no_gap_and_repeat_nothing, a_page_goes_on_behind_a_document_that_is_gone,
              pages_of_equal_values_go_by_id_alone, a_document_without_the_path_has_no_entry,
              a_value_of_a_kind_that_is_not_indexed_makes_no_entry, dotted_paths_reach_into_documents,
              a_path_through_an_array_makes_one_entry_an_element, a_replacement_moves_adds_and_drops_entries,
              elements_that_repeat_or_change_places_keep_their_one_entry, a_deletion_drops_all_entries,
              a_swap_keeps_the_indexes_too, another_projects_documents_are_never_seen, indexes_survive_a_restart)
