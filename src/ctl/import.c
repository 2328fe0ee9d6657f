/*
 * Importing references. The service makes the operation's id from the key, so a repeated import is the same one.
 */
#include "body.h"
#include "file.h"
#include "operation.h"

#include "evidenced/base/buffer.h"

#include <unistd.h>

static const struct {
    const char *word, *type, *endings[3];
} formats[] = {{"csv", "text/csv", {".csv"}},
               {"tsv", "text/tab-separated-values", {".tsv", ".tab"}},
               {"ris", "application/x-research-info-systems", {".ris"}}};

static bool ends_with(const char *name, const char *ending) {
    size_t name_bytes = strlen(name), ending_bytes = ending == NULL ? 0 : strlen(ending);
    return ending_bytes > 0 && name_bytes > ending_bytes && strcasecmp(name + name_bytes - ending_bytes, ending) == 0;
}

/* NULL: neither --format nor the name says. */
static const char *type_of(const struct evd_ctl *ctl) {
    const char *word = evd_ctl_value(ctl, EVD_CTL_OPTION_FORMAT), *name = ctl->operands[0];
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        bool by_word = word != NULL && strcmp(word, formats[i].word) == 0;
        bool by_name =
            word == NULL && (ends_with(name, formats[i].endings[0]) || ends_with(name, formats[i].endings[1]));
        if (by_word || by_name) return formats[i].type;
    }
    return NULL;
}

static const char *import_path(struct evd_ctl *ctl) {
    struct evd_buffer path;
    const char *delimiter = evd_ctl_value(ctl, EVD_CTL_OPTION_DELIMITER), *label;
    evd_buffer_init(&path, &ctl->arena, 0);
    evd_buffer_add_text(&path, evd_text_from(evd_ctl_path(ctl, EVD_CTL_PATH_IMPORT, NULL)));
    if (evd_ctl_has(ctl, EVD_CTL_OPTION_DRY_RUN)) evd_ctl_query(&path, "dryRun", EVD_TEXT("true"));
    if (evd_ctl_has(ctl, EVD_CTL_OPTION_SKIP_REFUSED)) evd_ctl_query(&path, "skipRefused", EVD_TEXT("true"));
    if (delimiter != NULL) evd_ctl_query(&path, "delimiter", evd_text_from(delimiter));
    for (size_t i = 0; (label = evd_ctl_value_at(ctl, EVD_CTL_OPTION_LABEL, i)) != NULL; i++)
        evd_ctl_query(&path, "label", evd_text_from(label));
    evd_buffer_add_byte(&path, '\0');
    return evd_buffer_text(&path).bytes;
}

static enum evd_ctl_exit run_and_tell(struct evd_ctl *ctl, const struct evd_ctl_call *call, const char *doing) {
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_operation_run(ctl, call, doing, &answer);
    return status == EVD_CTL_DONE ? evd_ctl_operation_tell(ctl, &answer, false) : status;
}

static enum evd_ctl_exit import(struct evd_ctl *ctl) {
    const char *type = type_of(ctl);
    if (type == NULL)
        return evd_ctl_misuse(ctl, "What FILE holds cannot be told from its name: say --format csv, tsv or ris.");
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_IMPORT, NULL, NULL);
    call.path = import_path(ctl);
    call.content_type = type;
    call.is_file = true;
    enum evd_ctl_exit status = evd_ctl_file_open(ctl, ctl->operands[0], &call.file, &call.file_bytes);
    if (status != EVD_CTL_DONE) return status;
    bool is_dry = evd_ctl_has(ctl, EVD_CTL_OPTION_DRY_RUN);
    status = run_and_tell(ctl, &call, is_dry ? "Checking" : "Importing");
    (void)close(call.file);
    if (status == EVD_CTL_REFUSED && !evd_ctl_has(ctl, EVD_CTL_OPTION_SKIP_REFUSED))
        evd_ctl_add(ctl, "Correct the file; or leave refused rows out with --skip-refused.");
    return status;
}

const struct evd_ctl_verb evd_ctl_verb_import = {
    .name = "import",
    .operands = "FILE",
    .operand = EVD_CTL_OPERAND_FILE,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_CHANGING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(FORMAT) | EVD_CTL_TAKES(DELIMITER) |
             EVD_CTL_TAKES(LABEL) | EVD_CTL_TAKES(DRY_RUN) | EVD_CTL_TAKES(SKIP_REFUSED),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Import references from a CSV, TSV or RIS file.",
    .details = "Prints the operation's id, how many references were added, matched a study that is there already, or "
               "were refused, and the first of those rows. All or nothing, but for --skip-refused. FILE - is standard "
               "input. A file that is called list, show or undo is ./list, ./show or ./undo.",
    .example = "evidencectl import references.csv --dry-run",
    .run = import,
};

static enum evd_ctl_exit list(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {
        {"OPERATION", "id"},          {"KIND", "kind"},        {"STATUS", "status"},      {"DRY", "dryRun"},
        {"REQUESTED", "requestedAt"}, {"ROWS", "counts.rows"}, {"ADDED", "counts.added"}, {"REMOVED", "counts.removed"},
        {"UNDONE BY", "undoneBy"}};
    return evd_ctl_list(ctl, EVD_CTL_PATH_LIST_OPERATIONS, NULL, columns, sizeof columns / sizeof *columns);
}

const struct evd_ctl_verb evd_ctl_verb_import_list = {
    .name = "import list",
    .operands = "",
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "List a project's imports and their undoing, the newest first.",
    .run = list,
};

static enum evd_ctl_exit show(struct evd_ctl *ctl) {
    const char *id = evd_ctl_canonical_id(ctl, ctl->operands[0]);
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_GET_OPERATION, id, NULL);
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_ask(ctl, &call, &answer);
    return status == EVD_CTL_DONE ? evd_ctl_operation_tell(ctl, &answer, true) : status;
}

const struct evd_ctl_verb evd_ctl_verb_import_show = {
    .name = "import show",
    .operands = "OPERATION",
    .operand = EVD_CTL_OPERAND_ID,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Show how far an import is or what came of it, with every row that was not added.",
    .run = show,
};

static enum evd_ctl_exit undo(struct evd_ctl *ctl) {
    const char *id = evd_ctl_canonical_id(ctl, ctl->operands[0]);
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_UNDO_IMPORT, id, NULL);
    return run_and_tell(ctl, &call, "Removing");
}

const struct evd_ctl_verb evd_ctl_verb_import_undo = {
    .name = "import undo",
    .operands = "OPERATION",
    .operand = EVD_CTL_OPERAND_ID,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_CHANGING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Remove the studies an import added, but for those somebody has worked on since.",
    .details = "Studies that stay are listed. OPERATION is the id the import printed.",
    .run = undo,
};
