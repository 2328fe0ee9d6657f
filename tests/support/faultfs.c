/*
 * faultfs: a disk that fails on demand.
 *
 *     EVIDENCED_FAULTFS=control LD_PRELOAD=build/release/tests/support/faultfs.so build/release/evidenced …
 *
 * `control` is a file that is mapped shared, so whoever writes to it changes a running program's disk. It is a
 * `struct faultfs_control` (faultfs.h) in the machine's byte order:
 *
 *     offset   0  magic        "FAULTFS1"
 *              8  prefix       256 bytes, NUL behind the text: paths that begin so are ours
 *            264  part         256 bytes: and that contain this ("" for all)
 *            520  free_bytes   u64: what statvfs and fstatvfs report as free, 0 for the truth
 *            528  rules        five of 48 bytes: sync, write, size, open, name
 *                   +0  skip         i64: matching calls that pass first, counted down
 *                   +8  fail         i64: then so many fail, counted down; -1: all until changed
 *                  +16  error        i32: their errno (EIO 5, ENOSPC 28, EROFS 30)
 *                  +20  short_bytes  i32: write only: the next failing write writes so many bytes and says so; then
 *                                    set back to -1
 *                  +24  delay_us     i64: every matching call takes longer
 *                  +32  seen         i64: matching calls so far
 *                  +40  failed       i64: made to fail so far
 *
 * To fail every sync from outside, with EIO:
 *
 *     printf '\005' | dd of=control bs=1 seek=544 conv=notrunc
 *     printf '\377\377\377\377\377\377\377\377' | dd of=control bs=1 seek=536 conv=notrunc
 *
 * A failed sync fails before it reaches the disk: the bytes stay in the page cache, as they do on Linux after a real
 * one. Files are recognised by the path of their descriptor, so nothing has to be tracked and descriptors opened
 * before faults were switched on count too. A program without the file, or with an unusable one, runs unharmed.
 *
 * Test programs may include this file instead of preloading it: definitions in the program win over libc's for shared
 * libraries too, and sanitizers, which cannot be preloaded into, then see the faults as well.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <features.h>
/* Fortified headers define some of these calls themselves. */
#undef __USE_FORTIFY_LEVEL
#define __USE_FORTIFY_LEVEL 0

#include "faultfs.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static _Atomic(struct faultfs_control *) chosen;

void faultfs_use(struct faultfs_control *control) {
    atomic_store(&chosen, control);
}

/* The next definition of a call behind ours. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void control_map(void) {
    const char *path = getenv("EVIDENCED_FAULTFS");
    struct stat status;
    if (path == NULL) return;
    int file = REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    if (fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof(struct faultfs_control)) {
        void *memory = mmap(NULL, sizeof(struct faultfs_control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED && memcmp(memory, FAULTFS_MAGIC, 8) == 0) faultfs_use(memory);
    }
    (void)close(file);
}

static bool is_below(const struct faultfs_control *control, const char *path) {
    size_t prefix_bytes = strnlen(control->prefix, FAULTFS_TEXT_BYTES);
    if (prefix_bytes == 0 || prefix_bytes == FAULTFS_TEXT_BYTES) return false;
    return strncmp(path, control->prefix, prefix_bytes) == 0;
}

static struct faultfs_control *control_for_path(const char *path) {
    struct faultfs_control *control = atomic_load(&chosen);
    if (control == NULL || path == NULL || !is_below(control, path)) return NULL;
    bool whole = control->part[0] == '\0' || strstr(path, control->part) != NULL;
    return whole ? control : NULL;
}

/* The path of a descriptor's file; false where it has none. */
static bool path_of(int file, char ret_path[PATH_MAX]) {
    char link[64];
    int saved = errno;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, ret_path, PATH_MAX - 1);
    errno = saved;
    if (size <= 0) return false;
    ret_path[size] = '\0';
    return true;
}

/* The control, when the descriptor's file is ours. */
static struct faultfs_control *control_for(int file) {
    char path[PATH_MAX];
    if (atomic_load(&chosen) == NULL || !path_of(file, path)) return NULL;
    return control_for_path(path);
}

/* Take one from a counter that is above zero. */
static bool count_down(_Atomic int64_t *counter) {
    int64_t left = atomic_load(counter);
    while (left > 0)
        if (atomic_compare_exchange_weak(counter, &left, left - 1)) return true;
    return false;
}

/* Does this call fail? Then errno is set. */
static bool falls(struct faultfs_control *control, enum faultfs_call call) {
    if (control == NULL) return false;
    struct faultfs_rule *rule = &control->rules[call];
    (void)atomic_fetch_add(&rule->seen, 1);
    int64_t delay_us = atomic_load(&rule->delay_us);
    if (delay_us > 0) {
        struct timespec delay = {.tv_sec = delay_us / 1000000, .tv_nsec = delay_us % 1000000 * 1000};
        (void)nanosleep(&delay, NULL);
    }
    if (count_down(&rule->skip)) return false;
    if (atomic_load(&rule->fail) >= 0 && !count_down(&rule->fail)) return false;
    (void)atomic_fetch_add(&rule->failed, 1);
    errno = atomic_load(&rule->error);
    return true;
}

/* Of a falling write: how much is written all the same, once; 0: nothing, fail now. */
static size_t short_of(struct faultfs_control *control, size_t size_bytes) {
    int32_t short_bytes = atomic_exchange(&control->rules[FAULTFS_WRITE].short_bytes, -1);
    return short_bytes > 0 && (size_t)short_bytes < size_bytes ? (size_t)short_bytes : 0;
}

ssize_t write(int file, const void *bytes, size_t size_bytes) {
    struct faultfs_control *control = control_for(file);
    if (!falls(control, FAULTFS_WRITE)) return REAL(write)(file, bytes, size_bytes);
    size_t part = short_of(control, size_bytes);
    return part > 0 ? REAL(write)(file, bytes, part) : -1;
}

ssize_t pwrite(int file, const void *bytes, size_t size_bytes, off_t offset) {
    struct faultfs_control *control = control_for(file);
    if (!falls(control, FAULTFS_WRITE)) return REAL(pwrite)(file, bytes, size_bytes, offset);
    size_t part = short_of(control, size_bytes);
    return part > 0 ? REAL(pwrite)(file, bytes, part, offset) : -1;
}

ssize_t pwrite64(int file, const void *bytes, size_t size_bytes, off64_t offset) {
    return pwrite(file, bytes, size_bytes, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    return falls(control_for(file), FAULTFS_WRITE) ? -1 : REAL(writev)(file, parts, count);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
    return falls(control_for(file), FAULTFS_WRITE) ? -1 : REAL(pwritev)(file, parts, count, offset);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
    return pwritev(file, parts, count, offset);
}

int fdatasync(int file) {
    return falls(control_for(file), FAULTFS_SYNC) ? -1 : REAL(fdatasync)(file);
}

int fsync(int file) {
    return falls(control_for(file), FAULTFS_SYNC) ? -1 : REAL(fsync)(file);
}

int syncfs(int file) {
    return falls(control_for(file), FAULTFS_SYNC) ? -1 : REAL(syncfs)(file);
}

int sync_file_range(int file, off64_t offset, off64_t size_bytes, unsigned flags) {
    /* without flags it only asks whether the call exists, and no disk makes that fail */
    struct faultfs_control *control = flags == 0 ? NULL : control_for(file);
    return falls(control, FAULTFS_SYNC) ? -1 : REAL(sync_file_range)(file, offset, size_bytes, flags);
}

int ftruncate(int file, off_t size_bytes) {
    return falls(control_for(file), FAULTFS_SIZE) ? -1 : REAL(ftruncate)(file, size_bytes);
}

int ftruncate64(int file, off64_t size_bytes) {
    return ftruncate(file, size_bytes);
}

int fallocate(int file, int mode, off_t offset, off_t size_bytes) {
    return falls(control_for(file), FAULTFS_SIZE) ? -1 : REAL(fallocate)(file, mode, offset, size_bytes);
}

int fallocate64(int file, int mode, off64_t offset, off64_t size_bytes) {
    return fallocate(file, mode, offset, size_bytes);
}

int posix_fallocate(int file, off_t offset, off_t size_bytes) {
    return falls(control_for(file), FAULTFS_SIZE) ? errno : REAL(posix_fallocate)(file, offset, size_bytes);
}

int posix_fallocate64(int file, off64_t offset, off64_t size_bytes) {
    return posix_fallocate(file, offset, size_bytes);
}

/* Reading goes on: only what may write falls. */
static bool open_falls(const char *path, int flags) {
    return (flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC)) != 0 && falls(control_for_path(path), FAULTFS_OPEN);
}

static mode_t mode_of(int flags, va_list *arguments) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(*arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, &arguments);
    va_end(arguments);
    return open_falls(path, flags) ? -1 : REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, &arguments);
    va_end(arguments);
    return open_falls(path, flags) ? -1 : REAL(open)(path, flags | O_LARGEFILE, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, &arguments);
    va_end(arguments);
    return open_falls(path, flags) ? -1 : REAL(openat)(directory, path, flags, mode);
}

int rename(const char *from, const char *to) {
    return falls(control_for_path(to), FAULTFS_NAME) ? -1 : REAL(rename)(from, to);
}

int unlink(const char *path) {
    return falls(control_for_path(path), FAULTFS_NAME) ? -1 : REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
    return falls(control_for_path(path), FAULTFS_NAME) ? -1 : REAL(mkdir)(path, mode);
}

/* `part` picks files; space belongs to the whole. */
static void free_report(const char *path, struct statvfs *disk) {
    const struct faultfs_control *control = atomic_load(&chosen);
    if (control == NULL || !is_below(control, path)) return;
    uint64_t free_bytes = atomic_load(&control->free_bytes);
    if (free_bytes > 0) disk->f_bavail = disk->f_bfree = free_bytes / disk->f_frsize;
}

int statvfs(const char *path, struct statvfs *ret_disk) {
    int status = REAL(statvfs)(path, ret_disk);
    if (status == 0) free_report(path, ret_disk);
    return status;
}

int statvfs64(const char *path, struct statvfs64 *ret_disk) {
    return statvfs(path, (struct statvfs *)ret_disk);
}

int fstatvfs(int file, struct statvfs *ret_disk) {
    char path[PATH_MAX];
    int status = REAL(fstatvfs)(file, ret_disk);
    if (status == 0 && path_of(file, path)) free_report(path, ret_disk);
    return status;
}

int fstatvfs64(int file, struct statvfs64 *ret_disk) {
    return fstatvfs(file, (struct statvfs *)ret_disk);
}
