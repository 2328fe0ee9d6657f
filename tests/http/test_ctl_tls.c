#include "../support/program.h"
#include "../support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* evidencectl and https: openssl's own server answers one file, under a certificate made here. */

#define PROJECT "11111111-1111-4111-8111-111111111111"

static const char *directory;
static pid_t pid;
static unsigned port;
static struct evd_program ctl;
static char server[64];

static void shell(const char *command) {
    char whole[2048];
    (void)snprintf(whole, sizeof whole, "cd '%s' && %s", directory, command);
    FILE *pipe = popen(whole, "we");
    ck_assert_ptr_nonnull(pipe);
    ck_assert_msg(pclose(pipe) == 0, "%s", whole);
}

static bool has_openssl(void) {
    FILE *pipe = popen("command -v openssl >/dev/null", "we");
    return pipe != NULL && pclose(pipe) == 0;
}

/* The server says `ACCEPT 127.0.0.1:port` when it listens. */
static void await_port(int said) {
    char text[4096];
    size_t held = 0;
    const char *at = NULL;
    while (at == NULL || strchr(at, '\n') == NULL) {
        ssize_t got = read(said, text + held, sizeof text - held - 1);
        ck_assert_int_gt(got, 0);
        held += (size_t)got;
        text[held] = '\0';
        at = strstr(text, "ACCEPT 127.0.0.1:");
    }
    port = (unsigned)strtoul(at + strlen("ACCEPT 127.0.0.1:"), NULL, 10);
    ck_assert_uint_gt(port, 0);
}

static void start_server(void) {
    int said[2];
    ck_assert_int_eq(pipe2(said, O_CLOEXEC), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves nothing behind */
        if (dup2(said[1], STDOUT_FILENO) >= 0 && chdir(directory) == 0)
            (void)execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "cert.pem", "-key",
                         "key.pem", "-HTTP", (char *)NULL);
        _exit(127);
    }
    (void)close(said[1]);
    await_port(said[0]);
    (void)close(said[0]);
}

static void begin(void) {
    directory = evd_test_directory();
    shell("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=here "
          "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem 2>/dev/null");
    shell("mkdir -p v1/projects && printf 'a.b.c' >token && printf 'HTTP/1.0 200 OK\\r\\nContent-Type: "
          "application/json\\r\\n\\r\\n{\"name\":\"Safe\"}' >v1/projects/" PROJECT);
    start_server();
    (void)snprintf(server, sizeof server, "EVIDENCED_SERVER=https://127.0.0.1:%u", port);
    ctl = (struct evd_program){.name = "evidencectl",
                               .directory = directory,
                               .variables = {server, "EVIDENCED_TOKEN_FILE=token", "EVIDENCED_PROJECT=" PROJECT}};
}

static void end(void) {
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    while (waitpid(pid, NULL, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
}

START_TEST(a_server_is_trusted_by_its_certificate_and_by_nothing_else) {
    if (!has_openssl()) {
        (void)printf("skipped: openssl is not installed\n");
        return;
    }
    begin();
    ck_assert_int_eq(evd_program_run(&ctl, "project show"), 1);
    ck_assert(evd_program_said(&ctl, "cannot be trusted") && evd_program_said(&ctl, "--ca-file"));
    ck_assert_int_eq(evd_program_run(&ctl, "project show --ca-file cert.pem"), 0);
    ck_assert_str_eq(ctl.out, "name  Safe\n");
    (void)snprintf(server, sizeof server, "EVIDENCED_SERVER=https://localhost:%u", port);
    ck_assert_int_eq(evd_program_run(&ctl, "project show --ca-file cert.pem"), 1); /* another name */
    ck_assert_int_eq(evd_program_run(&ctl, "project show --ca-file token"), 1);    /* no certificate */
    end();
}
END_TEST

EVD_TEST_MAIN("evidencectl: https", a_server_is_trusted_by_its_certificate_and_by_nothing_else)
