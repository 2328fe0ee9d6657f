/*
 * --help: of everything, of a family of verbs, of one verb.
 */
#include "say.h"

#include "evidenced/base/buffer.h"

enum { LINE_WIDTH = 80, INDENT = 6, NAME_WIDTH = 18 };

/* The service's options are the same for every verb that asks it, and are told once. */
static const uint64_t everywhere = EVD_CTL_ASKING;

static void put_wrapped(struct evd_text text, size_t indent, size_t column) {
    while (text.size_bytes > 0) {
        const char *space = memchr(text.bytes, ' ', text.size_bytes);
        size_t size = space == NULL ? text.size_bytes : (size_t)(space - text.bytes);
        bool breaks = column > indent && column + 1 + size > LINE_WIDTH;
        if (breaks) (void)fputc('\n', stdout);
        if (breaks || column == 0)
            (void)printf("%*s", (int)indent, "");
        else if (column > indent)
            (void)fputc(' ', stdout);
        (void)printf("%.*s", (int)size, text.bytes);
        column = (breaks || column <= indent ? indent : column + 1) + size;
        size += space != NULL;
        text = (struct evd_text){text.bytes + size, text.size_bytes - size};
    }
    (void)fputc('\n', stdout);
}

static void put_paragraph(const char *text, size_t indent) {
    put_wrapped(evd_text_from(text), indent, 0);
}

static void put_option(enum evd_ctl_option option) {
    const struct evd_ctl_option_row *row = &evd_ctl_options[option];
    (void)printf("  ");
    if (row->letter != '\0') (void)printf("-%c, ", row->letter);
    (void)printf("--%s%s%s", row->name, row->value == NULL ? "" : " ", row->value == NULL ? "" : row->value);
    if (row->kind == EVD_CTL_KIND_WORD) (void)printf(" (%s)", row->words);
    (void)fputc('\n', stdout);
    put_paragraph(row->meaning, INDENT);
    if (row->variable != NULL) (void)printf("%*sAlso the variable %s.\n", INDENT, "", row->variable);
}

static void put_options(uint64_t set) {
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++)
        if ((set >> option & 1) != 0) put_option(option);
}

/* `evidencectl form publish [FILE] [OPTION]...`, with what is needed spelt out. */
static void put_synopsis(const struct evd_ctl_verb *verb) {
    (void)printf("evidencectl %s%s%s", verb->name, verb->operands[0] == '\0' ? "" : " ", verb->operands);
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++)
        if ((verb->needs >> option & 1) != 0)
            (void)printf(" --%s %s", evd_ctl_options[option].name, evd_ctl_options[option].value);
    (void)printf("%s\n", (verb->takes & ~verb->needs) == 0 ? "" : " [OPTION]...");
}

static void help_verb(const struct evd_ctl_verb *verb) {
    (void)printf("Usage: ");
    put_synopsis(verb);
    (void)fputc('\n', stdout);
    put_paragraph(verb->summary, 0);
    if (verb->details != NULL) put_paragraph(verb->details, 0);
    if ((verb->takes & ~everywhere) != 0) (void)printf("\nOptions\n");
    put_options(verb->takes & ~everywhere);
    if ((verb->takes & everywhere) != 0) (void)printf("\nWhom to ask, and for how long\n");
    put_options(verb->takes & everywhere);
    if (verb->example != NULL) (void)printf("\nFor example\n  %s\n", verb->example);
}

static void put_verb(const struct evd_ctl_verb *verb) {
    char name[NAME_WIDTH + 1];
    (void)snprintf(name, sizeof name, "%-*s", NAME_WIDTH, verb->name);
    (void)printf("  %s", name);
    put_wrapped(evd_text_from(verb->summary), NAME_WIDTH + 2, NAME_WIDTH + 2);
}

/* All verbs, or those that begin with this word. False: there is none. */
static bool put_verbs(const char *first_word) {
    bool any = false;
    for (size_t i = 0; i < evd_ctl_table_count; i++) {
        const struct evd_ctl_row *row = &evd_ctl_table[i];
        if (row->family != NULL && first_word == NULL) (void)printf("\n%s\n", row->family);
        if (row->verb == NULL || (first_word != NULL && !evd_ctl_verb_begins_with(row->verb, first_word))) continue;
        put_verb(row->verb);
        any = true;
    }
    return any;
}

static void put_exits(void) {
    (void)printf("\nExit status\n");
    for (size_t i = 0; i < evd_ctl_exit_count; i++) {
        (void)printf("  %d  ", evd_ctl_exits[i].status);
        put_wrapped(evd_text_from(evd_ctl_exits[i].meaning), 5, 5);
    }
}

static void help_all(void) {
    (void)printf("Usage: evidencectl VERB [OPERAND]... [OPTION]...\n\n");
    put_paragraph("The operator's command line of evidenced. It asks the daemon over its control socket, as the "
                  "operator, or a server with --server and a token, as whoever the token names.",
                  0);
    (void)put_verbs(NULL);
    (void)printf("\nWhom to ask, and for how long\n");
    put_options(everywhere);
    put_exits();
    (void)printf("\nevidencectl VERB --help tells the options of a verb; evidencectl(1) tells it all.\n");
}

enum evd_ctl_exit evd_ctl_help(struct evd_ctl *ctl) {
    if (ctl->verb != NULL)
        help_verb(ctl->verb);
    else if (ctl->operand_count == 0)
        help_all();
    else if (!put_verbs(ctl->operands[0]))
        return evd_ctl_misuse(ctl, "There is no such verb.");
    return EVD_CTL_DONE;
}
