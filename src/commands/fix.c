/*
 * Fix: a version of its own in which the outdated answers the request names, and no others, are what another form of
 * the same author made of them. Domain page §2.
 */
#include "commands/session.h"
#include "evidenced/records/keys.h"

struct fix {
    struct evd_session_reads read;
    struct evd_changed_answer *named;
    struct evd_answer_change *asked;                 /* of named: what the request declares of each */
    const struct evd_annotation_revision **declared; /* the revision the person saw, when it is not the head's now */
    struct evd_pin *changes;
    size_t count;
    struct evd_exposed exposed;
    struct evd_pins pins; /* as they will be */
    struct evd_errors errors;
};

static struct evd_session_bases bases_of(const struct evd_call *call) {
    const struct evd_fix_request *request = call->request;
    return (struct evd_session_bases){
        .stage = request->stage, .base_version = request->base_version, .draft = request->draft};
}

/* Read. */

static void want_heads(struct evd_call *call) {
    const struct evd_fix_request *request = call->request;
    struct fix *state = call->state;
    state->count = request->answers.count;
    state->named = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_changed_answer, state->count);
    state->asked = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_answer_change, state->count);
    state->declared = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_annotation_revision *, state->count);
    for (size_t i = 0; i < state->count; i++) {
        const struct evd_fixed_answer *given = &request->answers.items[i];
        struct evd_changed_answer *answer = &state->named[i];
        state->asked[i] = (struct evd_answer_change){.question = given->question, .base_revision = given->revision};
        state->asked[i].path.items = given->path.items;
        state->asked[i].path.count = given->path.count;
        answer->asked = &state->asked[i];
        answer->context = evd_answer_context(given->question, given->path.items, given->path.count);
        answer->head_id = evd_author_head_id(call->ids.project, call->ids.study, call->caller, answer->context);
        EVD_WANT(call, ANNOTATION_HEAD, answer->head_id, &answer->head);
    }
    evd_exposed_want(call, &state->exposed, request->exposures.items, request->exposures.count);
}

/* The value each head has now; beside it the one the person saw, where that is another. */
static void want_values(struct evd_call *call) {
    const struct evd_fix_request *request = call->request;
    struct fix *state = call->state;
    for (size_t i = 0; i < state->count; i++) {
        struct evd_changed_answer *answer = &state->named[i];
        if (answer->head == NULL) continue;
        bool moved = !evd_uuid_equal(answer->head->current_revision, request->answers.items[i].revision);
        answer->effect = moved ? EVD_ANSWER_STALE : EVD_ANSWER_SAME;
        answer->pinned = answer->head->current_revision;
        EVD_WANT(call, ANNOTATION_REVISION, answer->pinned, &answer->current);
        if (moved) EVD_WANT(call, ANNOTATION_REVISION, request->answers.items[i].revision, &state->declared[i]);
    }
    evd_exposed_want_heads(call, &state->exposed);
    if (state->read.base_version != NULL)
        evd_reader_want_definition(call, state->read.base_version->form_version, &state->read.definition);
}

static void fix_read(struct evd_call *call) {
    struct fix *state = EVD_CALL_STATE(call, fix);
    evd_session_read(call, &state->read, bases_of(call), want_heads, want_values);
}

/* Refuse. */

/* What the person saw is told only when it is a revision of that same answer. */
static void tell_declared(struct fix *state, size_t at) {
    const struct evd_annotation_revision *declared = state->declared[at];
    if (declared == NULL || !evd_uuid_equal(declared->head, state->named[at].head_id)) return;
    state->asked[at].value = declared->value;
    state->asked[at].notes = declared->notes;
}

static struct evd_outcome refuse_base(struct evd_call *call) {
    struct fix *state = call->state;
    for (size_t i = 0; i < state->count; i++)
        tell_declared(state, i);
    struct evd_outcome outcome = evd_session_refuse_stale_answers(call, state->named, state->count);
    return outcome.code == EVD_OK ? evd_session_refuse_unrenderable(&state->read) : outcome;
}

/* The answer as it will be must be one the session's form takes too: another form asked for it. */
static void check_named(struct evd_call *call, struct fix *state, size_t at) {
    const struct evd_changed_answer *answer = &state->named[at];
    const struct evd_pin *pin = evd_pins_find(state->read.base_pins, answer->context);
    struct evd_text pointer = evd_text_print(evd_call_arena(call), "/answers/%zu", at);
    if (pin == NULL || answer->head == NULL) {
        (void)evd_errors_note(&state->errors, pointer, EVD_ERROR_NOT_ANSWERED);
    } else if (evd_uuid_equal(pin->revision, answer->pinned)) {
        (void)evd_errors_note(&state->errors, pointer, EVD_ERROR_NOT_OUTDATED);
    } else {
        struct evd_answer current = evd_session_answer_of(answer->current);
        evd_answer_check(state->read.definition, &current, pointer, &state->errors);
    }
}

static bool current_values_exist(const struct fix *state) {
    for (size_t i = 0; i < state->count; i++)
        if (state->named[i].head != NULL && state->named[i].current == NULL) return false;
    return state->read.definition != NULL;
}

static struct evd_outcome validate(struct evd_call *call, struct fix *state) {
    if (!current_values_exist(state)) return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    if (state->count == 0) return evd_invalid(call, "/answers", EVD_ERROR_EMPTY);
    evd_errors_init(&state->errors, evd_call_arena(call));
    state->changes = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_pin, state->count);
    for (size_t i = 0; i < state->count; i++) {
        check_named(call, state, i);
        state->changes[i] = (struct evd_pin){.context = state->named[i].context, .revision = state->named[i].pinned};
    }
    if (!evd_pins_sort_changes(state->changes, state->count))
        (void)evd_errors_note(&state->errors, EVD_TEXT("/answers"), EVD_ERROR_REPEATED_PLACE);
    evd_exposed_check(call, &state->exposed, "exposures", &state->errors);
    return evd_errors_outcome(&state->errors);
}

static struct evd_outcome fix_refuse(struct evd_call *call) {
    struct fix *state = call->state;
    struct evd_outcome outcome = evd_session_refuse(call, &state->read, bases_of(call), refuse_base);
    if (outcome.code == EVD_OK) outcome = validate(call, state);
    if (outcome.code == EVD_OK) outcome = evd_session_admit(call, &state->read);
    return outcome;
}

/* Derive. */

static void fix_derive(struct evd_call *call) {
    const struct evd_fix_request *request = call->request;
    struct fix *state = call->state;
    for (size_t i = 0; i < state->count; i++) {
        state->asked[i].value = state->named[i].current->value;
        state->asked[i].notes = state->named[i].current->notes;
    }
    struct evd_session_outcome outcome = {
        .kind = EVD_VERSION_FIX,
        .stage = request->stage,
        .form_version = state->read.session->pinned_form_version,
        .pins = evd_pins_overlay(state->read.base_pins, state->changes, state->count, evd_call_arena(call)),
        .exposed = &state->exposed};
    evd_session_write(call, &state->read, &outcome, state->named, state->count);
}

const struct evd_command evd_command_fix = {
    EVD_SESSION_COMMAND("Fix", "fix", fix_request),
    .outcomes = EVD_SESSION_OUTCOMES,
    .read = fix_read,
    .refuse = fix_refuse,
    .derive = fix_derive,
};
