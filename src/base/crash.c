#include "evidenced/base/crash.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} points[] = {
#define EVD_CRASH_ROW(id, name, what) {name, what},
    EVD_CRASH_POINTS(EVD_CRASH_ROW)
#undef EVD_CRASH_ROW
};

const char *evd_crash_point_name(enum evd_crash_point point) {
    return points[point].name;
}

const char *evd_crash_point_meaning(enum evd_crash_point point) {
    return points[point].meaning;
}

#ifdef EVD_TEST
static int chosen = -1;
static atomic_long passes_left;
static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;

static void choose(void) {
    const char *wish = getenv("EVIDENCED_CRASH_AT");
    if (wish == NULL) return;
    size_t name_bytes = strcspn(wish, ":");
    for (int point = 0; point < EVD_CRASH_COUNT; point++)
        if (strlen(points[point].name) == name_bytes && strncmp(points[point].name, wish, name_bytes) == 0)
            chosen = point;
    long passes = wish[name_bytes] == ':' ? strtol(wish + name_bytes + 1, NULL, 10) : 1;
    if (chosen < 0 || passes < 1) abort(); /* a misspelt point must not pass for a survived crash */
    atomic_store(&passes_left, passes);
}

void evd_crash_point_pass(enum evd_crash_point point) {
    (void)pthread_once(&chosen_once, choose);
    if (chosen == (int)point && atomic_fetch_sub(&passes_left, 1) == 1) (void)raise(SIGKILL);
}
#endif
