/*
 * Configuration: what the daemon was told, by flag, variable, file or nobody, in that order.
 *
 *   --workers 8   ►   EVIDENCED_WORKERS=8   ►   `workers = 8` in the file of --config or EVIDENCED_CONFIG   ►   default
 *
 * One table, config.def, drives all four, the help, --check-config and the operators' page. Pure: reads nothing but
 * what it is given; files come through a callback.
 *
 * The file holds `name = value` lines; blank lines and lines that begin with `#` are skipped. A comment behind a value
 * is refused rather than taken as part of it. A name may stand once in the file; on the command line the last wins.
 * Names nobody knows are refused, in the environment too, but for the variables Kubernetes sets for a service called
 * evidenced, and those of the tests.
 */
#ifndef EVIDENCED_BASE_CONFIG_H
#define EVIDENCED_BASE_CONFIG_H

#include "evidenced/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_arena;
struct evd_buffer;
struct evd_config;

enum evd_config_option {
#define EVD_OPTION(id, name, type, fallback, least, most, words, when, meaning) EVD_CONFIG_##id,
#include "evidenced/base/config.def"
    EVD_CONFIG_COUNT
};

/* What the command line asks for beside options. */
enum evd_config_action {
    EVD_ACTION_SERVE,             /* none of the below */
    EVD_ACTION_HELP,              /* --help, -h */
    EVD_ACTION_VERSION,           /* --version */
    EVD_ACTION_CHECK,             /* --check-config */
    EVD_ACTION_RESTORE,           /* --restore BACKUP */
    EVD_ACTION_LIST_CRASH_POINTS, /* --list-crash-points */
    EVD_ACTION_LIST_CANARIES,     /* --list-canaries */
};

#define EVD_CONFIG_FILE_BYTES ((size_t)64 * 1024)

/**
 * Read a whole file into the arena. At most limit_bytes + 1 bytes need be read: more than limit_bytes are refused.
 * On failure returns false and in *ret_why a word or two (`No such file or directory`), static or in the arena.
 */
typedef bool evd_config_reader(void *self, const char *path, size_t limit_bytes, struct evd_arena *arena,
                               struct evd_text *ret_content, const char **ret_why);

struct evd_config_input {
    int argc;
    char *const *argv; /* the program's name first */
    char *const *envp; /* NULL-terminated; NULL: no environment */
    evd_config_reader *read_file;
    void *reader;
};

/* What is wrong, all of it (at most EVD_CONFIG_ERRORS are told): each a sentence that says where and what was expected,
 * fit for a terminal, without values that could be a secret. */
#define EVD_CONFIG_ERRORS 64
struct evd_config_errors {
    size_t count; /* at most EVD_CONFIG_ERRORS */
    size_t untold;
    struct evd_text lines[EVD_CONFIG_ERRORS];
};

/**
 * Read and check everything. The configuration is immutable and lives in the arena, as does all it was read from.
 *
 * Asking for help or the version wins over any error: then the configuration holds only that action and the defaults.
 * Checked together: doors open beyond this host only with token-jwks; the three token options come together; two doors
 * are not at one address; draining and the deadline together fit the 30 seconds a stop may take.
 *
 * Returns the configuration; or NULL, and *ret_errors says why.
 */
const struct evd_config *evd_config_read(const struct evd_config_input *input, struct evd_arena *arena,
                                         struct evd_config_errors *ret_errors) __attribute__((warn_unused_result));

enum evd_config_action evd_config_action(const struct evd_config *config);

/** The directory of the backup, with EVD_ACTION_RESTORE; else empty. NUL behind it. */
struct evd_text evd_config_restore_from(const struct evd_config *config);

/** A text, file, address or choice as it was given, NUL behind it. `control` is never empty: its default depends on
 * `data`. */
struct evd_text evd_config_text(const struct evd_config *config, enum evd_config_option option);

/** A number option. */
uint64_t evd_config_number(const struct evd_config *config, enum evd_config_option option);

/** Which of the words of a choice, from 0: for log-level an enum evd_log_level. */
unsigned evd_config_choice(const struct evd_config *config, enum evd_config_option option);

/** The items of a list option. Borrows from the configuration. */
const struct evd_text *evd_config_list(const struct evd_config *config, enum evd_config_option option,
                                       size_t *ret_count);

/** Where the value came from: `default`, `--workers`, `EVIDENCED_WORKERS`, `/etc/evidenced.conf:7`. */
struct evd_text evd_config_origin(const struct evd_config *config, enum evd_config_option option);

/** `workers`. Static. */
const char *evd_config_name(enum evd_config_option option);

/** Does SIGHUP reload it? Otherwise a change needs a restart. */
bool evd_config_is_reloaded(enum evd_config_option option);

/** Is the value the same in both? What to look at after reading again. */
bool evd_config_is_same(const struct evd_config *a, const struct evd_config *b, enum evd_config_option option);

/** The --help text: usage, the ways to set an option, every option in its group, 80 columns. */
void evd_config_help(struct evd_buffer *buffer);

/** The effective configuration, each value below a comment that says where it came from. It is itself a configuration
 * file that gives the same values. */
void evd_config_print(const struct evd_config *config, struct evd_buffer *buffer);

/** The options as a section of a manual page, a part for each group; man(7) source. */
void evd_config_manual(struct evd_buffer *buffer);

/** The options as Markdown tables, a group each, for the operators' page. */
void evd_config_markdown(struct evd_buffer *buffer);

#endif
