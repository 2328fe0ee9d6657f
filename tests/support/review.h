/*
 * A form of every kind of question in the house, and reviewers who complete it on as many studies as a test wants.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_REVIEW_H
#define EVIDENCED_TESTS_SUPPORT_REVIEW_H

#include "house.h"

/* A form of the kinds that need no elements, and the columns answers.csv has of it. */
#define REVIEW_FORM                                                                                                    \
    "[{'id':'design','kind':'choice','required':true,'options':[{'id':'rct'},{'id':'obs'}]},"                          \
    "{'id':'n','kind':'integer'},{'id':'dose','kind':'decimal'},{'id':'blinded','kind':'boolean'},"                    \
    "{'id':'outcomes','kind':'multichoice','options':[{'id':'death'},{'id':'stroke'},{'id':'pain'}]},"                 \
    "{'id':'quote','kind':'text'},{'id':'day','kind':'date'}]"

enum { REVIEW_FIXED = 16, REVIEW_COLUMNS = REVIEW_FIXED + 11 }; /* columns before the first question's */
extern const char *const review_header[REVIEW_COLUMNS];

/** A form of these questions, bound to a stage and published, becomes the house's: house->form, ->stage and
 * ->form_version. questions: a JSON list with single quotes; labels may be left out. */
void review_form(struct house *house, const char *questions);

/** Add that many studies; the ids are theirs, to be freed. Each has a title, a customId and authors with a comma. */
evd_uuid *review_studies(struct house *house, size_t count);

/** Ids of the session's routes on this study. */
struct evd_ids review_ids(const struct house *house, evd_uuid study);

/** Save or Complete these answers of person(who) on the study: a JSON list with single quotes; baseRevision may be left
 * out. base: the version's id, NULL for the first. Must succeed; the new version's id. */
evd_uuid review_save(struct house *house, const struct evd_command *command, unsigned who, evd_uuid study,
                     const evd_uuid *base, const char *answers);

/** Complete for the first time. */
evd_uuid review_complete(struct house *house, unsigned who, evd_uuid study, const char *answers);

/** Withdraw the session whose newest version this is. */
void review_withdraw(struct house *house, unsigned who, evd_uuid study, evd_uuid base);

/* Every export of a form, the manifest last. */
enum { REVIEW_EXPORTS = 4 };
extern const struct evd_command *const review_exports[REVIEW_EXPORTS];

/** One of them whole, as the administrator has it. page: sessions a run reads at most. */
struct streamed review_export(struct house *house, const struct evd_command *command, size_t page);

/** Set the roles of person(who): a JSON list with single quotes. */
void review_roles(struct house *house, unsigned who, const char *roles);

#endif
