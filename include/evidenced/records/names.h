/*
 * The closed sets of names, from src/records/names.def.
 */
#ifndef EVIDENCED_RECORDS_NAMES_H
#define EVIDENCED_RECORDS_NAMES_H

#include "evidenced/records/schema.h"

#define EVD_NAMES(set)                                                                                                 \
    enum evd_##set {                                                                                                   \
        EVD_NONE_OF_##set, /* unknown or absent */
#define EVD_NAME(set, enumerator, name) enumerator,
#define EVD_NAMES_END(set)                                                                                             \
    EVD_END_OF_##set                                                                                                   \
    }                                                                                                                  \
    ;                                                                                                                  \
    extern const struct evd_names evd_names_##set;
#include "records/names.def"
#undef EVD_NAMES
#undef EVD_NAME
#undef EVD_NAMES_END

/** A known name, ready to be stored. */
static inline struct evd_name evd_name_of(int value) {
    return (struct evd_name){.value = value};
}

#endif
