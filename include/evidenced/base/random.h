/*
 * Random: the only source of randomness, so that tests own it.
 */
#ifndef EVIDENCED_BASE_RANDOM_H
#define EVIDENCED_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct evd_random {
    void (*fill)(void *self, void *bytes, size_t size_bytes);
    void *self;
};

/** The kernel's generator. Never freed; aborts when the kernel has none. */
const struct evd_random *evd_random_system(void);

/** A number in [0, bound); 0 when bound is 0. The tiny modulo bias does not matter for back-off and ordering. */
uint64_t evd_random_below(const struct evd_random *random, uint64_t bound);

#endif
