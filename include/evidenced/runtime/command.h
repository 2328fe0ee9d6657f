/*
 * Commands: what a call can be. A command is a constant; the runtime owns the loop that runs it.
 *
 *   parse   the body became the request struct by its type's table; a command may check more (400)
 *   lanes   the studies the call must be first for, ascending; none for what has no study
 *   read    names records (reader.h); the reader fetches them in one snapshot and collects their stamps
 *   refuse  a flat list, in the design's order, first hit wins; writes nothing
 *   derive  pure: what was read and asked ► writes (writes.h) and the receipt
 *
 * read, refuse and derive may run many times for one call, each time on a new snapshot and a fresh attempt arena,
 * and may be left by a jump: they hold nothing that needs releasing.
 */
#ifndef EVIDENCED_RUNTIME_COMMAND_H
#define EVIDENCED_RUNTIME_COMMAND_H

#include "evidenced/domain/authority.h"
#include "evidenced/domain/outcome.h"
#include "evidenced/records/dictionary.h"

struct evd_call;

enum evd_command_method { EVD_COMMAND_GET, EVD_COMMAND_POST };

enum evd_commit {
    EVD_COMMIT_TXN, /* a ledgered command in one transaction */
    EVD_COMMIT_READ /* a view: one snapshot, no writes, no command id */
};

/* Which query parameters a call takes; any other is a 400 that names it. */
enum evd_query {
    EVD_QUERY_NONE,
    EVD_QUERY_PAGE,   /* limit, cursor */
    EVD_QUERY_STUDIES /* these, and stage with state */
};

/* What a command may write: each is proved by the conformance check of test builds. */
enum evd_write_scope {
    EVD_WRITES_NOTHING,
    EVD_WRITES_STUDY,      /* evidence: it writes its Study, and no project, form or stage record */
    EVD_WRITES_DEFINITIONS /* what an administrator sets up */
};

enum { EVD_COMMAND_LANES = 2 };

struct evd_command {
    const char *name;
    enum evd_command_method method;
    const char *path;          /* with {project}, {study}, … as whole segments */
    enum evd_capability needs; /* of the caller in the project */
    enum evd_commit commit;
    enum evd_write_scope scope;
    enum evd_query query;
    bool immutable;     /* a view whose answer never changes */
    bool operator_may;  /* the control socket's operator may, in any project; anything else needs a membership */
    bool makes_project; /* its project is H(caller, command id); no membership yet */
    bool awaits_earlier_attempts;   /* its answer holds for every later answer of the project */
    uint32_t body_limit_bytes;      /* 0: none is taken */
    const struct evd_type *request; /* of the body; NULL: none */
    const struct evd_type *answer;  /* of the receipt or view */
    uint64_t outcomes;              /* its own, beside those every call may have */
    struct evd_outcome (*parse)(struct evd_call *call);
    size_t (*lanes)(const struct evd_call *call, evd_uuid ret_studies[EVD_COMMAND_LANES]);
    void (*read)(struct evd_call *call);
    struct evd_outcome (*refuse)(struct evd_call *call);
    void (*derive)(struct evd_call *call);
};

/** The lane of a command on the study its path names. */
size_t evd_lane_of_study(const struct evd_call *call, evd_uuid ret_studies[EVD_COMMAND_LANES]);

/** Outcomes that any call of this kind may have, whatever the command. */
uint64_t evd_command_common_outcomes(const struct evd_command *command);

#endif
