#include "domain/answer_bound.h"

#include "evidenced/base/clock.h"

enum { DECIMAL_DIGITS = 34 };

static size_t digits_in(struct evd_text text) {
    size_t count = 0;
    while (count < text.size_bytes && text.bytes[count] >= '0' && text.bytes[count] <= '9')
        count++;
    return count;
}

static struct evd_text without(struct evd_text text, size_t first_bytes) {
    return (struct evd_text){text.bytes + first_bytes, text.size_bytes - first_bytes};
}

bool evd_decimal_is_valid(struct evd_text text) {
    if (text.size_bytes > 0 && text.bytes[0] == '-') text = without(text, 1);
    size_t whole = digits_in(text), fraction = 0;
    if (whole == 0) return false;
    text = without(text, whole);
    if (text.size_bytes > 0 && text.bytes[0] == '.') {
        text = without(text, 1);
        fraction = digits_in(text);
        if (fraction == 0) return false;
        text = without(text, fraction);
    }
    return text.size_bytes == 0 && whole + fraction <= DECIMAL_DIGITS;
}

/* A decimal's parts, with the zeros off that do not change its value. */
struct parts {
    bool negative;
    struct evd_text whole, fraction;
};

static struct parts parts_of(struct evd_text text) {
    struct parts parts = {.negative = text.bytes[0] == '-', .fraction = EVD_TEXT("")};
    if (parts.negative) text = without(text, 1);
    size_t whole = digits_in(text);
    parts.whole = (struct evd_text){text.bytes, whole};
    while (parts.whole.size_bytes > 0 && parts.whole.bytes[0] == '0')
        parts.whole = without(parts.whole, 1);
    if (text.size_bytes > whole) parts.fraction = without(text, whole + 1);
    while (parts.fraction.size_bytes > 0 && parts.fraction.bytes[parts.fraction.size_bytes - 1] == '0')
        parts.fraction.size_bytes--;
    if (parts.whole.size_bytes == 0 && parts.fraction.size_bytes == 0) parts.negative = false;
    return parts;
}

int evd_decimal_compare(struct evd_text a, struct evd_text b) {
    struct parts left = parts_of(a), right = parts_of(b);
    if (left.negative != right.negative) return left.negative ? -1 : 1;
    int order = (left.whole.size_bytes > right.whole.size_bytes) - (left.whole.size_bytes < right.whole.size_bytes);
    if (order == 0) order = evd_text_compare(left.whole, right.whole);
    if (order == 0) order = evd_text_compare(left.fraction, right.fraction);
    return left.negative ? -order : order;
}

bool evd_bound_is_allowed(enum evd_question_kind kind) {
    return kind == EVD_QUESTION_INTEGER || kind == EVD_QUESTION_DECIMAL || kind == EVD_QUESTION_DATE;
}

bool evd_bound_is_valid(enum evd_question_kind kind, struct evd_text text) {
    int64_t integer;
    if (kind == EVD_QUESTION_DATE) return evd_date_is_valid(text);
    if (kind == EVD_QUESTION_DECIMAL) return evd_decimal_is_valid(text);
    return evd_text_to_i64(text, &integer) && integer >= -EVD_INTEGER_LARGEST && integer <= EVD_INTEGER_LARGEST;
}

int evd_bound_compare(enum evd_question_kind kind, struct evd_text a, struct evd_text b) {
    /* The largest unit comes first in a date, and all have four digits of year: byte order is the calendar's. */
    return kind == EVD_QUESTION_DATE ? evd_text_compare(a, b) : evd_decimal_compare(a, b);
}
