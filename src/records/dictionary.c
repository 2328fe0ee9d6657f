#include "evidenced/records/dictionary.h"

#define EVD_NAMES(s)                  static const char *const names_of_##s[] = {NULL,
#define EVD_NAME(s, enumerator, text) text,
#define EVD_NAMES_END(s)                                                                                               \
    }                                                                                                                  \
    ;                                                                                                                  \
    const struct evd_names evd_names_##s = {                                                                           \
        .set = #s, .names = names_of_##s, .count = sizeof names_of_##s / sizeof *names_of_##s};
#include "records/names.def"
#undef EVD_NAMES
#undef EVD_NAME
#undef EVD_NAMES_END

#define EVD_SCHEMA_FILE "records/dictionary.def"
#include "evidenced/records/schema_define.h"

static const char *const collection_names[] = {
#define EVD_COLLECTION(type, COLLECTION, number, name) [EVD_IN_##COLLECTION] = (name),
#include "records/catalogue.def"
#undef EVD_COLLECTION
};

static const struct evd_type *const collection_types[] = {
#define EVD_COLLECTION(type, COLLECTION, number, name) [EVD_IN_##COLLECTION] = &evd_type_##type,
#include "records/catalogue.def"
#undef EVD_COLLECTION
};

#define COUNT_PATHS(...) (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static const struct evd_index indexes[EVD_INDEX_COUNT] = {
#define EVD_INDEX(index_name, COLLECTION, index_number, ...)                                                           \
    [EVD_INDEX_##index_name] = {.name = #index_name,                                                                   \
                                .on = EVD_IN_##COLLECTION,                                                             \
                                .number = (index_number),                                                              \
                                .path_count = COUNT_PATHS(__VA_ARGS__),                                                \
                                .paths = {__VA_ARGS__}},
#include "records/indexes.def"
#undef EVD_INDEX
};

const struct evd_catalogue *evd_catalogue_stored(void) {
    static const struct evd_catalogue catalogue = {.collection_names = collection_names,
                                                   .collection_count = sizeof collection_names / sizeof(char *),
                                                   .indexes = indexes,
                                                   .index_count = EVD_INDEX_COUNT};
    return &catalogue;
}

const struct evd_index *evd_index_of(enum evd_index_number which) {
    return &indexes[which];
}

const struct evd_type *evd_type_of_collection(evd_collection in) {
    return in < sizeof collection_types / sizeof collection_types[0] ? collection_types[in] : NULL;
}
