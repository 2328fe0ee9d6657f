#include "daemon.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/random.h"
#include "evidenced/http/token_mint.h"
#include "test.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define ISSUER   "https://issuer.test"
#define AUDIENCE "evidenced-test"

enum { ARGUMENTS = 64, ENVIRONMENT = 256, DIRECTORY_BYTES = 512, PATH_BYTES = 640, LINE_BYTES = 4096 };

/* Everything a child needs, made before the fork: after it, only exec is safe. */
struct launch {
    char binary[EVD_TEST_PROGRAM_BYTES], data[PATH_BYTES], jwks[PATH_BYTES];
    const char *arguments[ARGUMENTS];
    const char *environment[ENVIRONMENT];
    size_t argument_count, variable_count;
};

void evd_daemon_process_init(struct evd_daemon_process *process) {
    char private_path[PATH_BYTES], jwks_path[PATH_BYTES], error[256] = "";
    *process = (struct evd_daemon_process){.log_fd = -1};
    (void)snprintf(process->directory, sizeof process->directory, "%s", evd_test_directory());
    (void)snprintf(process->control, sizeof process->control, "%s/data/control.sock", process->directory);
    (void)snprintf(private_path, sizeof private_path, "%s/key.json", process->directory);
    (void)snprintf(jwks_path, sizeof jwks_path, "%s/jwks.json", process->directory);
    ck_assert_msg(evd_mint_key_create(private_path, jwks_path, error), "%s", error);
    process->key = evd_mint_key_open(private_path, error);
    ck_assert_msg(process->key != NULL, "%s", error);
    (void)pthread_mutex_init(&process->mutex, NULL);
    (void)pthread_cond_init(&process->changed, NULL);
}

/* build/<profile>/tests/http/test_x ► build/<profile>/evidenced */
void evd_test_program(const char *name, char ret_path[EVD_TEST_PROGRAM_BYTES]) {
    const char *directory = getenv("EVIDENCED_BIN");
    char self[DIRECTORY_BYTES];
    if (directory == NULL) {
        ssize_t self_bytes = readlink("/proc/self/exe", self, sizeof self - 1);
        ck_assert_int_gt(self_bytes, 0);
        self[self_bytes] = '\0';
        char *tests = strstr(self, "/tests/");
        ck_assert_msg(tests != NULL, "set EVIDENCED_BIN to the directory the programs are in");
        *tests = '\0';
        directory = self;
    }
    int size = snprintf(ret_path, EVD_TEST_PROGRAM_BYTES, "%s/%s", directory, name);
    ck_assert_int_lt(size, EVD_TEST_PROGRAM_BYTES);
    ck_assert_msg(access(ret_path, X_OK) == 0, "%s is missing", ret_path);
}

static void add_argument(struct launch *launch, const char *text) {
    ck_assert_uint_lt(launch->argument_count, ARGUMENTS - 1);
    launch->arguments[launch->argument_count++] = text;
}

static void add_variable(struct launch *launch, const char *text) {
    ck_assert_uint_lt(launch->variable_count, ENVIRONMENT - 1);
    launch->environment[launch->variable_count++] = text;
}

static void launch_prepare(struct launch *launch, const struct evd_daemon_process *process) {
    static const char *const defaults[] = {
        "--listen",         "127.0.0.1:0", "--admin-listen",      "127.0.0.1:0", "--token-issuer",  ISSUER,
        "--token-audience", AUDIENCE,      "--drain-seconds",     "0",           "--free-mib",      "64",
        "--subject-rate",   "1000000",     "--subject-in-flight", "10000",       "--subject-burst", "1000000"};
    *launch = (struct launch){.argument_count = 0};
    evd_test_program("evidenced", launch->binary);
    (void)snprintf(launch->data, sizeof launch->data, "%s/data", process->directory);
    (void)snprintf(launch->jwks, sizeof launch->jwks, "%s/jwks.json", process->directory);
    add_argument(launch, launch->binary);
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        add_argument(launch, defaults[i]);
    add_argument(launch, "--data");
    add_argument(launch, launch->data);
    add_argument(launch, "--token-jwks");
    add_argument(launch, launch->jwks);
    for (size_t i = 0; process->arguments[i] != NULL; i++)
        add_argument(launch, process->arguments[i]);
    for (char **variable = environ; *variable != NULL; variable++)
        if (strncmp(*variable, "EVIDENCED_", 10) != 0) add_variable(launch, *variable);
    for (size_t i = 0; process->variables[i] != NULL; i++)
        add_variable(launch, process->variables[i]);
}

/* The log. */

static void keep(struct evd_daemon_process *process, const char *bytes, size_t size_bytes) {
    (void)pthread_mutex_lock(&process->mutex);
    process->log = realloc(process->log, process->log_bytes + size_bytes + 1);
    if (process->log == NULL) abort();
    memcpy(process->log + process->log_bytes, bytes, size_bytes);
    process->log_bytes += size_bytes;
    process->log[process->log_bytes] = '\0';
    (void)pthread_cond_broadcast(&process->changed);
    (void)pthread_mutex_unlock(&process->mutex);
}

static void *read_log(void *self) {
    struct evd_daemon_process *process = self;
    char piece[LINE_BYTES];
    for (;;) {
        ssize_t got = read(process->log_fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        keep(process, piece, (size_t)got);
    }
    (void)pthread_mutex_lock(&process->mutex);
    process->log_ended = true;
    (void)pthread_cond_broadcast(&process->changed);
    (void)pthread_mutex_unlock(&process->mutex);
    return NULL;
}

static bool holds(const struct evd_daemon_process *process, const char *text) {
    return process->log != NULL && strstr(process->log, text) != NULL;
}

/* False when it ended without. */
static bool await_log(struct evd_daemon_process *process, const char *text) {
    (void)pthread_mutex_lock(&process->mutex);
    while (!holds(process, text) && !process->log_ended)
        (void)pthread_cond_wait(&process->changed, &process->mutex);
    bool held = holds(process, text);
    (void)pthread_mutex_unlock(&process->mutex);
    return held;
}

void evd_daemon_process_await_log(struct evd_daemon_process *process, const char *text) {
    if (!await_log(process, text)) ck_abort_msg("no %s in: %s", text, process->log);
}

bool evd_daemon_process_has_logged(struct evd_daemon_process *process, const char *text) {
    (void)pthread_mutex_lock(&process->mutex);
    bool held = holds(process, text);
    (void)pthread_mutex_unlock(&process->mutex);
    return held;
}

static uint16_t port_in_log(struct evd_daemon_process *process, const char *member) {
    (void)pthread_mutex_lock(&process->mutex);
    const char *at = strstr(strstr(process->log, "\"event\":\"listening\""), member);
    unsigned long port = at == NULL ? 0 : strtoul(at + strlen(member), NULL, 10);
    (void)pthread_mutex_unlock(&process->mutex);
    ck_assert_uint_gt(port, 0);
    return (uint16_t)port;
}

/* Processes. */

static void spawn(struct evd_daemon_process *process) {
    struct launch launch;
    int pipe_fds[2];
    ck_assert_int_eq(process->pid, 0);
    launch_prepare(&launch, process);
    free(process->log);
    process->log = NULL;
    process->log_bytes = 0;
    process->log_ended = false;
    ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
    process->pid = fork();
    ck_assert_int_ge(process->pid, 0);
    if (process->pid == 0) {
        (void)dup2(pipe_fds[1], STDOUT_FILENO);
        (void)dup2(pipe_fds[1], STDERR_FILENO);
        (void)execve(launch.binary, (char *const *)(uintptr_t)launch.arguments,
                     (char *const *)(uintptr_t)launch.environment);
        _exit(127);
    }
    (void)close(pipe_fds[1]);
    process->log_fd = pipe_fds[0];
    ck_assert_int_eq(pthread_create(&process->reader, NULL, read_log, process), 0);
}

int evd_daemon_process_wait(struct evd_daemon_process *process) {
    int status = 0;
    ck_assert_int_gt(process->pid, 0);
    while (waitpid(process->pid, &status, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
    (void)pthread_join(process->reader, NULL);
    (void)close(process->log_fd);
    process->log_fd = -1;
    process->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int evd_daemon_process_try(struct evd_daemon_process *process) {
    spawn(process);
    if (!await_log(process, "\"event\":\"listening\"")) return evd_daemon_process_wait(process);
    process->api_port = port_in_log(process, "\"api_port\":");
    process->admin_port = port_in_log(process, "\"admin_port\":");
    return 0;
}

void evd_daemon_process_start(struct evd_daemon_process *process) {
    int status = evd_daemon_process_try(process);
    if (status != 0) ck_abort_msg("the daemon ended with %d: %s", status, process->log == NULL ? "" : process->log);
}

int evd_daemon_process_fail(struct evd_daemon_process *process) {
    spawn(process);
    return evd_daemon_process_wait(process);
}

void evd_daemon_process_signal(struct evd_daemon_process *process, int signal) {
    ck_assert_int_gt(process->pid, 0);
    ck_assert_int_eq(kill(process->pid, signal), 0);
}

void evd_daemon_process_kill(struct evd_daemon_process *process) {
    evd_daemon_process_signal(process, SIGKILL);
    ck_assert_int_eq(evd_daemon_process_wait(process), -SIGKILL);
}

int evd_daemon_process_stop(struct evd_daemon_process *process) {
    evd_daemon_process_signal(process, SIGTERM);
    return evd_daemon_process_wait(process);
}

void evd_daemon_process_done(struct evd_daemon_process *process) {
    if (process->pid > 0) evd_daemon_process_kill(process);
    evd_mint_key_close(process->key);
    free(process->log);
    (void)pthread_mutex_destroy(&process->mutex);
    (void)pthread_cond_destroy(&process->changed);
}

void evd_daemon_process_token(const struct evd_daemon_process *process, const char *subject, const char *scope,
                              char ret_token[DAEMON_TOKEN_BYTES + 1]) {
    char error[256] = "";
    struct evd_mint_claims claims = {.issuer = EVD_TEXT(ISSUER),
                                     .audience = EVD_TEXT(AUDIENCE),
                                     .subject = evd_text_from(subject),
                                     .scope = evd_text_from(scope),
                                     .issued_ms = evd_clock_wall_ms(evd_clock_system()),
                                     .life_seconds = 3600};
    ck_assert_msg(evd_mint_token(process->key, &claims, ret_token, error), "%s", error);
}

evd_uuid evd_daemon_process_investigator(const char *subject) {
    struct evd_text parts[] = {EVD_TEXT(ISSUER), evd_text_from(subject)};
    evd_uuid id;
    if (evd_uuid_parse(parts[1], &id) && !evd_uuid_is_nil(id) && evd_uuid_version(id) != 8) return id;
    return evd_uuid_derive("investigator", parts, 2);
}

const char *evd_test_uuid(char ret_text[EVD_UUID_TEXT_BYTES + 1]) {
    evd_uuid_format(evd_uuid_random(evd_random_system()), ret_text);
    return ret_text;
}
