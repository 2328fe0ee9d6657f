/*
 * Restoring: a backup becomes the store of a data directory that has none yet, and is opened once to prove it.
 */
#include "evidenced/base/clock.h"
#include "evidenced/http/daemon.h"
#include "evidenced/records/dictionary.h"
#include "evidenced/store/embedded.h"

#include <errno.h>
#include <sys/stat.h>

static int failed(char *ret_error, const char *what, const char *why) {
    (void)snprintf(ret_error, EVD_DAEMON_ERROR_BYTES, "%.300s: %.440s", what, why);
    return 1;
}

static struct evd_store *open_store(const char *directory, char said[EVD_EMBEDDED_ERROR_BYTES]) {
    struct evd_embedded_options options = {
        .directory = directory, .catalogue = evd_catalogue_stored(), .clock = evd_clock_system()};
    return evd_embedded_open(&options, said);
}

int evd_daemon_restore(const struct evd_config *config, char ret_error[EVD_DAEMON_ERROR_BYTES]) {
    const char *data = evd_config_text(config, EVD_CONFIG_DATA).bytes;
    const char *from = evd_config_restore_from(config).bytes;
    char said[EVD_EMBEDDED_ERROR_BYTES], target[4096];
    struct stat there;
    int size = snprintf(target, sizeof target, "%s/store", data);
    if (size < 0 || (size_t)size >= sizeof target) return failed(ret_error, data, "the path is too long");
    if (mkdir(data, 0700) != 0 && errno != EEXIST) return failed(ret_error, data, strerror(errno));
    if (lstat(target, &there) == 0)
        return failed(ret_error, target, "there is a store already; restore into an empty directory");
    if (lstat(from, &there) != 0) return failed(ret_error, from, strerror(errno));
    struct evd_store *backup = open_store(from, said);
    if (backup == NULL) return failed(ret_error, from, said);
    struct evd_store_result copied = evd_store_backup(backup, target);
    evd_store_close(backup);
    if (copied.status != EVD_STORE_OK) return failed(ret_error, target, evd_store_status_name(copied.status));
    struct evd_store *restored = open_store(target, said);
    if (restored == NULL) return failed(ret_error, target, said);
    evd_store_close(restored);
    return 0;
}
