/* What views of a session share: which one the path names, and who may see it. */
#ifndef EVIDENCED_SRC_READ_SESSION_H
#define EVIDENCED_SRC_READ_SESSION_H

#include "read/support.h"

#define EVD_OWN_SESSION "/v1/projects/{project}/studies/{study}/forms/{form}/session"
#define EVD_ANY_SESSION "/v1/projects/{project}/sessions/{session}"

/** The id of the session the path names: by its own id, or the caller's own on that study's form. */
evd_uuid evd_session_named(const struct evd_call *call);

/** May the caller see what this author did? Their own, and everybody's who may see others. */
bool evd_session_may_be_seen(const struct evd_call *call, evd_uuid author);

/** Is the version (NULL: none was found) one of the session the path names, and may the caller see it? */
bool evd_session_version_may_be_seen(const struct evd_call *call, const struct evd_form_session_version *version);

#endif
