#include "evidenced/http/metrics.h"

#include "../../support/test.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "scrape.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const commands[] = {"Save", "Complete", "he said \"C:\\new\"\nand left"};
static const char *const outcomes[] = {"OK", "StaleBase"};

static const struct evd_metric_family commands_total = {
    .name = "evidenced_commands_total",
    .help = "Commands answered.",
    .labels = {{"command", commands, 3}, {"outcome", outcomes, 2}},
};
static const struct evd_metric_family command_seconds = {
    .name = "evidenced_command_seconds", .help = "How long commands took.", .labels = {{"command", commands, 3}}};

static struct evd_arena arena;

static const char *rendered(const struct evd_metrics *metrics) {
    struct evd_buffer buffer;
    evd_arena_done(&arena);
    evd_arena_init(&arena, 16 * EVD_MIB);
    evd_buffer_init(&buffer, &arena, 4096);
    evd_metrics_render(metrics, &buffer);
    evd_buffer_add_byte(&buffer, '\0');
    return (const char *)buffer.bytes;
}

static const struct scrape *scraped(const struct evd_metrics *metrics) {
    return scrape_of(rendered(metrics));
}

static double read_double(void *self, size_t first, size_t second) {
    (void)first;
    (void)second;
    return *(double *)self;
}

START_TEST(the_text_is_what_prometheus_expects_to_the_byte) {
    static const struct evd_metric_family connections = {.name = "evidenced_connections", .help = "Open\\now\nhere."};
    double open = 2.5;
    struct evd_metrics *metrics = evd_metrics_new();
    struct evd_counter *counter = evd_metrics_counter(metrics, &commands_total);
    struct evd_histogram *histogram = evd_metrics_histogram(metrics, &command_seconds);
    evd_metrics_gauge(metrics, &connections, read_double, &open);
    evd_metrics_seal(metrics);
    evd_counter_add(counter, 0, 0, 1);
    evd_counter_add(counter, 0, 0, 2);
    evd_counter_add(counter, 2, 1, 1);
    evd_histogram_observe(histogram, 1, 0, 1500);
    evd_histogram_observe(histogram, 1, 0, 40000000);
    ck_assert_str_eq(
        rendered(metrics),
        "# HELP evidenced_metrics_misplaced_total Counts whose labels were not expected together; each is a fault in "
        "the daemon.\n"
        "# TYPE evidenced_metrics_misplaced_total counter\n"
        "evidenced_metrics_misplaced_total 0\n"
        "# HELP evidenced_commands_total Commands answered.\n"
        "# TYPE evidenced_commands_total counter\n"
        "evidenced_commands_total{command=\"Save\",outcome=\"OK\"} 3\n"
        "evidenced_commands_total{command=\"he said \\\"C:\\\\new\\\"\\nand left\",outcome=\"StaleBase\"} 1\n"
        "# HELP evidenced_command_seconds How long commands took.\n"
        "# TYPE evidenced_command_seconds histogram\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"0.001\"} 0\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"0.002\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"0.005\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"0.01\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"0.02\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"0.05\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"0.1\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"0.2\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"0.5\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"1\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"2\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"5\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"10\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"30\"} 1\n"
        "evidenced_command_seconds_bucket{command=\"Complete\",le=\"+Inf\"} 2\n"
        "evidenced_command_seconds_sum{command=\"Complete\"} 40.001500\n"
        "evidenced_command_seconds_count{command=\"Complete\"} 2\n"
        "# HELP evidenced_connections Open\\\\now\\nhere.\n"
        "# TYPE evidenced_connections gauge\n"
        "evidenced_connections 2.5\n");
    evd_metrics_free(metrics);
}
END_TEST

START_TEST(a_strict_reader_reads_everything_and_the_sums_agree) {
    struct evd_metrics *metrics = evd_metrics_new();
    struct evd_counter *counter = evd_metrics_counter(metrics, &commands_total);
    struct evd_histogram *histogram = evd_metrics_histogram(metrics, &command_seconds);
    evd_metrics_seal(metrics);
    struct evd_test_random random;
    double sums[3] = {0}, counts[3] = {0};
    evd_test_random_init(&random, 1);
    for (unsigned i = 0; i < 5000; i++) {
        size_t command = evd_random_below(&random.random, 3);
        int64_t us = (int64_t)evd_random_below(&random.random, UINT64_C(1) << evd_random_below(&random.random, 27));
        evd_histogram_observe(histogram, command, 0, us);
        evd_counter_add(counter, command, evd_random_below(&random.random, 2), 1);
        sums[command] += (double)us;
        counts[command]++;
    }
    const struct scrape *scrape = scraped(metrics);
    static const char *const labels[] = {"{command=\"Save\"", "{command=\"Complete\"",
                                         "{command=\"he said \\\"C:\\\\new\\\"\\nand left\""};
    for (size_t i = 0; i < 3; i++) {
        char series[NAME], of_outcome[NAME];
        (void)snprintf(series, sizeof series, "evidenced_command_seconds%s", labels[i]);
        ck_assert_double_eq_tol(value_of(scrape, series, "_sum", (double)NAN), sums[i] / 1e6, 1e-6);
        ck_assert_double_eq(value_of(scrape, series, "_count", (double)NAN), counts[i]);
        ck_assert_double_eq(value_of(scrape, series, "_bucket", (double)INFINITY), counts[i]);
        double counted = 0;
        for (size_t j = 0; j < 2; j++) {
            (void)snprintf(of_outcome, sizeof of_outcome, "evidenced_commands_total%s,outcome=\"%s\"", labels[i],
                           outcomes[j]);
            counted += value_of(scrape, of_outcome, "", (double)NAN);
        }
        ck_assert_double_eq(counted, counts[i]);
    }
    evd_metrics_free(metrics);
}
END_TEST

START_TEST(a_duration_falls_into_the_first_bucket_that_is_not_smaller) {
    static const struct {
        int64_t us;
        double le, below; /* the bucket it is in, and the next smaller one */
    } rows[] = {
        {0, 0.001, 0},        {-5, 0.001, 0},     {1000, 0.001, 0},         {1001, 0.002, 0.001},
        {2000, 0.002, 0.001}, {30000000, 30, 10}, {30000001, INFINITY, 30}, {INT64_MAX / 4, INFINITY, 30},
        {999999, 1, 0.5},
    };
    static const struct evd_metric_family plain = {.name = "evidenced_wait_seconds", .help = "Waits."};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct evd_metrics *metrics = evd_metrics_new();
        struct evd_histogram *histogram = evd_metrics_histogram(metrics, &plain);
        evd_metrics_seal(metrics);
        evd_histogram_observe(histogram, 0, 0, rows[i].us);
        const struct scrape *scrape = scraped(metrics);
        ck_assert_double_eq(value_of(scrape, "evidenced_wait_seconds", "_bucket", rows[i].le), 1);
        if (rows[i].below > 0)
            ck_assert_double_eq(value_of(scrape, "evidenced_wait_seconds", "_bucket", rows[i].below), 0);
        evd_metrics_free(metrics);
    }
}
END_TEST

START_TEST(gauges_and_counters_kept_elsewhere_are_read_when_rendered) {
    static const struct evd_metric_family gauge = {.name = "process_open_fds", .help = "Open."};
    static const struct evd_metric_family counter = {.name = "evidenced_log_lines_dropped_total", .help = "Lost."};
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0"},
                {-0.5, "-0.5"},
                {0.1, "0.1"},
                {1e300, "1e+300"},
                {1048576, "1048576"},
                {9007199254740991.0, "9007199254740991"},
                {(double)NAN, "NaN"},
                {(double)INFINITY, "+Inf"},
                {(double)-INFINITY, "-Inf"}};
    double value, lost = 7;
    struct evd_metrics *metrics = evd_metrics_new();
    evd_metrics_gauge(metrics, &gauge, read_double, &value);
    evd_metrics_counted(metrics, &counter, read_double, &lost);
    evd_metrics_seal(metrics);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[NAME];
        value = rows[i].value;
        (void)snprintf(line, sizeof line, "\nprocess_open_fds %s\n", rows[i].text);
        ck_assert_msg(strstr(rendered(metrics), line) != NULL, "%s", line);
        ck_assert_double_eq(value_of(scraped(metrics), "evidenced_log_lines_dropped_total", "", (double)NAN), 7);
    }
    evd_metrics_free(metrics);
}
END_TEST

static bool only_saves_go_stale(size_t command, size_t outcome) {
    return outcome == 0 || command == 0;
}

START_TEST(labels_that_cannot_meet_are_counted_apart_and_do_no_harm) {
    struct evd_metric_family family = commands_total;
    family.is_possible = only_saves_go_stale;
    struct evd_metrics *metrics = evd_metrics_new();
    struct evd_counter *counter = evd_metrics_counter(metrics, &family);
    struct evd_histogram *histogram = evd_metrics_histogram(metrics, &command_seconds);
    evd_metrics_seal(metrics);
    evd_counter_add(counter, 0, 1, 1);
    evd_counter_add(counter, 1, 1, 1);
    evd_counter_add(counter, 3, 0, 1);
    evd_counter_add(counter, 0, 2, 1);
    evd_counter_add(counter, SIZE_MAX, SIZE_MAX, 1);
    evd_histogram_observe(histogram, 0, 1, 1);
    evd_histogram_observe(histogram, 3, 0, 1);
    const struct scrape *scrape = scraped(metrics);
    ck_assert_double_eq(value_of(scrape, "evidenced_metrics_misplaced_total", "", (double)NAN), 6);
    ck_assert_uint_eq(scrape->sample_count, 2);
    evd_metrics_free(metrics);
}
END_TEST

/* The daemon's own size: more pairs than fit, of which each command can have a few. */
static bool is_one_of_ten(size_t command, size_t outcome) {
    return (command + outcome) % 64 < 10;
}

static const char *const *many_values(void) {
    static char texts[64][8];
    static const char *values[64];
    for (size_t i = 0; i < 64; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "v%zu", i);
        values[i] = texts[i];
    }
    return values;
}

START_TEST(only_what_can_meet_counts_towards_the_bound) {
    const struct evd_metric_family family = {.name = "evidenced_many_total",
                                             .help = "Many.",
                                             .labels = {{"command", many_values(), 64}, {"outcome", many_values(), 64}},
                                             .is_possible = is_one_of_ten};
    struct evd_metrics *metrics = evd_metrics_new();
    struct evd_counter *counter = evd_metrics_counter(metrics, &family);
    evd_metrics_seal(metrics);
    for (size_t i = 0; i < 64; i++)
        for (size_t j = 0; j < 64; j++)
            evd_counter_add(counter, i, j, 1);
    const struct scrape *scrape = scraped(metrics);
    ck_assert_uint_eq(scrape->sample_count, 1 + 640);
    ck_assert_double_eq(value_of(scrape, "evidenced_metrics_misplaced_total", "", (double)NAN), 64 * 54);
    evd_metrics_free(metrics);
}
END_TEST

static bool aborts(void (*act)(struct evd_metrics *metrics)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        act(evd_metrics_new());
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void declare_too_many(struct evd_metrics *metrics) {
    const struct evd_metric_family family = {
        .name = "evidenced_many_total",
        .help = "Many.",
        .labels = {{"command", many_values(), 64}, {"outcome", many_values(), 64}}};
    (void)evd_metrics_counter(metrics, &family);
}

static void declare_twice(struct evd_metrics *metrics) {
    (void)evd_metrics_counter(metrics, &commands_total);
    (void)evd_metrics_counter(metrics, &commands_total);
}

static void declare_late(struct evd_metrics *metrics) {
    evd_metrics_seal(metrics);
    (void)evd_metrics_counter(metrics, &commands_total);
}

static void render_early(struct evd_metrics *metrics) {
    (void)rendered(metrics);
}

static void declare_once(struct evd_metrics *metrics) {
    (void)evd_metrics_counter(metrics, &commands_total);
}

START_TEST(a_programmers_error_shows_at_the_start) {
    ck_assert(!aborts(declare_once));
    ck_assert(aborts(declare_too_many));
    ck_assert(aborts(declare_twice));
    ck_assert(aborts(declare_late));
    ck_assert(aborts(render_early));
}
END_TEST

static const struct {
    const char *name, *label, *other_label;
    bool is_histogram, is_right;
} names[] = {
    {"evidenced_calls_total", NULL, NULL, false, true},
    {"evidenced_calls_total", "a", "b", false, true},
    {"evidenced_calls_seconds", "a", NULL, true, true},
    {"evidenced_calls", NULL, NULL, false, false},
    {"evidenced_calls_total", NULL, NULL, true, false},
    {"evidenced_calls", NULL, NULL, true, false},
    {"calls_total", NULL, NULL, false, false},
    {"evidenced_Calls_total", NULL, NULL, false, false},
    {"evidenced-calls_total", NULL, NULL, false, false},
    {"evidenced_calls_total", "le", NULL, false, false},
    {"evidenced_calls_total", "__a", NULL, false, false},
    {"evidenced_calls_total", "a b", NULL, false, false},
    {"evidenced_calls_total", "", NULL, false, false},
    {"evidenced_calls_total", "a", "a", false, false},
    {"evidenced_calls_total", NULL, "b", false, false},
};
static size_t row;

static void declare_row(struct evd_metrics *metrics) {
    const struct evd_metric_family family = {
        .name = names[row].name,
        .help = "Help.",
        .labels = {{names[row].label, outcomes, 2}, {names[row].other_label, outcomes, 2}}};
    if (names[row].is_histogram)
        (void)evd_metrics_histogram(metrics, &family);
    else
        (void)evd_metrics_counter(metrics, &family);
}

START_TEST(names_follow_the_conventions) {
    for (row = 0; row < sizeof names / sizeof *names; row++)
        ck_assert_msg(aborts(declare_row) != names[row].is_right, "row %zu", row);
}
END_TEST

enum { COUNTERS = 8, EACH = 20000 };

struct work {
    struct evd_counter *counter;
    struct evd_histogram *histogram;
};

static void *count_many(void *argument) {
    const struct work *work = argument;
    for (unsigned i = 0; i < EACH; i++) {
        evd_counter_add(work->counter, 0, 0, 1);
        evd_histogram_observe(work->histogram, 0, 0, 1 + i);
    }
    return NULL;
}

START_TEST(nothing_is_lost_when_many_count_while_one_renders) {
    struct evd_metrics *metrics = evd_metrics_new();
    struct work work = {evd_metrics_counter(metrics, &commands_total),
                        evd_metrics_histogram(metrics, &command_seconds)};
    evd_metrics_seal(metrics);
    pthread_t threads[COUNTERS];
    for (unsigned i = 0; i < COUNTERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_many, &work), 0);
    for (unsigned i = 0; i < 20; i++)
        (void)scraped(metrics);
    for (unsigned i = 0; i < COUNTERS; i++)
        (void)pthread_join(threads[i], NULL);
    const struct scrape *scrape = scraped(metrics);
    ck_assert_double_eq(value_of(scrape, "evidenced_commands_total{command=\"Save\",outcome=\"OK\"", "", (double)NAN),
                        COUNTERS * EACH);
    ck_assert_double_eq(value_of(scrape, "evidenced_command_seconds{command=\"Save\"", "_count", (double)NAN),
                        COUNTERS * EACH);
    ck_assert_double_eq_tol(value_of(scrape, "evidenced_command_seconds{command=\"Save\"", "_sum", (double)NAN),
                            COUNTERS * (double)EACH * (EACH + 1) / 2 / 1e6, 1e-6);
    evd_metrics_free(metrics);
}
END_TEST

START_TEST(freeing_nothing_is_fine) {
    evd_metrics_free(NULL);
}
END_TEST

EVD_TEST_MAIN("http: metrics", the_text_is_what_prometheus_expects_to_the_byte,
              a_strict_reader_reads_everything_and_the_sums_agree,
              a_duration_falls_into_the_first_bucket_that_is_not_smaller,
              gauges_and_counters_kept_elsewhere_are_read_when_rendered,
              labels_that_cannot_meet_are_counted_apart_and_do_no_harm, only_what_can_meet_counts_towards_the_bound,
              a_programmers_error_shows_at_the_start, names_follow_the_conventions,
              nothing_is_lost_when_many_count_while_one_renders, freeing_nothing_is_fine)
