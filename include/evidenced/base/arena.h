/*
 * Arena: the memory of one call, taken piece by piece and given back whole.
 *
 * One owner, one thread at a time. Blocks come from malloc and grow geometrically; nothing is freed singly.
 * An arena never returns NULL: past its cap, or when the system has no memory, it jumps to the escape its owner set.
 * Code that runs between the two (parse, read, refuse, derive) must therefore hold nothing that needs releasing.
 */
#ifndef EVIDENCED_BASE_ARENA_H
#define EVIDENCED_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct evd_arena_block;

struct evd_arena {
    struct evd_arena_block *blocks; /* newest first */
    size_t cap_bytes;               /* what the blocks may hold together */
    size_t held_bytes;
    jmp_buf *escape; /* borrowed; NULL: exhaustion is a programmer error and aborts */
    int64_t fail_at; /* tests: fail at this allocation, counted down; 0: never */
};

/** Start an empty arena. Takes no memory until the first allocation. cap_bytes: at most this much, block headers
 * included. */
void evd_arena_init(struct evd_arena *arena, size_t cap_bytes);

/** Give everything back. NULL is fine; the arena may be initialised again. */
void evd_arena_done(struct evd_arena *arena);

/** Forget all allocations but keep the first block for reuse: an attempt that is run again starts clean. */
void evd_arena_reset(struct evd_arena *arena);

/** size_bytes of zeroed memory, aligned for any type; lives until reset or done. Jumps to `escape` when exhausted. */
void *evd_arena_alloc(struct evd_arena *arena, size_t size_bytes) __attribute__((malloc, returns_nonnull));

/** count elements of size_bytes each, zeroed; an overflowing product counts as exhaustion. */
void *evd_arena_alloc_array(struct evd_arena *arena, size_t count, size_t size_bytes)
    __attribute__((malloc, returns_nonnull));

/** A copy of size_bytes bytes at `from`. */
void *evd_arena_copy(struct evd_arena *arena, const void *from, size_t size_bytes)
    __attribute__((malloc, returns_nonnull));

/** Memory that is not the arena's ran out on its owner's behalf: leave as the arena itself does. */
_Noreturn void evd_arena_exhausted(const struct evd_arena *arena);

#define EVD_NEW(arena, type)              ((type *)evd_arena_alloc((arena), sizeof(type)))
#define EVD_NEW_ARRAY(arena, type, count) ((type *)evd_arena_alloc_array((arena), (count), sizeof(type)))

#endif
