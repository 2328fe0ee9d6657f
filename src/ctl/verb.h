/*
 * The tables of evidencectl: options, paths, exits, verbs. Everything it does and says of itself comes out of them.
 */
#ifndef EVIDENCED_SRC_CTL_VERB_H
#define EVIDENCED_SRC_CTL_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_ctl;

enum evd_ctl_exit {
#define EVD_CTL_EXIT(id, status, meaning) EVD_CTL_##id = (status),
#include "exits.def"
#undef EVD_CTL_EXIT
};

enum evd_ctl_option {
#define EVD_CTL_OPTION(id, ...) EVD_CTL_OPTION_##id,
#include "options.def"
#undef EVD_CTL_OPTION
    EVD_CTL_OPTION_COUNT
};

_Static_assert(EVD_CTL_OPTION_COUNT <= 64, "a verb's options are a set of 64 bits");
#define EVD_CTL_TAKES(id) (UINT64_C(1) << EVD_CTL_OPTION_##id)

/* What every verb takes that asks the service; and one that changes something, which carries a key. */
#define EVD_CTL_ASKING                                                                                                 \
    (EVD_CTL_TAKES(CONTROL) | EVD_CTL_TAKES(SERVER) | EVD_CTL_TAKES(TOKEN_FILE) | EVD_CTL_TAKES(CA_FILE) |             \
     EVD_CTL_TAKES(PLAIN_HTTP) | EVD_CTL_TAKES(WAIT))
#define EVD_CTL_READING  (EVD_CTL_ASKING | EVD_CTL_TAKES(JSON))
#define EVD_CTL_CHANGING (EVD_CTL_READING | EVD_CTL_TAKES(COMMAND_KEY))

enum evd_ctl_kind {
    EVD_CTL_KIND_SWITCH,
    EVD_CTL_KIND_TEXT,
    EVD_CTL_KIND_ID,
    EVD_CTL_KIND_FILE,
    EVD_CTL_KIND_DIRECTORY,
    EVD_CTL_KIND_WORD,
    EVD_CTL_KIND_NUMBER,
    EVD_CTL_KIND_LIST
};

struct evd_ctl_option_row {
    const char *name, *value, *words, *variable, *meaning;
    char letter;
    enum evd_ctl_kind kind;
    uint64_t least, most;
};

extern const struct evd_ctl_option_row evd_ctl_options[EVD_CTL_OPTION_COUNT];

/* What an operand is, for checking and for completion. */
enum evd_ctl_operand {
    EVD_CTL_OPERAND_TEXT,
    EVD_CTL_OPERAND_ID,
    EVD_CTL_OPERAND_FILE,
    EVD_CTL_OPERAND_DIRECTORY,
    EVD_CTL_OPERAND_MEMBER /* a person, and the names of roles behind */
};

struct evd_ctl_verb {
    const char *name;     /* one word or two: "form publish" */
    const char *operands; /* as in a synopsis: "FILE"; "" */
    enum evd_ctl_operand operand;
    unsigned least, most;  /* how many operands */
    uint64_t takes, needs; /* sets of options; --help is every verb's */
    const char *summary;   /* a sentence */
    const char *details;   /* more sentences; NULL: none */
    const char *example;   /* a command line; NULL: none */
    enum evd_ctl_exit (*run)(struct evd_ctl *ctl);
};

#define EVD_CTL_FAMILY(title)
#define EVD_CTL_VERB(constant) extern const struct evd_ctl_verb evd_ctl_verb_##constant;
#include "table.def"
#undef EVD_CTL_FAMILY
#undef EVD_CTL_VERB

/* The table: a family's title, or a verb. */
struct evd_ctl_row {
    const char *family;
    const struct evd_ctl_verb *verb;
};

extern const struct evd_ctl_row evd_ctl_table[];
extern const size_t evd_ctl_table_count;

enum { EVD_CTL_OPERANDS = 16 }; /* of one command line */

/** The roles a member may have, their names separated by spaces. */
#define EVD_CTL_ROLES "admin reviewer reconciler queryReviewer observer"

struct evd_ctl_exit_row {
    int status;
    const char *meaning;
};

extern const struct evd_ctl_exit_row evd_ctl_exits[];
extern const size_t evd_ctl_exit_count;

enum evd_ctl_path {
#define EVD_CTL_PATH(id, ...) EVD_CTL_PATH_##id,
#include "paths.def"
#undef EVD_CTL_PATH
    EVD_CTL_PATH_COUNT
};

struct evd_ctl_path_row {
    const char *method, *path;
};

extern const struct evd_ctl_path_row evd_ctl_paths[EVD_CTL_PATH_COUNT];

/** Does the verb take the option? --help is every verb's. */
bool evd_ctl_verb_takes(const struct evd_ctl_verb *verb, enum evd_ctl_option option);

/** Is this word the verb, or its first one? */
bool evd_ctl_verb_begins_with(const struct evd_ctl_verb *verb, const char *word);

#endif
