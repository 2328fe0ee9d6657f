#include "evidenced/base/canary.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} canaries[] = {
#define EVD_CANARY_ROW(id, name, what) {name, what},
    EVD_CANARIES(EVD_CANARY_ROW)
#undef EVD_CANARY_ROW
};

const char *evd_canary_name(enum evd_canary canary) {
    return canaries[canary].name;
}

const char *evd_canary_meaning(enum evd_canary canary) {
    return canaries[canary].meaning;
}

#ifdef EVD_TEST
static enum evd_canary chosen = EVD_CANARY_COUNT;
static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;

static void choose(void) {
    const char *wish = getenv("EVIDENCED_CANARY");
    if (wish == NULL) return;
    for (int canary = 0; canary < EVD_CANARY_COUNT; canary++)
        if (strcmp(canaries[canary].name, wish) == 0) chosen = (enum evd_canary)canary;
    if (chosen == EVD_CANARY_COUNT) abort(); /* a misspelt one must not pass for one that nothing catches */
}

void evd_canary_choose(enum evd_canary canary) {
    (void)pthread_once(&chosen_once, choose);
    chosen = canary;
}

bool evd_canary_is_chosen(enum evd_canary canary) {
    (void)pthread_once(&chosen_once, choose);
    return chosen == canary;
}
#endif
