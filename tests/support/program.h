/*
 * Running one of our programs as a person would: its arguments, its environment, what it says, how it ends.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_PROGRAM_H
#define EVIDENCED_TESTS_SUPPORT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROGRAM_TEXT_BYTES = 262144, PROGRAM_VARIABLES = 16 };

struct evd_program {
    const char *name;                             /* in the build directory: "evidencectl" */
    const char *variables[PROGRAM_VARIABLES + 1]; /* of its environment, "A=b", a NULL behind; EVIDENCED_… of ours and
                                                     proxies are not passed on */
    const char *directory;                        /* to run in; NULL: this one's */
    const char *input;                            /* standard input; NULL: nothing */
    int terminal;                                 /* standard error, when above 0 */
    int status;                                   /* the exit status, or minus the signal that ended it */
    char out[PROGRAM_TEXT_BYTES], err[PROGRAM_TEXT_BYTES]; /* terminated; longer fails the test */
    size_t out_bytes;
    /* Private. */
    pid_t pid;
    int out_file, err_file;
};

/** Run it to its end with these words as arguments: separated by spaces, `'…'` keeps some together. The exit status. */
int evd_program_run(struct evd_program *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same in two parts. */
void evd_program_start(struct evd_program *program, const char *format, ...) __attribute__((format(printf, 2, 3)));
int evd_program_wait(struct evd_program *program);

/** Does what it said on standard output, or standard error, hold this? */
bool evd_program_said(const struct evd_program *program, const char *text);

#endif
