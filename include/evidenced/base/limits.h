/*
 * Every bound of the daemon in one place, with the relations between them checked at compile time.
 */
#ifndef EVIDENCED_BASE_LIMITS_H
#define EVIDENCED_BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#define EVD_KIB ((size_t)1024)
#define EVD_MIB ((size_t)1024 * EVD_KIB)

/* Requests. */
#define EVD_LIMIT_COMMAND_BODY_BYTES     (1 * EVD_MIB)
#define EVD_LIMIT_DRAFT_CONTENT_BYTES    (960 * EVD_KIB)
#define EVD_LIMIT_STUDY_BATCH_BODY_BYTES (8 * EVD_MIB)
#define EVD_LIMIT_JSON_DEPTH             32
#define EVD_LIMIT_JSON_VALUES            120000 /* values in one body, of any kind */
#define EVD_LIMIT_PATH_BYTES             2048
#define EVD_LIMIT_QUERY_PARAMETERS       64
#define EVD_LIMIT_TOKEN_BYTES            (8 * EVD_KIB)
#define EVD_LIMIT_CONDITION_BYTES        1024 /* of If-Match, If-None-Match */
#define EVD_LIMIT_PAGE                   500  /* records on one page of a list */
#define EVD_LIMIT_PAGE_DEFAULT           100

/* One call. */
#define EVD_LIMIT_CALL_ARENA_BYTES   (96 * EVD_MIB)
#define EVD_LIMIT_ATTEMPTS           20
#define EVD_LIMIT_FREE_ATTEMPTS      200 /* a bound on the unbounded; the deadline ends them long before */
#define EVD_LIMIT_DEADLINE_MS        10000
#define EVD_LIMIT_WAIT_MS            30000 /* for an operation, as `Prefer: wait` asks */
#define EVD_LIMIT_BACKOFF_FIRST_MS   2
#define EVD_LIMIT_BACKOFF_LARGEST_MS 250
#define EVD_LIMIT_LANE_CALLS         64
#define EVD_LIMIT_CLOCK_AHEAD_MS     60000
#define EVD_LIMIT_READ_KEYS          24000 /* keys of one read call */
#define EVD_LIMIT_WRITES             24000 /* records of one commit */
#define EVD_LIMIT_RECEIPT_BYTES      (2 * EVD_MIB)

/* Definitions. */
#define EVD_LIMIT_NAME_BYTES      400
#define EVD_LIMIT_TEXT_BYTES      20000 /* one free text: help, notes, an answer, an abstract */
#define EVD_LIMIT_QUESTIONS       5000
#define EVD_LIMIT_OPTIONS         500
#define EVD_LIMIT_QUESTION_DEPTH  10
#define EVD_LIMIT_BOUND_STAGES    32
#define EVD_LIMIT_CAPACITY        100
#define EVD_LIMIT_PROJECT_MEMBERS 2000
#define EVD_LIMIT_ID_BYTES        100 /* a question's or option's id */

/* Studies and evidence. */
#define EVD_LIMIT_STUDY_BATCH       1000
#define EVD_LIMIT_STUDY_IDENTIFIERS 8
#define EVD_LIMIT_PINS              10000
#define EVD_LIMIT_SUMMARY_FORMS     64
#define EVD_LIMIT_SUMMARY_MEMBERS   200
#define EVD_LIMIT_SESSION_HEADS     400 /* sessions on one study's form, withdrawn ones included */
#define EVD_LIMIT_EXPOSURES         2000
#define EVD_LIMIT_DRAFT_COPIES      8     /* kept at once for one session; a Save's own comes on top */
#define EVD_LIMIT_DRAFT_LEASE_MS    90000 /* how long a tab holds a draft it does not touch */
#define EVD_LIMIT_STUDY_LABELS      50
#define EVD_LIMIT_IMPORT_BODY_BYTES (64 * EVD_MIB)
#define EVD_LIMIT_SPOOL_BYTES       (256 * EVD_MIB) /* of large bodies at once, on disk */
#define EVD_LIMIT_IMPORT_ROWS       50000
#define EVD_LIMIT_IMPORT_BATCH      1000
#define EVD_LIMIT_EXPORT_COLUMNS    100000  /* of questions and options, over all versions of a form */
#define EVD_LIMIT_EXPORT_PIECE      EVD_MIB /* bytes after which a view in pieces ends its piece */
#define EVD_LIMIT_EXPORT_PINS       1000    /* answers read for one piece; one session's whatever they are */
#define EVD_LIMIT_FINDINGS          1000    /* shown of one verification; the count is always whole */
#define EVD_LIMIT_VALIDATION_ERRORS 1000    /* reported at once; the count is always whole */

/* Files of references. */
#define EVD_LIMIT_IMPORT_COLUMNS      500
#define EVD_LIMIT_IMPORT_CELL_BYTES   (1 * EVD_MIB) /* of a column nobody reads; a field's own bound is smaller */
#define EVD_LIMIT_IMPORT_READER_BYTES (4 * EVD_MIB) /* the arena a file is read in */
#define EVD_LIMIT_IMPORT_ROW_BYTES    (2 * EVD_MIB) /* and that of one of its rows */

/* Imports. */
#define EVD_LIMIT_IMPORT_BATCH_BYTES (4 * EVD_MIB)   /* a batch as it is kept; a row of it is far smaller */
#define EVD_LIMIT_IMPORT_KEPT_BYTES  (96 * EVD_MIB)  /* all rows as they are kept, labels' names included */
#define EVD_LIMIT_IMPORT_ARENA_BYTES (112 * EVD_MIB) /* of the one call that keeps them */
#define EVD_LIMIT_DRIVEN_ARENA_BYTES (32 * EVD_MIB)  /* what is remembered between the steps of an operation */
#define EVD_LIMIT_SCRATCH_BYTES      (16 * EVD_MIB)  /* what an attempt forgets while it runs, each of two */

/* Store. */
#define EVD_LIMIT_STORE_FREE_BYTES (256 * EVD_MIB)
#define EVD_LIMIT_DOCUMENT_BYTES   (16 * EVD_MIB)

_Static_assert(EVD_LIMIT_DRAFT_CONTENT_BYTES < EVD_LIMIT_COMMAND_BODY_BYTES, "what a draft holds can always be saved");
_Static_assert(EVD_LIMIT_BACKOFF_LARGEST_MS *EVD_LIMIT_ATTEMPTS <= EVD_LIMIT_DEADLINE_MS, "attempts fit the deadline");
_Static_assert(EVD_LIMIT_COMMAND_BODY_BYTES + EVD_LIMIT_PINS * 64 <= EVD_LIMIT_RECEIPT_BYTES,
               "every Save that can be asked for can be answered: its places again, and an id for each");
_Static_assert(EVD_LIMIT_PINS * 2 + EVD_LIMIT_EXPOSURES + 100 <= EVD_LIMIT_WRITES,
               "a Save of all pins fits one commit");
_Static_assert(EVD_LIMIT_PINS * 2 + EVD_LIMIT_EXPOSURES + EVD_LIMIT_BOUND_STAGES + 100 <= EVD_LIMIT_READ_KEYS,
               "two records of each pin, and what was shown beside them, are read at once");
_Static_assert(EVD_LIMIT_SUMMARY_MEMBERS <= EVD_LIMIT_SESSION_HEADS, "members are sessions");
_Static_assert(EVD_LIMIT_PINS * 32 < EVD_LIMIT_DOCUMENT_BYTES, "a pin map is one document");
_Static_assert(EVD_LIMIT_STUDY_LABELS + 8 <= EVD_LIMIT_QUERY_PARAMETERS, "an import can name all its label columns");
_Static_assert(EVD_LIMIT_IMPORT_BODY_BYTES < EVD_LIMIT_SPOOL_BYTES, "the largest body fits the spool");
_Static_assert(EVD_LIMIT_CAPACITY <= EVD_LIMIT_SUMMARY_MEMBERS, "a full form fits its summary");

_Static_assert(EVD_LIMIT_IMPORT_BODY_BYTES < EVD_LIMIT_IMPORT_KEPT_BYTES, "the largest file can be kept");
_Static_assert(EVD_LIMIT_IMPORT_KEPT_BYTES + 16 * EVD_MIB <= EVD_LIMIT_IMPORT_ARENA_BYTES, "and be written");
_Static_assert(EVD_LIMIT_IMPORT_BATCH_BYTES <= EVD_LIMIT_DOCUMENT_BYTES / 2, "a batch is one document");
_Static_assert(EVD_LIMIT_IMPORT_BATCH_BYTES + 4 * EVD_MIB <= EVD_LIMIT_SCRATCH_BYTES, "a batch is gathered in scratch");
_Static_assert(EVD_LIMIT_IMPORT_ROW_BYTES < EVD_LIMIT_SCRATCH_BYTES, "so is a row");
_Static_assert(EVD_LIMIT_IMPORT_BATCH * 5 + 100 <= EVD_LIMIT_WRITES, "a batch's studies fit one commit");

#endif
