/*
 * The real daemon in a process of its own, on free ports and in a fresh directory, and a blocking client to talk to
 * it. For tests of what only whole processes show: crashes, restarts, races between clients.
 *
 * The binary is `evidenced` in the directory EVIDENCED_BIN names, else in the build directory this program is in.
 * Everything that does not work out fails the test. Nothing waits by sleeping: the daemon says when it listens.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_DAEMON_H
#define EVIDENCED_TESTS_SUPPORT_DAEMON_H

#include "evidenced/base/uuid.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct evd_mint_key;

enum { DAEMON_PATIENCE_S = 60, DAEMON_TOKEN_BYTES = 8192, DAEMON_EXTRAS = 24 };

struct evd_daemon_process {
    char directory[256]; /* its own; `data`, the keys */
    pid_t pid;           /* 0: not running */
    uint16_t api_port, admin_port;
    char control[300]; /* the control socket */
    struct evd_mint_key *key;
    const char *arguments[DAEMON_EXTRAS + 1]; /* more options, a NULL behind; set between init and start */
    const char *variables[DAEMON_EXTRAS + 1]; /* more of its environment, `EVIDENCED_CRASH_AT=derived`, … */

    pthread_t reader; /* of its log */
    int log_fd;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    char *log; /* all it has said since it was started, on both its outputs */
    size_t log_bytes;
    bool log_ended;
};

/* Process. */

enum { EVD_TEST_PROGRAM_BYTES = 640 };

/** Where a program of this build is: `evidenced`, `evidencectl`. */
void evd_test_program(const char *name, char ret_path[EVD_TEST_PROGRAM_BYTES]);

/** A fresh directory and a new key pair. Nothing runs yet. */
void evd_daemon_process_init(struct evd_daemon_process *process);

/** Start, with drain-seconds 0 and generous limits unless `arguments` say otherwise, and wait until it listens. */
void evd_daemon_process_start(struct evd_daemon_process *process);

/** Start something that is expected to end by itself before it listens; the exit status. */
int evd_daemon_process_fail(struct evd_daemon_process *process);

/** Start something that may listen or may end by itself before: 0 when it listens, else how it ended, as of wait. */
int evd_daemon_process_try(struct evd_daemon_process *process);

/** SIGKILL, and wait for the end. */
void evd_daemon_process_kill(struct evd_daemon_process *process);

/** Send a signal only. */
void evd_daemon_process_signal(struct evd_daemon_process *process, int signal);

/** Wait for the end: the exit status, or minus the signal that ended it. */
int evd_daemon_process_wait(struct evd_daemon_process *process);

/** SIGTERM and wait: as above. */
int evd_daemon_process_stop(struct evd_daemon_process *process);

/** Kill what still runs and release everything. The directory goes with the program. */
void evd_daemon_process_done(struct evd_daemon_process *process);

/** Wait until the log holds this text; fails the test when the daemon ends without. */
void evd_daemon_process_await_log(struct evd_daemon_process *process, const char *text);

/** Does the log hold this text by now? */
bool evd_daemon_process_has_logged(struct evd_daemon_process *process, const char *text);

/** A token for this subject, good for an hour. scope: "evidenced:create-project" or "". */
void evd_daemon_process_token(const struct evd_daemon_process *process, const char *subject, const char *scope,
                              char ret_token[DAEMON_TOKEN_BYTES + 1]);

/** Who the daemon takes this subject for: the investigator's id. */
evd_uuid evd_daemon_process_investigator(const char *subject);

/* Client: one connection, made when it is needed and again when it broke. One thread at a time. */

struct evd_client {
    const struct evd_daemon_process *process;
    bool by_control; /* over the control socket, as the operator */
    char token[DAEMON_TOKEN_BYTES + 1];
    int fd; /* -1: not connected */
};

struct evd_reply {
    int status; /* 0: the connection broke before the whole answer was there */
    char *head; /* with the status line; NUL-terminated */
    char *body; /* NUL-terminated */
    size_t body_bytes;
    json_t *json; /* NULL when the body is none */
};

/** As that subject; with scope, they may create projects. */
void evd_client_init(struct evd_client *client, const struct evd_daemon_process *process, const char *subject,
                     bool may_create_projects);

/** As the operator, over the control socket. */
void evd_client_init_operator(struct evd_client *client, const struct evd_daemon_process *process);

void evd_client_done(struct evd_client *client);

/** Ask. key: the Idempotency-Key, NULL: none; body: JSON text unless `extra` has another
 * Content-Type, NULL: none; extra: more header lines, each ending in
 * CRLF, NULL: none. A broken connection is status 0, never a failed test; a request is never sent twice. Give the
 * reply to evd_reply_done. */
void evd_client_ask(struct evd_client *client, const char *method, const char *path, const char *key, const char *body,
                    const char *extra, struct evd_reply *ret_reply);

/** GET path, and POST a body under a key. The status. */
int evd_client_get(struct evd_client *client, const char *path, struct evd_reply *ret_reply);
int evd_client_post(struct evd_client *client, const char *path, const char *key, const char *body,
                    struct evd_reply *ret_reply);

void evd_reply_done(struct evd_reply *reply);

/** A header's value, cut to its buffer; NULL when absent. */
const char *evd_reply_header(const struct evd_reply *reply, const char *name, char *buffer, size_t buffer_bytes);

/** A text member of the reply's object; "" when it is not there. */
const char *evd_reply_text(const struct evd_reply *reply, const char *member);

/** A new random UUID, for a key. */
const char *evd_test_uuid(char ret_text[EVD_UUID_TEXT_BYTES + 1]);

#endif
