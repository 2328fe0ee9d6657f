/*
 * manual PAGE: what is installed beside the programs, made from their tables, on standard output. PAGE is evidenced.1,
 * evidencectl.1 or evidencectl.bash.
 */
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/config.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/roff.h"
#include "evidenced/ctl/command_line.h"

static void line(struct evd_buffer *to, const char *text) {
    evd_roff_line(to, evd_text_from(text));
}

static void item(struct evd_buffer *to, const char *name, const char *text) {
    evd_roff_item(to, name, "");
    line(to, text);
}

static void daemon_manual(struct evd_buffer *to) {
    evd_buffer_print(to, ".TH EVIDENCED 1 \"\" \"evidenced %s\" \"User Commands\"\n", EVD_VERSION);
    evd_roff_section(to, "NAME");
    line(to, "evidenced - the command service behind collaborative systematic reviews");
    evd_roff_section(to, "SYNOPSIS");
    evd_buffer_add_text(to, EVD_TEXT(".B evidenced\n[\\fB\\-\\-\\fINAME VALUE\\fR]...\n"));
    evd_roff_section(to, "DESCRIPTION");
    line(to, "Serves the commands and reads of a systematic-review platform over HTTP, in the foreground, logging one "
             "JSON line an event to standard error.");
    evd_buffer_add_text(to, EVD_TEXT(".PP\n"));
    line(to, "An option is taken from the first of these that sets it: a flag, --workers 8 or --workers=8; a variable, "
             "EVIDENCED_WORKERS=8; a line workers = 8 in the file of --config, where # begins a comment line; its "
             "default.");
    evd_config_manual(to);
    evd_roff_section(to, "SIGNALS");
    item(to, "SIGTERM, SIGINT", "Stop serving, answer what is in flight, exit.");
    item(to, "SIGHUP", "Reload the options that say so, and the keys of --token-jwks.");
    evd_roff_section(to, "EXIT STATUS");
    item(to, "0", "It was asked to stop, or did what it was asked instead of serving.");
    item(to, "1", "It failed, and why is on standard error.");
    item(to, "2", "The configuration is wrong.");
    evd_roff_section(to, "SEE ALSO");
    evd_buffer_add_text(to, EVD_TEXT(".BR evidencectl (1)\n"));
}

static const struct {
    const char *name;
    void (*make)(struct evd_buffer *to);
} pages[] = {
    {"evidenced.1", daemon_manual}, {"evidencectl.1", evd_ctl_manual}, {"evidencectl.bash", evd_ctl_completion}};

int main(int argc, char *argv[]) {
    struct evd_arena arena;
    struct evd_buffer text;
    bool written = false;
    evd_arena_init(&arena, 16 * EVD_MIB);
    evd_buffer_init(&text, &arena, 0);
    for (size_t i = 0; argc == 2 && i < sizeof pages / sizeof *pages; i++) {
        if (strcmp(argv[1], pages[i].name) != 0) continue;
        pages[i].make(&text);
        written = fwrite(text.bytes, 1, text.size_bytes, stdout) == text.size_bytes && fflush(stdout) == 0;
    }
    evd_arena_done(&arena);
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}
