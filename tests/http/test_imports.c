/*
 * Imports into the whole program: what it shows of them, and what they leave behind in its memory.
 */
#include "../support/desk.h"
#include "../support/imports.h"
#include "../support/raw_client.h"
#include "../support/test.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

static struct evd_daemon_process process;
static struct desk desk;

static void begin(void) {
    evd_daemon_process_init(&process);
    evd_daemon_process_start(&process);
    desk_open(&desk, &process, 1, 3);
}

static void end(void) {
    desk_close(&desk);
    evd_daemon_process_done(&process);
}

static void import(const char *csv, long long rows) {
    char key[EVD_UUID_TEXT_BYTES + 1], *path;
    struct evd_reply reply;
    ck_assert_int_gt(asprintf(&path, "/v1/projects/%s/imports", desk.project), 0);
    evd_client_ask(&desk.admin, "POST", path, evd_test_uuid(key), csv, "Content-Type: text/csv\r\nPrefer: wait=30\r\n",
                   &reply);
    ck_assert_msg(reply.status == 200, "%d %s", reply.status, reply.body);
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(reply.json, "counts"), "added")), rows);
    evd_reply_done(&reply);
    free(path);
}

START_TEST(an_operation_is_seen_in_the_figures_and_the_log_and_what_it_is_about_is_not) {
    struct evd_raw_client raw;
    static struct evd_raw_response page;
    begin();
    import("title,doi\nA secret title,10.1000/secret\n", 1);
    evd_daemon_process_await_log(&process, "operation-settled");
    ck_assert(evd_daemon_process_has_logged(&process, "\"event\":\"operation-begun\""));
    ck_assert(evd_daemon_process_has_logged(&process, "\"kind\":\"import\""));
    ck_assert(!evd_daemon_process_has_logged(&process, "secret"));
    evd_raw_open(&raw, process.admin_port);
    ck_assert_int_eq(evd_raw_get(&raw, "/metrics", &page), 200);
    static const char *const lines[] = {"evidenced_operations_open 0\n", "evidenced_operations_stuck 0\n",
                                        "evidenced_operation_steps_total 2\n", "evidenced_operation_pauses_total 0\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_msg(strstr(page.body, lines[i]) != NULL, "%s", lines[i]);
    evd_raw_close(&raw);
    end();
}
END_TEST

/* A file of some 16 MB. */
static char *large_csv(unsigned first, unsigned rows) {
    char *csv = NULL, abstract[1301];
    size_t size = 0;
    FILE *out = open_memstream(&csv, &size);
    if (out == NULL) abort();
    memset(abstract, 'a', sizeof abstract - 1);
    abstract[sizeof abstract - 1] = '\0';
    (void)fprintf(out, "title,doi,abstract\n");
    for (unsigned i = first; i < first + rows; i++)
        (void)fprintf(out, "T%u,10.1/%u,%s\n", i, i, abstract);
    (void)fclose(out);
    return csv;
}

/* Memory of its own, in MiB: not the files it has mapped. */
static unsigned long own_mib(void) {
    char path[64], line[256];
    unsigned long kib = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)process.pid);
    FILE *status = fopen(path, "re");
    ck_assert_ptr_nonnull(status);
    while (kib == 0 && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "RssAnon:", 8) == 0) kib = strtoul(line + 8, NULL, 10);
    (void)fclose(status);
    ck_assert_uint_gt(kib, 0);
    return kib / 1024;
}

/* The store's write buffers take 256 MiB, whatever is written. */
START_TEST(memory_is_given_back_after_large_imports_however_many_there_are) {
    enum { IMPORTS = 8, ROWS = 12000, MOST_MIB = 256 + 96 };
    begin();
    for (unsigned i = 0; i < IMPORTS && !IS_SANITIZED; i++) {
        char *csv = large_csv(i * ROWS, ROWS);
        import(csv, ROWS);
        free(csv);
    }
    if (!IS_SANITIZED) ck_assert_uint_le(own_mib(), MOST_MIB);
    end();
}
END_TEST

EVD_TEST_MAIN("http: imports", an_operation_is_seen_in_the_figures_and_the_log_and_what_it_is_about_is_not,
              memory_is_given_back_after_large_imports_however_many_there_are)
