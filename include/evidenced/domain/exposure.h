/*
 * Exposure: what a reviewer knew of others' answers when they saved a version of their session.
 *
 * Pure; derived on read, so that an exposure told late still counts. Source: consistency model §8.5.
 */
#ifndef EVIDENCED_DOMAIN_EXPOSURE_H
#define EVIDENCED_DOMAIN_EXPOSURE_H

#include "evidenced/records/dictionary.h"

/**
 * The class of the version `version_seq` of a session.
 *
 * declared_so_far    it and every version before it said which revisions of others the reviewer was shown, if any
 * first_exposed_seq  the earliest version of the session for which one was recorded; 0: none was
 *
 * Informed once a revision of somebody else was shown for it or an earlier version; independent when it is known that
 * none was; unknown otherwise.
 */
enum evd_exposure_class evd_exposure_class_of(int64_t version_seq, bool declared_so_far, int64_t first_exposed_seq);

#endif
