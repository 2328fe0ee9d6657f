#include "verb.h"

const struct evd_ctl_option_row evd_ctl_options[EVD_CTL_OPTION_COUNT] = {
#define EVD_CTL_OPTION(id, name_, letter_, value_, kind_, least_, most_, words_, variable_, meaning_)                  \
    {.name = (name_),                                                                                                  \
     .value = (value_),                                                                                                \
     .words = (words_),                                                                                                \
     .variable = (variable_),                                                                                          \
     .meaning = (meaning_),                                                                                            \
     .letter = (letter_),                                                                                              \
     .kind = EVD_CTL_KIND_##kind_,                                                                                     \
     .least = (least_),                                                                                                \
     .most = (most_)},
#include "options.def"
};

const struct evd_ctl_row evd_ctl_table[] = {
#define EVD_CTL_FAMILY(title)  {.family = (title)},
#define EVD_CTL_VERB(constant) {.verb = &evd_ctl_verb_##constant},
#include "table.def"
};

const size_t evd_ctl_table_count = sizeof evd_ctl_table / sizeof *evd_ctl_table;

const struct evd_ctl_exit_row evd_ctl_exits[] = {
#define EVD_CTL_EXIT(id, status, meaning) {(status), (meaning)},
#include "exits.def"
};

const size_t evd_ctl_exit_count = sizeof evd_ctl_exits / sizeof *evd_ctl_exits;

const struct evd_ctl_path_row evd_ctl_paths[EVD_CTL_PATH_COUNT] = {
#define EVD_CTL_PATH(id, method, path) {(method), (path)},
#include "paths.def"
};

bool evd_ctl_verb_takes(const struct evd_ctl_verb *verb, enum evd_ctl_option option) {
    return option == EVD_CTL_OPTION_HELP || (verb->takes >> option & 1) != 0;
}

bool evd_ctl_verb_begins_with(const struct evd_ctl_verb *verb, const char *word) {
    size_t size = strlen(word);
    return strncmp(verb->name, word, size) == 0 && (verb->name[size] == ' ' || verb->name[size] == '\0');
}
