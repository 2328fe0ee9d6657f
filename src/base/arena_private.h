/*
 * What the buffer may ask of the arena beside what everybody may.
 */
#ifndef EVIDENCED_SRC_BASE_ARENA_PRIVATE_H
#define EVIDENCED_SRC_BASE_ARENA_PRIVATE_H

#include "evidenced/base/arena.h"

#include <stdbool.h>

/** Make the arena's newest allocation, of size_bytes, wanted_bytes long where it is; what is added is not zeroed, and
 * counts as an allocation. False, and nothing changed, when it is not the newest or its block has no room. */
bool evd_arena_extend(struct evd_arena *arena, const void *newest, size_t size_bytes, size_t wanted_bytes)
    __attribute__((warn_unused_result));

#endif
