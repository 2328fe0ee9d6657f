/*
 * The disk fails under the whole daemon: full, then not; a sync that fails once. A preloaded library plays the disk.
 */
#include "../support/desk.h"
#include "../support/faultfs.h"
#include "../support/test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PRELOADS 0 /* a sanitizer's runtime must come first: these run in the other profiles */
#else
#define PRELOADS 1
#endif

static struct evd_daemon_process process;
static struct desk desk;
static struct faultfs_control *disk;
static char preload[600], control[400];

/* The library stands beside this program: <build>/<profile>/tests/support/faultfs.so. */
static void name_library(void) {
    char self[400];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert_int_gt(size, 0);
    self[size] = '\0';
    char *tail = strstr(self, "/tests/");
    ck_assert_ptr_nonnull(tail);
    *tail = '\0';
    (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s/tests/support/faultfs.so", self);
    ck_assert_msg(access(preload + strlen("LD_PRELOAD="), R_OK) == 0, "%s is missing", preload);
}

static void open_disk(void) {
    char path[300];
    (void)snprintf(path, sizeof path, "%s/disk", process.directory);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, sizeof *disk), 0);
    disk = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(disk, MAP_FAILED);
    (void)close(fd);
    memcpy(disk->magic, FAULTFS_MAGIC, sizeof disk->magic);
    (void)snprintf(disk->prefix, sizeof disk->prefix, "%s", process.directory);
    (void)snprintf(disk->part, sizeof disk->part, ".log");
    (void)snprintf(control, sizeof control, "EVIDENCED_FAULTFS=%s", path);
    process.variables[0] = preload;
    process.variables[1] = control;
}

static void open_desk(void) {
    name_library();
    evd_daemon_process_init(&process);
    open_disk();
    evd_daemon_process_start(&process);
    desk_open(&desk, &process, 5, 3);
}

static void close_desk(void) {
    desk_close(&desk);
    evd_daemon_process_done(&process);
    (void)munmap(disk, sizeof *disk);
}

static void assert_outcome(const struct evd_reply *reply, int status, const char *outcome) {
    ck_assert_msg(reply->status == status, "%d %s", reply->status, reply->body);
    ck_assert_str_eq(evd_reply_text(reply, "outcome"), outcome);
}

START_TEST(a_full_disk_is_503_and_recovers) {
    char key[EVD_UUID_TEXT_BYTES + 1];
    struct evd_reply full, live, again;
    open_desk();
    disk->part[0] = '\0'; /* free space is asked of the directory */
    atomic_store(&disk->free_bytes, 1024 * 1024);
    (void)evd_test_uuid(key);
    /* The daemon looks at the disk every so often, not at every Save: write until it has looked. */
    for (unsigned tries = 0;; tries++) {
        char each[EVD_UUID_TEXT_BYTES + 1];
        ck_assert_uint_lt(tries, 100000);
        int status = evd_client_post(&desk.admin, "/v1/projects", evd_test_uuid(each), "{\"name\":\"More\"}", &full);
        if (status == 503) break;
        ck_assert_int_eq(status, 200);
        evd_reply_done(&full);
    }
    assert_outcome(&full, 503, "StoreFull");
    ck_assert_int_eq(evd_client_get(&desk.admin, "/livez", &live), 200);
    atomic_store(&disk->free_bytes, 0);
    int status;
    while ((status = desk_save(&desk, 1, 1, key, "", 2, "kept", &again)) == 503)
        evd_reply_done(&again);
    ck_assert_int_eq(status, 200);
    ck_assert_uint_eq(desk_versions(&desk, 1, 1), 1);
    evd_reply_done(&again);
    evd_reply_done(&live);
    evd_reply_done(&full);
    close_desk();
}
END_TEST

/* The write whose sync failed may or may not be there after reopening; the caller learns which, and a retry agrees. */
START_TEST(a_failed_sync_poisons_reopens_and_resolves_by_the_ledger) {
    char key[EVD_UUID_TEXT_BYTES + 1];
    struct evd_reply reply, again, metrics;
    open_desk();
    atomic_store(&disk->rules[FAULTFS_SYNC].error, 5 /* EIO */);
    atomic_store(&disk->rules[FAULTFS_SYNC].fail, 1);
    int status = desk_save(&desk, 0, 0, evd_test_uuid(key), "", 3, "kept", &reply);
    ck_assert_int_eq(atomic_load(&disk->rules[FAULTFS_SYNC].failed), 1);
    ck_assert_msg(status == 200, "%d %s", status, reply.body);
    ck_assert_int_eq(desk_save(&desk, 0, 0, key, "", 3, "kept", &again), 200);
    ck_assert_str_eq(again.body, reply.body);
    ck_assert_uint_eq(desk_versions(&desk, 0, 0), 1);
    evd_daemon_process_kill(&process);
    desk_close(&desk);
    process.variables[0] = NULL;
    evd_daemon_process_start(&process);
    ck_assert_uint_eq(desk_versions(&desk, 0, 0), 1);
    ck_assert_int_eq(desk_save(&desk, 0, 0, key, "", 3, "kept", &metrics), 200);
    ck_assert_str_eq(metrics.body, reply.body);
    evd_reply_done(&metrics);
    evd_reply_done(&again);
    evd_reply_done(&reply);
    close_desk();
}
END_TEST

int main(void) {
    const TTest *const tests[] = {a_full_disk_is_503_and_recovers,
                                  a_failed_sync_poisons_reopens_and_resolves_by_the_ledger};
    if (!PRELOADS) {
        (void)printf("skipped: the disk cannot be played under a sanitizer\n");
        (void)printf("skipped: the disk cannot be played under a sanitizer\n");
        return evd_test_run("crash: the disk", tests, 0);
    }
    return evd_test_run("crash: the disk", tests, sizeof tests / sizeof tests[0]);
}
