#include "progress.h"

#include "evidenced/base/clock.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { REDRAW_MS = 100, USUAL_COLUMNS = 80, LEAST_BAR = 10, MOST_BAR = 40, LINE_BYTES = 256, COUNT_BYTES = 64 };

bool evd_ctl_progress_is_wanted(void) {
    return isatty(STDERR_FILENO) == 1;
}

static unsigned columns(void) {
    struct winsize size = {.ws_col = 0};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_COLUMNS;
}

void evd_ctl_progress_init(struct evd_ctl_progress *progress, const char *doing, bool wanted) {
    *progress = (struct evd_ctl_progress){.doing = doing, .is_shown = wanted && evd_ctl_progress_is_wanted()};
    if (progress->is_shown) progress->width = columns();
}

/* `Uploading  [######----]  60 %  1.2 MiB`, as much of it as fits. */
static void draw(struct evd_ctl_progress *progress, const char *count, uint64_t done, uint64_t total) {
    char line[LINE_BYTES], bar[MOST_BAR + 1] = "";
    size_t taken = strlen(progress->doing) + strlen(count) + sizeof "  []  100 %  ";
    if (total > 0 && progress->width > taken + LEAST_BAR) {
        size_t width = progress->width - taken;
        if (width > MOST_BAR) width = MOST_BAR;
        size_t full = (size_t)((double)width * (double)done / (double)total);
        memset(bar, '-', width);
        memset(bar, '#', full > width ? width : full);
        bar[width] = '\0';
    }
    unsigned percent = total == 0 ? 0 : (unsigned)(100.0 * (double)done / (double)total);
    if (bar[0] != '\0')
        (void)snprintf(line, sizeof line, "%s  [%s]  %3u %%  %s", progress->doing, bar, percent, count);
    else
        (void)snprintf(line, sizeof line, "%s  %s", progress->doing, count);
    if (strlen(line) >= progress->width) line[progress->width > 0 ? progress->width - 1 : 0] = '\0';
    (void)fprintf(stderr, "\r%s\033[K", line);
    (void)fflush(stderr);
    progress->is_drawn = true;
}

static bool is_due(struct evd_ctl_progress *progress, bool is_last) {
    int64_t now_ms = evd_clock_monotonic_ms(evd_clock_system());
    if (!progress->is_shown) return false;
    if (!is_last && progress->is_drawn && now_ms - progress->drawn_ms < REDRAW_MS) return false;
    progress->drawn_ms = now_ms;
    return true;
}

static void print_bytes(uint64_t bytes, char to[COUNT_BYTES]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double shown = (double)bytes;
    size_t unit = 0;
    for (; shown >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        shown /= 1024;
    (void)snprintf(to, COUNT_BYTES, unit == 0 ? "%.0f %s" : "%.1f %s", shown, units[unit]);
}

void evd_ctl_progress_bytes(struct evd_ctl_progress *progress, uint64_t done, uint64_t total) {
    char count[COUNT_BYTES];
    if (done == 0 || !is_due(progress, done == total)) return;
    print_bytes(done, count);
    draw(progress, count, done, total);
}

void evd_ctl_progress_rows(struct evd_ctl_progress *progress, uint64_t done, uint64_t total) {
    char count[COUNT_BYTES];
    if (!is_due(progress, done == total)) return;
    if (total > 0)
        (void)snprintf(count, sizeof count, "%llu of %llu rows", (unsigned long long)done, (unsigned long long)total);
    else
        (void)snprintf(count, sizeof count, "%llu rows", (unsigned long long)done);
    draw(progress, count, done, total);
}

void evd_ctl_progress_clear(struct evd_ctl_progress *progress) {
    if (!progress->is_drawn) return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    progress->is_drawn = false;
}
