/*
 * Stamps of the hybrid logical clock: 48 bits of milliseconds since 1970, 16 bits of counter.
 *
 * Stamps order records across aggregates; wall-clock fields order nothing. A host needs no state for them: what a
 * command read carries everything it must come after.
 */
#ifndef EVIDENCED_BASE_STAMP_H
#define EVIDENCED_BASE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t evd_stamp;

#define EVD_STAMP_COUNTER_BITS 16
#define EVD_STAMP_TEXT_BYTES   20

int64_t evd_stamp_ms(evd_stamp stamp);

/**
 * The stamp of a command that read nothing later than `largest_read` on a host whose clock says `wall_ms`:
 * the larger of the two, plus one tick.
 *
 * Returns false, *ret_stamp untouched, when that lies more than max_ahead_ms before the host's clock catches up
 * (outcome ClockDrift). Source: consistency model §11.1.
 */
bool evd_stamp_next(int64_t wall_ms, evd_stamp largest_read, int64_t max_ahead_ms, evd_stamp *ret_stamp);

/** Decimal digits, NUL behind them: the form stamps have in JSON, where 64-bit numbers are not safe. */
void evd_stamp_format(evd_stamp stamp, char ret_text[EVD_STAMP_TEXT_BYTES + 1]);

#endif
