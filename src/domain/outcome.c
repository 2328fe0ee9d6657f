#include "evidenced/domain/outcome.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"

const struct evd_outcome_entry *evd_outcome_entry_of(enum evd_outcome_code code) {
    static const struct evd_outcome_entry entries[EVD_OUTCOME_COUNT] = {
        [EVD_OK] = {.name = "OK", .kebab = "ok", .status = 200, .title = "Done", .detail = "Done."},
#define EVD_OUTCOME(enumerator, outcome_name, kebab_name, http_status, again, heading, sentence)                       \
    [enumerator] = {.name = outcome_name,                                                                              \
                    .kebab = kebab_name,                                                                               \
                    .status = http_status,                                                                             \
                    .retryable = again,                                                                                \
                    .title = heading,                                                                                  \
                    .detail = sentence},
#include "evidenced/domain/outcome.def"
#undef EVD_OUTCOME
    };
    return &entries[code];
}

const char *evd_reason_name(enum evd_reason reason) {
    switch (reason) {
    case EVD_NO_REASON: return NULL;
    case EVD_REASON_OWNERSHIP: return "ownership";
    case EVD_REASON_ENROLMENT: return "enrolment";
    case EVD_REASON_PERMISSION: return "permission";
    case EVD_REASON_ADMISSION: return "admission";
    case EVD_REASON_STATISTICS_MODE: return "statisticsMode";
    case EVD_REASON_NOT_ASSIGNED: return "notAssigned";
    case EVD_REASON_REVIEWED_THE_STUDY: return "reviewedTheStudy";
    case EVD_REASON_WRITER_FLOOR: return "writerFloor";
    case EVD_REASON_NOT_YET_AVAILABLE: return "notYetAvailable";
    }
    return NULL;
}

void evd_errors_init(struct evd_errors *errors, struct evd_arena *arena) {
    *errors = (struct evd_errors){.arena = arena};
}

struct evd_error *evd_errors_add(struct evd_errors *errors, struct evd_text pointer, const char *code,
                                 struct evd_text message) {
    enum { FIRST_CAPACITY = 16 };
    errors->total++;
    if (errors->count == EVD_LIMIT_VALIDATION_ERRORS) return NULL;
    if (errors->count == errors->capacity) {
        size_t capacity = errors->capacity == 0 ? FIRST_CAPACITY : errors->capacity * 2;
        struct evd_error *items = EVD_NEW_ARRAY(errors->arena, struct evd_error, capacity);
        if (errors->count > 0) memcpy(items, errors->items, errors->count * sizeof *items);
        errors->items = items;
        errors->capacity = capacity;
    }
    struct evd_error *error = &errors->items[errors->count++];
    *error = (struct evd_error){.pointer = pointer, .code = code, .message = message};
    return error;
}

struct evd_outcome evd_errors_outcome(const struct evd_errors *errors) {
    if (errors->total == 0) return evd_ok();
    return (struct evd_outcome){.code = EVD_VALIDATION_FAILED, .errors = errors};
}
