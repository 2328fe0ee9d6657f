/*
 * Identifiers of a study, brought to one form so that two spellings of one identifier are the same.
 *
 * Pure. Source: domain page §2, `studyIdentity`.
 */
#ifndef EVIDENCED_DOMAIN_STUDY_IDENTITY_H
#define EVIDENCED_DOMAIN_STUDY_IDENTITY_H

#include "evidenced/records/dictionary.h"

struct evd_arena;

/**
 * The normal form, in the arena, or bytes NULL when the text holds no identifier of that kind.
 *
 * White space at both ends, as spreadsheets leave it (no-break and zero-width spaces, a byte order mark, too), never
 * counts; a normal form has no control characters and at most EVD_LIMIT_NAME_BYTES.
 *
 * customId   otherwise kept exactly: leading zeros, case
 * doi        `10.<digits>[.<digits>…]/<something>`, lower case (ASCII only). Off come `doi:`, `info:doi/` and a doi.org
 *            or dx.doi.org address, with or without its scheme; behind an address a query, and percent-encoding; at the
 *            end `.`, `,` and `;`, which are the sentence's. A `#` stays: old DOIs end in one, and are linked unescaped
 * pmid       digits, no leading zeros, not 0. Off come `PMID`, with or without a colon, and a PubMed address
 * openAlexId `W` and digits. Off come `openalex:` and an openalex.org address
 */
struct evd_text evd_study_identity_normalise(enum evd_identity_kind kind, struct evd_text given,
                                             struct evd_arena *arena);

/** The key under which it is held: H(project, kind, normal form). */
evd_uuid evd_study_identity_id(evd_uuid project, enum evd_identity_kind kind, struct evd_text normal);

#endif
