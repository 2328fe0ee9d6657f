#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/domain/dataset.h"

#include <inttypes.h>

static const struct evd_text nothing;

static struct evd_text joined(const struct evd_texts *texts, struct evd_arena *arena) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 64);
    for (size_t i = 0; i < texts->count; i++) {
        if (i > 0) evd_buffer_add_byte(&out, ';');
        evd_buffer_add_text(&out, texts->items[i]);
    }
    return evd_buffer_text(&out);
}

static struct evd_text points(const struct evd_answer_points *points, struct evd_arena *arena) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 32 * (points->count + 1));
    for (size_t i = 0; i < points->count; i++) {
        const struct evd_answer_point *point = &points->items[i];
        evd_buffer_print(&out, "%s" EVD_TEXT_FMT " " EVD_TEXT_FMT, i == 0 ? "" : ";", EVD_TEXT_ARG(point->time),
                         EVD_TEXT_ARG(point->average));
        if (point->error.size_bytes > 0) evd_buffer_print(&out, " " EVD_TEXT_FMT, EVD_TEXT_ARG(point->error));
    }
    return evd_buffer_text(&out);
}

struct evd_text evd_dataset_value_text(const struct evd_answer_value *value, struct evd_arena *arena) {
    switch (value->kind) {
    case EVD_ANSWER_NONE: return nothing;
    case EVD_ANSWER_TEXT: return value->text;
    case EVD_ANSWER_INTEGER: return evd_text_print(arena, "%" PRId64, value->integer);
    case EVD_ANSWER_BOOLEAN: return value->boolean ? EVD_TEXT("true") : EVD_TEXT("false");
    case EVD_ANSWER_TEXTS: return joined(&value->texts, arena);
    case EVD_ANSWER_POINTS: return points(&value->points, arena);
    }
    return nothing;
}

/* A multichoice: its own cell lists what is chosen, in the options' order; each option's says whether it is. */
static void options(const struct evd_dataset_question *question, const bool *chosen, struct evd_text *cells,
                    struct evd_arena *arena) {
    struct evd_buffer list;
    evd_buffer_init(&list, arena, 64);
    for (size_t i = 0; i < question->option_count; i++) {
        cells[question->column + 1 + i] = chosen[i] ? EVD_TEXT("1") : EVD_TEXT("0");
        if (!chosen[i]) continue;
        if (list.size_bytes > 0) evd_buffer_add_byte(&list, ';');
        evd_buffer_add_text(&list, question->options[i].id);
    }
    cells[question->column] = evd_buffer_text(&list);
}

static void choose(const struct evd_dataset_question *question, const struct evd_texts *texts, bool *chosen) {
    for (size_t t = 0; t < texts->count; t++)
        for (size_t i = 0; i < question->option_count; i++)
            if (evd_text_equal(question->options[i].id, texts->items[t])) chosen[i] = true;
}

/* One question's answers in the row: several of a split one, one a chosen option; otherwise one. */
static void question_cells(const struct evd_dataset_answer *answers, size_t count, struct evd_text *cells,
                           struct evd_arena *arena) {
    const struct evd_dataset_question *question = answers->question;
    const struct evd_answer_value *value = &answers->revision->value;
    bool is_split = value->kind == EVD_ANSWER_BOOLEAN;
    if (!evd_dataset_has_option_columns(question) || (!is_split && value->kind != EVD_ANSWER_TEXTS)) {
        cells[question->column] = evd_dataset_value_text(value, arena);
        return;
    }
    bool *chosen = EVD_NEW_ARRAY(arena, bool, question->option_count);
    if (!is_split) choose(question, &value->texts, chosen);
    for (size_t i = 0; is_split && i < count; i++)
        if (answers[i].option < question->option_count) chosen[answers[i].option] = answers[i].revision->value.boolean;
    options(question, chosen, cells, arena);
}

void evd_dataset_cells(const struct evd_dataset *dataset, const struct evd_dataset_row *row, struct evd_text *cells,
                       struct evd_arena *arena) {
    memset(cells, 0, dataset->column_count * sizeof *cells);
    for (size_t first = 0, next; first < row->answer_count; first = next) {
        for (next = first + 1; next < row->answer_count; next++)
            if (row->answers[next].question != row->answers[first].question) break;
        question_cells(&row->answers[first], next - first, cells, arena);
    }
}

struct evd_text evd_dataset_notes(const struct evd_dataset_row *row, struct evd_arena *arena) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 16);
    for (size_t i = 0; i < row->answer_count; i++) {
        const struct evd_dataset_answer *answer = &row->answers[i];
        if (answer->revision->notes.size_bytes == 0) continue;
        if (out.size_bytes > 0) evd_buffer_add_byte(&out, '\n');
        evd_buffer_add_text(&out, answer->question->id);
        if (answer->depth < answer->revision->path.count) { /* a split option's own */
            evd_buffer_add_byte(&out, '[');
            evd_buffer_add_text(&out, answer->revision->path.items[answer->depth].element);
            evd_buffer_add_byte(&out, ']');
        }
        evd_buffer_add_text(&out, EVD_TEXT(": "));
        evd_buffer_add_text(&out, answer->revision->notes);
    }
    return evd_buffer_text(&out);
}

struct evd_text evd_dataset_path_text(const struct evd_path_step *path, size_t count, struct evd_arena *arena) {
    struct evd_buffer out;
    if (count == 0) return nothing;
    evd_buffer_init(&out, arena, 64);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) evd_buffer_add_byte(&out, '/');
        evd_buffer_add_text(&out, path[i].question);
        evd_buffer_add_byte(&out, '=');
        evd_buffer_add_text(&out, path[i].element);
    }
    return evd_buffer_text(&out);
}
