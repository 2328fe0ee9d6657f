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

/* What befalls the disk while one Save is made: `call` fails from the nth on, for `times` calls (-1: until it is made
 * whole again). */
struct fault {
    enum faultfs_call call;
    int error;
    int32_t short_bytes; /* 0: nothing is written */
    int64_t times;
};

static void disk_breaks(const struct fault *fault, int64_t nth) {
    struct faultfs_rule *rule = &disk->rules[fault->call];
    atomic_store(&rule->error, fault->error);
    atomic_store(&rule->short_bytes, fault->short_bytes > 0 ? fault->short_bytes : -1);
    atomic_store(&rule->failed, 0);
    atomic_store(&rule->skip, nth - 1);
    atomic_store(&rule->fail, fault->times);
}

static void disk_is_whole(void) {
    for (int call = 0; call < FAULTFS_CALLS; call++) {
        atomic_store(&disk->rules[call].fail, 0);
        atomic_store(&disk->rules[call].skip, 0);
    }
}

/* One session, saved again and again, each version on the one before. */
static struct {
    char base[EVD_UUID_TEXT_BYTES + 1];
    size_t versions;
} chain;

/* Saves as before until it is known to be there: the answer whose disk was whole. A daemon that died is started. */
static void save_until_known(const char *key, struct evd_reply *reply) {
    while (desk_save(&desk, 0, 0, key, chain.base, 0, "", reply) != 200) {
        int status = reply->status;
        ck_assert_msg(status == 0 || status == 503 || status == 409, "%d %s", status, reply->body);
        if (status == 409) ck_assert_str_eq(evd_reply_text(reply, "outcome"), "OutcomeUnknown");
        evd_reply_done(reply);
        if (status != 0) continue;
        (void)evd_daemon_process_wait(&process);
        evd_daemon_process_start(&process);
        desk_close(&desk);
    }
}

/* A Save while the disk breaks at its nth call: 200 or a word that it is not so, and on a whole disk it is there once.
 * False when the Save did not come that far. */
static bool save_through(const struct fault *fault, int64_t nth) {
    char key[EVD_UUID_TEXT_BYTES + 1];
    struct evd_reply first, then;
    disk_breaks(fault, nth);
    int status = desk_save(&desk, 0, 0, evd_test_uuid(key), chain.base, 0, "", &first);
    bool broke = atomic_load(&disk->rules[fault->call].failed) > 0;
    disk_is_whole();
    bool known = status == 200;
    if (!known && status != 0) {
        const char *outcome = evd_reply_text(&first, "outcome");
        bool said = strcmp(outcome, "StoreUnavailable") == 0 || strcmp(outcome, "StoreFull") == 0 ||
                    strcmp(outcome, "OutcomeUnknown") == 0;
        ck_assert_msg(said, "%d %s", status, first.body);
    }
    save_until_known(key, &then);
    if (known) ck_assert_str_eq(then.body, first.body);
    (void)snprintf(chain.base, sizeof chain.base, "%s", evd_reply_text(&then, "versionId"));
    ck_assert_uint_eq(desk_versions(&desk, 0, 0), ++chain.versions);
    evd_reply_done(&then);
    evd_reply_done(&first);
    return broke;
}

static void open_chain(void) {
    open_desk();
    disk->part[0] = '\0'; /* every file of the store */
    chain.base[0] = '\0';
    chain.versions = 0;
}

static void close_chain(void) {
    evd_daemon_process_kill(&process);
    desk_close(&desk);
    evd_daemon_process_start(&process);
    ck_assert_uint_eq(desk_versions(&desk, 0, 0), chain.versions);
    close_desk();
}

START_TEST(a_disk_that_fails_once_at_the_nth_call_of_a_save_loses_and_doubles_nothing) {
    static const struct fault faults[] = {
        {FAULTFS_SYNC, 5, 0, 1},   {FAULTFS_SYNC, 5, 0, 3},  {FAULTFS_WRITE, 5, 0, 1},
        {FAULTFS_WRITE, 28, 0, 1}, {FAULTFS_WRITE, 5, 1, 2}, {FAULTFS_WRITE, 28, 40, 2},
        {FAULTFS_SIZE, 28, 0, 1},  {FAULTFS_OPEN, 28, 0, 1}, {FAULTFS_NAME, 30, 0, 1},
    };
    unsigned broken = 0;
    open_chain();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (int64_t nth = 1; save_through(&faults[i], nth); nth++)
            broken++;
    (void)printf("disk: %u Saves on a disk that failed\n", broken);
    ck_assert_uint_ge(broken, 6);
    close_chain();
}
END_TEST

/* What breaks it first is what makes the store reopen; then the reopening is not spared either. */
START_TEST(a_disk_that_fails_again_at_the_nth_call_of_the_recovery_loses_and_doubles_nothing) {
    static const struct fault first = {FAULTFS_WRITE, 5, 0, 1};
    static const struct fault seconds[] = {
        {FAULTFS_SYNC, 5, 0, 1}, {FAULTFS_SIZE, 28, 0, 1}, {FAULTFS_OPEN, 28, 0, 1}, {FAULTFS_NAME, 30, 0, 1}};
    unsigned broken = 0;
    open_chain();
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        for (int64_t nth = 1;; nth++) {
            disk_breaks(&seconds[i], nth);
            ck_assert(save_through(&first, 1));
            if (atomic_load(&disk->rules[seconds[i].call].failed) == 0) break;
            broken++;
        }
    (void)printf("disk: %u recoveries on a disk that failed\n", broken);
    ck_assert_uint_ge(broken, 4);
    close_chain();
}
END_TEST

START_TEST(a_disk_that_stays_broken_is_said_so_and_once_whole_nothing_is_lost_or_doubled) {
    static const struct fault faults[] = {{FAULTFS_SYNC, 5, 0, -1}, {FAULTFS_WRITE, 28, 0, -1}};
    open_chain();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        ck_assert(save_through(&faults[i], 1));
    close_chain();
}
END_TEST

int main(void) {
    const TTest *const tests[] = {a_full_disk_is_503_and_recovers,
                                  a_failed_sync_poisons_reopens_and_resolves_by_the_ledger,
                                  a_disk_that_fails_once_at_the_nth_call_of_a_save_loses_and_doubles_nothing,
                                  a_disk_that_fails_again_at_the_nth_call_of_the_recovery_loses_and_doubles_nothing,
                                  a_disk_that_stays_broken_is_said_so_and_once_whole_nothing_is_lost_or_doubled};
    if (!PRELOADS) {
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
            (void)printf("skipped: the disk cannot be played under a sanitizer\n");
        return evd_test_run("crash: the disk", tests, 0);
    }
    return evd_test_run("crash: the disk", tests, sizeof tests / sizeof tests[0]);
}
