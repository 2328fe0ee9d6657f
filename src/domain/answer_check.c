/*
 * What an answer may say: its value against its question.
 */
#include "domain/answer_bound.h"
#include "domain/answer_private.h"

#include <assert.h>
#include <inttypes.h>

static const struct evd_text nothing = {NULL, 0};

static void note(const struct evd_answer_subject *subject, enum evd_error_code code, const char *rule,
                 struct evd_text expected, struct evd_text found) {
    struct evd_text pointer = evd_answer_pointer(subject->answer, subject->errors->arena, "/value");
    evd_answer_note(subject->answer, pointer, code, rule, expected, found, subject->errors);
}

static struct evd_text kind_text(const struct evd_answer_subject *subject) {
    return evd_name_text(&evd_names_question_kind, evd_answer_question(subject)->kind);
}

/* How answers to a question are given; EVD_ANSWER_NONE for kinds of a newer version. */
static enum evd_answer_kind form_of(const struct evd_answer_subject *subject) {
    switch (evd_answer_question_kind(subject)) {
    case EVD_QUESTION_TEXT:
    case EVD_QUESTION_DECIMAL:
    case EVD_QUESTION_CHOICE:
    case EVD_QUESTION_DATE:
    case EVD_QUESTION_UNIT: return EVD_ANSWER_TEXT;
    case EVD_QUESTION_INTEGER: return EVD_ANSWER_INTEGER;
    case EVD_QUESTION_BOOLEAN: return EVD_ANSWER_BOOLEAN;
    case EVD_QUESTION_MULTICHOICE: return evd_answer_question(subject)->split ? EVD_ANSWER_BOOLEAN : EVD_ANSWER_TEXTS;
    case EVD_QUESTION_REFERENCE: return EVD_ANSWER_TEXTS;
    case EVD_QUESTION_SERIES: return EVD_ANSWER_POINTS;
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
    switch (value->kind) {
    case EVD_ANSWER_NONE: return true;
    case EVD_ANSWER_TEXT: return value->text.size_bytes == 0;
    case EVD_ANSWER_INTEGER:
    case EVD_ANSWER_BOOLEAN: return false;
    case EVD_ANSWER_TEXTS: return value->texts.count == 0;
    case EVD_ANSWER_POINTS: return value->points.count == 0;
    }
    return true;
}

static void check_text(const struct evd_answer_subject *subject, struct evd_text text) {
    struct evd_arena *arena = subject->errors->arena;
    int64_t allowed = evd_answer_question(subject)->max_length;
    if (allowed == 0) allowed = EVD_LIMIT_TEXT_BYTES;
    uint64_t length = evd_text_length(text);
    if (length <= (uint64_t)allowed) return;
    note(subject, EVD_ERROR_TOO_LONG, "maxLength", evd_text_print(arena, "%" PRId64, allowed),
         evd_text_print(arena, "%" PRIu64, length));
}

static void check_integer(const struct evd_answer_subject *subject, int64_t integer) {
    if (integer >= -EVD_INTEGER_LARGEST && integer <= EVD_INTEGER_LARGEST) return;
    note(subject, EVD_ERROR_INTEGER_TOO_LARGE, "kind", nothing,
         evd_text_print(subject->errors->arena, "%" PRId64, integer));
}

static void check_option(const struct evd_answer_subject *subject, struct evd_text id) {
    if (evd_question_index_find_option(&subject->definition->index, subject->at, id) == EVD_NOT_THERE)
        note(subject, EVD_ERROR_UNKNOWN_OPTION, "options", nothing, id);
}

static void check_decimal(const struct evd_answer_subject *subject, struct evd_text text) {
    if (!evd_decimal_is_valid(text)) note(subject, EVD_ERROR_NOT_A_DECIMAL, "kind", kind_text(subject), text);
}

static void check_date(const struct evd_answer_subject *subject, struct evd_text text) {
    if (!evd_bound_is_valid(EVD_QUESTION_DATE, text))
        note(subject, EVD_ERROR_NOT_A_DATE, "kind", kind_text(subject), text);
}

/* An option of a split question is chosen by being there. */
static void check_chosen(const struct evd_answer_subject *subject, bool chosen) {
    if (!chosen) note(subject, EVD_ERROR_EMPTY_ANSWER, "split", EVD_TEXT("true"), EVD_TEXT("false"));
}

static void check_content(const struct evd_answer_subject *subject, const struct evd_answer_value *value) {
    switch (evd_answer_question_kind(subject)) {
    case EVD_QUESTION_TEXT:
    case EVD_QUESTION_UNIT: check_text(subject, value->text); return;
    case EVD_QUESTION_INTEGER: check_integer(subject, value->integer); return;
    case EVD_QUESTION_CHOICE: check_option(subject, value->text); return;
    case EVD_QUESTION_DECIMAL: check_decimal(subject, value->text); return;
    case EVD_QUESTION_DATE: check_date(subject, value->text); return;
    case EVD_QUESTION_MULTICHOICE:
        if (value->kind == EVD_ANSWER_BOOLEAN) {
            check_chosen(subject, value->boolean);
            return;
        }
        __attribute__((fallthrough));
    case EVD_QUESTION_REFERENCE:
    case EVD_QUESTION_SERIES: evd_answer_check_list(subject); return;
    case EVD_QUESTION_BOOLEAN:
    case EVD_NONE_OF_question_kind:
    case EVD_END_OF_question_kind: return;
    }
}

void evd_answer_check_value(const struct evd_answer_subject *subject) {
    const struct evd_answer_value *value = subject->answer->value;
    enum evd_answer_kind form = form_of(subject);
    assert(value != NULL);
    if (is_empty(value))
        note(subject, EVD_ERROR_EMPTY_ANSWER, "kind", kind_text(subject), nothing);
    else if (value->kind != form)
        note(subject, EVD_ERROR_WRONG_TYPE, "kind", form_text(form), form_text(value->kind));
    else
        check_content(subject, value);
}
