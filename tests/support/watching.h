/*
 * The store calls of the house, written down as they happen: a line each, `get study 1`.
 */
#ifndef EVIDENCED_TESTS_SUPPORT_WATCHING_H
#define EVIDENCED_TESTS_SUPPORT_WATCHING_H

#include "house.h"

/** Begin a new list. */
void watch(struct house *house);

/** End it: valid until the next. */
const char *watched(struct house *house);

/** The same list whatever the numbers of records are: "get study", not "get study 1". */
void without_numbers(const char *calls, char *out, size_t size);

#endif
