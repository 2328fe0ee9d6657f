/*
 * evidenced: the daemon's command line.
 */
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/canary.h"
#include "evidenced/base/config.h"
#include "evidenced/base/crash.h"
#include "evidenced/base/limits.h"
#include "evidenced/http/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { DONE = 0, FAILED = 1, MISUSED = 2 };

static bool read_all(int fd, char *bytes, size_t capacity_bytes, size_t *ret_size_bytes) {
    size_t size_bytes = 0;
    while (size_bytes < capacity_bytes) {
        ssize_t got = read(fd, bytes + size_bytes, capacity_bytes - size_bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        size_bytes += (size_t)got;
    }
    *ret_size_bytes = size_bytes;
    return true;
}

static bool read_file(void *self, const char *path, size_t limit_bytes, struct evd_arena *arena,
                      struct evd_text *ret_content, const char **ret_why) {
    char *bytes = evd_arena_alloc(arena, limit_bytes + 1);
    size_t size_bytes = 0;
    (void)self;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool got = fd >= 0 && read_all(fd, bytes, limit_bytes + 1, &size_bytes);
    int error = errno;
    if (fd >= 0) (void)close(fd);
    if (!got) {
        *ret_why = strerrordesc_np(error);
        return false;
    }
    *ret_content = (struct evd_text){bytes, size_bytes};
    return true;
}

static int show(const struct evd_buffer *buffer) {
    bool written = fwrite(buffer->bytes, 1, buffer->size_bytes, stdout) == buffer->size_bytes && fflush(stdout) == 0;
    return written ? DONE : FAILED;
}

static int complain(const struct evd_config_errors *errors) {
    for (size_t i = 0; i < errors->count; i++)
        (void)fprintf(stderr, "evidenced: " EVD_TEXT_FMT "\n", EVD_TEXT_ARG(errors->lines[i]));
    if (errors->untold > 0) (void)fprintf(stderr, "evidenced: and %zu more.\n", errors->untold);
    (void)fprintf(stderr, "Try: evidenced --help\n");
    return MISUSED;
}

static int list_crash_points(void) {
#ifdef EVD_TEST
    for (int point = 0; point < EVD_CRASH_COUNT; point++)
        (void)printf("%-20s %s\n", evd_crash_point_name((enum evd_crash_point)point),
                     evd_crash_point_meaning((enum evd_crash_point)point));
    return fflush(stdout) == 0 ? DONE : FAILED;
#else
    (void)fprintf(stderr, "evidenced: Only test builds have crash points.\n");
    return MISUSED;
#endif
}

static int list_canaries(void) {
#ifdef EVD_TEST
    for (int canary = 0; canary < EVD_CANARY_COUNT; canary++)
        (void)printf("%-30s %s\n", evd_canary_name((enum evd_canary)canary),
                     evd_canary_meaning((enum evd_canary)canary));
    return fflush(stdout) == 0 ? DONE : FAILED;
#else
    (void)fprintf(stderr, "evidenced: Only test builds have canaries.\n");
    return MISUSED;
#endif
}

static int serve(const struct evd_config *config, const struct evd_config_input *input) {
    char error[EVD_DAEMON_ERROR_BYTES];
    int status = evd_daemon_run(config, input, STDERR_FILENO, error);
    if (error[0] != '\0') (void)fprintf(stderr, "evidenced: %s\n", error);
    return status;
}

static int restore(const struct evd_config *config) {
    char error[EVD_DAEMON_ERROR_BYTES];
    if (evd_daemon_restore(config, error) == 0) return DONE;
    (void)fprintf(stderr, "evidenced: %s\n", error);
    return FAILED;
}

static int act(const struct evd_config *config, const struct evd_config_input *input, struct evd_arena *arena) {
    struct evd_buffer text;
    evd_buffer_init(&text, arena, 4096);
    switch (evd_config_action(config)) {
    case EVD_ACTION_SERVE: return serve(config, input);
    case EVD_ACTION_HELP: evd_config_help(&text); return show(&text);
    case EVD_ACTION_VERSION: evd_buffer_print(&text, "evidenced %s\n", EVD_VERSION); return show(&text);
    case EVD_ACTION_CHECK: evd_config_print(config, &text); return show(&text);
    case EVD_ACTION_RESTORE: return restore(config);
    case EVD_ACTION_LIST_CRASH_POINTS: return list_crash_points();
    case EVD_ACTION_LIST_CANARIES: return list_canaries();
    }
    abort();
}

int main(int argc, char *argv[]) {
    struct evd_arena arena;
    struct evd_config_errors errors = {.count = 0};
    const struct evd_config_input input = {.argc = argc, .argv = argv, .envp = environ, .read_file = read_file};
    evd_arena_init(&arena, 4 * EVD_MIB);
    const struct evd_config *config = evd_config_read(&input, &arena, &errors);
    int status = config == NULL ? complain(&errors) : act(config, &input, &arena);
    evd_arena_done(&arena);
    return status;
}
