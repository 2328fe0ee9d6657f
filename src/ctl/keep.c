/*
 * Keeping it safe: backup and restore.
 */
#include "body.h"
#include "target.h"

#include <errno.h>
#include <unistd.h>

enum { BACKUP_SILENCE_SECONDS = 3600, PATH_BYTES = 4096 };

/* The daemon's working directory is another: it is told the whole path. The directory itself need not be there. */
static const char *absolute(struct evd_ctl *ctl, const char *path) {
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    if (path[0] != '/' && here == NULL) return NULL;
    const char *whole =
        evd_text_print(&ctl->arena, "%s%s%s", here == NULL ? "" : here, here == NULL ? "" : "/", path).bytes;
    free(here);
    return whole;
}

static enum evd_ctl_exit backup(struct evd_ctl *ctl) {
    if (!evd_ctl_target_is_control(ctl))
        return evd_ctl_misuse(ctl, "A backup is made over the control socket only, on the daemon's own host.");
    const char *directory = absolute(ctl, ctl->operands[0]);
    if (directory == NULL) return EVD_CTL_FAIL(ctl, "The working directory has no name: %s.", strerrordesc_np(errno));
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_BACKUP, NULL, NULL);
    call.is_once = true; /* what a lost answer left behind would look like somebody else's directory */
    call.silence_s = BACKUP_SILENCE_SECONDS;
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_send(ctl, &call, json_pack("{s:s}", "directory", directory), &answer);
    if (status != EVD_CTL_DONE) return status;
    if (!evd_ctl_print_json(ctl, &answer)) evd_ctl_show_object(ctl, answer.json, NULL);
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

const struct evd_ctl_verb evd_ctl_verb_backup = {
    .name = "backup",
    .operands = "DIRECTORY",
    .operand = EVD_CTL_OPERAND_DIRECTORY,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_CHANGING,
    .summary = "Back the whole store up into a new directory while the daemon serves.",
    .details = "DIRECTORY must not exist. It is written by the daemon, on its host; on the same file system it is made "
               "at once and takes little room.",
    .example = "evidencectl backup /backup/evidenced-$(date +%F)",
    .run = backup,
};

/* evidenced beside this program, else the one in PATH. */
static const char *daemon_path(struct evd_ctl *ctl) {
    char self[PATH_BYTES];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size <= 0) return "evidenced";
    self[size] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL) *slash = '\0';
    const char *beside = evd_text_print(&ctl->arena, "%s/evidenced", self).bytes;
    return access(beside, X_OK) == 0 ? beside : "evidenced";
}

static enum evd_ctl_exit restore(struct evd_ctl *ctl) {
    const char *program = daemon_path(ctl);
    const char *arguments[] = {
        "evidenced", "--restore", ctl->operands[0], "--data", evd_ctl_value(ctl, EVD_CTL_OPTION_DATA), NULL};
    (void)execvp(program, (char *const *)(uintptr_t)arguments);
    return EVD_CTL_FAIL(ctl, "%s cannot be started: %s. It is looked for beside evidencectl and in PATH.", program,
                        strerrordesc_np(errno));
}

const struct evd_ctl_verb evd_ctl_verb_restore = {
    .name = "restore",
    .operands = "BACKUP",
    .operand = EVD_CTL_OPERAND_DIRECTORY,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_TAKES(DATA),
    .needs = EVD_CTL_TAKES(DATA),
    .summary = "Restore a backup into a data directory without a store, and open it once to prove it.",
    .details =
        "Runs evidenced --restore BACKUP --data DIRECTORY: no daemon need serve. Start one on the directory then, "
        "and verify.",
    .example = "evidencectl restore /backup/evidenced-2026-03-01 --data ./data",
    .run = restore,
};
