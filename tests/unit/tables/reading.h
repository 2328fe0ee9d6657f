/*
 * A file read to its end, told as text: one line a row, so that a test is a table of two texts.
 *
 *   2 title=A study year=2019 label:notes=x      a row that was read: what it gives, and nothing it does not
 *   3 refused malformedIdentifier 4 doi          a row that was refused: code, column from 1 (0: none), its name
 *   4-6 empty                                    rows without text; RIS records have their last line in the same way
 *   refused ambiguousDelimiter 1 0 []            the file: code, row, column, name, then what else the refusal tells
 */
#ifndef TESTS_UNIT_TABLES_READING_H
#define TESTS_UNIT_TABLES_READING_H

#include "../../support/test.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/tables/references.h"

/* What a reading holds until it is done. */
struct reading {
    struct evd_arena reader, rows, told;
    struct evd_buffer out;
    size_t read, refused, empty; /* rows; runs of empty ones */
    bool file_refused;
    struct evd_table_refusal refusal; /* the file's */
    char delimiter;
};

static inline void tell_text(struct reading *reading, const char *name, struct evd_text text) {
    if (text.bytes == NULL) return;
    ck_assert_uint_gt(text.size_bytes, 0);
    ck_assert(evd_text_is_utf8(text));
    evd_buffer_print(&reading->out, " %s=", name);
    evd_buffer_add_text(&reading->out, text);
}

static inline void tell_study(struct reading *reading, const struct evd_reference_row *row) {
    const struct evd_study_row *study = &row->study;
    tell_text(reading, "title", study->title);
    tell_text(reading, "abstract", study->abstract);
    tell_text(reading, "authors", study->authors);
    if (study->year != 0) evd_buffer_print(&reading->out, " year=%lld", (long long)study->year);
    tell_text(reading, "journal", study->journal);
    tell_text(reading, "customId", study->custom_id);
    tell_text(reading, "doi", study->doi);
    tell_text(reading, "pmid", study->pmid);
    tell_text(reading, "openAlexId", study->open_alex_id);
    tell_text(reading, "url", study->url);
    tell_text(reading, "pdf", study->pdf_relative_path);
    for (size_t i = 0; i < row->label_count; i++) {
        evd_buffer_add_text(&reading->out, EVD_TEXT(" label:"));
        evd_buffer_add_text(&reading->out, row->labels[i].name);
        evd_buffer_add_text(&reading->out, EVD_TEXT("="));
        evd_buffer_add_text(&reading->out, row->labels[i].value);
    }
}

static inline void check_sentence(const struct evd_table_refusal *refusal) {
    ck_assert_uint_gt(refusal->message.size_bytes, 10);
    ck_assert(evd_text_is_utf8(refusal->message));
    ck_assert_uint_lt(refusal->message.size_bytes, 500);
}

static inline void tell_row(struct reading *reading, const struct evd_reference_row *row) {
    evd_buffer_print(&reading->out, "%lld", (long long)row->number);
    if (row->last_number != row->number) evd_buffer_print(&reading->out, "-%lld", (long long)row->last_number);
    switch (row->result) {
    case EVD_REFERENCE_READ:
        reading->read++;
        tell_study(reading, row);
        break;
    case EVD_REFERENCE_REFUSED:
        reading->refused++;
        check_sentence(&row->refusal);
        ck_assert_int_eq(row->refusal.row, row->number);
        evd_buffer_print(&reading->out, " refused %s %zu " EVD_TEXT_FMT, evd_error_code_name(row->refusal.code),
                         row->refusal.column, EVD_TEXT_ARG(row->refusal.name));
        break;
    case EVD_REFERENCE_EMPTY:
        reading->empty++;
        evd_buffer_add_text(&reading->out, EVD_TEXT(" empty"));
        break;
    }
    evd_buffer_add_byte(&reading->out, '\n');
}

static inline void tell_refusal(struct reading *reading) {
    const struct evd_table_refusal *refusal = &reading->refusal;
    reading->file_refused = true;
    check_sentence(refusal);
    evd_buffer_print(&reading->out, "refused %s %lld %zu " EVD_TEXT_FMT, evd_error_code_name(refusal->code),
                     (long long)refusal->row, refusal->column, EVD_TEXT_ARG(refusal->name));
    if (refusal->other.bytes != NULL)
        evd_buffer_print(&reading->out, " also " EVD_TEXT_FMT, EVD_TEXT_ARG(refusal->other));
    if (refusal->candidates.bytes != NULL)
        evd_buffer_print(&reading->out, "[" EVD_TEXT_FMT "]", EVD_TEXT_ARG(refusal->candidates));
    evd_buffer_add_byte(&reading->out, '\n');
}

static inline void reading_init(struct reading *reading) {
    *reading = (struct reading){0};
    evd_arena_init(&reading->reader, EVD_LIMIT_IMPORT_READER_BYTES);
    evd_arena_init(&reading->rows, EVD_LIMIT_IMPORT_ROW_BYTES);
    evd_arena_init(&reading->told, SIZE_MAX);
    evd_buffer_init(&reading->out, &reading->told, 256);
}

/** Read it all. The result is told in reading->out, terminated, until reading_done. */
static inline const char *reading_tell(struct reading *reading, struct evd_text content,
                                       const struct evd_reference_options *options) {
    struct evd_references *references;
    struct evd_reference_row row;
    enum evd_references_next next = EVD_REFERENCES_ROW;
    reading_init(reading);
    if (evd_references_open(content, options, &reading->reader, &reading->rows, &references, &reading->refusal)) {
        reading->delimiter = evd_references_delimiter(references);
        while ((next = evd_references_next(references, &row, &reading->refusal)) == EVD_REFERENCES_ROW) {
            tell_row(reading, &row);
            ck_assert_uint_le(evd_references_offset(references), content.size_bytes);
        }
        ck_assert_int_eq(evd_references_next(references, &row, &reading->refusal), next);
        if (next == EVD_REFERENCES_END) ck_assert_uint_eq(evd_references_offset(references), content.size_bytes);
    } else {
        next = EVD_REFERENCES_REFUSED;
    }
    if (next == EVD_REFERENCES_REFUSED) tell_refusal(reading);
    evd_buffer_add_byte(&reading->out, '\0');
    return (const char *)reading->out.bytes;
}

static inline void reading_done(struct reading *reading) {
    evd_arena_done(&reading->reader);
    evd_arena_done(&reading->rows);
    evd_arena_done(&reading->told);
}

/** It reads like this. */
static inline void expect_reading(struct evd_text content, const struct evd_reference_options *options,
                                  const char *expected) {
    struct reading reading;
    const char *told = reading_tell(&reading, content, options);
    ck_assert_msg(strcmp(told, expected) == 0, "of:\n" EVD_TEXT_FMT "\nread:\n%s\nexpected:\n%s", EVD_TEXT_ARG(content),
                  told, expected);
    reading_done(&reading);
}

#endif
