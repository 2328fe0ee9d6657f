/*
 * What a fuzzer says about an answer: where it does not hold, the run ends and the input is kept.
 */
#ifndef EVIDENCED_TESTS_FUZZ_EXPECT_H
#define EVIDENCED_TESTS_FUZZ_EXPECT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                       \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
