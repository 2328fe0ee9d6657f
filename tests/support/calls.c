#include "calls.h"

static struct {
    char calls[4096];
    size_t size;
} seen;

static void note(void *self, const char *call, evd_collection in, size_t records) {
    (void)self;
    int size = snprintf(seen.calls + seen.size, sizeof seen.calls - seen.size, "%s %s %zu\n", call,
                        evd_catalogue_stored()->collection_names[in], records);
    ck_assert_int_gt(size, 0);
    seen.size += (size_t)size;
    ck_assert_uint_lt(seen.size, sizeof seen.calls);
}

void calls_watch(struct house *house) {
    seen.size = 0;
    seen.calls[0] = '\0';
    evd_store_observe(house->store, note, NULL);
}

const char *calls_watched(struct house *house) {
    evd_store_observe(house->store, NULL, NULL);
    return seen.calls;
}

void calls_without_numbers(const char *calls, char *out, size_t size) {
    size_t at = 0;
    for (; *calls != '\0' && at + 1 < size; calls++)
        if (*calls < '0' || *calls > '9') out[at++] = *calls;
    out[at] = '\0';
}
