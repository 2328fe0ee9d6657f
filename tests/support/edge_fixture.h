/*
 * The edge with all three doors, over a real runtime and a real store, and commands that need no project:
 *
 *   Echo   POST /v1/projects                                     a body {"name"}; the name says what happens:
 *            `refuse:Locked` is refused so, `hold` waits until it is released, anything else comes back
 *   Touch  POST /v1/projects/{project}/studies/{study}/touch     no body
 *   Look   GET  /v1/projects/{project}/members                   shows its page
 *   Keep   GET  /v1/projects/{project}/forms/{form}/versions/{version}   never changes
 *   Show, Put, Patch, Discard   GET, PUT, PATCH, DELETE /v1/projects/{project}/studies/{study}/draft
 *            all but Patch are conditional: they show the conditions and have the etag EDGE_ETAG; Discard is ledgered
 *            and, as Put and Patch, has a body as Echo's
 *   Drop   DELETE /v1/projects/{project}/studies/{study}/copies/{copy}   ledgered, no body
 *   Script GET /v1/projects/{project}/script.csv?state=…   a view in pieces, one run for each letter of state: a letter
 *            is the piece `letter;`, `-` an empty one, `L` one of EDGE_LARGE_PIECE bytes, `h` waits until it is
 *            released before it is a piece, `!` is refused (Locked)
 *   Import POST /v1/projects/{project}/imports   begins an operation, which is nothing; takes a file of up to
 *            EDGE_FILE_LIMIT bytes and shows it and its options
 *   Operation GET /v1/projects/{project}/operations/{operation}   shows any operation as evd_edge_operations_stand says
 *
 * The clock stands still until the test moves it.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_EDGE_FIXTURE_H
#define EVIDENCED_TESTS_SUPPORT_EDGE_FIXTURE_H

#include "evidenced/http/edge.h"
#include "raw_client.h"
#include "test.h"

#include <jansson.h>
#include <pthread.h>

struct evd_http_server;
struct evd_mint_key;
struct evd_spool;
struct evd_store;

#define EDGE_P      "018f3b1e-0000-7000-8000-000000000001"
#define EDGE_S      "018f3b1e-0000-7000-8000-000000000002"
#define EDGE_KEY    "018f3b1e-0000-7000-8000-00000000000a"
#define EDGE_LOOK   "/v1/projects/" EDGE_P "/members"
#define EDGE_DRAFT  "/v1/projects/" EDGE_P "/studies/" EDGE_S "/draft"
#define EDGE_COPY   "/v1/projects/" EDGE_P "/studies/" EDGE_S "/copies/" EDGE_P
#define EDGE_SCRIPT "/v1/projects/" EDGE_P "/script.csv?state="
#define EDGE_IMPORT "/v1/projects/" EDGE_P "/imports"
#define EDGE_KEEP   "/v1/projects/" EDGE_P "/forms/" EDGE_P "/versions/" EDGE_S

enum {
    EDGE_TOKEN_BYTES = 2048,
    EDGE_REQUEST_BYTES = 32768,
    EDGE_BODY_LIMIT = 4096,
    EDGE_ETAG = 1041,
    EDGE_LARGE_PIECE = 16 * 1024 * 1024,
    EDGE_FILE_LIMIT = 3 * 1024 * 1024,
    EDGE_SPOOL_BYTES = 4 * 1024 * 1024,
};

struct evd_edge_fixture {
    char directory[256], control[300], log_path[300];
    struct evd_test_clock clock;
    struct evd_mint_key *key;
    struct evd_log *log;
    int log_fd;
    struct evd_keyring *keyring;
    struct evd_figures *figures;
    struct evd_operations *operations;
    struct evd_edge *edge;
    struct evd_spool *spool; /* in <directory>/spool, of EDGE_SPOOL_BYTES */
    struct evd_store *store;
    struct evd_runtime *runtime;
    struct evd_http_server *servers[EVD_DOOR_COUNT];
    uint16_t port, admin_port;
    struct evd_edge_settings settings;
    char token[EDGE_TOKEN_BYTES]; /* ada's, who may create projects */
};

/** Open everything. workers 1 and queue 1 are what a full queue needs. */
void evd_edge_fixture_open(struct evd_edge_fixture *fixture, unsigned workers, size_t queue);

/** The same, without a runtime: a daemon that is still starting. */
void evd_edge_fixture_open_unstarted(struct evd_edge_fixture *fixture);

/** Let everybody go, close everything. The log is complete after it. */
void evd_edge_fixture_close(struct evd_edge_fixture *fixture);

/** The whole log; free it. */
char *evd_edge_fixture_log(const struct evd_edge_fixture *fixture);

/** A token, good for an hour of the fixture's clock. */
void evd_edge_fixture_token(const struct evd_edge_fixture *fixture, const char *subject, const char *scope,
                            char ret_token[EDGE_TOKEN_BYTES]);

/** Wait until so many calls are held by `hold`. */
void evd_edge_fixture_await_held(unsigned count);

enum evd_edge_stand { EDGE_OPERATIONS_UNDER_WAY, EDGE_OPERATIONS_SETTLED, EDGE_OPERATIONS_HIDDEN };

/** How operations stand from now on; nobody who waits is told. At first they are under way. */
void evd_edge_operations_stand(enum evd_edge_stand stand);

/** How often a script was run. */
unsigned evd_edge_script_runs(void);

/** Let those that are held go on, and all that come. */
void evd_edge_fixture_release(void);

/** Send a request made by printf and receive the answer, on a connection of its own. In it `@` stands for the header
 * lines `Host: x` and `Authorization: Bearer <ada's token>`. */
void evd_edge_ask(const struct evd_edge_fixture *fixture, struct evd_raw_response *ret_response, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

/** Only send it, on this open connection. */
void evd_edge_say(const struct evd_edge_fixture *fixture, struct evd_raw_client *client, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Is it a well-formed problem with this status and outcome, all members there, with a request id? The parsed body,
 * to be given to json_decref. */
json_t *evd_edge_expect_problem(const struct evd_raw_response *response, int status, const char *outcome);

#endif
