/*
 * What may be saved: one answer against its question.
 */
#include "domain/answer_bound.h"
#include "domain/answer_private.h"
#include "domain/definition_private.h"

#include <assert.h>
#include <inttypes.h>

struct subject {
    const struct evd_definition *definition;
    const struct evd_answer *answer;
    uint32_t at; /* the question's number */
    struct evd_text pointer;
    struct evd_errors *errors;
};

/* Below the answer's own pointer; an answer that has no place in the body has no member either. */
static struct evd_text below(const struct subject *subject, const char *member) {
    if (subject->pointer.size_bytes == 0) return EVD_TEXT("");
    return evd_text_print(subject->errors->arena, EVD_TEXT_FMT "%s", EVD_TEXT_ARG(subject->pointer), member);
}

static void note(const struct subject *subject, const char *member, enum evd_error_code code, const char *rule,
                 struct evd_text expected, struct evd_text found) {
    struct evd_finding finding = evd_finding_about(subject->answer, code, rule);
    finding.expected = expected;
    finding.found = found;
    evd_finding_note(&finding, below(subject, member), subject->errors);
}

static const struct evd_question *question_of(const struct subject *subject) {
    return &subject->definition->index.questions[subject->at];
}

static enum evd_question_kind kind_of(const struct subject *subject) {
    return (enum evd_question_kind)question_of(subject)->kind.value;
}

static struct evd_text kind_text(const struct subject *subject) {
    return evd_name_text(&evd_names_question_kind, question_of(subject)->kind);
}

static const struct evd_text nothing = {NULL, 0};

/* How answers to a kind are given; EVD_ANSWER_NONE for kinds that cannot be answered yet. */
static enum evd_answer_kind form_of(enum evd_question_kind kind) {
    switch (kind) {
    case EVD_QUESTION_TEXT:
    case EVD_QUESTION_DECIMAL:
    case EVD_QUESTION_CHOICE:
    case EVD_QUESTION_DATE: return EVD_ANSWER_TEXT;
    case EVD_QUESTION_INTEGER: return EVD_ANSWER_INTEGER;
    case EVD_QUESTION_BOOLEAN: return EVD_ANSWER_BOOLEAN;
    case EVD_QUESTION_MULTICHOICE: return EVD_ANSWER_TEXTS;
    case EVD_QUESTION_UNIT:
    case EVD_QUESTION_REFERENCE:
    case EVD_QUESTION_SERIES:
    case EVD_NONE_OF_question_kind:
    case EVD_END_OF_question_kind: return EVD_ANSWER_NONE;
    }
    return EVD_ANSWER_NONE;
}

static struct evd_text form_text(enum evd_answer_kind form) {
    switch (form) {
    case EVD_ANSWER_NONE: return EVD_TEXT("nothing");
    case EVD_ANSWER_TEXT: return EVD_TEXT("text");
    case EVD_ANSWER_INTEGER: return EVD_TEXT("integer");
    case EVD_ANSWER_BOOLEAN: return EVD_TEXT("boolean");
    case EVD_ANSWER_TEXTS: return EVD_TEXT("list of texts");
    case EVD_ANSWER_POINTS: return EVD_TEXT("list of points");
    }
    return EVD_TEXT("");
}

static bool is_empty(const struct evd_answer_value *value) {
    return value->kind == EVD_ANSWER_NONE || (value->kind == EVD_ANSWER_TEXT && value->text.size_bytes == 0) ||
           (value->kind == EVD_ANSWER_TEXTS && value->texts.count == 0);
}

/* Can such an answer be given by now? */
static bool check_available(const struct subject *subject) {
    const struct evd_question *question = question_of(subject);
    size_t found_before = subject->errors->total;
    if (subject->answer->path_count > 0)
        note(subject, "/path", EVD_ERROR_NOT_YET_AVAILABLE, "path", nothing, nothing);
    else if (question->unit.bytes != NULL)
        note(subject, "/question", EVD_ERROR_NOT_YET_AVAILABLE, "unit", nothing, question->unit);
    else if (form_of(kind_of(subject)) == EVD_ANSWER_NONE)
        note(subject, "/question", EVD_ERROR_NOT_YET_AVAILABLE, "kind", nothing, kind_text(subject));
    else if (question->split)
        note(subject, "/question", EVD_ERROR_NOT_YET_AVAILABLE, "split", nothing, kind_text(subject));
    return subject->errors->total == found_before;
}

static void check_text(const struct subject *subject, struct evd_text text) {
    int64_t allowed = question_of(subject)->max_length;
    if (allowed == 0) allowed = EVD_LIMIT_TEXT_BYTES;
    uint64_t length = evd_text_length(text);
    if (length <= (uint64_t)allowed) return;
    note(subject, "/value", EVD_ERROR_TOO_LONG, "maxLength",
         evd_text_print(subject->errors->arena, "%" PRId64, allowed),
         evd_text_print(subject->errors->arena, "%" PRIu64, length));
}

static void check_integer(const struct subject *subject, int64_t integer) {
    if (integer >= -EVD_INTEGER_LARGEST && integer <= EVD_INTEGER_LARGEST) return;
    note(subject, "/value", EVD_ERROR_INTEGER_TOO_LARGE, "kind", nothing,
         evd_text_print(subject->errors->arena, "%" PRId64, integer));
}

static void check_option(const struct subject *subject, struct evd_text id) {
    if (evd_question_index_find_option(&subject->definition->index, subject->at, id) == EVD_NOT_THERE)
        note(subject, "/value", EVD_ERROR_UNKNOWN_OPTION, "options", nothing, id);
}

static void note_chosen(const struct subject *subject, size_t place, enum evd_error_code code, struct evd_text id) {
    struct evd_text member = evd_text_print(subject->errors->arena, "/value/%zu", place);
    note(subject, member.bytes, code, "options", nothing, id);
}

static void check_chosen(const struct subject *subject, const struct evd_texts *chosen) {
    enum { WORD_BITS = 64 };
    const struct evd_question_index *index = &subject->definition->index;
    uint64_t seen[EVD_LIMIT_OPTIONS / WORD_BITS + 1] = {0};
    for (size_t i = 0; i < chosen->count; i++) {
        uint32_t option = evd_question_index_find_option(index, subject->at, chosen->items[i]);
        if (option == EVD_NOT_THERE) {
            note_chosen(subject, i, EVD_ERROR_UNKNOWN_OPTION, chosen->items[i]);
            continue;
        }
        option -= index->first_option[subject->at];
        uint64_t bit = UINT64_C(1) << option % WORD_BITS;
        if (seen[option / WORD_BITS] & bit) note_chosen(subject, i, EVD_ERROR_REPEATED_OPTION, chosen->items[i]);
        seen[option / WORD_BITS] |= bit;
    }
}

static void check_value(const struct subject *subject, const struct evd_answer_value *value) {
    switch (kind_of(subject)) {
    case EVD_QUESTION_TEXT: check_text(subject, value->text); return;
    case EVD_QUESTION_INTEGER: check_integer(subject, value->integer); return;
    case EVD_QUESTION_BOOLEAN: return;
    case EVD_QUESTION_CHOICE: check_option(subject, value->text); return;
    case EVD_QUESTION_MULTICHOICE: check_chosen(subject, &value->texts); return;
    case EVD_QUESTION_DECIMAL:
        if (!evd_decimal_is_valid(value->text))
            note(subject, "/value", EVD_ERROR_NOT_A_DECIMAL, "kind", kind_text(subject), value->text);
        return;
    case EVD_QUESTION_DATE:
        if (!evd_bound_is_valid(EVD_QUESTION_DATE, value->text))
            note(subject, "/value", EVD_ERROR_NOT_A_DATE, "kind", kind_text(subject), value->text);
        return;
    case EVD_QUESTION_UNIT:
    case EVD_QUESTION_REFERENCE:
    case EVD_QUESTION_SERIES:
    case EVD_NONE_OF_question_kind:
    case EVD_END_OF_question_kind: return; /* not available: never comes here */
    }
}

void evd_answer_check(const struct evd_definition *definition, const struct evd_answer *answer, struct evd_text pointer,
                      struct evd_errors *errors) {
    assert(answer->value != NULL);
    const struct evd_answer_value *value = answer->value;
    struct subject subject = {.definition = definition,
                              .answer = answer,
                              .at = evd_question_index_find(&definition->index, answer->question),
                              .pointer = pointer,
                              .errors = errors};
    if (subject.at == EVD_NOT_THERE) {
        note(&subject, "/question", EVD_ERROR_UNKNOWN_QUESTION, "id", nothing, answer->question);
        return;
    }
    if (!check_available(&subject)) return;
    enum evd_answer_kind form = form_of(kind_of(&subject));
    if (is_empty(value))
        note(&subject, "/value", EVD_ERROR_EMPTY_ANSWER, "kind", kind_text(&subject), nothing);
    else if (value->kind != form)
        note(&subject, "/value", EVD_ERROR_WRONG_TYPE, "kind", form_text(form), form_text(value->kind));
    else
        check_value(&subject, value);
}
