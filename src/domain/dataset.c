#include "evidenced/domain/dataset.h"

#include "evidenced/base/arena.h"
#include "evidenced/domain/answer.h"

#include <assert.h>

enum { FIRST_QUESTIONS = 64 };

void evd_dataset_init(struct evd_dataset *dataset, struct evd_arena *arena) {
    *dataset = (struct evd_dataset){.arena = arena, .question_capacity = FIRST_QUESTIONS};
    dataset->questions = EVD_NEW_ARRAY(arena, struct evd_dataset_question, FIRST_QUESTIONS);
    dataset->by_id = EVD_NEW_ARRAY(arena, uint32_t, FIRST_QUESTIONS);
}

/* Where the id is in by_id, or would be. */
static size_t place_of(const struct evd_dataset *dataset, struct evd_text id, bool *ret_found) {
    size_t first = 0, end = dataset->question_count;
    *ret_found = false;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = evd_text_compare(dataset->questions[dataset->by_id[middle]].id, id);
        if (order == 0) {
            *ret_found = true;
            return middle;
        }
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static struct evd_dataset_question *find(const struct evd_dataset *dataset, struct evd_text id) {
    bool found;
    size_t place = place_of(dataset, id, &found);
    return found ? &dataset->questions[dataset->by_id[place]] : NULL;
}

const struct evd_dataset_question *evd_dataset_question(const struct evd_dataset *dataset, struct evd_text id) {
    return find(dataset, id);
}

static void grow(struct evd_dataset *dataset) {
    size_t capacity = dataset->question_capacity * 2;
    struct evd_dataset_question *questions = EVD_NEW_ARRAY(dataset->arena, struct evd_dataset_question, capacity);
    uint32_t *by_id = EVD_NEW_ARRAY(dataset->arena, uint32_t, capacity);
    memcpy(questions, dataset->questions, dataset->question_count * sizeof *questions);
    memcpy(by_id, dataset->by_id, dataset->question_count * sizeof *by_id);
    dataset->questions = questions;
    dataset->by_id = by_id;
    dataset->question_capacity = capacity;
}

static struct evd_dataset_question *insert(struct evd_dataset *dataset, const struct evd_question *from) {
    bool found;
    if (dataset->question_count == dataset->question_capacity) grow(dataset);
    size_t place = place_of(dataset, from->id, &found), number = dataset->question_count++;
    assert(!found);
    memmove(dataset->by_id + place + 1, dataset->by_id + place, (number - place) * sizeof *dataset->by_id);
    dataset->by_id[place] = (uint32_t)number;
    dataset->questions[number] = (struct evd_dataset_question){.id = evd_text_copy(dataset->arena, from->id),
                                                               .label = evd_text_copy(dataset->arena, from->label),
                                                               .kind = (enum evd_question_kind)from->kind.value,
                                                               .split = from->split};
    return &dataset->questions[number];
}

enum { NO_OPTION = UINT32_MAX };

static uint32_t option_number(const struct evd_dataset_question *question, struct evd_text id) {
    for (size_t i = 0; i < question->option_count; i++)
        if (evd_text_equal(question->options[i].id, id)) return (uint32_t)i;
    return NO_OPTION;
}

/* The options that are not there yet, behind those that are. */
static void add_options(struct evd_dataset *dataset, struct evd_dataset_question *question,
                        const struct evd_question *from) {
    size_t count = question->option_count, more = 0;
    for (size_t i = 0; i < from->options.count; i++)
        more += option_number(question, from->options.items[i].id) == NO_OPTION;
    if (more == 0) return;
    struct evd_dataset_option *options = EVD_NEW_ARRAY(dataset->arena, struct evd_dataset_option, count + more);
    if (count > 0) memcpy(options, question->options, count * sizeof *options);
    for (size_t i = 0; i < from->options.count; i++) {
        const struct evd_question_option *option = &from->options.items[i];
        if (option_number(question, option->id) == NO_OPTION)
            options[count++] = (struct evd_dataset_option){.id = evd_text_copy(dataset->arena, option->id),
                                                           .label = evd_text_copy(dataset->arena, option->label)};
    }
    question->options = options;
    question->option_count = count;
}

static bool number_columns(struct evd_dataset *dataset) {
    size_t column = 0;
    for (size_t i = 0; i < dataset->question_count; i++) {
        struct evd_dataset_question *question = &dataset->questions[i];
        question->column = column++;
        if (evd_dataset_has_option_columns(question)) column += question->option_count;
    }
    dataset->column_count = column;
    return column <= EVD_LIMIT_EXPORT_COLUMNS;
}

bool evd_dataset_add(struct evd_dataset *dataset, const struct evd_form_version *version) {
    for (size_t i = 0; i < version->questions.count; i++) {
        const struct evd_question *from = &version->questions.items[i];
        struct evd_dataset_question *question = find(dataset, from->id);
        if (question == NULL) question = insert(dataset, from);
        add_options(dataset, question, from);
    }
    return number_columns(dataset);
}

struct evd_text evd_dataset_column_name(const struct evd_dataset_question *question,
                                        const struct evd_dataset_option *option, struct evd_arena *arena) {
    if (option == NULL) return question->id;
    return evd_text_print(arena, EVD_TEXT_FMT "[" EVD_TEXT_FMT "]", EVD_TEXT_ARG(question->id),
                          EVD_TEXT_ARG(option->id));
}

/* Rows. */

/* A split option's own answer: its path ends in the option. */
static bool chooses_option(const struct evd_dataset_question *question, const struct evd_annotation_revision *answer) {
    return question->kind == EVD_QUESTION_MULTICHOICE &&
           evd_answer_is_element(question->id, answer->path.items, answer->path.count);
}

/* A step's place among its siblings: the question's, then the option's; instances go by their ids. */
static bool order_step(const struct evd_dataset *dataset, const struct evd_path_step *step, uint32_t ret_order[2]) {
    const struct evd_dataset_question *question = find(dataset, step->question);
    if (question == NULL) return false;
    ret_order[0] = (uint32_t)(question - dataset->questions);
    ret_order[1] = question->kind == EVD_QUESTION_MULTICHOICE ? option_number(question, step->element) : NO_OPTION;
    return true;
}

static bool place(const struct evd_dataset *dataset, const struct evd_annotation_revision *revision,
                  struct evd_arena *arena, struct evd_dataset_answer *ret_answer) {
    const struct evd_dataset_question *question = find(dataset, revision->question);
    if (question == NULL) return false;
    uint32_t *order = EVD_NEW_ARRAY(arena, uint32_t, 2 * revision->path.count);
    for (size_t i = 0; i < revision->path.count; i++)
        if (!order_step(dataset, &revision->path.items[i], &order[2 * i])) return false;
    *ret_answer = (struct evd_dataset_answer){
        .revision = revision, .question = question, .order = order, .depth = revision->path.count};
    if (chooses_option(question, revision)) {
        ret_answer->depth--;
        ret_answer->option = order[2 * ret_answer->depth + 1];
    }
    return true;
}

static int compare_numbers(size_t a, size_t b) {
    return (a > b) - (a < b);
}

/* By row: what is above comes first. */
static int compare_rows(const struct evd_dataset_answer *a, const struct evd_dataset_answer *b) {
    for (size_t i = 0; i < a->depth && i < b->depth; i++) {
        int order = compare_numbers(a->order[2 * i], b->order[2 * i]);
        if (order == 0) order = compare_numbers(a->order[2 * i + 1], b->order[2 * i + 1]);
        if (order == 0)
            order = evd_text_compare(a->revision->path.items[i].element, b->revision->path.items[i].element);
        if (order != 0) return order;
    }
    return compare_numbers(a->depth, b->depth);
}

static int compare_answers(const void *left, const void *right) {
    const struct evd_dataset_answer *a = left, *b = right;
    int order = compare_rows(a, b);
    if (order == 0) order = compare_numbers(a->question->column, b->question->column);
    return order != 0 ? order : compare_numbers(a->option, b->option);
}

/* An instance's name stands in its own row; an option's label in the form. */
static struct evd_text name_of(const struct evd_dataset *dataset, const struct evd_dataset_row *row) {
    static const struct evd_text nothing;
    if (row->depth == 0) return nothing;
    const struct evd_path_step *last = &row->path[row->depth - 1];
    for (size_t i = 0; i < row->answer_count; i++)
        if (evd_text_equal(row->answers[i].question->id, last->question)) return row->answers[i].revision->value.text;
    const struct evd_dataset_question *question = find(dataset, last->question);
    assert(question != NULL); /* the row was placed under it */
    uint32_t option = option_number(question, last->element);
    if (option == NO_OPTION) return nothing;
    return question->options[option].label;
}

static void cut_rows(const struct evd_dataset *dataset, struct evd_arena *arena, struct evd_dataset_session *session) {
    session->rows = EVD_NEW_ARRAY(arena, struct evd_dataset_row, session->answer_count + 1);
    session->row_count = 1; /* the study's own, even if all there is stands under elements */
    session->rows[0].answers = session->answers;
    for (size_t i = 0; i < session->answer_count; i++) {
        const struct evd_dataset_answer *answer = &session->answers[i];
        bool begins = i == 0 ? answer->depth > 0 : compare_rows(answer - 1, answer) != 0;
        if (begins)
            session->rows[session->row_count++] =
                (struct evd_dataset_row){.path = answer->revision->path.items, .depth = answer->depth};
        struct evd_dataset_row *row = &session->rows[session->row_count - 1];
        if (row->answer_count++ == 0) row->answers = answer;
    }
    for (size_t i = 0; i < session->row_count; i++)
        session->rows[i].name = name_of(dataset, &session->rows[i]);
}

bool evd_dataset_arrange(const struct evd_dataset *dataset, const struct evd_annotation_revision *const *revisions,
                         size_t count, struct evd_arena *arena, struct evd_dataset_session *ret_session) {
    struct evd_dataset_session session = {.answer_count = count};
    session.answers = EVD_NEW_ARRAY(arena, struct evd_dataset_answer, count);
    for (size_t i = 0; i < count; i++)
        if (!place(dataset, revisions[i], arena, &session.answers[i])) return false;
    if (count > 1) qsort(session.answers, count, sizeof *session.answers, compare_answers);
    cut_rows(dataset, arena, &session);
    *ret_session = session;
    return true;
}
