/* What the driver's files share. */
#ifndef EVIDENCED_SRC_OPERATION_PRIVATE_H
#define EVIDENCED_SRC_OPERATION_PRIVATE_H

#include "evidenced/operation/driver.h"

#include <pthread.h>

/** Views and swaps of the service itself, on one operation (a struct evd_step is their request); `after` is set. */
extern const struct evd_command evd_command_look_at_operation;
extern const struct evd_command evd_command_take_over_operation; /* its generation moves, unless it is settled */

enum { EVD_OPEN_PAGE = 500 };

/* Request of the following: the page of open operations behind `after`. */
struct evd_open_page {
    evd_uuid after; /* nil: from the beginning */
    size_t count;
    struct evd_open_entry {
        evd_uuid project, operation;
    } entries[EVD_OPEN_PAGE];
};

extern const struct evd_command evd_command_list_open_operations;

/* A call in the driver's hand, one at a time. */
struct evd_hand {
    struct evd_driver *driver;
    struct evd_call call;
    struct evd_arena arena;
    bool busy;     /* it is run, or parked, or was not taken up yet */
    bool answered; /* and can be taken up */
    unsigned pauses;
    int64_t due_ms; /* not before */
};

enum evd_running_need { EVD_RUNNING_NEEDS_TAKE_OVER, EVD_RUNNING_NEEDS_LOOK, EVD_RUNNING_NEEDS_STEP };

/* One operation in the driver's list. */
struct evd_running {
    struct evd_hand hand;
    struct evd_driven driven;
    const struct evd_operation_plan *plan;
    enum evd_running_need need;
    bool is_known; /* its record was seen, so `driven.stand` says something */
    bool was_taken_over, is_stuck;
    struct evd_step step;
    uint64_t last_turn; /* of its project */
    struct evd_running *next;
};

struct evd_driver {
    struct evd_driver_options options;
    pthread_t thread;
    pthread_mutex_t mutex; /* of all below; what is in hand is touched by the driver's thread alone */
    pthread_cond_t changed;
    struct evd_running *first, *last; /* in the order they came */
    uint64_t turn;
    struct evd_listing {
        struct evd_hand hand;
        struct evd_open_page page;
        bool over;
    } listing; /* what was open when the driver was */
    size_t in_hand;
    uint64_t steps, pauses;
    bool news; /* something has changed since the thread looked */
    bool stopping, closing;
};

/** What was asked in this hand is answered: the driver's thread will take it up. The call's `done`. */
void evd_hand_done(struct evd_call *call);

/** Run this call; it may be answered when this returns. The hand was marked busy. */
void evd_hand_run(struct evd_hand *hand, const struct evd_command *command, struct evd_ids ids, evd_uuid caller,
                  evd_uuid command_id, void *request);

/** The call was taken up: release what it held, and be free for another. */
void evd_hand_free(struct evd_hand *hand);

/** Try again later: longer each time. */
void evd_hand_pause(struct evd_hand *hand);

/** Run what the operation needs now, and take up the answer. True: it is to leave the list. */
void evd_running_begin(struct evd_running *running);
bool evd_running_settle(struct evd_running *running);

#endif
