/*
 * The data dictionary: the structs of all stored records, from src/records/dictionary.def, and the catalogue of
 * collections and indexes the store is opened with.
 */
#ifndef EVIDENCED_RECORDS_DICTIONARY_H
#define EVIDENCED_RECORDS_DICTIONARY_H

#include "evidenced/base/limits.h"
#include "evidenced/records/names.h"

enum {
#define EVD_COLLECTION(type, COLLECTION, number, name) EVD_IN_##COLLECTION = (number),
#include "records/catalogue.def"
#undef EVD_COLLECTION
    EVD_COLLECTION_END
};

enum { EVD_COLLECTION_OUTSIDE = 128 };

/** The project whose keys hold this collection's records: nil for those of the service itself. */
static inline evd_uuid evd_collection_project(evd_collection in, evd_uuid project) {
    return in >= EVD_COLLECTION_OUTSIDE ? evd_uuid_nil() : project;
}

#define EVD_SCHEMA_FILE "records/dictionary.def"
#include "evidenced/records/schema_declare.h"
#undef EVD_SCHEMA_FILE

enum evd_index_number {
#define EVD_INDEX(name, COLLECTION, number, ...) EVD_INDEX_##name,
#include "records/indexes.def"
#undef EVD_INDEX
    EVD_INDEX_COUNT
};

/** What evd_store adapters are opened with. Never freed. */
const struct evd_catalogue *evd_catalogue_stored(void);

const struct evd_index *evd_index_of(enum evd_index_number which);

/** The type of a collection's records; NULL for a number that is not used. */
const struct evd_type *evd_type_of_collection(evd_collection in);

#endif
