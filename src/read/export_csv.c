/*
 * Exports as tables: answers.csv, a row for the study and each element; series.csv, a row for each point.
 */
#include "evidenced/tables/csv_write.h"
#include "read/export.h"

#include <inttypes.h>

/* Names with a slash: no question is called that. */
static const char *const fixed[] = {"study/id",         "study/customId",    "study/doi",           "study/pmid",
                                    "study/openAlexId", "study/title",       "study/authors",       "study/year",
                                    "reviewer/id",      "session/versionId", "session/formVersion", "element/path",
                                    "element/parent",   "element/question",  "element/id",          "element/name"};

static struct evd_csv_writer writer_on(const struct evd_export *export, struct evd_buffer *out) {
    struct evd_csv_writer writer;
    evd_csv_writer_init(&writer, out, export->spreadsheet_safe);
    return writer;
}

static void write_fixed_names(struct evd_csv_writer *writer) {
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        evd_csv_write_cell(writer, evd_text_from(fixed[i]));
}

static void write_uuid(struct evd_csv_writer *writer, evd_uuid id) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(id, text);
    evd_csv_write_cell(writer, evd_text_from(text));
}

/* 0 is none. */
static void write_number(struct evd_csv_writer *writer, int64_t number) {
    struct evd_text text = {0};
    if (number != 0) text = evd_text_print(writer->buffer->arena, "%" PRId64, number);
    evd_csv_write_cell(writer, text);
}

static void write_study(struct evd_csv_writer *writer, const struct evd_study *study) {
    write_uuid(writer, study->base.id);
    evd_csv_write_cell(writer, study->custom_id);
    evd_csv_write_cell(writer, study->doi);
    evd_csv_write_cell(writer, study->pmid);
    evd_csv_write_cell(writer, study->open_alex_id);
    evd_csv_write_cell(writer, study->title);
    evd_csv_write_cell(writer, study->authors);
    write_number(writer, study->year);
}

/* What `fixed` names. */
static void write_place(struct evd_csv_writer *writer, const struct evd_export_entry *entry,
                        const struct evd_dataset_row *row) {
    static const struct evd_path_step none;
    struct evd_arena *arena = writer->buffer->arena;
    const struct evd_path_step *last = row->depth == 0 ? &none : &row->path[row->depth - 1];
    write_study(writer, entry->study);
    write_uuid(writer, entry->version->author);
    write_uuid(writer, entry->version->base.id);
    write_number(writer, entry->version->form_version_seq);
    evd_csv_write_cell(writer, evd_dataset_path_text(row->path, row->depth, arena));
    evd_csv_write_cell(writer, evd_dataset_path_text(row->path, row->depth == 0 ? 0 : row->depth - 1, arena));
    evd_csv_write_cell(writer, last->question);
    evd_csv_write_cell(writer, last->element);
    evd_csv_write_cell(writer, row->name);
}

/* answers.csv */

static void csv_head(const struct evd_export *export, struct evd_buffer *out) {
    struct evd_csv_writer writer = writer_on(export, out);
    write_fixed_names(&writer);
    for (size_t i = 0; i < export->dataset.question_count; i++) {
        const struct evd_dataset_question *question = &export->dataset.questions[i];
        evd_csv_write_cell(&writer, evd_dataset_column_name(question, NULL, out->arena));
        for (size_t o = 0; evd_dataset_has_option_columns(question) && o < question->option_count; o++)
            evd_csv_write_cell(&writer, evd_dataset_column_name(question, &question->options[o], out->arena));
    }
    evd_csv_write_cell(&writer, EVD_TEXT("answers/notes"));
    evd_csv_write_end(&writer);
}

static size_t csv_items(const struct evd_export_entry *entry) {
    return entry->answers.row_count;
}

static void csv_item(const struct evd_export *export, const struct evd_export_entry *entry, size_t at,
                     struct evd_buffer *out) {
    const struct evd_dataset_row *row = &entry->answers.rows[at];
    struct evd_csv_writer writer = writer_on(export, out);
    write_place(&writer, entry, row);
    evd_dataset_cells(&export->dataset, row, export->cells, out->arena);
    for (size_t i = 0; i < export->dataset.column_count; i++)
        evd_csv_write_cell(&writer, export->cells[i]);
    evd_csv_write_cell(&writer, evd_dataset_notes(row, out->arena));
    evd_csv_write_end(&writer);
}

const struct evd_export_format evd_export_csv = {
    .file = "answers.csv",
    .content_type = EVD_EXPORT_CSV_TYPE,
    .items_are_records = true,
    .head = csv_head,
    .items = csv_items,
    .item = csv_item,
};

/* series.csv */

static void series_head(const struct evd_export *export, struct evd_buffer *out) {
    static const char *const names[] = {"series/question", "series/time", "series/average", "series/error"};
    struct evd_csv_writer writer = writer_on(export, out);
    write_fixed_names(&writer);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        evd_csv_write_cell(&writer, evd_text_from(names[i]));
    evd_csv_write_end(&writer);
}

static const struct evd_answer_points *points_of(const struct evd_dataset_answer *answer) {
    static const struct evd_answer_points none;
    const struct evd_answer_value *value = &answer->revision->value;
    return value->kind == EVD_ANSWER_POINTS ? &value->points : &none;
}

static size_t series_items(const struct evd_export_entry *entry) {
    size_t count = 0;
    for (size_t i = 0; i < entry->answers.answer_count; i++)
        count += points_of(&entry->answers.answers[i])->count;
    return count;
}

static const struct evd_dataset_row *row_of(const struct evd_export_entry *entry,
                                            const struct evd_dataset_answer *answer) {
    const struct evd_dataset_row *row = entry->answers.rows;
    while (answer < row->answers || answer >= row->answers + row->answer_count)
        row++;
    return row;
}

static void series_item(const struct evd_export *export, const struct evd_export_entry *entry, size_t at,
                        struct evd_buffer *out) {
    const struct evd_dataset_answer *answer = entry->answers.answers;
    for (; at >= points_of(answer)->count; answer++)
        at -= points_of(answer)->count;
    const struct evd_answer_point *point = &points_of(answer)->items[at];
    struct evd_csv_writer writer = writer_on(export, out);
    write_place(&writer, entry, row_of(entry, answer));
    evd_csv_write_cell(&writer, answer->question->id);
    evd_csv_write_cell(&writer, point->time);
    evd_csv_write_cell(&writer, point->average);
    evd_csv_write_cell(&writer, point->error);
    evd_csv_write_end(&writer);
}

const struct evd_export_format evd_export_series = {
    .file = "series.csv",
    .content_type = EVD_EXPORT_CSV_TYPE,
    .items_are_records = true,
    .head = series_head,
    .items = series_items,
    .item = series_item,
};
