#include "evidenced/base/random.h"

#include <errno.h>
#include <sys/random.h>

static void system_fill(void *self, void *bytes, size_t size_bytes) {
    (void)self;
    uint8_t *at = bytes;
    while (size_bytes > 0) {
        ssize_t got = getrandom(at, size_bytes, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) abort();
        at += got;
        size_bytes -= (size_t)got;
    }
}

const struct evd_random *evd_random_system(void) {
    static const struct evd_random random = {.fill = system_fill};
    return &random;
}

uint64_t evd_random_below(const struct evd_random *random, uint64_t bound) {
    uint64_t number;
    if (bound == 0) return 0;
    random->fill(random->self, &number, sizeof number);
    return number % bound;
}
