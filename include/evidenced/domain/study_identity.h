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
 * customId: trimmed, kept exactly otherwise (leading zeros, case). DOI: without `doi:` or a doi.org address before
 * it, percent-decoded there, lower case, must match 10.<digits>/<something>. PMID: decimal digits without leading
 * zeros, `PMID:` and a pubmed address before it taken off. OpenAlex: `W` and digits, upper case, address taken off.
 */
struct evd_text evd_study_identity_normalise(enum evd_identity_kind kind, struct evd_text given,
                                             struct evd_arena *arena);

/** The key under which it is held: H(project, kind, normal form). */
evd_uuid evd_study_identity_id(evd_uuid project, enum evd_identity_kind kind, struct evd_text normal);

#endif
