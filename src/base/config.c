/*
 * Reading goes from the weakest source to the strongest: defaults, file, variables, flags. Every value that was given
 * is checked, also one that a stronger source overrides. Flags are collected before the rest, because one of them names
 * the file, and applied last.
 */
#include "evidenced/base/config.h"

#include "config_table.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"

#include <assert.h>

enum { NAME_BYTES = 40, STOP_MS = 29000 };

struct reading {
    const struct evd_config_input *input;
    struct evd_arena *arena;
    struct evd_config *config;
    struct evd_config_errors errors;
    bool is_given[EVD_CONFIG_COUNT]; /* by a flag */
    struct evd_text flags[EVD_CONFIG_COUNT];
    unsigned file_lines[EVD_CONFIG_COUNT]; /* where the file sets it; 0: nowhere */
    bool is_wrong[EVD_CONFIG_COUNT];       /* some source gave a wrong value: rules about it would mislead */
    bool has_file;
    struct evd_text file; /* from --config or EVIDENCED_CONFIG; empty: it was no path */
    unsigned action_count;
};

static const struct {
    const char *flag;
    enum evd_config_action action;
    bool takes_value;
} actions[] = {{"--check-config", EVD_ACTION_CHECK, false},
               {"--restore", EVD_ACTION_RESTORE, true},
               {"--list-crash-points", EVD_ACTION_LIST_CRASH_POINTS, false},
               {"--list-canaries", EVD_ACTION_LIST_CANARIES, false}};

enum { ACTION_COUNT = sizeof actions / sizeof *actions };

static void note(struct reading *reading, struct evd_text line) {
    struct evd_config_errors *errors = &reading->errors;
    if (errors->count == EVD_CONFIG_ERRORS)
        errors->untold++;
    else
        errors->lines[errors->count++] = line;
}

#define COMPLAIN(reading, ...) note((reading), evd_text_print((reading)->arena, __VA_ARGS__))

static struct evd_text tail(struct evd_text text, size_t from) {
    return (struct evd_text){text.bytes + from, text.size_bytes - from};
}

static size_t place_of(struct evd_text text, char byte) {
    const char *at = text.size_bytes == 0 ? NULL : memchr(text.bytes, byte, text.size_bytes);
    return at == NULL ? text.size_bytes : (size_t)(at - text.bytes);
}

/* How a source spells an option's name. */
enum spelling { IN_FILE, AS_FLAG, AS_VARIABLE };

static struct evd_text spelt(const char *name, enum spelling spelling, char *space) {
    const char *prefix = spelling == IN_FILE ? "" : spelling == AS_FLAG ? "--" : "EVIDENCED_";
    int size = snprintf(space, NAME_BYTES, "%s%s", prefix, name);
    assert(size > 0 && size < NAME_BYTES);
    for (char *at = space; spelling == AS_VARIABLE && *at != '\0'; at++) {
        if (*at >= 'a' && *at <= 'z') *at ^= 'a' ^ 'A';
        if (*at == '-') *at = '_';
    }
    return (struct evd_text){space, (size_t)size};
}

/* The option of this name; EVD_CONFIG_COUNT when there is none. */
static enum evd_config_option option_of(struct evd_text name, enum spelling spelling) {
    char space[NAME_BYTES];
    enum evd_config_option option = 0;
    while (option < EVD_CONFIG_COUNT && !evd_text_equal(spelt(evd_config_rows[option].name, spelling, space), name))
        option++;
    return option;
}

/* Single-byte edits between two names (Levenshtein), each shorter than NAME_BYTES. */
static unsigned distance(struct evd_text a, struct evd_text b) {
    unsigned row[NAME_BYTES + 1];
    assert(a.size_bytes < NAME_BYTES && b.size_bytes < NAME_BYTES);
    for (unsigned j = 0; j <= b.size_bytes; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.size_bytes; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b.size_bytes; j++) {
            unsigned replaced = diagonal + (a.bytes[i - 1] != b.bytes[j - 1]);
            unsigned edited = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < edited ? replaced : edited;
        }
    }
    return row[b.size_bytes];
}

static void consider(struct evd_text name, struct evd_text candidate, unsigned *best, char *suggestion) {
    unsigned edits = distance(name, candidate);
    if (edits >= *best) return;
    *best = edits;
    memcpy(suggestion, candidate.bytes, candidate.size_bytes);
    suggestion[candidate.size_bytes] = '\0';
}

/* `where`: unknown name. Quotes it and suggests the nearest; a name too odd to be a slip is not quoted: it might be a
 * secret gone astray, or steer a terminal. */
static void complain_unknown(struct reading *reading, struct evd_text where, struct evd_text name,
                             enum spelling spelling) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    char space[NAME_BYTES], suggestion[NAME_BYTES] = "";
    size_t odd = 0;
    for (size_t i = 0; i < name.size_bytes; i++)
        odd += name.bytes[i] == '\0' || strchr(plain, name.bytes[i]) == NULL;
    if (odd > 0 || name.size_bytes == 0 || name.size_bytes >= NAME_BYTES) {
        COMPLAIN(reading, EVD_TEXT_FMT ": expected the name of an option; --help lists them", EVD_TEXT_ARG(where));
        return;
    }
    size_t prefix = spelling == IN_FILE ? 0 : spelling == AS_FLAG ? strlen("--") : strlen("EVIDENCED_");
    unsigned best = (unsigned)(name.size_bytes - prefix) / 3 + 1;
    for (enum evd_config_option option = 0; option < EVD_CONFIG_COUNT; option++)
        consider(name, spelt(evd_config_rows[option].name, spelling, space), &best, suggestion);
    for (size_t i = 0; spelling == AS_FLAG && i < ACTION_COUNT; i++)
        consider(name, evd_text_from(actions[i].flag), &best, suggestion);
    COMPLAIN(reading, EVD_TEXT_FMT ": there is no option `" EVD_TEXT_FMT "`%s%s%s", EVD_TEXT_ARG(where),
             EVD_TEXT_ARG(name), suggestion[0] == '\0' ? "; --help lists them" : "; did you mean `", suggestion,
             suggestion[0] == '\0' ? "" : "`?");
}

static void assign(struct reading *reading, enum evd_config_option option, struct evd_text text,
                   struct evd_text origin) {
    const struct evd_config_row *row = &evd_config_rows[option];
    struct evd_config_value value;
    if (evd_config_value_parse(row, text, reading->arena, &value)) {
        value.origin = origin;
        reading->config->values[option] = value;
        return;
    }
    struct evd_text expected = evd_config_expected(row, reading->arena);
    reading->is_wrong[option] = true;
    COMPLAIN(reading, EVD_TEXT_FMT ": expected " EVD_TEXT_FMT "%s", EVD_TEXT_ARG(origin), EVD_TEXT_ARG(expected),
             text.size_bytes == 0 ? ", got nothing" : "");
}

static void assign_defaults(struct reading *reading) {
    for (enum evd_config_option option = 0; option < EVD_CONFIG_COUNT; option++)
        assign(reading, option, evd_text_from(evd_config_rows[option].fallback), EVD_TEXT("default"));
    assert(reading->errors.count == 0);
}

/* ---- the command line ---- */

static void take_option(struct reading *reading, enum evd_config_option option, struct evd_text value) {
    reading->is_given[option] = true;
    reading->flags[option] = value;
}

static bool is_path(const struct reading *reading, struct evd_text text) {
    struct evd_config_value ignored;
    return evd_config_value_parse(&evd_config_rows[EVD_CONFIG_DATA], text, reading->arena, &ignored);
}

static void take_file(struct reading *reading, struct evd_text path, const char *origin) {
    if (is_path(reading, path))
        reading->file = evd_text_copy(reading->arena, path);
    else
        COMPLAIN(reading, "%s: expected a path", origin);
    reading->has_file = true;
}

static void take_action(struct reading *reading, size_t index, bool has_value, struct evd_text value) {
    if (has_value != actions[index].takes_value || (has_value && !is_path(reading, value))) {
        COMPLAIN(reading, "%s: expected %s", actions[index].flag, actions[index].takes_value ? "a path" : "no value");
        return;
    }
    if (++reading->action_count == 2)
        COMPLAIN(reading, "%s: expected one of --check-config, --restore, --list-crash-points, --list-canaries, once",
                 actions[index].flag);
    reading->config->action = actions[index].action;
    if (has_value) reading->config->restore_from = evd_text_copy(reading->arena, value);
}

static size_t action_of(struct evd_text name) {
    size_t index = 0;
    while (index < ACTION_COUNT && !evd_text_equal(evd_text_from(actions[index].flag), name))
        index++;
    return index;
}

/* One argument that begins with `--`, and the value behind it. Returns how many arguments they are. */
static int take_flag(struct reading *reading, int at) {
    struct evd_text argument = evd_text_from(reading->input->argv[at]), value = EVD_TEXT("");
    size_t equals = place_of(argument, '=');
    struct evd_text name = {argument.bytes, equals};
    enum evd_config_option option = option_of(name, AS_FLAG);
    size_t action = action_of(name);
    bool is_file = evd_text_equal(name, EVD_TEXT("--config")), has_value = equals < argument.size_bytes;
    bool takes_none = action < ACTION_COUNT && !actions[action].takes_value;
    int used = 1;
    if (has_value) {
        value = tail(argument, equals + 1);
    } else if (!takes_none && at + 1 < reading->input->argc && reading->input->argv[at + 1][0] != '-') {
        value = evd_text_from(reading->input->argv[at + 1]);
        has_value = true;
        used = 2;
    }
    if (action < ACTION_COUNT)
        take_action(reading, action, has_value, value);
    else if (option == EVD_CONFIG_COUNT && !is_file)
        complain_unknown(reading, evd_text_print(reading->arena, "argument %d", at), name, AS_FLAG);
    else if (!has_value)
        COMPLAIN(reading, EVD_TEXT_FMT ": expected a value behind it", EVD_TEXT_ARG(name));
    else if (is_file)
        take_file(reading, value, "--config");
    else
        take_option(reading, option, value);
    return used;
}

static void collect_flags(struct reading *reading) {
    for (int at = 1; at < reading->input->argc;) {
        if (evd_text_starts_with(evd_text_from(reading->input->argv[at]), EVD_TEXT("--"))) {
            at += take_flag(reading, at);
        } else {
            COMPLAIN(reading, "argument %d: expected --name value or --name=value", at);
            at++;
        }
    }
}

static void apply_flags(struct reading *reading) {
    for (enum evd_config_option option = 0; option < EVD_CONFIG_COUNT; option++)
        if (reading->is_given[option])
            assign(reading, option, reading->flags[option],
                   evd_text_print(reading->arena, "--%s", evd_config_rows[option].name));
}

/* --help and --version, wherever they stand. A value never begins with `-` unless it stands behind `=`. */
static bool asks_about_program(const struct evd_config_input *input, enum evd_config_action *ret_action) {
    for (int at = 1; at < input->argc; at++) {
        bool help = strcmp(input->argv[at], "--help") == 0 || strcmp(input->argv[at], "-h") == 0;
        if (!help && strcmp(input->argv[at], "--version") != 0) continue;
        *ret_action = help ? EVD_ACTION_HELP : EVD_ACTION_VERSION;
        return true;
    }
    return false;
}

/* ---- the environment ---- */

static bool ends_with(struct evd_text text, struct evd_text end) {
    return text.size_bytes >= end.size_bytes && evd_text_equal(tail(text, text.size_bytes - end.size_bytes), end);
}

static bool contains(struct evd_text text, struct evd_text part) {
    return memmem(text.bytes, text.size_bytes, part.bytes, part.size_bytes) != NULL;
}

/* EVIDENCED_SERVICE_HOST, EVIDENCED_ADMIN_SERVICE_PORT_HTTP, EVIDENCED_PORT=tcp://…, EVIDENCED_PORT_8080_TCP_ADDR: a
 * container gets these for every service whose name begins with evidenced; refusing them would keep it from starting.
 */
static bool is_from_kubernetes(struct evd_text name, struct evd_text value) {
    if (ends_with(name, EVD_TEXT("_SERVICE_HOST")) || contains(name, EVD_TEXT("_SERVICE_PORT"))) return true;
    if (ends_with(name, EVD_TEXT("_PORT"))) return contains(value, EVD_TEXT("://"));
    return contains(name, EVD_TEXT("_PORT_")) && (contains(name, EVD_TEXT("_TCP")) || contains(name, EVD_TEXT("_UDP")));
}

/* What the tests set for themselves and the programs they start inherit. */
static bool is_for_tests(struct evd_text name) {
    static const struct evd_text prefixes[] = {EVD_TEXT_INIT("EVIDENCED_BIN"), EVD_TEXT_INIT("EVIDENCED_CANARY"),
                                               EVD_TEXT_INIT("EVIDENCED_CRASH_AT"), EVD_TEXT_INIT("EVIDENCED_FAULTFS"),
                                               EVD_TEXT_INIT("EVIDENCED_TEST_")};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (evd_text_starts_with(name, prefixes[i])) return true;
    return false;
}

/* What evidencectl takes from the environment: one shell often starts both. */
static bool is_for_evidencectl(struct evd_text name) {
    return evd_text_equal(name, EVD_TEXT("EVIDENCED_SERVER")) ||
           evd_text_equal(name, EVD_TEXT("EVIDENCED_TOKEN_FILE")) ||
           evd_text_equal(name, EVD_TEXT("EVIDENCED_PROJECT"));
}

static void read_variables(struct reading *reading) {
    char *const none = NULL;
    for (char *const *at = reading->input->envp == NULL ? &none : reading->input->envp; *at != NULL; at++) {
        struct evd_text variable = evd_text_from(*at);
        size_t equals = place_of(variable, '=');
        if (!evd_text_starts_with(variable, EVD_TEXT("EVIDENCED_")) || equals == variable.size_bytes) continue;
        struct evd_text name = {variable.bytes, equals}, value = tail(variable, equals + 1);
        enum evd_config_option option = option_of(name, AS_VARIABLE);
        if (option < EVD_CONFIG_COUNT)
            assign(reading, option, value, evd_text_copy(reading->arena, name));
        else if (!evd_text_equal(name, EVD_TEXT("EVIDENCED_CONFIG")) && !is_for_tests(name) &&
                 !is_for_evidencectl(name) && !is_from_kubernetes(name, value))
            complain_unknown(reading, EVD_TEXT("environment"), name, AS_VARIABLE);
    }
}

static void find_file_variable(struct reading *reading) {
    static const struct evd_text prefix = EVD_TEXT_INIT("EVIDENCED_CONFIG=");
    char *const none = NULL;
    if (reading->has_file) return;
    for (char *const *at = reading->input->envp == NULL ? &none : reading->input->envp; *at != NULL; at++) {
        if (!evd_text_starts_with(evd_text_from(*at), prefix)) continue;
        take_file(reading, tail(evd_text_from(*at), prefix.size_bytes), "EVIDENCED_CONFIG");
    }
}

/* ---- the file ---- */

static void read_line(struct reading *reading, struct evd_text line, unsigned number) {
    line = evd_text_trim(line);
    if (line.size_bytes == 0 || line.bytes[0] == '#') return;
    struct evd_text where = evd_text_print(reading->arena, EVD_TEXT_FMT ":%u", EVD_TEXT_ARG(reading->file), number);
    size_t equals = place_of(line, '=');
    struct evd_text name = evd_text_trim((struct evd_text){line.bytes, equals});
    if (equals == line.size_bytes) {
        COMPLAIN(reading, EVD_TEXT_FMT ": expected `name = value`", EVD_TEXT_ARG(where));
        return;
    }
    struct evd_text value = evd_text_trim(tail(line, equals + 1));
    enum evd_config_option option = option_of(name, IN_FILE);
    if (option == EVD_CONFIG_COUNT) {
        complain_unknown(reading, where, name, IN_FILE);
    } else if (contains(value, EVD_TEXT(" #")) || contains(value, EVD_TEXT("\t#"))) {
        COMPLAIN(reading, EVD_TEXT_FMT ": expected the comment on a line of its own", EVD_TEXT_ARG(where));
        reading->is_wrong[option] = true;
    } else if (reading->file_lines[option] != 0) {
        COMPLAIN(reading, EVD_TEXT_FMT ": expected %s once, it is in line %u too", EVD_TEXT_ARG(where),
                 evd_config_rows[option].name, reading->file_lines[option]);
    } else {
        reading->file_lines[option] = number;
        assign(reading, option, value, where);
    }
}

static void read_file(struct reading *reading) {
    struct evd_text content;
    const char *why = "";
    if (reading->file.size_bytes == 0) return;
    if (!reading->input->read_file(reading->input->reader, reading->file.bytes, EVD_CONFIG_FILE_BYTES, reading->arena,
                                   &content, &why)) {
        COMPLAIN(reading, EVD_TEXT_FMT ": cannot read it: %s", EVD_TEXT_ARG(reading->file), why);
        return;
    }
    if (content.size_bytes > EVD_CONFIG_FILE_BYTES) {
        COMPLAIN(reading, EVD_TEXT_FMT ": expected at most %zu bytes", EVD_TEXT_ARG(reading->file),
                 EVD_CONFIG_FILE_BYTES);
        return;
    }
    if (evd_text_starts_with(content, EVD_TEXT("\xEF\xBB\xBF"))) content = tail(content, 3); /* some editors' mark */
    for (unsigned number = 1; content.size_bytes > 0; number++) {
        size_t end = place_of(content, '\n');
        read_line(reading, (struct evd_text){content.bytes, end}, number);
        content = tail(content, end < content.size_bytes ? end + 1 : end);
    }
}

/* ---- the rules between options ---- */

static bool is_empty(const struct reading *reading, enum evd_config_option option) {
    return reading->config->values[option].text.size_bytes == 0;
}

static void check_door(struct reading *reading, enum evd_config_option door) {
    const struct evd_config_value *value = &reading->config->values[door];
    if (reading->is_wrong[door] || reading->is_wrong[EVD_CONFIG_TOKEN_JWKS]) return;
    if (evd_config_is_local(value->text) || !is_empty(reading, EVD_CONFIG_TOKEN_JWKS)) return;
    COMPLAIN(reading,
             EVD_TEXT_FMT ": %s opens beyond this host; that needs token-jwks, because nothing listens there without "
                          "authentication",
             EVD_TEXT_ARG(value->origin), evd_config_rows[door].name);
}

static void check_tokens(struct reading *reading) {
    static const enum evd_config_option together[] = {EVD_CONFIG_TOKEN_JWKS, EVD_CONFIG_TOKEN_ISSUER,
                                                      EVD_CONFIG_TOKEN_AUDIENCE};
    const struct evd_config_value *set = NULL;
    for (size_t i = 0; i < 3; i++) {
        if (reading->is_wrong[together[i]]) return;
        if (!is_empty(reading, together[i])) set = &reading->config->values[together[i]];
    }
    for (size_t i = 0; set != NULL && i < 3; i++)
        if (is_empty(reading, together[i]))
            COMPLAIN(reading, EVD_TEXT_FMT ": expected %s too; token-jwks, token-issuer and token-audience go together",
                     EVD_TEXT_ARG(set->origin), evd_config_rows[together[i]].name);
}

static void check_rules(struct reading *reading) {
    const struct evd_config_value *values = reading->config->values;
    const bool *wrong = reading->is_wrong;
    struct evd_text listen = values[EVD_CONFIG_LISTEN].text, admin = values[EVD_CONFIG_ADMIN_LISTEN].text;
    uint64_t stop_ms = values[EVD_CONFIG_DRAIN_SECONDS].number * 1000 + values[EVD_CONFIG_DEADLINE_MS].number;
    check_door(reading, EVD_CONFIG_LISTEN);
    check_door(reading, EVD_CONFIG_ADMIN_LISTEN);
    check_tokens(reading);
    if (!wrong[EVD_CONFIG_LISTEN] && !wrong[EVD_CONFIG_ADMIN_LISTEN] && evd_text_equal(listen, admin) &&
        !ends_with(listen, EVD_TEXT(":0")))
        COMPLAIN(reading, EVD_TEXT_FMT ": expected admin-listen to be another address than listen",
                 EVD_TEXT_ARG(values[EVD_CONFIG_ADMIN_LISTEN].origin));
    if (!wrong[EVD_CONFIG_DRAIN_SECONDS] && !wrong[EVD_CONFIG_DEADLINE_MS] && stop_ms > STOP_MS)
        COMPLAIN(reading, EVD_TEXT_FMT ": expected drain-seconds and deadline-ms to be at most %d seconds together",
                 EVD_TEXT_ARG(values[EVD_CONFIG_DRAIN_SECONDS].origin), STOP_MS / 1000);
}

/* `control` has no fixed default: it is where the data is. */
static void complete_control(struct reading *reading) {
    struct evd_config_value *control = &reading->config->values[EVD_CONFIG_CONTROL];
    struct evd_text data = reading->config->values[EVD_CONFIG_DATA].text;
    if (control->text.size_bytes == 0)
        control->text = evd_text_print(reading->arena, EVD_TEXT_FMT "/control.sock", EVD_TEXT_ARG(data));
    if (control->text.size_bytes > EVD_CONFIG_SOCKET_PATH_BYTES)
        COMPLAIN(reading, EVD_TEXT_FMT ": expected control to be a path of at most %d bytes: it is a socket",
                 EVD_TEXT_ARG(control->origin), EVD_CONFIG_SOCKET_PATH_BYTES);
}

const struct evd_config *evd_config_read(const struct evd_config_input *input, struct evd_arena *arena,
                                         struct evd_config_errors *ret_errors) {
    struct reading *reading = EVD_NEW(arena, struct reading);
    *reading = (struct reading){.input = input, .arena = arena, .config = EVD_NEW(arena, struct evd_config)};
    reading->config->restore_from = EVD_TEXT("");
    assign_defaults(reading);
    if (!asks_about_program(input, &reading->config->action)) {
        collect_flags(reading);
        find_file_variable(reading);
        read_file(reading);
        read_variables(reading);
        apply_flags(reading);
        check_rules(reading);
    }
    complete_control(reading);
    if (reading->errors.count == 0) return reading->config;
    *ret_errors = reading->errors;
    return NULL;
}
