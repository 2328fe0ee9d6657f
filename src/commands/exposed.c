#include "commands/exposed.h"

#include "evidenced/domain/error_codes.h"
#include "evidenced/records/keys.h"

void evd_exposed_want(struct evd_call *call, struct evd_exposed *exposed, const evd_uuid *asked, size_t count) {
    exposed->asked = asked;
    exposed->count = count;
    exposed->revisions = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_annotation_revision *, count);
    exposed->heads = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_annotation_head *, count);
    for (size_t i = 0; i < count; i++)
        EVD_WANT(call, ANNOTATION_REVISION, asked[i], &exposed->revisions[i]);
}

void evd_exposed_want_heads(struct evd_call *call, struct evd_exposed *exposed) {
    for (size_t i = 0; i < exposed->count; i++)
        if (exposed->revisions[i] != NULL)
            EVD_WANT(call, ANNOTATION_HEAD, exposed->revisions[i]->head, &exposed->heads[i]);
}

void evd_exposed_check(struct evd_call *call, const struct evd_exposed *exposed, const char *member,
                       struct evd_errors *errors) {
    for (size_t i = 0; i < exposed->count; i++)
        if (exposed->heads[i] == NULL || !evd_uuid_equal(exposed->heads[i]->study, call->ids.study))
            (void)evd_errors_note(errors, evd_text_print(evd_call_arena(call), "/%s/%zu", member, i),
                                  EVD_ERROR_UNKNOWN_REVISION);
}

static int by_id(const void *a, const void *b) {
    return evd_uuid_compare(*(const evd_uuid *)a, *(const evd_uuid *)b);
}

size_t evd_exposed_write(struct evd_call *call, const struct evd_exposed *exposed, evd_uuid session, evd_uuid version,
                         int64_t version_seq, bool late) {
    evd_uuid *shown = EVD_NEW_ARRAY(evd_call_arena(call), evd_uuid, exposed->count);
    size_t count = 0, distinct = 0;
    for (size_t i = 0; i < exposed->count; i++)
        if (!evd_uuid_equal(exposed->revisions[i]->author, call->caller)) shown[count++] = exposed->asked[i];
    if (count > 1) qsort(shown, count, sizeof *shown, by_id);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && evd_uuid_equal(shown[i], shown[i - 1])) continue;
        struct evd_exposure exposure = {.base.id = evd_exposure_id(version, shown[i]),
                                        .session = session,
                                        .version_id = version,
                                        .version_seq = version_seq,
                                        .revision = shown[i],
                                        .late = late,
                                        .recorded_at = call->now_ms};
        EVD_INSERT_ONCE(call, exposure, &exposure);
        distinct++;
    }
    return distinct;
}
