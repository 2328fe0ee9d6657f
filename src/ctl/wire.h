/*
 * The wire: one HTTP exchange at a time, by libcurl, over the control socket or to a server. Nothing is retried here,
 * no redirect is followed, and nothing is said to the person.
 */
#ifndef EVIDENCED_SRC_CTL_WIRE_H
#define EVIDENCED_SRC_CTL_WIRE_H

#include "evidenced/base/text.h"

#include <jansson.h>

struct evd_ctl_wire;

/* Where to. All texts end in a NUL. */
struct evd_ctl_target {
    const char *socket;  /* the control socket; NULL: a server */
    const char *url;     /* of the server, without a slash at its end */
    const char *token;   /* for the server; never shown */
    const char *ca_file; /* NULL: the system's certificates */
};

/** Copies the target. NULL when there is no memory. */
struct evd_ctl_wire *evd_ctl_wire_open(const struct evd_ctl_target *target);
void evd_ctl_wire_close(struct evd_ctl_wire *wire); /* NULL is fine */

/* Where the body of a 2xx answer goes when it is not kept in memory. take: false ends the exchange. */
struct evd_ctl_sink {
    bool (*take)(void *self, const char *bytes, size_t size_bytes);
    void *self;
};

struct evd_ctl_progress;

struct evd_ctl_call {
    const char *method, *path; /* the path with its query */
    const char *key;           /* Idempotency-Key; NULL: none */
    const char *content_type;  /* of the body; NULL: there is none */
    struct evd_text body;      /* in memory, or */
    int file;                  /* read from its start, when `is_file` */
    size_t file_bytes;
    bool is_file;
    unsigned prefer_wait_s;            /* 0: not */
    bool is_once;                      /* must not be sent again when its answer was lost */
    long silence_s;                    /* how long the other side may say nothing; 0: as usual */
    const struct evd_ctl_sink *sink;   /* NULL: memory */
    struct evd_ctl_progress *progress; /* moved on by what is sent, or else by what is received; NULL: none */
};

/* Why there is no answer, or only part of one. */
enum evd_ctl_trouble {
    EVD_CTL_NO_TROUBLE,
    EVD_CTL_UNREACHED,   /* no connection: nothing was sent */
    EVD_CTL_BROKEN,      /* broken or silent after the request may have been received */
    EVD_CTL_CUT_SHORT,   /* part of a 2xx body had gone to the sink */
    EVD_CTL_NOT_TRUSTED, /* TLS */
    EVD_CTL_SINK_FAILED, /* or the file that was to be sent */
    EVD_CTL_TOO_LONG,    /* more than EVD_CTL_ANSWER_BYTES */
    EVD_CTL_INTERRUPTED,
    EVD_CTL_IMPOSSIBLE /* libcurl could not even try */
};

#define EVD_CTL_ANSWER_BYTES ((size_t)64 * 1024 * 1024) /* kept in memory, at most */

struct evd_ctl_answer {
    enum evd_ctl_trouble trouble;
    char why[256];      /* with trouble: a few words */
    long status;        /* 0: no answer */
    long retry_after_s; /* -1: not told */
    char *body;         /* NUL behind it; NULL: none was kept */
    size_t body_bytes;
    json_t *json; /* the body, when it is JSON by its Content-Type and by its syntax; NULL otherwise */
};

/** Ask, and wait for the whole answer. Give it to evd_ctl_answer_done. */
void evd_ctl_wire_ask(struct evd_ctl_wire *wire, const struct evd_ctl_call *call, struct evd_ctl_answer *ret_answer);

void evd_ctl_answer_done(struct evd_ctl_answer *answer); /* NULL is fine */

#endif
