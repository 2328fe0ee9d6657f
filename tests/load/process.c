#include "bench.h"

#include "evidenced/base/clock.h"
#include "evidenced/http/token_mint.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ISSUER   "https://issuer.bench"
#define AUDIENCE "evidenced-bench"

enum { FILE_BYTES = 512, LOG_BYTES = 64 * 1024 };

struct bench_process {
    pid_t pid;
    uint16_t port;
    int log_fd;
    pthread_t reader;    /* of its log, which otherwise would fill the pipe */
    char log[LOG_BYTES]; /* what it said until it listened */
    struct evd_mint_key *key;
};

/* For the end of a bench that fails. */
static struct bench_process *running;

static void kill_running(void) {
    if (running != NULL) (void)kill(running->pid, SIGKILL);
}

static void make_keys(struct bench_process *process, const char *directory, char ret_jwks[FILE_BYTES]) {
    char path[FILE_BYTES], error[256];
    (void)snprintf(path, sizeof path, "%s/key.json", directory);
    (void)snprintf(ret_jwks, FILE_BYTES, "%s/jwks.json", directory);
    if (!evd_mint_key_create(path, ret_jwks, error)) bench_fail("%s", error);
    process->key = evd_mint_key_open(path, error);
    if (process->key == NULL) bench_fail("%s", error);
}

static void spawn(struct bench_process *process, const char *binary, const char *data, const char *jwks) {
    const char *const arguments[] = {binary,        "--data",
                                     data,          "--token-jwks",
                                     jwks,          "--token-issuer",
                                     ISSUER,        "--token-audience",
                                     AUDIENCE,      "--listen",
                                     "127.0.0.1:0", "--admin-listen",
                                     "127.0.0.1:0", "--subject-in-flight",
                                     "10000",       "--subject-rate",
                                     "1000000",     "--subject-burst",
                                     "1000000",     "--drain-seconds",
                                     "0",           NULL};
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) bench_fail("no pipe: %s", strerrordesc_np(errno));
    process->pid = fork();
    if (process->pid < 0) bench_fail("no process: %s", strerrordesc_np(errno));
    if (process->pid == 0) {
        (void)dup2(fds[1], STDERR_FILENO);
        (void)execv(binary, (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    (void)close(fds[1]);
    process->log_fd = fds[0];
    running = process;
    (void)atexit(kill_running);
}

static void await_listening(struct bench_process *process) {
    size_t used = 0;
    const char *said = NULL, *port = NULL;
    while (port == NULL || memchr(port, '\n', strlen(port)) == NULL) {
        ssize_t got = read(process->log_fd, process->log + used, LOG_BYTES - 1 - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) bench_fail("the daemon does not start: %s", process->log);
        used += (size_t)got;
        process->log[used] = '\0';
        said = strstr(process->log, "\"event\":\"listening\"");
        port = said == NULL ? NULL : strstr(said, "\"api_port\":");
    }
    process->port = (uint16_t)strtoul(port + strlen("\"api_port\":"), NULL, 10);
}

static void *drain_log(void *self) {
    struct bench_process *process = self;
    static char piece[LOG_BYTES];
    for (;;) {
        ssize_t got = read(process->log_fd, piece, sizeof piece);
        if (got == 0 || (got < 0 && errno != EINTR)) return NULL;
    }
}

struct bench_process *bench_process_start(const char *binary, const char *directory) {
    struct bench_process *process = bench_alloc(sizeof *process);
    char data[FILE_BYTES], jwks[FILE_BYTES];
    memset(process, 0, sizeof *process);
    (void)snprintf(data, sizeof data, "%s/data", directory);
    make_keys(process, directory, jwks);
    spawn(process, binary, data, jwks);
    await_listening(process);
    if (pthread_create(&process->reader, NULL, drain_log, process) != 0) bench_fail("no thread");
    return process;
}

void bench_process_stop(struct bench_process *process) {
    int status = 0;
    (void)kill(process->pid, SIGTERM);
    while (waitpid(process->pid, &status, 0) < 0)
        if (errno != EINTR) bench_fail("the daemon is gone");
    running = NULL;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) bench_fail("the daemon ended badly");
    (void)pthread_join(process->reader, NULL);
    (void)close(process->log_fd);
    evd_mint_key_close(process->key);
    free(process);
}

uint16_t bench_process_port(const struct bench_process *process) {
    return process->port;
}

clockid_t bench_process_processor(const struct bench_process *process) {
    clockid_t clock;
    if (clock_getcpuclockid(process->pid, &clock) != 0) bench_fail("the daemon's processor time cannot be read");
    return clock;
}

double bench_process_resident_mib(const struct bench_process *process) {
    char path[64], line[256];
    double kib = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)process->pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) bench_fail("%s cannot be read", path);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0) kib = strtod(line + 6, NULL);
    (void)fclose(file);
    return kib / 1024;
}

char *bench_process_token(const struct bench_process *process, unsigned who) {
    char error[256], subject[BENCH_TEXT_BYTES], *token = bench_alloc(EVD_LIMIT_TOKEN_BYTES + 1);
    evd_uuid_format(bench_person(who), subject);
    struct evd_mint_claims claims = {.issuer = EVD_TEXT(ISSUER),
                                     .audience = EVD_TEXT(AUDIENCE),
                                     .subject = evd_text_from(subject),
                                     .scope = who == 0 ? EVD_TEXT("evidenced:create-project") : EVD_TEXT(""),
                                     .issued_ms = evd_clock_wall_ms(evd_clock_system()),
                                     .life_seconds = 86400};
    if (!evd_mint_token(process->key, &claims, token, error)) bench_fail("%s", error);
    return token;
}
