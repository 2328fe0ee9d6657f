/*
 * The end of the store's log is torn or rotten after a kill: the daemon either says why it does not start, or serves
 * what was acknowledged up to some moment, whole, and nothing else.
 */
#include "../support/desk.h"
#include "../support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAVES = 12, PATH_BYTES = 700 };

static struct evd_daemon_process process;
static struct desk desk;
static char keys[SAVES][EVD_UUID_TEXT_BYTES + 1];
static struct evd_reply saved[SAVES];

static const char *base_of(unsigned save) {
    return save == 0 ? "" : evd_reply_text(&saved[save - 1], "versionId");
}

static void copy_store(const char *from, const char *to) {
    char source[PATH_BYTES], target[PATH_BYTES];
    int status;
    (void)snprintf(source, sizeof source, "%s/%s/.", process.directory, from);
    (void)snprintf(target, sizeof target, "%s/%s", process.directory, to);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        if (fork() == 0) {
            (void)execl("/bin/rm", "rm", "-rf", target, (char *)NULL);
            _exit(127);
        }
        (void)wait(&status);
        (void)execl("/bin/cp", "cp", "-a", source, target, (char *)NULL);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

/* The newest log of RocksDB that holds something, somewhere below the directory. */
static void find_log(const char *directory, char ret_path[PATH_BYTES]) {
    DIR *open = opendir(directory);
    ck_assert_ptr_nonnull(open);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
        char path[PATH_BYTES];
        struct stat is;
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (lstat(path, &is) != 0) continue;
        const char *end = strrchr(entry->d_name, '.');
        if (S_ISDIR(is.st_mode))
            find_log(path, ret_path);
        else if (end != NULL && strcmp(end, ".log") == 0 && is.st_size > 0 && strcmp(path, ret_path) > 0)
            (void)snprintf(ret_path, PATH_BYTES, "%s", path);
    }
    (void)closedir(open);
}

static void open_and_save(void) {
    evd_daemon_process_init(&process);
    evd_daemon_process_start(&process);
    desk_open(&desk, &process, SAVES, 3);
    for (unsigned i = 0; i < SAVES; i++)
        ck_assert_int_eq(desk_save(&desk, 0, 0, evd_test_uuid(keys[i]), base_of(i), 0, "", &saved[i]), 200);
    evd_daemon_process_kill(&process);
    desk_close(&desk);
    copy_store("data", "kept");
}

static void close_all(void) {
    for (unsigned i = 0; i < SAVES; i++)
        evd_reply_done(&saved[i]);
    desk_close(&desk);
    evd_daemon_process_done(&process);
}

/* The versions there are: the first so many of those acknowledged, with their stamps. */
static unsigned expect_prefix(void) {
    struct evd_reply reply;
    char *path = desk_session_path(&desk, 0, "versions?limit=200");
    int status = evd_client_get(&desk.reviewers[0], path, &reply);
    free(path);
    if (status == 404) { /* not even the session is there */
        evd_reply_done(&reply);
        return 0;
    }
    ck_assert_msg(status == 200, "%d %s", status, reply.body);
    const json_t *items = json_object_get(reply.json, "items");
    size_t count = json_array_size(items);
    ck_assert_uint_le(count, SAVES);
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(items, i);
        int64_t seq = json_integer_value(json_object_get(row, "versionSeq"));
        ck_assert(seq >= 1 && seq <= (int64_t)count);
        const struct evd_reply *receipt = &saved[seq - 1];
        ck_assert_str_eq(json_string_value(json_object_get(row, "versionId")), evd_reply_text(receipt, "versionId"));
        ck_assert_str_eq(json_string_value(json_object_get(row, "stamp")), evd_reply_text(receipt, "stamp"));
    }
    evd_reply_done(&reply);
    return (unsigned)count;
}

static void expect_sound(void) {
    struct evd_reply reply;
    char path[100];
    (void)snprintf(path, sizeof path, "/v1/projects/%s/verification", desk.project);
    ck_assert_int_eq(evd_client_get(&desk.admin, path, &reply), 200);
    ck_assert_msg(strstr(reply.body, "\"findings\":0") != NULL, "%s", reply.body);
    evd_reply_done(&reply);
}

/* Each client sends again what it was told: what is there replays, the rest takes effect in its turn. */
static void send_again(unsigned there) {
    for (unsigned i = 0; i < SAVES; i++) {
        struct evd_reply again;
        char replayed[16];
        int status = desk_save(&desk, 0, 0, keys[i], base_of(i), 0, "", &again);
        ck_assert_msg(status == 200, "%u of %u: %d %s", i, there, status, again.body);
        ck_assert_str_eq(evd_reply_text(&again, "versionId"), evd_reply_text(&saved[i], "versionId"));
        ck_assert((evd_reply_header(&again, "Idempotency-Replayed", replayed, sizeof replayed) != NULL) == (i < there));
        if (i < there) ck_assert_str_eq(again.body, saved[i].body);
        evd_reply_done(&again);
    }
}

enum fate { SERVES, SAYS_WHY };

/* Starts on what is left. */
static enum fate start_damaged(unsigned *ret_there) {
    int status = evd_daemon_process_try(&process);
    if (status != 0) {
        ck_assert_msg(status > 0, "it was ended by signal %d: %s", -status, process.log);
        ck_assert_msg(strstr(process.log, "orrupt") != NULL, "%s", process.log);
        return SAYS_WHY;
    }
    *ret_there = expect_prefix();
    expect_sound();
    send_again(*ret_there);
    expect_sound();
    evd_daemon_process_kill(&process);
    desk_close(&desk);
    return SERVES;
}

/* Cut at that many bytes before the end, or with that bit of the byte there turned. */
static enum fate damage(off_t before_end, bool cut, unsigned *ret_there) {
    char path[PATH_BYTES] = "", data[PATH_BYTES];
    struct stat is;
    uint8_t byte;
    copy_store("kept", "data");
    (void)snprintf(data, sizeof data, "%s/data", process.directory);
    find_log(data, path);
    int file = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_msg(file >= 0, "%s", path);
    ck_assert_int_eq(fstat(file, &is), 0);
    ck_assert_int_lt(before_end, is.st_size);
    off_t at = is.st_size - before_end;
    if (cut) {
        ck_assert_int_eq(ftruncate(file, at), 0);
    } else {
        ck_assert_int_eq(pread(file, &byte, 1, at), 1);
        byte ^= (uint8_t)(1U << (at % 8));
        ck_assert_int_eq(pwrite(file, &byte, 1, at), 1);
    }
    (void)close(file);
    return start_damaged(ret_there);
}

static const off_t places[] = {1, 2, 7, 8, 40, 300, 1000, 2500, 5000, 9000, 12000};

static void damage_everywhere(bool cut) {
    unsigned served = 0, refused = 0, least = SAVES, most = 0;
    open_and_save();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        unsigned there = 0;
        if (damage(places[i], cut, &there) == SAYS_WHY) {
            refused++;
            continue;
        }
        served++;
        if (there < least) least = there;
        if (there > most) most = there;
    }
    (void)printf("log tail %s: %u served, with %u to %u of %d versions, %u said why\n", cut ? "cut" : "rotten", served,
                 least, most, SAVES, refused);
    close_all();
}

START_TEST(a_log_cut_anywhere_near_its_end_gives_the_acknowledged_up_to_a_moment) {
    damage_everywhere(true);
}
END_TEST

START_TEST(a_bit_turned_near_the_end_of_the_log_is_said_so_or_gives_the_acknowledged_up_to_a_moment) {
    damage_everywhere(false);
}
END_TEST

EVD_TEST_MAIN("crash: the end of the log", a_log_cut_anywhere_near_its_end_gives_the_acknowledged_up_to_a_moment,
              a_bit_turned_near_the_end_of_the_log_is_said_so_or_gives_the_acknowledged_up_to_a_moment)
