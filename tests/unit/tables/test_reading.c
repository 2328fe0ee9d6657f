/*
 * What holds for every file, tried on generated ones: how it is cut, ended, written or broken off changes nothing else.
 */
#include "reading.h"

#include "evidenced/tables/csv_write.h"

enum { ROUNDS = 300, MOST_ROWS = 12, MOST_COLUMNS = 6, MOST_CELL = 24 };

static const struct evd_reference_options csv = {.format = EVD_REFERENCE_CSV};

struct generator {
    uint64_t state;
    struct evd_arena arena;
};

static uint64_t below(struct generator *generator, uint64_t bound) {
    generator->state = generator->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (generator->state >> 33) % bound;
}

/* Text of everything that matters to a reader of CSV. */
static struct evd_text any_cell(struct generator *generator) {
    static const char *const parts[] = {
        "a",  "B",  "7",    "00", ",", ";", "\t",       "\"",           "\"\"",
        "\n", "\r", "\r\n", " ",  "=", "-", "\xC3\xA9", "\xE2\x80\x8B", "\xF0\x9F\x94\xAC",
        "'",  "\\"};
    struct evd_buffer out;
    evd_buffer_init(&out, &generator->arena, 64);
    for (size_t left = below(generator, MOST_CELL); left > 0; left--)
        evd_buffer_add_text(&out, evd_text_from(parts[below(generator, sizeof parts / sizeof *parts)]));
    return evd_buffer_text(&out);
}

struct grid {
    size_t rows, columns;
    struct evd_text cells[MOST_ROWS][MOST_COLUMNS];
};

/* The first column is the title and never blank, so that no row is empty or refused for want of one. */
static void any_grid(struct generator *generator, struct grid *grid) {
    grid->rows = 1 + below(generator, MOST_ROWS);
    grid->columns = 1 + below(generator, MOST_COLUMNS);
    for (size_t row = 0; row < grid->rows; row++) {
        for (size_t column = 0; column < grid->columns; column++) {
            grid->cells[row][column] = any_cell(generator);
            if (column > 0) continue;
            grid->cells[row][0] =
                evd_text_print(&generator->arena, "t" EVD_TEXT_FMT "t", EVD_TEXT_ARG(grid->cells[row][0]));
        }
    }
}

static const struct evd_text names[MOST_COLUMNS] = {EVD_TEXT_INIT("title"),   EVD_TEXT_INIT("abstract"),
                                                    EVD_TEXT_INIT("authors"), EVD_TEXT_INIT("journal"),
                                                    EVD_TEXT_INIT("url"),     EVD_TEXT_INIT("pdfRelativePath")};

static void write_row(struct evd_csv_writer *writer, const struct evd_text *cells, size_t count) {
    for (size_t i = 0; i < count; i++)
        evd_csv_write_cell(writer, cells[i]);
    evd_csv_write_end(writer);
}

/* Rows `from` to `to`, under the names. */
static struct evd_text written(struct generator *generator, const struct grid *grid, size_t from, size_t to) {
    struct evd_buffer *out = EVD_NEW(&generator->arena, struct evd_buffer);
    struct evd_csv_writer writer;
    evd_buffer_init(out, &generator->arena, 1024);
    evd_csv_writer_init(&writer, out, false);
    write_row(&writer, names, grid->columns);
    for (size_t row = from; row < to; row++)
        write_row(&writer, grid->cells[row], grid->columns);
    return evd_buffer_text(out);
}

static struct evd_text cell_of(const struct evd_study_row *study, size_t column) {
    const struct evd_text cells[MOST_COLUMNS] = {study->title,   study->abstract, study->authors,
                                                 study->journal, study->url,      study->pdf_relative_path};
    return cells[column];
}

/* Read on; every row must be the grid's next. Returns how many there were. */
static size_t expect_rows(struct evd_text content, const struct grid *grid, size_t first) {
    struct evd_arena reader, rows;
    struct evd_references *references;
    struct evd_reference_row row;
    struct evd_table_refusal refusal;
    size_t count = 0;
    evd_arena_init(&reader, EVD_LIMIT_IMPORT_READER_BYTES);
    evd_arena_init(&rows, EVD_LIMIT_IMPORT_ROW_BYTES);
    ck_assert(evd_references_open(content, &csv, &reader, &rows, &references, &refusal));
    while (evd_references_next(references, &row, &refusal) == EVD_REFERENCES_ROW) {
        ck_assert_int_eq(row.result, EVD_REFERENCE_READ);
        ck_assert_int_eq(row.number, (int64_t)count + 2);
        for (size_t column = 0; column < grid->columns; column++)
            ck_assert(evd_text_equal(cell_of(&row.study, column), evd_text_trim(grid->cells[first + count][column])));
        count++;
    }
    evd_arena_done(&reader);
    evd_arena_done(&rows);
    return count;
}

static void each_grid(void (*try)(struct generator *generator, const struct grid *grid)) {
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        struct generator generator = {.state = seed};
        struct grid grid;
        evd_arena_init(&generator.arena, SIZE_MAX);
        any_grid(&generator, &grid);
        try(&generator, &grid);
        evd_arena_done(&generator.arena);
    }
}

static void try_written(struct generator *generator, const struct grid *grid) {
    ck_assert_uint_eq(expect_rows(written(generator, grid, 0, grid->rows), grid, 0), grid->rows);
}

START_TEST(what_was_written_is_read_back_equal_but_for_white_space_at_its_ends) {
    each_grid(try_written);
}
END_TEST

static void try_split(struct generator *generator, const struct grid *grid) {
    size_t at = below(generator, grid->rows + 1);
    ck_assert_uint_eq(expect_rows(written(generator, grid, 0, at), grid, 0), at);
    ck_assert_uint_eq(expect_rows(written(generator, grid, at, grid->rows), grid, at), grid->rows - at);
}

START_TEST(a_file_split_between_any_rows_reads_as_the_whole) {
    each_grid(try_split);
}
END_TEST

static void try_without_end(struct generator *generator, const struct grid *grid) {
    struct evd_text content = written(generator, grid, 0, grid->rows);
    content.size_bytes -= 2;
    ck_assert_uint_eq(expect_rows(content, grid, 0), grid->rows);
}

START_TEST(the_last_end_of_a_line_changes_nothing) {
    each_grid(try_without_end);
}
END_TEST

static const char sample_csv[] =
    "\xEF\xBB\xBFtitle;\"authors\";year;doi\r\n\"A; \"\"x\"\"\r\ny\";Moe, A;2019;10.1/x\r\n\r\n"
    "B;;n.d.;\r\r;;;\nC;\xC3\xA9\xE2\x82\xAC;20l9\n";
static const char sample_ris[] =
    "x\nTY  - JOUR\r\nTI  - A\r\nAU  - Moe, A\nAU  - \xC3\xA9\nAB  - one\n  two\r\rN1  - x: y\n"
    "AN  - 12\nDB  - PubMed\nER  - \n\nDO  - 10.1/x\nTY  - JOUR\nTY  - JOUR\nDO  - 10.1/x\nER  -\n";

/* The content without its end, to the last byte: never anything but rows or a refusal, and rows as in the whole. */
static void expect_every_prefix(const char *content, const struct evd_reference_options *options) {
    struct reading whole;
    const char *told = reading_tell(&whole, evd_text_from(content), options);
    for (size_t size = 0; size < strlen(content); size++) {
        struct reading part;
        char *exact = malloc(size + (size == 0)); /* of its very size, so that a byte read behind it is seen */
        memcpy(exact, content, size);
        const char *part_told = reading_tell(&part, (struct evd_text){exact, size}, options);
        /* All rows but the last two lines told are those of the whole. */
        const char *end = strrchr(part_told, '\n');
        for (int lines = 0; lines < 2 && end != NULL && end > part_told; lines++)
            for (end--; end > part_told && *end != '\n';)
                end--;
        if (end != NULL) ck_assert_mem_eq(told, part_told, (size_t)(end - part_told));
        reading_done(&part);
        free(exact);
    }
    reading_done(&whole);
}

START_TEST(a_file_cut_off_anywhere_reads_as_the_whole_up_to_there) {
    static const struct evd_text label = EVD_TEXT_INIT("x");
    const struct evd_reference_options ris = {.format = EVD_REFERENCE_RIS, .labels = &label, .label_count = 1};
    expect_every_prefix(sample_csv, &csv);
    expect_every_prefix(sample_ris, &ris);
}
END_TEST

/* Read with an arena that ends at its fail_at-th allocation; true when it never came to that. */
static bool reads_to_the_end(const char *content, const struct evd_reference_options *options, bool of_rows,
                             int64_t fail_at) {
    struct evd_arena reader, rows;
    jmp_buf escape;
    volatile bool finished = false;
    evd_arena_init(&reader, EVD_LIMIT_IMPORT_READER_BYTES);
    evd_arena_init(&rows, EVD_LIMIT_IMPORT_ROW_BYTES);
    reader.escape = rows.escape = &escape;
    (of_rows ? &rows : &reader)->fail_at = fail_at;
    if (setjmp(escape) == 0) {
        struct evd_references *references;
        struct evd_reference_row row;
        struct evd_table_refusal refusal;
        if (evd_references_open(evd_text_from(content), options, &reader, &rows, &references, &refusal))
            while (evd_references_next(references, &row, &refusal) == EVD_REFERENCES_ROW)
                continue;
        finished = true;
    }
    evd_arena_done(&reader);
    evd_arena_done(&rows);
    return finished;
}

/* Every allocation of either arena fails in turn; the escape is all there is to do. */
static void expect_nothing_lost(const char *content, const struct evd_reference_options *options, bool of_rows) {
    int64_t fail_at = 1;
    while (!reads_to_the_end(content, options, of_rows, fail_at))
        ck_assert_int_lt(fail_at++, 10000);
    ck_assert_int_gt(fail_at, 1);
}

START_TEST(an_arena_that_ends_leaves_nothing_behind) {
    static const struct evd_text label = EVD_TEXT_INIT("x");
    const struct evd_reference_options ris = {.format = EVD_REFERENCE_RIS, .labels = &label, .label_count = 1};
    for (int of_rows = 0; of_rows < 2; of_rows++) {
        expect_nothing_lost(sample_csv, &csv, of_rows != 0);
        expect_nothing_lost(sample_ris, &ris, of_rows != 0);
    }
}
END_TEST

/* `count` times the text behind `before`. */
static struct evd_text repeated(struct evd_arena *arena, const char *before, const char *text, size_t count) {
    struct evd_buffer *out = EVD_NEW(arena, struct evd_buffer);
    evd_buffer_init(out, arena, strlen(before) + count * strlen(text));
    evd_buffer_add_text(out, evd_text_from(before));
    for (size_t i = 0; i < count; i++)
        evd_buffer_add_text(out, evd_text_from(text));
    return evd_buffer_text(out);
}

START_TEST(hostile_files_take_no_more_memory_than_their_bounds) {
    static const struct {
        enum evd_reference_format format;
        const char *before, *text;
    } files[] = {
        {EVD_REFERENCE_CSV, "title\n", "a"},
        {EVD_REFERENCE_CSV, "title\n", "\""},
        {EVD_REFERENCE_CSV, "title\n\"", "a"},
        {EVD_REFERENCE_CSV, "title\n", ","},
        {EVD_REFERENCE_CSV, "", ","},
        {EVD_REFERENCE_CSV, "", "\""},
        {EVD_REFERENCE_CSV, "", "a,"},
        {EVD_REFERENCE_CSV, "", "\n"},
        {EVD_REFERENCE_CSV, "title\r", "\r"},
        {EVD_REFERENCE_CSV, "title\n", " "},
        {EVD_REFERENCE_RIS, "TY  - JOUR\n", "AU  - x\n"},
        {EVD_REFERENCE_RIS, "TY  - JOUR\n", "KW  - x\ny\n"},
        {EVD_REFERENCE_RIS, "TY  - JOUR\n", "UR  - http://doi.org/%41\n"},
        {EVD_REFERENCE_RIS, "TY  - JOUR\nAB  - ", "y\n"},
        {EVD_REFERENCE_RIS, "TY  - JOUR\nAB  - ", "y"},
        {EVD_REFERENCE_RIS, "", "TI  - a\n"},
    };
    static const struct evd_text labels[] = {EVD_TEXT_INIT("KW"), EVD_TEXT_INIT("AU"), EVD_TEXT_INIT("UR")};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct evd_reference_options options = {.format = files[i].format, .labels = labels};
        struct evd_arena arena;
        struct reading reading;
        options.label_count = options.format == EVD_REFERENCE_RIS ? 3 : 0;
        evd_arena_init(&arena, SIZE_MAX);
        /* The arenas of a reading have their caps and no escape: passing one aborts. */
        (void)reading_tell(&reading, repeated(&arena, files[i].before, files[i].text, 4000000 / strlen(files[i].text)),
                           &options);
        reading_done(&reading);
        evd_arena_done(&arena);
    }
}
END_TEST

START_TEST(the_longest_header_fits_the_memory_of_a_reader) {
    struct evd_arena arena;
    struct reading reading;
    struct evd_buffer out;
    evd_arena_init(&arena, SIZE_MAX);
    evd_buffer_init(&out, &arena, 1 << 20);
    evd_buffer_add_text(&out, EVD_TEXT("title"));
    for (size_t i = 1; i < EVD_LIMIT_IMPORT_COLUMNS; i++)
        evd_buffer_add_text(&out, repeated(&arena, ",", "\xC3\xA9", 1000));
    evd_buffer_add_text(&out, repeated(&arena, "\nA", ",", EVD_LIMIT_IMPORT_COLUMNS - 1));
    evd_buffer_add_text(&out, repeated(&arena, "", "x", EVD_LIMIT_IMPORT_CELL_BYTES));
    (void)reading_tell(&reading, evd_buffer_text(&out), &csv);
    ck_assert_uint_eq(reading.read, 1);
    reading_done(&reading);
    evd_arena_done(&arena);
}
END_TEST

/* A row that fills every field and label to its bound. */
START_TEST(the_largest_row_fits_the_memory_of_one) {
    static const size_t most[] = {20000, 60000, 20000, 400, 400, 4000, 1000};
    static const char *const fields[] = {"title",    "abstract", "authors",        "journal",
                                         "customId", "url",      "pdfRelativePath"};
    struct evd_text labels[EVD_LIMIT_STUDY_LABELS];
    struct evd_arena arena;
    struct evd_buffer out;
    struct evd_csv_writer writer;
    struct reading reading;
    evd_arena_init(&arena, SIZE_MAX);
    evd_buffer_init(&out, &arena, 1 << 20);
    evd_csv_writer_init(&writer, &out, false);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        evd_csv_write_cell(&writer, evd_text_from(fields[i]));
    for (size_t i = 0; i < EVD_LIMIT_STUDY_LABELS; i++) {
        labels[i] = evd_text_print(&arena, "label %zu", i);
        evd_csv_write_cell(&writer, labels[i]);
    }
    evd_csv_write_end(&writer);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        evd_csv_write_cell(&writer, repeated(&arena, "", "x", most[i]));
    for (size_t i = 0; i < EVD_LIMIT_STUDY_LABELS; i++)
        evd_csv_write_cell(&writer, repeated(&arena, "", "l", EVD_LIMIT_NAME_BYTES));
    evd_csv_write_end(&writer);
    const struct evd_reference_options options = {.labels = labels, .label_count = EVD_LIMIT_STUDY_LABELS};
    (void)reading_tell(&reading, evd_buffer_text(&out), &options);
    ck_assert_uint_eq(reading.read, 1);
    reading_done(&reading);
    evd_arena_done(&arena);
}
END_TEST

EVD_TEST_MAIN("tables: reading", what_was_written_is_read_back_equal_but_for_white_space_at_its_ends,
              a_file_split_between_any_rows_reads_as_the_whole, the_last_end_of_a_line_changes_nothing,
              a_file_cut_off_anywhere_reads_as_the_whole_up_to_there, an_arena_that_ends_leaves_nothing_behind,
              hostile_files_take_no_more_memory_than_their_bounds, the_longest_header_fits_the_memory_of_a_reader,
              the_largest_row_fits_the_memory_of_one)
