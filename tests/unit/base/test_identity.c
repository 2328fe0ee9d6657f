#include "../../support/test.h"
#include "evidenced/base/random.h"
#include "evidenced/base/sha256.h"
#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char *text;
    bool is_right;
} uuids[] = {
    {"01234567-89ab-4cde-8f01-23456789abcd", true},        {"01234567-89AB-4CDE-8F01-23456789ABCD", true},
    {"00000000-0000-0000-0000-000000000000", true},        {"", false},
    {"01234567-89ab-4cde-8f01-23456789abc", false},        {"01234567-89ab-4cde-8f01-23456789abcde", false},
    {"{01234567-89ab-4cde-8f01-23456789abcd}", false},     {"0123456789ab4cde8f0123456789abcd", false},
    {"01234567-89ab-4cde-8f0123456789abcd-", false},       {"0123456-789ab-4cde-8f01-23456789abcd", false},
    {"01234567_89ab-4cde-8f01-23456789abcd", false},       {"01234567-89ab-4cde-8f01-23456789abcg", false},
    {"01234567-89ab-4cde-8f01-2345678 abcd", false},       {"0x234567-89ab-4cde-8f01-23456789abcd", false},
    {"01234567-89ab-4cde-8f01-23456789ab\xC3\xA9", false},
};

START_TEST(a_uuid_is_read_in_its_canonical_form_only_and_written_in_lower_case) {
    for (size_t i = 0; i < COUNT(uuids); i++) {
        evd_uuid uuid = {{0xEE}};
        char text[EVD_UUID_TEXT_BYTES + 1];
        bool read = evd_uuid_parse(evd_text_from(uuids[i].text), &uuid);
        ck_assert_msg(read == uuids[i].is_right, "%s", uuids[i].text);
        evd_uuid_format(uuid, text);
        if (read)
            ck_assert(evd_text_equal_ignoring_case(evd_text_from(text), evd_text_from(uuids[i].text)));
        else
            ck_assert_str_eq(text, "ee000000-0000-0000-0000-000000000000");
        ck_assert_uint_eq(strspn(text, "0123456789abcdef-"), EVD_UUID_TEXT_BYTES);
    }
}
END_TEST

START_TEST(uuids_compare_by_bytes) {
    evd_uuid low = {{0, 1}}, high = {{0x80}}, nil = {{0}};
    ck_assert(evd_uuid_is_nil(nil) && !evd_uuid_is_nil(low));
    ck_assert(evd_uuid_equal(low, low) && !evd_uuid_equal(low, high));
    ck_assert_int_lt(evd_uuid_compare(low, high), 0);
    ck_assert_int_gt(evd_uuid_compare(high, low), 0);
    ck_assert_int_eq(evd_uuid_compare(high, high), 0);
    ck_assert_uint_eq(evd_uuid_part(&high).size_bytes, 16);
    ck_assert_uint_eq((uint8_t)evd_uuid_part(&high).bytes[0], 0x80);
}
END_TEST

START_TEST(random_uuids_are_version_4_and_repeat_with_their_source) {
    struct evd_test_random a, b;
    evd_test_random_init(&a, 7);
    evd_test_random_init(&b, 7);
    for (unsigned i = 0; i < 100; i++) {
        evd_uuid uuid = evd_uuid_random(&a.random), other = evd_uuid_random(evd_random_system());
        ck_assert(evd_uuid_equal(uuid, evd_uuid_random(&b.random)));
        ck_assert(!evd_uuid_equal(uuid, other));
        ck_assert_uint_eq(evd_uuid_version(uuid), 4);
        ck_assert_uint_eq(uuid.bytes[8] >> 6, 2);
        ck_assert_uint_eq(evd_uuid_version(other), 4);
    }
}
END_TEST

/* Records are found by these ids: they may never change. Computed independently of this code. */
START_TEST(derived_ids_are_version_8_and_the_same_for_ever) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid id = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
    const struct evd_text parts[] = {EVD_TEXT("project-1"), evd_uuid_part(&id)};
    evd_uuid derived = evd_uuid_derive("commandLedger", parts, 2);
    evd_uuid_format(derived, text);
    ck_assert_str_eq(text, "bc481547-cf58-85a4-8e19-4a36819a4d5d");
    ck_assert_uint_eq(evd_uuid_version(derived), 8);
    evd_uuid_format(evd_uuid_derive("study", NULL, 0), text);
    ck_assert_str_eq(text, "c1fe4bdb-48bf-8f93-bb93-d12a5ed81039");
}
END_TEST

START_TEST(keys_that_differ_only_in_where_their_parts_end_give_different_ids) {
    static const struct {
        const char *type;
        struct evd_text parts[3];
        size_t count;
    } keys[] = {
        {"t", {EVD_TEXT_INIT("ab"), EVD_TEXT_INIT("c")}, 2},
        {"t", {EVD_TEXT_INIT("a"), EVD_TEXT_INIT("bc")}, 2},
        {"t", {EVD_TEXT_INIT("abc")}, 1},
        {"t", {EVD_TEXT_INIT("abc"), EVD_TEXT_INIT("")}, 2},
        {"t", {EVD_TEXT_INIT(""), EVD_TEXT_INIT("abc")}, 2},
        {"t", {EVD_TEXT_INIT("ab"), EVD_TEXT_INIT("c"), EVD_TEXT_INIT("")}, 3},
        {"t", {EVD_TEXT_INIT("c"), EVD_TEXT_INIT("ab")}, 2},
        {"ta", {EVD_TEXT_INIT("b"), EVD_TEXT_INIT("c")}, 2},
        {"tab", {EVD_TEXT_INIT("c")}, 1},
        {"tabc", {EVD_TEXT_INIT("")}, 0},
        {"t", {EVD_TEXT_INIT("a\0b"), EVD_TEXT_INIT("c")}, 2},
    };
    for (size_t i = 0; i < COUNT(keys); i++)
        for (size_t j = 0; j < COUNT(keys); j++)
            ck_assert_msg(evd_uuid_equal(evd_uuid_derive(keys[i].type, keys[i].parts, keys[i].count),
                                         evd_uuid_derive(keys[j].type, keys[j].parts, keys[j].count)) == (i == j),
                          "keys %zu and %zu", i, j);
}
END_TEST

static const char *hex_of(struct evd_sha256 digest) {
    static char text[2 * EVD_SHA256_BYTES + 1];
    for (size_t i = 0; i < EVD_SHA256_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest.bytes[i]);
    return text;
}

START_TEST(digests_are_those_of_the_standard) {
    static char million[1000000];
    memset(million, 'a', sizeof million);
    ck_assert_str_eq(hex_of(evd_sha256_of("", 0)), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    ck_assert_str_eq(hex_of(evd_sha256_of("abc", 3)),
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ck_assert_str_eq(hex_of(evd_sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56)),
                     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    ck_assert_str_eq(hex_of(evd_sha256_of(million, sizeof million)),
                     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    const struct evd_text parts[] = {EVD_TEXT("ab"), EVD_TEXT("c")};
    struct evd_sha256 digest = evd_sha256_of_parts(parts, 2), other = digest;
    ck_assert_str_eq(hex_of(digest), "601d5476e2ccfe2c87a2bba7a322659734a05749d5b5aa781f513e4912db0d5f");
    ck_assert(evd_sha256_equal(&digest, &other));
    other.bytes[EVD_SHA256_BYTES - 1] ^= 1;
    ck_assert(!evd_sha256_equal(&digest, &other));
}
END_TEST

START_TEST(a_digest_taken_piece_by_piece_is_the_whole_ones) {
    static char bytes[1000];
    struct evd_sha256_running running;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    for (size_t piece = 1; piece <= sizeof bytes; piece += 37) {
        evd_sha256_begin(&running);
        for (size_t at = 0; at < sizeof bytes; at += piece) {
            size_t size_bytes = sizeof bytes - at < piece ? sizeof bytes - at : piece;
            evd_sha256_add(&running, bytes + at, size_bytes);
            struct evd_sha256 so_far = evd_sha256_so_far(&running), whole = evd_sha256_of(bytes, at + size_bytes);
            ck_assert(evd_sha256_equal(&so_far, &whole));
        }
    }
}
END_TEST

EVD_TEST_MAIN("base: ids and digests", a_uuid_is_read_in_its_canonical_form_only_and_written_in_lower_case,
              uuids_compare_by_bytes, random_uuids_are_version_4_and_repeat_with_their_source,
              derived_ids_are_version_8_and_the_same_for_ever,
              keys_that_differ_only_in_where_their_parts_end_give_different_ids, digests_are_those_of_the_standard,
              a_digest_taken_piece_by_piece_is_the_whole_ones)
