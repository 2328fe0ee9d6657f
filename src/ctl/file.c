#include "file.h"

#include "interrupt.h"
#include "say.h"

#include "evidenced/base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 * 1024 };

static const size_t most_copied_bytes = (size_t)1024 * EVD_MIB; /* a pipe nobody ends must not fill the disk */

static bool is_standard_input(const char *path) {
    return strcmp(path, "-") == 0;
}

static const char *shown_name(const char *path) {
    return is_standard_input(path) ? "standard input" : path;
}

static int open_input(const char *path) {
    return is_standard_input(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
}

static enum evd_ctl_exit fail(struct evd_ctl *ctl, const char *name, int error) {
    return EVD_CTL_FAIL(ctl, "%s: %s.", name, strerrordesc_np(error));
}

/* At most so many bytes; fewer at the end of the file. -1: errno says why. */
static ssize_t read_up_to(int fd, char *bytes, size_t most_bytes) {
    size_t size_bytes = 0;
    while (size_bytes < most_bytes) {
        ssize_t got = read(fd, bytes + size_bytes, most_bytes - size_bytes);
        if (got < 0 && errno == EINTR && !evd_ctl_is_interrupted()) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        size_bytes += (size_t)got;
    }
    return (ssize_t)size_bytes;
}

static bool write_all(int fd, const char *bytes, size_t size_bytes) {
    while (size_bytes > 0) {
        ssize_t put = write(fd, bytes, size_bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        size_bytes -= (size_t)put;
    }
    return true;
}

enum evd_ctl_exit evd_ctl_file_read(struct evd_ctl *ctl, const char *path, size_t most_bytes,
                                    struct evd_text *ret_text) {
    int fd = open_input(path);
    if (fd < 0) return fail(ctl, shown_name(path), errno);
    char *bytes = evd_arena_alloc(&ctl->arena, most_bytes + 2);
    ssize_t got = read_up_to(fd, bytes, most_bytes + 1);
    int error = errno;
    (void)close(fd);
    if (got < 0) return fail(ctl, shown_name(path), error);
    if ((size_t)got > most_bytes)
        return EVD_CTL_FAIL(ctl, "%s is larger than the %zu bytes it may have.", shown_name(path), most_bytes);
    bytes[got] = '\0';
    *ret_text = (struct evd_text){bytes, (size_t)got};
    return EVD_CTL_DONE;
}

enum evd_ctl_exit evd_ctl_file_read_json(struct evd_ctl *ctl, const char *path, size_t most_bytes,
                                         struct evd_text *ret_text) {
    json_error_t error;
    enum evd_ctl_exit status = evd_ctl_file_read(ctl, path, most_bytes, ret_text);
    if (status != EVD_CTL_DONE) return status;
    json_t *json = json_loadb(ret_text->bytes, ret_text->size_bytes, JSON_REJECT_DUPLICATES, &error);
    json_decref(json);
    if (json != NULL) return EVD_CTL_DONE;
    return EVD_CTL_FAIL(ctl, "%s, line %d, column %d: no JSON: %s.", shown_name(path), error.line, error.column,
                        error.text);
}

/* Sending. */

/* False: errno says why. */
static bool copy(struct evd_ctl *ctl, int from, int to, size_t *ret_bytes) {
    char *piece = evd_arena_alloc(&ctl->arena, PIECE_BYTES);
    size_t size_bytes = 0;
    for (ssize_t got = PIECE_BYTES; got == PIECE_BYTES;) {
        got = read_up_to(from, piece, PIECE_BYTES);
        if (got < 0 || !write_all(to, piece, (size_t)got)) return false;
        size_bytes += (size_t)got;
        errno = EFBIG;
        if (size_bytes > most_copied_bytes) return false;
    }
    *ret_bytes = size_bytes;
    return true;
}

static enum evd_ctl_exit copy_aside(struct evd_ctl *ctl, const char *name, int from, int *ret_file, size_t *ret_bytes) {
    FILE *aside = tmpfile();
    if (aside == NULL) return fail(ctl, "A file in the directory for temporary files", errno);
    int file = copy(ctl, from, fileno(aside), ret_bytes) ? fcntl(fileno(aside), F_DUPFD_CLOEXEC, 0) : -1;
    int error = errno;
    (void)fclose(aside);
    if (file < 0) return fail(ctl, name, error);
    *ret_file = file;
    return EVD_CTL_DONE;
}

enum evd_ctl_exit evd_ctl_file_open(struct evd_ctl *ctl, const char *path, int *ret_file, size_t *ret_bytes) {
    struct stat status;
    int fd = open_input(path);
    if (fd < 0) return fail(ctl, shown_name(path), errno);
    bool is_regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && !is_standard_input(path);
    if (is_regular) {
        *ret_file = fd;
        *ret_bytes = (size_t)status.st_size;
        return EVD_CTL_DONE;
    }
    enum evd_ctl_exit copied = copy_aside(ctl, shown_name(path), fd, ret_file, ret_bytes);
    (void)close(fd);
    return copied;
}

/* Writing. */

static bool take(void *self, const char *bytes, size_t size_bytes) {
    struct evd_ctl_output *output = self;
    if (write_all(output->fd, bytes, size_bytes)) return true;
    (void)fail(output->ctl, output->shown, errno);
    return false;
}

/* A link is followed: what it points to is replaced, not the link. */
static char *final_name(const char *path) {
    char *real = realpath(path, NULL);
    return real == NULL ? strdup(path) : real;
}

static enum evd_ctl_exit open_part(struct evd_ctl_output *output, const char *path, mode_t mode) {
    output->final = final_name(path);
    if (output->final == NULL || asprintf(&output->part, "%s.part-XXXXXX", output->final) < 0) {
        output->part = NULL;
        free(output->final);
        return fail(output->ctl, path, ENOMEM);
    }
    output->fd = mkostemp(output->part, O_CLOEXEC);
    if (output->fd >= 0 && fchmod(output->fd, mode) == 0) return EVD_CTL_DONE;
    int error = errno;
    if (output->fd >= 0) {
        (void)close(output->fd);
        (void)unlink(output->part);
    }
    free(output->part);
    free(output->final);
    return fail(output->ctl, path, error);
}

/* What a file made in the usual way would have. */
static mode_t usual_mode(void) {
    mode_t mask = umask(0);
    (void)umask(mask);
    return 0666 & ~mask;
}

enum evd_ctl_exit evd_ctl_output_open(struct evd_ctl *ctl, const char *path, struct evd_ctl_output *ret_output) {
    struct stat status;
    *ret_output = (struct evd_ctl_output){.ctl = ctl, .fd = STDOUT_FILENO, .shown = "standard output"};
    ret_output->sink = (struct evd_ctl_sink){.take = take, .self = ret_output};
    if (path == NULL || strcmp(path, "-") == 0) return EVD_CTL_DONE;
    ret_output->shown = path;
    bool is_there = stat(path, &status) == 0;
    if (is_there && S_ISDIR(status.st_mode)) return fail(ctl, path, EISDIR);
    if (!is_there || S_ISREG(status.st_mode))
        return open_part(ret_output, path, is_there ? status.st_mode & 07777 : usual_mode());
    ret_output->fd = open(path, O_WRONLY | O_CLOEXEC);
    return ret_output->fd < 0 ? fail(ctl, path, errno) : EVD_CTL_DONE;
}

enum evd_ctl_exit evd_ctl_output_close(struct evd_ctl_output *output, enum evd_ctl_exit status) {
    bool is_whole = status == EVD_CTL_DONE;
    if (output->fd == STDOUT_FILENO) return status;
    if (output->part != NULL && is_whole) is_whole = fsync(output->fd) == 0;
    is_whole = (close(output->fd) == 0) && is_whole;
    if (output->part != NULL && is_whole) is_whole = rename(output->part, output->final) == 0;
    int error = errno;
    if (output->part != NULL && !is_whole) (void)unlink(output->part);
    free(output->part);
    free(output->final);
    if (status == EVD_CTL_DONE && !is_whole) return fail(output->ctl, output->shown, error);
    return status;
}
