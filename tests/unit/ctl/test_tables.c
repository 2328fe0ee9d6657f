#include "../../support/test.h"

#include "ctl/verb.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "evidenced/commands/table.h"
#include "evidenced/ctl/command_line.h"
#include "evidenced/records/names.h"

#include <sys/wait.h>
#include <unistd.h>

/* The tables evidencectl is made of, and what is made of them. */

static const struct evd_ctl_verb *verb_at(size_t at) {
    return at < evd_ctl_table_count ? evd_ctl_table[at].verb : NULL;
}

static bool is_sentence(const char *text) {
    size_t size = strlen(text);
    return size > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[size - 1] == '.';
}

/* One word or two. */
static bool is_name(const char *name) {
    const char *space = strchr(name, ' ');
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyz ")] == '\0' &&
           (space == NULL || strchr(space + 1, ' ') == NULL);
}

START_TEST(every_verb_is_whole) {
    size_t verbs = 0;
    for (size_t i = 0; i < evd_ctl_table_count; i++) {
        const struct evd_ctl_verb *verb = verb_at(i);
        if (verb == NULL) {
            ck_assert_ptr_nonnull(evd_ctl_table[i].family);
            continue;
        }
        verbs++;
        ck_assert_msg(is_name(verb->name), "%s", verb->name);
        ck_assert_msg(is_sentence(verb->summary), "%s", verb->name);
        ck_assert_msg(verb->details == NULL || is_sentence(verb->details), "%s", verb->name);
        ck_assert_msg((verb->needs & ~verb->takes) == 0, "%s", verb->name);
        ck_assert_msg(verb->least <= verb->most && verb->most <= EVD_CTL_OPERANDS, "%s", verb->name);
        ck_assert_msg((verb->most > 0) == (verb->operands[0] != '\0'), "%s", verb->name);
        ck_assert_msg(verb->example == NULL || strstr(verb->example, verb->name) != NULL, "%s", verb->name);
        ck_assert_ptr_nonnull((const void *)(uintptr_t)verb->run);
    }
    ck_assert_uint_gt(verbs, 20);
}
END_TEST

START_TEST(no_two_verbs_and_no_two_options_of_a_verb_share_a_name) {
    for (size_t i = 0; i < evd_ctl_table_count; i++)
        for (size_t j = i + 1; j < evd_ctl_table_count; j++)
            if (verb_at(i) != NULL && verb_at(j) != NULL) ck_assert_str_ne(verb_at(i)->name, verb_at(j)->name);
    for (enum evd_ctl_option a = 0; a < EVD_CTL_OPTION_COUNT; a++)
        for (enum evd_ctl_option b = a + 1; b < EVD_CTL_OPTION_COUNT; b++) {
            if (strcmp(evd_ctl_options[a].name, evd_ctl_options[b].name) != 0) continue;
            ck_assert((evd_ctl_options[a].value == NULL) == (evd_ctl_options[b].value == NULL));
            ck_assert_int_eq(evd_ctl_options[a].letter, evd_ctl_options[b].letter);
            for (size_t i = 0; i < evd_ctl_table_count; i++)
                ck_assert(verb_at(i) == NULL || !evd_ctl_verb_takes(verb_at(i), a) ||
                          !evd_ctl_verb_takes(verb_at(i), b));
        }
}
END_TEST

START_TEST(every_option_is_whole_and_some_verb_takes_it) {
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++) {
        const struct evd_ctl_option_row *row = &evd_ctl_options[option];
        bool is_taken = option == EVD_CTL_OPTION_HELP || option == EVD_CTL_OPTION_VERSION;
        for (size_t i = 0; i < evd_ctl_table_count; i++)
            is_taken = is_taken || (verb_at(i) != NULL && evd_ctl_verb_takes(verb_at(i), option));
        ck_assert_msg(is_taken, "%s", row->name);
        ck_assert_msg(is_sentence(row->meaning), "%s", row->name);
        ck_assert_msg((row->kind == EVD_CTL_KIND_SWITCH) == (row->value == NULL), "%s", row->name);
        ck_assert_msg((row->kind == EVD_CTL_KIND_WORD) == (row->words != NULL), "%s", row->name);
        ck_assert_msg((row->kind == EVD_CTL_KIND_NUMBER) == (row->most > 0), "%s", row->name);
        ck_assert_msg(row->variable == NULL || strncmp(row->variable, "EVIDENCED_", 10) == 0, "%s", row->name);
    }
}
END_TEST

START_TEST(only_a_verb_that_changes_something_takes_a_key) {
    for (size_t i = 0; i < evd_ctl_table_count; i++) {
        const struct evd_ctl_verb *verb = verb_at(i);
        if (verb == NULL || !evd_ctl_verb_takes(verb, EVD_CTL_OPTION_COMMAND_KEY)) continue;
        ck_assert_uint_eq(verb->takes & EVD_CTL_CHANGING, EVD_CTL_CHANGING);
    }
}
END_TEST

START_TEST(the_roles_are_those_of_the_records) {
    char roles[200] = "";
    size_t held = 0;
    for (int role = 1; role < EVD_END_OF_role; role++)
        held += (size_t)snprintf(roles + held, sizeof roles - held, "%s%s", role == 1 ? "" : " ",
                                 evd_names_role.names[role]);
    ck_assert_str_eq(EVD_CTL_ROLES, roles);
}
END_TEST

static bool is_served(const struct evd_ctl_path_row *row) {
    size_t count = 0;
    const struct evd_command *const *commands = evd_command_table(&count);
    for (size_t i = 0; i < count; i++) {
        const char *method = commands[i]->method == EVD_COMMAND_POST ? "POST" : "GET";
        if (strcmp(commands[i]->path, row->path) == 0 && strcmp(method, row->method) == 0) return true;
    }
    return false;
}

START_TEST(every_path_is_one_the_service_serves) {
    for (enum evd_ctl_path path = 0; path < EVD_CTL_PATH_COUNT; path++)
        ck_assert_msg(path == EVD_CTL_PATH_BACKUP || /* the operator's page, no command */
                          is_served(&evd_ctl_paths[path]),
                      "%s %s", evd_ctl_paths[path].method, evd_ctl_paths[path].path);
}
END_TEST

/* Documents. */

static const char *made_by(void (*make)(struct evd_buffer *to), struct evd_arena *arena) {
    struct evd_buffer text;
    evd_arena_init(arena, 4 * EVD_MIB);
    evd_buffer_init(&text, arena, 0);
    make(&text);
    evd_buffer_add_byte(&text, '\0');
    return evd_buffer_text(&text).bytes;
}

/* As roff writes it. */
static const char *escaped(const char *text) {
    static char to[256];
    size_t held = 0;
    for (; *text != '\0' && held + 3 < sizeof to; text++) {
        if (*text == '-') to[held++] = '\\';
        to[held++] = *text;
    }
    to[held] = '\0';
    return to;
}

START_TEST(the_manual_and_the_completion_know_every_verb_and_every_option) {
    struct evd_arena manual_arena, completion_arena;
    const char *manual = made_by(evd_ctl_manual, &manual_arena);
    const char *completion = made_by(evd_ctl_completion, &completion_arena);
    for (size_t i = 0; i < evd_ctl_table_count; i++) {
        char bold[100], quoted[100];
        if (verb_at(i) == NULL) continue;
        (void)snprintf(bold, sizeof bold, "\\fB%s\\fR", verb_at(i)->name);
        (void)snprintf(quoted, sizeof quoted, "'%s') options=", verb_at(i)->name);
        ck_assert_msg(strstr(manual, bold) != NULL && strstr(completion, quoted) != NULL, "%s", verb_at(i)->name);
    }
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++) {
        char name[100];
        (void)snprintf(name, sizeof name, "--%s", evd_ctl_options[option].name);
        ck_assert_msg(strstr(manual, escaped(name)) != NULL && strstr(completion, name) != NULL, "%s", name);
    }
    for (size_t i = 0; i < evd_ctl_exit_count; i++)
        ck_assert_ptr_nonnull(strstr(manual, escaped(evd_ctl_exits[i].meaning)));
    evd_arena_done(&manual_arena);
    evd_arena_done(&completion_arena);
}
END_TEST

/* Feeds the text to a command; its exit status, -1 when there is no such command. */
static int feed(const char *command, const char *text) {
    FILE *pipe = popen(command, "we");
    ck_assert_ptr_nonnull(pipe);
    (void)fputs(text, pipe);
    int status = pclose(pipe);
    return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

START_TEST(the_manual_is_sound_for_whoever_formats_it) {
    struct evd_arena arena;
    const char *manual = made_by(evd_ctl_manual, &arena);
    int status = feed("test -z \"$(groff -man -Tutf8 -ww -z 2>&1)\"", manual);
    if (system("command -v groff >/dev/null") != 0) // NOLINT(bugprone-command-processor): a fixed text
        (void)printf("skipped: groff is not installed\n");
    else
        ck_assert_int_eq(status, 0);
    evd_arena_done(&arena);
}
END_TEST

static const struct {
    const char *words; /* the last is being typed; `_`: nothing of it yet */
    const char *offered;
} completions[] = {
    {"evidencectl _", "key token project member form stage import export session history draft backup restore verify"},
    {"evidencectl fo", "form"},
    {"evidencectl form _", "create publish list show"},
    {"evidencectl form p", "publish"},
    {"evidencectl form publish --s", "--server --stage"},
    {"evidencectl --project X form publish --st", "--stage"},
    {"evidencectl import x --format _", "csv tsv ris"},
    {"evidencectl import file undo --dr", "--dry-run"},
    {"evidencectl member set abc r", "reviewer reconciler"},
    {"evidencectl member remove abc r", ""},
    {"evidencectl project show --project _", ""},
    {"evidencectl --ver", "--version"},
    {"evidencectl nonsense _", ""},
    {"evidencectl restore /nowhere-at-a", ""},
};

START_TEST(bash_completes_verbs_options_and_words) {
    struct evd_arena arena;
    const char *completion = made_by(evd_ctl_completion, &arena);
    static char script[65536];
    for (size_t i = 0; i < sizeof completions / sizeof *completions; i++) {
        (void)snprintf(script, sizeof script,
                       "%s\nCOMP_WORDS=(%s)\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                       "[ \"${COMP_WORDS[COMP_CWORD]}\" != _ ] || COMP_WORDS[COMP_CWORD]=\n"
                       "_evidencectl\n[ \"${COMPREPLY[*]}\" = '%s' ] || { echo \"${COMPREPLY[*]}\" >&2; exit 1; }\n",
                       completion, completions[i].words, completions[i].offered);
        ck_assert_msg(feed("bash -u", script) == 0, "%s", completions[i].words);
    }
    evd_arena_done(&arena);
}
END_TEST

EVD_TEST_MAIN("ctl: tables", every_verb_is_whole, no_two_verbs_and_no_two_options_of_a_verb_share_a_name,
              every_option_is_whole_and_some_verb_takes_it, only_a_verb_that_changes_something_takes_a_key,
              the_roles_are_those_of_the_records, every_path_is_one_the_service_serves,
              the_manual_and_the_completion_know_every_verb_and_every_option,
              the_manual_is_sound_for_whoever_formats_it, bash_completes_verbs_options_and_words)
