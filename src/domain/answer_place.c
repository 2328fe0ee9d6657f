/*
 * Where an answer may stand: the shape of its path, and the elements on it.
 */
#include "domain/answer_private.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/canary.h"

#include <stdarg.h>

static const struct evd_text nothing = {NULL, 0};

struct evd_text evd_answer_pointer(const struct evd_answer *answer, struct evd_arena *arena, const char *member, ...) {
    char text[80]; /* a member's name and a number or two */
    va_list arguments;
    if (answer->pointer.size_bytes == 0) return EVD_TEXT("");
    va_start(arguments, member);
    (void)vsnprintf(text, sizeof text, member, arguments);
    va_end(arguments);
    return evd_text_print(arena, EVD_TEXT_FMT "%s", EVD_TEXT_ARG(answer->pointer), text);
}

void evd_answer_note(const struct evd_answer *answer, struct evd_text pointer, enum evd_error_code code,
                     const char *rule, struct evd_text expected, struct evd_text found, struct evd_errors *errors) {
    struct evd_finding finding = {.code = code,
                                  .question = answer->question,
                                  .path = answer->path,
                                  .path_count = answer->path_count,
                                  .rule = rule,
                                  .expected = expected,
                                  .found = found};
    evd_finding_note(&finding, pointer, errors);
}

static void note(const struct evd_answer_subject *subject, struct evd_text pointer, enum evd_error_code code,
                 const char *rule, struct evd_text expected, struct evd_text found) {
    evd_answer_note(subject->answer, pointer, code, rule, expected, found, subject->errors);
}

bool evd_answer_is_element(struct evd_text question, const struct evd_path_step *path, size_t path_count) {
    return path_count > 0 && evd_text_equal(path[path_count - 1].question, question);
}

bool evd_answer_find_question(struct evd_answer_subject *subject) {
    const struct evd_answer *answer = subject->answer;
    subject->at = evd_question_index_find(&subject->definition->index, answer->question);
    if (subject->at != EVD_NOT_THERE) return true;
    note(subject, evd_answer_pointer(answer, subject->errors->arena, "/question"), EVD_ERROR_UNKNOWN_QUESTION, "id",
         nothing, answer->question);
    return false;
}

int evd_path_compare(const struct evd_path_step *a, size_t a_count, const struct evd_path_step *b, size_t b_count) {
    for (size_t i = 0; i < a_count && i < b_count; i++) {
        int order = evd_text_compare(a[i].question, b[i].question);
        if (order == 0) order = evd_text_compare(a[i].element, b[i].element);
        if (order != 0) return order;
    }
    return (a_count > b_count) - (a_count < b_count);
}

bool evd_instance_id_is_valid(struct evd_text id) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid uuid;
    if (!evd_uuid_parse(id, &uuid)) return false;
    evd_uuid_format(uuid, text);
    return evd_text_equal(evd_text_from(text), id);
}

/* Whether the steps are of these questions, and no others. */
static bool has_steps(const struct evd_answer *answer, const struct evd_question *const *steps, size_t count) {
    if (answer->path_count != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!evd_text_equal(answer->path[i].question, steps[i]->id)) return false;
    return true;
}

static struct evd_text joined(const struct evd_text *ids, size_t count, struct evd_arena *arena) {
    enum { USUAL_BYTES = 100 };
    struct evd_buffer out;
    evd_buffer_init(&out, arena, USUAL_BYTES);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) evd_buffer_add_text(&out, EVD_TEXT(", "));
        evd_buffer_add_text(&out, ids[i]);
    }
    return count == 0 ? EVD_TEXT("") : evd_buffer_text(&out);
}

static void note_wrong_path(const struct evd_answer_subject *subject, const struct evd_question *const *steps,
                            size_t count) {
    const struct evd_answer *answer = subject->answer;
    struct evd_arena *arena = subject->errors->arena;
    struct evd_text expected[EVD_LIMIT_QUESTION_DEPTH], found[EVD_LIMIT_QUESTION_DEPTH];
    bool is_shown = subject->errors->count < EVD_LIMIT_VALIDATION_ERRORS; /* what only counts costs no memory */
    for (size_t i = 0; i < count; i++)
        expected[i] = steps[i]->id;
    for (size_t i = 0; i < answer->path_count; i++)
        found[i] = answer->path[i].question;
    note(subject, evd_answer_pointer(answer, arena, "/path"), EVD_ERROR_WRONG_PATH, "path",
         is_shown ? joined(expected, count, arena) : nothing,
         is_shown ? joined(found, answer->path_count, arena) : nothing);
}

static bool check_element(const struct evd_answer_subject *subject, const struct evd_question *maker, size_t step) {
    const struct evd_question_index *index = &subject->definition->index;
    struct evd_text element = subject->answer->path[step].element;
    bool is_instance = maker->kind.value == EVD_QUESTION_UNIT;
    if (is_instance && evd_instance_id_is_valid(element)) return true;
    if (!is_instance &&
        evd_question_index_find_option(index, (uint32_t)(maker - index->questions), element) != EVD_NOT_THERE)
        return true;
    note(subject, evd_answer_pointer(subject->answer, subject->errors->arena, "/path/%zu/element", step),
         is_instance ? EVD_ERROR_MALFORMED_ELEMENT : EVD_ERROR_UNKNOWN_OPTION, is_instance ? "path" : "options",
         nothing, element);
    return false;
}

bool evd_answer_check_place(const struct evd_answer_subject *subject) {
    const struct evd_question *question = evd_answer_question(subject), *steps[EVD_LIMIT_QUESTION_DEPTH];
    size_t count = evd_definition_frame(subject->definition, question, steps);
    if (evd_question_makes_elements(question)) steps[count++] = question;
    if (!has_steps(subject->answer, steps, count)) {
        note_wrong_path(subject, steps, count);
        return false;
    }
    bool right = true;
    for (size_t i = 0; i < count; i++)
        right = check_element(subject, steps[i], i) && right;
    return right;
}

void evd_answer_note_unknown_element(const struct evd_answer *answer, size_t step, struct evd_errors *errors) {
    evd_answer_note(answer, evd_answer_pointer(answer, errors->arena, "/path/%zu/element", step),
                    EVD_ERROR_UNKNOWN_ELEMENT, "path", nothing, answer->path[step].element, errors);
}

/* Is the element that the first steps lead to there? */
static bool is_pinned(const struct evd_answer *answer, size_t step_count, struct evd_pins pins) {
    struct evd_text maker = answer->path[step_count - 1].question;
    if (EVD_CANARY(ELEMENTS_NOT_CHECKED)) return true;
    return evd_pins_find(pins, evd_answer_context(maker, answer->path, step_count)) != NULL;
}

/* An element stands only under others that are there, so that the innermost vouches for all. */
static void check_elements_exist(const struct evd_answer_subject *subject, struct evd_pins pins) {
    size_t count = subject->definition->frames.length[subject->at];
    if (count == 0 || is_pinned(subject->answer, count, pins)) return;
    size_t step = 0;
    while (step + 1 < count && is_pinned(subject->answer, step + 1, pins))
        step++;
    evd_answer_note_unknown_element(subject->answer, step, subject->errors);
}

void evd_answer_check(const struct evd_definition *definition, const struct evd_answer *answer, struct evd_pins pins,
                      struct evd_errors *errors) {
    struct evd_answer_subject subject = {.definition = definition, .answer = answer, .errors = errors};
    if (!evd_answer_find_question(&subject)) return;
    if (evd_answer_check_place(&subject)) check_elements_exist(&subject, pins);
    evd_answer_check_value(&subject);
}
