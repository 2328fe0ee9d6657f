#include "evidenced/base/log.h"

#include "../../support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

static const int64_t start_ms = INT64_C(1772357400123); /* 2026-03-01T09:30:00.123Z */

/* What a log wrote, collected by a thread of its own so that neither end waits for the other. One at a time. */
static char collected[4 * EVD_LOG_RING_BYTES];

struct sink {
    int read_fd, write_fd;
    size_t size;
    pthread_t reader;
    pthread_mutex_t mutex;
    pthread_cond_t grown;
};

static void *collect(void *argument) {
    struct sink *sink = argument;
    char part[8192];
    for (ssize_t size; (size = read(sink->read_fd, part, sizeof part)) > 0;) {
        (void)pthread_mutex_lock(&sink->mutex);
        ck_assert_uint_lt(sink->size + (size_t)size, sizeof collected);
        memcpy(collected + sink->size, part, (size_t)size);
        sink->size += (size_t)size;
        collected[sink->size] = '\0';
        (void)pthread_cond_signal(&sink->grown);
        (void)pthread_mutex_unlock(&sink->mutex);
    }
    return NULL;
}

static void sink_start(struct sink *sink, int read_fd, int write_fd) {
    *sink = (struct sink){.read_fd = read_fd, .write_fd = write_fd};
    collected[0] = '\0';
    (void)pthread_mutex_init(&sink->mutex, NULL);
    (void)pthread_cond_init(&sink->grown, NULL);
    ck_assert_int_eq(pthread_create(&sink->reader, NULL, collect, sink), 0);
}

static void sink_start_pipe(struct sink *sink) {
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    sink_start(sink, ends[0], ends[1]);
}

/* After the log was freed: read to the end. */
static const char *sink_end(struct sink *sink) {
    (void)close(sink->write_fd);
    (void)pthread_join(sink->reader, NULL);
    (void)close(sink->read_fd);
    return collected;
}

static const char *line_of(const struct evd_log_field *fields, size_t count) {
    struct sink sink;
    struct evd_test_clock clock;
    evd_test_clock_init(&clock, start_ms);
    sink_start_pipe(&sink);
    struct evd_log *log = evd_log_new(sink.write_fd, EVD_LOG_DEBUG, &clock.clock);
    ck_assert_ptr_nonnull(log);
    evd_log_event(log, EVD_LOG_INFO, "tested", fields, count);
    evd_log_free(log);
    return sink_end(&sink);
}

static json_t *parsed(const char *line, size_t size) {
    json_error_t error;
    json_t *json = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    ck_assert_msg(json != NULL, "%s: %.*s", error.text, (int)size, line);
    return json;
}

START_TEST(an_event_is_one_json_line_with_its_fields_in_order) {
    evd_uuid study;
    ck_assert(evd_uuid_parse(EVD_TEXT("0123abcd-4567-4abc-8def-0123456789ab"), &study));
    const struct evd_log_field fields[] = {EVD_LOG_FIELD_TEXT("command", EVD_TEXT("Save")),
                                           EVD_LOG_FIELD_UUID("study", study), EVD_LOG_FIELD_I64("skew_ms", -5),
                                           EVD_LOG_FIELD_U64("attempts", 3), EVD_LOG_FIELD_MS("took_ms", 12.3456)};
    ck_assert_str_eq(line_of(fields, 5),
                     "{\"time\":\"2026-03-01T09:30:00.123Z\",\"level\":\"info\",\"event\":\"tested\","
                     "\"command\":\"Save\",\"study\":\"0123abcd-4567-4abc-8def-0123456789ab\","
                     "\"skew_ms\":-5,\"attempts\":3,\"took_ms\":12.346}\n");
}
END_TEST

START_TEST(an_event_without_fields_is_a_whole_line) {
    ck_assert_str_eq(line_of(NULL, 0),
                     "{\"time\":\"2026-03-01T09:30:00.123Z\",\"level\":\"info\",\"event\":\"tested\"}\n");
}
END_TEST

static const struct {
    struct evd_text text;
    const char *json;
} texts[] = {
    {EVD_TEXT_INIT(""), "\"\""},
    {EVD_TEXT_INIT("a \"b\" \\c/"), "\"a \\\"b\\\" \\\\c/\""},
    {EVD_TEXT_INIT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\""},
    {EVD_TEXT_INIT("\0\x01\x1b[31m\x7f"), "\"\\u0000\\u0001\\u001b[31m\\u007f\""},
    {EVD_TEXT_INIT("\xC2\x9b"
                   "31m\xC2\xA0"),
     "\"\\u009b31m\xC2\xA0\""},
    {EVD_TEXT_INIT("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
    {EVD_TEXT_INIT("a\xFF"
                   "b"),
     "\"a\xEF\xBF\xBD"
     "b\""},
    {EVD_TEXT_INIT("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {EVD_TEXT_INIT("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {EVD_TEXT_INIT("\xF4\x90\x80\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {EVD_TEXT_INIT("cut \xE2\x82"), "\"cut \xEF\xBF\xBD\xEF\xBF\xBD\""},
    {EVD_TEXT_INIT("cut \xF0"), "\"cut \xEF\xBF\xBD\""},
};

START_TEST(hostile_text_is_escaped_and_invalid_utf8_replaced) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct evd_log_field field = EVD_LOG_FIELD_TEXT("text", texts[i].text);
        const char *line = line_of(&field, 1);
        char *want;
        ck_assert_int_gt(asprintf(&want, ",\"text\":%s}\n", texts[i].json), 0);
        ck_assert_msg(strlen(line) > strlen(want) && strcmp(line + strlen(line) - strlen(want), want) == 0,
                      "row %zu: %s, not %s", i, line, want);
        json_decref(parsed(line, strlen(line)));
        free(want);
    }
}
END_TEST

START_TEST(numbers_of_every_size_are_json_numbers) {
    const struct {
        struct evd_log_field field;
        const char *json;
    } rows[] = {
        {EVD_LOG_FIELD_I64("n", INT64_MIN), "-9223372036854775808"},
        {EVD_LOG_FIELD_I64("n", INT64_MAX), "9223372036854775807"},
        {EVD_LOG_FIELD_U64("n", UINT64_MAX), "18446744073709551615"},
        {EVD_LOG_FIELD_MS("n", 0), "0.000"},
        {EVD_LOG_FIELD_MS("n", -1.5), "-1.500"},
        {EVD_LOG_FIELD_MS("n", 1e300), "1.0000000000000001e+300"},
        {EVD_LOG_FIELD_MS("n", (double)NAN), "null"},
        {EVD_LOG_FIELD_MS("n", (double)-INFINITY), "null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *line = line_of(&rows[i].field, 1), *at = strstr(line, "\"n\":");
        ck_assert_ptr_nonnull(at);
        ck_assert_msg(strncmp(at + 4, rows[i].json, strlen(rows[i].json)) == 0, "row %zu: %s", i, line);
        ck_assert_str_eq(at + 4 + strlen(rows[i].json), "}\n");
    }
}
END_TEST

START_TEST(a_line_at_the_cap_is_cut_between_characters_and_says_so) {
    char text[EVD_LOG_LINE_BYTES + 400];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "\xE2\x82\xAC"[i % 3]; /* cut anywhere but at a border, the text would not be UTF-8 */
    unsigned cut = 0, whole = 0;
    for (size_t shift = 0; shift < 3; shift++) {
        for (size_t size = EVD_LOG_LINE_BYTES - 120; size < sizeof text; size += 3) {
            const struct evd_log_field fields[] = {EVD_LOG_FIELD_TEXT("pad", ((struct evd_text){"...", shift})),
                                                   EVD_LOG_FIELD_TEXT("text", ((struct evd_text){text, size / 3 * 3}))};
            const char *line = line_of(fields, 2);
            ck_assert_uint_le(strlen(line), EVD_LOG_LINE_BYTES);
            json_t *json = parsed(line, strlen(line));
            bool is_cut = json_is_true(json_object_get(json, "truncated"));
            ck_assert_uint_gt(json_string_length(json_object_get(json, "text")), EVD_LOG_LINE_BYTES - 150);
            ck_assert_int_eq(is_cut, json_string_length(json_object_get(json, "text")) < size / 3 * 3);
            *(is_cut ? &cut : &whole) += 1;
            json_decref(json);
        }
    }
    ck_assert_uint_gt(cut, 0);
    ck_assert_uint_gt(whole, 0);
}
END_TEST

START_TEST(what_does_not_fit_is_left_out_and_the_line_stays_json) {
    static char long_text[EVD_LOG_LINE_BYTES];
    memset(long_text, '\x01', sizeof long_text); /* six bytes each */
    struct evd_log_field fields[40];
    for (size_t i = 0; i < 40; i++)
        fields[i] = EVD_LOG_FIELD_I64("number", (int64_t)i); /* duplicates are fine where nothing is rejected */
    fields[0] = EVD_LOG_FIELD_TEXT("text", ((struct evd_text){long_text, sizeof long_text}));
    for (size_t count = 1; count <= 40; count++) {
        const char *line = line_of(fields, count);
        json_error_t error;
        json_t *json = json_loads(line, 0, &error);
        ck_assert_msg(json != NULL, "%s", line);
        ck_assert_uint_le(strlen(line), EVD_LOG_LINE_BYTES);
        ck_assert(json_is_true(json_object_get(json, "truncated")));
        json_decref(json);
    }
}
END_TEST

START_TEST(only_events_at_least_as_grave_as_the_level_are_written_and_the_level_can_be_reloaded) {
    struct sink sink;
    struct evd_test_clock clock;
    evd_test_clock_init(&clock, 0);
    sink_start_pipe(&sink);
    struct evd_log *log = evd_log_new(sink.write_fd, EVD_LOG_WARN, &clock.clock);
    ck_assert(evd_log_wants(log, EVD_LOG_ERROR) && evd_log_wants(log, EVD_LOG_WARN));
    ck_assert(!evd_log_wants(log, EVD_LOG_INFO));
    evd_log_event(log, EVD_LOG_INFO, "hidden", NULL, 0);
    evd_log_event(log, EVD_LOG_WARN, "seen-1", NULL, 0);
    evd_log_set_level(log, EVD_LOG_DEBUG);
    evd_log_event(log, EVD_LOG_DEBUG, "seen-2", NULL, 0);
    evd_log_set_level(log, EVD_LOG_ERROR);
    evd_log_event(log, EVD_LOG_WARN, "hidden", NULL, 0);
    evd_log_event(log, EVD_LOG_ERROR, "seen-3", NULL, 0);
    evd_log_free(log);
    ck_assert_str_eq(sink_end(&sink),
                     "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"warn\",\"event\":\"seen-1\"}\n"
                     "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"debug\",\"event\":\"seen-2\"}\n"
                     "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"error\",\"event\":\"seen-3\"}\n");
}
END_TEST

START_TEST(without_a_descriptor_there_is_no_log_and_no_log_logs_nothing) {
    ck_assert_ptr_null(evd_log_new(-1, EVD_LOG_INFO, evd_clock_system()));
    ck_assert(!evd_log_wants(NULL, EVD_LOG_ERROR));
    evd_log_event(NULL, EVD_LOG_ERROR, "nowhere", NULL, 0);
    evd_log_free(NULL);
}
END_TEST

static void open_file(int ends[2]) {
    char *path;
    ck_assert_int_gt(asprintf(&path, "%s/log", evd_test_directory()), 0);
    ends[1] = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    ends[0] = open(path, O_RDONLY);
    free(path);
}

static void open_pipe(int ends[2]) {
    ck_assert_int_eq(pipe2(ends, 0), 0);
}

static void open_nonblocking_pipe(int ends[2]) {
    open_pipe(ends);
    ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
}

static void open_socket(int ends[2]) {
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

START_TEST(every_kind_of_descriptor_gets_every_line) {
    void (*const open_ends[])(int ends[2]) = {open_pipe, open_nonblocking_pipe, open_socket, open_file};
    for (size_t kind = 0; kind < 4; kind++) {
        int ends[2];
        struct sink sink;
        bool is_file = open_ends[kind] == open_file;
        open_ends[kind](ends);
        if (!is_file) sink_start(&sink, ends[0], ends[1]);
        struct evd_log *log = evd_log_new(ends[1], EVD_LOG_INFO, evd_clock_system());
        for (unsigned i = 0; i < 2000; i++) {
            const struct evd_log_field field = EVD_LOG_FIELD_U64("number", i);
            evd_log_event(log, EVD_LOG_INFO, "counted", &field, 1);
        }
        ck_assert_uint_eq(evd_log_dropped(log), 0);
        evd_log_free(log);
        if (is_file) sink_start(&sink, ends[0], ends[1]);
        const char *at = sink_end(&sink);
        for (unsigned i = 0; i < 2000; i++) {
            const char *end = strchr(at, '\n');
            ck_assert_ptr_nonnull(end);
            json_t *json = parsed(at, (size_t)(end - at));
            ck_assert_int_eq(json_integer_value(json_object_get(json, "number")), i);
            json_decref(json);
            at = end + 1;
        }
        ck_assert_str_eq(at, "");
    }
}
END_TEST

/* Read `number`s and notices of gaps; every notice must account for exactly the numbers that are missing there. */
static unsigned account_for(const char *bytes) {
    unsigned next = 0;
    const char *end;
    for (const char *at = bytes; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        json_t *json = parsed(at, (size_t)(end - at));
        json_t *number = json_object_get(json, "number"), *lines = json_object_get(json, "lines");
        if (number != NULL) ck_assert_uint_eq((unsigned)json_integer_value(number), next);
        if (lines != NULL) ck_assert_str_eq(json_string_value(json_object_get(json, "event")), "log-lines-dropped");
        ck_assert((number != NULL) != (lines != NULL));
        next += lines == NULL ? 1 : (unsigned)json_integer_value(lines);
        json_decref(json);
    }
    return next;
}

static void log_number(struct evd_log *log, unsigned number) {
    static const char padding[2000] = "";
    const struct evd_log_field fields[] = {
        EVD_LOG_FIELD_U64("number", number),
        EVD_LOG_FIELD_TEXT("padding", ((struct evd_text){padding, (number * 37) % 600}))};
    evd_log_event(log, EVD_LOG_INFO, "counted", fields, 2);
}

START_TEST(a_stalled_reader_blocks_nobody_and_the_gap_is_named_where_it_is) {
    int ends[2];
    struct sink sink;
    unsigned logged = 0, accounted = 0;
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    struct evd_log *log = evd_log_new(ends[1], EVD_LOG_INFO, evd_clock_system());
    while (evd_log_dropped(log) < 100) /* a caller that waited for the reader would never come out of here */
        log_number(log, logged++);
    sink_start(&sink, ends[0], ends[1]);
    (void)pthread_mutex_lock(&sink.mutex);
    while (accounted < logged) { /* the notice comes by itself, without another event */
        (void)pthread_cond_wait(&sink.grown, &sink.mutex);
        accounted = account_for(collected);
    }
    (void)pthread_mutex_unlock(&sink.mutex);
    for (unsigned i = 0; i < 10; i++)
        log_number(log, logged++);
    evd_log_free(log);
    ck_assert_uint_eq(account_for(sink_end(&sink)), logged);
}
END_TEST

/* Threads of this process, whoever made them: a sanitizer may have one of its own. */
static unsigned threads(void) {
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    while (readdir(tasks) != NULL)
        count++;
    (void)closedir(tasks);
    return count;
}

/* A thread that was joined may be listed a moment longer; one that hangs is listed until the test's time is up. */
static void await_threads(unsigned count) {
    while (threads() != count)
        (void)sched_yield();
}

START_TEST(a_reader_that_never_reads_does_not_keep_the_log_from_being_freed) {
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    struct evd_log *log = evd_log_new(ends[1], EVD_LOG_INFO, evd_clock_system());
    unsigned with_writer = threads();
    for (unsigned i = 0; i < 3000; i++)
        log_number(log, i);
    evd_log_free(log);
    await_threads(with_writer - 1);
    (void)close(ends[0]);
    (void)close(ends[1]);
}
END_TEST

/* A pseudo-terminal says it is writable while it has room for less than a line: the write itself hangs. */
START_TEST(a_writer_that_hangs_in_a_write_is_left_behind) {
    char name[64];
    struct termios raw;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert_int_ge(master, 0);
    ck_assert_int_eq(grantpt(master) | unlockpt(master) | ptsname_r(master, name, sizeof name), 0);
    int slave = open(name, O_RDWR | O_NOCTTY);
    ck_assert_int_ge(slave, 0);
    ck_assert_int_eq(tcgetattr(slave, &raw), 0);
    cfmakeraw(&raw);
    ck_assert_int_eq(tcsetattr(slave, TCSANOW, &raw), 0);
    struct evd_log *log = evd_log_new(slave, EVD_LOG_INFO, evd_clock_system());
    unsigned with_writer = threads();
    static const char padding[EVD_LOG_LINE_BYTES] = "";
    const struct evd_log_field field = EVD_LOG_FIELD_TEXT("padding", ((struct evd_text){padding, sizeof padding}));
    for (unsigned i = 0; i < 100; i++)
        evd_log_event(log, EVD_LOG_INFO, "longest", &field, 1); /* each fills a write of its own */
    evd_log_free(log);
    (void)close(slave);
    (void)close(master); /* the write fails, at last, and the writer cleans up behind itself */
    await_threads(with_writer - 1);
}
END_TEST

START_TEST(a_reader_that_has_gone_kills_nobody_and_its_lines_are_counted) {
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    struct evd_log *log = evd_log_new(ends[1], EVD_LOG_INFO, evd_clock_system());
    (void)close(ends[0]);
    for (unsigned round = 1; round <= 20; round++) {
        uint64_t before = evd_log_dropped(log);
        log_number(log, round);
        while (evd_log_dropped(log) == before)
            (void)sched_yield();
    }
    ck_assert_uint_ge(evd_log_dropped(log), 20);
    ck_assert_uint_le(evd_log_dropped(log), 40); /* each line and at most one notice in front of it */
    evd_log_free(log);
    (void)close(ends[1]);
}
END_TEST

/* No check in here, nor while files are limited: Check reports through a file. */
static bool limit_files_to(rlim_t size) {
    const struct rlimit limit = {.rlim_cur = size, .rlim_max = RLIM_INFINITY};
    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

START_TEST(a_line_torn_by_a_full_disk_does_not_spoil_the_next) {
    int ends[2];
    struct sink sink;
    open_file(ends);
    struct evd_log *log = evd_log_new(ends[1], EVD_LOG_INFO, evd_clock_system());
    bool limited = limit_files_to(50);
    evd_log_event(log, EVD_LOG_INFO, "torn", NULL, 0);
    while (evd_log_dropped(log) == 0)
        (void)sched_yield();
    limited = limit_files_to(RLIM_INFINITY) && limited;
    ck_assert(limited);
    evd_log_event(log, EVD_LOG_INFO, "whole", NULL, 0);
    evd_log_free(log);
    sink_start(&sink, ends[0], ends[1]);
    const char *bytes = sink_end(&sink), *end = strchr(bytes, '\n');
    ck_assert_ptr_nonnull(end);
    ck_assert_int_eq(end - bytes, 50);
    const char *notice = end + 1, *notice_end = strchr(notice, '\n');
    ck_assert_ptr_nonnull(notice_end);
    json_t *json = parsed(notice, (size_t)(notice_end - notice));
    ck_assert_int_eq(json_integer_value(json_object_get(json, "lines")), 1);
    json_decref(json);
    json = parsed(notice_end + 1, strlen(notice_end + 1));
    ck_assert_str_eq(json_string_value(json_object_get(json, "event")), "whole");
    json_decref(json);
}
END_TEST

enum { LOGGERS = 8, LINES_EACH = 500 };

struct logger {
    struct evd_log *log;
    unsigned index;
    pthread_t thread;
};

static void *log_many(void *argument) {
    const struct logger *logger = argument;
    for (unsigned i = 0; i < LINES_EACH; i++) {
        const struct evd_log_field fields[] = {EVD_LOG_FIELD_U64("logger", logger->index),
                                               EVD_LOG_FIELD_U64("line", i)};
        evd_log_event(logger->log, EVD_LOG_INFO, "counted", fields, 2);
        if (i == LINES_EACH / 2) evd_log_set_level(logger->log, EVD_LOG_DEBUG);
    }
    return NULL;
}

START_TEST(lines_of_many_threads_arrive_whole_and_in_each_threads_order) {
    struct sink sink;
    struct logger loggers[LOGGERS];
    unsigned next[LOGGERS] = {0};
    sink_start_pipe(&sink);
    struct evd_log *log = evd_log_new(sink.write_fd, EVD_LOG_INFO, evd_clock_system());
    for (unsigned i = 0; i < LOGGERS; i++) {
        loggers[i] = (struct logger){.log = log, .index = i};
        ck_assert_int_eq(pthread_create(&loggers[i].thread, NULL, log_many, &loggers[i]), 0);
    }
    for (unsigned i = 0; i < LOGGERS; i++)
        (void)pthread_join(loggers[i].thread, NULL);
    ck_assert_uint_eq(evd_log_dropped(log), 0); /* all of them fit the ring */
    evd_log_free(log);
    const char *end;
    for (const char *at = sink_end(&sink); (end = strchr(at, '\n')) != NULL; at = end + 1) {
        json_t *json = parsed(at, (size_t)(end - at));
        json_int_t logger = json_integer_value(json_object_get(json, "logger"));
        ck_assert_int_eq(json_integer_value(json_object_get(json, "line")), next[logger]++);
        json_decref(json);
    }
    for (unsigned i = 0; i < LOGGERS; i++)
        ck_assert_uint_eq(next[i], LINES_EACH);
}
END_TEST

EVD_TEST_MAIN("base: log", an_event_is_one_json_line_with_its_fields_in_order, an_event_without_fields_is_a_whole_line,
              hostile_text_is_escaped_and_invalid_utf8_replaced, numbers_of_every_size_are_json_numbers,
              a_line_at_the_cap_is_cut_between_characters_and_says_so,
              what_does_not_fit_is_left_out_and_the_line_stays_json,
              only_events_at_least_as_grave_as_the_level_are_written_and_the_level_can_be_reloaded,
              without_a_descriptor_there_is_no_log_and_no_log_logs_nothing, every_kind_of_descriptor_gets_every_line,
              a_stalled_reader_blocks_nobody_and_the_gap_is_named_where_it_is,
              a_reader_that_never_reads_does_not_keep_the_log_from_being_freed,
              a_writer_that_hangs_in_a_write_is_left_behind,
              a_reader_that_has_gone_kills_nobody_and_its_lines_are_counted,
              a_line_torn_by_a_full_disk_does_not_spoil_the_next,
              lines_of_many_threads_arrive_whole_and_in_each_threads_order)
