/*
 * The space gate. RocksDB aborts the process when it writes on after the disk was full, so the store refuses first.
 *
 * One look at the disk serves many commits: until LOOK_EVERY_MS of the clock have passed, or LOOK_EVERY commits or an
 * eighth of the floor in bytes went by. While the disk is full every commit looks, so the store recovers by itself
 * with the first commit after space returned.
 */
#include "internal.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/limits.h"

#include <sys/statvfs.h>

enum { LOOK_EVERY_MS = 100, LOOK_EVERY = 64 };

void evd_space_init(struct evd_space *space, const char *directory, const struct evd_clock *clock,
                    uint64_t floor_bytes) {
    *space = (struct evd_space){.clock = clock, .floor_bytes = floor_bytes};
    space->directory = strdup(directory);
    if (space->directory == NULL || pthread_mutex_init(&space->mutex, NULL) != 0) abort();
}

void evd_space_done(struct evd_space *space) {
    free(space->directory);
    (void)pthread_mutex_destroy(&space->mutex);
}

/* Under the mutex. A disk that cannot be asked keeps its last answer; the commit itself will tell. */
static void look(struct evd_space *space, int64_t now_ms) {
    struct statvfs disk;
    if (statvfs(space->directory, &disk) == 0) space->free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    space->read_at_ms = now_ms;
    space->written_bytes = 0;
    space->commits = 0;
}

uint64_t evd_space_look(struct evd_space *space) {
    int64_t now_ms = evd_clock_monotonic_ms(space->clock);
    (void)pthread_mutex_lock(&space->mutex);
    look(space, now_ms);
    uint64_t free_bytes = space->free_bytes;
    (void)pthread_mutex_unlock(&space->mutex);
    return free_bytes;
}

bool evd_space_admits(struct evd_space *space, uint64_t size_bytes) {
    int64_t now_ms = evd_clock_monotonic_ms(space->clock);
    (void)pthread_mutex_lock(&space->mutex);
    space->written_bytes += size_bytes;
    space->commits++;
    bool full = space->free_bytes < space->floor_bytes + space->written_bytes;
    if (full || now_ms - space->read_at_ms >= LOOK_EVERY_MS || space->commits >= LOOK_EVERY ||
        space->written_bytes > space->floor_bytes / 8)
        look(space, now_ms);
    full = space->free_bytes < space->floor_bytes || space->free_bytes - space->floor_bytes < size_bytes;
    (void)pthread_mutex_unlock(&space->mutex);
    return !full;
}

bool evd_space_suffices_to_open(struct evd_space *space) {
    static const uint64_t enough_bytes = 64 * EVD_MIB;
    return evd_space_look(space) >= (space->floor_bytes < enough_bytes ? space->floor_bytes : enough_bytes);
}
