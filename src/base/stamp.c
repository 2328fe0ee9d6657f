#include "evidenced/base/stamp.h"

#include <inttypes.h>
#include <stdio.h>

int64_t evd_stamp_ms(evd_stamp stamp) {
    return (int64_t)(stamp >> EVD_STAMP_COUNTER_BITS);
}

bool evd_stamp_next(int64_t wall_ms, evd_stamp largest_read, int64_t max_ahead_ms, evd_stamp *ret_stamp) {
    evd_stamp host = wall_ms < 0 ? 0 : (evd_stamp)wall_ms << EVD_STAMP_COUNTER_BITS;
    evd_stamp base = host > largest_read ? host : largest_read;
    if (base == UINT64_MAX) return false;
    evd_stamp next = base + 1;
    if (evd_stamp_ms(next) - wall_ms > max_ahead_ms) return false;
    *ret_stamp = next;
    return true;
}

void evd_stamp_format(evd_stamp stamp, char ret_text[EVD_STAMP_TEXT_BYTES + 1]) {
    (void)snprintf(ret_text, EVD_STAMP_TEXT_BYTES + 1, "%" PRIu64, stamp);
}
