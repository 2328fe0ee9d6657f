/*
 * The index entries of a document: every declared path walked through its BSON.
 */
#include "internal.h"

#include <bson/bson.h>

enum { FIRST_BYTES = 4096, FIRST_ENTRIES = 32 };

struct extraction {
    struct evd_entries *entries;
    const struct evd_index *index;
    const struct evd_key *key;
    const bson_t *document;
    int array_path; /* the one path that passed through an array; −1: none yet */
    uint8_t bytes[EVD_INDEX_KEY_BYTES];
};

bool evd_document_image(const uint8_t *bytes, size_t size_bytes, struct evd_image *ret_image) {
    bson_t document;
    bson_iter_t iter;
    struct evd_image image = {.bson = bytes, .size_bytes = (uint32_t)size_bytes};
    if (size_bytes > UINT32_MAX || !bson_init_static(&document, bytes, size_bytes)) return false;
    if (!bson_iter_init(&iter, &document)) return false;
    while (bson_iter_next(&iter)) {
        if (strcmp(bson_iter_key(&iter), "version") != 0) continue;
        if (!BSON_ITER_HOLDS_INT64(&iter)) return false;
        image.version = bson_iter_int64(&iter);
    }
    if (iter.err_off != 0) return false;
    *ret_image = image;
    return true;
}

static bool reserve(struct evd_entries *entries, size_t size_bytes) {
    if (entries->size_bytes + size_bytes > entries->capacity_bytes) {
        size_t wanted = entries->capacity_bytes == 0 ? FIRST_BYTES : 2 * entries->capacity_bytes;
        uint8_t *grown = realloc(entries->bytes, wanted);
        if (grown == NULL) return false;
        entries->bytes = grown;
        entries->capacity_bytes = wanted;
    }
    if (entries->count == entries->capacity) {
        size_t wanted = entries->capacity == 0 ? FIRST_ENTRIES : 2 * entries->capacity;
        struct evd_entry *grown = realloc(entries->entries, wanted * sizeof *grown);
        if (grown == NULL) return false;
        entries->entries = grown;
        entries->capacity = wanted;
    }
    return true;
}
_Static_assert((int)FIRST_BYTES >= (int)EVD_INDEX_KEY_BYTES, "doubling once always makes room for a key");

static enum evd_entries_status entry_add(struct extraction *x, size_t used_bytes) {
    struct evd_entries *entries = x->entries;
    memcpy(x->bytes + used_bytes, x->key->id.bytes, 16);
    used_bytes += 16;
    if (!reserve(entries, used_bytes)) return EVD_ENTRIES_NO_MEMORY;
    memcpy(entries->bytes + entries->size_bytes, x->bytes, used_bytes);
    entries->entries[entries->count++] = (struct evd_entry){entries->size_bytes, (uint32_t)used_bytes};
    entries->size_bytes += used_bytes;
    return EVD_ENTRIES_OK;
}

static bool value_read(const bson_iter_t *at, struct evd_value *ret_value) {
    uint32_t size_bytes;
    const uint8_t *binary;
    bson_subtype_t subtype;
    bson_type_t type = bson_iter_type(at);
    if (type == BSON_TYPE_UTF8) {
        const char *text = bson_iter_utf8(at, &size_bytes);
        *ret_value = (struct evd_value){.kind = EVD_VALUE_TEXT, .text = {text, size_bytes}};
    } else if (type == BSON_TYPE_INT32 || type == BSON_TYPE_INT64) {
        *ret_value = (struct evd_value){.kind = EVD_VALUE_I64, .i64 = bson_iter_as_int64(at)};
    } else if (type == BSON_TYPE_DATE_TIME) {
        *ret_value = (struct evd_value){.kind = EVD_VALUE_I64, .i64 = bson_iter_date_time(at)};
    } else if (type == BSON_TYPE_BOOL) {
        *ret_value = (struct evd_value){.kind = EVD_VALUE_BOOL, .boolean = bson_iter_bool(at)};
    } else if (type == BSON_TYPE_BINARY) {
        bson_iter_binary(at, &subtype, &size_bytes, &binary);
        if (subtype != BSON_SUBTYPE_UUID || size_bytes != 16) return false;
        ret_value->kind = EVD_VALUE_UUID;
        memcpy(ret_value->uuid.bytes, binary, 16);
    } else {
        return false;
    }
    return true;
}

static enum evd_entries_status walk(struct extraction *x, bson_iter_t *members, const char *path, int number,
                                    size_t used_bytes);

/* A value of path `number` is found: go on with the next path from the top, or the entry is complete. */
static enum evd_entries_status value_take(struct extraction *x, const bson_iter_t *at, int number, size_t used_bytes) {
    struct evd_value value;
    bson_iter_t top;
    if (!value_read(at, &value)) return EVD_ENTRIES_OK;
    used_bytes += evd_index_value_encode(&value, x->bytes + used_bytes);
    if (++number == x->index->path_count) return entry_add(x, used_bytes);
    if (!bson_iter_init(&top, x->document)) return EVD_ENTRIES_MALFORMED;
    return walk(x, &top, x->index->paths[number], number, used_bytes);
}

/* rest: the path below, NULL when it ends here. */
static enum evd_entries_status node_take(struct extraction *x, const bson_iter_t *at, const char *rest, int number,
                                         size_t used_bytes) {
    bson_iter_t members;
    if (rest == NULL) return value_take(x, at, number, used_bytes);
    if (!BSON_ITER_HOLDS_DOCUMENT(at)) return EVD_ENTRIES_OK;
    if (!bson_iter_recurse(at, &members)) return EVD_ENTRIES_MALFORMED;
    return walk(x, &members, rest, number, used_bytes);
}

static enum evd_entries_status array_take(struct extraction *x, const bson_iter_t *at, const char *rest, int number,
                                          size_t used_bytes) {
    bson_iter_t elements;
    if (x->array_path >= 0 && x->array_path != number) return EVD_ENTRIES_MALFORMED;
    x->array_path = number;
    if (!bson_iter_recurse(at, &elements)) return EVD_ENTRIES_MALFORMED;
    while (bson_iter_next(&elements)) {
        enum evd_entries_status status = node_take(x, &elements, rest, number, used_bytes);
        if (status != EVD_ENTRIES_OK) return status;
    }
    return elements.err_off == 0 ? EVD_ENTRIES_OK : EVD_ENTRIES_MALFORMED;
}

static enum evd_entries_status walk(struct extraction *x, bson_iter_t *members, const char *path, int number,
                                    size_t used_bytes) {
    size_t name_bytes = strcspn(path, ".");
    const char *rest = path[name_bytes] == '\0' ? NULL : path + name_bytes + 1;
    while (bson_iter_next(members)) {
        const char *name = bson_iter_key(members);
        if (bson_iter_key_len(members) != name_bytes || memcmp(name, path, name_bytes) != 0) continue;
        return BSON_ITER_HOLDS_ARRAY(members) ? array_take(x, members, rest, number, used_bytes)
                                              : node_take(x, members, rest, number, used_bytes);
    }
    return members->err_off == 0 ? EVD_ENTRIES_OK : EVD_ENTRIES_MALFORMED;
}

static int entry_compare(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes) {
    int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

static int entry_order(const void *a, const void *b, void *bytes) {
    const struct evd_entry *left = a, *right = b;
    const uint8_t *base = bytes;
    return entry_compare(base + left->offset, left->size_bytes, base + right->offset, right->size_bytes);
}

static void sort_and_merge(struct evd_entries *entries) {
    size_t kept = 0;
    if (entries->count < 2) return;
    qsort_r(entries->entries, entries->count, sizeof *entries->entries, entry_order, entries->bytes);
    for (size_t i = 1; i < entries->count; i++)
        if (entry_order(&entries->entries[kept], &entries->entries[i], entries->bytes) != 0)
            entries->entries[++kept] = entries->entries[i];
    entries->count = kept + 1;
}

enum evd_entries_status evd_entries_collect(struct evd_entries *entries, const struct evd_catalogue *catalogue,
                                            const struct evd_key *key, const struct evd_image *image) {
    bson_t document;
    bson_iter_t top;
    entries->size_bytes = 0;
    entries->count = 0;
    if (image->size_bytes == 0) return EVD_ENTRIES_OK;
    if (!bson_init_static(&document, image->bson, image->size_bytes)) return EVD_ENTRIES_MALFORMED;
    for (size_t i = 0; i < catalogue->index_count; i++) {
        const struct evd_index *index = &catalogue->indexes[i];
        if (index->on != key->in) continue;
        struct extraction x = {.entries = entries, .index = index, .key = key, .document = &document, .array_path = -1};
        size_t used_bytes = evd_index_head_encode(index->number, key->project, x.bytes);
        if (!bson_iter_init(&top, &document)) return EVD_ENTRIES_MALFORMED;
        enum evd_entries_status status = walk(&x, &top, index->paths[0], 0, used_bytes);
        if (status != EVD_ENTRIES_OK) return status;
    }
    sort_and_merge(entries);
    return EVD_ENTRIES_OK;
}

typedef void entry_visitor(void *self, const uint8_t *key, size_t size_bytes);

static void visit(const struct evd_entries *entries, size_t at, entry_visitor *visitor, void *self) {
    visitor(self, entries->bytes + entries->entries[at].offset, entries->entries[at].size_bytes);
}

static int entries_order(const struct evd_entries *one, size_t at, const struct evd_entries *other, size_t other_at) {
    const struct evd_entry *left = &one->entries[at], *right = &other->entries[other_at];
    return entry_compare(one->bytes + left->offset, left->size_bytes, other->bytes + right->offset, right->size_bytes);
}

void evd_entries_difference(const struct evd_entries *before, const struct evd_entries *after,
                            void (*drop)(void *self, const uint8_t *key, size_t size_bytes),
                            void (*add)(void *self, const uint8_t *key, size_t size_bytes), void *self) {
    size_t b = 0, a = 0;
    while (b < before->count && a < after->count) {
        int order = entries_order(before, b, after, a);
        if (order < 0) visit(before, b, drop, self);
        if (order > 0) visit(after, a, add, self);
        b += order <= 0;
        a += order >= 0;
    }
    for (; b < before->count; b++)
        visit(before, b, drop, self);
    for (; a < after->count; a++)
        visit(after, a, add, self);
}

void evd_entries_done(struct evd_entries *entries) {
    free(entries->bytes);
    free(entries->entries);
    *entries = (struct evd_entries){0};
}
