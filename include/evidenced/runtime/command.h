/*
 * Commands: what a call can be. A command is a constant; the runtime owns the loop that runs it.
 *
 *   parse   the body became the request struct by its type's table; a command may check more (400)
 *   lanes   the studies the call must be first for, ascending; none for what has no study
 *   read    names records (reader.h); the reader fetches them in one snapshot and collects their stamps
 *   refuse  a flat list, in the design's order, first hit wins; writes nothing
 *   derive  pure: what was read and asked ► writes (writes.h) and the receipt
 *
 *   keep    after a refusal: what of the request is to be kept all the same (copies of drafts, nothing else)
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

enum evd_command_method { EVD_COMMAND_GET, EVD_COMMAND_POST, EVD_COMMAND_PUT, EVD_COMMAND_PATCH, EVD_COMMAND_DELETE };

enum evd_commit {
    EVD_COMMIT_TXN,       /* a ledgered command in one transaction */
    EVD_COMMIT_OPERATION, /* a ledgered command that begins an operation: answered 202 with its Location */
    EVD_COMMIT_SWAP,      /* no command id and no ledger: what it carries (holder, sequence, etag) makes it safe to send
                             again */
    EVD_COMMIT_READ       /* a view: one snapshot, no writes, no command id */
};

/* Query parameters: a command takes a set of them; any other is a 400 that names it. */
enum evd_parameter {
    EVD_PARAMETER_LIMIT,
    EVD_PARAMETER_CURSOR,
    EVD_PARAMETER_STAGE,
    EVD_PARAMETER_STATE,
    EVD_PARAMETER_DRY_RUN,
    EVD_PARAMETER_SKIP_REFUSED,
    EVD_PARAMETER_DELIMITER,
    EVD_PARAMETER_LABEL, /* may be repeated */
    EVD_PARAMETER_SPREADSHEET,
    EVD_PARAMETER_RESULT,
    EVD_PARAMETER_COUNT
};
#define EVD_PARAMETER_BIT(parameter) (1U << (parameter))
#define EVD_QUERY_PAGE               (EVD_PARAMETER_BIT(EVD_PARAMETER_LIMIT) | EVD_PARAMETER_BIT(EVD_PARAMETER_CURSOR))
#define EVD_QUERY_STUDIES                                                                                              \
    (EVD_QUERY_PAGE | EVD_PARAMETER_BIT(EVD_PARAMETER_STAGE) | EVD_PARAMETER_BIT(EVD_PARAMETER_STATE))
#define EVD_QUERY_IMPORT                                                                                               \
    (EVD_PARAMETER_BIT(EVD_PARAMETER_DRY_RUN) | EVD_PARAMETER_BIT(EVD_PARAMETER_SKIP_REFUSED) |                        \
     EVD_PARAMETER_BIT(EVD_PARAMETER_DELIMITER) | EVD_PARAMETER_BIT(EVD_PARAMETER_LABEL))

/* What a body is, where a command takes one. */
enum evd_media {
    EVD_MEDIA_JSON, /* application/json; becomes the request struct */
    EVD_MEDIA_CSV,  /* text/csv, text/tab-separated-values, application/x-research-info-systems: as it came */
    EVD_MEDIA_TSV,
    EVD_MEDIA_RIS
};

/* What a command may write: each is proved by the conformance check of test builds. */
enum evd_write_scope {
    EVD_WRITES_NOTHING,
    EVD_WRITES_STUDY,      /* evidence: it writes its Study, and no project, form or stage record */
    EVD_WRITES_DRAFTS,     /* drafts, their copies and a session's head without a version; never a Study */
    EVD_WRITES_EXPOSURES,  /* exposures: decided on what never changes, each once by its key; never a Study */
    EVD_WRITES_OPERATION,  /* an operation, its batches and the studies they bring; a lane's Study if it has one */
    EVD_WRITES_DEFINITIONS /* what an administrator sets up */
};

enum { EVD_COMMAND_LANES = 2 };

struct evd_command {
    const char *name;
    enum evd_command_method method;
    const char *path;          /* with {project}, {study}, … as whole segments; NULL: not to be called from outside */
    enum evd_capability needs; /* of the caller in the project */
    enum evd_commit commit;
    enum evd_write_scope scope;
    uint32_t query;           /* EVD_PARAMETER_BITs */
    bool references;          /* the body is a file of references (EVD_MEDIA_CSV, …) and not JSON */
    bool conditional;         /* takes If-Match or If-None-Match: its answer's ETag is call->etag */
    bool streamed;            /* a view answered in pieces: see struct evd_stream */
    const char *content_type; /* of the answer; NULL: application/json */
    bool immutable;           /* a view whose answer never changes */
    bool operator_may;        /* the control socket's operator may, in any project; anything else needs a membership */
    bool makes_project;       /* its project is H(caller, command id); no membership yet */
    bool
        outside; /* a view of records outside projects: for everybody, so what it shows is the caller's own by itself */
    bool awaits_earlier_attempts; /* its answer holds for every later answer of the project */
    bool of_service;              /* run by the service on nobody's behalf: no membership is read. Internal ones only */
    uint32_t body_limit_bytes;    /* 0: none is taken */
    size_t arena_bytes;           /* what an attempt may hold; 0: EVD_LIMIT_CALL_ARENA_BYTES */
    const struct evd_type *request; /* of the body; NULL: none */
    const struct evd_type *answer;  /* of the receipt or view */
    uint64_t outcomes;              /* its own, beside those every call may have */
    struct evd_outcome (*parse)(struct evd_call *call);
    size_t (*lanes)(const struct evd_call *call, evd_uuid ret_studies[EVD_COMMAND_LANES]);
    void (*read)(struct evd_call *call);
    struct evd_outcome (*refuse)(struct evd_call *call);
    void (*derive)(struct evd_call *call);
    void (*keep)(struct evd_call *call); /* NULL: nothing is kept */
};

/** `limit`, `dryRun`, … */
const char *evd_parameter_name(enum evd_parameter parameter);

/** What its values may be, where they are a closed set: NULL-terminated, in a fixed order. NULL: any text. */
const char *const *evd_parameter_values(enum evd_parameter parameter);

/** The lane of a command on the study its path names. */
size_t evd_lane_of_study(const struct evd_call *call, evd_uuid ret_studies[EVD_COMMAND_LANES]);

/** Does it carry a command id and leave its receipt in the ledger? */
bool evd_command_is_ledgered(const struct evd_command *command);

/** Outcomes that any call of this kind may have, whatever the command. */
uint64_t evd_command_common_outcomes(const struct evd_command *command);

#endif
