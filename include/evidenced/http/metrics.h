/*
 * Metrics: counters, gauges and histograms in Prometheus' text format 0.0.4.
 *
 * The families are declared once, by one thread, before the registry is sealed; from then on anybody counts, with one
 * relaxed atomic addition (two for a histogram), without a lock and without memory, and anybody renders.
 *
 * A family has up to two labels whose values are known when it is declared: metrics are counted by place in those
 * lists, never by text from outside, so a client cannot grow them. A labelled series shows once something was counted
 * in it; one without labels shows at once. All the series there could ever be are bounded when a family is declared.
 */
#ifndef EVIDENCED_HTTP_METRICS_H
#define EVIDENCED_HTTP_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVD_METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define EVD_METRICS_SERIES       2000 /* a histogram's labels count once for each bucket, its sum and its count */
#define EVD_METRICS_FAMILIES     64
#define EVD_METRICS_BUCKETS      14 /* 1 ms to 30 s, and +Inf */

struct evd_buffer;
struct evd_metrics;
struct evd_counter;
struct evd_histogram;

struct evd_metric_label {
    const char *name; /* NULL: there is no such label */
    const char *const *values;
    size_t count;
};

/* What a family is. All of it is borrowed for the registry's life; names must follow Prometheus' conventions: a counter
 * ends in `_total`, a histogram in `_seconds`, all begin with `evidenced_` or, where Prometheus knows them, `process_`.
 */
struct evd_metric_family {
    const char *name;
    const char *help; /* a sentence */
    struct evd_metric_label labels[2];
    bool (*is_possible)(size_t first, size_t second); /* can these two values meet? NULL: any can */
};

/** What a family read by callback is now; places in the labels' lists, 0 where there is no label. From any thread,
 * must not block. */
typedef double evd_metric_reader(void *self, size_t first, size_t second);

/** NULL without memory. */
struct evd_metrics *evd_metrics_new(void) __attribute__((warn_unused_result));

/** The handles go with it. NULL is fine. */
void evd_metrics_free(struct evd_metrics *metrics);

/** Declare a counter. The handle lives as long as the registry. A wrong or used name, or more series than fit, is a
 * programmer error and aborts: it shows at every start. */
struct evd_counter *evd_metrics_counter(struct evd_metrics *metrics, const struct evd_metric_family *family);

/** Declare a histogram of durations, as above. */
struct evd_histogram *evd_metrics_histogram(struct evd_metrics *metrics, const struct evd_metric_family *family);

/** Declare a gauge, read when metrics are rendered; every possible series shows. `self` is borrowed. */
void evd_metrics_gauge(struct evd_metrics *metrics, const struct evd_metric_family *family, evd_metric_reader *read,
                       void *self);

/** Declare a counter that somebody else keeps, read as a gauge is. It must never go down. */
void evd_metrics_counted(struct evd_metrics *metrics, const struct evd_metric_family *family, evd_metric_reader *read,
                         void *self);

/** No more families. Must come before the first count and the first rendering. */
void evd_metrics_seal(struct evd_metrics *metrics);

/** Count `by` more. Values that cannot meet are counted in evidenced_metrics_misplaced_total instead: a slip in the
 * numbers must not end the daemon. */
void evd_counter_add(struct evd_counter *counter, size_t first, size_t second, uint64_t by);

/** Count a duration; a negative one as 0. */
void evd_histogram_observe(struct evd_histogram *histogram, size_t first, size_t second, int64_t duration_us);

/** Add everything, families in the order they were declared. A histogram's count is the sum of its buckets, so they
 * agree always; its sum may be some observations older or newer. */
void evd_metrics_render(const struct evd_metrics *metrics, struct evd_buffer *buffer);

#endif
