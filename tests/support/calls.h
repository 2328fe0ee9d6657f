/*
 * The store calls of what a test asks, as text: a line each, `get study 1`.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_CALLS_H
#define EVIDENCED_TESTS_SUPPORT_CALLS_H

#include "house.h"

/** Begin anew. One house at a time. */
void calls_watch(struct house *house);

/** All since; stop watching. Valid until the next calls_watch. */
const char *calls_watched(struct house *house);

/** The same list whatever the numbers of records are: `get study`. */
void calls_without_numbers(const char *calls, char *out, size_t size);

#endif
