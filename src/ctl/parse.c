/*
 * The command line, taken apart. An option may stand anywhere behind the program's name, also before the verb; so its
 * name alone must tell whether a value follows, and which of two options of one name is meant is known in the end.
 */
#include "context.h"
#include "say.h"

#include "evidenced/base/buffer.h"

enum { VERB_WORDS = 2 };

static const struct evd_ctl_option_row *row_of(enum evd_ctl_option option) {
    return &evd_ctl_options[option];
}

/* The first option of that name; EVD_CTL_OPTION_COUNT when there is none. */
static enum evd_ctl_option option_named(struct evd_text name) {
    enum evd_ctl_option option = 0;
    while (option < EVD_CTL_OPTION_COUNT && !evd_text_equal(evd_text_from(row_of(option)->name), name))
        option++;
    return option;
}

static enum evd_ctl_option option_lettered(char letter) {
    enum evd_ctl_option option = 0;
    while (option < EVD_CTL_OPTION_COUNT && (letter == '\0' || row_of(option)->letter != letter))
        option++;
    return option;
}

/* Arguments. */

struct arguments {
    int count, at;
    char *const *texts;
};

static enum evd_ctl_exit give(struct evd_ctl *ctl, enum evd_ctl_option option, const char *value) {
    if (ctl->given_count == EVD_CTL_GIVEN) return evd_ctl_misuse(ctl, "There are too many options.");
    ctl->given[ctl->given_count++] = (struct evd_ctl_given){option, value};
    return EVD_CTL_DONE;
}

/* --name, --name=value, --name value, -o value. */
static enum evd_ctl_exit take_option(struct evd_ctl *ctl, struct arguments *arguments) {
    const char *argument = arguments->texts[arguments->at++];
    bool is_long = argument[1] == '-';
    const char *name = argument + (is_long ? 2 : 1), *equals = is_long ? strchr(name, '=') : NULL;
    size_t size_bytes = equals == NULL ? strlen(name) : (size_t)(equals - name);
    struct evd_text shown = {argument, is_long ? size_bytes + 2 : 2}; /* never a value: it might be a secret */
    enum evd_ctl_option option = is_long           ? option_named((struct evd_text){name, size_bytes})
                                 : name[1] == '\0' ? option_lettered(name[0])
                                                   : EVD_CTL_OPTION_COUNT;
    if (option == EVD_CTL_OPTION_COUNT)
        return evd_ctl_misuse(ctl, "There is no option " EVD_TEXT_FMT ".", EVD_TEXT_ARG(shown));
    if (row_of(option)->value == NULL)
        return equals == NULL ? give(ctl, option, "")
                              : evd_ctl_misuse(ctl, EVD_TEXT_FMT " takes no value.", EVD_TEXT_ARG(shown));
    if (equals != NULL) return give(ctl, option, equals + 1);
    if (arguments->at == arguments->count)
        return evd_ctl_misuse(ctl, EVD_TEXT_FMT " needs a value: %s.", EVD_TEXT_ARG(shown), row_of(option)->value);
    return give(ctl, option, arguments->texts[arguments->at++]);
}

static enum evd_ctl_exit take_operand(struct evd_ctl *ctl, const char *argument) {
    if (ctl->operand_count == EVD_CTL_OPERANDS) return evd_ctl_misuse(ctl, "There are too many words.");
    ctl->operands[ctl->operand_count++] = argument;
    return EVD_CTL_DONE;
}

static enum evd_ctl_exit take_all(struct evd_ctl *ctl, struct arguments *arguments) {
    enum evd_ctl_exit status = EVD_CTL_DONE;
    bool only_operands = false;
    while (status == EVD_CTL_DONE && arguments->at < arguments->count) {
        const char *argument = arguments->texts[arguments->at];
        bool is_option = !only_operands && argument[0] == '-' && argument[1] != '\0';
        if (is_option && strcmp(argument, "--") == 0) {
            only_operands = true;
            arguments->at++;
        } else if (is_option) {
            status = take_option(ctl, arguments);
        } else {
            status = take_operand(ctl, arguments->texts[arguments->at++]);
        }
    }
    return status;
}

/* The verb: the first words, two before one. */

static size_t words_of(const struct evd_ctl_verb *verb) {
    return strchr(verb->name, ' ') == NULL ? 1 : VERB_WORDS;
}

static bool begins_with(const struct evd_ctl *ctl, const struct evd_ctl_verb *verb) {
    const char *space = strchr(verb->name, ' ');
    if (ctl->operand_count < words_of(verb)) return false;
    if (space == NULL) return strcmp(ctl->operands[0], verb->name) == 0;
    struct evd_text first = {verb->name, (size_t)(space - verb->name)};
    return evd_text_equal(evd_text_from(ctl->operands[0]), first) && strcmp(ctl->operands[1], space + 1) == 0;
}

static void find_verb(struct evd_ctl *ctl) {
    size_t words = 0;
    for (size_t i = 0; i < evd_ctl_table_count; i++) {
        const struct evd_ctl_verb *verb = evd_ctl_table[i].verb;
        if (verb == NULL || !begins_with(ctl, verb) || words_of(verb) <= words) continue;
        ctl->verb = verb;
        words = words_of(verb);
    }
    ctl->operand_count -= words;
    memmove(ctl->operands, ctl->operands + words, ctl->operand_count * sizeof *ctl->operands);
}

/* A name two options share means the one the verb takes. */
static enum evd_ctl_exit settle_options(struct evd_ctl *ctl) {
    for (size_t i = 0; i < ctl->given_count; i++) {
        struct evd_ctl_given *given = &ctl->given[i];
        const char *name = row_of(given->option)->name;
        enum evd_ctl_option option = 0;
        while (option < EVD_CTL_OPTION_COUNT &&
               (!evd_ctl_verb_takes(ctl->verb, option) || strcmp(row_of(option)->name, name) != 0))
            option++;
        if (option == EVD_CTL_OPTION_COUNT)
            return evd_ctl_misuse(ctl, "`%s` does not take --%s.", ctl->verb->name, name);
        given->option = option;
    }
    return EVD_CTL_DONE;
}

/* Values. */

static bool is_word_of(const char *words, struct evd_text value) {
    for (const char *at = words; *at != '\0';) {
        size_t size_bytes = strcspn(at, " ");
        if (evd_text_equal((struct evd_text){at, size_bytes}, value)) return true;
        at += size_bytes + (at[size_bytes] == ' ');
    }
    return false;
}

static enum evd_ctl_exit check_value(struct evd_ctl *ctl, enum evd_ctl_option option, const char *value) {
    const struct evd_ctl_option_row *row = row_of(option);
    struct evd_text text = evd_text_from(value);
    uint64_t number;
    evd_uuid id;
    bool may_be_empty = row->kind == EVD_CTL_KIND_SWITCH || (row->kind == EVD_CTL_KIND_TEXT && row->least == 0);
    if (text.size_bytes == 0 && !may_be_empty) return evd_ctl_misuse(ctl, "--%s must not be empty.", row->name);
    switch (row->kind) {
    case EVD_CTL_KIND_SWITCH:
    case EVD_CTL_KIND_TEXT:
    case EVD_CTL_KIND_FILE:
    case EVD_CTL_KIND_DIRECTORY:
    case EVD_CTL_KIND_LIST: return EVD_CTL_DONE;
    case EVD_CTL_KIND_ID:
        if (evd_uuid_parse(text, &id)) return EVD_CTL_DONE;
        return evd_ctl_misuse(ctl, "--%s is a UUID, such as 018f4e3a-7c1b-4d2e-9a6f-0123456789ab.", row->name);
    case EVD_CTL_KIND_WORD:
        if (is_word_of(row->words, text)) return EVD_CTL_DONE;
        return evd_ctl_misuse(ctl, "--%s is one of: %s.", row->name, row->words);
    case EVD_CTL_KIND_NUMBER:
        if (evd_text_to_u64(text, &number) && number >= row->least && number <= row->most) return EVD_CTL_DONE;
        return evd_ctl_misuse(ctl, "--%s is a whole number from %llu to %llu.", row->name,
                              (unsigned long long)row->least, (unsigned long long)row->most);
    }
    abort();
}

static enum evd_ctl_exit check_options(struct evd_ctl *ctl) {
    for (size_t i = 0; i < ctl->given_count; i++) {
        enum evd_ctl_exit status = check_value(ctl, ctl->given[i].option, ctl->given[i].value);
        if (status != EVD_CTL_DONE) return status;
    }
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++) {
        const char *variable = row_of(option)->variable;
        if (!evd_ctl_verb_takes(ctl->verb, option)) continue;
        const char *value = evd_ctl_value(ctl, option);
        bool is_needed = (ctl->verb->needs >> option & 1) != 0;
        if (value == NULL && is_needed)
            return evd_ctl_misuse(ctl, "`%s` needs --%s%s%s%s.", ctl->verb->name, row_of(option)->name,
                                  variable == NULL ? "" : " (or the variable ", variable == NULL ? "" : variable,
                                  variable == NULL ? "" : ")");
        if (value == NULL || evd_ctl_has(ctl, option)) continue;
        enum evd_ctl_exit status = check_value(ctl, option, value);
        if (status != EVD_CTL_DONE) return status;
    }
    return EVD_CTL_DONE;
}

static enum evd_ctl_exit check_operands(struct evd_ctl *ctl) {
    const struct evd_ctl_verb *verb = ctl->verb;
    evd_uuid id;
    if (verb->most == 0 && ctl->operand_count > 0)
        return evd_ctl_misuse(ctl, "`%s` takes no words behind it.", verb->name);
    if (ctl->operand_count < verb->least || ctl->operand_count > verb->most)
        return evd_ctl_misuse(ctl, "`%s` takes: %s.", verb->name, verb->operands);
    for (size_t i = 0; i < ctl->operand_count; i++) {
        struct evd_text text = evd_text_from(ctl->operands[i]);
        if (text.size_bytes == 0) return evd_ctl_misuse(ctl, "%s must not be empty.", verb->operands);
        if (verb->operand == EVD_CTL_OPERAND_ID && !evd_uuid_parse(text, &id))
            return evd_ctl_misuse(ctl, "%s is a UUID, such as 018f4e3a-7c1b-4d2e-9a6f-0123456789ab.", verb->operands);
        if (verb->operand == EVD_CTL_OPERAND_MEMBER && i > 0 && !is_word_of(EVD_CTL_ROLES, text))
            return evd_ctl_misuse(ctl, "A role is one of: %s.", EVD_CTL_ROLES);
    }
    return EVD_CTL_DONE;
}

/* All verbs that begin with the word that was said; empty: none does. */
static struct evd_text verbs_beginning_with(struct evd_ctl *ctl, const char *word) {
    struct evd_buffer names;
    evd_buffer_init(&names, &ctl->arena, 0);
    for (size_t i = 0; i < evd_ctl_table_count; i++) {
        const struct evd_ctl_verb *verb = evd_ctl_table[i].verb;
        if (verb == NULL || !evd_ctl_verb_begins_with(verb, word)) continue;
        evd_buffer_print(&names, "%s%s", names.size_bytes == 0 ? "" : ", ", verb->name);
    }
    return evd_buffer_text(&names);
}

static enum evd_ctl_exit miss_verb(struct evd_ctl *ctl) {
    if (ctl->operand_count == 0) return evd_ctl_misuse(ctl, "A verb is needed.");
    struct evd_text names = verbs_beginning_with(ctl, ctl->operands[0]);
    if (names.size_bytes == 0) return evd_ctl_misuse(ctl, "There is no such verb.");
    return evd_ctl_misuse(ctl, "There is no such verb, but: " EVD_TEXT_FMT ".", EVD_TEXT_ARG(names));
}

enum evd_ctl_exit evd_ctl_parse(int argc, char *const argv[], struct evd_ctl *ret_ctl) {
    struct arguments arguments = {.count = argc, .at = 1, .texts = argv};
    enum evd_ctl_exit status = take_all(ret_ctl, &arguments);
    if (status == EVD_CTL_DONE) find_verb(ret_ctl);
    bool asks = evd_ctl_has(ret_ctl, EVD_CTL_OPTION_HELP) || evd_ctl_has(ret_ctl, EVD_CTL_OPTION_VERSION);
    if (status != EVD_CTL_DONE || asks) return status;
    if (ret_ctl->verb == NULL) return miss_verb(ret_ctl);
    status = settle_options(ret_ctl);
    if (status == EVD_CTL_DONE) status = check_options(ret_ctl);
    return status == EVD_CTL_DONE ? check_operands(ret_ctl) : status;
}

/* What was said. */

bool evd_ctl_has(const struct evd_ctl *ctl, enum evd_ctl_option option) {
    return evd_ctl_value_at(ctl, option, 0) != NULL;
}

const char *evd_ctl_value_at(const struct evd_ctl *ctl, enum evd_ctl_option option, size_t at) {
    for (size_t i = 0; i < ctl->given_count; i++)
        if (ctl->given[i].option == option && at-- == 0) return ctl->given[i].value;
    return NULL;
}

const char *evd_ctl_value(const struct evd_ctl *ctl, enum evd_ctl_option option) {
    const char *value = NULL, *variable = row_of(option)->variable;
    for (size_t i = 0; i < ctl->given_count; i++)
        if (ctl->given[i].option == option) value = ctl->given[i].value;
    if (value == NULL && variable != NULL) value = getenv(variable);
    return value != NULL && (value[0] != '\0' || variable == NULL) ? value : NULL;
}

uint64_t evd_ctl_number(const struct evd_ctl *ctl, enum evd_ctl_option option, uint64_t fallback) {
    const char *value = evd_ctl_value(ctl, option);
    uint64_t number = fallback;
    if (value != NULL) (void)evd_text_to_u64(evd_text_from(value), &number);
    return number;
}

const char *evd_ctl_id(struct evd_ctl *ctl, enum evd_ctl_option option) {
    const char *value = evd_ctl_value(ctl, option);
    return value == NULL ? NULL : evd_ctl_canonical_id(ctl, value);
}
