/*
 * The option table as rows, and the check of one value. Private to the configuration.
 */
#ifndef EVIDENCED_SRC_BASE_CONFIG_TABLE_H
#define EVIDENCED_SRC_BASE_CONFIG_TABLE_H

#include "evidenced/base/config.h"

enum evd_config_type {
    EVD_CONFIG_TYPE_TEXT,
    EVD_CONFIG_TYPE_FILE,
    EVD_CONFIG_TYPE_ADDRESS,
    EVD_CONFIG_TYPE_ORIGINS,
    EVD_CONFIG_TYPE_NETWORKS,
    EVD_CONFIG_TYPE_NUMBER,
    EVD_CONFIG_TYPE_CHOICE
};

enum evd_config_when { EVD_CONFIG_WHEN_FIXED, EVD_CONFIG_WHEN_RELOADED };

struct evd_config_row {
    const char *name, *fallback, *words, *meaning;
    enum evd_config_type type;
    enum evd_config_when when;
    uint64_t least, most;
};

struct evd_config_value {
    struct evd_text text; /* in the arena, NUL behind it */
    struct evd_text origin;
    uint64_t number; /* a number, or which word of a choice */
    const struct evd_text *items;
    size_t item_count;
};

struct evd_config {
    enum evd_config_action action;
    struct evd_text restore_from;
    struct evd_config_value values[EVD_CONFIG_COUNT];
};

extern const struct evd_config_row evd_config_rows[EVD_CONFIG_COUNT];

enum { EVD_CONFIG_LIST_MOST = 64, EVD_CONFIG_VALUE_BYTES = 4096, EVD_CONFIG_SOCKET_PATH_BYTES = 107 };

/** Check a value by its row's type and take it apart. False: it is not what evd_config_expected says. */
bool evd_config_value_parse(const struct evd_config_row *row, struct evd_text text, struct evd_arena *arena,
                            struct evd_config_value *ret_value);

/** `a number from 1 to 256`: what a row's value must be, for an error and for the tables. In the arena. */
struct evd_text evd_config_expected(const struct evd_config_row *row, struct evd_arena *arena);

/** Does a door at this (valid) address open to this host alone? An inherited descriptor might be anything: no. */
bool evd_config_is_local(struct evd_text address);

#endif
