/*
 * A piece of work for a worker: embedded in whatever it works on, linked while it waits.
 */
#ifndef EVIDENCED_RUNTIME_TASK_H
#define EVIDENCED_RUNTIME_TASK_H

struct evd_task {
    void (*run)(struct evd_task *task);
    struct evd_task *next;
};

#endif
