/*
 * bench --daemon BINARY --directory DIR --out FILE [--seconds S] [--rounds N] [--only PREFIX,…]
 *
 * DIR must be on the disk that matters: a memory file system has no durability to pay for.
 */
#include "bench.h"

#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_BYTES = 48, ROW_BYTES = 64 };

struct bench {
    const char *binary, *parent, *out, *only;
    double seconds;
    unsigned rounds;
    char directory[256];
    struct bench_process *process;
    struct bench_inside *inside;
    struct bench_asker http, within;
    struct bench_project outer, inner; /* the daemon's, and the one in this process */
};

_Noreturn void bench_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "bench: ");
    (void)vfprintf(stderr, format, arguments);
    (void)fprintf(stderr, "\n");
    va_end(arguments);
    exit(EXIT_FAILURE);
}

void *bench_alloc(size_t size_bytes) {
    void *memory = malloc(size_bytes);
    if (memory == NULL) bench_fail("out of memory");
    return memory;
}

int64_t bench_now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The directory. */

static char made[256];

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void remove_made(void) {
    (void)nftw(made, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_directory(struct bench *bench) {
    int size = snprintf(bench->directory, sizeof bench->directory, "%s/data.XXXXXX", bench->parent);
    if (size < 0 || (size_t)size >= sizeof bench->directory || mkdtemp(bench->directory) == NULL)
        bench_fail("%s: no directory can be made in it: %s", bench->parent, strerrordesc_np(errno));
    memcpy(made, bench->directory, sizeof made);
    (void)atexit(remove_made);
}

/* Rows. */

/* One of the prefixes that were asked for, which commas separate. */
static bool is_wanted(const struct bench *bench, const char *name) {
    for (const char *at = bench->only; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(name, at, strcspn(at, ",")) == 0) return true;
    }
    return false;
}

static void row(const char *value, const char *what, double number, const char *unit, double floor) {
    char name[ROW_BYTES];
    (void)snprintf(name, sizeof name, "%.*s%s", NAME_BYTES - 1, value, what);
    bench_row(name, number, unit, floor, isnan(floor) ? NAN : number / floor, NAN);
}

static void result_rows(const char *name, const struct bench_result *result, const struct bench_result *floor) {
    const struct bench_round *round = &result->round, *least = &floor->round;
    bench_row(name, round->rate, "1/s", least->rate, result->ratio, result->p99_ratio);
    row(name, "-p50", round->p50_us / 1000, "ms", least->p50_us / 1000);
    row(name, "-p95", round->p95_us / 1000, "ms", least->p95_us / 1000);
    row(name, "-p99", round->p99_us / 1000, "ms", least->p99_us / 1000);
    row(name, "-slowest", round->slowest_us / 1000, "ms", least->slowest_us / 1000);
    row(name, "-cpu", round->cpu_us, "us", least->cpu_us);
    row(name, "-exhausted", (double)round->exhausted, "answers", NAN);
    if (round->refused > 0) row(name, "-refused", (double)round->refused, "answers", NAN);
    (void)printf("  %-20s %8.0f/s of %8.0f/s: %.2f; p99 %.1f ms of %.1f ms: %.1f; processor %.0f us of %.0f us; "
                 "exhausted %llu, refused %llu\n",
                 name, round->rate, least->rate, result->ratio, round->p99_us / 1000, least->p99_us / 1000,
                 result->p99_ratio, round->cpu_us, least->cpu_us, (unsigned long long)round->exhausted,
                 (unsigned long long)round->refused);
    (void)fflush(stdout);
}

/* Sessions: Save and Complete. */

struct sessions {
    const char *studies[BENCH_MOST_CLIENTS];
    struct bench_author *authors;
};

static void sessions_begin(struct sessions *sessions, const struct bench_asker *asker, struct bench_project *project,
                           unsigned clients, bool one_study, unsigned changed) {
    for (unsigned i = 0; i < clients; i++)
        sessions->studies[i] = one_study && i > 0 ? sessions->studies[0] : bench_project_study(project);
    sessions->authors = bench_authors_new(asker, project, sessions->studies, clients, changed);
}

/* Nobody waits more than five times the median of the slowest tenth, which is the 95th percentile. */
static void fairness_row(const char *name, const struct bench_result *result) {
    row(name, "-fairness", result->round.slowest_us / result->round.p95_us, "x", NAN);
}

/* with_crew: the runtime without HTTP is measured beside. */
static void measure_sessions(struct bench *bench, const char *kind, unsigned clients, enum bench_verb verb,
                             bool one_study, const char *crew_kind) {
    char name[NAME_BYTES], crew_name[NAME_BYTES];
    unsigned changed = verb == BENCH_SAVE ? BENCH_CHANGED : BENCH_QUESTIONS;
    struct sessions outer, inner;
    struct bench_result results[BENCH_SIDES];
    (void)snprintf(name, sizeof name, "%s-%u", kind, clients);
    if (!is_wanted(bench, name)) return;
    sessions_begin(&outer, &bench->http, &bench->outer, clients, one_study, changed);
    sessions_begin(&inner, &bench->within, &bench->inner, clients, one_study, changed);
    struct bench_trace *trace =
        bench_trace_take(bench->inside, &bench->inner, &inner.authors[0], inner.studies[0], verb);
    struct bench_floor *floor = bench_floor_new(bench->inside, trace, clients, one_study, verb == BENCH_COMPLETE);
    struct bench_fleet *fleet =
        bench_fleet_of_authors(bench->process, &bench->outer, outer.authors, outer.studies, clients, verb);
    struct bench_crew *crew = bench_crew_new(bench->inside, &bench->inner, inner.authors, inner.studies, clients, verb);
    struct bench_side sides[BENCH_SIDES] = {bench_floor_side(floor), bench_fleet_side(fleet), bench_crew_side(crew)};
    bench_compare(sides, crew_kind == NULL ? 2 : 3, bench->rounds, bench->seconds, results);
    result_rows(name, &results[1], &results[BENCH_FLOOR]);
    if (one_study) fairness_row(name, &results[1]);
    if (crew_kind != NULL) {
        (void)snprintf(crew_name, sizeof crew_name, "%s-%u", crew_kind, clients);
        result_rows(crew_name, &results[2], &results[BENCH_FLOOR]);
    }
    bench_crew_free(crew);
    bench_fleet_free(fleet);
    bench_floor_free(floor);
    bench_trace_free(trace);
    free(inner.authors);
    free(outer.authors);
}

/* Autosaves. */

/* The draft of the one whose store calls are the floor holds as much as those of the others soon do. */
static struct bench_trace *trace_autosave(struct bench *bench, struct bench_author *author, const char *study) {
    struct bench_trace *trace = NULL;
    for (unsigned typed = 0; typed <= BENCH_QUESTIONS; typed += author->changed) {
        if (trace != NULL) bench_trace_free(trace);
        trace = bench_trace_take(bench->inside, &bench->inner, author, study, BENCH_AUTOSAVE);
    }
    return trace;
}

static void let_them_type(struct sessions *sessions, unsigned clients) {
    for (unsigned i = 0; i < clients; i++)
        sessions->authors[i].types = true;
}

static void measure_autosaves(struct bench *bench, unsigned clients) {
    char name[NAME_BYTES];
    struct sessions outer, inner;
    struct bench_result results[BENCH_SIDES];
    (void)snprintf(name, sizeof name, "autosave-%u", clients);
    if (!is_wanted(bench, name)) return;
    sessions_begin(&outer, &bench->http, &bench->outer, clients, false, BENCH_CHANGED);
    sessions_begin(&inner, &bench->within, &bench->inner, 1, false, BENCH_CHANGED);
    let_them_type(&outer, clients);
    let_them_type(&inner, 1);
    struct bench_trace *trace = trace_autosave(bench, inner.authors, inner.studies[0]);
    struct bench_floor *floor = bench_floor_new(bench->inside, trace, clients, false, false);
    struct bench_fleet *fleet =
        bench_fleet_of_authors(bench->process, &bench->outer, outer.authors, outer.studies, clients, BENCH_AUTOSAVE);
    struct bench_side sides[BENCH_SIDES] = {bench_floor_side(floor), bench_fleet_side(fleet)};
    bench_compare(sides, 2, bench->rounds, bench->seconds, results);
    result_rows(name, &results[1], &results[BENCH_FLOOR]);
    bench_fleet_free(fleet);
    bench_floor_free(floor);
    bench_trace_free(trace);
    free(inner.authors);
    free(outer.authors);
}

/* Reads. */

/* The floor is refused by its page size: it passes the guard, the router, authentication, the limits and a worker, and
 * ends where the runtime would begin. */
static void measure_reads(struct bench *bench, unsigned clients) {
    char name[NAME_BYTES], path[BENCH_PATH_BYTES], floor_path[BENCH_PATH_BYTES + 16];
    struct sessions sessions;
    struct bench_result results[BENCH_SIDES];
    (void)snprintf(name, sizeof name, "get-study-%u", clients);
    if (!is_wanted(bench, name)) return;
    sessions_begin(&sessions, &bench->http, &bench->outer, 1, true, BENCH_CHANGED);
    (void)snprintf(path, sizeof path, "/v1/projects/%s/studies/%s", bench->outer.project, sessions.studies[0]);
    (void)snprintf(floor_path, sizeof floor_path, "%s?limit=0", path);
    struct bench_fleet *empty = bench_fleet_of_readers(bench->process, floor_path, 400, clients);
    struct bench_fleet *whole = bench_fleet_of_readers(bench->process, path, 200, clients);
    struct bench_side sides[BENCH_SIDES] = {bench_fleet_side(empty), bench_fleet_side(whole)};
    bench_compare(sides, 2, bench->rounds, bench->seconds, results);
    result_rows(name, &results[1], &results[BENCH_FLOOR]);
    bench_fleet_free(whole);
    bench_fleet_free(empty);
    free(sessions.authors);
}

/* Imports. */

static void measure_imports(struct bench *bench) {
    const char *name = "import-10000";
    struct bench_result results[BENCH_SIDES];
    if (!is_wanted(bench, name)) return;
    struct bench_rows *rows = bench_rows_new(bench->inside);
    struct bench_importer *importer = bench_importer_new(bench->process, &bench->outer);
    struct bench_side sides[BENCH_SIDES] = {bench_rows_side(rows), bench_importer_side(importer)};
    bench_compare(sides, 2, bench->rounds, bench->seconds, results);
    result_rows(name, &results[1], &results[BENCH_FLOOR]);
    bench_importer_free(importer);
    bench_rows_free(rows);
}

/* Nobody runs out of attempts: at few and many reviewers, on one study and on many. */
static void count_exhausted(struct bench *bench, unsigned clients, bool one_study) {
    char name[NAME_BYTES];
    struct sessions sessions;
    struct bench_round round;
    (void)snprintf(name, sizeof name, "exhausted-%s-%u", one_study ? "one" : "many", clients);
    if (!is_wanted(bench, name)) return;
    sessions_begin(&sessions, &bench->http, &bench->outer, clients, one_study, BENCH_CHANGED);
    struct bench_fleet *fleet =
        bench_fleet_of_authors(bench->process, &bench->outer, sessions.authors, sessions.studies, clients, BENCH_SAVE);
    struct bench_side side = bench_fleet_side(fleet);
    side.run(side.self, bench->seconds * 2, &round);
    row(name, "", (double)(round.exhausted + round.refused), "answers", NAN);
    bench_fleet_free(fleet);
    free(sessions.authors);
}

/* Memory. */

/* A Save in flight that changes so many of the form's answers. */
static void measure_memory(struct bench *bench, unsigned changed) {
    char name[NAME_BYTES];
    struct sessions sessions;
    (void)snprintf(name, sizeof name, "memory-save-%u", changed);
    if (!is_wanted(bench, name)) return;
    sessions_begin(&sessions, &bench->within, &bench->inner, 1, false, changed);
    struct bench_memory memory =
        bench_inside_memory(bench->inside, &bench->inner, sessions.authors, sessions.studies[0], BENCH_SAVE);
    row(name, "", (double)(memory.body_bytes + memory.call_bytes + memory.attempt_bytes) / 1024, "KiB", NAN);
    row(name, "-call", (double)(memory.body_bytes + memory.call_bytes) / 1024, "KiB", NAN);
    row(name, "-attempt", (double)memory.attempt_bytes / 1024, "KiB", NAN);
    row(name, "-json", (double)memory.json_bytes / 1024, "KiB", NAN);
    free(sessions.authors);
}

static void measure_all(struct bench *bench) {
    static const unsigned connections[] = {1, 10, 64}, reviewers[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 3; i++)
        measure_sessions(bench, "save-many", connections[i], BENCH_SAVE, false, "save-runtime");
    for (size_t i = 0; i < 3; i++)
        measure_sessions(bench, "save-one", connections[i], BENCH_SAVE, true, NULL);
    for (size_t i = 0; i < 3; i++)
        measure_sessions(bench, "complete-many", connections[i], BENCH_COMPLETE, false, NULL);
    for (size_t i = 0; i < 3; i++)
        measure_autosaves(bench, connections[i]);
    for (size_t i = 0; i < 3; i++)
        measure_reads(bench, connections[i]);
    measure_imports(bench);
    for (size_t i = 0; i < 4; i++) {
        count_exhausted(bench, reviewers[i], true);
        count_exhausted(bench, reviewers[i], false);
    }
    measure_memory(bench, BENCH_CHANGED);
    measure_memory(bench, BENCH_QUESTIONS);
}

static void bench_run(struct bench *bench) {
    char store[300];
    make_directory(bench);
    bench->process = bench_process_start(bench->binary, bench->directory);
    double idle_mib = bench_process_resident_mib(bench->process);
    bench->http = bench_http_asker(bench->process);
    bench_furnish(&bench->http, &bench->outer);
    (void)snprintf(store, sizeof store, "%s/inside", bench->directory);
    bench->inside = bench_inside_open(store);
    bench->within = bench_inside_asker(bench->inside);
    bench_furnish(&bench->within, &bench->inner);
    measure_all(bench);
    bench_row("resident-idle", idle_mib, "MiB", NAN, NAN, NAN);
    bench_row("resident-after", bench_process_resident_mib(bench->process), "MiB", NAN, NAN, NAN);
    bench_process_stop(bench->process);
    bench_inside_close(bench->inside);
    bench_rows_print();
    bench_rows_write(bench->out);
}

static double positive(const char *text) {
    char *end;
    double number = strtod(text, &end);
    if (*end != '\0' || !(number > 0)) bench_fail("%s is no positive number", text);
    return number;
}

int main(int argc, char *argv[]) {
    static const struct option options[] = {{"daemon", required_argument, NULL, 'd'},
                                            {"directory", required_argument, NULL, 'i'},
                                            {"out", required_argument, NULL, 'o'},
                                            {"seconds", required_argument, NULL, 's'},
                                            {"rounds", required_argument, NULL, 'r'},
                                            {"only", required_argument, NULL, 'n'},
                                            {NULL, 0, NULL, 0}};
    static struct bench bench = {.only = "", .seconds = 1, .rounds = 7};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'd': bench.binary = optarg; break;
        case 'i': bench.parent = optarg; break;
        case 'o': bench.out = optarg; break;
        case 's': bench.seconds = positive(optarg); break;
        case 'r': bench.rounds = (unsigned)positive(optarg); break;
        case 'n': bench.only = optarg; break;
        default: return EXIT_FAILURE;
        }
    }
    if (bench.binary == NULL || bench.parent == NULL || bench.out == NULL || optind < argc)
        bench_fail("it needs --daemon, --directory and --out");
    if (bench.rounds < 1 || bench.rounds > BENCH_MOST_ROUNDS) bench_fail("at most %d rounds", BENCH_MOST_ROUNDS);
    bench_run(&bench);
    return EXIT_SUCCESS;
}
