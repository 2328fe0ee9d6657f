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
    const struct evd_annotation_revision **kept; /* what the base pins, in its order; NULL: not needed */
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

/* A reference may point at instances the other form has and this session has not: only the whole set tells. */
static bool moves_references(const struct fix *state) {
    for (size_t i = 0; state->read.definition != NULL && i < state->count; i++) {
        const struct evd_question *question = evd_definition_question(state->read.definition, state->asked[i].question);
        if (question != NULL && question->kind.value == EVD_QUESTION_REFERENCE) return true;
    }
    return false;
}

static void want_kept(struct evd_call *call, struct fix *state) {
    struct evd_pins base;
    if (state->read.base_map == NULL || !evd_pins_unpack(state->read.base_map->pins, &base)) return;
    state->kept = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_annotation_revision *, base.count);
    for (size_t i = 0; i < base.count; i++)
        EVD_WANT(call, ANNOTATION_REVISION, base.items[i].revision, &state->kept[i]);
}

static void fix_read(struct evd_call *call) {
    struct fix *state = EVD_CALL_STATE(call, fix);
    evd_session_read(call, &state->read, bases_of(call), want_heads, want_values);
    if (!moves_references(state)) return;
    want_kept(call, state);
    evd_reader_fetch(call);
}

/* Refuse. */

/* What the person saw is told only when it is a revision of that same answer. */
static void tell_declared(struct fix *state, size_t at) {
    const struct evd_annotation_revision *declared = state->declared[at];
    if (declared == NULL || !evd_uuid_equal(declared->head, state->named[at].head_id)) return;
    state->asked[at].value = declared->value;
    state->asked[at].notes = declared->notes;
}

static struct evd_outcome refuse_stale_answers(struct evd_call *call, struct fix *state) {
    for (size_t i = 0; i < state->count; i++)
        tell_declared(state, i);
    return evd_session_refuse_stale_answers(call, state->named, state->count);
}

static struct evd_answer answer_of(struct evd_call *call, const struct fix *state, size_t at) {
    struct evd_answer answer = evd_session_answer_of(state->named[at].current);
    answer.pointer = evd_text_print(evd_call_arena(call), "/answers/%zu", at);
    return answer;
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
        struct evd_answer current = answer_of(call, state, at);
        evd_answer_check(state->read.definition, &current, state->pins, &state->errors);
    }
}

/* The whole set as it will be, for what one answer alone cannot tell. */
static void check_references(struct evd_call *call, struct fix *state) {
    struct evd_pins base = state->read.base_pins, changes = {state->changes, state->count};
    struct evd_answer *answers = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_answer, base.count + state->count);
    size_t count = 0;
    for (size_t i = 0; i < base.count; i++)
        if (evd_pins_find(changes, base.items[i].context) == NULL)
            answers[count++] = evd_session_answer_of(state->kept[i]);
    for (size_t i = 0; i < state->count; i++)
        answers[count++] = answer_of(call, state, i);
    evd_answers_check_instances(state->read.definition, answers, count, &state->errors);
}

static bool all_is_there(const struct fix *state) {
    for (size_t i = 0; i < state->count; i++)
        if (state->named[i].head != NULL && state->named[i].current == NULL) return false;
    for (size_t i = 0; state->kept != NULL && i < state->read.base_pins.count; i++)
        if (state->kept[i] == NULL) return false;
    return state->read.definition != NULL;
}

/* False, and noted, when one place is named twice. */
static bool collect_changes(struct evd_call *call, struct fix *state) {
    state->changes = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_pin, state->count);
    for (size_t i = 0; i < state->count; i++)
        state->changes[i] = (struct evd_pin){.context = state->named[i].context, .revision = state->named[i].pinned};
    if (evd_pins_sort_changes(state->changes, state->count)) return true;
    (void)evd_errors_note(&state->errors, EVD_TEXT("/answers"), EVD_ERROR_REPEATED_PLACE);
    return false;
}

static struct evd_outcome validate(struct evd_call *call, struct fix *state) {
    if (!all_is_there(state)) return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    if (state->count == 0) return evd_invalid(call, "/answers", EVD_ERROR_EMPTY);
    evd_errors_init(&state->errors, evd_call_arena(call));
    if (!collect_changes(call, state)) return evd_errors_outcome(&state->errors);
    state->pins = evd_pins_overlay(state->read.base_pins, state->changes, state->count, evd_call_arena(call));
    for (size_t i = 0; i < state->count; i++)
        check_named(call, state, i);
    if (state->kept != NULL && state->errors.total == 0) check_references(call, state);
    evd_exposed_check(call, &state->exposed, "exposures", &state->errors);
    return evd_errors_outcome(&state->errors);
}

static struct evd_outcome fix_refuse(struct evd_call *call) {
    struct fix *state = call->state;
    struct evd_outcome outcome = evd_session_refuse(call, &state->read, bases_of(call));
    if (outcome.code == EVD_OK) outcome = refuse_stale_answers(call, state);
    if (outcome.code == EVD_OK) outcome = evd_session_refuse_unrenderable(&state->read);
    if (outcome.code == EVD_OK) outcome = evd_session_refuse_held(call, &state->read, bases_of(call));
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
    struct evd_session_outcome outcome = {.kind = EVD_VERSION_FIX,
                                          .stage = request->stage,
                                          .form_version = state->read.session->pinned_form_version,
                                          .pins = state->pins,
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
