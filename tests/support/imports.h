/*
 * Imports into the house, their operations moved by hand: a driver without a thread, on the house's clock.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_IMPORTS_H
#define EVIDENCED_TESTS_SUPPORT_IMPORTS_H

#include "house.h"

#include "evidenced/operation/driver.h"

/* A driver, and what it said. */
struct imports {
    struct house *house;
    struct evd_driver *driver;
    unsigned begun, taken_over, steps, settled, stuck;
    const struct evd_command *last_step; /* that was answered, whatever the answer */
    enum evd_outcome_code last_code;
    evd_uuid turns[64]; /* the projects of the first steps that took effect */
};

void imports_open(struct imports *imports, struct house *house);
void imports_close(struct imports *imports);

/* What is asked with a file. */
struct import_file {
    const char *content; /* CSV unless `media` says otherwise */
    size_t size_bytes;   /* 0: to the NUL */
    enum evd_media media;
    struct evd_options options;
};

/** Ask for an import, and tell the driver when it was begun. */
struct reply imports_ask(struct imports *imports, evd_uuid caller, unsigned id, const struct import_file *file);

/** As the house's administrator, and it must begin: the operation's id. */
evd_uuid imports_begin(struct imports *imports, unsigned id, const struct import_file *file);

/** A CSV of the administrator's with these options, to its end: the operation as it is then shown. */
struct reply imports_do(struct imports *imports, unsigned id, const char *csv, struct evd_options options);

/** Ask to undo, and tell the driver. */
struct reply imports_undo(struct imports *imports, evd_uuid caller, unsigned id, evd_uuid import);

/** One thing, moving the clock until there is one; false when everything is settled or stuck. */
bool imports_step(struct imports *imports);

/** Until that command's answer was taken up; false when everything was settled or stuck before. */
bool imports_step_until(struct imports *imports, const struct evd_command *command);

/** Until everything is settled or stuck. */
void imports_run(struct imports *imports);

/** The operation as the administrator sees it. */
struct reply imports_look(struct imports *imports, evd_uuid operation);

/** Its rows: result NULL: those that are shown without asking. A JSON list, to be freed. */
json_t *imports_rows(struct imports *imports, evd_uuid operation, const char *result);

/** Verification finds nothing wrong with the house's project. */
void imports_expect_sound(struct imports *imports);

/** The id a reply carries. */
evd_uuid imports_id(const struct reply *reply, const char *member);

/** A CSV of `count` rows: `title,doi` with titles T<first>… and DOIs 10.1/<first>…. To be freed. */
char *imports_csv(unsigned first, unsigned count);

#endif
