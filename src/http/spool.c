#include "evidenced/http/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct evd_spool {
    char *directory;
    uint64_t most_bytes, free_bytes_floor;
    _Atomic uint64_t held_bytes;
};

/* A file without a name, or -1. */
static int open_nameless(const struct evd_spool *spool) {
    char *path = NULL;
    int file = open(spool->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return file;
    /* not every file system has such files */
    if (asprintf(&path, "%s/XXXXXX", spool->directory) < 0) return -1;
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) (void)unlink(path);
    free(path);
    return file;
}

struct evd_spool *evd_spool_open(const struct evd_spool_options *options, char ret_error[EVD_SPOOL_ERROR_BYTES]) {
    struct evd_spool *spool = calloc(1, sizeof *spool);
    char *directory = strdup(options->directory);
    if (spool == NULL || directory == NULL) abort();
    spool->directory = directory;
    spool->most_bytes = options->most_bytes;
    spool->free_bytes_floor = options->free_bytes_floor;
    bool made = mkdir(directory, 0700) == 0 || errno == EEXIST;
    int file = made ? open_nameless(spool) : -1;
    if (file >= 0) {
        (void)close(file);
        return spool;
    }
    (void)snprintf(ret_error, EVD_SPOOL_ERROR_BYTES, "The spool directory %.300s cannot be used: %s.", directory,
                   strerrordesc_np(errno));
    evd_spool_close(spool);
    return NULL;
}

void evd_spool_close(struct evd_spool *spool) {
    if (spool == NULL) return;
    assert(atomic_load(&spool->held_bytes) == 0);
    free(spool->directory);
    free(spool);
}

static bool reserve(struct evd_spool *spool, size_t size_bytes) {
    uint64_t held = atomic_load(&spool->held_bytes);
    do
        if (size_bytes > spool->most_bytes - held) return false;
    while (!atomic_compare_exchange_weak(&spool->held_bytes, &held, held + size_bytes));
    return true;
}

/* Blocks for the whole of it, so that no later write can fail, and enough left for the others. */
static bool allocate(const struct evd_spool *spool, int file, size_t size_bytes) {
    struct statvfs disk;
    if (posix_fallocate(file, 0, (off_t)size_bytes) != 0 || fstatvfs(file, &disk) != 0) return false;
    return (uint64_t)disk.f_bavail * disk.f_frsize >= spool->free_bytes_floor;
}

static char *map_new(const struct evd_spool *spool, size_t size_bytes) {
    int file = open_nameless(spool);
    if (file < 0) return NULL;
    void *bytes = MAP_FAILED;
    if (allocate(spool, file, size_bytes)) bytes = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

enum evd_spool_status evd_spool_take(struct evd_spool *spool, size_t size_bytes, struct evd_spooled *ret_spooled) {
    if (!reserve(spool, size_bytes)) return EVD_SPOOL_BUSY;
    char *bytes = map_new(spool, size_bytes);
    if (bytes == NULL) {
        atomic_fetch_sub(&spool->held_bytes, size_bytes);
        return EVD_SPOOL_FULL;
    }
    *ret_spooled = (struct evd_spooled){bytes, size_bytes};
    return EVD_SPOOL_OK;
}

void evd_spool_give_back(struct evd_spool *spool, struct evd_spooled *spooled) {
    if (spooled->bytes == NULL) return;
    (void)munmap(spooled->bytes, spooled->size_bytes);
    atomic_fetch_sub(&spool->held_bytes, spooled->size_bytes);
    *spooled = (struct evd_spooled){NULL, 0};
}

uint64_t evd_spool_held_bytes(struct evd_spool *spool) {
    return atomic_load(&spool->held_bytes);
}
