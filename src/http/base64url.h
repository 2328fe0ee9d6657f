/*
 * base64url as JOSE uses it (RFC 7515 §2): no padding, no white space, one spelling for each value.
 */
#ifndef EVIDENCED_HTTP_BASE64URL_H
#define EVIDENCED_HTTP_BASE64URL_H

#include "evidenced/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Characters that size_bytes bytes take, and the most bytes that text_bytes characters give. */
#define EVD_BASE64URL_TEXT_BYTES(size_bytes)    (((size_bytes)*4 + 2) / 3)
#define EVD_BASE64URL_DECODED_BYTES(text_bytes) ((text_bytes) / 4 * 3 + 2)

/**
 * Decode into buffer. False for any other character, a length no value has, bits behind the last byte that are not
 * zero, or more than capacity_bytes; the buffer's content is then unspecified and *ret_size_bytes untouched.
 */
bool evd_base64url_decode(struct evd_text text, uint8_t *buffer, size_t capacity_bytes, size_t *ret_size_bytes);

/** Encode; ret_text holds EVD_BASE64URL_TEXT_BYTES(size_bytes) characters and a NUL. Returns the characters. */
size_t evd_base64url_encode(const void *bytes, size_t size_bytes, char *ret_text);

#endif
