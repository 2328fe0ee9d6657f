/*
 * The store's keys and index entries.
 *
 * Input: one letter, then
 *   V  values, each a byte for its kind, a byte for its size and that many bytes: keys of two of them have the order of
 *      the values, and no value's bytes begin another's
 *   D  the collection, one byte, then a document before and one after: their entries are sorted, whole and each once,
 *      and what the difference drops and adds makes those before those after; what decodes as a record has entries.
 *      Collections from 128 up belong to a catalogue of indexes through arrays and documents, made here
 */
#include "evidenced/base/arena.h"
#include "evidenced/records/bson.h"
#include "evidenced/records/dictionary.h"

#include "../../src/store/embedded/internal.h"
#include "expect.h"

enum { ARENA_BYTES = 256 << 20, PAIR = 2, OWN = 128 };

static const struct evd_index own_indexes[] = {
    {.name = "one", .on = OWN, .number = 200, .path_count = 1, .paths = {"a"}},
    {.name = "deep", .on = OWN, .number = 201, .path_count = 2, .paths = {"a", "b.c"}},
    {.name = "list", .on = OWN, .number = 202, .path_count = 3, .paths = {"list.x", "a", "list.y"}},
    {.name = "most", .on = OWN, .number = 203, .path_count = 6, .paths = {"a", "a", "a", "a", "a", "a"}},
};
static const struct evd_catalogue own = {.indexes = own_indexes,
                                         .index_count = sizeof own_indexes / sizeof *own_indexes};

static struct evd_text take(struct evd_text *rest, size_t size_bytes) {
    if (size_bytes > rest->size_bytes) size_bytes = rest->size_bytes;
    struct evd_text taken = {rest->bytes, size_bytes};
    *rest = (struct evd_text){rest->bytes + size_bytes, rest->size_bytes - size_bytes};
    return taken;
}

static struct evd_value next_value(struct evd_text *rest) {
    struct evd_value value = {.kind = EVD_VALUE_BOOL};
    struct evd_text head = take(rest, 2);
    if (head.size_bytes < 2) return value;
    struct evd_text bytes = take(rest, (uint8_t)head.bytes[1] * (size_t)2); /* up to longer than what is indexed */
    uint8_t held[sizeof(evd_uuid)] = {0};
    if (bytes.size_bytes > 0)
        memcpy(held, bytes.bytes, bytes.size_bytes < sizeof held ? bytes.size_bytes : sizeof held);
    switch ((uint8_t)head.bytes[0] % 4) {
    case 0:
        value.kind = EVD_VALUE_UUID;
        memcpy(value.uuid.bytes, held, sizeof held);
        break;
    case 1:
        value.kind = EVD_VALUE_I64;
        memcpy(&value.i64, held, sizeof value.i64);
        break;
    case 2:
        value.kind = EVD_VALUE_TEXT;
        value.text = bytes;
        break;
    default: value.boolean = held[0] & 1; break;
    }
    return value;
}

static int sign(int64_t number) {
    return (number > 0) - (number < 0);
}

static int texts_order(struct evd_text a, struct evd_text b) {
    size_t a_bytes = a.size_bytes, b_bytes = b.size_bytes;
    if (a_bytes > EVD_STORE_INDEX_TEXT_BYTES) a_bytes = EVD_STORE_INDEX_TEXT_BYTES;
    if (b_bytes > EVD_STORE_INDEX_TEXT_BYTES) b_bytes = EVD_STORE_INDEX_TEXT_BYTES;
    size_t both = a_bytes < b_bytes ? a_bytes : b_bytes;
    int order = both == 0 ? 0 : memcmp(a.bytes, b.bytes, both);
    return order != 0 ? sign(order) : sign((int64_t)a_bytes - (int64_t)b_bytes);
}

static int values_order(const struct evd_value *a, const struct evd_value *b) {
    if (a->kind != b->kind) return sign((int64_t)a->kind - (int64_t)b->kind);
    switch (a->kind) {
    case EVD_VALUE_UUID: return sign(memcmp(a->uuid.bytes, b->uuid.bytes, sizeof a->uuid.bytes));
    case EVD_VALUE_I64: return (a->i64 > b->i64) - (a->i64 < b->i64);
    case EVD_VALUE_TEXT: return texts_order(a->text, b->text);
    case EVD_VALUE_BOOL: return a->boolean - b->boolean;
    }
    abort();
}

static int bytes_order(struct evd_text a, struct evd_text b) {
    size_t both = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = memcmp(a.bytes, b.bytes, both);
    return order != 0 ? sign(order) : sign((int64_t)a.size_bytes - (int64_t)b.size_bytes);
}

static struct evd_text pair_encode(const struct evd_value pair[PAIR], uint8_t bytes[PAIR * EVD_INDEX_VALUE_BYTES]) {
    size_t used = 0;
    for (size_t i = 0; i < PAIR; i++) {
        size_t size_bytes = evd_index_value_encode(&pair[i], bytes + used);
        EXPECT(size_bytes > 0 && size_bytes <= EVD_INDEX_VALUE_BYTES);
        used += size_bytes;
    }
    return (struct evd_text){(const char *)bytes, used};
}

/* Two keys of two values each. */
static void try_values(struct evd_text input) {
    uint8_t bytes[2][PAIR * EVD_INDEX_VALUE_BYTES];
    struct evd_value pairs[2][PAIR];
    for (size_t i = 0; i < 2 * PAIR; i++)
        pairs[i / PAIR][i % PAIR] = next_value(&input);
    struct evd_text one = pair_encode(pairs[0], bytes[0]), other = pair_encode(pairs[1], bytes[1]);
    int order = values_order(&pairs[0][0], &pairs[1][0]);
    if (order == 0) order = values_order(&pairs[0][1], &pairs[1][1]);
    EXPECT(bytes_order(one, other) == order);
    EXPECT(order == 0 || !(evd_text_starts_with(one, other) || evd_text_starts_with(other, one)));

    uint8_t below[PAIR * EVD_INDEX_VALUE_BYTES];
    memcpy(below, one.bytes, one.size_bytes);
    evd_key_successor(below, one.size_bytes);
    struct evd_text successor = {(const char *)below, one.size_bytes};
    EXPECT(bytes_order(one, successor) < 0);
    EXPECT(!evd_text_starts_with(other, one) || bytes_order(other, successor) < 0);
}

/* Documents tell their size. */
static struct evd_image next_document(struct evd_text *rest) {
    struct evd_image image = {.size_bytes = 0};
    int32_t size_bytes = 0;
    if (rest->size_bytes >= sizeof size_bytes) memcpy(&size_bytes, rest->bytes, sizeof size_bytes);
    struct evd_text document = take(rest, size_bytes < 0 ? SIZE_MAX : (size_t)size_bytes);
    if (!evd_document_image((const uint8_t *)document.bytes, document.size_bytes, &image)) image.size_bytes = 0;
    return image;
}

static struct evd_text entry_at(const struct evd_entries *entries, size_t at) {
    return (struct evd_text){(const char *)entries->bytes + entries->entries[at].offset,
                             entries->entries[at].size_bytes};
}

static void expect_entries(const struct evd_entries *entries, const struct evd_key *key) {
    for (size_t i = 0; i < entries->count; i++) {
        struct evd_text entry = entry_at(entries, i);
        EXPECT(entry.size_bytes > EVD_INDEX_HEAD_BYTES + 16 && entry.size_bytes <= EVD_INDEX_KEY_BYTES);
        EXPECT(memcmp(entry.bytes + 1, key->project.bytes, 16) == 0);
        EXPECT(memcmp(entry.bytes + entry.size_bytes - 16, key->id.bytes, 16) == 0);
        EXPECT(i == 0 || bytes_order(entry_at(entries, i - 1), entry) < 0);
    }
}

/* What changes entries before into those after: both in order. */
struct changes {
    struct evd_text *dropped, *added;
    size_t dropped_count, added_count;
};

static void drop(void *self, const uint8_t *key, size_t size_bytes) {
    struct changes *changes = self;
    changes->dropped[changes->dropped_count++] = (struct evd_text){(const char *)key, size_bytes};
}

static void add(void *self, const uint8_t *key, size_t size_bytes) {
    struct changes *changes = self;
    changes->added[changes->added_count++] = (struct evd_text){(const char *)key, size_bytes};
}

static bool is_in(const struct evd_text *texts, size_t count, struct evd_text wanted) {
    for (size_t i = 0; i < count; i++)
        if (evd_text_equal(texts[i], wanted)) return true;
    return false;
}

static void expect_difference(const struct evd_entries *before, const struct evd_entries *after,
                              struct evd_arena *arena) {
    struct changes changes = {.dropped = EVD_NEW_ARRAY(arena, struct evd_text, before->count + 1),
                              .added = EVD_NEW_ARRAY(arena, struct evd_text, after->count + 1)};
    size_t kept = 0, at = 0;
    evd_entries_difference(before, after, drop, add, &changes);
    EXPECT(changes.dropped_count <= before->count && changes.added_count <= after->count);
    for (size_t i = 0; i < after->count; i++) {
        struct evd_text entry = entry_at(after, i);
        if (is_in(changes.added, changes.added_count, entry)) continue;
        while (at < before->count && is_in(changes.dropped, changes.dropped_count, entry_at(before, at)))
            at++;
        EXPECT(at < before->count && evd_text_equal(entry_at(before, at), entry));
        at++;
        kept++;
    }
    EXPECT(kept + changes.added_count == after->count && kept + changes.dropped_count == before->count);
}

static bool is_record(evd_collection in, const struct evd_image *image, struct evd_arena *arena) {
    const struct evd_type *type = in < OWN ? evd_type_of_collection(in) : NULL;
    if (type == NULL || image->size_bytes == 0) return false;
    void *record = evd_arena_alloc(arena, type->size_bytes);
    return evd_bson_decode(type, image->bson, image->size_bytes, arena, record) != EVD_DECODED_CORRUPT;
}

static void try_documents(struct evd_text input) {
    struct evd_arena arena;
    struct evd_entries entries[2] = {{0}};
    struct evd_key key = {.project = {{0xFF, 1, 2}}, .id = {{3, 0xFF}}};
    struct evd_text in = take(&input, 1);
    bool whole = true;
    if (in.size_bytes == 0) return;
    key.in = (uint8_t)in.bytes[0] < OWN ? (uint8_t)in.bytes[0] : OWN;
    evd_arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < 2; i++) {
        struct evd_image image = next_document(&input);
        const struct evd_catalogue *catalogue = key.in == OWN ? &own : evd_catalogue_stored();
        enum evd_entries_status status = evd_entries_collect(&entries[i], catalogue, &key, &image);
        EXPECT(status == EVD_ENTRIES_OK || (status == EVD_ENTRIES_MALFORMED && !is_record(key.in, &image, &arena)));
        whole = whole && status == EVD_ENTRIES_OK;
        if (status == EVD_ENTRIES_OK) expect_entries(&entries[i], &key);
    }
    if (whole) expect_difference(&entries[0], &entries[1], &arena);
    evd_entries_done(&entries[0]);
    evd_entries_done(&entries[1]);
    evd_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const struct evd_text input = {(const char *)data + 1, size - 1};
    if (data[0] == 'V') try_values(input);
    if (data[0] == 'D') try_documents(input);
    return 0;
}
