/*
 * Bash completion, from the tables: a function whose words are all written out, so that it starts nothing.
 */
#include "evidenced/ctl/command_line.h"

#include "verb.h"

#include "evidenced/base/buffer.h"

static bool takes_files(const struct evd_ctl_option_row *row) {
    return row->kind == EVD_CTL_KIND_FILE;
}

static bool takes_directories(const struct evd_ctl_option_row *row) {
    return row->kind == EVD_CTL_KIND_DIRECTORY;
}

static bool takes_free_text(const struct evd_ctl_option_row *row) {
    return row->kind == EVD_CTL_KIND_TEXT || row->kind == EVD_CTL_KIND_ID || row->kind == EVD_CTL_KIND_NUMBER ||
           row->kind == EVD_CTL_KIND_LIST;
}

static bool takes_value(const struct evd_ctl_option_row *row) {
    return row->value != NULL;
}

/* Two options may share a name, and stand next to each other then. */
static bool is_named_before(enum evd_ctl_option option, bool (*holds)(const struct evd_ctl_option_row *row)) {
    const struct evd_ctl_option_row *row = &evd_ctl_options[option];
    return option > 0 && strcmp(row->name, row[-1].name) == 0 && holds(&row[-1]);
}

/* `--a|--b|-c`: the options of which this holds, each name once. */
static void add_names(struct evd_buffer *to, bool (*holds)(const struct evd_ctl_option_row *row)) {
    bool any = false;
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++) {
        const struct evd_ctl_option_row *row = &evd_ctl_options[option];
        if (!holds(row) || is_named_before(option, holds)) continue;
        evd_buffer_print(to, "%s--%s", any ? "|" : "", row->name);
        if (row->letter != '\0') evd_buffer_print(to, "|-%c", row->letter);
        any = true;
    }
}

/* What completes the value of the option before the cursor. --key is a file for some verbs, and then files serve. */
static void add_values(struct evd_buffer *to) {
    evd_buffer_add_text(to, EVD_TEXT("    case $before in\n    "));
    add_names(to, takes_files);
    evd_buffer_add_text(to, EVD_TEXT(") _evidencectl_paths -f; return ;;\n    "));
    add_names(to, takes_directories);
    evd_buffer_add_text(to, EVD_TEXT(") _evidencectl_paths -d; return ;;\n"));
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++) {
        const struct evd_ctl_option_row *row = &evd_ctl_options[option];
        if (row->kind == EVD_CTL_KIND_WORD)
            evd_buffer_print(to, "    --%s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", row->name,
                             row->words);
    }
    evd_buffer_add_text(to, EVD_TEXT("    "));
    add_names(to, takes_free_text);
    evd_buffer_add_text(to, EVD_TEXT(") return ;;\n    esac\n"));
}

static void add_options(struct evd_buffer *to, const struct evd_ctl_verb *verb) {
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++)
        if (evd_ctl_verb_takes(verb, option)) evd_buffer_print(to, "--%s ", evd_ctl_options[option].name);
}

static const char *operand_of(const struct evd_ctl_verb *verb) {
    if (verb->most == 0) return "";
    switch (verb->operand) {
    case EVD_CTL_OPERAND_TEXT:
    case EVD_CTL_OPERAND_ID: return "";
    case EVD_CTL_OPERAND_FILE: return "-f";
    case EVD_CTL_OPERAND_DIRECTORY: return "-d";
    case EVD_CTL_OPERAND_MEMBER: return verb->most > 1 ? EVD_CTL_ROLES : "";
    }
    return "";
}

static void add_verbs(struct evd_buffer *to) {
    for (size_t i = 0; i < evd_ctl_table_count; i++) {
        const struct evd_ctl_verb *verb = evd_ctl_table[i].verb;
        if (verb == NULL) continue;
        evd_buffer_print(to, "    '%s') options='", verb->name);
        add_options(to, verb);
        evd_buffer_print(to, "' operand='%s' ;;\n", operand_of(verb));
    }
}

/* The words behind a first word, or the first words themselves when `first` is NULL; each once. */
static void add_words(struct evd_buffer *to, const char *first) {
    const char *before = "";
    for (size_t i = 0; i < evd_ctl_table_count; i++) {
        const struct evd_ctl_verb *verb = evd_ctl_table[i].verb;
        if (verb == NULL) continue;
        const char *space = strchr(verb->name, ' ');
        size_t size = space == NULL ? strlen(verb->name) : (size_t)(space - verb->name);
        if (first == NULL && !evd_ctl_verb_begins_with(verb, before))
            evd_buffer_print(to, "%.*s ", (int)size, verb->name);
        else if (first != NULL && space != NULL && evd_ctl_verb_begins_with(verb, first))
            evd_buffer_print(to, "%s ", space + 1);
        before = evd_text_print(to->arena, "%.*s", (int)size, verb->name).bytes;
    }
}

static void add_families(struct evd_buffer *to) {
    struct evd_buffer words;
    evd_buffer_init(&words, to->arena, 0);
    add_words(&words, NULL);
    for (size_t at = 0; at < words.size_bytes;) {
        const char *word = (const char *)words.bytes + at;
        size_t size = strcspn(word, " ");
        const char *first = evd_text_print(to->arena, "%.*s", (int)size, word).bytes;
        evd_buffer_print(to, "    '%s') more='", first);
        add_words(to, first);
        evd_buffer_add_text(to, EVD_TEXT("' ;;\n"));
        at += size + 1;
    }
}

static const char head[] = "# shellcheck shell=bash disable=SC2207,SC2221,SC2222\n"
                           "# bash completion for evidencectl, made from its table of verbs\n"
                           "_evidencectl_paths() {\n"
                           "    compopt -o filenames 2>/dev/null\n"
                           "    mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$word\")\n"
                           "}\n"
                           "\n"
                           "_evidencectl() {\n"
                           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                           "    local verb='' options='' operand='' more='' at words=()\n"
                           "    COMPREPLY=()\n";

/* The words before the cursor that are neither options nor their values: the first two may be the verb. */
static const char find_first[] = "    for ((at = 1; at < COMP_CWORD; at++)); do\n"
                                 "        case ${COMP_WORDS[at]} in\n"
                                 "        ";
static const char find_rest[] = ") ((at++)) ;;\n"
                                "        -*) ;;\n"
                                "        *) words+=(\"${COMP_WORDS[at]}\") ;;\n"
                                "        esac\n"
                                "    done\n"
                                "    verb=${words[0]-}\n"
                                "    _evidencectl_more \"$verb\"\n"
                                "    case \" $more \" in\n"
                                "    *\" ${words[1]- } \"*) verb+=\" ${words[1]}\" more='' ;;\n"
                                "    esac\n"
                                "    ((${#words[@]} < 2)) || more=''\n";

static const char tail[] =
    "    case $word in\n"
    "    -*) COMPREPLY=($(compgen -W \"${options:---help --version}\" -- \"$word\")); return ;;\n"
    "    esac\n"
    "    case $operand in\n"
    "    -f | -d) _evidencectl_paths \"$operand\" ;;\n"
    "    ?*) more=$operand ;;\n"
    "    esac\n"
    "    COMPREPLY+=($(compgen -W \"$more\" -- \"$word\"))\n"
    "}\n"
    "\n"
    "complete -F _evidencectl evidencectl\n";

void evd_ctl_completion(struct evd_buffer *to) {
    evd_buffer_add_text(to, evd_text_from(head));
    add_values(to);
    evd_buffer_add_text(to, evd_text_from(find_first));
    add_names(to, takes_value);
    evd_buffer_add_text(to, evd_text_from(find_rest));
    evd_buffer_add_text(to, EVD_TEXT("    case $verb in\n"));
    add_verbs(to);
    evd_buffer_add_text(to, EVD_TEXT("    esac\n"));
    evd_buffer_add_text(to, evd_text_from(tail));
    evd_buffer_add_text(to, EVD_TEXT("\n# The words that may follow a first word; those that may come first.\n"
                                     "_evidencectl_more() {\n    case $1 in\n    '') more='"));
    add_words(to, NULL);
    evd_buffer_add_text(to, EVD_TEXT("' ;;\n"));
    add_families(to);
    evd_buffer_add_text(to, EVD_TEXT("    esac\n}\n"));
}
