#include "bench.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

enum { MOST_ROWS = 256, NAME_BYTES = 64 };

static struct {
    char name[NAME_BYTES];
    const char *unit;
    double value, floor, ratio, p99_ratio;
} rows[MOST_ROWS];
static size_t row_count;

void bench_row(const char *name, double value, const char *unit, double floor, double ratio, double p99_ratio) {
    if (row_count == MOST_ROWS) bench_fail("too many rows");
    (void)snprintf(rows[row_count].name, NAME_BYTES, "%s", name);
    rows[row_count].unit = unit;
    rows[row_count].value = value;
    rows[row_count].floor = floor;
    rows[row_count].ratio = ratio;
    rows[row_count++].p99_ratio = p99_ratio;
}

static void print_number(double number, int decimals) {
    if (isnan(number))
        (void)printf(" %12s", "");
    else
        (void)printf(" %12.*f", decimals, number);
}

void bench_rows_print(void) {
    (void)printf("\n%-28s %12s %-9s %12s %12s %12s\n", "name", "value", "unit", "floor", "ratio", "p99 ratio");
    for (size_t i = 0; i < row_count; i++) {
        int decimals = rows[i].value < 100 && rows[i].value != floor(rows[i].value) ? 2 : 0;
        (void)printf("%-28s", rows[i].name);
        print_number(rows[i].value, decimals);
        (void)printf(" %-9s", rows[i].unit);
        print_number(rows[i].floor, decimals);
        print_number(rows[i].ratio, 2);
        print_number(rows[i].p99_ratio, 2);
        (void)printf("\n");
    }
}

static json_t *number_or_null(double number) {
    return isnan(number) ? json_null() : json_real(round(number * 1000) / 1000);
}

void bench_rows_write(const char *path) {
    json_t *list = json_array(), *all = json_object();
    for (size_t i = 0; i < row_count; i++)
        (void)json_array_append_new(
            list, json_pack("{s:s, s:o, s:s, s:o, s:o, s:o}", "name", rows[i].name, "value",
                            number_or_null(rows[i].value), "unit", rows[i].unit, "floor", number_or_null(rows[i].floor),
                            "ratio", number_or_null(rows[i].ratio), "p99_ratio", number_or_null(rows[i].p99_ratio)));
    (void)json_object_set_new(all, "rows", list);
    if (json_dump_file(all, path, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) != 0)
        bench_fail("%s cannot be written", path);
    json_decref(all);
}
