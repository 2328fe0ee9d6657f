/*
 * Backup: RocksDB's checkpoint, hard links where the file system has them. It carries the format key like everything.
 */
#include "internal.h"

#include <sys/stat.h>

struct evd_store_result evd_embedded_backup(struct evd_store *base, const char *directory) {
    struct evd_embedded *store = (struct evd_embedded *)base;
    struct stat there;
    char *said = NULL;
    if (lstat(directory, &there) == 0 || !evd_gate_enter(&store->gate, INT64_MIN))
        return evd_store_status_result(EVD_STORE_UNAVAILABLE);
    enum evd_store_status status = EVD_STORE_OK;
    rocksdb_checkpoint_t *checkpoint =
        rocksdb_optimistictransactiondb_checkpoint_object_create(store->database.transactional, &said);
    if (said == NULL) rocksdb_checkpoint_create(checkpoint, directory, 0, &said);
    if (checkpoint != NULL) rocksdb_checkpoint_object_destroy(checkpoint);
    if (said != NULL) status = strstr(said, "No space") == NULL ? EVD_STORE_UNAVAILABLE : EVD_STORE_FULL;
    rocksdb_free(said);
    evd_gate_leave(&store->gate);
    return evd_store_status_result(status);
}
