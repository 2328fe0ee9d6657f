/*
 * The embedded store in more than one process: refused to the second, killed in mid-commit, its disk broken from
 * outside.
 *
 * The program runs itself again as the other process; `EVIDENCED_TEST_CHILD` names the part it plays.
 */
#include "../support/faultfs.h"
#include "embedded_suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

struct child {
    pid_t pid;
    int to, from; /* its standard input and output */
};

static struct child child_start(const char *part, const char *path) {
    struct child child;
    int down[2], up[2];
    ck_assert_int_eq(pipe2(down, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(up, O_CLOEXEC), 0);
    child.pid = fork();
    ck_assert_int_ge(child.pid, 0);
    if (child.pid == 0) {
        (void)setenv("EVIDENCED_TEST_CHILD", part, 1);
        (void)setenv("EVIDENCED_TEST_STORE", path, 1);
        if (dup2(down[0], STDIN_FILENO) < 0 || dup2(up[1], STDOUT_FILENO) < 0) _exit(90);
        (void)execl("/proc/self/exe", "test_embedded", (char *)NULL);
        _exit(91);
    }
    (void)close(down[0]);
    (void)close(up[1]);
    child.to = down[1];
    child.from = up[0];
    return child;
}

/* Its next letter; '\0' when it has ended. */
static char child_says(const struct child *child) {
    char letter = '\0';
    ssize_t size = read(child->from, &letter, 1);
    ck_assert_int_ge(size, 0);
    return letter;
}

static int child_end(const struct child *child) {
    int status = 0;
    (void)close(child->to);
    ck_assert_int_eq(waitpid(child->pid, &status, 0), child->pid);
    (void)close(child->from);
    return status;
}

static void say(char letter) {
    if (write(STDOUT_FILENO, &letter, 1) != 1) _exit(92);
}

static void wait_for_word(void) {
    char letter;
    (void)!read(STDIN_FILENO, &letter, 1);
}

static enum evd_store_status plain_insert(unsigned number) {
    struct evd_txn *txn = NULL;
    struct evd_write writes[] = {inserting(thing_key(number), IMAGE(.rank = number)),
                                 inserting(thing_key(1000 + number), IMAGE(.rank = number))};
    struct evd_store_result result = evd_txn_open(store, EVD_READ_SNAPSHOT, evd_store_fixture_far(), &arena, &txn);
    if (result.status == EVD_STORE_OK) result = evd_txn_commit(txn, writes, 2);
    evd_txn_close(txn);
    return result.status;
}

/* The other process. `o` open, `x` refused, `c` committed, `f` failed. Check's assertions are not for here. */
static int child_main(const char *part) {
    evd_arena_init(&arena, EVD_MIB);
    store = open_at(getenv("EVIDENCED_TEST_STORE"));
    say(store == NULL ? 'x' : 'o');
    if (store == NULL) return 0;
    if (strcmp(part, "break") == 0) {
        wait_for_word();
        struct evd_store_figures figures;
        enum evd_store_status status = plain_insert(7);
        evd_store_figures(store, &figures);
        say(status == EVD_STORE_OK && figures.recoveries == 1 ? 'c' : 'f');
    } else if (strcmp(part, "crash") == 0) {
        say(plain_insert(7) == EVD_STORE_OK ? 'c' : 'f');
        say(plain_insert(8) == EVD_STORE_OK ? 'c' : 'f');
    }
    wait_for_word();
    evd_store_close(store);
    evd_arena_done(&arena);
    return 0;
}

START_TEST(a_second_process_is_refused_with_a_sentence) {
    prepare();
    struct child child = child_start("hold", directory);
    ck_assert_int_eq(child_says(&child), 'o');
    ck_assert_ptr_null(open_at(directory));
    ck_assert_msg(strstr(sentence, "in use by another process") != NULL, "%s", sentence);
    int status = child_end(&child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    open_here();
    suite_close();
}
END_TEST

#ifdef EVD_TEST
/* SIGKILL before RocksDB got the commit, and after it was durable. */
START_TEST(a_crash_around_the_commit_leaves_all_of_it_or_nothing) {
    const struct {
        const char *at;
        const char *says;
        bool first_there, second_there;
    } rows[] = {{"commit-before", "o", false, false},
                {"commit-after", "o", true, false},
                {"commit-before:2", "oc", true, false},
                {"commit-after:2", "oc", true, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        prepare();
        ck_assert_int_eq(setenv("EVIDENCED_CRASH_AT", rows[i].at, 1), 0);
        struct child child = child_start("crash", directory);
        for (const char *letter = rows[i].says; *letter != '\0'; letter++)
            ck_assert_int_eq(child_says(&child), *letter);
        ck_assert_int_eq(child_says(&child), '\0');
        int status = child_end(&child);
        ck_assert_int_eq(unsetenv("EVIDENCED_CRASH_AT"), 0);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        open_here();
        for (unsigned half = 0; half <= 1000; half += 1000) {
            ck_assert(rows[i].first_there == (latest(thing_key(7 + half)).size_bytes > 0));
            ck_assert(rows[i].second_there == (latest(thing_key(8 + half)).size_bytes > 0));
        }
        suite_close();
    }
}
END_TEST
#define WITH_CRASH_POINTS a_crash_around_the_commit_leaves_all_of_it_or_nothing,
#else
#define WITH_CRASH_POINTS /* this build has no crash points */
#endif

#if !SANITIZED
/* Beside this program: <build>/<profile>/tests/support/faultfs.so. */
static void shim_path(char ret_path[PATH_MAX]) {
    const char *given = getenv("EVIDENCED_FAULTFS_SO");
    char self[PATH_MAX - 64];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert_int_gt(size, 0);
    self[size] = '\0';
    char *from = strstr(self, "/tests/store/");
    ck_assert_ptr_nonnull(from);
    *from = '\0';
    if (given != NULL)
        (void)snprintf(ret_path, PATH_MAX, "%s", given);
    else
        (void)snprintf(ret_path, PATH_MAX, "%s/tests/support/faultfs.so", self);
    ck_assert_msg(access(ret_path, R_OK) == 0, "%s is missing: make it first", ret_path);
}

static struct faultfs_control *control_make(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, sizeof(struct faultfs_control)), 0);
    struct faultfs_control *control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ck_assert_ptr_ne(control, MAP_FAILED);
    (void)close(file);
    memcpy(control->magic, FAULTFS_MAGIC, 8);
    (void)snprintf(control->part, sizeof control->part, ".log");
    return control;
}

/* The disk of a running process, broken from outside of it. The tests of faults proper are in test_faults.c. */
START_TEST(a_failed_sync_in_a_preloaded_process_is_recovered_from) {
    char shim[PATH_MAX], path[PATH_MAX];
    prepare();
    shim_path(shim);
    (void)snprintf(path, sizeof path, "%s.control", directory);
    struct faultfs_control *control = control_make(path);
    ck_assert_uint_lt(strlen(directory), sizeof control->prefix);
    memcpy(control->prefix, directory, strlen(directory) + 1);
    ck_assert_int_eq(setenv("EVIDENCED_FAULTFS", path, 1), 0);
    ck_assert_int_eq(setenv("LD_PRELOAD", shim, 1), 0);
    struct child child = child_start("break", directory);
    ck_assert_int_eq(child_says(&child), 'o');
    ck_assert_int_gt(atomic_load(&control->rules[FAULTFS_SYNC].seen), 0);
    atomic_store(&control->rules[FAULTFS_SYNC].error, EIO);
    atomic_store(&control->rules[FAULTFS_SYNC].fail, 1);
    ck_assert_int_eq(write(child.to, "!", 1), 1);
    ck_assert_int_eq(child_says(&child), 'c');
    int status = child_end(&child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_int_eq(atomic_load(&control->rules[FAULTFS_SYNC].failed), 1);
    open_here();
    ck_assert_uint_ne(latest(thing_key(7)).size_bytes, 0);
    ck_assert_uint_ne(latest(thing_key(1007)).size_bytes, 0);
    (void)munmap(control, sizeof *control);
    suite_close();
}
END_TEST
#define WITH_PRELOAD a_failed_sync_in_a_preloaded_process_is_recovered_from,
#else
#define WITH_PRELOAD /* nothing can be preloaded into a sanitized program */
#endif

int main(void) {
    const char *part = getenv("EVIDENCED_TEST_CHILD");
    if (part != NULL) return child_main(part);
    const TTest *const tests[] = {WITH_CRASH_POINTS WITH_PRELOAD a_second_process_is_refused_with_a_sentence};
    return evd_test_run("store: embedded, several processes", tests, sizeof tests / sizeof *tests);
}
