/*
 * A family holds one cell a pair of label values, row by row, laid out when it is declared and never moved. A cell of
 * values that cannot meet exists too, unused: a few bytes for a hot path without a search.
 */
#include "evidenced/http/metrics.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

#define BEGIN_LETTERS "abcdefghijklmnopqrstuvwxyz_"
#define LETTERS       BEGIN_LETTERS "0123456789"

enum kind { COUNTER, HISTOGRAM, GAUGE, COUNTED };

enum { LAST_BUCKET = EVD_METRICS_BUCKETS, HISTOGRAM_LINES = EVD_METRICS_BUCKETS + 3, NUMBER_BYTES = 32 };

static const struct {
    int64_t most_us;
    const char *text; /* seconds */
} buckets[] = {{1000, "0.001"}, {2000, "0.002"}, {5000, "0.005"},  {10000, "0.01"}, {20000, "0.02"},
               {50000, "0.05"}, {100000, "0.1"}, {200000, "0.2"},  {500000, "0.5"}, {1000000, "1"},
               {2000000, "2"},  {5000000, "5"},  {10000000, "10"}, {30000000, "30"}};

_Static_assert(sizeof buckets / sizeof *buckets == EVD_METRICS_BUCKETS, "as many as the header says");

struct distribution {
    atomic_uint_least64_t buckets[EVD_METRICS_BUCKETS + 1]; /* not cumulative; the last is +Inf */
    atomic_uint_least64_t sum_us;
};

struct family {
    struct evd_metric_family is;
    enum kind kind;
    size_t columns; /* values of the second label */
    size_t cells;
    const bool *possible; /* by cell */
    union {
        atomic_uint_least64_t *counts;
        struct distribution *distributions;
    };
    evd_metric_reader *read;
    void *self;
    atomic_uint_least64_t *misplaced; /* the registry's */
};

struct evd_counter {
    struct family family;
};

struct evd_histogram {
    struct family family;
};

struct evd_metrics {
    struct evd_arena arena;
    bool is_sealed;
    size_t series, family_count;
    struct family *families[EVD_METRICS_FAMILIES];
    atomic_uint_least64_t misplaced;
};

static double read_misplaced(void *self, size_t first, size_t second) {
    (void)first;
    (void)second;
    return (double)atomic_load_explicit(&((struct evd_metrics *)self)->misplaced, memory_order_relaxed);
}

struct evd_metrics *evd_metrics_new(void) {
    static const struct evd_metric_family misplaced = {
        .name = "evidenced_metrics_misplaced_total",
        .help = "Counts whose labels were not expected together; each is a fault in the daemon."};
    struct evd_metrics *metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL) return NULL;
    evd_arena_init(&metrics->arena, 16 * EVD_MIB);
    evd_metrics_counted(metrics, &misplaced, read_misplaced, metrics);
    return metrics;
}

void evd_metrics_free(struct evd_metrics *metrics) {
    if (metrics == NULL) return;
    evd_arena_done(&metrics->arena);
    free(metrics);
}

static bool is_name(const char *name) {
    return name[0] != '\0' && strchr(BEGIN_LETTERS, name[0]) != NULL && name[strspn(name, LETTERS)] == '\0';
}

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), end_size = strlen(end);
    return size > end_size && strcmp(text + size - end_size, end) == 0;
}

static bool follows_conventions(const struct evd_metric_family *family, enum kind kind) {
    bool ours = strncmp(family->name, "evidenced_", 10) == 0 || strncmp(family->name, "process_", 8) == 0;
    bool counts = kind == COUNTER || kind == COUNTED;
    if (!ours || !is_name(family->name) || counts != ends_with(family->name, "_total")) return false;
    if (kind == HISTOGRAM && !ends_with(family->name, "_seconds")) return false;
    if (family->labels[0].name == NULL && family->labels[1].name != NULL) return false;
    for (size_t i = 0; i < 2 && family->labels[i].name != NULL; i++)
        if (!is_name(family->labels[i].name) || family->labels[i].name[0] == '_' || family->labels[i].count == 0 ||
            strcmp(family->labels[i].name, "le") == 0)
            return false;
    return family->labels[1].name == NULL || strcmp(family->labels[0].name, family->labels[1].name) != 0;
}

static bool is_declared(const struct evd_metrics *metrics, const char *name) {
    for (size_t i = 0; i < metrics->family_count; i++)
        if (strcmp(metrics->families[i]->is.name, name) == 0) return true;
    return false;
}

static size_t rows_of(const struct evd_metric_label *label) {
    return label->name == NULL ? 1 : label->count;
}

/* Check, lay out the possible cells, count them. */
static void declare(struct evd_metrics *metrics, struct family *family, const struct evd_metric_family *is,
                    enum kind kind) {
    assert(!metrics->is_sealed);
    assert(follows_conventions(is, kind));
    assert(!is_declared(metrics, is->name));
    assert(metrics->family_count < EVD_METRICS_FAMILIES);
    size_t rows = rows_of(&is->labels[0]), columns = rows_of(&is->labels[1]);
    assert(rows <= 1000 && columns <= 1000);
    bool *possible = EVD_NEW_ARRAY(&metrics->arena, bool, rows *columns);
    for (size_t cell = 0; cell < rows * columns; cell++) {
        possible[cell] = is->is_possible == NULL || is->is_possible(cell / columns, cell % columns);
        if (possible[cell]) metrics->series += kind == HISTOGRAM ? HISTOGRAM_LINES : 1;
    }
    assert(metrics->series <= EVD_METRICS_SERIES);
    *family = (struct family){.is = *is,
                              .kind = kind,
                              .columns = columns,
                              .cells = rows * columns,
                              .possible = possible,
                              .misplaced = &metrics->misplaced};
    metrics->families[metrics->family_count++] = family;
}

struct evd_counter *evd_metrics_counter(struct evd_metrics *metrics, const struct evd_metric_family *family) {
    struct evd_counter *counter = EVD_NEW(&metrics->arena, struct evd_counter);
    declare(metrics, &counter->family, family, COUNTER);
    counter->family.counts = EVD_NEW_ARRAY(&metrics->arena, atomic_uint_least64_t, counter->family.cells);
    return counter;
}

struct evd_histogram *evd_metrics_histogram(struct evd_metrics *metrics, const struct evd_metric_family *family) {
    struct evd_histogram *histogram = EVD_NEW(&metrics->arena, struct evd_histogram);
    declare(metrics, &histogram->family, family, HISTOGRAM);
    histogram->family.distributions = EVD_NEW_ARRAY(&metrics->arena, struct distribution, histogram->family.cells);
    return histogram;
}

static void declare_read(struct evd_metrics *metrics, const struct evd_metric_family *is, enum kind kind,
                         evd_metric_reader *read, void *self) {
    struct family *family = EVD_NEW(&metrics->arena, struct family);
    declare(metrics, family, is, kind);
    family->read = read;
    family->self = self;
}

void evd_metrics_gauge(struct evd_metrics *metrics, const struct evd_metric_family *family, evd_metric_reader *read,
                       void *self) {
    declare_read(metrics, family, GAUGE, read, self);
}

void evd_metrics_counted(struct evd_metrics *metrics, const struct evd_metric_family *family, evd_metric_reader *read,
                         void *self) {
    declare_read(metrics, family, COUNTED, read, self);
}

void evd_metrics_seal(struct evd_metrics *metrics) {
    assert(!metrics->is_sealed);
    metrics->is_sealed = true;
}

static void add(atomic_uint_least64_t *count, uint64_t by) {
    (void)atomic_fetch_add_explicit(count, by, memory_order_relaxed);
}

static uint64_t load(const atomic_uint_least64_t *count) {
    return atomic_load_explicit(count, memory_order_relaxed);
}

/* True and the cell, or false and the count is a misplaced one. */
static bool find_cell(struct family *family, size_t first, size_t second, size_t *ret_cell) {
    size_t cell = first * family->columns + second;
    if (second < family->columns && first < family->cells / family->columns && family->possible[cell]) {
        *ret_cell = cell;
        return true;
    }
    add(family->misplaced, 1);
    return false;
}

void evd_counter_add(struct evd_counter *counter, size_t first, size_t second, uint64_t by) {
    size_t cell;
    if (find_cell(&counter->family, first, second, &cell)) add(&counter->family.counts[cell], by);
}

void evd_histogram_observe(struct evd_histogram *histogram, size_t first, size_t second, int64_t duration_us) {
    size_t cell, bucket = 0;
    if (!find_cell(&histogram->family, first, second, &cell)) return;
    if (duration_us < 0) duration_us = 0;
    while (bucket < LAST_BUCKET && duration_us > buckets[bucket].most_us)
        bucket++;
    struct distribution *distribution = &histogram->family.distributions[cell];
    add(&distribution->buckets[bucket], 1);
    add(&distribution->sum_us, (uint64_t)duration_us);
}

/* ---- rendering ---- */

static void render_escaped(struct evd_buffer *buffer, const char *text, const char *escaped) {
    for (; *text != '\0'; text++) {
        if (strchr(escaped, *text) != NULL) evd_buffer_add_byte(buffer, '\\');
        evd_buffer_add_byte(buffer, *text == '\n' ? 'n' : (uint8_t)*text);
    }
}

/* `{command="Save",le="0.1"}`, or nothing. */
static void render_labels(struct evd_buffer *buffer, const struct family *family, size_t cell, const char *le) {
    const size_t places[] = {cell / family->columns, cell % family->columns};
    const char *before = "{";
    for (size_t i = 0; i < 2 && family->is.labels[i].name != NULL; i++, before = ",") {
        evd_buffer_print(buffer, "%s%s=\"", before, family->is.labels[i].name);
        render_escaped(buffer, family->is.labels[i].values[places[i]], "\\\"\n");
        evd_buffer_add_byte(buffer, '"');
    }
    if (le != NULL) evd_buffer_print(buffer, "%sle=\"%s\"", before, le);
    if (le != NULL || family->is.labels[0].name != NULL) evd_buffer_add_byte(buffer, '}');
}

static void render_line(struct evd_buffer *buffer, const struct family *family, const char *suffix, size_t cell,
                        const char *le, const char *value) {
    evd_buffer_print(buffer, "%s%s", family->is.name, suffix);
    render_labels(buffer, family, cell, le);
    evd_buffer_print(buffer, " %s\n", value);
}

static void render_whole(struct evd_buffer *buffer, const struct family *family, const char *suffix, size_t cell,
                         const char *le, uint64_t whole) {
    char number[NUMBER_BYTES];
    (void)snprintf(number, sizeof number, "%" PRIu64, whole);
    render_line(buffer, family, suffix, cell, le, number);
}

static void render_real(struct evd_buffer *buffer, const struct family *family, size_t cell, double real) {
    char number[NUMBER_BYTES];
    if (isnan(real))
        (void)snprintf(number, sizeof number, "NaN");
    else if (isinf(real))
        (void)snprintf(number, sizeof number, "%cInf", real < 0 ? '-' : '+');
    else if (snprintf(number, sizeof number, "%.15g", real) > 0 && strtod(number, NULL) != real)
        (void)snprintf(number, sizeof number, "%.17g", real); /* only where 15 digits do not say it */
    render_line(buffer, family, "", cell, NULL, number);
}

static void render_distribution(struct evd_buffer *buffer, const struct family *family, size_t cell) {
    const struct distribution *distribution = &family->distributions[cell];
    uint64_t counts[EVD_METRICS_BUCKETS + 1], count = 0, sum_us = load(&distribution->sum_us);
    char sum[NUMBER_BYTES];
    for (size_t i = 0; i <= LAST_BUCKET; i++) {
        counts[i] = load(&distribution->buckets[i]);
        count += counts[i];
    }
    if (count == 0 && family->is.labels[0].name != NULL) return;
    uint64_t so_far = 0;
    for (size_t i = 0; i < LAST_BUCKET; i++) {
        so_far += counts[i];
        render_whole(buffer, family, "_bucket", cell, buckets[i].text, so_far);
    }
    render_whole(buffer, family, "_bucket", cell, "+Inf", count);
    (void)snprintf(sum, sizeof sum, "%" PRIu64 ".%06" PRIu64, sum_us / 1000000, sum_us % 1000000);
    render_line(buffer, family, "_sum", cell, NULL, sum);
    render_whole(buffer, family, "_count", cell, NULL, count);
}

static void render_cell(struct evd_buffer *buffer, const struct family *family, size_t cell) {
    switch (family->kind) {
    case COUNTER: {
        uint64_t count = load(&family->counts[cell]);
        if (count > 0 || family->is.labels[0].name == NULL) render_whole(buffer, family, "", cell, NULL, count);
        break;
    }
    case HISTOGRAM: render_distribution(buffer, family, cell); break;
    case GAUGE:
    case COUNTED:
        render_real(buffer, family, cell, family->read(family->self, cell / family->columns, cell % family->columns));
        break;
    }
}

static const char *type_of(enum kind kind) {
    switch (kind) {
    case COUNTER:
    case COUNTED: return "counter";
    case HISTOGRAM: return "histogram";
    case GAUGE: return "gauge";
    }
    abort();
}

void evd_metrics_render(const struct evd_metrics *metrics, struct evd_buffer *buffer) {
    assert(metrics->is_sealed);
    for (size_t i = 0; i < metrics->family_count; i++) {
        const struct family *family = metrics->families[i];
        evd_buffer_print(buffer, "# HELP %s ", family->is.name);
        render_escaped(buffer, family->is.help, "\\\n");
        evd_buffer_print(buffer, "\n# TYPE %s %s\n", family->is.name, type_of(family->kind));
        for (size_t cell = 0; cell < family->cells; cell++)
            if (family->possible[cell]) render_cell(buffer, family, cell);
    }
}
