#include "evidenced/domain/summary.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/canary.h"
#include "evidenced/domain/standing.h"

static struct evd_summary_member member_of(const struct evd_form *form, const struct evd_form_session *session) {
    enum evd_session_state state = (enum evd_session_state)session->state.value;
    enum evd_standing standing = evd_standing_of(state, session->pinned_form_version, form->published_seq, NULL, 0);
    return (struct evd_summary_member){.reviewer = session->author,
                                       .state = session->state,
                                       .standing = evd_name_of(standing),
                                       .version_seq = session->version_seq,
                                       .route_stage = session->route_stage};
}

static void count_member(struct evd_form_summary *entry, const struct evd_summary_member *member) {
    bool completed = member->state.value == EVD_SESSION_COMPLETED;
    bool incomplete = member->state.value == EVD_SESSION_SAVED_INCOMPLETE;
    entry->completed += completed;
    entry->saved_incomplete += incomplete;
    entry->places += completed || incomplete || EVD_CANARY(WITHDRAWN_COUNTED);
    entry->withdrawn += member->state.value == EVD_SESSION_WITHDRAWN;
    entry->qualifying += evd_standing_qualifies((enum evd_standing)member->standing.value);
}

static int by_reviewer(const void *a, const void *b) {
    return evd_uuid_compare(((const struct evd_summary_member *)a)->reviewer,
                            ((const struct evd_summary_member *)b)->reviewer);
}

struct evd_form_summary *evd_summary_of_form(const struct evd_form *form,
                                             const struct evd_form_session *const *sessions, size_t count,
                                             struct evd_arena *arena) {
    struct evd_form_summary *entry = EVD_NEW(arena, struct evd_form_summary);
    entry->form = form->base.id;
    entry->evaluated_under = EVD_NEW(arena, struct evd_definition_vector);
    entry->evaluated_under->form_seq = form->published_seq;
    entry->evaluated_under->binding_seq = form->binding_seq;
    entry->members.items = EVD_NEW_ARRAY(arena, struct evd_summary_member, count);
    for (size_t i = 0; i < count; i++) {
        if (sessions[i]->version_seq == 0) continue;
        struct evd_summary_member member = member_of(form, sessions[i]);
        count_member(entry, &member);
        entry->members.items[entry->members.count++] = member;
    }
    if (entry->members.count > 1)
        qsort(entry->members.items, entry->members.count, sizeof(struct evd_summary_member), by_reviewer);
    entry->ready = form->capacity != NULL && entry->qualifying >= form->capacity->target;
    return entry;
}

static struct evd_stage_projection projection_of(evd_uuid stage, const struct evd_form_summary *entry) {
    return (struct evd_stage_projection){.stage = stage,
                                         .form = entry->form,
                                         .candidates = entry->places,
                                         .completed = entry->completed,
                                         .ready = entry->ready};
}

struct evd_canonical_summary *evd_summary_with(const struct evd_canonical_summary *before, const struct evd_form *form,
                                               const struct evd_form_summary *entry, struct evd_arena *arena) {
    static const struct evd_canonical_summary none;
    const struct evd_canonical_summary *old = before == NULL ? &none : before;
    struct evd_canonical_summary *after = evd_arena_copy(arena, old, sizeof *old);
    after->forms.items = EVD_NEW_ARRAY(arena, struct evd_form_summary, old->forms.count + 1);
    after->forms.count = 0;
    after->stages.items =
        EVD_NEW_ARRAY(arena, struct evd_stage_projection, old->stages.count + form->bound_stages.count);
    after->stages.count = 0;
    for (size_t i = 0; i < old->forms.count; i++)
        if (!evd_uuid_equal(old->forms.items[i].form, entry->form))
            after->forms.items[after->forms.count++] = old->forms.items[i];
    after->forms.items[after->forms.count++] = *entry;
    for (size_t i = 0; i < old->stages.count; i++)
        if (!evd_uuid_equal(old->stages.items[i].form, entry->form))
            after->stages.items[after->stages.count++] = old->stages.items[i];
    for (size_t i = 0; i < form->bound_stages.count; i++)
        after->stages.items[after->stages.count++] = projection_of(form->bound_stages.items[i], entry);
    return after;
}

const struct evd_form_summary *evd_summary_find(const struct evd_canonical_summary *summary, evd_uuid form) {
    for (size_t i = 0; summary != NULL && i < summary->forms.count; i++)
        if (evd_uuid_equal(summary->forms.items[i].form, form)) return &summary->forms.items[i];
    return NULL;
}
