/*
 * What one version of a session changed against the version it was made from, place by place. It never changes.
 */
#include "read/answers.h"
#include "read/session.h"

struct change {
    const struct evd_annotation_revision *before, *after; /* NULL: there was no answer, or is none */
};

struct changes {
    const struct evd_form_session_version *version;
    const struct evd_pin_map *map, *base_map;
    struct evd_pins pins, base_pins;
    struct evd_pin_change *places;
    struct change *items; /* of places */
    size_t count;
    bool corrupt;
};

static bool unpack(const struct evd_pin_map *map, struct evd_pins *ret_pins) {
    return map != NULL && evd_pins_unpack(map->pins, ret_pins);
}

static void want_changed(struct evd_call *call, struct changes *state) {
    state->count = evd_pins_changed(state->base_pins, state->pins);
    state->places = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_pin_change, state->count);
    state->items = EVD_NEW_ARRAY(evd_call_arena(call), struct change, state->count);
    evd_pins_changes(state->base_pins, state->pins, state->places);
    for (size_t i = 0; i < state->count; i++) {
        EVD_WANT(call, ANNOTATION_REVISION, state->places[i].before, &state->items[i].before);
        EVD_WANT(call, ANNOTATION_REVISION, state->places[i].after, &state->items[i].after);
    }
}

static void changes_read(struct evd_call *call) {
    struct changes *state = EVD_CALL_STATE(call, changes);
    EVD_WANT(call, FORM_SESSION_VERSION, call->ids.version, &state->version);
    EVD_WANT(call, PIN_MAP, call->ids.version, &state->map);
    evd_reader_fetch(call);
    if (!evd_session_version_may_be_seen(call, state->version)) {
        state->version = NULL;
        return;
    }
    bool is_first = evd_uuid_is_nil(state->version->base_version);
    EVD_WANT(call, PIN_MAP, state->version->base_version, &state->base_map);
    evd_reader_fetch(call);
    state->corrupt = !unpack(state->map, &state->pins) || (!is_first && !unpack(state->base_map, &state->base_pins));
    if (state->corrupt) return;
    want_changed(call, state);
    evd_reader_fetch(call);
}

static bool is_whole(const struct evd_pin_change *place, const struct change *change) {
    bool before = evd_uuid_is_nil(place->before) || evd_revision_is_whole(change->before);
    bool after = evd_uuid_is_nil(place->after) || evd_revision_is_whole(change->after);
    return before && after;
}

static struct evd_outcome changes_refuse(struct evd_call *call) {
    struct changes *state = call->state;
    if (state->version == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    for (size_t i = 0; i < state->count; i++)
        state->corrupt |= !is_whole(&state->places[i], &state->items[i]);
    return evd_outcome_of(state->corrupt ? EVD_STORE_IS_CORRUPT : EVD_OK);
}

static struct evd_answer_change_view view_of(struct evd_call *call, const struct change *change) {
    const struct evd_annotation_revision *named = change->after != NULL ? change->after : change->before;
    struct evd_answer_change_view view = {.question = named->question};
    view.path.items = named->path.items;
    view.path.count = named->path.count;
    if (change->before != NULL) view.before = evd_revision_show(call, change->before);
    if (change->after != NULL) view.after = evd_revision_show(call, change->after);
    return view;
}

static void changes_derive(struct evd_call *call) {
    const struct changes *state = call->state;
    const struct evd_form_session_version *version = state->version;
    struct evd_session_changes_view view = {
        .id = version->base.id, .base = version->base_version, .kind = version->kind, .stamp = version->base.stamp};
    view.changes.items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_answer_change_view, state->count);
    view.changes.count = state->count;
    for (size_t i = 0; i < state->count; i++)
        view.changes.items[i] = view_of(call, &state->items[i]);
    evd_call_receipt(call, &evd_type_session_changes_view, &view);
}

#define GET_CHANGES(view_name, view_path)                                                                              \
    {                                                                                                                  \
        EVD_VIEW(view_name, view_path "/versions/{version}/changes", EVD_CAN_READ),                                    \
            .answer = &evd_type_session_changes_view, .immutable = true, .read = changes_read,                         \
            .refuse = changes_refuse, .derive = changes_derive,                                                        \
    }

const struct evd_command evd_command_get_session_changes = GET_CHANGES("GetSessionChanges", EVD_OWN_SESSION);
const struct evd_command evd_command_get_session_changes_by_id = GET_CHANGES("GetSessionChangesById", EVD_ANY_SESSION);
