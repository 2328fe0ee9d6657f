/*
 * Defines the field tables of EVD_SCHEMA_FILE (see schema.h). Included once, in one .c file for each schema file.
 */
#define EVD_KIND_OF_uuid    EVD_KIND_UUID
#define EVD_KIND_OF_boolean EVD_KIND_BOOLEAN
#define EVD_KIND_OF_stamp   EVD_KIND_STAMP
#define EVD_KIND_OF_time    EVD_KIND_TIME

#define EVD_ROW(T, k, member, name, required)                                                                          \
    .key = (name), .kind = (k), .need = (required), .offset = (uint32_t)offsetof(struct evd_##T, member)

#define EVD_RECORD(T, COLLECTION)                                                                                      \
    enum { collection_of_##T = EVD_IN_##COLLECTION };                                                                  \
    static const struct evd_field fields_of_##T[] = {                                                                  \
        {EVD_ROW(T, EVD_KIND_UUID, base.id, "_id", EVD_REQUIRED)},                                                     \
        {EVD_ROW(T, EVD_KIND_UUID, base.project_id, "projectId", EVD_REQUIRED)},                                       \
        {EVD_ROW(T, EVD_KIND_NUMBER, base.version, "version", EVD_REQUIRED), .most = INT64_MAX},                       \
        {EVD_ROW(T, EVD_KIND_STAMP, base.stamp, "stamp", EVD_REQUIRED)},
#define EVD_STRUCT(T)                                                                                                  \
    enum { collection_of_##T = 0 };                                                                                    \
    static const struct evd_field fields_of_##T[] = {
#define EVD_FIELD(T, k, name, key, need) {EVD_ROW(T, EVD_KIND_OF_##k, name, key, need)},
#define EVD_REF(T, COLLECTION, name, key, need)                                                                        \
    {EVD_ROW(T, EVD_KIND_UUID, name, key, need), .refers = EVD_IN_##COLLECTION},
#define EVD_NUMBER(T, name, key, lo, hi, need)                                                                         \
    {EVD_ROW(T, EVD_KIND_NUMBER, name, key, need), .least = (lo), .most = (hi)},
#define EVD_STRING(T, name, key, most_bytes, need) {EVD_ROW(T, EVD_KIND_STRING, name, key, need), .max = (most_bytes)},
#define EVD_BYTES(T, name, key, most_bytes, need)  {EVD_ROW(T, EVD_KIND_BYTES, name, key, need), .max = (most_bytes)},
#define EVD_ENUM(T, set, name, key, need)          {EVD_ROW(T, EVD_KIND_ENUM, name, key, need), .names = &evd_names_##set},
#define EVD_NEST(T, type, name, key, need)         {EVD_ROW(T, EVD_KIND_NEST, name, key, need), .of = &evd_type_##type},
#define EVD_LIST(T, type, name, key, most_items, need)                                                                 \
    {EVD_ROW(T, EVD_KIND_LIST, name, key, need), .max = (most_items), .of = &evd_type_##type},
#define EVD_STRINGS(T, name, key, most_items, each_bytes, need)                                                        \
    {EVD_ROW(T, EVD_KIND_STRINGS, name, key, need), .max = (most_items), .max_bytes = (each_bytes)},
#define EVD_REFS(T, COLLECTION, name, key, most_items, need)                                                           \
    {EVD_ROW(T, EVD_KIND_UUIDS, name, key, need), .max = (most_items), .refers = EVD_IN_##COLLECTION},
#define EVD_VALUE(T, name, key, need) {EVD_ROW(T, EVD_KIND_VALUE, name, key, need)},
#define EVD_MEMBERS(T, name)          {EVD_ROW(T, EVD_KIND_MEMBERS, name, "", EVD_OPTIONAL)},
#define EVD_END(T)                                                                                                     \
    }                                                                                                                  \
    ;                                                                                                                  \
    const struct evd_type evd_type_##T = {.name = #T,                                                                  \
                                          .size_bytes = sizeof(struct evd_##T),                                        \
                                          .fields = fields_of_##T,                                                     \
                                          .field_count = sizeof fields_of_##T / sizeof *fields_of_##T,                 \
                                          .unknown_offset = (uint32_t)offsetof(struct evd_##T, unknown),               \
                                          .in = collection_of_##T};

#include EVD_SCHEMA_FILE

#include "evidenced/records/schema_undefine.h"
#undef EVD_ROW
