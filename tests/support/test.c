#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_DIRECTORIES = 64, TEST_SECONDS = 120 };

static char *directories[MOST_DIRECTORIES];
static atomic_uint directory_count;
static pid_t owner;

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void remove_directories(void) {
    if (getpid() != owner) return;
    for (unsigned i = 0; i < directory_count; i++)
        (void)nftw(directories[i], remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *evd_test_directory(void) {
    const char *parent = getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/evidenced-test.XXXXXX", parent == NULL ? "/tmp" : parent) < 0) abort();
    if (mkdtemp(path) == NULL) abort();
    if (owner != getpid()) {
        owner = getpid();
        directory_count = 0;
        (void)atexit(remove_directories);
    }
    unsigned at = atomic_fetch_add(&directory_count, 1);
    if (at >= MOST_DIRECTORIES) abort();
    directories[at] = path;
    return path;
}

int evd_test_run(const char *suite_name, const TTest *const *tests, size_t count) {
    Suite *suite = suite_create(suite_name);
    const char *scale = getenv("EVIDENCED_TEST_TIMEOUT");
    for (size_t i = 0; i < count; i++) {
        TCase *test_case = tcase_create(tests[i]->name);
        tcase_set_timeout(test_case, scale == NULL ? TEST_SECONDS : strtod(scale, NULL));
        tcase_add_test(test_case, tests[i]);
        suite_add_tcase(suite, test_case);
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int64_t test_wall_ms(void *self) {
    return atomic_load(&((struct evd_test_clock *)self)->wall_ms);
}

static int64_t test_monotonic_us(void *self) {
    return atomic_load(&((struct evd_test_clock *)self)->monotonic_us);
}

void evd_test_clock_init(struct evd_test_clock *clock, int64_t wall_ms) {
    atomic_init(&clock->wall_ms, wall_ms);
    atomic_init(&clock->monotonic_us, 1000000);
    clock->clock = (struct evd_clock){.wall_ms = test_wall_ms, .monotonic_us = test_monotonic_us, .self = clock};
}

void evd_test_clock_advance(struct evd_test_clock *clock, int64_t by_ms) {
    atomic_fetch_add(&clock->wall_ms, by_ms);
    atomic_fetch_add(&clock->monotonic_us, by_ms * 1000);
}

/* splitmix64: every seed, 0 too, gives a full-period sequence. */
static uint64_t test_next(struct evd_test_random *random) {
    uint64_t mixed = random->state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

static void test_fill(void *self, void *bytes, size_t size_bytes) {
    uint8_t *at = bytes;
    for (size_t i = 0; i < size_bytes; i += 8) {
        uint64_t word = test_next(self);
        size_t part = size_bytes - i < 8 ? size_bytes - i : 8;
        memcpy(at + i, &word, part);
    }
}

void evd_test_random_init(struct evd_test_random *random, uint64_t seed) {
    random->state = seed;
    random->random = (struct evd_random){.fill = test_fill, .self = random};
}
