/*
 * Declares the structs of EVD_SCHEMA_FILE (see schema.h). Included once for each schema file, so without a guard.
 */
#include "evidenced/records/schema.h"

#define EVD_RECORD(T, COLLECTION)                                                                                      \
    struct evd_##T {                                                                                                   \
        struct evd_record base;
#define EVD_STRUCT(T)                               struct evd_##T {
#define EVD_FIELD(T, kind, name, key, need)         evd_field_##kind name;
#define EVD_REF(T, COLLECTION, name, key, need)     evd_uuid name;
#define EVD_NUMBER(T, name, key, least, most, need) int64_t name;
#define EVD_STRING(T, name, key, max, need)         struct evd_text name;
#define EVD_BYTES(T, name, key, max, need)          struct evd_text name;
#define EVD_ENUM(T, names, name, key, need)         struct evd_name name;
#define EVD_NEST(T, of, name, key, need)            struct evd_##of *name;
#define EVD_LIST(T, of, name, key, max, need)                                                                          \
    struct {                                                                                                           \
        struct evd_##of *items;                                                                                        \
        size_t count;                                                                                                  \
    } name;
#define EVD_STRINGS(T, name, key, max, max_bytes, need) struct evd_texts name;
#define EVD_REFS(T, COLLECTION, name, key, max, need)                                                                  \
    struct {                                                                                                           \
        evd_uuid *items;                                                                                               \
        size_t count;                                                                                                  \
    } name;
#define EVD_VALUE(T, name, key, need) struct evd_answer_value name;
#define EVD_MEMBERS(T, name)          struct evd_text name;
#define EVD_END(T)                                                                                                     \
    struct evd_unknown unknown;                                                                                        \
    }                                                                                                                  \
    ;                                                                                                                  \
    extern const struct evd_type evd_type_##T;

#include EVD_SCHEMA_FILE

#include "evidenced/records/schema_undefine.h"
