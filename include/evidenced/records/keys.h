/*
 * Natural keys: the ids of records that exist once for what they are about. Hashed into _id, so uniqueness is by key.
 */
#ifndef EVIDENCED_RECORDS_KEYS_H
#define EVIDENCED_RECORDS_KEYS_H

#include "evidenced/base/uuid.h"

#include <stdint.h>

evd_uuid evd_project_id(evd_uuid caller, evd_uuid command_id);
evd_uuid evd_membership_id(evd_uuid project, evd_uuid investigator);
evd_uuid evd_own_project_id(evd_uuid investigator, evd_uuid project);
evd_uuid evd_ledger_id(evd_uuid project, evd_uuid command_id);

/** A record that a command makes and that has no natural key of its own: the n-th of its type by that command. */
evd_uuid evd_made_id(const char *type, evd_uuid project, evd_uuid command_id, uint64_t n);

evd_uuid evd_form_version_id(evd_uuid project, evd_uuid form, int64_t seq);
evd_uuid evd_settings_version_id(evd_uuid project, evd_uuid stage, int64_t seq);
evd_uuid evd_form_session_id(evd_uuid project, evd_uuid study, evd_uuid form, evd_uuid author);
evd_uuid evd_session_version_id(evd_uuid session, int64_t seq);

/** An author's head at a context (see domain/answer.h) of a study. */
evd_uuid evd_author_head_id(evd_uuid project, evd_uuid study, evd_uuid author, evd_uuid context);
evd_uuid evd_revision_id(evd_uuid head, int64_t seq);

struct evd_text;
/** A copy of a draft: the same content of one session once. digest: of the content. */
evd_uuid evd_draft_copy_id(evd_uuid session, struct evd_text digest);
evd_uuid evd_exposure_id(evd_uuid session_version, evd_uuid revision);

/** An operation: a caller's key names it in its project. */
evd_uuid evd_operation_id(evd_uuid project, evd_uuid caller, evd_uuid key);
evd_uuid evd_import_batch_id(evd_uuid operation, uint64_t number);

/** The command id of an operation's step: the same step of the same phase is the same command, whoever runs it. */
evd_uuid evd_operation_step_id(evd_uuid operation, const char *phase, uint64_t number);

#endif
