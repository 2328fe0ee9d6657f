/*
 * What the configuration says of itself: its values, the help, the page.
 */
#include "config_table.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/roff.h"

#include <assert.h>

enum { LINE_WIDTH = 80, INDENT = 6 };

/* The table in its order, titles between the options. */
static const struct {
    const char *title; /* of a group; NULL: an option */
    enum evd_config_option option;
} outline[] = {
#define EVD_GROUP(id, group_title)                                              {.title = (group_title)},
#define EVD_OPTION(id, name, type, fallback, least, most, words, when, meaning) {.option = EVD_CONFIG_##id},
#include "evidenced/base/config.def"
};

enum { OUTLINE_COUNT = sizeof outline / sizeof *outline };

static const struct evd_config_value *value_of(const struct evd_config *config, enum evd_config_option option) {
    assert((unsigned)option < EVD_CONFIG_COUNT);
    return &config->values[option];
}

enum evd_config_action evd_config_action(const struct evd_config *config) {
    return config->action;
}

struct evd_text evd_config_restore_from(const struct evd_config *config) {
    return config->restore_from;
}

struct evd_text evd_config_text(const struct evd_config *config, enum evd_config_option option) {
    return value_of(config, option)->text;
}

uint64_t evd_config_number(const struct evd_config *config, enum evd_config_option option) {
    assert(evd_config_rows[option].type == EVD_CONFIG_TYPE_NUMBER);
    return value_of(config, option)->number;
}

unsigned evd_config_choice(const struct evd_config *config, enum evd_config_option option) {
    assert(evd_config_rows[option].type == EVD_CONFIG_TYPE_CHOICE);
    return (unsigned)value_of(config, option)->number;
}

const struct evd_text *evd_config_list(const struct evd_config *config, enum evd_config_option option,
                                       size_t *ret_count) {
    enum evd_config_type type = evd_config_rows[option].type;
    assert(type == EVD_CONFIG_TYPE_ORIGINS || type == EVD_CONFIG_TYPE_NETWORKS);
    *ret_count = value_of(config, option)->item_count;
    return value_of(config, option)->items;
}

struct evd_text evd_config_origin(const struct evd_config *config, enum evd_config_option option) {
    return value_of(config, option)->origin;
}

const char *evd_config_name(enum evd_config_option option) {
    assert((unsigned)option < EVD_CONFIG_COUNT);
    return evd_config_rows[option].name;
}

bool evd_config_is_reloaded(enum evd_config_option option) {
    assert((unsigned)option < EVD_CONFIG_COUNT);
    return evd_config_rows[option].when == EVD_CONFIG_WHEN_RELOADED;
}

bool evd_config_is_same(const struct evd_config *a, const struct evd_config *b, enum evd_config_option option) {
    return evd_text_equal(value_of(a, option)->text, value_of(b, option)->text);
}

void evd_config_print(const struct evd_config *config, struct evd_buffer *buffer) {
    for (size_t i = 0; i < OUTLINE_COUNT; i++) {
        const struct evd_config_value *value = value_of(config, outline[i].option);
        if (outline[i].title != NULL)
            evd_buffer_print(buffer, "%s# %s\n", i == 0 ? "" : "\n", outline[i].title);
        else
            evd_buffer_print(buffer, "# from " EVD_TEXT_FMT "\n%s =%s" EVD_TEXT_FMT "\n", EVD_TEXT_ARG(value->origin),
                             evd_config_name(outline[i].option), value->text.size_bytes == 0 ? "" : " ",
                             EVD_TEXT_ARG(value->text));
    }
}

/* Words from column INDENT to LINE_WIDTH. */
static void print_wrapped(struct evd_buffer *buffer, struct evd_text text) {
    size_t column = 0;
    while (text.size_bytes > 0) {
        const char *space = memchr(text.bytes, ' ', text.size_bytes);
        size_t size = space == NULL ? text.size_bytes : (size_t)(space - text.bytes);
        bool breaks = column == 0 || column + 1 + size > LINE_WIDTH;
        evd_buffer_print(buffer, "%s%*s%.*s", breaks && column > 0 ? "\n" : "", breaks ? INDENT : 1, "", (int)size,
                         text.bytes);
        column = (breaks ? INDENT : column + 1) + size;
        if (space != NULL) size++;
        text = (struct evd_text){text.bytes + size, text.size_bytes - size};
    }
    evd_buffer_add_byte(buffer, '\n');
}

static const char *placeholder(const struct evd_config_row *row) {
    switch (row->type) {
    case EVD_CONFIG_TYPE_TEXT: return "TEXT";
    case EVD_CONFIG_TYPE_FILE: return "PATH";
    case EVD_CONFIG_TYPE_ADDRESS: return "ADDRESS";
    case EVD_CONFIG_TYPE_ORIGINS: return "ORIGINS";
    case EVD_CONFIG_TYPE_NETWORKS: return "NETWORKS";
    case EVD_CONFIG_TYPE_NUMBER: return "N";
    case EVD_CONFIG_TYPE_CHOICE: return "WORD";
    }
    abort();
}

/* `[a number from 1 to 256; default 32; reloaded by SIGHUP]`, without what does not apply. */
static struct evd_text facts_of(const struct evd_config_row *row, struct evd_arena *arena) {
    struct evd_buffer facts;
    bool has_range = row->type == EVD_CONFIG_TYPE_NUMBER || row->type == EVD_CONFIG_TYPE_CHOICE;
    evd_buffer_init(&facts, arena, 0);
    if (has_range) evd_buffer_add_text(&facts, evd_config_expected(row, arena));
    if (row->fallback[0] != '\0') evd_buffer_print(&facts, "%sdefault %s", has_range ? "; " : "", row->fallback);
    if (row->when == EVD_CONFIG_WHEN_RELOADED)
        evd_buffer_print(&facts, "%sreloaded by SIGHUP", facts.size_bytes == 0 ? "" : "; ");
    return evd_buffer_text(&facts);
}

static void print_option(struct evd_buffer *buffer, const struct evd_config_row *row) {
    struct evd_text facts = facts_of(row, buffer->arena);
    bool none = facts.size_bytes == 0;
    evd_buffer_print(buffer, "  --%s %s\n", row->name, placeholder(row));
    print_wrapped(buffer, evd_text_print(buffer->arena, "%s%s" EVD_TEXT_FMT "%s", row->meaning, none ? "" : " [",
                                         EVD_TEXT_ARG(facts), none ? "" : "]"));
}

static const char usage[] = "Usage: evidenced [--NAME VALUE]...\n"
                            "\n"
                            "Serves the commands and reads of a systematic-review platform over HTTP.\n"
                            "\n"
                            "An option is taken from the first of these that sets it:\n"
                            "  a flag       --workers 8, or --workers=8\n"
                            "  a variable   EVIDENCED_WORKERS=8\n"
                            "  a file       workers = 8, a line each; # begins a comment line\n"
                            "or has its default.\n"
                            "\n";

/* What the command line takes besides the options. */
static const struct {
    const char *title; /* above the first of a group; NULL: none */
    const char *flag, *value, *meaning;
} besides[] = {
    {NULL, "--config", "PATH", "The file. Also EVIDENCED_CONFIG. Default: none."},
    {"Instead of serving", "--check-config", "",
     "Check the configuration, print it with where each value came from, exit."},
    {NULL, "--restore", "PATH", "Restore the backup in the directory PATH into the data directory, exit."},
    {NULL, "--list-crash-points", "", "List the places at which a test build can be made to crash, exit."},
    {NULL, "--list-canaries", "", "List the deliberate bugs a test build can be made to have, exit."},
    {NULL, "--version", "", "Print the version, exit."},
    {NULL, "-h, --help", "", "Print this, exit."},
};

enum { BESIDES_COUNT = sizeof besides / sizeof *besides };

void evd_config_help(struct evd_buffer *buffer) {
    evd_buffer_add_text(buffer, evd_text_from(usage));
    for (size_t i = 0; i < BESIDES_COUNT; i++) {
        if (besides[i].title != NULL) evd_buffer_print(buffer, "\n%s\n", besides[i].title);
        evd_buffer_print(buffer, "  %s%s%s\n", besides[i].flag, besides[i].value[0] == '\0' ? "" : " ",
                         besides[i].value);
        print_wrapped(buffer, evd_text_from(besides[i].meaning));
    }
    for (size_t i = 0; i < OUTLINE_COUNT; i++) {
        if (outline[i].title != NULL)
            evd_buffer_print(buffer, "\n%s\n", outline[i].title);
        else
            print_option(buffer, &evd_config_rows[outline[i].option]);
    }
}

static void manual_option(struct evd_buffer *buffer, const struct evd_config_row *row) {
    struct evd_text facts = facts_of(row, buffer->arena);
    evd_roff_item(buffer, evd_text_print(buffer->arena, "--%s", row->name).bytes, placeholder(row));
    evd_roff_line(buffer, evd_text_from(row->meaning));
    if (facts.size_bytes > 0)
        evd_roff_line(buffer, evd_text_print(buffer->arena, "[" EVD_TEXT_FMT "]", EVD_TEXT_ARG(facts)));
}

void evd_config_manual(struct evd_buffer *buffer) {
    evd_roff_section(buffer, "OPTIONS");
    for (size_t i = 0; i < BESIDES_COUNT; i++) {
        if (besides[i].title != NULL) evd_roff_part(buffer, besides[i].title);
        evd_roff_item(buffer, besides[i].flag, besides[i].value);
        evd_roff_line(buffer, evd_text_from(besides[i].meaning));
    }
    for (size_t i = 0; i < OUTLINE_COUNT; i++) {
        if (outline[i].title != NULL)
            evd_roff_part(buffer, outline[i].title);
        else
            manual_option(buffer, &evd_config_rows[outline[i].option]);
    }
}

static void markdown_row(struct evd_buffer *buffer, const struct evd_config_row *row) {
    struct evd_text expected = evd_config_expected(row, buffer->arena);
    const char *tick = row->fallback[0] == '\0' ? "" : "`";
    evd_buffer_print(buffer, "| `%s` | %s%s%s | " EVD_TEXT_FMT " | %s | %s |\n", row->name, tick, row->fallback, tick,
                     EVD_TEXT_ARG(expected), row->when == EVD_CONFIG_WHEN_RELOADED ? "SIGHUP" : "restart",
                     row->meaning);
}

void evd_config_markdown(struct evd_buffer *buffer) {
    for (size_t i = 0; i < OUTLINE_COUNT; i++) {
        if (outline[i].title == NULL)
            markdown_row(buffer, &evd_config_rows[outline[i].option]);
        else
            evd_buffer_print(
                buffer, "%s### %s\n\n| option | default | value | takes effect | meaning |\n|---|---|---|---|---|\n",
                i == 0 ? "" : "\n", outline[i].title);
    }
}
