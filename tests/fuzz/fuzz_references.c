/*
 * Any bytes as a file of references: read to its end or refused with a place and a sentence, twice the same, in memory
 * that is bounded; and what was read, written as CSV and read again, is what was read.
 *
 * Input: the options, one byte (below), then the file.
 */
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/tables/csv_write.h"
#include "evidenced/tables/references.h"

#include "expect.h"

enum { OUT_BYTES = 64 << 20 };

static const struct evd_text labels[] = {EVD_TEXT_INIT("x"), EVD_TEXT_INIT("KW"), EVD_TEXT_INIT("title")};

/* Bits 0-1: format · 2-3: delimiter · 4: labels · 5: customId by name · 6: small bounds. */
static struct evd_reference_options options_of(uint8_t byte) {
    static const enum evd_reference_format formats[] = {EVD_REFERENCE_CSV, EVD_REFERENCE_TSV, EVD_REFERENCE_RIS,
                                                        EVD_REFERENCE_CSV};
    static const char delimiters[] = {0, ',', ';', '\t'};
    struct evd_reference_options options = {.format = formats[byte & 3], .delimiter = delimiters[(byte >> 2) & 3]};
    options.labels = labels;
    options.label_count = byte & 16 ? sizeof labels / sizeof *labels : 0;
    if (byte & 32) options.custom_id = EVD_TEXT("ID");
    if (byte & 64)
        options.limits = (struct evd_reference_limits){.bytes = 4096, .rows = 4, .columns = 4, .cell_bytes = 16};
    return options;
}

static void expect_text(struct evd_text text) {
    EXPECT(text.bytes == NULL || (text.size_bytes > 0 && evd_text_is_utf8(text)));
    EXPECT(text.bytes == NULL || evd_text_trim(text).size_bytes == text.size_bytes);
    EXPECT(text.bytes == NULL || memchr(text.bytes, '\0', text.size_bytes) == NULL);
}

static void expect_refusal(const struct evd_table_refusal *refusal) {
    EXPECT(refusal->code < EVD_ERROR_CODE_COUNT && refusal->row >= 0);
    EXPECT(refusal->message.size_bytes > 0 && evd_text_is_utf8(refusal->message));
    EXPECT(refusal->name.bytes == NULL || evd_text_is_utf8(refusal->name));
    EXPECT((refusal->code == EVD_ERROR_AMBIGUOUS_DELIMITER) == (refusal->candidates.size_bytes >= 2));
    EXPECT((refusal->code == EVD_ERROR_SAME_FIELD_TWICE) == (refusal->other.bytes != NULL));
}

/* The texts of a study in the order of study_row, the year left out. */
enum { TEXTS = 10 };
static const char *const names[TEXTS + 1] = {"title", "abstract",   "authors", "journal",         "customId", "doi",
                                             "pmid",  "openAlexId", "url",     "pdfRelativePath", "year"};

static void texts_of(const struct evd_study_row *study, struct evd_text *ret_texts) {
    const struct evd_text texts[TEXTS] = {
        study->title, study->abstract, study->authors,      study->journal, study->custom_id,
        study->doi,   study->pmid,     study->open_alex_id, study->url,     study->pdf_relative_path};
    memcpy(ret_texts, texts, sizeof texts);
}

static void write_study(struct evd_csv_writer *writer, const struct evd_study_row *study) {
    struct evd_text texts[TEXTS];
    char year[24];
    texts_of(study, texts);
    (void)snprintf(year, sizeof year, "%lld", (long long)study->year);
    for (size_t i = 0; i < TEXTS; i++)
        evd_csv_write_cell(writer, texts[i]);
    evd_csv_write_cell(writer, evd_text_from(year));
    evd_csv_write_end(writer);
}

/* What one reading came to. */
struct reading {
    struct evd_arena reader, rows;
    struct evd_csv_writer *writer; /* gets the studies read; may be NULL */
    size_t read, told;
    bool refused;
    struct evd_table_refusal refusal;
};

static void take_row(struct reading *reading, const struct evd_reference_options *options,
                     const struct evd_reference_row *row, int64_t before) {
    struct evd_text texts[TEXTS];
    EXPECT(row->number > before && row->last_number >= row->number);
    reading->told++;
    if (row->result == EVD_REFERENCE_EMPTY) return;
    texts_of(&row->study, texts);
    for (size_t i = 0; i < TEXTS; i++)
        expect_text(texts[i]);
    EXPECT(row->study.year >= 0 && row->study.year <= 9999);
    EXPECT(row->label_count <= options->label_count);
    for (size_t i = 0; i < row->label_count; i++)
        EXPECT(row->labels[i].value.size_bytes > 0 && row->labels[i].value.size_bytes <= EVD_LIMIT_NAME_BYTES);
    if (row->result == EVD_REFERENCE_REFUSED) {
        expect_refusal(&row->refusal);
        EXPECT(row->refusal.row == row->number);
        return;
    }
    reading->read++;
    if (reading->writer != NULL) write_study(reading->writer, &row->study);
}

/* An arena that ends has no escape here: passing a bound aborts. */
static void read_all(struct reading *reading, struct evd_text content, const struct evd_reference_options *options) {
    struct evd_references *references;
    struct evd_reference_row row;
    enum evd_references_next next;
    int64_t before = 0;
    evd_arena_init(&reading->reader, EVD_LIMIT_IMPORT_READER_BYTES);
    evd_arena_init(&reading->rows, EVD_LIMIT_IMPORT_ROW_BYTES);
    reading->refused =
        !evd_references_open(content, options, &reading->reader, &reading->rows, &references, &reading->refusal);
    if (!reading->refused) {
        while ((next = evd_references_next(references, &row, &reading->refusal)) == EVD_REFERENCES_ROW) {
            take_row(reading, options, &row, before);
            before = row.last_number;
            EXPECT(evd_references_offset(references) <= content.size_bytes);
        }
        reading->refused = next == EVD_REFERENCES_REFUSED;
    }
    if (reading->refused) expect_refusal(&reading->refusal);
}

static void reading_done(struct reading *reading) {
    evd_arena_done(&reading->reader);
    evd_arena_done(&reading->rows);
}

static void begin_table(struct evd_csv_writer *writer, struct evd_buffer *out, struct evd_arena *arena) {
    evd_buffer_init(out, arena, 1024);
    evd_csv_writer_init(writer, out, false);
    for (size_t i = 0; i <= TEXTS; i++)
        evd_csv_write_cell(writer, evd_text_from(names[i]));
    evd_csv_write_end(writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct evd_reference_options plain = {.format = EVD_REFERENCE_CSV};
    struct evd_arena arena;
    struct evd_buffer first_out, second_out;
    struct evd_csv_writer first_writer, second_writer;
    if (size == 0) return 0;
    const struct evd_reference_options options = options_of(data[0]);
    const struct evd_text content = {(const char *)data + 1, size - 1};
    evd_arena_init(&arena, OUT_BYTES);
    begin_table(&first_writer, &first_out, &arena);
    begin_table(&second_writer, &second_out, &arena);

    struct reading first = {.writer = &first_writer}, second = {0}, third = {.writer = &second_writer};
    read_all(&first, content, &options);
    read_all(&second, content, &options);
    EXPECT(first.read == second.read && first.told == second.told && first.refused == second.refused);
    EXPECT(!first.refused || first.refusal.code == second.refusal.code);

    read_all(&third, evd_buffer_text(&first_out), &plain);
    EXPECT(!third.refused && third.read == first.read && third.told == first.read);
    EXPECT(evd_text_equal(evd_buffer_text(&first_out), evd_buffer_text(&second_out)));
    reading_done(&first);
    reading_done(&second);
    reading_done(&third);
    evd_arena_done(&arena);
    return 0;
}
