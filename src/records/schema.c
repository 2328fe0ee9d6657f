#include "evidenced/records/dictionary.h"

int evd_names_find(const struct evd_names *names, struct evd_text text) {
    for (size_t value = 1; value < names->count; value++)
        if (evd_text_equal(evd_text_from(names->names[value]), text)) return (int)value;
    return 0;
}

struct evd_text evd_name_text(const struct evd_names *names, struct evd_name name) {
    if (name.value > 0 && (size_t)name.value < names->count) return evd_text_from(names->names[name.value]);
    return name.text;
}

static bool texts_equal(const struct evd_texts *a, const struct evd_texts *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!evd_text_equal(a->items[i], b->items[i])) return false;
    return true;
}

/* An error that is absent and one without bytes are two things: what was not known is not known. */
static bool point_equal(const struct evd_answer_point *a, const struct evd_answer_point *b) {
    return evd_text_equal(a->time, b->time) && evd_text_equal(a->average, b->average) &&
           (a->error.bytes == NULL) == (b->error.bytes == NULL) && evd_text_equal(a->error, b->error);
}

static bool points_equal(const struct evd_answer_points *a, const struct evd_answer_points *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!point_equal(&a->items[i], &b->items[i])) return false;
    return true;
}

bool evd_answer_value_equal(const struct evd_answer_value *a, const struct evd_answer_value *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case EVD_ANSWER_NONE: return true;
    case EVD_ANSWER_TEXT: return evd_text_equal(a->text, b->text);
    case EVD_ANSWER_INTEGER: return a->integer == b->integer;
    case EVD_ANSWER_BOOLEAN: return a->boolean == b->boolean;
    case EVD_ANSWER_TEXTS: return texts_equal(&a->texts, &b->texts);
    case EVD_ANSWER_POINTS: return points_equal(&a->points, &b->points);
    }
    return false;
}
