/*
 * Verifying: the answer is a stream of lines, findings and at last a summary. Told as it comes, never kept.
 */
#include "ask.h"
#include "progress.h"
#include "say.h"

enum { VERIFY_SILENCE_SECONDS = 600 };

#define LINE_BYTES ((size_t)1024 * 1024)

struct findings {
    struct evd_ctl *ctl;
    struct evd_ctl_progress *progress;
    char *line; /* so far; LINE_BYTES */
    size_t line_bytes;
    json_t *last; /* the newest whole line: the summary, if nothing comes behind it */
    json_int_t count;
    bool is_odd; /* some line was no JSON object, or too long */
};

static void tell_finding(struct findings *findings, const json_t *finding) {
    static const struct {
        const char *before, *member;
    } parts[] = {{"", "check"}, {"", "record"}, {"", "id"}, {"expected ", "expected"}, {"found ", "found"}};
    evd_ctl_progress_clear(findings->progress);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct evd_text cell = evd_ctl_cell(findings->ctl, finding, parts[i].member);
        if (cell.size_bytes == 0) continue;
        (void)printf("%s%s", i == 0 ? "" : "  ", parts[i].before);
        evd_ctl_put(stdout, cell, false);
    }
    (void)fputc('\n', stdout);
}

/* A line is a finding as soon as another comes behind it. */
static void settle_last(struct findings *findings) {
    if (findings->last == NULL) return;
    findings->count++;
    if (!evd_ctl_has(findings->ctl, EVD_CTL_OPTION_JSON)) tell_finding(findings, findings->last);
    json_decref(findings->last);
    findings->last = NULL;
}

static void take_line(struct findings *findings) {
    size_t size = findings->line_bytes;
    findings->line_bytes = 0;
    if (size == 0) return;
    settle_last(findings);
    findings->last = json_loadb(findings->line, size, JSON_REJECT_DUPLICATES, NULL);
    findings->is_odd = findings->is_odd || !json_is_object(findings->last);
    if (!evd_ctl_has(findings->ctl, EVD_CTL_OPTION_JSON)) return;
    (void)fwrite(findings->line, 1, size, stdout);
    (void)fputc('\n', stdout);
}

static bool take(void *self, const char *bytes, size_t size_bytes) {
    struct findings *findings = self;
    for (size_t i = 0; i < size_bytes && !findings->is_odd; i++) {
        if (bytes[i] == '\n')
            take_line(findings);
        else if (findings->line_bytes == LINE_BYTES)
            findings->is_odd = true;
        else
            findings->line[findings->line_bytes++] = bytes[i];
    }
    return !findings->is_odd;
}

static enum evd_ctl_exit conclude(struct evd_ctl *ctl, struct findings *findings) {
    const json_t *summary = json_object_get(findings->last, "summary"), *told = json_object_get(summary, "findings");
    if (findings->is_odd || !json_is_integer(told))
        return EVD_CTL_FAIL(ctl, "The verification broke off: it did not end with its summary. Run it again.");
    json_int_t count = json_integer_value(told);
    if (!evd_ctl_has(ctl, EVD_CTL_OPTION_JSON)) {
        if (findings->count > 0) (void)fputc('\n', stdout);
        evd_ctl_show_object(ctl, summary, NULL);
    }
    if (count == 0 && findings->count == 0) return EVD_CTL_DONE;
    evd_ctl_complain(ctl, "Something is wrong with the stored records; nothing was changed.");
    evd_ctl_add(ctl, "Keep the data directory as it is for analysis, and restore a backup that verifies.");
    return EVD_CTL_FOUND;
}

static enum evd_ctl_exit verify(struct evd_ctl *ctl) {
    struct evd_ctl_progress progress;
    struct findings findings = {.ctl = ctl, .progress = &progress, .line = evd_arena_alloc(&ctl->arena, LINE_BYTES)};
    const struct evd_ctl_sink sink = {.take = take, .self = &findings};
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_VERIFY, NULL, NULL);
    struct evd_ctl_answer answer;
    evd_ctl_progress_init(&progress, "Verifying", true);
    call.sink = &sink;
    call.progress = &progress;
    call.silence_s = VERIFY_SILENCE_SECONDS;
    enum evd_ctl_exit status = evd_ctl_ask(ctl, &call, &answer);
    if (status == EVD_CTL_DONE) {
        evd_ctl_answer_done(&answer);
        take_line(&findings);
        status = conclude(ctl, &findings);
    } else if (findings.is_odd) {
        status = conclude(ctl, &findings);
    }
    json_decref(findings.last);
    return status;
}

const struct evd_ctl_verb evd_ctl_verb_verify = {
    .name = "verify",
    .operands = "",
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Have the daemon check a project's records against each other, without changing anything.",
    .details = "Prints every finding on a line, then what was looked at. Exits 6 when there is a finding.",
    .run = verify,
};
