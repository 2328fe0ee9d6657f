/*
 * Save and Complete: one new version of a reviewer's session, the base version's answers with the changes laid over.
 *
 * Save is tolerant; Complete also validates the whole set. Domain page §2.
 */
#include "commands/session.h"
#include "evidenced/base/canary.h"
#include "evidenced/commands/table.h"
#include "evidenced/records/keys.h"

struct save {
    struct evd_session_reads read;
    struct evd_changed_answer *changed;
    size_t changed_count;
    struct evd_pin *changes; /* of pins: the changed answers, then the withdrawn ones */
    size_t change_count;
    struct evd_exposed exposed;
    struct evd_pins pins; /* as they will be */
    bool touches_elements;
    const struct evd_annotation_revision **pinned; /* all the base holds, in its pins' order; NULL: not needed */
    struct evd_answer *base_answers;               /* what they say */
    struct evd_errors errors;
};

static bool is_complete(const struct evd_call *call) {
    return call->command == &evd_command_complete;
}

/* What it changes, in the shape a draft has. */
static const struct evd_draft_content *content_of(struct evd_call *call) {
    const struct evd_save_request *request = call->request;
    struct evd_draft_content *content = EVD_NEW(evd_call_arena(call), struct evd_draft_content);
    content->answers.items = request->answers.items;
    content->answers.count = request->answers.count;
    content->withdrawn.items = request->withdrawn.items;
    content->withdrawn.count = request->withdrawn.count;
    return content;
}

static struct evd_session_bases bases_of(struct evd_call *call) {
    const struct evd_save_request *request = call->request;
    return (struct evd_session_bases){.stage = request->stage,
                                      .base_version = request->base_version,
                                      .draft = request->draft,
                                      .form_version = request->form_version,
                                      .content = content_of(call)};
}

/* Read. */

static void want_answers(struct evd_call *call) {
    const struct evd_save_request *request = call->request;
    struct save *state = call->state;
    state->changed_count = request->answers.count;
    state->changed = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_changed_answer, state->changed_count);
    for (size_t i = 0; i < state->changed_count; i++) {
        struct evd_changed_answer *answer = &state->changed[i];
        answer->asked = &request->answers.items[i];
        answer->context =
            evd_answer_context(answer->asked->question, answer->asked->path.items, answer->asked->path.count);
        evd_uuid study = EVD_CANARY(HEAD_WITHOUT_STUDY) ? evd_uuid_nil() : call->ids.study;
        answer->head_id = evd_author_head_id(call->ids.project, study, call->caller, answer->context);
        answer->digest = evd_answer_digest(&answer->asked->value, answer->asked->notes);
        EVD_WANT(call, ANNOTATION_HEAD, answer->head_id, &answer->head);
    }
    evd_exposed_want(call, &state->exposed, request->exposures.items, request->exposures.count);
}

static bool makes_or_refers(const struct evd_definition *definition, const struct evd_changed_answer *answer,
                            struct evd_pins base) {
    const struct evd_question *question = evd_definition_question(definition, answer->asked->question);
    if (question == NULL) return false;
    bool is_new_instance = question->kind.value == EVD_QUESTION_UNIT && evd_pins_find(base, answer->context) == NULL;
    return is_new_instance || question->kind.value == EVD_QUESTION_REFERENCE;
}

/* Does it change which elements there are, or what points at them? Then answers it does not name have a say. */
static bool touches_elements(const struct evd_call *call, const struct save *state, struct evd_pins base) {
    const struct evd_save_request *request = call->request;
    for (size_t i = 0; i < request->withdrawn.count; i++) {
        const struct evd_answer_place *place = &request->withdrawn.items[i];
        if (evd_answer_is_element(place->question, place->path.items, place->path.count)) return true;
    }
    for (size_t i = 0; state->read.definition != NULL && i < state->changed_count; i++)
        if (makes_or_refers(state->read.definition, &state->changed[i], base)) return true;
    return false;
}

/* The values behind the base's pins: for Complete to judge the whole set, and for a Save of more than plain answers. */
static void want_pinned(struct evd_call *call, struct save *state) {
    struct evd_pins base = {0};
    if (state->read.base_map != NULL && !evd_pins_unpack(state->read.base_map->pins, &base)) return;
    state->touches_elements = touches_elements(call, state, base);
    if (base.count == 0 || (!is_complete(call) && !state->touches_elements)) return;
    state->pinned = EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_annotation_revision *, base.count);
    for (size_t i = 0; i < base.count; i++)
        EVD_WANT(call, ANNOTATION_REVISION, base.items[i].revision, &state->pinned[i]);
}

static void want_revisions(struct evd_call *call) {
    struct save *state = call->state;
    for (size_t i = 0; i < state->changed_count; i++) {
        struct evd_changed_answer *answer = &state->changed[i];
        answer->effect = evd_answer_effect_of(answer->head, answer->asked->base_revision, &answer->digest);
        if (EVD_CANARY(STALE_ANSWER_TAKEN) && answer->head != NULL && answer->effect == EVD_ANSWER_STALE)
            answer->effect = EVD_ANSWER_REVISE;
        if (answer->effect == EVD_ANSWER_STALE && answer->head != NULL)
            EVD_WANT(call, ANNOTATION_REVISION, answer->head->current_revision, &answer->current);
    }
    evd_exposed_want_heads(call, &state->exposed);
    want_pinned(call, state);
}

static void save_read(struct evd_call *call) {
    struct save *state = EVD_CALL_STATE(call, save);
    evd_session_read(call, &state->read, bases_of(call), want_answers, want_revisions);
}

/* Refuse. */

/* The head's own revision when the value is equal to it, else the one that is to be written. */
static evd_uuid pin_of(const struct evd_changed_answer *answer) {
    if (answer->head == NULL) return evd_revision_id(answer->head_id, 1);
    if (answer->effect == EVD_ANSWER_SAME) return answer->head->current_revision;
    return evd_revision_id(answer->head_id, answer->head->revision_seq + 1);
}

/* All places the request changes, once each: an answer given twice, or given and withdrawn, means nothing. */
static void collect_changes(struct evd_call *call, struct save *state) {
    const struct evd_save_request *request = call->request;
    size_t most = state->changed_count + request->withdrawn.count + state->read.base_pins.count;
    state->changes = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_pin, most);
    for (size_t i = 0; i < state->changed_count; i++) {
        struct evd_changed_answer *answer = &state->changed[i];
        answer->pinned = pin_of(answer);
        state->changes[state->change_count++] =
            (struct evd_pin){.context = answer->context, .revision = answer->pinned};
    }
    for (size_t i = 0; i < request->withdrawn.count; i++) {
        const struct evd_answer_place *place = &request->withdrawn.items[i];
        state->changes[state->change_count++].context =
            evd_answer_context(place->question, place->path.items, place->path.count);
    }
    if (!evd_pins_sort_changes(state->changes, state->change_count))
        (void)evd_errors_note(&state->errors, EVD_TEXT("/answers"), EVD_ERROR_REPEATED_PLACE);
}

static struct evd_answer answer_of_change(struct evd_call *call, const struct save *state, size_t at) {
    const struct evd_answer_change *asked = state->changed[at].asked;
    return (struct evd_answer){.question = asked->question,
                               .path = asked->path.items,
                               .path_count = asked->path.count,
                               .value = &asked->value,
                               .notes = asked->notes,
                               .pointer = evd_text_print(evd_call_arena(call), "/answers/%zu", at)};
}

/* The base's answers, when they were read; false when one is not there. */
static bool take_base_answers(struct evd_call *call, struct save *state) {
    if (state->pinned == NULL) return true;
    size_t count = state->read.base_pins.count;
    state->base_answers = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_answer, count);
    for (size_t i = 0; i < count; i++) {
        if (state->pinned[i] == NULL) return false;
        state->base_answers[i] = evd_session_answer_of(state->pinned[i]);
    }
    return true;
}

/* What stands below an element that is withdrawn goes with it. */
static void withdraw_below(struct evd_call *call, struct save *state) {
    const struct evd_save_request *request = call->request;
    struct evd_pins base = state->read.base_pins, named = {state->changes, state->change_count};
    if (state->base_answers == NULL || EVD_CANARY(BELOW_NOT_WITHDRAWN)) return;
    const bool *below = evd_answers_below(state->base_answers, base.count, request->withdrawn.items,
                                          request->withdrawn.count, evd_call_arena(call));
    for (size_t i = 0; i < base.count; i++)
        if (below[i] && evd_pins_find(named, base.items[i].context) == NULL)
            state->changes[state->change_count++].context = base.items[i].context;
}

/* The whole set as it will be: kept answers by their revisions, changed ones by the request. */
static struct evd_answer *whole_set(struct evd_call *call, const struct save *state, size_t *ret_count) {
    struct evd_pins base = state->read.base_pins, changes = {state->changes, state->change_count};
    struct evd_answer *answers =
        EVD_NEW_ARRAY(evd_call_arena(call), struct evd_answer, base.count + state->changed_count);
    size_t count = 0;
    for (size_t i = 0; state->base_answers != NULL && i < base.count; i++)
        if (evd_pins_find(changes, base.items[i].context) == NULL) answers[count++] = state->base_answers[i];
    for (size_t i = 0; i < state->changed_count; i++)
        answers[count++] = answer_of_change(call, state, i);
    *ret_count = count;
    return answers;
}

/* Save is tolerant: of the answers that stay, only those have a say which a changed element concerns. */
static void check_changed(struct evd_call *call, struct save *state) {
    size_t count;
    for (size_t i = 0; i < state->changed_count; i++) {
        struct evd_answer answer = answer_of_change(call, state, i);
        evd_answer_check(state->read.definition, &answer, state->pins, &state->errors);
    }
    if (!state->touches_elements || EVD_CANARY(REFERENCES_NOT_CHECKED)) return;
    const struct evd_answer *answers = whole_set(call, state, &count);
    evd_answers_check_instances(state->read.definition, answers, count, &state->errors);
}

static void check_whole(struct evd_call *call, struct save *state) {
    size_t count;
    const struct evd_answer *answers = whole_set(call, state, &count);
    evd_answers_check_complete(state->read.definition, answers, count, &state->errors);
}

static bool form_version_fits(struct evd_call *call, struct save *state) {
    const struct evd_save_request *request = call->request;
    int64_t pinned = state->read.session == NULL ? 0 : state->read.session->pinned_form_version;
    if (state->read.definition != NULL && request->form_version >= pinned) return true;
    bool older = state->read.definition != NULL;
    (void)evd_errors_note(&state->errors, EVD_TEXT("/formVersion"),
                          older ? EVD_ERROR_FORM_VERSION_TOO_OLD : EVD_ERROR_UNKNOWN_FORM_VERSION);
    return false;
}

static struct evd_outcome validate(struct evd_call *call, struct save *state) {
    evd_errors_init(&state->errors, evd_call_arena(call));
    if (!take_base_answers(call, state)) return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    collect_changes(call, state);
    if (state->errors.total > 0) return evd_errors_outcome(&state->errors);
    withdraw_below(call, state);
    state->pins = evd_pins_overlay(state->read.base_pins, state->changes, state->change_count, evd_call_arena(call));
    if (state->pins.count > EVD_LIMIT_PINS) return evd_outcome_of(EVD_SIZE_LIMIT_EXCEEDED);
    evd_exposed_check(call, &state->exposed, "exposures", &state->errors);
    if (form_version_fits(call, state)) {
        if (is_complete(call))
            check_whole(call, state);
        else
            check_changed(call, state);
    }
    return evd_errors_outcome(&state->errors);
}

static struct evd_outcome save_refuse(struct evd_call *call) {
    struct save *state = call->state;
    struct evd_outcome outcome = evd_session_refuse(call, &state->read, bases_of(call));
    if (outcome.code == EVD_OK) outcome = evd_session_refuse_stale_answers(call, state->changed, state->changed_count);
    if (outcome.code == EVD_OK) outcome = evd_session_refuse_unrenderable(&state->read);
    if (outcome.code == EVD_OK) outcome = evd_session_refuse_held(call, &state->read, bases_of(call));
    if (outcome.code == EVD_OK) outcome = validate(call, state);
    if (outcome.code == EVD_OK) outcome = evd_session_admit(call, &state->read);
    return outcome;
}

static void save_keep(struct evd_call *call) {
    evd_session_keep(call, &((const struct save *)call->state)->read);
}

/* Derive. */

static void write_revision(struct evd_call *call, const struct evd_changed_answer *answer, int64_t seq) {
    struct evd_annotation_revision revision = {
        .base.id = answer->pinned,
        .head = answer->head_id,
        .seq = seq,
        .question = answer->asked->question,
        .value = answer->asked->value,
        .notes = answer->asked->notes,
        .previous = answer->head == NULL ? evd_uuid_nil() : answer->head->current_revision,
        .author = call->caller,
        .digest = {(const char *)answer->digest.bytes, sizeof answer->digest.bytes}};
    revision.path.items = answer->asked->path.items;
    revision.path.count = answer->asked->path.count;
    if (!EVD_CANARY(REVISION_NOT_WRITTEN)) EVD_INSERT_RECORD(call, annotation_revision, &revision);
}

static void write_answer(struct evd_call *call, const struct evd_changed_answer *answer) {
    if (answer->effect == EVD_ANSWER_SAME) return;
    struct evd_annotation_head *head = answer->head != NULL ? EVD_CHANGE(call, annotation_head, answer->head)
                                                            : EVD_NEW(evd_call_arena(call), struct evd_annotation_head);
    head->base.id = answer->head_id;
    head->study = call->ids.study;
    head->scope = evd_name_of(EVD_SCOPE_AUTHOR);
    head->author = call->caller;
    head->question = answer->asked->question;
    head->path.items = answer->asked->path.items;
    head->path.count = answer->asked->path.count;
    head->current_revision = answer->pinned;
    head->revision_seq++;
    head->digest = (struct evd_text){(const char *)answer->digest.bytes, sizeof answer->digest.bytes};
    write_revision(call, answer, head->revision_seq);
    if (answer->head != NULL)
        EVD_REPLACE_RECORD(call, annotation_head, head);
    else
        EVD_INSERT_RECORD(call, annotation_head, head);
}

static void save_derive(struct evd_call *call) {
    const struct evd_save_request *request = call->request;
    const struct save *state = call->state;
    for (size_t i = 0; i < state->changed_count; i++)
        write_answer(call, &state->changed[i]);
    struct evd_session_outcome outcome = {.kind = is_complete(call) ? EVD_VERSION_COMPLETE : EVD_VERSION_SAVE,
                                          .stage = request->stage,
                                          .form_version = request->form_version,
                                          .pins = state->pins,
                                          .exposed = &state->exposed};
    evd_session_write(call, &state->read, &outcome, state->changed, state->changed_count);
}

#define SAVE_LIKE(command_name, verb)                                                                                  \
    {                                                                                                                  \
        EVD_SESSION_COMMAND(command_name, verb, save_request), .outcomes = EVD_SESSION_OUTCOMES, .read = save_read,    \
                                                               .refuse = save_refuse, .derive = save_derive,           \
                                                               .keep = save_keep,                                      \
    }

const struct evd_command evd_command_save = SAVE_LIKE("Save", "save");
const struct evd_command evd_command_complete = SAVE_LIKE("Complete", "complete");
