/*
 * Calls that do not compile here, because each has hurt somebody: unbounded copies, hidden shared state,
 * silent conversion errors. Forced into every translation unit by the Makefile.
 */
#ifndef EVIDENCED_BASE_BANNED_H
#define EVIDENCED_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets strtok
#pragma GCC poison atoi atol atoll atof gmtime localtime ctime asctime tmpnam mktemp

#endif
