/*
 * Cells that mean harm: whatever a person typed comes back as it was, or, if asked for, in a form that runs nothing.
 */
#include "../support/csv_rows.h"
#include "../support/review.h"

static struct house house;

enum { PAGE = 100 };

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    review_form(&house, "[{'id':'design','kind':'text','required':true},{'id':'quote','kind':'text'}]");
}

static void end(void) {
    house_close(&house);
}

static const char *const hostile[] = {"=1+1",
                                      "+cmd|' /C calc'!A0",
                                      "-2+3",
                                      "@SUM(A1)",
                                      "a,b;c\td",
                                      "\"quoted\" and \"\"twice\"\"",
                                      "line\nbreak\r\nand return\r",
                                      "  spaces around  ",
                                      "\xEF\xBC\x9D"
                                      "full width",
                                      "na\xC3\xAFve \xE2\x80\x94 \xF0\x9F\x98\x80",
                                      "\"",
                                      ",",
                                      "-1.50"};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static evd_uuid *complete_hostile(void) {
    evd_uuid *studies = review_studies(&house, HOSTILE);
    for (size_t i = 0; i < HOSTILE; i++) {
        char stage[EVD_UUID_TEXT_BYTES + 1];
        evd_uuid_format(house.stage, stage);
        json_t *body =
            json_pack("{s:s, s:i, s:n, s:n, s:[{s:s, s:s, s:n}, {s:s, s:s, s:s, s:n}]}", "stage", stage, "formVersion",
                      1, "baseVersion", "draft", "answers", "question", "design", "value", "rct", "baseRevision",
                      "question", "quote", "value", hostile[i], "notes", hostile[i], "baseRevision");
        char *text = json_dumps(body, 0);
        struct reply reply = ask_ok(&house, &evd_command_complete, review_ids(&house, studies[i]), person(1),
                                    command_id(100 + (unsigned)i), text);
        reply_done(&reply);
        free(text);
        json_decref(body);
    }
    return studies;
}

static size_t row_of(const struct csv_rows *rows, evd_uuid study) {
    char id[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(study, id);
    for (size_t row = 1; row < rows->count; row++)
        if (strcmp(rows->cells[row * rows->columns], id) == 0) return row;
    ck_abort_msg("no row of %s", id);
}

START_TEST(whatever_a_cell_holds_comes_back_as_it_was) {
    begin();
    evd_uuid *studies = complete_hostile();
    struct streamed csv = review_export(&house, &evd_command_export_answers_csv, PAGE);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    ck_assert_uint_eq(rows.count, HOSTILE + 1);
    for (size_t i = 0; i < HOSTILE; i++) {
        char notes[100];
        (void)snprintf(notes, sizeof notes, "quote: %s", hostile[i]);
        ck_assert_str_eq(csv_cell(&rows, row_of(&rows, studies[i]), "quote"), hostile[i]);
        ck_assert_str_eq(csv_cell(&rows, row_of(&rows, studies[i]), "answers/notes"), notes);
    }
    csv_rows_done(&rows);
    streamed_done(&csv);
    free(studies);
    end();
}
END_TEST

START_TEST(a_safe_spreadsheet_holds_no_cell_that_runs) {
    begin();
    evd_uuid *studies = complete_hostile();
    struct streamed csv = {0};
    struct asked *asked =
        asked_new(&house, &evd_command_export_answers_csv,
                  (struct evd_ids){.project = house.project, .form = house.form}, house.admin, evd_uuid_nil(), NULL);
    asked_call(asked)->options.spreadsheet_safe = true;
    while (asked_piece(asked, &csv)) {
    }
    asked_drop(asked);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    for (size_t i = 0; i < rows.count * rows.columns; i++)
        if (rows.cells[i][0] != '\0' && strcmp(rows.cells[i], "-1.50") != 0)
            ck_assert_msg(strchr("=+-@\t\r", rows.cells[i][0]) == NULL, "%s", rows.cells[i]);
    ck_assert_str_eq(csv_cell(&rows, row_of(&rows, studies[0]), "quote"), "'=1+1");
    csv_rows_done(&rows);
    streamed_done(&csv);
    free(studies);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: exported cells", whatever_a_cell_holds_comes_back_as_it_was,
              a_safe_spreadsheet_holds_no_cell_that_runs)
