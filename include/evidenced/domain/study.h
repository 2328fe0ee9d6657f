/*
 * Studies: is one there at all?
 *
 * Pure. Source: domain page §1.
 */
#ifndef EVIDENCED_DOMAIN_STUDY_H
#define EVIDENCED_DOMAIN_STUDY_H

#include "evidenced/records/dictionary.h"

/**
 * Is there such a study, for whoever reads it or acts on it? NULL: none was found. One whose import was undone stays
 * as a record, and is NotFound for everybody.
 */
static inline bool evd_study_is_there(const struct evd_study *study) {
    return study != NULL && study->removed == NULL;
}

#endif
