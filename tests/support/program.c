#include "program.h"

#include "daemon.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 64, LINE_BYTES = 8192, ENVIRONMENT = 256 };

struct launch {
    char path[EVD_TEST_PROGRAM_BYTES], line[LINE_BYTES];
    const char *words[WORDS], *environment[ENVIRONMENT];
    int input;
};

static void split(struct launch *launch, const char *name) {
    size_t count = 0;
    launch->words[count++] = name;
    for (char *at = launch->line; *at != '\0';) {
        at += strspn(at, " ");
        if (*at == '\0') break;
        bool is_quoted = *at == '\'';
        char *word = at + is_quoted, *end = word + strcspn(word, is_quoted ? "'" : " ");
        ck_assert_uint_lt(count, WORDS - 1);
        launch->words[count++] = word;
        at = end + (*end != '\0');
        *end = '\0';
    }
    launch->words[count] = NULL;
}

/* Neither our own settings nor a proxy of this host's may decide where a test goes. */
static bool is_passed_on(const char *variable) {
    return strncmp(variable, "EVIDENCED_", 10) != 0 && strncmp(variable, "http_proxy=", 11) != 0 &&
           strncmp(variable, "all_proxy=", 10) != 0 && strncmp(variable, "ALL_PROXY=", 10) != 0;
}

static void choose_environment(struct launch *launch, const struct evd_program *program) {
    size_t count = 0;
    for (char **variable = environ; *variable != NULL; variable++) {
        ck_assert_uint_lt(count, ENVIRONMENT - PROGRAM_VARIABLES - 1);
        if (is_passed_on(*variable)) launch->environment[count++] = *variable;
    }
    for (size_t i = 0; program->variables[i] != NULL; i++)
        launch->environment[count++] = program->variables[i];
    launch->environment[count] = NULL;
}

static int file_of(const char *text) {
    int file = memfd_create("program", MFD_CLOEXEC);
    ck_assert_int_ge(file, 0);
    if (text == NULL) return file;
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    ck_assert_int_eq(lseek(file, 0, SEEK_SET), 0);
    return file;
}

static _Noreturn void become(const struct launch *launch, const struct evd_program *program) {
    bool fits = dup2(launch->input, STDIN_FILENO) >= 0 && dup2(program->out_file, STDOUT_FILENO) >= 0 &&
                dup2(program->terminal > 0 ? program->terminal : program->err_file, STDERR_FILENO) >= 0 &&
                (program->directory == NULL || chdir(program->directory) == 0);
    if (fits)
        (void)execve(launch->path, (char *const *)(uintptr_t)launch->words,
                     (char *const *)(uintptr_t)launch->environment);
    _exit(127);
}

static void start(struct evd_program *program, const char *format, va_list arguments) {
    static struct launch launch;
    ck_assert_int_eq(program->pid, 0);
    evd_test_program(program->name, launch.path);
    ck_assert_int_lt(vsnprintf(launch.line, sizeof launch.line, format, arguments), (int)sizeof launch.line);
    split(&launch, program->name);
    choose_environment(&launch, program);
    launch.input = file_of(program->input);
    program->out_file = file_of(NULL);
    program->err_file = file_of(NULL);
    program->pid = fork();
    ck_assert_int_ge(program->pid, 0);
    if (program->pid == 0) become(&launch, program);
    (void)close(launch.input);
}

void evd_program_start(struct evd_program *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    start(program, format, arguments);
    va_end(arguments);
}

static size_t collect(int file, char text[PROGRAM_TEXT_BYTES]) {
    ssize_t got = pread(file, text, PROGRAM_TEXT_BYTES, 0);
    ck_assert_int_ge(got, 0);
    ck_assert_int_lt(got, PROGRAM_TEXT_BYTES);
    text[got] = '\0';
    (void)close(file);
    return (size_t)got;
}

int evd_program_wait(struct evd_program *program) {
    int status = 0;
    while (waitpid(program->pid, &status, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
    program->pid = 0;
    program->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    program->out_bytes = collect(program->out_file, program->out);
    (void)collect(program->err_file, program->err);
    return program->status;
}

int evd_program_run(struct evd_program *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    start(program, format, arguments);
    va_end(arguments);
    return evd_program_wait(program);
}

bool evd_program_said(const struct evd_program *program, const char *text) {
    return strstr(program->out, text) != NULL || strstr(program->err, text) != NULL;
}
