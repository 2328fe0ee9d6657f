/*
 * The study's canonical summary: a form's entry, recomputed from that study's session heads, and what each bound
 * stage shows of it. There is one way to compute it.
 *
 * Pure. Source: consistency model §3.3, domain page §6.
 */
#ifndef EVIDENCED_DOMAIN_SUMMARY_H
#define EVIDENCED_DOMAIN_SUMMARY_H

#include "evidenced/records/dictionary.h"

struct evd_arena;

/** The entry of `form` for these session heads (each author once; those without a version are no members). Members by
 * reviewer id. */
struct evd_form_summary *evd_summary_of_form(const struct evd_form *form,
                                             const struct evd_form_session *const *sessions, size_t count,
                                             struct evd_arena *arena);

/** The study's summary with the form's entry and its stages' projections put in place of the old ones. Neither argument
 * is changed. */
struct evd_canonical_summary *evd_summary_with(const struct evd_canonical_summary *before, const struct evd_form *form,
                                               const struct evd_form_summary *entry, struct evd_arena *arena);

/** The form's entry, or NULL when nobody has worked on it. */
const struct evd_form_summary *evd_summary_find(const struct evd_canonical_summary *summary, evd_uuid form);

#endif
