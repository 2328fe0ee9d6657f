/*
 * A form of every kind of question in the house, and reviewers who complete it on as many studies as a test wants.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_REVIEWED_H
#define EVIDENCED_TESTS_SUPPORT_REVIEWED_H

#include "house.h"

/** A form of these questions, bound to a stage and published, becomes the house's: house->form, ->stage and
 * ->form_version. questions: a JSON list with single quotes; labels may be left out. */
void reviewed_form(struct house *house, const char *questions);

/** Add that many studies; the ids are theirs, to be freed. Each has a title, a customId and authors with a comma. */
evd_uuid *reviewed_studies(struct house *house, size_t count);

/** Ids of the session's routes on this study. */
struct evd_ids reviewed_ids(const struct house *house, evd_uuid study);

/** Save or Complete these answers of person(who) on the study: a JSON list with single quotes; baseRevision may be left
 * out. base: the version's id, NULL for the first. Must succeed; the new version's id. */
evd_uuid reviewed_save(struct house *house, const struct evd_command *command, unsigned who, evd_uuid study,
                       const evd_uuid *base, const char *answers);

/** Complete for the first time. */
evd_uuid reviewed_complete(struct house *house, unsigned who, evd_uuid study, const char *answers);

/** Withdraw the session whose newest version this is. */
void reviewed_withdraw(struct house *house, unsigned who, evd_uuid study, evd_uuid base);

/* Every export of a form, the manifest last. */
enum { REVIEWED_EXPORTS = 4 };
extern const struct evd_command *const reviewed_exports[REVIEWED_EXPORTS];

/** One of them whole, as the administrator has it. page: sessions a run reads at most. */
struct streamed reviewed_export(struct house *house, const struct evd_command *command, size_t page);

/** Set the roles of person(who): a JSON list with single quotes. */
void reviewed_roles(struct house *house, unsigned who, const char *roles);

#endif
