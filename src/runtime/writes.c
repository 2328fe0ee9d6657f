#include "evidenced/runtime/writes.h"

#include "evidenced/base/limits.h"
#include "evidenced/records/bson.h"
#include "runtime/private.h"

#include <assert.h>

enum { FIRST_WRITES = 32 };

static struct evd_written *add(struct evd_call *call) {
    struct evd_writes *writes = call->writes;
    assert(writes->count < EVD_LIMIT_WRITES);
    if (writes->count == writes->capacity) {
        size_t capacity = writes->capacity == 0 ? FIRST_WRITES : writes->capacity * 2;
        struct evd_written *items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_written, capacity);
        if (writes->count > 0) memcpy(items, writes->items, writes->count * sizeof *items);
        writes->items = items;
        writes->capacity = capacity;
    }
    return &writes->items[writes->count++];
}

static struct evd_key key_of(const struct evd_call *call, const struct evd_type *type,
                             const struct evd_record *record) {
    assert(type->in != 0 && !evd_uuid_is_nil(record->id));
    evd_uuid project = evd_collection_project(type->in, call->ids.project);
    return (struct evd_key){.project = project, .id = record->id, .in = type->in};
}

static void insert(struct evd_call *call, enum evd_write_kind kind, const struct evd_type *type,
                   struct evd_record *record, size_t expected_bytes) {
    struct evd_key key = key_of(call, type, record);
    record->project_id = key.project;
    record->version = 1;
    record->stamp = call->stamp;
    struct evd_image after = evd_bson_encode_expecting(type, record, evd_call_arena(call), expected_bytes);
    *add(call) = (struct evd_written){.type = type, .write = {.kind = kind, .key = key, .after = after}};
}

void evd_writes_insert(struct evd_call *call, const struct evd_type *type, struct evd_record *record) {
    insert(call, EVD_INSERT, type, record, 0);
}

void evd_writes_insert_large(struct evd_call *call, const struct evd_type *type, struct evd_record *record,
                             size_t expected_bytes) {
    insert(call, EVD_INSERT, type, record, expected_bytes);
}

void evd_writes_insert_once(struct evd_call *call, const struct evd_type *type, struct evd_record *record) {
    insert(call, EVD_INSERT_ONCE, type, record, 0);
}

void evd_writes_delete(struct evd_call *call, const struct evd_type *type, const struct evd_record *record) {
    struct evd_key key = key_of(call, type, record);
    const struct evd_read_entry *read = evd_reads_find(call->reads, key);
    assert(read != NULL && read->image.size_bytes > 0); /* only what was read can be deleted */
    *add(call) = (struct evd_written){.type = type, .write = {.kind = EVD_DELETE, .key = key, .before = read->image}};
}

void evd_writes_replace(struct evd_call *call, const struct evd_type *type, struct evd_record *record) {
    struct evd_key key = key_of(call, type, record);
    const struct evd_read_entry *read = evd_reads_find(call->reads, key);
    assert(read != NULL && read->image.size_bytes > 0); /* only what was read can be replaced */
    record->version = read->image.version + 1;
    record->stamp = call->stamp;
    struct evd_image after = evd_bson_encode(type, record, evd_call_arena(call));
    *add(call) = (struct evd_written){
        .type = type, .write = {.kind = EVD_REPLACE, .key = key, .before = read->image, .after = after}};
}
