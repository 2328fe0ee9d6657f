/*
 * A project to work in, over HTTP: what tests of the whole daemon begin with.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_DESK_H
#define EVIDENCED_TESTS_SUPPORT_DESK_H

#include "daemon.h"

enum { DESK_STUDIES = 8, DESK_REVIEWERS = 4 };

struct desk {
    struct evd_client admin;
    struct evd_client reviewers[DESK_REVIEWERS]; /* subjects "reviewer 0", … */
    char project[EVD_UUID_TEXT_BYTES + 1], form[EVD_UUID_TEXT_BYTES + 1], stage[EVD_UUID_TEXT_BYTES + 1];
    char studies[DESK_STUDIES][EVD_UUID_TEXT_BYTES + 1];
};

/** A form of `questions` text questions q1, q2, … published with that target, bound to a stage; studies; reviewers. */
void desk_open(struct desk *desk, const struct evd_daemon_process *process, unsigned questions, unsigned target);

/** Hang up all connections; the next request of each makes a new one. */
void desk_close(struct desk *desk);

/** The path of a reviewer's session on that study, with `verb` behind: "save". To be freed. */
char *desk_session_path(const struct desk *desk, unsigned study, const char *verb);

/** The body of a Save of q1 … q<last> with this value; base "": the first version. To be freed. */
char *desk_save_body(const struct desk *desk, const char *base, unsigned last, const char *value);

/** Save under that key; the reply is the caller's. The status. */
int desk_save(struct desk *desk, unsigned reviewer, unsigned study, const char *key, const char *base, unsigned last,
              const char *value, struct evd_reply *ret_reply);

/** How many versions the reviewer's session has. */
size_t desk_versions(struct desk *desk, unsigned reviewer, unsigned study);

#endif
