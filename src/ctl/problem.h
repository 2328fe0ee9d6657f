/*
 * What to make of an answer, and how to say it: outcomes to exit statuses and to sentences that say what to do.
 */
#ifndef EVIDENCED_SRC_CTL_PROBLEM_H
#define EVIDENCED_SRC_CTL_PROBLEM_H

#include "context.h"
#include "wire.h"

struct evd_ctl_verdict {
    enum evd_ctl_exit exit;
    bool may_again; /* asking again, with the same key, may help */
};

/** Pure. Only 2xx answers that are whole are DONE. */
struct evd_ctl_verdict evd_ctl_judge(const struct evd_ctl_call *call, const struct evd_ctl_answer *answer);

/** A few words on why it did not work: "Connection refused", "Busy". In the arena. */
const char *evd_ctl_why(struct evd_ctl *ctl, const struct evd_ctl_answer *answer);

/** Say on standard error what went wrong and what to do, for any verdict but DONE. */
void evd_ctl_tell(struct evd_ctl *ctl, const struct evd_ctl_call *call, const struct evd_ctl_answer *answer,
                  enum evd_ctl_exit exit);

#endif
