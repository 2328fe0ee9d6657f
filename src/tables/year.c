#include "tables/given.h"

/* What is written where there is no year to write; compared without case. */
static const struct evd_text none_given[] = {
    EVD_TEXT_INIT("n.d."),    EVD_TEXT_INIT("n.d"),         EVD_TEXT_INIT("nd"),           EVD_TEXT_INIT("no date"),
    EVD_TEXT_INIT("undated"), EVD_TEXT_INIT("n/a"),         EVD_TEXT_INIT("n.a."),         EVD_TEXT_INIT("na"),
    EVD_TEXT_INIT("nan"),     EVD_TEXT_INIT("nat"),         EVD_TEXT_INIT("none"),         EVD_TEXT_INIT("null"),
    EVD_TEXT_INIT("unknown"), EVD_TEXT_INIT("forthcoming"), EVD_TEXT_INIT("in press"),     EVD_TEXT_INIT("in-press"),
    EVD_TEXT_INIT("0"),       EVD_TEXT_INIT("0000"),        EVD_TEXT_INIT("0.0"),          EVD_TEXT_INIT("-"),
    EVD_TEXT_INIT("?"),       EVD_TEXT_INIT("///"),         EVD_TEXT_INIT("\xE2\x80\x93"), /* en dash */
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool says_none(struct evd_text text) {
    for (size_t i = 0; i < sizeof none_given / sizeof *none_given; i++)
        if (evd_text_equal_ignoring_case(text, none_given[i])) return true;
    return text.size_bytes == 0;
}

static size_t digits_in_front(struct evd_text text) {
    size_t count = 0;
    while (count < text.size_bytes && is_digit(text.bytes[count]))
        count++;
    return count;
}

static size_t digits_behind(struct evd_text text) {
    size_t count = 0;
    while (count < text.size_bytes && is_digit(text.bytes[text.size_bytes - 1 - count]))
        count++;
    return count;
}

static int64_t number(const char *digits, size_t count) {
    uint64_t value = 0;
    (void)evd_text_to_u64((struct evd_text){digits, count}, &value);
    return (int64_t)value;
}

/* `20190503`, as databases write a day. */
static bool is_day(struct evd_text text) {
    if (text.size_bytes != 8 || digits_in_front(text) != 8) return false;
    int64_t month = number(text.bytes + 4, 2), day = number(text.bytes + 6, 2);
    return month <= 12 && day <= 31;
}

/* What spreadsheets and statistics programs make of a whole number: `2019.0`. */
static struct evd_text without_zeros(struct evd_text text) {
    size_t whole = digits_in_front(text);
    if (whole == 0 || whole == text.size_bytes || text.bytes[whole] != '.') return text;
    for (size_t i = whole + 1; i < text.size_bytes; i++)
        if (text.bytes[i] != '0') return text;
    return (struct evd_text){text.bytes, whole};
}

enum evd_year evd_year_read(struct evd_text text, int64_t *ret_year) {
    int64_t year = 0;
    text = without_zeros(evd_text_trim(text));
    *ret_year = 0;
    if (says_none(text)) return EVD_YEAR_NONE;
    size_t front = digits_in_front(text);
    if (front == 4 || is_day(text)) {
        year = number(text.bytes, 4);
    } else if (front == text.size_bytes && front < 4) {
        year = number(text.bytes, front);
    } else if (front < text.size_bytes && digits_behind(text) == 4) {
        year = number(text.bytes + text.size_bytes - 4, 4);
    }
    if (year == 0) return EVD_YEAR_MALFORMED;
    *ret_year = year;
    return EVD_YEAR_GIVEN;
}
