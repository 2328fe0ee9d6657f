#include "evidenced/base/arena.h"

#include "arena_private.h"

#include <assert.h>
#include <stdalign.h>

enum { FIRST_BLOCK_BYTES = 16 * 1024, LARGEST_STEP_BYTES = 64 * 1024, ALIGNMENT = alignof(max_align_t) };

struct evd_arena_block {
    struct evd_arena_block *older;
    size_t size_bytes, used_bytes;
    alignas(max_align_t) uint8_t bytes[];
};

void evd_arena_init(struct evd_arena *arena, size_t cap_bytes) {
    *arena = (struct evd_arena){.cap_bytes = cap_bytes};
}

static void free_blocks_above(struct evd_arena *arena, const struct evd_arena_block *keep) {
    while (arena->blocks != keep) {
        struct evd_arena_block *older = arena->blocks->older;
        arena->held_bytes -= sizeof(struct evd_arena_block) + arena->blocks->size_bytes;
        free(arena->blocks);
        arena->blocks = older;
    }
}

void evd_arena_done(struct evd_arena *arena) {
    if (arena == NULL) return;
    free_blocks_above(arena, NULL);
    assert(arena->held_bytes == 0);
}

void evd_arena_reset(struct evd_arena *arena) {
    struct evd_arena_block *first = arena->blocks;
    if (first == NULL) return;
    while (first->older != NULL)
        first = first->older;
    free_blocks_above(arena, first);
    first->used_bytes = 0;
}

void evd_arena_exhausted(const struct evd_arena *arena) {
    if (arena->escape == NULL) abort();
    longjmp(*arena->escape, 1);
}

static struct evd_arena_block *block_new(struct evd_arena *arena, size_t need_bytes) {
    size_t size_bytes = arena->blocks == NULL ? FIRST_BLOCK_BYTES : arena->blocks->size_bytes * 2;
    if (size_bytes > LARGEST_STEP_BYTES) size_bytes = LARGEST_STEP_BYTES;
    if (size_bytes < need_bytes) size_bytes = need_bytes;
    if (arena->held_bytes + sizeof(struct evd_arena_block) > arena->cap_bytes) evd_arena_exhausted(arena);
    size_t left_bytes = arena->cap_bytes - arena->held_bytes - sizeof(struct evd_arena_block);
    if (size_bytes > left_bytes) size_bytes = left_bytes;
    if (size_bytes < need_bytes) evd_arena_exhausted(arena);
    struct evd_arena_block *block = malloc(sizeof *block + size_bytes);
    if (block == NULL) evd_arena_exhausted(arena);
    *block = (struct evd_arena_block){.older = arena->blocks, .size_bytes = size_bytes};
    arena->blocks = block;
    arena->held_bytes += sizeof *block + size_bytes;
    return block;
}

static size_t aligned(size_t size_bytes) {
    return (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void count_down(struct evd_arena *arena) {
    if (arena->fail_at > 0 && --arena->fail_at == 0) evd_arena_exhausted(arena);
}

/* As evd_arena_alloc, but not zeroed. */
static void *take(struct evd_arena *arena, size_t size_bytes) {
    count_down(arena);
    if (size_bytes > SIZE_MAX - ALIGNMENT) evd_arena_exhausted(arena);
    size_t need_bytes = aligned(size_bytes);
    struct evd_arena_block *block = arena->blocks;
    if (block == NULL || block->size_bytes - block->used_bytes < need_bytes) block = block_new(arena, need_bytes);
    void *memory = block->bytes + block->used_bytes;
    block->used_bytes += need_bytes;
    return memory;
}

void *evd_arena_alloc(struct evd_arena *arena, size_t size_bytes) {
    return memset(take(arena, size_bytes), 0, size_bytes);
}

void *evd_arena_alloc_array(struct evd_arena *arena, size_t count, size_t size_bytes) {
    size_t product;
    if (__builtin_mul_overflow(count, size_bytes, &product)) evd_arena_exhausted(arena);
    return evd_arena_alloc(arena, product);
}

void *evd_arena_copy(struct evd_arena *arena, const void *from, size_t size_bytes) {
    void *copy = take(arena, size_bytes);
    return size_bytes == 0 ? copy : memcpy(copy, from, size_bytes);
}

bool evd_arena_extend(struct evd_arena *arena, const void *newest, size_t size_bytes, size_t wanted_bytes) {
    struct evd_arena_block *block = arena->blocks;
    size_t held_bytes = aligned(size_bytes);
    assert(size_bytes <= wanted_bytes);
    if (block == NULL || block->used_bytes < held_bytes || wanted_bytes > LARGEST_STEP_BYTES) return false;
    size_t at = block->used_bytes - held_bytes;
    if (block->bytes + at != newest || block->size_bytes - at < aligned(wanted_bytes)) return false;
    count_down(arena);
    block->used_bytes = at + aligned(wanted_bytes);
    return true;
}
