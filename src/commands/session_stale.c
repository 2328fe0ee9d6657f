/*
 * StaleBase of answers: both values of each, what the request declared and what is there now.
 */
#include "commands/session.h"
#include "evidenced/base/buffer.h"
#include "evidenced/records/json.h"

static void write_conflict(const struct evd_changed_answer *answer, struct evd_buffer *out) {
    const struct evd_answer_change *asked = answer->asked;
    struct evd_declared_answer declared = {
        .base_revision = asked->base_revision, .value = asked->value, .notes = asked->notes};
    struct evd_answer_revision_view current;
    struct evd_stale_answer stale = {.question = asked->question, .declared = &declared};
    stale.path.items = asked->path.items;
    stale.path.count = asked->path.count;
    if (answer->current != NULL) {
        current = (struct evd_answer_revision_view){
            .revision = answer->current->base.id, .value = answer->current->value, .notes = answer->current->notes};
        stale.current = &current;
    }
    evd_json_write(&evd_type_stale_answer, &stale, out);
}

struct evd_outcome evd_session_refuse_stale_answers(struct evd_call *call, const struct evd_changed_answer *answers,
                                                    size_t count) {
    struct evd_buffer out;
    bool any = false;
    evd_buffer_init(&out, evd_call_arena(call), 256);
    evd_buffer_add_text(&out, EVD_TEXT("\"base\":\"answers\",\"answers\":["));
    for (size_t i = 0; i < count; i++) {
        if (answers[i].effect != EVD_ANSWER_STALE) continue;
        if (any) evd_buffer_add_byte(&out, ',');
        write_conflict(&answers[i], &out);
        any = true;
    }
    evd_buffer_add_byte(&out, ']');
    if (!any) return evd_ok();
    return (struct evd_outcome){.code = EVD_STALE_BASE, .members = evd_buffer_text(&out)};
}
