/*
 * Buffer: bytes that grow in an arena. Growing leaves the old bytes to the arena; start with a good guess.
 */
#ifndef EVIDENCED_BASE_BUFFER_H
#define EVIDENCED_BASE_BUFFER_H

#include "evidenced/base/text.h"

#include <stddef.h>
#include <stdint.h>

struct evd_arena;

struct evd_buffer {
    struct evd_arena *arena; /* borrowed */
    uint8_t *bytes;
    size_t size_bytes, capacity_bytes;
};

void evd_buffer_init(struct evd_buffer *buffer, struct evd_arena *arena, size_t expected_bytes);
void evd_buffer_add(struct evd_buffer *buffer, const void *bytes, size_t size_bytes);
void evd_buffer_add_byte(struct evd_buffer *buffer, uint8_t byte);
void evd_buffer_add_text(struct evd_buffer *buffer, struct evd_text text);
void evd_buffer_print(struct evd_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Room for size_bytes more, uninitialised, counted as added. Valid until the next call on the buffer. */
uint8_t *evd_buffer_extend(struct evd_buffer *buffer, size_t size_bytes);

/** What was added so far. Borrows; valid until the next call on the buffer. */
struct evd_text evd_buffer_text(const struct evd_buffer *buffer);

#endif
