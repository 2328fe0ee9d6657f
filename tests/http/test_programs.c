#include "../support/daemon.h"
#include "../support/test.h"

#include "evidenced/base/canary.h"
#include "evidenced/base/crash.h"

#include <sys/stat.h>
#include <sys/wait.h>

/* The command lines of both programs: what they print and how they exit. */

static char output[65536], program[EVD_TEST_PROGRAM_BYTES], directory[256];

/* Runs `<name> <arguments>` in a shell; the exit status, and all it printed in `output`. */
static int run(const char *name, const char *arguments) {
    char command[2048];
    evd_test_program(name, program);
    int size = snprintf(command, sizeof command, "'%s' %s 2>&1", program, arguments);
    ck_assert_int_lt(size, (int)sizeof command);
    FILE *pipe = popen(command, "re");
    ck_assert_ptr_nonnull(pipe);
    size_t got = fread(output, 1, sizeof output - 1, pipe);
    output[got] = '\0';
    int status = pclose(pipe);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const struct {
    const char *program, *arguments;
    int status;
    const char *says;
} rows[] = {
    {"evidenced", "--help", 0, "--listen"},
    {"evidenced", "--version", 0, "evidenced " EVD_VERSION "\n"},
    {"evidenced", "--check-config", 0, "# from default"},
    {"evidenced", "--list-crash-points", 0, "commit-before"},
    {"evidenced", "--list-canaries", 0, "ledger-not-read"},
    {"evidenced", "--no-such-thing", 2, "evidenced: "},
    {"evidenced", "--workers 0", 2, "workers"},
    {"evidenced", "--listen 0.0.0.0:0 --check-config", 2, "token-jwks"},
    {"evidencectl", "--help", 0, "Exit status\n  0  done"},
    {"evidencectl", "-h", 0, "Sign a bearer token"},
    {"evidencectl", "--version", 0, "evidencectl " EVD_VERSION "\n"},
    {"evidencectl", "", 2, "evidencectl: A verb is needed."},
    {"evidencectl", "dance", 2, "Try: evidencectl --help"},
    {"evidencectl", "key", 2, "key new"},
    {"evidencectl", "key old --key a --jwks b", 2, "key new"},
    {"evidencectl", "key new --key a", 2, "--jwks"},
    {"evidencectl", "token --key a --issuer i --audience a", 2, "--subject"},
    {"evidencectl", "token --key a --issuer i --audience a --subject s more", 2, "`token` takes no words"},
    {"evidencectl", "token --key a --issuer i --audience a --subject s --ttl 0", 2, "--ttl"},
    {"evidencectl", "token --key a --issuer i --audience a --subject s --ttl 1h", 2, "--ttl"},
    {"evidencectl", "token --key a --issuer '' --audience a --subject s", 2, "--issuer must not be empty"},
    {"evidencectl", "token --key /nowhere --issuer i --audience a --subject s", 1, "/nowhere"},
};

START_TEST(a_command_line_is_answered_in_words_and_in_its_exit_status) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = run(rows[i].program, rows[i].arguments);
        ck_assert_msg(status == rows[i].status, "%s %s: %d %s", rows[i].program, rows[i].arguments, status, output);
        ck_assert_msg(strstr(output, rows[i].says) != NULL, "%s %s: %s", rows[i].program, rows[i].arguments, output);
    }
}
END_TEST

START_TEST(every_crash_point_is_listed) {
    ck_assert_int_eq(run("evidenced", "--list-crash-points"), 0);
    for (int point = 0; point < EVD_CRASH_COUNT; point++)
        ck_assert_ptr_nonnull(strstr(output, evd_crash_point_name((enum evd_crash_point)point)));
}
END_TEST

START_TEST(every_canary_is_listed) {
    ck_assert_int_eq(run("evidenced", "--list-canaries"), 0);
    for (int canary = 0; canary < EVD_CANARY_COUNT; canary++)
        ck_assert_ptr_nonnull(strstr(output, evd_canary_name((enum evd_canary)canary)));
}
END_TEST

START_TEST(a_key_is_made_once_and_signs_tokens) {
    char arguments[1024];
    struct stat status;
    (void)snprintf(directory, sizeof directory, "%s", evd_test_directory());
    (void)snprintf(arguments, sizeof arguments, "key new --key %s/k --jwks %s/j", directory, directory);
    ck_assert_int_eq(run("evidencectl", arguments), 0);
    ck_assert_str_eq(output, "");
    ck_assert_int_eq(run("evidencectl", arguments), 1);
    (void)snprintf(arguments, sizeof arguments, "%s/k", directory);
    ck_assert_int_eq(stat(arguments, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    (void)snprintf(arguments, sizeof arguments,
                   "token --key %s/k --issuer i --audience a --subject s --scope evidenced:create-project --ttl 60",
                   directory);
    ck_assert_int_eq(run("evidencectl", arguments), 0);
    size_t dots = 0, size = strlen(output);
    for (size_t i = 0; i < size; i++)
        dots += output[i] == '.';
    ck_assert_uint_eq(dots, 2);
    ck_assert_uint_eq(strcspn(output, "\n"), size - 1);
    (void)snprintf(arguments, sizeof arguments, "token --key %s/k --issuer i --audience a --subject s --scope ''",
                   directory);
    ck_assert_int_eq(run("evidencectl", arguments), 0);
}
END_TEST

EVD_TEST_MAIN("programs: command lines", a_command_line_is_answered_in_words_and_in_its_exit_status,
              every_crash_point_is_listed, every_canary_is_listed, a_key_is_made_once_and_signs_tokens)
