#include "evidenced/base/buffer.h"

#include "arena_private.h"

#include <stdarg.h>

void evd_buffer_init(struct evd_buffer *buffer, struct evd_arena *arena, size_t expected_bytes) {
    *buffer = (struct evd_buffer){.arena = arena, .capacity_bytes = expected_bytes < 64 ? 64 : expected_bytes};
    buffer->bytes = evd_arena_alloc(arena, buffer->capacity_bytes);
}

uint8_t *evd_buffer_extend(struct evd_buffer *buffer, size_t size_bytes) {
    if (size_bytes > buffer->capacity_bytes - buffer->size_bytes) {
        size_t capacity_bytes = buffer->capacity_bytes * 2, needed_bytes;
        if (__builtin_add_overflow(buffer->size_bytes, size_bytes, &needed_bytes)) needed_bytes = SIZE_MAX;
        if (capacity_bytes < needed_bytes) capacity_bytes = needed_bytes;
        if (!evd_arena_extend(buffer->arena, buffer->bytes, buffer->capacity_bytes, capacity_bytes)) {
            uint8_t *bytes = evd_arena_alloc(buffer->arena, capacity_bytes);
            memcpy(bytes, buffer->bytes, buffer->size_bytes);
            buffer->bytes = bytes;
        }
        buffer->capacity_bytes = capacity_bytes;
    }
    uint8_t *added = buffer->bytes + buffer->size_bytes;
    buffer->size_bytes += size_bytes;
    return added;
}

void evd_buffer_add(struct evd_buffer *buffer, const void *bytes, size_t size_bytes) {
    if (size_bytes > 0) memcpy(evd_buffer_extend(buffer, size_bytes), bytes, size_bytes);
}

void evd_buffer_add_byte(struct evd_buffer *buffer, uint8_t byte) {
    *evd_buffer_extend(buffer, 1) = byte;
}

void evd_buffer_add_text(struct evd_buffer *buffer, struct evd_text text) {
    evd_buffer_add(buffer, text.bytes, text.size_bytes);
}

void evd_buffer_print(struct evd_buffer *buffer, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0) abort(); /* only a wrong format does this */
    char *bytes = (char *)evd_buffer_extend(buffer, (size_t)size + 1);
    (void)vsnprintf(bytes, (size_t)size + 1, format, again);
    va_end(again);
    buffer->size_bytes--; /* the NUL is not part of the text */
}

struct evd_text evd_buffer_text(const struct evd_buffer *buffer) {
    return (struct evd_text){(const char *)buffer->bytes, buffer->size_bytes};
}
