#include "../support/program.h"
#include "../support/stub_server.h"
#include "../support/test.h"

#include "evidenced/base/uuid.h"

#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* evidencectl against a server that answers as told: busy, broken, cut short, and what the daemon says of long work. */

#define PROJECT    "11111111-1111-4111-8111-111111111111"
#define FORM       "22222222-2222-4222-8222-222222222222"
#define OPERATION  "33333333-3333-4333-8333-333333333333"
#define SESSION    "44444444-4444-4444-8444-444444444444"
#define IN_PROJECT "/v1/projects/" PROJECT

#define AT_ONCE "Retry-After: 0\r\n"
#define RUNNING(done)                                                                                                  \
    "{\"id\":\"" OPERATION "\",\"kind\":\"import\",\"status\":\"running\",\"progress\":{\"done\":" done                \
    ",\"total\":5000},\"requestedAt\":\"2026-03-01T09:30:00.000Z\",\"counts\":{}}"
#define ENDED(status, counts)                                                                                          \
    "{\"id\":\"" OPERATION "\",\"kind\":\"import\",\"status\":\"" status                                               \
    "\",\"progress\":{\"done\":5000,\"total\":5000},\"counts\":" counts "}"
#define BUSY(outcome)                                                                                                  \
    "{\"title\":\"Busy\",\"detail\":\"Please try again.\",\"outcome\":\"" outcome "\",\"retryable\":true,"             \
    "\"instance\":\"urn:evidenced:request:7\"}"
#define NO_ROWS "{\"items\":[],\"next\":null}"

static struct evd_program ctl;
static struct stub_server stub;
static const char *directory;
static char server[128], token[320];

static void serve(const struct stub_answer *answers, size_t count) {
    stub_open(&stub, NULL, answers, count);
    directory = evd_test_directory();
    (void)snprintf(token, sizeof token, "%s/token", directory);
    FILE *file = fopen(token, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs("a.b.c\n", file), 0);
    ck_assert_int_eq(fclose(file), 0);
    (void)snprintf(token, sizeof token, "EVIDENCED_TOKEN_FILE=%s/token", directory);
    (void)snprintf(server, sizeof server, "EVIDENCED_SERVER=http://127.0.0.1:%u/", (unsigned)stub.port);
    ctl = (struct evd_program){
        .name = "evidencectl", .variables = {server, token, "EVIDENCED_PROJECT=" PROJECT}, .directory = directory};
}

#define SERVE(...)                                                                                                     \
    static const struct stub_answer answers[] = {__VA_ARGS__};                                                         \
    serve(answers, sizeof answers / sizeof *answers)

static const char *path_of(const char *name) {
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(path_of(name), "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* "" when there is no such file. */
static const char *content_of(const char *name) {
    static char text[4096];
    FILE *file = fopen(path_of(name), "re");
    text[0] = '\0';
    if (file == NULL) return text;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    return text;
}

/* Every request so far carried the same Idempotency-Key, a UUID. */
static void assert_one_key(void) {
    char key[64];
    evd_uuid id;
    (void)snprintf(key, sizeof key, "%.60s", stub_header(&stub, 0, "Idempotency-Key"));
    ck_assert(evd_uuid_parse(evd_text_from(key), &id));
    for (size_t i = 1; i < stub.request_count; i++)
        ck_assert_str_eq(stub_header(&stub, i, "Idempotency-Key"), key);
}

/* Asking again. */

START_TEST(a_busy_service_is_asked_again_under_the_same_key) {
    SERVE({.status = 429, .headers = AT_ONCE, .body = BUSY("Busy")}, {.manner = STUB_DROP},
          {.status = 503, .headers = AT_ONCE, .body = BUSY("StoreUnavailable")},
          {.status = 409, .headers = AT_ONCE, .body = BUSY("RetryableConflict")},
          {.status = 502, .type = "text/html", .headers = AT_ONCE, .body = "<h1>proxy</h1>"},
          {.status = 200, .manner = STUB_SHORT, .body = "{\"id\":"}, {.status = 200, .body = "{\"id\":\"x\"}"});
    ck_assert_int_eq(evd_program_run(&ctl, "project create Busy"), 0);
    ck_assert_str_eq(ctl.out, "x\n");
    ck_assert_str_eq(ctl.err, "");
    stub_close(&stub);
    assert_one_key();
    for (size_t i = 0; i < stub.request_count; i++) {
        ck_assert(stub_was_asked(&stub, i, "POST /v1/projects"));
        ck_assert_str_eq(stub.requests[i].body, "{\"name\":\"Busy\"}");
        ck_assert_str_eq(stub_header(&stub, i, "Authorization"), "Bearer a.b.c");
    }
    stub_done(&stub);
}
END_TEST

START_TEST(an_unknown_outcome_is_settled_by_the_same_key) {
    SERVE({.status = 409, .headers = AT_ONCE, .body = BUSY("OutcomeUnknown")},
          {.status = 200, .headers = "Idempotency-Replayed: true\r\n", .body = "{\"id\":\"x\"}"});
    ck_assert_int_eq(evd_program_run(&ctl, "project create Unknown"), 0);
    stub_close(&stub);
    assert_one_key();
    stub_done(&stub);
}
END_TEST

START_TEST(an_outcome_that_stays_unknown_is_told_with_the_key_to_settle_it) {
    SERVE({.status = 409, .headers = AT_ONCE, .body = BUSY("OutcomeUnknown")});
    ck_assert_int_eq(evd_program_run(&ctl, "project create Unknown --wait 0 --key " SESSION), 5);
    ck_assert(evd_program_said(&ctl, "OutcomeUnknown") && evd_program_said(&ctl, "does nothing twice"));
    ck_assert(evd_program_said(&ctl, "To repeat it, add: --key " SESSION "\n"));
    stub_close(&stub);
    ck_assert_str_eq(stub_header(&stub, 0, "Idempotency-Key"), SESSION);
    stub_done(&stub);
}
END_TEST

START_TEST(a_pause_longer_than_the_wait_is_not_begun) {
    SERVE({.status = 429, .headers = "Retry-After: 3600\r\n", .body = BUSY("Busy")});
    ck_assert_int_eq(evd_program_run(&ctl, "project create Later"), 5);
    ck_assert(evd_program_said(&ctl, "to be left alone for 3600 s") && evd_program_said(&ctl, "--key "));
    ck_assert(evd_program_said(&ctl, "urn:evidenced:request:7"));
    stub_close(&stub);
    stub_done(&stub);
}
END_TEST

static const struct {
    int status;
    const char *type, *body;
    int exit;
    const char *says;
} finals[] = {
    {409, NULL, "{\"outcome\":\"StaleBase\",\"detail\":\"Changed.\",\"retryable\":false,\"declared\":1,\"current\":2}",
     3, "StaleBase: Changed.\n  declared: 1\n  current: 2\n"},
    {413, NULL, "{\"outcome\":\"BodyTooLarge\",\"detail\":\"Large.\",\"retryable\":false}", 3, "BodyTooLarge: Large."},
    {503, NULL, "{\"outcome\":\"StoreCorrupt\",\"detail\":\"Bad.\",\"retryable\":false}", 5, "StoreCorrupt: Bad."},
    {403, "text/html", "<h1>no</h1>", 4, "HTTP status 403"},
    {401, NULL, "{\"outcome\":\"Unauthenticated\",\"detail\":\"No.\",\"retryable\":false}", 4, "Get a new token"},
    {500, "text/html", "<h1>oops</h1>", 1, "HTTP status 500"},
    {301, "text/html", "<h1>moved</h1>", 1, "Is that the address of evidenced?"},
    {200, "text/html", "<h1>hello</h1>", 1, "Is that the address of evidenced?"},
    {200, NULL, "{\"id\":", 1, "Is that the address of evidenced?"},
    {200, NULL, "[]", 1, "Is that the address of evidenced?"},
};

START_TEST(what_is_final_is_not_asked_again) {
    for (size_t i = 0; i < sizeof finals / sizeof *finals; i++) {
        struct stub_answer answer = {.status = finals[i].status,
                                     .headers = "Location: /elsewhere\r\n",
                                     .type = finals[i].type,
                                     .body = finals[i].body};
        serve(&answer, 1);
        int status = evd_program_run(&ctl, "project create Final");
        ck_assert_msg(status == finals[i].exit, "%d: %d %s", finals[i].status, status, ctl.err);
        ck_assert_msg(evd_program_said(&ctl, finals[i].says), "%d: %s", finals[i].status, ctl.err);
        ck_assert_str_eq(ctl.out, "");
        stub_close(&stub);
        stub_done(&stub);
    }
}
END_TEST

START_TEST(an_interrupt_ends_the_waiting_and_tells_the_key) {
    SERVE({.status = 429, .headers = "Retry-After: 50\r\n", .body = BUSY("Busy")});
    evd_program_start(&ctl, "project create Interrupted --key " SESSION);
    stub_await(&stub, 1);
    ck_assert_int_eq(kill(ctl.pid, SIGINT), 0);
    ck_assert_int_eq(evd_program_wait(&ctl), 1);
    ck_assert(evd_program_said(&ctl, "Interrupted.") && evd_program_said(&ctl, "--key " SESSION));
    stub_close(&stub);
    stub_done(&stub);
}
END_TEST

START_TEST(no_proxy_of_the_environment_sees_the_token_of_a_plain_connection) {
    SERVE({.status = 200, .body = "{\"id\":\"x\"}"});
    ctl.variables[3] = "http_proxy=http://127.0.0.1:1";
    ctl.variables[4] = "all_proxy=http://127.0.0.1:1";
    ck_assert_int_eq(evd_program_run(&ctl, "project create Direct --wait 0"), 0);
    stub_close(&stub);
    stub_done(&stub);
}
END_TEST

/* Lists. */

START_TEST(a_list_is_followed_to_its_end) {
    SERVE({.status = 200, .body = "{\"items\":[{\"id\":\"a\",\"name\":\"One\"}],\"next\":\"c/1 &\"}"},
          {.status = 200, .body = "{\"items\":[{\"id\":\"bbb\",\"name\":\"Two\"}],\"next\":null}"},
          {.status = 200, .body = "{\"items\":[{\"id\":\"a\"}],\"next\":\"c1\"}"},
          {.status = 200, .body = "{\"items\":[],\"next\":null}"});
    ck_assert_int_eq(evd_program_run(&ctl, "form list"), 0);
    ck_assert_str_eq(ctl.out, "FORM  NAME\na     One\nbbb   Two\n");
    ck_assert_int_eq(evd_program_run(&ctl, "form list --json"), 0);
    ck_assert_str_eq(ctl.out, "{\"items\":[{\"id\":\"a\"}],\"next\":\"c1\"}\n{\"items\":[],\"next\":null}\n");
    stub_close(&stub);
    ck_assert(stub_was_asked(&stub, 0, "GET " IN_PROJECT "/forms?limit=500"));
    ck_assert(stub_was_asked(&stub, 1, "GET " IN_PROJECT "/forms?limit=500&cursor=c%2F1%20%26"));
    stub_done(&stub);
}
END_TEST

START_TEST(a_list_that_goes_round_in_circles_is_left) {
    SERVE({.status = 200, .body = "{\"items\":[],\"next\":\"c1\"}"},
          {.status = 200, .body = "{\"items\":[],\"next\":\"c1\"}"}, {.status = 200, .body = "{\"next\":null}"});
    ck_assert_int_eq(evd_program_run(&ctl, "form list"), 1);
    ck_assert_int_eq(evd_program_run(&ctl, "form list"), 1);
    ck_assert(evd_program_said(&ctl, "no page of a list"));
    stub_close(&stub);
    stub_done(&stub);
}
END_TEST

START_TEST(what_the_service_says_cannot_steer_the_terminal) {
    SERVE(
        {.status = 200,
         .body = "{\"items\":[{\"id\":\"a\\u001b[2J\",\"name\":\"x\\u202ey\\u009bz\\n\\té\"}],\"next\":null}"},
        {.status = 409,
         .body = "{\"outcome\":\"Refused\",\"reason\":\"x\\u001b]0;\",\"detail\":\"No\\u0007.\",\"retryable\":false}"});
    ck_assert_int_eq(evd_program_run(&ctl, "form list"), 0);
    ck_assert_str_eq(ctl.out, "FORM   NAME\na?[2J  x?y?z  é\n");
    ck_assert_int_eq(evd_program_run(&ctl, "project create x"), 3);
    ck_assert_str_eq(ctl.err, "evidencectl: Refused (x?]0;): No?.\n");
    stub_close(&stub);
    stub_done(&stub);
}
END_TEST

/* Imports. */

START_TEST(an_import_is_sent_whole_again_and_followed_until_it_has_ended) {
    SERVE({.manner = STUB_DROP}, {.status = 202, .headers = AT_ONCE, .body = RUNNING("0")},
          {.status = 503, .headers = AT_ONCE, .body = BUSY("Draining")},
          {.status = 200, .headers = AT_ONCE, .body = RUNNING("2500")},
          {.status = 200, .body = ENDED("succeeded", "{\"added\":4998,\"matched\":1,\"refused\":1}")},
          {.status = 200,
           .body = "{\"items\":[{\"place\":9,\"result\":\"refused\",\"code\":\"invalidUtf8\",\"column\":\"title\","
                   "\"sentence\":\"It is not UTF-8.\"}],\"next\":\"c\"}"});
    write_file("my references.CSV", "title;doi\nA;1\n");
    ck_assert_int_eq(evd_program_run(&ctl, "import 'my references.CSV' --skip-refused --delimiter semicolon "
                                           "--label 'Topic 1' --label=b&c"),
                     0);
    ck_assert(evd_program_said(&ctl, "counts.added    4998\n"));
    ck_assert(evd_program_said(&ctl, "ROW  RESULT   CODE         COLUMN  WHY\n"
                                     "9    refused  invalidUtf8  title   It is not UTF-8.\n"
                                     "and more: evidencectl import show " OPERATION "\n"));
    ck_assert_str_eq(ctl.err, "");
    stub_close(&stub);
    for (size_t i = 0; i < 2; i++) {
        ck_assert(stub_was_asked(&stub, i,
                                 "POST " IN_PROJECT "/imports?skipRefused=true&delimiter=semicolon&label="
                                 "Topic%201&label=b%26c"));
        ck_assert_str_eq(stub.requests[i].body, "title;doi\nA;1\n");
        ck_assert_str_eq(stub_header(&stub, i, "Content-Type"), "text/csv");
        ck_assert_str_eq(stub_header(&stub, i, "Prefer"), "wait=10");
    }
    ck_assert_str_eq(stub_header(&stub, 2, "Idempotency-Key"), "");
    ck_assert(stub_was_asked(&stub, 4, "GET " IN_PROJECT "/operations/" OPERATION));
    ck_assert(stub_was_asked(&stub, 5, "GET " IN_PROJECT "/operations/" OPERATION "/rows?limit=20&result=refused"));
    stub_done(&stub);
}
END_TEST

START_TEST(a_refused_import_names_its_rows_and_exits_3) {
    SERVE({.status = 200,
           .body = "{\"id\":\"" OPERATION "\",\"status\":\"refused\",\"counts\":{\"refused\":1},"
                   "\"refusal\":\"ValidationFailed\"}"},
          {.status = 200,
           .body =
               "{\"items\":[{\"place\":999,\"result\":\"refused\",\"code\":\"noIdentity\",\"sentence\":\"Neither title "
               "nor identifier.\"}],\"next\":null}"});
    ctl.input = "TY  - JOUR\n";
    ck_assert_int_eq(evd_program_run(&ctl, "import - --format ris --dry-run"), 3);
    ck_assert(evd_program_said(&ctl, "999  refused  noIdentity  Neither title nor identifier.\n"));
    ck_assert(evd_program_said(&ctl, "Refused, and nothing was changed: ValidationFailed.\n"));
    ck_assert(evd_program_said(&ctl, "--skip-refused"));
    stub_close(&stub);
    ck_assert(stub_was_asked(&stub, 0, "POST " IN_PROJECT "/imports?dryRun=true"));
    ck_assert_str_eq(stub.requests[0].body, "TY  - JOUR\n");
    ck_assert_str_eq(stub_header(&stub, 0, "Content-Type"), "application/x-research-info-systems");
    stub_done(&stub);
}
END_TEST

START_TEST(an_import_refused_at_the_door_lists_every_error) {
    SERVE({.status = 409,
           .body = "{\"outcome\":\"ValidationFailed\",\"detail\":\"The header is ambiguous.\",\"retryable\":false,"
                   "\"errorCount\":4,\"errors\":[{\"pointer\":\"\",\"code\":\"ambiguousDelimiter\",\"message\":\"Comma "
                   "or semicolon?\",\"candidates\":[\"comma\",\"semicolon\"]},{\"pointer\":\"\",\"row\":7,\"column\":"
                   "\"doi\",\"code\":\"malformedIdentifier\",\"message\":\"No DOI.\"}]}"});
    write_file("a.tsv", "x");
    ck_assert_int_eq(evd_program_run(&ctl, "import a.tsv"), 3);
    ck_assert_str_eq(ctl.err, "evidencectl: ValidationFailed: The header is ambiguous.\n"
                              "  Comma or semicolon? (ambiguousDelimiter): comma, semicolon\n"
                              "  row 7, column doi: No DOI. (malformedIdentifier)\n"
                              "  and 2 more; --json shows all that were told\n"
                              "  Correct the file; or leave refused rows out with --skip-refused.\n");
    stub_close(&stub);
    stub_done(&stub);
}
END_TEST

START_TEST(an_import_is_undone_and_looked_at_by_its_id) {
    SERVE({.status = 202, .headers = AT_ONCE, .body = RUNNING("1")},
          {.status = 200, .body = ENDED("succeeded", "{\"removed\":2,\"stayed\":1}")},
          {.status = 200, .body = "{\"items\":[{\"place\":1,\"result\":\"stayed\",\"studyId\":\"s\"}],\"next\":null}"},
          {.status = 200, .body = RUNNING("4")}, {.status = 200, .body = ENDED("cancelled", "{}")},
          {.status = 200, .body = NO_ROWS});
    ck_assert_int_eq(evd_program_run(&ctl, "import undo " OPERATION), 0);
    ck_assert(evd_program_said(&ctl, "counts.removed  2\n") && evd_program_said(&ctl, "1    stayed  s\n"));
    ck_assert_int_eq(evd_program_run(&ctl, "import show " OPERATION), 0);
    ck_assert(evd_program_said(&ctl, "status          running\nprogress.done   4\n"));
    ck_assert_int_eq(evd_program_run(&ctl, "import show " OPERATION " --json"), 1);
    ck_assert_str_eq(ctl.out, ENDED("cancelled", "{}") "\n" NO_ROWS "\n");
    stub_close(&stub);
    ck_assert(stub_was_asked(&stub, 0, "POST " IN_PROJECT "/imports/" OPERATION "/undo"));
    ck_assert_str_eq(stub_header(&stub, 0, "Content-Length"), "0");
    stub_done(&stub);
}
END_TEST

START_TEST(an_import_goes_on_when_its_watching_ends) {
    SERVE({.status = 202, .headers = "Retry-After: 50\r\n", .body = RUNNING("1")});
    write_file("a.ris", "x");
    evd_program_start(&ctl, "import a.ris");
    stub_await(&stub, 1);
    ck_assert_int_eq(kill(ctl.pid, SIGTERM), 0);
    ck_assert_int_eq(evd_program_wait(&ctl), 1);
    ck_assert(evd_program_said(&ctl, "Interrupted."));
    stub_close(&stub);
    stub_done(&stub);
}
END_TEST

/* Exports. */

START_TEST(an_export_is_written_whole) {
    SERVE({.status = 200, .type = "text/csv", .manner = STUB_CHUNKED, .body = "a,b\r\n1,2\r\n"},
          {.status = 200, .type = "application/x-ndjson", .manner = STUB_CHUNKED, .body = "{\"a\":1}\n"},
          {.status = 200, .body = "{\"rows\":1}"}, {.status = 200, .body = "{}"});
    write_file("out.csv", "old");
    ck_assert_int_eq(chmod(path_of("out.csv"), 0640), 0);
    ck_assert_int_eq(evd_program_run(&ctl, "export answers --form " FORM " --spreadsheet-safe -o out.csv"), 0);
    ck_assert_str_eq(content_of("out.csv"), "a,b\r\n1,2\r\n");
    struct stat status;
    ck_assert_int_eq(stat(path_of("out.csv"), &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0640);
    ck_assert_str_eq(ctl.out, "");
    ck_assert_int_eq(evd_program_run(&ctl, "export answers --form " FORM " --ndjson"), 0);
    ck_assert_str_eq(ctl.out, "{\"a\":1}\n");
    ck_assert_int_eq(evd_program_run(&ctl, "export manifest --form " FORM " --output -"), 0);
    ck_assert_str_eq(ctl.out, "{\"rows\":1}");
    ck_assert_int_eq(evd_program_run(&ctl, "export manifest --form " FORM " -o /dev/null"), 0);
    ck_assert_int_eq(stat("/dev/null", &status), 0);
    ck_assert(S_ISCHR(status.st_mode));
    stub_close(&stub);
    ck_assert(stub_was_asked(&stub, 0, "GET " IN_PROJECT "/forms/" FORM "/exports/answers.csv?spreadsheet=safe"));
    ck_assert(stub_was_asked(&stub, 1, "GET " IN_PROJECT "/forms/" FORM "/exports/answers.ndjson"));
    ck_assert(stub_was_asked(&stub, 2, "GET " IN_PROJECT "/forms/" FORM "/exports/manifest.json"));
    stub_done(&stub);
}
END_TEST

/* Nothing but the token and what stood there before. */
static void assert_directory_holds(const char *kept, const char *content) {
    char command[700], names[1024];
    (void)snprintf(command, sizeof command, "ls '%s'", directory);
    FILE *pipe = popen(command, "re");
    ck_assert_ptr_nonnull(pipe);
    names[fread(names, 1, sizeof names - 1, pipe)] = '\0';
    (void)pclose(pipe);
    ck_assert_msg(strlen(names) == strlen(kept) + strlen("token\n") + (kept[0] != '\0'), "%s", names);
    if (kept[0] != '\0') ck_assert_str_eq(content_of(kept), content);
}

START_TEST(an_export_cut_short_fails_and_leaves_no_file) {
    SERVE({.status = 200, .type = "text/csv", .manner = STUB_CHUNKED_SHORT, .body = "a,b\r\n"},
          {.status = 200, .type = "text/csv", .manner = STUB_SHORT, .body = "a,b\r\n"},
          {.status = 404, .body = "{\"outcome\":\"NotFound\",\"detail\":\"Not here.\",\"retryable\":false}"},
          {.status = 200, .type = "text/csv", .manner = STUB_SHORT, .body = "a,b\r\n"});
    ck_assert_int_eq(evd_program_run(&ctl, "export answers --form " FORM " -o new.csv"), 1);
    ck_assert(evd_program_said(&ctl, "The answer was cut short"));
    assert_directory_holds("", "");
    write_file("kept.csv", "kept");
    ck_assert_int_eq(evd_program_run(&ctl, "export answers --form " FORM " -o kept.csv"), 1);
    assert_directory_holds("kept.csv", "kept");
    ck_assert_int_eq(evd_program_run(&ctl, "export answers --form " FORM " -o kept.csv"), 4);
    ck_assert(evd_program_said(&ctl, "NotFound: Not here."));
    assert_directory_holds("kept.csv", "kept");
    ck_assert_int_eq(evd_program_run(&ctl, "export answers --form " FORM), 1);
    ck_assert_int_eq(evd_program_run(&ctl, "export answers --form " FORM " -o missing/out.csv"), 1);
    ck_assert(evd_program_said(&ctl, "missing/out.csv: No such file"));
    stub_close(&stub);
    stub_done(&stub);
}
END_TEST

START_TEST(an_export_that_was_not_begun_is_asked_for_again) {
    SERVE({.manner = STUB_DROP}, {.status = 429, .headers = AT_ONCE, .body = BUSY("Busy")},
          {.status = 200, .type = "text/csv", .body = "a\r\n"});
    ck_assert_int_eq(evd_program_run(&ctl, "export answers --form " FORM), 0);
    ck_assert_str_eq(ctl.out, "a\r\n");
    stub_close(&stub);
    stub_done(&stub);
}
END_TEST

/* Verify, backup, drafts. */

#define FINDING           "{\"check\":\"pins\",\"record\":\"pinMap\",\"id\":\"9\",\"expected\":\"2\",\"found\":\"1\"}\n"
#define SUMMARY(findings) "{\"summary\":{\"studies\":8,\"sessions\":4,\"versions\":4,\"findings\":" findings "}}\n"

static const struct {
    const char *body, *options;
    enum stub_manner manner;
    int exit;
    const char *says;
} verifications[] = {
    {SUMMARY("0"), "", STUB_CHUNKED, 0, "studies   8\nsessions  4\nversions  4\nfindings  0\n"},
    {FINDING SUMMARY("1"), "", STUB_CHUNKED, 6, "pins  pinMap  9  expected 2  found 1\n\nstudies   8\n"},
    {FINDING FINDING SUMMARY("2"), "", STUB_CHUNKED, 6, "nothing was changed"},
    {FINDING SUMMARY("1"), "--json", STUB_CHUNKED, 6, FINDING SUMMARY("1")},
    {FINDING SUMMARY("0"), "", STUB_CHUNKED, 6, "Keep the data directory"},
    {FINDING, "", STUB_CHUNKED, 1, "broke off"},
    {"", "", STUB_CHUNKED, 1, "broke off"},
    {"nonsense\n" SUMMARY("0"), "", STUB_CHUNKED, 1, "broke off"},
    {SUMMARY("0"), "", STUB_CHUNKED_SHORT, 1, "cut short"},
};

START_TEST(verify_tells_what_it_finds_in_its_exit_status) {
    for (size_t i = 0; i < sizeof verifications / sizeof *verifications; i++) {
        struct stub_answer answer = {.status = 200,
                                     .type = "application/x-ndjson",
                                     .manner = verifications[i].manner,
                                     .body = verifications[i].body};
        serve(&answer, 1);
        int status = evd_program_run(&ctl, "verify %s", verifications[i].options);
        ck_assert_msg(status == verifications[i].exit, "%zu: %d %s", i, status, ctl.err);
        ck_assert_msg(evd_program_said(&ctl, verifications[i].says), "%zu: %s%s", i, ctl.out, ctl.err);
        stub_close(&stub);
        ck_assert(stub_was_asked(&stub, 0, "GET " IN_PROJECT "/verification"));
        stub_done(&stub);
    }
}
END_TEST

START_TEST(a_backup_names_the_whole_path_and_is_not_repeated_when_its_answer_is_lost) {
    static const struct stub_answer answers[] = {{.status = 200, .body = "{\"directory\":\"/b\",\"bytes\":7}"},
                                                 {.status = 503, .headers = AT_ONCE, .body = BUSY("StoreUnavailable")},
                                                 {.manner = STUB_DROP}};
    char path[400], variable[420], expected[500];
    const char *parent = evd_test_directory();
    char *here = realpath(parent, NULL);
    ck_assert_ptr_nonnull(here);
    (void)snprintf(path, sizeof path, "%s/control.sock", parent);
    (void)snprintf(variable, sizeof variable, "EVIDENCED_CONTROL=%s", path);
    stub_open(&stub, path, answers, sizeof answers / sizeof *answers);
    ctl = (struct evd_program){.name = "evidencectl", .variables = {variable}, .directory = parent};
    ck_assert_int_eq(evd_program_run(&ctl, "backup new"), 0);
    ck_assert_str_eq(ctl.out, "directory  /b\nbytes      7\n");
    ck_assert_int_eq(evd_program_run(&ctl, "backup /b"), 5);
    ck_assert(evd_program_said(&ctl, "It may have been done or not: look before you repeat it."));
    stub_close(&stub);
    (void)snprintf(expected, sizeof expected, "{\"directory\":\"%.400s/new\"}", here);
    free(here);
    ck_assert_str_eq(stub.requests[0].body, expected);
    ck_assert_str_eq(stub.requests[1].body, "{\"directory\":\"/b\"}");
    ck_assert(stub_was_asked(&stub, 0, "POST /v1/operator/backup"));
    ck_assert_str_eq(stub_header(&stub, 0, "Authorization"), "");
    stub_done(&stub);
}
END_TEST

START_TEST(a_draft_is_shown_and_released) {
    SERVE({.status = 200, .body = "{\"holder\":\"tab\",\"etag\":3,\"answers\":[{}],\"lease\":null}"},
          {.status = 200, .body = "{\"commandId\":\"x\"}"});
    ck_assert_int_eq(evd_program_run(&ctl, "draft show " SESSION), 0);
    ck_assert_str_eq(ctl.out, "holder   tab\netag     3\nanswers  1\n");
    ck_assert_int_eq(evd_program_run(&ctl, "draft release " SESSION), 0);
    ck_assert_str_eq(ctl.out, SESSION "\n");
    stub_close(&stub);
    ck_assert(stub_was_asked(&stub, 0, "GET " IN_PROJECT "/sessions/" SESSION "/draft"));
    ck_assert(stub_was_asked(&stub, 1, "POST " IN_PROJECT "/sessions/" SESSION "/draft/release"));
    stub_done(&stub);
}
END_TEST

/* The terminal. */

static void read_terminal(int master, char *text, size_t text_bytes) {
    size_t held = 0;
    for (;;) {
        ssize_t got = read(master, text + held, text_bytes - held - 1);
        if (got <= 0) break;
        held += (size_t)got;
    }
    text[held] = '\0';
}

START_TEST(a_bar_is_drawn_on_a_terminal_and_cleared_again) {
    static char shown[65536];
    SERVE({.status = 202, .headers = AT_ONCE, .body = RUNNING("2500")},
          {.status = 200, .body = ENDED("succeeded", "{\"added\":5000}")},
          {.status = 429, .headers = "Retry-After: 3600\r\n", .body = BUSY("Busy")});
    int master, terminal;
    struct winsize size = {.ws_col = 70, .ws_row = 24};
    write_file("a.csv", "title\nA\n");
    ck_assert_int_eq(openpty(&master, &terminal, NULL, NULL, &size), 0);
    ctl.terminal = terminal;
    ck_assert_int_eq(evd_program_run(&ctl, "import a.csv"), 0);
    ck_assert_int_eq(evd_program_run(&ctl, "project create x"), 5);
    (void)close(terminal);
    read_terminal(master, shown, sizeof shown);
    (void)close(master);
    ck_assert_msg(strstr(shown, "Importing  [") != NULL && strstr(shown, "]   50 %  2500 of 5000 rows") != NULL, "%s",
                  shown);
    ck_assert(strstr(shown, "\r\033[Kevidencectl: Busy") != NULL);
    stub_close(&stub);
    ck_assert_str_eq(stub_header(&stub, 0, "Prefer"), "");
    stub_done(&stub);
}
END_TEST

EVD_TEST_MAIN("evidencectl: bad days", a_busy_service_is_asked_again_under_the_same_key,
              an_unknown_outcome_is_settled_by_the_same_key,
              an_outcome_that_stays_unknown_is_told_with_the_key_to_settle_it,
              a_pause_longer_than_the_wait_is_not_begun, what_is_final_is_not_asked_again,
              an_interrupt_ends_the_waiting_and_tells_the_key,
              no_proxy_of_the_environment_sees_the_token_of_a_plain_connection, a_list_is_followed_to_its_end,
              a_list_that_goes_round_in_circles_is_left, what_the_service_says_cannot_steer_the_terminal,
              an_import_is_sent_whole_again_and_followed_until_it_has_ended,
              a_refused_import_names_its_rows_and_exits_3, an_import_refused_at_the_door_lists_every_error,
              an_import_is_undone_and_looked_at_by_its_id, an_import_goes_on_when_its_watching_ends,
              an_export_is_written_whole, an_export_cut_short_fails_and_leaves_no_file,
              an_export_that_was_not_begun_is_asked_for_again, verify_tells_what_it_finds_in_its_exit_status,
              a_backup_names_the_whole_path_and_is_not_repeated_when_its_answer_is_lost, a_draft_is_shown_and_released,
              a_bar_is_drawn_on_a_terminal_and_cleared_again)
