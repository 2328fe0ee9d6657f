/*
 * CSV, written: RFC 4180, and what a spreadsheet must not run.
 */
#include "../../support/test.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/tables/csv_write.h"

/* Rows of cells: NULL ends a row, two end them all. */
static void expect_written(const char *const *cells, bool as_shown, const char *expected) {
    struct evd_arena arena;
    struct evd_buffer out;
    struct evd_csv_writer writer;
    evd_arena_init(&arena, SIZE_MAX);
    evd_buffer_init(&out, &arena, 0);
    evd_csv_writer_init(&writer, &out, as_shown);
    for (; *cells != NULL; cells++) {
        for (; *cells != NULL; cells++)
            evd_csv_write_cell(&writer, evd_text_from(*cells));
        evd_csv_write_end(&writer);
    }
    ck_assert_msg(evd_text_equal(evd_buffer_text(&out), evd_text_from(expected)),
                  "wrote:\n" EVD_TEXT_FMT "\nexpected:\n%s", EVD_TEXT_ARG(evd_buffer_text(&out)), expected);
    evd_arena_done(&arena);
}
#define WRITTEN(as_shown, expected, ...)                                                                               \
    expect_written((const char *const[]){__VA_ARGS__, NULL, NULL}, as_shown, expected)

START_TEST(rows_end_in_cr_lf_and_cells_are_parted_by_commas) {
    WRITTEN(false, "a,b,c\r\n1,2,3\r\n", "a", "b", "c", NULL, "1", "2", "3");
    WRITTEN(false, "a,,\r\n,b,\r\n,,\r\n", "a", "", "", NULL, "", "b", "", NULL, "", "", "");
}
END_TEST

START_TEST(only_cells_that_need_it_are_quoted) {
    WRITTEN(false, "\"a,b\",\"say \"\"so\"\"\",\"one\ntwo\",\"one\r\ntwo\",\"\r\"\r\n", "a,b", "say \"so\"", "one\ntwo",
            "one\r\ntwo", "\r");
    WRITTEN(false, "a b,it's,a;b,a\tb,\xC3\xA9,\\,#,-,00\r\n", "a b", "it's", "a;b", "a\tb", "\xC3\xA9", "\\", "#", "-",
            "00");
    WRITTEN(false, "\"\"\"\",\"\"\"\"\"\"\r\n", "\"", "\"\"");
}
END_TEST

START_TEST(white_space_at_an_end_and_an_only_empty_cell_survive_readers) {
    WRITTEN(false, "\" a\",\"a \",\"\ta\",\" \"\r\n", " a", "a ", "\ta", " ");
    WRITTEN(false, "\"\"\r\na\r\n\"\"\r\n", "", NULL, "a", NULL, "");
}
END_TEST

START_TEST(a_row_without_cells_is_an_empty_line) {
    struct evd_arena arena;
    struct evd_buffer out;
    struct evd_csv_writer writer;
    evd_arena_init(&arena, SIZE_MAX);
    evd_buffer_init(&out, &arena, 0);
    evd_csv_writer_init(&writer, &out, false);
    evd_csv_write_end(&writer);
    evd_csv_write_cell(&writer, (struct evd_text){NULL, 0}); /* an absent text is an empty cell */
    evd_csv_write_cell(&writer, (struct evd_text){NULL, 0});
    evd_csv_write_end(&writer);
    ck_assert(evd_text_equal(evd_buffer_text(&out), EVD_TEXT("\r\n,\r\n")));
    evd_arena_done(&arena);
}
END_TEST

START_TEST(formulas_are_written_as_they_are_unless_asked_for_as_shown) {
    static const char *const cells[] = {"=1+1",
                                        "+1+1",
                                        "-1+1",
                                        "@SUM(A1)",
                                        "\t=1",
                                        "\r=1",
                                        "\n=1",
                                        "-",
                                        "=\"a\"",
                                        "-1,5",
                                        "\xEF\xBC\x9D"
                                        "1",
                                        "\xEF\xBC\x8B"
                                        "1",
                                        "\xEF\xBC\x8D"
                                        "1",
                                        "\xEF\xBC\xA0"
                                        "1"};
    static const char *const plain[] = {"=1+1",
                                        "+1+1",
                                        "-1+1",
                                        "@SUM(A1)",
                                        "\"\t=1\"",
                                        "\"\r=1\"",
                                        "\"\n=1\"",
                                        "-",
                                        "\"=\"\"a\"\"\"",
                                        "\"-1,5\"",
                                        "\xEF\xBC\x9D"
                                        "1",
                                        "\xEF\xBC\x8B"
                                        "1",
                                        "\xEF\xBC\x8D"
                                        "1",
                                        "\xEF\xBC\xA0"
                                        "1"};
    static const char *const shown[] = {"'=1+1",
                                        "'+1+1",
                                        "'-1+1",
                                        "'@SUM(A1)",
                                        "\"'\t=1\"",
                                        "\"'\r=1\"",
                                        "\"'\n=1\"",
                                        "'-",
                                        "\"'=\"\"a\"\"\"",
                                        "\"'-1,5\"",
                                        "'\xEF\xBC\x9D"
                                        "1",
                                        "'\xEF\xBC\x8B"
                                        "1",
                                        "'\xEF\xBC\x8D"
                                        "1",
                                        "'\xEF\xBC\xA0"
                                        "1"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char expected[100];
        (void)snprintf(expected, sizeof expected, "%s\r\n", plain[i]);
        WRITTEN(false, expected, cells[i]);
        (void)snprintf(expected, sizeof expected, "%s\r\n", shown[i]);
        WRITTEN(true, expected, cells[i]);
        (void)snprintf(expected, sizeof expected, "a,%s\r\n", shown[i]);
        WRITTEN(true, expected, "a", cells[i]);
    }
}
END_TEST

START_TEST(a_plain_number_is_no_formula) {
    WRITTEN(true, "-1,+2,-12.50,+.5,-7.,0,-00\r\n", "-1", "+2", "-12.50", "+.5", "-7.", "0", "-00");
    /* All else that begins so is guarded: what it evaluates to is the spreadsheet's business. */
    WRITTEN(true, "'-1e5,'-1.2.3,'--1,'+-1,'-.,'-1\xC2\xA0,'-1%,'-A1,'-0x1,'-\xD9\xA1\r\n", "-1e5", "-1.2.3", "--1",
            "+-1", "-.", "-1\xC2\xA0", "-1%", "-A1", "-0x1", "-\xD9\xA1");
}
END_TEST

START_TEST(what_only_holds_a_sign_later_is_left_alone) {
    WRITTEN(true, "a=1,1-2,a@b,'=1,\" =1\"\r\n", "a=1", "1-2", "a@b", "'=1", " =1");
}
END_TEST

EVD_TEST_MAIN("tables: writing CSV", rows_end_in_cr_lf_and_cells_are_parted_by_commas,
              only_cells_that_need_it_are_quoted, white_space_at_an_end_and_an_only_empty_cell_survive_readers,
              a_row_without_cells_is_an_empty_line, formulas_are_written_as_they_are_unless_asked_for_as_shown,
              a_plain_number_is_no_formula, what_only_holds_a_sign_later_is_left_alone)
