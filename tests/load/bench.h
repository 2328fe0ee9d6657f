/*
 * The bench: what a command costs, beside the least it could cost.
 *
 * Every row compares two sides that do the same work for the same time from the same number of clients: the daemon over
 * HTTP, and a floor in this process. They take turns, round by round, so that what the machine does meanwhile hits
 * both. What goes wrong ends the program: a bench that answers anyway measures nothing.
 *
 *   author     one reviewer: makes the bodies, keeps what the receipts say
 *   furnish    a project to work in, through whatever answers
 *   process    the daemon, on free ports and in a fresh directory
 *   http       connections to it; a fleet of clients on one thread
 *   inside     the runtime and a store in this process, without HTTP; a fleet of clients without threads
 *   trace      what one command asks of the store
 *   floor      the same put straight into a store, from a thread a client
 *   import     files of references, and the same records put straight into a store
 *   compare    rounds, medians, ratios
 *   report     the table and results.json
 */
#ifndef EVIDENCED_TESTS_LOAD_BENCH_H
#define EVIDENCED_TESTS_LOAD_BENCH_H

#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum {
    BENCH_QUESTIONS = 200,
    BENCH_CHANGED = 10, /* answers of a Save */
    BENCH_MOST_CLIENTS = 64,
    BENCH_STUDIES = 500,
    BENCH_MOST_ROUNDS = 32,
    BENCH_BODY_BYTES = 64 * 1024,
    BENCH_PATH_BYTES = 320,
    BENCH_TEXT_BYTES = EVD_UUID_TEXT_BYTES + 1,
    BENCH_ETAG_BYTES = 24,
    BENCH_IMPORT_ROWS = 10000,
    BENCH_IMPORT_BATCH = 1000,
};

/** Say what is wrong and exit; what was begun is cleaned up. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** As malloc, but never NULL. */
void *bench_alloc(size_t size_bytes);

int64_t bench_now_ns(void);

/* Compare. */

/* Latencies of one client in one round. */
struct bench_samples {
    uint32_t *ns; /* longer ones are cut to 4 s */
    size_t count, capacity;
    uint64_t exhausted, refused; /* answers RetryableConflict, and every other that was not the expected one */
};

void bench_sample(struct bench_samples *samples, int64_t ns);

struct bench_round {
    double answers, rate; /* rate: answers a second */
    double p50_us, p95_us, p99_us, slowest_us;
    double cpu_us; /* processor time for one answer, of the side's process; set by bench_compare */
    uint64_t exhausted, refused;
};

/** One round out of all clients' samples, which are emptied. */
void bench_round_make(struct bench_samples *samples, size_t clients, double seconds, struct bench_round *ret_round);

/* One way to do the work. */
struct bench_side {
    void *self;
    clockid_t processor; /* the processor time of the process that does the work */
    void (*run)(void *self, double seconds, struct bench_round *ret_round);
};

enum { BENCH_SIDES = 3, BENCH_FLOOR = 0 };

/* Medians over the rounds; the slowest and the counts are over all of them. Ratios are medians of each round's own, to
 * the side BENCH_FLOOR. */
struct bench_result {
    struct bench_round round;
    double ratio, p99_ratio;
};

/** Run the sides in turn, `rounds` times, in alternating order, after a short one each to warm up. */
void bench_compare(const struct bench_side *sides, size_t count, unsigned rounds, double seconds,
                   struct bench_result ret_results[BENCH_SIDES]);

/* Report. A number that does not apply is NAN. */

void bench_row(const char *name, double value, const char *unit, double floor, double ratio, double p99_ratio);
void bench_rows_print(void);
void bench_rows_write(const char *path);

/* Authors. */

struct bench_author {
    unsigned number;  /* from 1 */
    unsigned changed; /* answers in a body, in turn through the questions */
    const char *stage;
    unsigned first, turn;
    bool types;                     /* it autosaves, with PATCH */
    unsigned writes;                /* autosaves so far */
    long long etag;                 /* of the draft */
    char version[BENCH_TEXT_BYTES]; /* the base; empty: none yet */
    char revisions[BENCH_QUESTIONS][BENCH_TEXT_BYTES];
    char body[BENCH_BODY_BYTES];
    size_t body_bytes;
};

/** The body of the next Save or Complete, or of the next autosave, in `body`. */
void bench_author_write(struct bench_author *author);

/** The If-Match of an autosave; NULL for what is a POST under a key. In `etag`. */
const char *bench_author_condition(struct bench_author *author, char etag[BENCH_ETAG_BYTES]);

/** Keep what the receipt of that body says. */
void bench_author_keep(struct bench_author *author, struct evd_text receipt);

/** The id of a person: 0 the administrator, from 1 the authors. */
evd_uuid bench_person(unsigned number);

/** A fresh Idempotency-Key. */
evd_uuid bench_key(void);

/* Furnish. */

/* Whatever answers: *ret_answer is malloc'd and NUL-terminated. Anything but success ends the program. condition NULL:
 * a POST under a fresh key; else a PATCH with this If-Match. */
struct bench_asker {
    void *self;
    void (*ask)(void *self, unsigned who, const char *path, const char *condition, const char *body, char **ret_answer);
};

struct bench_project {
    char project[BENCH_TEXT_BYTES], form[BENCH_TEXT_BYTES], stage[BENCH_TEXT_BYTES];
    char studies[BENCH_STUDIES][BENCH_TEXT_BYTES];
    unsigned studies_used;
};

void bench_furnish(const struct bench_asker *asker, struct bench_project *ret_project);

/** A study nobody has worked on yet. */
const char *bench_project_study(struct bench_project *project);

enum bench_verb { BENCH_SAVE, BENCH_COMPLETE, BENCH_AUTOSAVE };

void bench_session_path(const struct bench_project *project, const char *study, enum bench_verb verb,
                        char ret_path[BENCH_PATH_BYTES]);

/** New authors, `changed` answers a body, each with a first version of all answers on its study. */
struct bench_author *bench_authors_new(const struct bench_asker *asker, const struct bench_project *project,
                                       const char *const *studies, unsigned count, unsigned changed);

/* Process. */

struct bench_process;

/** Start the daemon in the directory and wait until it listens. */
struct bench_process *bench_process_start(const char *binary, const char *directory);

/** SIGTERM, and wait; it must have ended well. */
void bench_process_stop(struct bench_process *process);

uint16_t bench_process_port(const struct bench_process *process);
clockid_t bench_process_processor(const struct bench_process *process);
double bench_process_resident_mib(const struct bench_process *process);

/** A person's token. To be freed. */
char *bench_process_token(const struct bench_process *process, unsigned who);

/* Http. */

/** An asker over one connection to the daemon. */
struct bench_asker bench_http_asker(struct bench_process *process);

/** POST a CSV as the administrator under a fresh key, and wait for what comes of it; *ret_answer as above. */
void bench_http_send_file(struct bench_process *process, const char *path, struct evd_text csv, char **ret_answer);

struct bench_fleet;

/** Clients that each Save or Complete as their author (client i on studies[i]). authors: borrowed. */
struct bench_fleet *bench_fleet_of_authors(const struct bench_process *process, const struct bench_project *project,
                                           struct bench_author *authors, const char *const *studies, unsigned clients,
                                           enum bench_verb verb);

/** Clients that each GET one path and expect this status. */
struct bench_fleet *bench_fleet_of_readers(const struct bench_process *process, const char *path, unsigned status,
                                           unsigned clients);
void bench_fleet_free(struct bench_fleet *fleet);
struct bench_side bench_fleet_side(struct bench_fleet *fleet);

/* Inside. */

struct bench_inside;

struct bench_inside *bench_inside_open(const char *directory);
void bench_inside_close(struct bench_inside *inside);
struct bench_asker bench_inside_asker(struct bench_inside *inside);

struct bench_crew;

struct bench_crew *bench_crew_new(struct bench_inside *inside, const struct bench_project *project,
                                  struct bench_author *authors, const char *const *studies, unsigned clients,
                                  enum bench_verb verb);
void bench_crew_free(struct bench_crew *crew);
struct bench_side bench_crew_side(struct bench_crew *crew);

/** Run one command of that author; its memory at the end, in bytes: the body, both arenas, and the most the parsed JSON
 * took on the way. */
struct bench_memory {
    size_t body_bytes, call_bytes, attempt_bytes, json_bytes;
};
struct bench_memory bench_inside_memory(struct bench_inside *inside, const struct bench_project *project,
                                        struct bench_author *author, const char *study, enum bench_verb verb);

/* Floor. */

struct bench_trace;

/** Run one command of that author and keep what it asked of the store. */
struct bench_trace *bench_trace_take(struct bench_inside *inside, const struct bench_project *project,
                                     struct bench_author *author, const char *study, enum bench_verb verb);
void bench_trace_free(struct bench_trace *trace);

struct bench_floor;

/** Threads that read and commit what the trace holds, each on records of its own; on one study they share the study's
 * and go one by one, in the order they came. with_parse: each parses the body first. trace: borrowed. */
struct bench_floor *bench_floor_new(struct bench_inside *inside, const struct bench_trace *trace, unsigned clients,
                                    bool one_study, bool with_parse);
void bench_floor_free(struct bench_floor *floor);
struct bench_side bench_floor_side(struct bench_floor *floor);

/* Import. Rates are in rows. */

struct bench_importer;

/** The administrator, who imports one file after the other and waits for each. */
struct bench_importer *bench_importer_new(struct bench_process *process, const struct bench_project *project);
void bench_importer_free(struct bench_importer *importer);
struct bench_side bench_importer_side(struct bench_importer *importer);

struct bench_rows;

/** The records of such files, written from one thread. */
struct bench_rows *bench_rows_new(struct bench_inside *inside);
void bench_rows_free(struct bench_rows *rows);
struct bench_side bench_rows_side(struct bench_rows *rows);

#endif
