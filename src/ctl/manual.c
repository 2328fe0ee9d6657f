/*
 * evidencectl(1), from the tables.
 */
#include "evidenced/ctl/command_line.h"

#include "verb.h"

#include "evidenced/base/buffer.h"
#include "evidenced/base/roff.h"

static void line(struct evd_buffer *to, const char *text) {
    evd_roff_line(to, evd_text_from(text));
}

static const char *value_of(enum evd_ctl_option option) {
    const char *value = evd_ctl_options[option].value;
    return value == NULL ? "" : value;
}

static void put_option(struct evd_buffer *to, enum evd_ctl_option option) {
    const struct evd_ctl_option_row *row = &evd_ctl_options[option];
    const char *name = row->letter == '\0' ? evd_text_print(to->arena, "--%s", row->name).bytes
                                           : evd_text_print(to->arena, "-%c, --%s", row->letter, row->name).bytes;
    evd_roff_item(to, name, value_of(option));
    line(to, row->meaning);
    if (row->kind == EVD_CTL_KIND_WORD) line(to, evd_text_print(to->arena, "One of: %s.", row->words).bytes);
}

static void put_options(struct evd_buffer *to, uint64_t set) {
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++)
        if ((set >> option & 1) != 0) put_option(to, option);
}

/* What verbs share is told once, behind all of them. */
static const uint64_t shared = EVD_CTL_CHANGING | EVD_CTL_TAKES(PROJECT);

static void put_verb(struct evd_buffer *to, const struct evd_ctl_verb *verb) {
    struct evd_buffer operands;
    evd_buffer_init(&operands, to->arena, 0);
    evd_buffer_add_text(&operands, evd_text_from(verb->operands));
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++)
        if ((verb->needs & ~shared & UINT64_C(1) << option) != 0)
            evd_buffer_print(&operands, "%s--%s %s", operands.size_bytes == 0 ? "" : " ", evd_ctl_options[option].name,
                             value_of(option));
    evd_buffer_add_byte(&operands, '\0');
    evd_roff_item(to, verb->name, evd_buffer_text(&operands).bytes);
    line(to, verb->summary);
    if (verb->details != NULL) line(to, verb->details);
    if ((verb->takes & ~shared) == 0) return;
    evd_buffer_add_text(to, EVD_TEXT(".RS\n"));
    put_options(to, verb->takes & ~shared);
    evd_buffer_add_text(to, EVD_TEXT(".RE\n"));
}

static void put_verbs(struct evd_buffer *to) {
    evd_roff_section(to, "VERBS");
    line(to, "An option may stand anywhere behind the verb or before it. What is done in a project needs --project.");
    for (size_t i = 0; i < evd_ctl_table_count; i++) {
        if (evd_ctl_table[i].family != NULL) evd_roff_part(to, evd_ctl_table[i].family);
        if (evd_ctl_table[i].verb != NULL) put_verb(to, evd_ctl_table[i].verb);
    }
}

static void put_environment(struct evd_buffer *to) {
    evd_roff_section(to, "ENVIRONMENT");
    for (enum evd_ctl_option option = 0; option < EVD_CTL_OPTION_COUNT; option++) {
        if (evd_ctl_options[option].variable == NULL) continue;
        evd_roff_item(to, evd_ctl_options[option].variable, "");
        line(to, evd_text_print(to->arena, "What --%s is when it is not given.", evd_ctl_options[option].name).bytes);
    }
    evd_roff_item(to, "EVIDENCED_DATA", "");
    line(to, "The daemon's data directory, where its control socket is unless EVIDENCED_CONTROL says otherwise.");
}

static void put_exits(struct evd_buffer *to) {
    evd_roff_section(to, "EXIT STATUS");
    for (size_t i = 0; i < evd_ctl_exit_count; i++) {
        evd_roff_item(to, evd_text_print(to->arena, "%d", evd_ctl_exits[i].status).bytes, "");
        line(to, evd_text_print(to->arena, "%s.", evd_ctl_exits[i].meaning).bytes);
    }
}

static void put_examples(struct evd_buffer *to) {
    evd_roff_section(to, "EXAMPLES");
    evd_buffer_add_text(to, EVD_TEXT(".nf\n"));
    for (size_t i = 0; i < evd_ctl_table_count; i++)
        if (evd_ctl_table[i].verb != NULL && evd_ctl_table[i].verb->example != NULL)
            line(to, evd_ctl_table[i].verb->example);
    evd_buffer_add_text(to, EVD_TEXT(".fi\n"));
}

void evd_ctl_manual(struct evd_buffer *to) {
    evd_buffer_print(to, ".TH EVIDENCECTL 1 \"\" \"evidenced %s\" \"User Commands\"\n", EVD_VERSION);
    evd_roff_section(to, "NAME");
    line(to, "evidencectl - the operator's command line of evidenced");
    evd_roff_section(to, "SYNOPSIS");
    evd_buffer_add_text(to, EVD_TEXT(".B evidencectl\n.I VERB\n[\\fIOPERAND\\fR]... [\\fIOPTION\\fR]...\n"));
    evd_roff_section(to, "DESCRIPTION");
    line(to, "It asks the daemon over its control socket, as the operator, or a server with --server and a token, as "
             "whoever the token names. What was asked for goes to standard output: the id of what was made, a table, "
             "or with --json the service's answer as it came. Everything else goes to standard error, and a progress "
             "bar only when that is a terminal.");
    evd_buffer_add_text(to, EVD_TEXT(".PP\n"));
    line(to, "Whatever changes something carries an Idempotency-Key, new for each run. While the service is busy or "
             "cannot be reached, the same request is sent again under the same key, for --wait seconds; what took "
             "effect already is then answered and not done again. A run that gave up tells its key, for a later "
             "repetition with --key.");
    put_verbs(to);
    evd_roff_section(to, "COMMON OPTIONS");
    put_options(to, shared | EVD_CTL_TAKES(HELP) | EVD_CTL_TAKES(VERSION));
    put_environment(to);
    put_exits(to);
    put_examples(to);
    evd_roff_section(to, "SEE ALSO");
    evd_buffer_add_text(to, EVD_TEXT(".BR evidenced (1)\n"));
}
